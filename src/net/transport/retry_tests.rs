//! Time is paused: a pause takes no time, and its length is what the clock says afterwards.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use tokio::time::Instant;

use super::*;
use crate::transport::Timings;
use commis_base::settings::LimitsSettings;

/// What a site does next: a status with its `Retry-After`, or a failure.
#[derive(Clone, Copy)]
enum Next {
    Status(u16, &'static str),
    Fails(Code),
}
use Next::{Fails, Status};

struct Script {
    policy: EgressPolicy,
    next: Mutex<VecDeque<Next>>,
}

impl Transport for Script {
    fn kind(&self) -> TransportKind {
        TransportKind::Stub
    }

    fn send<'a>(&'a self, request: &'a PreparedRequest) -> BoxFuture<'a, Result<Reply>> {
        Box::pin(async move {
            self.policy.pin(&self.policy.check(&request.url)?).await?;
            let next = self.next.lock().unwrap().pop_front().expect("nothing more is sent");
            match next {
                Fails(code) => Err(Error::new(code, "it failed")),
                Status(status, after) => Ok(Reply {
                    status,
                    headers: vec![("retry-after".to_owned(), after.to_owned())],
                    body: Vec::new(),
                    url: request.url.clone(),
                    hops: 0,
                    timings: Timings::default(),
                }),
            }
        })
    }
}

struct World {
    script: Script,
    limits: HostLimiter,
    asked: Arc<Mutex<BTreeMap<String, usize>>>,
    _home: tempfile::TempDir,
}

fn world(next: &[Next], answers: &[&str], limits: &LimitsSettings) -> World {
    let home = tempfile::tempdir().unwrap();
    let (policy, asked) = EgressPolicy::with_answers("a.com", answers);
    let start = Instant::now();
    let clock = Box::new(move || 1_800_000_000_000 + start.elapsed().as_millis() as i64);
    let limits =
        HostLimiter::with_clock(limits, home.path().to_owned(), Arc::new(policy.clone()), clock)
            .unwrap();
    let script = Script { policy, next: Mutex::new(next.iter().copied().collect()) };
    World { script, limits, asked, _home: home }
}

fn get() -> PreparedRequest {
    PreparedRequest {
        method: "GET".to_owned(),
        url: "https://a.com/x".to_owned(),
        headers: Vec::new(),
        body: None,
        allowed_domains: Vec::new(),
        own_host: None,
    }
}

/// The status or code that a call ended with, attempts, seconds that passed, what the site said of later.
async fn call(world: &World, again: bool) -> (String, u32, f64, Option<u64>) {
    let quiet = |_: &WaitEvent| ();
    let polite =
        ThrottledTransport::new(&world.script, &world.script.policy, &world.limits, again, &quiet);
    let start = Instant::now();
    let end = match polite.send(&get()).await {
        Ok(reply) => reply.status.to_string(),
        Err(err) => err.code().as_str().to_owned(),
    };
    assert!(world.script.next.lock().unwrap().is_empty(), "an attempt is missing");
    let seen = polite.retry_state();
    (end, seen.attempts, start.elapsed().as_secs_f64(), seen.retry_after)
}

async fn check(next: &[Next], want: &str, attempts: u32, pause: std::ops::Range<f64>) {
    let world = world(next, &["1.2.3.4"], &LimitsSettings::default());
    let (end, n, seconds, _) = call(&world, true).await;
    assert_eq!((&*end, n), (want, attempts));
    assert!(pause.contains(&seconds), "{want}: {seconds} s, not {pause:?}");
}

const AT_ONCE: std::ops::Range<f64> = 0.0..0.1;
const BACKOFF: std::ops::Range<f64> = 0.74..1.26;

#[tokio::test(start_paused = true)]
async fn what_may_pass_is_tried_once_more() {
    let fine = Status(200, "");
    for next in [
        Status(429, ""),
        Status(500, ""),
        Status(503, "soon"),
        Fails(Code::Timeout),
        Fails(Code::ConnectFailed),
        Fails(Code::DnsFailed),
    ] {
        check(&[next, fine], "200", 2, BACKOFF).await;
    }
    check(&[Status(503, ""), Status(429, "")], "429", 2, BACKOFF).await;
    check(&[Fails(Code::Timeout), Fails(Code::ConnectFailed)], "CONNECT_FAILED", 2, BACKOFF).await;
}

#[tokio::test(start_paused = true)]
async fn anything_else_is_not() {
    for status in [200, 304, 400, 401, 403, 404, 408] {
        check(&[Status(status, "")], &status.to_string(), 1, AT_ONCE).await;
    }
    let passing = [Code::Timeout, Code::ConnectFailed, Code::DnsFailed];
    for code in Code::ALL.iter().copied().filter(|it| !passing.contains(it)) {
        check(&[Fails(code)], code.as_str(), 1, AT_ONCE).await;
    }
    // Nor is a request of which nobody knows that it only reads.
    let world = world(&[Status(503, "")], &["1.2.3.4"], &LimitsSettings::default());
    assert_eq!(call(&world, false).await.1, 1);
}

#[tokio::test(start_paused = true)]
async fn retry_after_is_obeyed_up_to_a_minute() {
    let fine = Status(200, "");
    check(&[Status(429, "7"), fine], "200", 2, 7.0..7.1).await;
    check(&[Status(503, "60"), fine], "200", 2, 60.0..60.1).await;
    check(&[Status(503, "0"), fine], "200", 2, AT_ONCE).await;
    check(&[Status(503, "Sun, 06 Nov 1994 08:49:37 GMT"), fine], "200", 2, AT_ONCE).await;
    let world = world(&[Status(429, "61")], &["1.2.3.4"], &LimitsSettings::default());
    let (end, attempts, seconds, after) = call(&world, true).await;
    assert_eq!((&*end, attempts, seconds < 0.1, after), ("429", 1, true, Some(61)));
}

#[test]
fn both_forms_of_retry_after() {
    let now = httpdate::parse_http_date("Sun, 22 Nov 2026 06:00:00 GMT").unwrap();
    for (text, want) in [
        ("30", Some(30)),
        (" 0 ", Some(0)),
        ("99999999999999999999999", Some(DAY)),
        ("Sun, 22 Nov 2026 06:00:45 GMT", Some(45)),
        ("Sun, 22 Nov 2026 05:00:45 GMT", Some(0)),
        ("Mon, 22 Nov 2032 05:00:45 GMT", Some(DAY)),
        ("-1", None),
        ("1.5", None),
        ("soon", None),
        ("", None),
    ] {
        assert_eq!(parse_retry_after(text, now), want, "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_attempt_looks_up_once_and_a_second_one_anew() {
    let fine = Status(200, "");
    let world = world(&[Status(503, ""), fine], &["1.2.3.4"], &LimitsSettings::default());
    assert_eq!(call(&world, true).await.0, "200");
    assert_eq!(world.asked.lock().unwrap()["a.com"], 2);
}

#[tokio::test(start_paused = true)]
async fn a_name_that_turns_inwards_between_attempts_is_refused() {
    // The cache would still hold the first answer.
    let world = world(&[Status(503, "1")], &["1.2.3.4", "10.0.0.1"], &LimitsSettings::default());
    let (end, ..) = call(&world, true).await;
    assert_eq!(end, "DNS_BLOCKED");
}

#[tokio::test(start_paused = true)]
async fn attempts_take_turns_in_the_bucket() {
    let fine = Status(200, "");
    let tight = LimitsSettings { burst: 1, ..LimitsSettings::default() };
    let world = world(&[Status(503, "1"), fine], &["1.2.3.4"], &tight);
    let (end, attempts, seconds, _) = call(&world, true).await;
    assert_eq!((&*end, attempts), ("200", 2));
    assert!((3.0..3.1).contains(&seconds), "{seconds}");
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_is_too_far_off_is_an_error_that_says_when() {
    let slow = LimitsSettings { per_minute: 2, burst: 1, ..LimitsSettings::default() };
    let world = world(&[Status(200, "")], &["1.2.3.4"], &slow);
    assert_eq!(call(&world, true).await.0, "200");
    tokio::time::advance(Duration::from_secs(5)).await;
    let (end, attempts, seconds, after) = call(&world, true).await;
    assert_eq!((&*end, attempts, seconds < 0.1, after), ("RATE_LIMITED", 0, true, Some(25)));
    // 25 s later it is due, and 10 s earlier is a wait that fits.
    tokio::time::advance(Duration::from_secs(15)).await;
    world.script.next.lock().unwrap().push_back(Status(200, ""));
    let (end, _, seconds, _) = call(&world, true).await;
    assert_eq!(end, "200");
    assert!((9.9..10.1).contains(&seconds), "{seconds}");
}

#[tokio::test(start_paused = true)]
async fn a_run_has_one_more_attempt_in_all() {
    let fine = Status(200, "");
    let world =
        world(&[Status(503, ""), fine, Status(503, "")], &["1.2.3.4"], &LimitsSettings::default());
    let quiet = |_: &WaitEvent| ();
    let polite =
        ThrottledTransport::new(&world.script, &world.script.policy, &world.limits, true, &quiet);
    assert_eq!(polite.send(&get()).await.unwrap().status, 200);
    assert_eq!(polite.send(&get()).await.unwrap().status, 503);
    assert_eq!(polite.retry_state().attempts, 2);
}

#[test]
fn pauses_grow_to_eight_seconds_with_jitter() {
    let exact = [1.0, 2.0, 4.0, 8.0, 8.0];
    let mut differ = false;
    for _ in 0..50 {
        let got: Vec<f64> = backoff_delays(5).map(|it| it.as_secs_f64()).collect();
        assert_eq!(got.len(), 5);
        for (got, exact) in got.iter().zip(exact) {
            assert!((got / exact - 1.0).abs() <= JITTER + 1e-6, "{got} for {exact}");
            differ |= (got / exact - 1.0).abs() > JITTER / 10.0;
        }
    }
    assert!(differ);
}
