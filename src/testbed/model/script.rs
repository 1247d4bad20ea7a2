//! The transcript: what is said, turn by turn, in which conversation.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value, json};

/// A transcript, read and checked.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scripts {
    #[serde(default)]
    scripts: Vec<Script>,
}

/// One conversation. The first whose words fit is played.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Script {
    /// All of them stand in the first message, in any case.
    #[serde(default)]
    when: Vec<String>,
    #[serde(default)]
    turns: Vec<Turn>,
    /// What is called after the last turn, each time.
    then: Option<Call>,
}

/// What is said, or what comes instead. One that says nothing is no turn of the model's: the same comes again when it is asked
/// again, or, with `times`, what follows it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Turn {
    say: Option<String>,
    call: Option<Call>,
    calls: Vec<Call>,
    /// A status.
    fail: Option<u16>,
    /// A body, as it is.
    garbage: Option<String>,
    /// Before all else; alone, a 504 follows.
    slow_ms: Option<u64>,
    /// How often the very same request meets this.
    times: Option<u32>,
}

/// A tool that is called.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    pub name: String,
    /// An object; a text stands there as it is, where the format has its arguments as text.
    #[serde(default = "nothing")]
    pub arguments: Value,
}

/// What the server does.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    Say { text: String, calls: Vec<Call>, obeyed: bool },
    Fail(u16),
    Garbage(String),
}

fn nothing() -> Value {
    Value::Object(Map::new())
}

fn failed_call(reason: &str) -> Call {
    Call {
        name: "complete_task".to_owned(),
        arguments: json!({"status": "failed", "reason": reason}),
    }
}

impl Scripts {
    /// The error says what is wrong and where.
    pub fn parse(yaml: &str) -> Result<Self, String> {
        let options = serde_saphyr::options! {
            budget: serde_saphyr::budget! { max_nodes: 100_000, max_depth: 64, max_aliases: 0, max_anchors: 0 },
            strict_booleans: true,
            leading_zero_numbers_as_strings: true,
            with_snippet: false,
        };
        let it: Self = serde_saphyr::from_str_with_options(yaml, options)
            .map_err(|err| err.to_string().lines().next().unwrap_or_default().to_owned())?;
        for (n, script) in it.scripts.iter().enumerate() {
            for (m, turn) in script.turns.iter().enumerate() {
                turn.check().map_err(|why| format!("turn {} of script {}: {why}", m + 1, n + 1))?;
            }
        }
        Ok(it)
    }

    /// What comes next in a conversation that began with these words, after the model spoke so often, to a request that came so
    /// often before.
    pub fn next(&self, first: &str, spoken: usize, asked: u32) -> (Duration, Reply) {
        let first = first.to_lowercase();
        let fits = |it: &&Script| it.when.iter().all(|it| first.contains(&it.to_lowercase()));
        let Some(script) = self.scripts.iter().find(fits) else {
            return (Duration::ZERO, Reply::calling(failed_call("no script is about that")));
        };
        let (mut spoken, mut asked) = (spoken, asked);
        for turn in &script.turns {
            match turn.times {
                _ if turn.speaks() && spoken > 0 => spoken -= 1,
                _ if spoken > 0 => (),
                Some(times) if asked >= times => asked -= times,
                _ => return turn.reply(),
            }
        }
        let then = script.then.clone().unwrap_or_else(|| failed_call("the script is over"));
        (Duration::ZERO, Reply::calling(then))
    }
}

impl Reply {
    fn calling(call: Call) -> Self {
        Self::Say { text: String::new(), calls: vec![call], obeyed: false }
    }

    pub fn obeying(call: Call) -> Self {
        Self::Say { text: String::new(), calls: vec![call], obeyed: true }
    }
}

impl Turn {
    fn speaks(&self) -> bool {
        self.say.is_some() || self.call.is_some() || !self.calls.is_empty()
    }

    fn check(&self) -> Result<(), &'static str> {
        let kinds = [self.speaks(), self.fail.is_some(), self.garbage.is_some()];
        match kinds.iter().filter(|it| **it).count() {
            0 if self.slow_ms.is_none() => {
                Err("it has none of say, call, calls, fail, garbage, slow_ms")
            }
            2.. => Err("it cannot both speak and fail"),
            _ if self.call.is_some() && !self.calls.is_empty() => {
                Err("call and calls exclude each other")
            }
            _ if self.times.is_some() && self.speaks() => {
                Err("times is for turns that say nothing")
            }
            _ if self.fail.is_some_and(|it| !(300..=599).contains(&it)) => {
                Err("fail is a status from 300 to 599")
            }
            _ => Ok(()),
        }
    }

    fn reply(&self) -> (Duration, Reply) {
        let wait = Duration::from_millis(self.slow_ms.unwrap_or(0));
        let reply = if let Some(status) = self.fail {
            Reply::Fail(status)
        } else if let Some(text) = &self.garbage {
            Reply::Garbage(text.clone())
        } else if self.speaks() {
            let calls = self.call.iter().chain(&self.calls).cloned().collect();
            Reply::Say { text: self.say.clone().unwrap_or_default(), calls, obeyed: false }
        } else {
            Reply::Fail(504)
        };
        (wait, reply)
    }
}
