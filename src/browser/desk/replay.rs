//! Does a session again, on the page as it is now: elements are found anew, and what they ask for has to be what was recorded.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use futures::future::join_all;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Desk, Kind, Target, kept};
use crate::{
    browser::page,
    error::{Code, Error, Result},
    sessions::{
        Line,
        relocate::{Fingerprint, Trust, choose},
        wire::{self, Hold, Other, Sent, Tap},
    },
};

/// Elements whose attributes are looked at.
const CLOSE: usize = 48;
/// An element is waited for so long,
const PATIENCE: Duration = Duration::from_secs(4);
/// and looked for so often;
const AGAIN: Duration = Duration::from_millis(150);
/// a page that has not changed for so long has been built.
const STILL: Duration = Duration::from_millis(400);

/// What is to be another, and what may be done.
#[derive(Clone, Debug, Default)]
pub struct Replay {
    /// By number of the action.
    pub values: BTreeMap<u32, String>,
    /// Actions that may change something where they go.
    pub allow: Vec<u32>,
    /// Where it begins instead.
    pub url: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// As recorded.
    Same,
    /// On an element that has changed since.
    Healed,
    /// Not done: the element is not there, or may not be acted on.
    Refused,
    /// Done, and something else came of it. Nothing left but what was expected.
    Differs,
}

/// What became of an action.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Replayed {
    pub n: u32,
    pub command: String,
    pub outcome: Outcome,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl Desk {
    /// Does the actions one after the other, until one is refused or differs.
    pub async fn replay(&mut self, lines: &[Line], how: &Replay) -> Result<Vec<Replayed>> {
        self.is_free()?;
        let other = other(lines, how)?;
        let known: Vec<Sent> = lines.iter().flat_map(|it| it.requests.clone()).collect();
        let known: Vec<Sent> = known.into_iter().filter(|it| !it.changes()).collect();
        let mut out = Vec::new();
        for line in lines.iter().filter(|it| it.failed.is_none()) {
            let allowed = how.allow.contains(&line.n);
            let expected = line.requests.iter().filter(|it| allowed || !it.changes());
            let hold = Hold {
                expected: expected.cloned().collect(),
                site: self.url().await.ok().and_then(|it| wire::site(&it)),
                known: known.clone(),
                other: other.clone(),
                ..Hold::default()
            };
            let told_later = lines.iter().any(|it| it.n > line.n && !it.requests.is_empty());
            let (outcome, why) = match self.again(line, how, hold, told_later).await {
                Ok(healed) => (if healed { Outcome::Healed } else { Outcome::Same }, None),
                Err((outcome, why)) => (outcome, Some(why)),
            };
            self.tells_again(line, outcome, why.as_deref());
            out.push(Replayed { n: line.n, command: line.command.clone(), outcome, why });
            if matches!(outcome, Outcome::Refused | Outcome::Differs) {
                break;
            }
        }
        Ok(out)
    }

    /// Tells those who look on.
    fn tells_again(&self, line: &Line, outcome: Outcome, why: Option<&str>) {
        let (kind, told) = match outcome {
            Outcome::Same => (Kind::Done, "as it was recorded"),
            Outcome::Healed => (Kind::Done, "on an element that was found anew"),
            Outcome::Refused | Outcome::Differs => (Kind::Failed, why.unwrap_or_default()),
        };
        let text = format!("action {} again, {}: {told}", line.n, line.command);
        self.shared().lock().tell(kind, &text);
    }

    /// Whether the element was another than recorded.
    async fn again(
        &mut self,
        line: &Line,
        how: &Replay,
        hold: Hold,
        told_later: bool,
    ) -> std::result::Result<bool, (Outcome, String)> {
        let refused = |err: Error| (Outcome::Refused, err.message().to_owned());
        let allowed = how.allow.contains(&line.n);
        let site = wire::site(&line.url_before);
        // A page tells others what is done on it; an act that does nothing else is meant to.
        let aside = |it: &Sent| it.site() != site && line.requests.iter().any(|it| !it.changes());
        let sent = line.requests.iter().find(|it| it.changes() && !aside(it)).map(Sent::told);
        if sent.is_some() && !allowed {
            return Err((
                Outcome::Refused,
                format!("it may change something ({}): allow {}", sent.unwrap_or_default(), line.n),
            ));
        }
        let (on, healed) = match &line.element {
            Some(_) => {
                let (target, trust) = self.relocated(line, told_later).await?;
                (Some(target), trust != Trust::Same)
            }
            None => (None, false),
        };
        let other = hold.other.clone();
        let mut value = how.values.get(&line.n).cloned().or_else(|| line.value.clone());
        if matches!(&*line.command, "goto" | "newtab") {
            value = value.map(|it| moved(&it, &other));
        }
        let command = kept::command(line, on, value).map_err(refused)?;
        let opens = matches!(
            &*line.command,
            "goto" | "back" | "forward" | "reload" | "newtab" | "tab" | "closetab"
        );
        if !opens {
            self.shared().lock().tap = Some(Tap { hold: Some(hold), ..Tap::default() });
        }
        let done = self.answer(command).await;
        let hold = self.shared().lock().tap.take().and_then(|it| it.hold);
        if let Some(Hold { stopped: Some(it), .. }) = &hold {
            return Err((
                Outcome::Differs,
                format!(
                    "it asked for {it}, which it did not when it was recorded; that was stopped"
                ),
            ));
        }
        let said = done.map_err(|err| (Outcome::Refused, err.message().to_owned()))?;
        if let Some(hold) = hold
            && !hold.fitted
            && let Some(it) = hold.expected.first()
        {
            return Err((Outcome::Differs, format!("it did not ask for {}", it.told())));
        }
        if line.changed && said.effect.is_some_and(|it| !it.dom_changed && it.navigated.is_none()) {
            return Err((Outcome::Differs, "the page did not change".to_owned()));
        }
        let now = self.url().await.map_err(refused)?;
        let (was, is) = (Sent::of("GET", &line.url_after, None), Sent::of("GET", &now, None));
        if let (Some(was), Some(is)) = (was, is)
            && !was.fits(&is, &other)
        {
            return Err((
                Outcome::Differs,
                format!("it is now at {now}, and was at {}", line.url_after),
            ));
        }
        Ok(healed)
    }

    /// The line's element as it is now. What is only likely has to have asked for something, or a later act, so that the wire can
    /// tell: an act that asks for nothing changes nothing but the page.
    async fn relocated(
        &mut self,
        line: &Line,
        told_later: bool,
    ) -> std::result::Result<(Target, Trust), (Outcome, String)> {
        let refused = |why: String| (Outcome::Refused, why);
        let was = line.element.as_ref().ok_or_else(|| refused("it has no element".to_owned()))?;
        let begun = Instant::now();
        loop {
            let found = self.best(was).await;
            let still = self.still_for().await;
            // Only what is as it was is taken from a page that is still being built.
            match found {
                Ok((target, Trust::Same, _)) => return Ok((target, Trust::Same)),
                Ok((target, trust, now)) if still >= STILL || begun.elapsed() >= PATIENCE => {
                    let told = !line.requests.is_empty() || (told_later && trust == Trust::Likely);
                    if trust != Trust::Healed && !told {
                        return Err(refused(format!(
                            "{} may be {now} now, and nothing that is asked for would tell",
                            was.told()
                        )));
                    }
                    return Ok((target, trust));
                }
                Err(why) if begun.elapsed() >= PATIENCE => return Err(refused(why)),
                _ => tokio::time::sleep(AGAIN).await,
            }
        }
    }

    async fn still_for(&self) -> Duration {
        let shared = self.shared();
        match shared.main_frame().await {
            Ok(frame) => page::still_for(&shared.cdp, &frame).await,
            Err(_) => Duration::ZERO,
        }
    }

    /// What is most like it on the page as it is now, and what that is called.
    async fn best(
        &mut self,
        was: &Fingerprint,
    ) -> std::result::Result<(Target, Trust, String), String> {
        let (read, items) = self.look(false).await.map_err(|err| err.message().to_owned())?;
        let mut all = kept::fingerprints(&items);
        all.retain(|it| {
            was.is_of_class(&it.1) && !items[it.0].states.iter().any(|it| it == "disabled")
        });
        all.sort_by(|a, b| was.score(&b.1).total_cmp(&was.score(&a.1)));
        let close = all.iter().take(CLOSE).map(|it| Self::found_at(&read, &items[it.0]));
        let close: Vec<_> = close.collect();
        let attributes = join_all(close.iter().map(|it| self.attributes(it))).await;
        for (it, attributes) in all.iter_mut().zip(attributes) {
            it.1.attributes = attributes;
        }
        let now: Vec<_> = all.iter().map(|it| it.1.clone()).collect();
        let (best, trust) = choose(was, &now)?;
        let target = Target::Ref(self.refs.of(&read, &items[all[best].0]));
        Ok((target, trust, now[best].told()))
    }
}

fn other(lines: &[Line], how: &Replay) -> Result<Other> {
    let mut out = Other::default();
    for (n, value) in &how.values {
        let line = lines.iter().find(|it| it.n == *n);
        let line = line.ok_or_else(|| {
            Error::new(Code::ParamInvalid, format!("there is no action {n}"))
                .hint("`session show` lists them")
        })?;
        if let Some(was) = &line.value {
            out.values.push((was.clone(), value.clone()));
        }
    }
    if let (Some(to), Some(from)) = (&how.url, lines.iter().find(|it| it.command == "goto")) {
        let origin = |it: &str| url::Url::parse(it).map(|it| it.origin().ascii_serialization());
        let (Ok(from), Ok(to)) = (origin(from.value.as_deref().unwrap_or_default()), origin(to))
        else {
            return Err(Error::new(Code::ParamInvalid, "this is no address"));
        };
        out.origins.push((from, to));
    }
    Ok(out)
}

fn moved(url: &str, other: &Other) -> String {
    let found = other.origins.iter().find_map(|it| Some((url.strip_prefix(it.0.as_str())?, &it.1)));
    found.map_or_else(|| url.to_owned(), |(rest, to)| format!("{to}{rest}"))
}
