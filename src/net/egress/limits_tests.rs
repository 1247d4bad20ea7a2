//! The bucket against literals and a clock that stands still; two values of `HostLimiter` stand for two processes.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::*;
use commis_base::settings::EgressSettings;

const START: i64 = 1_800_000_000_000;

fn seconds(turn: RateDecision) -> i64 {
    match turn {
        RateDecision::After(it) => it.as_secs() as i64,
        RateDecision::Refused(it) => -(it.as_secs() as i64),
    }
}

/// Calls at these seconds after the start; a negative answer is a refusal.
#[track_caller]
fn check(paid: Option<i64>, calls: &[i64], want: &[i64]) {
    let mut paid = paid;
    let got: Vec<i64> = calls
        .iter()
        .map(|at| {
            let (turn, next) = decide(&LimitsSettings::default(), paid, START + at * 1000);
            paid = Some(next);
            seconds(turn)
        })
        .collect();
    assert_eq!(got, want);
}

#[test]
fn twenty_a_minute_and_five_at_once() {
    let none = Some(START);
    check(none, &[0; 7], &[0, 0, 0, 0, 0, 3, 6]);
    // Time fills the bucket again, up to five.
    check(none, &[0, 0, 0, 0, 0, 6, 6, 6], &[0, 0, 0, 0, 0, 0, 0, 3]);
    check(none, &[9000; 6], &[0, 0, 0, 0, 0, 3]);
    // Five wait, nobody waits longer than the time limit, and a refusal costs nothing.
    check(none, &[0; 12], &[0, 0, 0, 0, 0, 3, 6, 9, 12, 15, -18, -18]);
}

#[test]
fn what_nobody_knows_counts_as_an_empty_bucket() {
    check(None, &[0, 0], &[3, 6]);
    check(Some(i64::MAX), &[0, 60], &[3, 0]);
    check(Some(i64::MIN), &[0], &[0]);
    // The clock went back an hour: the same as an empty bucket, once.
    check(Some(START), &[3600, 0, 60], &[0, 3, 0]);
}

fn limits(settings: &LimitsSettings, folder: &std::path::Path) -> HostLimiter {
    let egress = EgressSettings {
        test_hosts: vec!["*.test=127.0.0.1:9".to_owned()],
        ..EgressSettings::default()
    };
    let policy = Arc::new(EgressPolicy::new(&egress).unwrap());
    let clock = Box::new(|| START);
    HostLimiter::with_clock(settings, folder.join("limits"), policy, clock).unwrap()
}

#[tokio::test]
async fn the_bucket_outlives_the_process_and_is_one_per_host() {
    let home = tempfile::tempdir().unwrap();
    // A second value stands for a second process: they share nothing but the folder.
    let default = LimitsSettings::default();
    let (one, other) = (limits(&default, home.path()), limits(&default, home.path()));
    for _ in 0..3 {
        assert_eq!(seconds(one.take("a.com").await.unwrap()), 0);
    }
    let mut rest = Vec::new();
    for _ in 0..3 {
        rest.push(seconds(other.take("a.com").await.unwrap()));
    }
    assert_eq!(rest, [0, 0, 3]);
    assert_eq!(seconds(other.take("b.com").await.unwrap()), 0);
    for _ in 0..9 {
        assert_eq!(seconds(one.take("shop.test").await.unwrap()), 0);
    }

    let folder = home.path().join("limits");
    let files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|it| it.unwrap().path()).collect();
    assert_eq!(files.len(), 2, "{files:?}");
    for file in &files {
        let mode = std::fs::metadata(file).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600);
        assert!(!file.to_string_lossy().contains("com"));
        commis_base::files::write_atomic(
            &folder,
            file.file_name().unwrap().to_str().unwrap(),
            b"\xff{",
        )
        .unwrap();
    }
    assert_eq!(seconds(one.take("b.com").await.unwrap()), 3);
    assert_eq!(seconds(one.take("b.com").await.unwrap()), 6);
}

#[tokio::test]
async fn a_link_in_the_folder_is_not_followed() {
    let home = tempfile::tempdir().unwrap();
    let limits = limits(&LimitsSettings::default(), home.path());
    limits.take("a.com").await.unwrap();
    let file = home.path().join("limits").join(hex("a.com"));
    std::fs::remove_file(&file).unwrap();
    symlink(home.path().join("elsewhere"), &file).unwrap();
    assert_eq!(limits.take("a.com").await.unwrap_err().code(), Code::ArtifactIo);
    assert!(!home.path().join("elsewhere").exists());
}

#[tokio::test(start_paused = true)]
async fn two_runs_at_once_per_host_and_four_in_all() {
    let home = tempfile::tempdir().unwrap();
    let limits = limits(&LimitsSettings::default(), home.path());
    let a1 = limits.enter("a.com").await.unwrap();
    let _a2 = limits.enter("a.com").await.unwrap();
    let err = limits.enter("a.com").await.unwrap_err();
    assert_eq!(err.code(), Code::RateLimited);
    let _b1 = limits.enter("b.com").await.unwrap();
    let _b2 = limits.enter("b.com").await.unwrap();
    assert_eq!(limits.enter("c.com").await.unwrap_err().code(), Code::RateLimited);
    assert!(limits.enter("shop.test").await.is_ok());
    drop(a1);
    assert!(limits.enter("c.com").await.is_ok());
}

#[tokio::test]
async fn test_hosts_are_limited_when_asked_for() {
    let home = tempfile::tempdir().unwrap();
    let strict = LimitsSettings { test_hosts: true, burst: 1, ..LimitsSettings::default() };
    let it = limits(&strict, home.path());
    assert_eq!(seconds(it.take("shop.test").await.unwrap()), 0);
    assert_eq!(seconds(it.take("shop.test").await.unwrap()), 3);
    for bad in [
        LimitsSettings { runs: 0, ..LimitsSettings::default() },
        LimitsSettings { per_minute: 0, ..LimitsSettings::default() },
        LimitsSettings { burst: 1_000_000, ..LimitsSettings::default() },
    ] {
        let policy = Arc::new(EgressPolicy::new(&EgressSettings::default()).unwrap());
        let made = HostLimiter::new(&bad, home.path().to_owned(), policy);
        assert_eq!(made.err().unwrap().code(), Code::SettingsInvalid);
    }
}

#[tokio::test]
async fn hosts_of_ones_own_are_limited_when_asked_for() {
    let home = tempfile::tempdir().unwrap();
    let own =
        std::collections::BTreeMap::from([("localhost:8001".to_owned(), "127.0.0.1".to_owned())]);
    for (own_hosts, waits) in [(false, [0, 0]), (true, [0, 3])] {
        let egress = EgressSettings { own: own.clone(), ..EgressSettings::default() };
        let policy = Arc::new(EgressPolicy::new(&egress).unwrap());
        let settings = LimitsSettings { own_hosts, burst: 1, ..LimitsSettings::default() };
        let folder = home.path().join(own_hosts.to_string());
        let it = HostLimiter::with_clock(&settings, folder, policy, Box::new(|| START)).unwrap();
        for wait in waits {
            assert_eq!(seconds(it.take("localhost").await.unwrap()), wait, "{own_hosts}");
        }
        let long = it.estimate("localhost", 61).map(|it| it.as_secs());
        assert_eq!(long, own_hosts.then_some(180));
        assert_eq!(it.estimate("example.com", 61).map(|it| it.as_secs()), Some(180));
        assert_eq!(it.estimate("example.com", 1), None);
    }
}
