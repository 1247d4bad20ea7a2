//! How a site's pages renew a login, seen once: the page is opened with an access token that does not hold, and everything else kept.
//!
//! A recording rarely holds the request, because the token of a fresh login is good. What the browser did is written back at once: the
//! site may have spent the refresh token that the sealed login holds.

use std::collections::BTreeMap;

use serde_json::Value;
use url::Url;

use super::{Run, Source};
use crate::{by_hand, drive::plan};
use commis_artifacts::{
    payloads::{RecipeDraftMinimized, VerificationReport},
    recording::SessionRecording,
};
use commis_base::error::{Code, Error, Result};
use commis_net::egress::site_of;
use commis_recipe::model::{Slot, SlotSource, StorageArea, TransportKind};
use commis_redact::{
    raw::{RawRecording, RawStored},
    redact,
};
use commis_runner::slots::stored_text;
use commis_stages::replay_template;
use commis_vault::{Gives, Held, Item, Login, Refresh};

/// A token's end is made another one: so many characters of it.
const CHANGED: usize = 8;

/// A stored value, or a leaf of it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    area: StorageArea,
    key: String,
    path: Option<String>,
}

impl Place {
    fn of(slot: &Slot) -> Option<Self> {
        let SlotSource::Storage { area, key, path } = &slot.from else { return None };
        Some(Self { area: *area, key: key.clone(), path: path.clone() })
    }

    fn text(&self, held: &Held, origin: &str) -> Option<String> {
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
        let draft: RecipeDraftMinimized = self.done()?;
        let tokens: Vec<Place> = draft.slots.iter().filter_map(Place::of).collect();
        let logins = self.logins()?;
        let Some(login) = logins.first() else { return Ok(()) };
        if tokens.is_empty() || login.held().refresh().is_some() {
            return Ok(());
        }
        let recording = self.recording()?;
        let origin = Url::parse(&recording.url)
            .map_err(|err| Error::new(Code::Internal, "a recorded page has no URL").source(err))?
            .origin()
            .ascii_serialization();
        login.reload()?;
        let before = login.held();
        let Some(blanked) = blanked(&before, &origin, &tokens) else { return Ok(()) };
        let found = if *by_hand { by_hand::steps(&recording)? } else { Vec::new() };
        let steps = if *by_hand { &found } else { steps };
        let plan = plan(self.task, url, steps, 0, self.cx)?;
        self.cx.pacer.wait(&plan.url).await;
        let mut context = self.cx.browser.context().await?;
        context.mount(&blanked).await?;
        // Steps may fail where the site logs out; what it renewed counts all the same.
        let seen = context.record_told(&plan, &mut |_| (), || ()).await;
        self.cx.pacer.ended(&plan.url).await;
        let after = context.held(Some(before.url()), "context").await?;
        keep(login, &after, &blanked, &origin, &tokens).await?;
        let found = found_in(seen?, &recording, &blanked, &after, &origin, &tokens, self);
        let Some(refresh) = found else { return Ok(()) };
        for it in &logins {
            it.set_refresh(refresh.clone())?;
        }
        Ok(())
    }
}

/// Writes back what the browser's context changed, but for tokens that are the wrong ones still.
async fn keep(
    login: &Login,
    after: &Held,
    blanked: &Held,
    origin: &str,
    tokens: &[Place],
) -> Result<()> {
    let own = login.held();
    let back: Vec<Item> = tokens
        .iter()
        .filter(|it| it.text(after, origin) == it.text(blanked, origin))
        .filter_map(|it| own.stored_at(origin, it.area, &it.key).cloned())
        .collect();
    login.absorb(&after.with_stored(back)).await
}

/// The login with tokens that do not hold. `None` where it lacks one.
fn blanked(held: &Held, origin: &str, tokens: &[Place]) -> Option<Held> {
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
    mut raw: RawRecording,
    recording: &SessionRecording,
    blanked: &Held,
    after: &Held,
    origin: &str,
    tokens: &[Place],
    run: &Run<'_>,
) -> Option<Refresh> {
    let is_new = |it: &Place| {
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
    // What the page had when it sent it.
    raw.page.url.clone_from(&raw.url);
    raw.page.stored = blanked
        .stored()
        .iter()
        .filter(|it| it.origin == origin)
        .map(|it| RawStored { area: it.area, key: it.name.clone(), value: it.value.clone() })
        .collect();
    raw.secrets.extend(blanked.secrets());
    let redacted = redact(raw, &run.cx.settings.redact);
    let exchange = redacted.recording.exchanges.get(at)?;
    let (request, slots) = replay_template(exchange)?;
    let taken: Option<Vec<Place>> = slots.iter().map(Place::of).collect();
    let site = recording.login_site.as_deref();
    let taken = taken.filter(|it| !it.is_empty() && Some(&*site_of(&request.url)) == site)?;
    let mut gives: BTreeMap<Place, String> = tokens.iter().cloned().zip(pointers).collect();
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
        .map(|(Place { area, key, path }, from)| Gives { from, area, key, path })
        .collect();
    Some(Refresh { origin: origin.to_owned(), request, slots, gives })
}

/// Where a text is a leaf of JSON.
fn pointer(json: &Value, text: &str) -> Option<String> {
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
