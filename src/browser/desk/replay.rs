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
    page,
    sessions::{
        Line,
        memory::{self, Memory},
        relocate::{Fingerprint, Trust, choose},
        wire::{self, Hold, Other, Sent, Tap},
    },
};
use commis_base::error::{Code, Error, Result};

const HREFS: &str = "function () {
  return Array.from(document.links, it => it.href.slice(0, 4000).toWellFormed()).slice(0, 3000);
}";
/// Elements whose attributes are looked at.
const CLOSE: usize = 48;
/// An element is waited for so long,
const PATIENCE: Duration = Duration::from_secs(4);
/// and looked for so often;
const AGAIN: Duration = Duration::from_millis(150);
/// what came of an act that changed a page is waited for so long;
const LATE: Duration = Duration::from_secs(2);
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
    /// What was found before.
    pub memory: Option<Memory>,
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
    /// How its element was found, where it is another than recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found_by: Option<FoundBy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FoundBy {
    /// By what is left of it.
    Likeness,
    /// It was found before, and what it asked for was right twice.
    Memory,
}

/// What was done.
struct Did {
    /// The element, where it is another than recorded.
    anew: Option<Anew>,
    /// What it asked for was what was recorded.
    fitted: bool,
}

/// An element that was found anew.
struct Anew {
    host: Option<String>,
    was: Fingerprint,
    now: Fingerprint,
    by: FoundBy,
}

/// An element of the page as it is now.
struct Best {
    target: Target,
    trust: Trust,
    now: Fingerprint,
    by: FoundBy,
}

impl Desk {
    /// Does the actions one after the other, until one is refused or differs.
    pub async fn replay(&mut self, lines: &[Line], how: &Replay) -> Result<Vec<Replayed>> {
        self.is_free()?;
        let other = other(lines, how)?;
        let known = lines.iter().flat_map(|it| it.requests.iter().chain(&it.between));
        let known: Vec<Sent> = known.filter(|it| !it.changes()).cloned().collect();
        let mut out = Vec::new();
        let mut unproven: Vec<Anew> = Vec::new();
        for line in lines.iter().filter(|it| it.failed.is_none()) {
            let allowed = how.allow.contains(&line.n);
            let expected = line.requests.iter().filter(|it| allowed || !it.changes());
            // What timers begin comes when it comes, here perhaps an act later.
            let timed = lines.windows(2).filter(|it| it[0].n <= line.n).flat_map(|it| {
                let allowed = how.allow.contains(&it[0].n);
                it[1].between.iter().filter(move |it| allowed || !it.changes())
            });
            let later = lines.iter().find(|it| it.n > line.n).map(|it| &it.between[..]);
            let later = later.unwrap_or_default();
            let hold = Hold {
                expected: expected.cloned().collect(),
                timed: timed.cloned().collect(),
                site: self.url().await.ok().and_then(|it| wire::site(&it)),
                known: known.clone(),
                other: Other { carried: wire::carried(&self.hrefs().await), ..other.clone() },
                ..Hold::default()
            };
            let told_later = lines.iter().any(|it| it.n > line.n && !it.requests.is_empty());
            let mut relied = None;
            let mut done = self.again(line, how, (hold, later, told_later), &mut relied).await;
            if done.is_ok()
                && let Some(next) = lines.iter().find(|it| it.n > line.n && it.failed.is_none())
                && let Err(why) = self.led_to(line, next, how).await
            {
                done = Err((Outcome::Differs, why));
            }
            let mut found_by = None;
            let (outcome, why) = match done {
                Ok(Did { anew, fitted }) => {
                    found_by = anew.as_ref().map(|it| it.by);
                    unproven.extend(anew);
                    // What came before led here.
                    if fitted {
                        unproven.drain(..).for_each(|it| remember(how, &it));
                    }
                    (if found_by.is_some() { Outcome::Healed } else { Outcome::Same }, None)
                }
                Err((outcome, why)) => {
                    if let (Some(memory), Some(was), Some(host)) =
                        (&how.memory, &line.element, relied)
                    {
                        // Where the disk refuses, it fails again next time.
                        let _ = memory.forget(&host, was);
                    }
                    (outcome, Some(why))
                }
            };
            self.tells_again(line, outcome, why.as_deref());
            let command = line.command.clone();
            out.push(Replayed { n: line.n, command, outcome, found_by, why });
            if matches!(outcome, Outcome::Refused | Outcome::Differs) {
                break;
            }
        }
        self.shared().lock().tap = None;
        Ok(out)
    }

    /// Where the links of the page lead to.
    async fn hrefs(&self) -> Vec<String> {
        // A page that goes away has none.
        self.shared().ask(HREFS, page::PATIENCE).await.map(|it| it.1).unwrap_or_default()
    }

    /// An act that asks for nothing has to lead to the element of the next one. Why not, else.
    async fn led_to(&mut self, line: &Line, next: &Line, how: &Replay) -> Result<(), String> {
        let asks = !line.requests.is_empty() || opens(&line.command);
        if asks || next.element.is_none() || next.url_before != line.url_after {
            return Ok(());
        }
        let told =
            |it: (Outcome, String)| format!("what comes next is not there after it: {}", it.1);
        // Whether anything tells what it is, is the next act's to say.
        self.relocated(next, true, true, how).await.map(drop).map_err(told)
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
        (hold, later, told_later): (Hold, &[Sent], bool),
        relied: &mut Option<String>,
    ) -> std::result::Result<Did, (Outcome, String)> {
        let refused = |err: Error| (Outcome::Refused, err.message().to_owned());
        let allowed = how.allow.contains(&line.n);
        let site = wire::site(&line.url_before);
        // A page tells others what is done on it; an act that does nothing else is meant to.
        let aside = |it: &Sent| it.site() != site && line.requests.iter().any(|it| !it.changes());
        let mut sent = line.requests.iter().chain(later);
        let sent = sent.find(|it| it.changes() && !aside(it)).map(Sent::told);
        if sent.is_some() && !allowed {
            return Err((
                Outcome::Refused,
                format!("it may change something ({}): allow {}", sent.unwrap_or_default(), line.n),
            ));
        }
        let (on, anew) = match &line.element {
            Some(was) => {
                let host = memory::host(&self.url().await.unwrap_or_default());
                let knows = |host: &String| {
                    how.memory.as_ref().is_some_and(|it| it.of(host, was).is_some())
                };
                *relied = host.clone().filter(knows);
                let it = self.relocated(line, told_later, false, how).await?;
                relied.take_if(|_| it.by != FoundBy::Memory);
                let anew = Anew { host, was: was.clone(), now: it.now, by: it.by };
                (Some(it.target), Some(anew).filter(|_| it.trust != Trust::Same))
            }
            None => (None, None),
        };
        let other = hold.other.clone();
        let mut value = how.values.get(&line.n).cloned().or_else(|| line.value.clone());
        if matches!(&*line.command, "goto" | "newtab") {
            value = value.map(|it| moved(&it, &other));
        }
        let command = kept::command(line, on, value).map_err(|err| {
            // That is not the element's fault.
            *relied = None;
            refused(err)
        })?;
        let after = Hold {
            // What only reads is a page's own affair.
            fitted: true,
            timed: hold.timed.clone(),
            other: hold.other.clone(),
            site: hold.site.clone(),
            ..Hold::default()
        };
        let hold = Some(hold).filter(|_| !opens(&line.command));
        let held = |hold: Hold| Tap { hold: Some(hold), ..Tap::default() };
        let before = std::mem::replace(&mut self.shared().lock().tap, hold.map(held));
        if let Some(it) = before.and_then(|it| it.hold?.stopped) {
            *relied = None;
            return Err((
                Outcome::Differs,
                format!(
                    "before it, the page asked for {it} by itself, which it did not when it was recorded; that was stopped"
                ),
            ));
        }
        let begun = Instant::now();
        let done = self.answer(command).await;
        let hold = self.shared().lock().tap.replace(held(after)).and_then(|it| it.hold);
        if let Some(Hold { stopped: Some(it), .. }) = &hold {
            return Err((
                Outcome::Differs,
                format!(
                    "it asked for {it}, which it did not when it was recorded; that was stopped"
                ),
            ));
        }
        let said = done.map_err(|err| (Outcome::Refused, err.message().to_owned()))?;
        let fitted = hold.as_ref().is_some_and(|it| it.fitted);
        if let Some(hold) = hold
            && !hold.fitted
            && let Some(it) = hold.expected.first()
        {
            return Err((Outcome::Differs, format!("it did not ask for {}", it.told())));
        }
        let unchanged = said.effect.is_some_and(|it| !it.dom_changed && it.navigated.is_none());
        if line.changed && unchanged && !self.changes_since(begun).await {
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
        Ok(Did { anew, fitted })
    }

    /// The line's element as it is now. What is only likely has to have asked for something, or a later act, so that the wire can
    /// tell: an act that asks for nothing changes nothing but the page.
    async fn relocated(
        &mut self,
        line: &Line,
        told_later: bool,
        ahead: bool,
        how: &Replay,
    ) -> std::result::Result<Best, (Outcome, String)> {
        let refused = |why: String| (Outcome::Refused, why);
        let was = line.element.as_ref().ok_or_else(|| refused("it has no element".to_owned()))?;
        let begun = Instant::now();
        let told = ahead || !line.requests.is_empty() || told_later;
        let host = memory::host(&self.url().await.unwrap_or_default());
        let known = match (&how.memory, &host) {
            (Some(memory), Some(host)) if told => memory.of(host, was),
            _ => None,
        };
        loop {
            let found = self.best(was, known.as_ref()).await;
            let still = self.still_for().await;
            // Only what is as it was is taken from a page that is still being built.
            match found {
                Ok(it) if it.trust == Trust::Same => return Ok(it),
                Ok(it) if still >= STILL || begun.elapsed() >= PATIENCE => {
                    let asks = ahead || !line.requests.is_empty();
                    let told = asks || (told_later && it.trust == Trust::Likely);
                    if it.trust != Trust::Healed && !told {
                        return Err(refused(format!(
                            "{} may be {} now, and nothing that is asked for would tell",
                            was.told(),
                            it.now.told()
                        )));
                    }
                    return Ok(it);
                }
                Err(why) if begun.elapsed() >= PATIENCE => return Err(refused(why)),
                _ => tokio::time::sleep(AGAIN).await,
            }
        }
    }

    /// Whether something of the page has changed since then, or does within a moment: on a machine with much to do it takes its time.
    async fn changes_since(&self, begun: Instant) -> bool {
        let until = Instant::now() + LATE;
        loop {
            let since = begun.elapsed();
            if self.still_for().await < since {
                return true;
            }
            if Instant::now() >= until {
                return false;
            }
            tokio::time::sleep(AGAIN).await;
        }
    }

    async fn still_for(&self) -> Duration {
        self.shared().stands().await.map(|it| it.1.still).unwrap_or_default()
    }

    /// What is most like it on the page as it is now, and what that is called.
    async fn best(
        &mut self,
        was: &Fingerprint,
        known: Option<&Fingerprint>,
    ) -> std::result::Result<Best, String> {
        let (read, items) = self.look(false).await.map_err(|err| err.message().to_owned())?;
        let mut all = kept::fingerprints(&items);
        all.retain(|it| {
            was.is_of_class(&it.1) && !items[it.0].states.iter().any(|it| it == "disabled")
        });
        let score =
            |it: &Fingerprint| known.map_or(0.0, |known| known.score(it)).max(was.score(it));
        all.sort_by(|a, b| score(&b.1).total_cmp(&score(&a.1)));
        let close = all.iter().take(CLOSE).map(|it| Self::found_at(&read, &items[it.0]));
        let close: Vec<_> = close.collect();
        let attributes = join_all(close.iter().map(|it| self.attributes(it))).await;
        for (it, attributes) in all.iter_mut().zip(attributes) {
            it.1.attributes = attributes;
        }
        let now: Vec<_> = all.iter().map(|it| it.1.clone()).collect();
        let ((best, trust), by) = remembered(was, known, &now)?;
        let target = Target::Ref(self.refs.of(&read, &items[all[best].0]));
        Ok(Best { target, trust, now: now[best].clone(), by })
    }
}

/// Which it is: as it was recorded, as it was found before, most like either. What was found before is never more than likely.
fn remembered(
    was: &Fingerprint,
    known: Option<&Fingerprint>,
    now: &[Fingerprint],
) -> std::result::Result<((usize, Trust), FoundBy), String> {
    let first = choose(was, now);
    let Some(known) = known else { return first.map(|it| (it, FoundBy::Likeness)) };
    match (&first, choose(known, now)) {
        (Ok((_, Trust::Same)), _) => {}
        (_, Ok((at, Trust::Same))) => return Ok(((at, Trust::Likely), FoundBy::Memory)),
        (Err(_), Ok((at, trust))) => {
            let trust = if trust == Trust::Placed { trust } else { Trust::Likely };
            return Ok(((at, trust), FoundBy::Memory));
        }
        _ => {}
    }
    first.map(|it| (it, FoundBy::Likeness))
}

fn remember(how: &Replay, it: &Anew) {
    if let (Some(memory), Some(host)) = (&how.memory, &it.host) {
        // Losing it loses time and nothing else.
        let _ = memory.proven(host, &it.was, &it.now);
    }
}

/// It goes to a page by itself.
fn opens(command: &str) -> bool {
    matches!(command, "goto" | "back" | "forward" | "reload" | "newtab" | "tab" | "closetab")
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
