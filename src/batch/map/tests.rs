//! What is decided from results alone; runs against the test web are in `tests/it/map.rs`.

use super::*;
use commis_recipe::model::TransportKind;

fn failed(code: Code, status: Option<u16>, after: Option<u64>) -> RecipeRunResult {
    let mut it = RecipeRunResult::from_error(TransportKind::PublicHttp, &Error::new(code, "x"));
    it.status_code = status;
    it.retry_after_sec = after;
    it
}

#[test]
fn our_own_limits_are_waited_for_and_a_site_is_for_a_while() {
    let seconds = |it: Option<Duration>| it.map(|it| it.as_secs());
    let ours = failed(Code::RateLimited, None, Some(18));
    let mut asked = 0;
    for _ in 0..10 {
        assert_eq!(seconds(retry_pause(&ours, &mut asked)), Some(18));
    }
    assert_eq!(seconds(retry_pause(&failed(Code::RateLimited, None, None), &mut asked)), Some(1));
    let theirs = failed(Code::RateLimited, Some(429), Some(120));
    let got: Vec<_> = (0..4).map(|_| seconds(retry_pause(&theirs, &mut asked))).collect();
    assert_eq!(got, [Some(120), Some(120), Some(120), None]);
    for (it, wanted) in [
        (failed(Code::RateLimited, Some(429), Some(3600)), None),
        (failed(Code::RateLimited, Some(429), None), Some(5)),
        (failed(Code::ServerError, Some(503), Some(30)), Some(30)),
        (failed(Code::ServerError, Some(500), None), None),
        (failed(Code::HttpStatus, Some(404), None), None),
        (RecipeRunResult::new(TransportKind::PublicHttp), None),
    ] {
        assert_eq!(seconds(retry_pause(&it, &mut 0)), wanted, "{it:?}");
    }
}

#[test]
fn what_concerns_all_lines_is_none_of_one() {
    for code in
        [Code::BrowserMissing, Code::ArtifactIo, Code::AuthEnvMissing, Code::NetworkDisabled]
    {
        assert!(concerns_all(code), "{code}");
    }
    for code in [
        Code::ParamInvalid,
        Code::HttpStatus,
        Code::ShapeDrift,
        Code::Timeout,
        Code::ConnectFailed,
        Code::RateLimited,
        Code::ServerError,
        Code::BrowserFailed,
        Code::UrlBlocked,
    ] {
        assert!(!concerns_all(code), "{code}");
    }
}

/// Lines that were put, and how many are read before nobody reads any more.
struct LimitedSink(Vec<String>, usize);

impl LineSink for LimitedSink {
    fn write_line(&mut self, json: &str) -> Result<bool> {
        self.0.push(json.to_owned());
        Ok(self.0.len() < self.1)
    }
}

fn input(line: u64) -> Input {
    Input { line, shown: Value::Null, hidden: false, params: Ok(BTreeMap::new()), read: 0 }
}

fn ended(code: Option<Code>, blame: Option<Blame>) -> LineOutcome {
    let result = match code {
        None => {
            Ok(MappedData { data: Value::Null, complete: None, total: None, warnings: Vec::new() })
        }
        Some(it) => Err(LineError::from_error(&Error::new(it, "x"))),
    };
    LineOutcome { result, blame, stop: None }
}

#[test]
fn in_order_a_result_waits_for_those_before_it() {
    let mut run =
        Run { totals: Totals::default(), order: Some(ReorderBuffer::default()), trouble: 0 };
    let mut heard = LimitedSink(Vec::new(), 99);
    let numbers = [2, 5, 6, 9];
    for it in numbers {
        run.order.as_mut().unwrap().waiting.push_back((it, None));
    }
    let counts: Vec<usize> = [6, 2, 9, 5]
        .map(|line| {
            assert!(run.finish_line(input(line), ended(None, None), &mut heard).unwrap());
            heard.0.len()
        })
        .to_vec();
    assert_eq!(counts, [0, 1, 1, 4]);
    let order: Vec<u64> = heard
        .0
        .iter()
        .map(|it| serde_json::from_str::<Value>(it).unwrap()["line"].as_u64().unwrap())
        .collect();
    assert_eq!(order, numbers);
    assert_eq!(heard.0[0], r#"{"line":2,"input":null,"data":null}"#);
    assert_eq!((run.totals.lines, run.totals.ok, run.totals.exit_code()), (4, 4, 0));
}

#[test]
fn it_stops_where_going_on_helps_nobody() {
    let fresh = || Run { totals: Totals::default(), order: None, trouble: 0 };
    let mut heard = LimitedSink(Vec::new(), usize::MAX);
    let lost = || ended(Some(Code::ConnectFailed), Some(Blame::Network));
    let mut run = fresh();
    for i in 1..TROUBLE {
        assert!(run.finish_line(input(1), lost(), &mut heard).unwrap(), "{i}");
    }
    // One that was answered in between: the network is there.
    let gone = ended(Some(Code::HttpStatus), Some(Blame::Recipe));
    assert!(run.finish_line(input(1), gone, &mut heard).unwrap());
    for i in 1..=TROUBLE {
        assert_eq!(run.finish_line(input(1), lost(), &mut heard).unwrap(), i < TROUBLE);
    }
    assert_eq!(run.totals.stopped_by, Some(Code::ConnectFailed));
    assert_eq!(run.totals.exit_code(), 1);
    assert_eq!(run.totals.failed, u64::from(TROUBLE) * 2);

    // A line that shows that no line can be run has no result: it is run again.
    let mut run = fresh();
    let all = LineOutcome {
        stop: Some((Code::AuthEnvMissing, "no key".to_owned())),
        ..ended(Some(Code::AuthEnvMissing), None)
    };
    assert!(!run.finish_line(input(1), all, &mut heard).unwrap());
    assert_eq!((run.totals.lines, run.totals.exit_code()), (0, 2));

    // Nobody reads any more.
    let mut run = fresh();
    let mut heard = LimitedSink(Vec::new(), 1);
    assert!(!run.finish_line(input(1), ended(None, None), &mut heard).unwrap());
}
