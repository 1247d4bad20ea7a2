//! Which task is next: fair to all hosts, gentle with each.
//!
//! A plain state machine; the clock is an argument. Hosts take turns, each has at most so many tasks at once and a pause
//! between the starts of two. Tasks without a host (from a HAR) are a host of their own without either limit.

use std::{
    collections::{BTreeMap, VecDeque},
    time::{Duration, Instant},
};

/// What to do now.
#[derive(Debug, PartialEq, Eq)]
pub enum NextAction {
    /// Start this task.
    Start(usize),
    /// Nothing may start before then.
    At(Instant),
    /// Nothing may start before a running task ends.
    AfterAnother,
    /// No task is left that has not been started.
    Nothing,
}

/// Tasks by number, each to be started once or again.
pub struct Schedule {
    pause: Duration,
    at_once: usize,
    hosts: BTreeMap<String, Host>,
    /// Hosts with tasks waiting; the first was served longest ago.
    turns: VecDeque<String>,
    waiting: usize,
}

#[derive(Default)]
struct Host {
    tasks: VecDeque<usize>,
    /// Tasks that were put back, and when they may start again.
    later: Vec<(Instant, usize)>,
    running: usize,
    free_at: Option<Instant>,
}

impl Schedule {
    /// At most `at_once` tasks on one host, and at least `pause` between the starts of two.
    pub fn new(pause: Duration, at_once: usize) -> Self {
        Self { pause, at_once, hosts: BTreeMap::new(), turns: VecDeque::new(), waiting: 0 }
    }

    pub fn add(&mut self, task: usize, host: Option<&str>) {
        let host = self.host(host.unwrap_or_default());
        host.tasks.push_back(task);
        self.waiting += 1;
    }

    /// Puts back a task that was started, to be started again at `when`, after what waits already.
    pub fn put_back(&mut self, task: usize, host: Option<&str>, when: Instant) {
        let host = self.host(host.unwrap_or_default());
        host.later.push((when, task));
        self.waiting += 1;
    }

    /// It has a turn as long as it has something waiting.
    fn host(&mut self, name: &str) -> &mut Host {
        let host = self.hosts.entry(name.to_owned()).or_default();
        if host.is_empty() {
            self.turns.push_back(name.to_owned());
        }
        host
    }

    /// What to do at this moment; a task that it says to start counts as started.
    pub fn next(&mut self, now: Instant) -> NextAction {
        let mut earliest: Option<Instant> = None;
        for turn in 0..self.turns.len() {
            let Some(host) = self.hosts.get_mut(&self.turns[turn]) else { continue };
            let has_limits = !self.turns[turn].is_empty();
            if has_limits && host.running >= self.at_once {
                continue;
            }
            let ready = host.ready_at(now);
            let free = host.free_at.filter(|_| has_limits).map_or(ready, |it| it.max(ready));
            if free > now {
                earliest = Some(earliest.map_or(free, |it| it.min(free)));
                continue;
            }
            let Some(task) = host.take(now) else { continue };
            host.running += 1;
            host.free_at = Some(now + self.pause);
            self.waiting -= 1;
            let is_empty = host.is_empty();
            if let Some(name) = self.turns.remove(turn)
                && !is_empty
            {
                self.turns.push_back(name);
            }
            return NextAction::Start(task);
        }
        match earliest {
            Some(it) => NextAction::At(it),
            None if self.waiting > 0 => NextAction::AfterAnother,
            None => NextAction::Nothing,
        }
    }

    /// A task that was to be started is not: it goes before the others of its host, of which none starts before `when`.
    pub fn not_yet(&mut self, task: usize, host: Option<&str>, when: Instant) {
        self.end_task(host);
        let host = self.host(host.unwrap_or_default());
        host.tasks.push_front(task);
        host.free_at = host.free_at.max(Some(when));
        self.waiting += 1;
    }

    /// A task of that host has ended.
    pub fn end_task(&mut self, host: Option<&str>) {
        if let Some(it) = self.hosts.get_mut(host.unwrap_or_default()) {
            it.running = it.running.saturating_sub(1);
        }
    }
}

impl Host {
    fn is_empty(&self) -> bool {
        self.tasks.is_empty() && self.later.is_empty()
    }

    /// When the next of its tasks may start, as far as the task itself is concerned.
    fn ready_at(&self, now: Instant) -> Instant {
        if self.tasks.is_empty() {
            self.later.iter().map(|it| it.0).min().unwrap_or(now)
        } else {
            now
        }
    }

    /// What was put back and is due comes first.
    fn take(&mut self, now: Instant) -> Option<usize> {
        let due = self.later.iter().enumerate().filter(|it| it.1.0 <= now).min_by_key(|it| it.1.0);
        match due.map(|it| it.0) {
            Some(i) => Some(self.later.remove(i).1),
            None => self.tasks.pop_front(),
        }
    }
}

#[cfg(test)]
mod tests {
    use NextAction::{AfterAnother, Start};

    use super::*;

    const A: Option<&str> = Some("a.test");
    const B: Option<&str> = Some("b.test");

    #[test]
    fn hosts_take_turns() {
        let mut it = Schedule::new(Duration::ZERO, 2);
        for (task, host) in [(0, A), (1, A), (2, A), (3, B), (4, None), (5, None)] {
            it.add(task, host);
        }
        let now = Instant::now();
        let started: Vec<NextAction> = (0..6).map(|_| it.next(now)).collect();
        assert_eq!(started, [Start(0), Start(3), Start(4), Start(1), Start(5), AfterAnother]);
        it.end_task(B);
        assert_eq!(it.next(now), AfterAnother);
        it.end_task(A);
        assert_eq!(it.next(now), Start(2));
        assert_eq!(it.next(now), NextAction::Nothing);
    }

    #[test]
    fn two_on_one_host_start_with_a_pause() {
        let pause = Duration::from_secs(5);
        let mut it = Schedule::new(pause, 2);
        for (task, host) in [(0, A), (1, A), (2, B), (3, None), (4, None)] {
            it.add(task, host);
        }
        let now = Instant::now();
        for task in [0, 2, 3, 4] {
            assert_eq!(it.next(now), NextAction::Start(task));
        }
        assert_eq!(it.next(now), NextAction::At(now + pause));
        assert_eq!(it.next(now + pause), NextAction::Start(1));
    }

    #[test]
    fn a_host_that_is_not_due_holds_up_no_other() {
        let mut it = Schedule::new(Duration::ZERO, 1);
        for (task, host) in [(0, A), (1, A), (2, B)] {
            it.add(task, host);
        }
        let now = Instant::now();
        let later = now + Duration::from_secs(3);
        assert_eq!(it.next(now), Start(0));
        it.not_yet(0, A, later);
        assert_eq!(it.next(now), Start(2));
        it.end_task(B);
        assert_eq!(it.next(now), NextAction::At(later));
        assert_eq!(it.next(later), Start(0));
        it.end_task(A);
        assert_eq!(it.next(later), Start(1));
        it.end_task(A);
        assert_eq!(it.next(later), NextAction::Nothing);
    }

    #[test]
    fn what_is_put_back_waits_its_time_and_delays_nobody() {
        let mut it = Schedule::new(Duration::ZERO, 1);
        for task in 0..3 {
            it.add(task, A);
        }
        let now = Instant::now();
        let later = now + Duration::from_secs(2);
        assert_eq!(it.next(now), NextAction::Start(0));
        it.put_back(0, A, later);
        it.end_task(A);
        assert_eq!(it.next(now), NextAction::Start(1));
        it.end_task(A);
        assert_eq!(it.next(later), NextAction::Start(0));
        it.end_task(A);
        let again = later + Duration::from_secs(2);
        it.put_back(0, A, again);
        assert_eq!(it.next(later), NextAction::Start(2));
        it.end_task(A);
        assert_eq!(it.next(later), NextAction::At(again));
        assert_eq!(it.next(again), NextAction::Start(0));
    }
}
