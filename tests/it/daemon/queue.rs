//! Tasks survive the daemon: each that was accepted has an end, and none is done twice.

use std::{
    collections::BTreeMap,
    io::{Read as _, Write as _},
    net::TcpListener,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{Answer, Daemon, UNLIMITED, rest::recipe};

/// A site that counts what it is asked for, and takes its time for what begins with `slow`.
pub struct CountingSite {
    pub pinned: String,
    pub seen: Arc<Mutex<BTreeMap<String, u32>>>,
}

impl CountingSite {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let pinned = format!("count.test={}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(BTreeMap::new()));
        let all = Arc::clone(&seen);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let all = Arc::clone(&all);
                std::thread::spawn(move || {
                    let mut stream = stream;
                    let mut bytes = [0; 4096];
                    let n = stream.read(&mut bytes).unwrap_or(0);
                    let text = String::from_utf8_lossy(&bytes[..n]).into_owned();
                    let Some(q) = text.split("?q=").nth(1).and_then(|it| it.split(' ').next())
                    else {
                        return;
                    };
                    *all.lock().unwrap().entry(q.to_owned()).or_insert(0) += 1;
                    // A site that takes its time.
                    std::thread::sleep(match q {
                        it if it.starts_with("slowest") => Duration::from_secs(25),
                        it if it.starts_with("slow") => Duration::from_millis(2500),
                        _ => Duration::ZERO,
                    });
                    let body = format!("{{\"q\":\"{q}\"}}");
                    let _ = write!(
                        stream,
                        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                        body.len()
                    );
                });
            }
        });
        Self { pinned, seen }
    }
}

/// Numbers that look like chance, the same each time.
struct SeededRandom(u64);

impl SeededRandom {
    fn below(&mut self, n: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

#[test]
fn every_accepted_task_has_an_end_and_none_is_done_twice() {
    // The long form: COMMIS_QUEUE=10000,200
    #[expect(
        clippy::disallowed_methods,
        reason = "tests are told by the environment how long to take"
    )]
    let long = std::env::var_os("COMMIS_QUEUE").and_then(|it| it.into_string().ok());
    let (tasks, kills) = long
        .as_deref()
        .and_then(|it| it.split_once(','))
        .map_or((400, 8), |it| (it.0.parse().unwrap(), it.1.parse().unwrap()));
    let site = CountingSite::start();
    let args = ["--test-host", site.pinned.as_str()];
    let mut daemon = Daemon::start(UNLIMITED, &args);
    daemon.home.recipe("count", &recipe("count", "count.test"));
    let mut chance = SeededRandom(7);
    let mut accepted: Vec<(String, String)> = Vec::new();
    let (mut asked, mut refused, mut lost, mut killed) = (0_u64, 0_u64, 0_u64, 0_u64);
    let begun = Instant::now();
    while asked < tasks {
        let until = (killed + 1) * tasks / (kills + 1);
        // One thread asks; the daemon goes away at some moment of that.
        let host = format!("127.0.0.1:{}", daemon.port);
        let token = format!("Bearer {}", daemon.token);
        while asked < until.min(tasks) {
            let q = format!("n{asked}");
            let body = json!({"params": {"q": q}, "draft": true}).to_string();
            let headers = [
                ("Host", host.as_str()),
                ("Authorization", token.as_str()),
                ("Content-Type", "application/json"),
                ("Prefer", "respond-async"),
            ];
            let answer: Answer = daemon.ask("POST", "/api/recipes/count/run", &headers, &body);
            match answer.status {
                202 => {
                    accepted
                        .push((answer.json()["data"]["task_id"].as_str().unwrap().to_owned(), q));
                    asked += 1;
                }
                429 => {
                    refused += 1;
                    std::thread::sleep(Duration::from_millis(2));
                }
                other => panic!("{other} {}", answer.body),
            }
        }
        if killed < kills {
            // At some moment, also of a request that is not answered.
            let pid = rustix::process::Pid::from_raw(daemon.pid().cast_signed()).unwrap();
            let after = Duration::from_micros(chance.below(20_000));
            let killer = std::thread::spawn(move || {
                std::thread::sleep(after);
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            });
            let body = json!({"params": {"q": format!("k{killed}")}, "draft": true}).to_string();
            let headers = [
                ("Host", host.as_str()),
                ("Authorization", token.as_str()),
                ("Content-Type", "application/json"),
                ("Prefer", "respond-async"),
            ];
            for _ in 0..20 {
                let Ok(mut it) = std::net::TcpStream::connect(daemon.addr()) else { break };
                let mut text = "POST /api/recipes/count/run HTTP/1.1\r\n".to_owned();
                for (name, value) in headers {
                    text = format!("{text}{name}: {value}\r\n");
                }
                text = format!(
                    "{text}{}",
                    format_args!(
                        "Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
                        body.len()
                    )
                );
                let _ = it.write_all(text.as_bytes());
                let mut out = Vec::new();
                let _ = it.read_to_end(&mut out);
                let answer = Answer::read(&out);
                match answer.status {
                    202 => accepted.push((
                        answer.json()["data"]["task_id"].as_str().unwrap().to_owned(),
                        "more".to_owned(),
                    )),
                    0 => {
                        lost += 1;
                        break;
                    }
                    _ => std::thread::sleep(Duration::from_millis(1)),
                }
            }
            killer.join().unwrap();
            killed += 1;
            let home = daemon.kill();
            daemon = Daemon::start_in(home, &args);
        }
    }
    let asked_in = begun.elapsed();
    // All end.
    daemon.wait_until_idle();
    let seen = site.seen.lock().unwrap().clone();
    let mut ends: BTreeMap<String, u32> = BTreeMap::new();
    for (id, q) in &accepted {
        let (status, task) = daemon.api("GET", &format!("/api/tasks/{id}"), &Value::Null);
        assert_eq!(status, 200, "{id} is lost");
        let state = task["data"]["state"].as_str().unwrap().to_owned();
        let times = seen.get(q).copied().unwrap_or(0);
        match state.as_str() {
            "done" => {
                if q != "more" {
                    assert_eq!(times, 1, "{q} was done {times} times");
                    let (status, it) =
                        daemon.api("GET", &format!("/api/tasks/{id}/result"), &Value::Null);
                    assert_eq!((status, it["data"]["q"].as_str()), (200, Some(q.as_str())), "{it}");
                }
            }
            "interrupted" => assert!(q == "more" || times <= 1, "{q} was begun {times} times"),
            other => panic!("{q} is {other}: {task}"),
        }
        *ends.entry(state).or_insert(0) += 1;
    }
    eprintln!(
        "{} accepted, {refused} times refused, {lost} answers lost with {killed} kills, in {asked_in:.1?}: {ends:?}",
        accepted.len()
    );
}
