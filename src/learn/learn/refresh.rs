//! How a site's pages renew a login, seen once: the page is opened with an access token that does not hold, or without the cookie
//! that stands for one, and everything else kept.
//!
//! A recording rarely holds the request, because the token of a fresh login is good. What the browser did is written back at once: the
//! site may have spent the refresh token that the sealed login holds.

use std::collections::BTreeMap;

use serde_json::Value;
use url::Url;

use super::{Run, Source};
use crate::{drive::plan, manual};
use commis_artifacts::{
    payloads::{RecipeDraft, RecipeDraftMinimized, VerificationReport},
    recording::{ResourceType, SessionRecording},
};
use commis_base::{
    error::{Code, Error, Result},
    settings::RedactSettings,
};
use commis_browser::Plan;
use commis_net::egress::{SafeUrl, site_of};
use commis_recipe::model::{RequestTemplate, Slot, SlotSource, StorageArea, TransportKind};
use commis_redact::{
    raw::{RawExchange, RawRecording, RawStorageEntry},
    redact,
};
use commis_runner::slots::stored_text;
use commis_stages::replay_template;
use commis_state::now_ms;
use commis_vault::{Login, LoginData, Refresh, StorageItem, TokenMapping};

/// A token's end is made another one: so many characters of it.
const CHANGED: usize = 8;

/// Pages that are opened without a cookie, at most.
const MAX_COOKIES: usize = 2;

/// Shorter values name the account: nothing renews them.
const SHORTEST_TOKEN: usize = 16;

/// A stored value, or a leaf of it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct StoredValuePath {
    area: StorageArea,
    key: String,
    path: Option<String>,
}

impl StoredValuePath {
    fn from_slot(slot: &Slot) -> Option<Self> {
        let SlotSource::Storage { area, key, path } = &slot.from else { return None };
        Some(Self { area: *area, key: key.clone(), path: path.clone() })
    }

    fn text(&self, held: &LoginData, origin: &str) -> Option<String> {
        let item = held.stored_at(origin, self.area, &self.key)?;
        stored_text(&item.value, self.path.as_deref()).ok()?
    }
}

impl Run<'_> {
    /// Learns it for the task's logins, where the recipe that was proven sends a stored token and nobody knows it yet. What goes wrong
    /// is a note: the recipe is proven without it.
    pub(super) async fn learn_refresh(&mut self) {
        if let Err(err) = self.provoke().await {
            tracing::warn!(error = %err, "how the login is renewed was not learned");
            let why = commis_redact::message(err.message());
            self.notes.push(format!("how the login is renewed was not learned: {why}"));
        }
    }

    async fn provoke(&mut self) -> Result<()> {
        let report: VerificationReport = self.get()?;
        let Source::Live { url, steps, by_hand } = &self.task.source else { return Ok(()) };
        let proven = report.verified && report.transport == TransportKind::LoginHttp;
        if !proven || self.task.reads_only {
            return Ok(());
        }
        let draft: RecipeDraftMinimized = self.load_product()?;
        let logins = self.logins()?;
        let Some(login) = logins.first() else { return Ok(()) };
        if login.contents().refresh().is_some() {
            return Ok(());
        }
        let recording = self.recording()?;
        let origin = Url::parse(&recording.url)
            .map_err(|err| Error::new(Code::Internal, "a recorded page has no URL").source(err))?
            .origin()
            .ascii_serialization();
        let held = login.contents();
        let tokens: Vec<StoredValuePath> = draft
            .slots
            .iter()
            .filter_map(StoredValuePath::from_slot)
            .filter(|it| it.text(&held, &origin).is_some_and(|it| it.len() >= SHORTEST_TOKEN))
            .collect();
        login.reload()?;
        let found = if *by_hand { manual::steps(&recording)? } else { Vec::new() };
        let steps = if *by_hand { &found } else { steps };
        let plan = plan(self.task, url, steps, 0, self.cx)?;
        let refresh = if tokens.is_empty() {
            let chosen: RecipeDraft = self.load_product()?;
            let asked = self.cx.policy.check(&recording.exchange(chosen.exchange)?.url)?;
            let mut refresh = None;
            for name in lapsing_cookies(&login.contents(), &asked) {
                refresh = self.renewed_cookie(&plan, login, &origin, (&name, &asked)).await?;
                if refresh.is_some() {
                    break;
                }
            }
            refresh
        } else {
            self.renewed_tokens(&plan, &recording, login, &origin, &tokens).await?
        };
        let Some(refresh) = refresh else { return Ok(()) };
        for it in &logins {
            it.set_refresh(refresh.clone())?;
        }
        Ok(())
    }

    async fn renewed_tokens(
        &self,
        plan: &Plan,
        recording: &SessionRecording,
        login: &Login,
        origin: &str,
        tokens: &[StoredValuePath],
    ) -> Result<Option<Refresh>> {
        let before = login.contents();
        let Some(blanked) = with_invalid_tokens(&before, origin, tokens) else { return Ok(None) };
        let (seen, after) = self.record_with_login(plan, &blanked).await?;
        keep(login, &after, &blanked, origin, tokens).await?;
        Ok(found_in(seen?, recording, &blanked, &after, origin, tokens, self))
    }

    /// The page without one cookie. It has renewed the login where the recipe's own request was refused, a request then set the cookie,
    /// and the recipe's request was answered: any session is set anew by sites that give one to strangers.
    async fn renewed_cookie(
        &self,
        plan: &Plan,
        login: &Login,
        origin: &str,
        (name, asked): (&str, &SafeUrl),
    ) -> Result<Option<Refresh>> {
        let lapsed = login.contents().without_cookie(name);
        let (seen, after) = self.record_with_login(plan, &lapsed).await?;
        let Ok(raw) = seen else { return Ok(None) };
        let Some(at) = cookie_renewal(&raw, name, asked) else { return Ok(None) };
        login.absorb(&after).await?;
        let Some((request, slots)) = self.template_of(raw, at, &lapsed, origin) else {
            return Ok(None);
        };
        let is_stored = slots.iter().all(|it| matches!(it.from, SlotSource::Storage { .. }));
        if !is_stored || site_of(&request.url) != lapsed.site() {
            return Ok(None);
        }
        let (origin, cookies) = (origin.to_owned(), vec![name.to_owned()]);
        Ok(Some(Refresh { origin, request, slots, gives: Vec::new(), cookies }))
    }

    /// What the browser did, opened with that login, and what it held then. Steps may fail where the site logs out.
    async fn record_with_login(
        &self,
        plan: &Plan,
        held: &LoginData,
    ) -> Result<(Result<RawRecording>, LoginData)> {
        self.cx.pacer.wait(&plan.url).await;
        let mut context = self.cx.browser.context().await?;
        context.mount(held).await?;
        let seen = context.record_told(plan, &mut |_| (), || ()).await;
        self.cx.pacer.record_end(&plan.url).await;
        let after = context.capture_login(Some(held.url()), "context").await?;
        Ok((seen, after))
    }

    /// The request of an exchange, with slots for what the page had stored of `held` when it sent it.
    fn template_of(
        &self,
        mut raw: RawRecording,
        at: usize,
        held: &LoginData,
        origin: &str,
    ) -> Option<(RequestTemplate, Vec<Slot>)> {
        raw.page.url.clone_from(&raw.url);
        raw.page.stored = held
            .stored()
            .iter()
            .filter(|it| it.origin == origin)
            .map(|it| RawStorageEntry {
                area: it.area,
                key: it.name.clone(),
                value: it.value.clone(),
            })
            .collect();
        raw.secrets.extend(held.secrets());
        request_of(raw, at, &self.cx.settings.redact)
    }
}

/// The request of an exchange, its secrets as slots.
pub(super) fn request_of(
    raw: RawRecording,
    at: usize,
    settings: &RedactSettings,
) -> Option<(RequestTemplate, Vec<Slot>)> {
    replay_template(redact(raw, settings).recording.exchanges.get(at)?)
}

/// Cookies without which a page is tried: such that only servers read and the recipe's request carries, where there is another one to
/// renew them with.
fn lapsing_cookies(held: &LoginData, asked: &SafeUrl) -> Vec<String> {
    let now = now_ms();
    let session = || held.cookies().iter().filter(|it| it.http_only && !it.has_expired(now));
    let names: Vec<String> =
        session().filter(|it| it.goes_to(asked, now)).map(|it| it.name.clone()).collect();
    if session().count() < 2 { Vec::new() } else { names.into_iter().take(MAX_COOKIES).collect() }
}

/// The exchange that set the cookie between a refusal of the request and its answer.
fn cookie_renewal(raw: &RawRecording, name: &str, asked: &SafeUrl) -> Option<usize> {
    let is_asked = |it: &RawExchange| {
        it.url.origin() == asked.url().origin() && it.url.path() == asked.url().path()
    };
    let is_answered = |it: &RawExchange| it.status.is_some_and(|it| (200..300).contains(&it));
    let refused = raw.exchanges.iter().position(|it| is_asked(it) && it.status == Some(401))?;
    let answered = raw.exchanges.iter().rposition(|it| is_asked(it) && is_answered(it))?;
    let sets = |it: &RawExchange| {
        let set = it.response_headers.iter().filter(|it| it.0.eq_ignore_ascii_case("set-cookie"));
        set.flat_map(|it| it.1.lines()).any(|it| {
            let mut pair = it.split(';').next().unwrap_or_default().splitn(2, '=');
            pair.next().is_some_and(|it| it.trim() == name)
                && pair.next().is_some_and(|it| !it.trim().is_empty())
        })
    };
    let between = raw.exchanges.get(refused + 1..answered)?;
    let at = between
        .iter()
        .position(|it| is_answered(it) && sets(it) && it.resource_type != ResourceType::Document)?;
    Some(refused + 1 + at)
}

/// Writes back what the browser's context changed, but for tokens that are the wrong ones still.
async fn keep(
    login: &Login,
    after: &LoginData,
    blanked: &LoginData,
    origin: &str,
    tokens: &[StoredValuePath],
) -> Result<()> {
    let own = login.contents();
    let back: Vec<StorageItem> = tokens
        .iter()
        .filter(|it| it.text(after, origin) == it.text(blanked, origin))
        .filter_map(|it| own.stored_at(origin, it.area, &it.key).cloned())
        .collect();
    login.absorb(&after.with_stored(back)).await
}

/// The login with tokens that do not hold. `None` where it lacks one.
fn with_invalid_tokens(
    held: &LoginData,
    origin: &str,
    tokens: &[StoredValuePath],
) -> Option<LoginData> {
    let mut out = held.clone();
    for it in tokens {
        let mut item = out.stored_at(origin, it.area, &it.key)?.clone();
        let token = it.text(&out, origin)?;
        let other = other_token(&token);
        item.value = item.value.replace(&token, &other).into();
        out = out.with_stored(vec![item]);
        if it.text(&out, origin).as_ref() != Some(&other) {
            return None;
        }
    }
    Some(out)
}

/// The same with another end: a token that pages can still read, and no server takes.
fn other_token(token: &str) -> String {
    let from = token.chars().count().saturating_sub(CHANGED);
    let other = |it: char| match it {
        'z' => 'a',
        'Z' => 'A',
        '9' => '0',
        it if it.is_ascii_alphanumeric() => char::from(it as u8 + 1),
        it => it,
    };
    token.chars().enumerate().map(|(at, it)| if at < from { it } else { other(it) }).collect()
}

/// The request whose answer gave the tokens that the page stored in the place of the wrong ones.
fn found_in(
    raw: RawRecording,
    recording: &SessionRecording,
    blanked: &LoginData,
    after: &LoginData,
    origin: &str,
    tokens: &[StoredValuePath],
    run: &Run<'_>,
) -> Option<Refresh> {
    let is_new = |it: &StoredValuePath| {
        let new = it.text(after, origin);
        new.filter(|new| Some(new) != it.text(blanked, origin).as_ref())
    };
    let new = tokens.iter().map(is_new).collect::<Option<Vec<String>>>()?;
    let answers = raw.exchanges.iter().map(|it| {
        let ok = it.status.is_some_and(|it| (200..300).contains(&it));
        let body = it.body.bytes().filter(|_| ok)?;
        serde_json::from_slice::<Value>(&body).ok()
    });
    let found = answers.enumerate().find_map(|(at, answer)| {
        let answer = answer?;
        let all = new.iter().map(|it| pointer(&answer, it)).collect::<Option<Vec<_>>>()?;
        Some((at, answer, all))
    });
    let (at, answer, pointers) = found?;
    let asked = run.cx.policy.check(raw.exchanges[at].url.as_str()).ok()?;
    let (request, slots) = run.template_of(raw, at, blanked, origin)?;
    let taken: Option<Vec<StoredValuePath>> =
        slots.iter().map(StoredValuePath::from_slot).collect();
    let site = recording.login_site.as_deref();
    // A request that says whose login it renews by nothing else says it by a cookie.
    let says_whose = !slots.is_empty() || blanked.cookie_header(&asked, now_ms()).is_some();
    let taken = taken.filter(|_| says_whose && Some(&*site_of(&request.url)) == site)?;
    let mut gives: BTreeMap<StoredValuePath, String> =
        tokens.iter().cloned().zip(pointers).collect();
    for it in taken {
        // A token that stays as it was is good for another time.
        if let Some(new) = is_new(&it)
            && let Some(pointer) = pointer(&answer, &new)
        {
            gives.insert(it, pointer);
        }
    }
    let gives = gives
        .into_iter()
        .map(|(StoredValuePath { area, key, path }, from)| TokenMapping { from, area, key, path })
        .collect();
    Some(Refresh { origin: origin.to_owned(), request, slots, gives, cookies: Vec::new() })
}

/// Where a text is a leaf of JSON.
pub(super) fn pointer(json: &Value, text: &str) -> Option<String> {
    match json {
        Value::String(it) if it == text => Some(String::new()),
        Value::Array(all) => {
            all.iter().enumerate().find_map(|(at, it)| Some(format!("/{at}{}", pointer(it, text)?)))
        }
        Value::Object(all) => all.iter().find_map(|(key, it)| {
            let key = key.replace('~', "~0").replace('/', "~1");
            Some(format!("/{key}{}", pointer(it, text)?))
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_token_that_does_not_hold_looks_like_one() {
        assert_eq!(other_token("abc.def.0129xyzZ-_"), "abc.def.0130yzaA-_");
        assert_eq!(other_token("ab9"), "bc0");
    }

    #[test]
    fn where_an_answer_gives_a_token() {
        let answer = json!({"a/b": [{"t": "x"}, {"t": "new"}]});
        let at = pointer(&answer, "new").unwrap();
        assert_eq!(at, "/a~1b/1/t");
        assert_eq!(answer.pointer(&at).unwrap(), "new");
        assert_eq!(pointer(&answer, "none"), None);
    }
}
