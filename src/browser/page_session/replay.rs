//! Does a session again, on the page as it is now: elements are found anew, and what they ask for has to be what was recorded.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use futures::future::join_all;

use super::{
    CommandOutput, EventKind, PageController, ReplayOptions, ReplayOutcome, ReplayedAction, Target,
    prints, replay_model::MatchSource, session_recording,
};
use crate::sessions::{
    SessionAction,
    fingerprint::Fingerprint,
    locator_cache,
    network_expectations::{self, AllowedDifferences, ReplayGuard, RequestTap, SentRequest},
    relocate::{MatchTrust, Strictness, choose},
};
use commis_base::error::{Code, Error, Result};

/// Elements whose attributes are looked at; and where nothing is called as it was.
const CLOSE: usize = 48;
const WIDE: usize = 200;
/// An element is waited for so long,
const PATIENCE: Duration = Duration::from_secs(4);
/// and looked for so often;
const AGAIN: Duration = Duration::from_millis(150);
/// a page that has not changed for so long has been built.
const STILL: Duration = Duration::from_millis(400);

/// What was done.
struct ActResult {
    /// The element, where it is another than recorded.
    anew: Option<Relocation>,
    /// What it asked for was what was recorded.
    fitted: bool,
    /// Where it is now, where the site led to another of its pages than when it was recorded.
    led: Option<Redirect>,
}

/// A page of a site in place of another.
struct Redirect {
    was: SentRequest,
    is: SentRequest,
}

/// An element that was found anew.
struct Relocation {
    host: Option<String>,
    was: Fingerprint,
    now: Fingerprint,
    by: MatchSource,
}

/// An element of the page as it is now.
struct BestMatch {
    target: Target,
    trust: MatchTrust,
    now: Fingerprint,
    by: MatchSource,
}

impl PageController {
    /// Does the actions one after the other, until one is refused or differs.
    pub async fn replay(
        &mut self,
        lines: &[SessionAction],
        how: &ReplayOptions,
    ) -> Result<Vec<ReplayedAction>> {
        self.is_free()?;
        let mut other = other(lines, how)?;
        let mut led: Vec<Redirect> = Vec::new();
        let known = lines.iter().flat_map(|it| it.requests.iter().chain(&it.between));
        let known: Vec<SentRequest> = known.filter(|it| !it.changes()).cloned().collect();
        let mut out = Vec::new();
        let mut unproven: Vec<Relocation> = Vec::new();
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
            let timed: Vec<SentRequest> = timed.cloned().collect();
            let sent: Vec<&SentRequest> =
                line.requests.iter().chain(&timed).chain(&known).collect();
            let site = self.url().await.ok().and_then(|it| network_expectations::site(&it));
            let hold = ReplayGuard {
                expected: expected.cloned().collect(),
                sites: network_expectations::deciding(site, &line.requests),
                known: known.clone(),
                other: AllowedDifferences {
                    carried: network_expectations::carried(&self.hrefs().await),
                    moment: self.moment(line, &sent).await,
                    ..other.clone()
                },
                timed,
                ..ReplayGuard::default()
            };
            let told_later = lines.iter().any(|it| it.n > line.n && !it.requests.is_empty());
            let tells = lines.iter().any(|it| it.n > line.n && it.element.is_some());
            let mut relied = None;
            let expects = Expectations { later, told_later, tells, led: &led };
            let mut done =
                Box::pin(self.replay_action(line, how, hold, expects, &mut relied)).await;
            if done.is_ok()
                && let Some(next) = lines.iter().find(|it| it.n > line.n && it.failed.is_none())
                && let Err(why) = self.led_to(line, next, how).await
            {
                done = Err((ReplayOutcome::Differs, why));
            }
            let mut found_by = None;
            let (outcome, why) = match done {
                Ok(ActResult { anew, fitted, led: now }) => {
                    if let Some(it) = now {
                        other.leads(&it);
                        led.push(it);
                    }
                    found_by = anew.as_ref().map(|it| it.by);
                    unproven.extend(anew);
                    // What came before led here.
                    if fitted {
                        unproven.drain(..).for_each(|it| remember(how, &it));
                    }
                    (
                        if found_by.is_some() {
                            ReplayOutcome::Healed
                        } else {
                            ReplayOutcome::Same
                        },
                        None,
                    )
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
            out.push(ReplayedAction { n: line.n, command, outcome, found_by, why });
            if matches!(outcome, ReplayOutcome::Refused | ReplayOutcome::Differs) {
                break;
            }
        }
        self.shared().lock().tap = None;
        Ok(out)
    }

    /// An act that asks for nothing has to lead to the element of the next one. Why not, else.
    async fn led_to(
        &mut self,
        line: &SessionAction,
        next: &SessionAction,
        how: &ReplayOptions,
    ) -> Result<(), String> {
        let asks = !line.requests.is_empty() || opens(&line.command);
        if asks || next.element.is_none() || next.url_before != line.url_after {
            return Ok(());
        }
        let told = |it: (ReplayOutcome, String)| {
            format!("what comes next is not there after it: {}", it.1)
        };
        // Whether anything tells what it is, is the next act's to say.
        self.relocated(next, true, true, Strictness::Reads, how).await.map(drop).map_err(told)
    }

    /// Tells those who look on.
    fn tells_again(&self, line: &SessionAction, outcome: ReplayOutcome, why: Option<&str>) {
        let (kind, told) = match outcome {
            ReplayOutcome::Same => (EventKind::Done, "as it was recorded"),
            ReplayOutcome::Healed => (EventKind::Done, "on an element that was found anew"),
            ReplayOutcome::Refused | ReplayOutcome::Differs => {
                (EventKind::Failed, why.unwrap_or_default())
            }
        };
        let text = format!("action {} again, {}: {told}", line.n, line.command);
        self.shared().lock().emit(kind, &text);
    }

    /// Does the act of a line. What it asks for is held until it fits what was recorded.
    async fn replay_action(
        &mut self,
        line: &SessionAction,
        how: &ReplayOptions,
        mut hold: ReplayGuard,
        expects: Expectations<'_>,
        relied: &mut Option<String>,
    ) -> std::result::Result<ActResult, (ReplayOutcome, String)> {
        let refused = |err: Error| (ReplayOutcome::Refused, err.message().to_owned());
        let allowed = how.allow.contains(&line.n);
        // A page tells others what is done on it; an act that does nothing else is meant to.
        let does = line.changed || line.requests.iter().any(|it| !it.changes() && !it.is_aside());
        let aside = |it: &SentRequest| does && !hold.decides(it);
        let mut sent = line.requests.iter().chain(expects.later);
        let sent = sent.find(|it| it.changes() && !aside(it)).map(SentRequest::describe);
        if sent.is_some() && !allowed {
            return Err((
                ReplayOutcome::Refused,
                format!("it may change something ({}): allow {}", sent.unwrap_or_default(), line.n),
            ));
        }
        let bar = if sent.is_some() { Strictness::Changes } else { Strictness::Reads };
        // Before the element is looked for: what was found is acted on at once.
        let frames = if line.changed { self.watched().await } else { BTreeMap::new() };
        let url_before = self.url().await.unwrap_or_default();
        let mut option = None;
        let (on, anew) = if let Some(was) = &line.element {
            let host = locator_cache::host(&url_before);
            let knows =
                |host: &String| how.memory.as_ref().is_some_and(|it| it.get(host, was).is_some());
            *relied = host.clone().filter(knows);
            let it = self.relocated(line, expects.told_later, false, bar, how).await?;
            relied.take_if(|_| it.by != MatchSource::Memory);
            hold.other.moment.is_sure = is_sure(it.trust);
            option = option_now(line, how, &it.now);
            let anew = Relocation { host, was: was.clone(), now: it.now, by: it.by };
            (Some(it.target), Some(anew).filter(|_| it.trust != MatchTrust::Same))
        } else {
            // A key goes to what the act before was on, which was found.
            hold.other.moment.is_sure = true;
            (None, None)
        };
        // On the element itself what the page shows tells; what others are asked for may be another.
        let shows = line.changed || line.url_before != line.url_after;
        if shows && hold.other.moment.is_sure && network_expectations::site(&url_before).is_some() {
            hold.sites =
                network_expectations::deciding(network_expectations::site(&url_before), &[]);
        }
        let other = hold.other.clone();
        let mut value = option.or_else(|| action_value(line, how));
        if matches!(&*line.command, "goto" | "newtab") {
            value = value.map(|it| moved(&it, &other));
        }
        let command = session_recording::command(line, on, value.clone()).map_err(|err| {
            // That is not the element's fault.
            *relied = None;
            refused(err)
        })?;
        let after = ReplayGuard {
            // What only reads is a page's own affair.
            fitted: true,
            timed: hold.timed.clone(),
            other: hold.other.clone(),
            sites: hold.sites.clone(),
            ..ReplayGuard::default()
        };
        let hold = Some(hold).filter(|_| !opens(&line.command));
        let held = |hold: ReplayGuard| RequestTap { hold: Some(hold), ..RequestTap::default() };
        let before = std::mem::replace(&mut self.shared().lock().tap, hold.map(held));
        if let Some(it) = before.and_then(|it| it.hold?.stopped) {
            *relied = None;
            let why = format!("before it, the page asked by itself for {it}; that was stopped");
            return Err((ReplayOutcome::Differs, why));
        }
        let begun = Instant::now();
        let mut done = self.answer(command).await;
        if let Err(err) = &done
            && err.code() == Code::RefStale
            && line.element.is_some()
        {
            // The page went on between the look and the act.
            let it = self.relocated(line, expects.told_later, false, bar, how).await?;
            if let Some(hold) = self.shared().lock().tap.as_mut().and_then(|it| it.hold.as_mut()) {
                hold.other.moment.is_sure &= is_sure(it.trust);
            }
            let value = value.clone();
            done = match session_recording::command(line, Some(it.target), value) {
                Ok(command) => self.answer(command).await,
                Err(err) => Err(err),
            };
        }
        let hold = self.shared().lock().tap.replace(held(after)).and_then(|it| it.hold);
        let fitted = hold.as_ref().is_some_and(|it| it.fitted);
        let said = requests_fit(hold.as_ref(), done)?;
        let unchanged = said.effect.is_some_and(|it| !it.dom_changed && it.navigated.is_none());
        if line.changed && unchanged && !self.changes_since(begun, &frames).await {
            return Err((ReplayOutcome::Differs, "the page did not change".to_owned()));
        }
        let now = self.url().await.map_err(refused)?;
        let stays = now == url_before && line.url_before == line.url_after;
        let goes = stays || fitted || opens(&line.command);
        match arrived(line, &now, &other, &expects, goes) {
            Ok(led) => Ok(ActResult { anew, fitted, led }),
            Err(why) => Err((ReplayOutcome::Differs, why)),
        }
    }

    /// The line's element as it is now. What is only likely has to have asked for something, or a later act, so that the wire can
    /// tell: an act that asks for nothing changes nothing but the page.
    async fn relocated(
        &mut self,
        line: &SessionAction,
        told_later: bool,
        ahead: bool,
        bar: Strictness,
        how: &ReplayOptions,
    ) -> std::result::Result<BestMatch, (ReplayOutcome, String)> {
        let refused = |why: String| (ReplayOutcome::Refused, why);
        let was = line.element.as_ref().ok_or_else(|| refused("it has no element".to_owned()))?;
        let begun = Instant::now();
        let told = ahead || !line.requests.is_empty() || told_later;
        let host = locator_cache::host(&self.url().await.unwrap_or_default());
        let known = match (&how.memory, &host) {
            (Some(memory), Some(host)) if told => memory.get(host, was),
            _ => None,
        };
        loop {
            let found = self.best(was, known.as_ref(), bar).await;
            let still = self.still_for().await;
            // Only what is as it was is taken from a page that is still being built.
            match found {
                Ok(it) if it.trust == MatchTrust::Same => return Ok(it),
                Ok(it) if still >= STILL || begun.elapsed() >= PATIENCE => {
                    let asks = ahead || !line.requests.is_empty();
                    let told = asks || (told_later && it.trust == MatchTrust::Likely);
                    if it.trust != MatchTrust::Healed && !told {
                        return Err(refused(format!(
                            "{} may be {} now, and no request of the action would show whether it is",
                            was.describe(),
                            it.now.describe()
                        )));
                    }
                    return Ok(it);
                }
                Err(why) if begun.elapsed() >= PATIENCE => return Err(refused(why)),
                _ => tokio::time::sleep(AGAIN).await,
            }
        }
    }

    /// What is most like it on the page as it is now, and what that is called.
    async fn best(
        &mut self,
        was: &Fingerprint,
        known: Option<&Fingerprint>,
        bar: Strictness,
    ) -> std::result::Result<BestMatch, String> {
        let (read, items) = self.read_items(false).await.map_err(|err| err.message().to_owned())?;
        let mut all = prints::fingerprints(&read, &items);
        all.retain(|it| {
            was.is_of_class(&it.1) && !items[it.0].states.iter().any(|it| it == "disabled")
        });
        let is_named = all.iter().any(|it| was.is_named_as(&it.1));
        // Where labels changed, a score says little of which are worth a look.
        let worth = |it: &Fingerprint| {
            let same_role = f64::from(u8::from(!is_named && it.role == was.role));
            let another = f64::from(u8::from(was.was_another(it)));
            let score = known.map_or(0.0, |known| known.score(it)).max(was.score(it));
            score + same_role - another
        };
        all.sort_by(|a, b| worth(&b.1).total_cmp(&worth(&a.1)));
        let most = if is_named { CLOSE } else { WIDE };
        let close = all.iter().take(most).map(|it| Self::found_at(&read, &items[it.0]));
        let close: Vec<_> = close.collect();
        let attributes = join_all(close.iter().map(|it| self.attributes(it))).await;
        for (it, attributes) in all.iter_mut().zip(attributes) {
            it.1.attributes = attributes;
        }
        let now: Vec<_> = all.iter().map(|it| it.1.clone()).collect();
        let ((best, trust), by) = remembered(was, known, &now, bar)?;
        let target = Target::Ref(self.refs.ref_of(&read, &items[all[best].0]));
        Ok(BestMatch { target, trust, now: now[best].clone(), by })
    }
}

/// Which it is: as it was recorded, as it was found before, most like either. What was found before is never more than likely.
fn remembered(
    was: &Fingerprint,
    known: Option<&Fingerprint>,
    now: &[Fingerprint],
    bar: Strictness,
) -> std::result::Result<((usize, MatchTrust), MatchSource), String> {
    let first = choose(was, now, bar);
    let Some(known) = known else { return first.map(|it| (it, MatchSource::Likeness)) };
    match (&first, choose(known, now, bar)) {
        (Ok((_, MatchTrust::Same)), _) => {}
        (_, Ok((at, MatchTrust::Same))) => {
            return Ok(((at, MatchTrust::Likely), MatchSource::Memory));
        }
        (Err(_), Ok((at, trust))) => {
            let trust = if trust == MatchTrust::Placed { trust } else { MatchTrust::Likely };
            return Ok(((at, trust), MatchSource::Memory));
        }
        _ => {}
    }
    first.map(|it| (it, MatchSource::Likeness))
}

/// What the act takes: as it is given now, else as it was recorded.
fn action_value(line: &SessionAction, how: &ReplayOptions) -> Option<String> {
    how.values.get(&line.n).cloned().or_else(|| line.value.clone())
}

/// What the option that is to be chosen is called now, where the list has it under another label.
fn option_now(line: &SessionAction, how: &ReplayOptions, now: &Fingerprint) -> Option<String> {
    let options = |it: &Fingerprint| -> Option<Vec<(String, String)>> {
        serde_json::from_str(it.attributes.get("options")?).ok()
    };
    let label = action_value(line, how).filter(|_| line.command == "select")?;
    let (were, are) = (options(line.element.as_ref()?)?, options(now)?);
    if are.iter().any(|it| it.0 == label || it.1 == label) {
        return None;
    }
    let sent = &were.iter().find(|it| it.0 == label)?.1;
    let mut all = are.iter().filter(|it| it.1 == *sent && !sent.is_empty());
    all.next().filter(|_| all.next().is_none()).map(|it| it.0.clone())
}

/// Whether it is the element itself, wherever it stands.
fn is_sure(trust: MatchTrust) -> bool {
    matches!(trust, MatchTrust::Same | MatchTrust::Healed)
}

/// What of a session tells whether an act came to what it should.
struct Expectations<'a> {
    /// What timers of the act asked for.
    later: &'a [SentRequest],
    /// A later act asks for something.
    told_later: bool,
    /// A later act is on an element.
    tells: bool,
    led: &'a [Redirect],
}

/// What the act said, if the page asked for what it had asked for then and for nothing else that the guard stopped.
fn requests_fit(
    guard: Option<&ReplayGuard>,
    done: Result<CommandOutput>,
) -> std::result::Result<CommandOutput, (ReplayOutcome, String)> {
    if let Some(it) = guard.and_then(|it| it.stopped.as_ref()) {
        return Err((ReplayOutcome::Differs, format!("it asked for {it}; that was stopped")));
    }
    let said = done.map_err(|err| (ReplayOutcome::Refused, err.message().to_owned()))?;
    match guard.filter(|it| !it.fitted).and_then(ReplayGuard::required) {
        Some(it) => Err((ReplayOutcome::Differs, format!("it did not ask for {}", it.describe()))),
        None => Ok(said),
    }
}

/// Whether the page is where it was then, or where its site leads to instead, which the elements of later acts will tell. `goes`: what
/// led here was as it was recorded.
fn arrived(
    line: &SessionAction,
    now: &str,
    other: &AllowedDifferences,
    expects: &Expectations<'_>,
    goes: bool,
) -> std::result::Result<Option<Redirect>, String> {
    let (was, is) = (
        SentRequest::from_parts("GET", &line.url_after, None),
        SentRequest::from_parts("GET", now, None),
    );
    let (Some(was), Some(is)) = (was, is) else { return Ok(None) };
    let before = |it: &Redirect| it.was.fits(&was, other) && it.is.fits(&is, other);
    if was.fits(&is, other) || expects.led.iter().any(before) {
        return Ok(None);
    }
    if goes && expects.tells && was.site().is_some() && was.site() == is.site() {
        return Ok(Some(Redirect { was, is }));
    }
    Err(format!("it is now at {now}, and was at {}", line.url_after))
}

impl AllowedDifferences {
    /// What leads to a page of that site leads to where it is now.
    fn leads(&mut self, it: &Redirect) {
        if it.was.origin != it.is.origin {
            self.origins.push((it.was.origin.clone(), it.is.origin.clone()));
        }
        let rest = it.was.path.trim_start_matches('/');
        let prefix = it.is.path.strip_suffix(rest).unwrap_or_default().trim_end_matches('/');
        if !prefix.is_empty() {
            self.prefix = Some(prefix.to_owned());
        }
    }
}

fn remember(how: &ReplayOptions, it: &Relocation) {
    if let (Some(memory), Some(host)) = (&how.memory, &it.host) {
        // Losing it loses time and nothing else.
        let _ = memory.proven(host, &it.was, &it.now);
    }
}

/// It goes to a page by itself.
fn opens(command: &str) -> bool {
    matches!(command, "goto" | "back" | "forward" | "reload" | "newtab" | "tab" | "closetab")
}

fn other(lines: &[SessionAction], how: &ReplayOptions) -> Result<AllowedDifferences> {
    let mut out = AllowedDifferences::default();
    for (n, value) in &how.values {
        let line = lines.iter().find(|it| it.n == *n);
        let line = line.ok_or_else(|| {
            Error::new(Code::ParamInvalid, format!("the session has no action {n}"))
                .hint("`session show` lists them")
        })?;
        let was = line
            .value
            .clone()
            .or_else(|| line.secret.then(|| network_expectations::MASK.to_owned()));
        out.values.extend(was.map(|it| (it, value.clone())));
    }
    if let (Some(to), Some(from)) = (&how.url, lines.iter().find(|it| it.command == "goto")) {
        let origin = |it: &str| url::Url::parse(it).map(|it| it.origin().ascii_serialization());
        let (Ok(from), Ok(to)) = (origin(from.value.as_deref().unwrap_or_default()), origin(to))
        else {
            return Err(Error::new(
                Code::ParamInvalid,
                "this is not an absolute http or https address",
            ));
        };
        out.origins.push((from, to));
    }
    Ok(out)
}

fn moved(url: &str, other: &AllowedDifferences) -> String {
    let found = other.origins.iter().find_map(|it| Some((url.strip_prefix(it.0.as_str())?, &it.1)));
    found.map_or_else(|| url.to_owned(), |(rest, to)| format!("{to}{rest}"))
}
