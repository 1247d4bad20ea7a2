//! When a watch runs next, and when its notifications may be sent: pure functions of the time that they are given.

use sha2::{Digest as _, Sha256};

use commis_base::settings::QuietHours;

const SECOND: i64 = 1000;
const MINUTE: i64 = 60 * SECOND;
const DAY: i64 = 24 * 60 * MINUTE;
/// Of an interval, so much to either side.
const JITTER: i64 = 10;
const MOST_JITTER: i64 = 5 * MINUTE;
/// After failures, no more than so many intervals, and no more than a day, lie between two runs.
const MOST_INTERVALS: i64 = 8;
const DOUBLINGS: u32 = 20;

/// When a watch runs again that began a run at `now_ms`. Watches of the same interval drift apart, and a moment that was missed is
/// not made up for.
pub fn next(name: &str, every_ms: i64, now_ms: i64) -> i64 {
    now_ms + every_ms + jitter(name, every_ms, now_ms)
}

/// From `-spread` to `spread`; the same for the same watch and moment.
fn jitter(name: &str, every_ms: i64, now_ms: i64) -> i64 {
    let spread = (every_ms / JITTER).min(MOST_JITTER);
    if spread == 0 {
        return 0;
    }
    let digest = Sha256::digest(format!("{name}\n{now_ms}"));
    let random = i64::from(u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]]));
    random % (2 * spread + 1) - spread
}

/// When a watch runs again after so many failures in a row, the last of which began at `now_ms`. What may pass by itself is tried
/// again soon; all else waits for the next interval, and longer each time. `wait_ms`: the site asks for that.
pub fn after_failure(
    (name, every_ms): (&str, i64),
    failures: u32,
    may_pass: bool,
    wait_ms: i64,
    now_ms: i64,
) -> i64 {
    let first = if may_pass { MINUTE.min(every_ms) } else { every_ms };
    let doubled = first.saturating_mul(1 << failures.saturating_sub(1).min(DOUBLINGS));
    let most = every_ms.saturating_mul(MOST_INTERVALS).min(DAY).max(every_ms);
    let pause = doubled.min(most).max(wait_ms);
    now_ms + pause + jitter(name, pause, now_ms).max(0)
}

/// When quiet hours end that hold at `minute` of the local day; `None` where none hold.
pub fn quiet_until(hours: QuietHours, minute: u16, now_ms: i64) -> Option<i64> {
    let (from, to) = hours;
    let holds =
        if from < to { (from..to).contains(&minute) } else { minute >= from || minute < to };
    let left = (i64::from(to) - i64::from(minute)).rem_euclid(24 * 60);
    holds.then_some(now_ms + left * MINUTE)
}

/// Reads `90s`, `30m`, `1h`, `7d`: seconds.
pub fn interval(text: &str) -> Option<u64> {
    let at = text.find(|it: char| !it.is_ascii_digit())?;
    let (number, unit) = text.split_at(at);
    let unit = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 86_400,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(unit).filter(|it| (1..=31_536_000).contains(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 60 * MINUTE;

    #[test]
    fn runs_are_spread_around_their_interval() {
        let all: Vec<i64> = (0..1000).map(|n| next(&format!("w{n}"), HOUR, 0) - HOUR).collect();
        assert!(all.iter().all(|it| it.abs() <= 5 * MINUTE), "{all:?}");
        let late = all.iter().filter(|it| **it > 0).count();
        assert!((350..650).contains(&late), "{late}");
        assert_eq!(next("a", HOUR, 5), next("a", HOUR, 5));
        assert_eq!(next("a", 5, 100), 105, "nothing to spread");
    }

    /// A day of a watch of an hour, by a clock of its own.
    #[test]
    fn failures_wait_longer_each_time_and_no_longer_than_that() {
        let of = |failures, may_pass, wait| {
            after_failure(("a", HOUR), failures, may_pass, wait, 0) / MINUTE
        };
        assert_eq!(of(1, true, 0), 1);
        assert!((4..=4).contains(&of(3, true, 0)));
        assert!((480..=485).contains(&of(30, true, 0)), "{}", of(30, true, 0));
        assert!((60..=65).contains(&of(1, false, 0)));
        assert!((480..=485).contains(&of(9, false, 0)));
        assert!((90..=95).contains(&of(1, true, 90 * MINUTE)), "the site asks for it");
        let slow = after_failure(("a", 7 * DAY), 5, false, 0, 0);
        assert!(slow >= 7 * DAY, "never sooner than its interval");
        let mut now = 0;
        let mut runs = 0;
        while now < DAY {
            runs += 1;
            now = after_failure(("a", HOUR), runs, true, 0, now);
        }
        assert!((8..=12).contains(&runs), "{runs}");
    }

    #[test]
    fn quiet_hours_go_over_midnight() {
        let night = (22 * 60, 7 * 60);
        assert_eq!(quiet_until(night, 23 * 60, 0), Some(8 * HOUR));
        assert_eq!(quiet_until(night, 6 * 60 + 59, 0), Some(MINUTE));
        assert_eq!(quiet_until(night, 7 * 60, 0), None);
        assert_eq!(quiet_until(night, 12 * 60, 0), None);
        assert_eq!(quiet_until((60, 120), 90, 7), Some(7 + 30 * MINUTE));
        assert_eq!(quiet_until((60, 120), 120, 0), None);
    }

    #[test]
    fn intervals_are_read() {
        assert_eq!(interval("90s"), Some(90));
        assert_eq!(interval("1h"), Some(3600));
        assert_eq!(interval("7d"), Some(604_800));
        for bad in ["", "h", "1", "1w", "0s", "999999999999d", "-1h", "1.5h"] {
            assert_eq!(interval(bad), None, "{bad}");
        }
    }
}
