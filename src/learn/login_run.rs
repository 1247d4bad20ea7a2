//! One run with a login and no browser: renewed once where the site refuses it, and `LOGIN_EXPIRED` where it has ended.
//!
//! A refusal, an empty list and a changed site look alike in one answer. What tells them apart is what a stranger gets: a login that
//! makes no difference any more, neither to this request nor to the page where the person logged in, has ended.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, PoisonError},
};

use futures::future::BoxFuture;
use serde_json::Value;

use super::{context::OnProgress, replay_context::NOBODYS_VALUE};
use commis_artifacts::digest::json_sha256;
use commis_base::error::{Code, Error, Result};
use commis_net::{
    egress::{EgressPolicy, limits::Permit},
    transport::{PreparedRequest, Reply, Transport},
};
use commis_recipe::model::{Recipe, SlotSource, StrangerAnswer, TransportKind};
use commis_runner::{
    CompiledRecipe, RecipeRunResult,
    call::Caller,
    slots::{cookie_text, stored_text},
};
use commis_stages::data_difference_bp;
use commis_vault::{Login, LoginData, LoginHttp};

/// By so much two answers to the same request may differ, basis points: counters, stamps, tokens of forms.
const NOISE_BP: u32 = 1_000;

/// Shorter values of slots name an account, and say nothing of who asks.
const SHORTEST_TOKEN: usize = 16;

/// What a run with a login needs.
pub struct LoginRun<'a> {
    pub recipe: &'a Recipe,
    pub compiled: &'a CompiledRecipe,
    pub params: &'a BTreeMap<String, String>,
    pub caller: &'a Caller,
    pub login: &'a Login,
    pub tell: &'a OnProgress,
}

/// A result, and the answer that it was made of.
struct Attempt {
    result: RecipeRunResult,
    reply: Option<Reply>,
    /// The login's state when it was sent.
    used: Arc<LoginData>,
}

impl LoginRun<'_> {
    /// At most one refresh, and one further attempt after it. Fails as [`Login::reload`] and [`Login::renew`]; what the run comes
    /// to is in the result.
    pub async fn run(&self, permit: &Permit) -> Result<RecipeRunResult> {
        let repeatable = self.compiled.is_repeatable();
        // What is sent once goes with the newest state; else a doubtful answer says that there may be a newer one.
        if !repeatable {
            self.login.reload()?;
        }
        let mut seen = self.once(permit).await?;
        if repeatable && (is_refused(&seen) || self.is_doubtful(&seen.result)) {
            self.login.reload()?;
            if !Arc::ptr_eq(&seen.used, &self.login.contents()) {
                let attempts = seen.result.attempts;
                seen = self.once(permit).await?;
                seen.result.attempts += attempts;
            }
        }
        if repeatable && is_refused(&seen) {
            match self.renewed(&seen).await {
                Ok(false) => {}
                Ok(true) => {
                    (self.tell)(&format!("{}: the login was renewed; once more", self.recipe.name));
                    let attempts = seen.result.attempts;
                    seen = self.once(permit).await?;
                    seen.result.attempts += attempts;
                }
                Err(err) => return Ok(RecipeRunResult::from_error(TransportKind::LoginHttp, &err)),
            }
        }
        let mut has_ended = self.is_doubtful(&seen.result) && self.has_ended(&seen, permit).await?;
        // It may have ended between two requests of this run: then the next one is refused as a stranger's is.
        if !has_ended && repeatable && self.takes_several(&seen.result) {
            let again = self.once(permit).await?;
            if self.is_doubtful(&again.result) {
                has_ended = self.has_ended(&again, permit).await?;
            } else if again.result.success {
                seen = again;
            }
        }
        if has_ended {
            self.end(&mut seen.result);
        }
        self.refuse_strangers_answer(&mut seen.result);
        Ok(seen.result)
    }

    /// A run in a browser's session, told apart by the page where the person logged in alone.
    pub async fn judge(&self, run: Result<RecipeRunResult>) -> Result<RecipeRunResult> {
        let doubtful = match &run {
            Ok(it) => self.is_doubtful(it),
            Err(err) => err.code() == Code::SessionRequired,
        };
        if !doubtful || !self.page_is_a_strangers().await {
            return run.map(|mut it| {
                self.refuse_strangers_answer(&mut it);
                it
            });
        }
        let mut out =
            run.unwrap_or_else(|err| RecipeRunResult::from_error(self.recipe.transport(), &err));
        self.end(&mut out);
        Ok(out)
    }

    /// What the site answered whoever was not logged in says nothing of this account: it may not see what it asks for.
    fn refuse_strangers_answer(&self, out: &mut RecipeRunResult) {
        let Some(theirs) = self.recipe.login.as_ref().and_then(|it| it.stranger_sha256.as_ref())
        else {
            return;
        };
        if out.success && json_sha256(&out.data) == *theirs {
            let name = self.login.name();
            let what = format!("the login `{name}` gets what the site answers to strangers");
            let err = Error::new(Code::AuthRequired, what)
                .hint("the account may not see it; another login of the site may");
            fail(out, &err);
        }
    }

    fn end(&self, out: &mut RecipeRunResult) {
        fail(out, &self.ended_error());
        // That it was not noted changes nothing for who asked.
        if let Err(err) = self.login.record_check(false, "a run with it got what a stranger gets") {
            tracing::warn!(error = %err, "an ended login was not noted");
        }
    }

    async fn renewed(&self, seen: &Attempt) -> Result<bool> {
        let own = self.recipe.own_host.as_deref();
        self.login.renew(self.caller.http(), &seen.used, own).await
    }

    fn ended_error(&self) -> Error {
        let (name, held) = (self.login.name(), self.login.contents());
        let what = format!("the login `{name}` of {} has ended", held.site());
        let url = held.url();
        Error::new(Code::LoginExpired, what)
            .hint(format!("`commis session login {name} {url}` logs in again"))
    }

    async fn once(&self, permit: &Permit) -> Result<Attempt> {
        let used = self.login.contents();
        let transport = LoginHttp::new(self.caller.http(), Some(self.login));
        let Some(slots) = login_slots(self.recipe, self.login, self.caller.policy())? else {
            // What the login no longer holds cannot be sent; a stranger gets as much.
            let result = RecipeRunResult::from_error(TransportKind::LoginHttp, &self.ended_error());
            return Ok(Attempt { result, reply: None, used });
        };
        let (result, reply) = self.send(&transport, &slots, permit).await;
        Ok(Attempt { result, reply, used })
    }

    async fn send(
        &self,
        transport: &dyn Transport,
        slots: &BTreeMap<String, String>,
        permit: &Permit,
    ) -> (RecipeRunResult, Option<Reply>) {
        let listening = LastReplyTransport { inner: transport, last: Mutex::default() };
        let Self { compiled, params, .. } = *self;
        let result = self.caller.call_through(permit, compiled, params, slots, &listening).await;
        let last = listening.last.into_inner().unwrap_or_else(PoisonError::into_inner);
        (result, last)
    }

    /// Whether the answer is one that a stranger may have got.
    fn is_doubtful(&self, it: &RecipeRunResult) -> bool {
        let stranger = self.recipe.login.as_ref().and_then(|it| it.stranger);
        if it.success {
            return match stranger {
                Some(StrangerAnswer::Refused) => it.items == Some(0) && self.recipe.had_items(),
                Some(StrangerAnswer::Empty) => it.items == Some(0),
                Some(StrangerAnswer::Other) | None => true,
            };
        }
        let code = it.error_code.and_then(Code::from_wire);
        matches!(
            code,
            Some(
                Code::AuthRequired
                    | Code::HttpStatus
                    | Code::NotFound
                    | Code::ParamInvalid
                    | Code::ParseError
                    | Code::ExtractEmpty
                    | Code::ShapeDrift
                    | Code::TooManyRedirects
                    | Code::RedirectBlocked
                    | Code::DomainNotAllowed
            )
        )
    }

    /// Whether it is a doubtful failure of a run that sends more than one request.
    fn takes_several(&self, it: &RecipeRunResult) -> bool {
        let fetched = |it: &SlotSource| {
            matches!(it, SlotSource::Document { .. } | SlotSource::Response { .. })
        };
        let several =
            self.recipe.chain.is_some() || self.recipe.slots.iter().any(|it| fetched(&it.from));
        !it.success && several && self.is_doubtful(it)
    }

    /// Whether the login makes no difference any more. Where the site is not heard, nobody knows, and the answer stands as it is.
    async fn has_ended(&self, seen: &Attempt, permit: &Permit) -> Result<bool> {
        // What only names the account stays, or the answers would be to two questions.
        let own = login_slots(self.recipe, self.login, self.caller.policy())?.unwrap_or_default();
        let of_nobody = |name: &str| {
            let names = own.get(name).filter(|it| it.len() < SHORTEST_TOKEN);
            names.map_or_else(|| NOBODYS_VALUE.to_owned(), Clone::clone)
        };
        let nobody: BTreeMap<String, String> =
            session_slots(self.recipe).map(|it| (it.to_owned(), of_nobody(it))).collect();
        let stranger = LoginHttp::new(self.caller.http(), None);
        let (result, reply) = self.send(&stranger, &nobody, permit).await;
        if result.retryable || !is_same((&seen.result, &seen.reply), (&result, &reply)) {
            return Ok(false);
        }
        // The account may have nothing, or not be allowed, and so may everybody else. Its page says whether it is logged in.
        Ok(self.page_is_a_strangers().await)
    }

    async fn page_is_a_strangers(&self) -> bool {
        let page = self.page(self.login.contents().url());
        let own = LoginHttp::new(self.caller.http(), Some(self.login)).send(&page).await;
        let theirs = LoginHttp::new(self.caller.http(), None).send(&page).await;
        match (own, theirs) {
            (Ok(own), Ok(theirs)) => same_reply(&own, &theirs),
            (Err(own), Err(theirs)) => own.code() == theirs.code() && !own.code().retryable(),
            _ => false,
        }
    }

    fn page(&self, url: &str) -> PreparedRequest {
        PreparedRequest {
            method: "GET".to_owned(),
            url: url.to_owned(),
            headers: Vec::new(),
            body: None,
            allowed_domains: Vec::new(),
            own_host: self.recipe.own_host.clone(),
        }
    }
}

/// Nothing of an answer that is somebody else's is left.
fn fail(out: &mut RecipeRunResult, err: &Error) {
    out.data = Value::Null;
    (out.items, out.total, out.complete) = (None, None, None);
    out.warnings.clear();
    (out.raw_response, out.auth_recovery) = (None, None);
    out.auth_recovery_triggered = false;
    out.fail(err);
}

/// The site does not know who asks, or the login lacks what the request would say it with.
fn is_refused(seen: &Attempt) -> bool {
    let lacks = seen.result.error_code == Some(Code::LoginExpired.as_str());
    lacks || seen.result.status_code == Some(401)
}

fn session_slots(recipe: &Recipe) -> impl Iterator<Item = &str> {
    recipe.slots.iter().filter(|it| it.from.needs_session()).map(|it| it.name.as_str())
}

/// Values of the slots that a login itself holds; `None` where it lacks one. Fails with `URL_*` and `RECIPE_INVALID`.
fn login_slots(
    recipe: &Recipe,
    login: &Login,
    policy: &EgressPolicy,
) -> Result<Option<BTreeMap<String, String>>> {
    let mut out = BTreeMap::new();
    for slot in &recipe.slots {
        let value = match &slot.from {
            SlotSource::Cookie { name, decoded } => {
                let policy = policy.for_own_host(recipe.own_host.as_deref());
                let value = login.cookie(name, &policy.check(&recipe.request.url)?);
                value.map(|it| cookie_text(it, *decoded))
            }
            SlotSource::Storage { area, key, path } => {
                match login.stored(&recipe.source_url, *area, key) {
                    Some(it) => stored_text(&it, path.as_deref())?,
                    None => None,
                }
            }
            _ => continue,
        };
        let Some(value) = value else { return Ok(None) };
        out.insert(slot.name.clone(), value);
    }
    Ok(Some(out))
}

type Answer<'a> = (&'a RecipeRunResult, &'a Option<Reply>);

fn is_same((own, reply): Answer<'_>, (theirs, other): Answer<'_>) -> bool {
    match (reply, other) {
        (Some(one), Some(other)) => same_reply(one, other),
        // Refused before there was an answer.
        _ => own.error_code == theirs.error_code,
    }
}

/// Whether two answers say the same: status, place, and nearly all of what stands in them.
fn same_reply(one: &Reply, other: &Reply) -> bool {
    if one.status != other.status || place(&one.url) != place(&other.url) {
        return false;
    }
    let json = |it: &Reply| serde_json::from_slice::<Value>(&it.body).ok();
    if let (Some(one), Some(other)) = (json(one), json(other)) {
        return data_difference_bp(&one, &other) <= NOISE_BP;
    }
    let words = |it: &Reply| -> BTreeSet<String> {
        let text = String::from_utf8_lossy(&it.body);
        text.split(|c: char| !c.is_alphanumeric())
            .filter(|it| !it.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let (one, other) = (words(one), words(other));
    let (shared, all) = (one.intersection(&other).count(), one.union(&other).count());
    (all - shared) * 10_000 <= all * NOISE_BP as usize
}

/// Without what a login page carries of where one came from.
fn place(url: &str) -> &str {
    url.split(['?', '#']).next().unwrap_or_default()
}

/// Keeps the last answer.
struct LastReplyTransport<'a> {
    inner: &'a dyn Transport,
    last: Mutex<Option<Reply>>,
}

impl Transport for LastReplyTransport<'_> {
    fn kind(&self) -> TransportKind {
        self.inner.kind()
    }

    fn send<'a>(&'a self, request: &'a PreparedRequest) -> BoxFuture<'a, Result<Reply>> {
        Box::pin(async move {
            let reply = self.inner.send(request).await;
            *self.last.lock().unwrap_or_else(PoisonError::into_inner) =
                reply.as_ref().ok().cloned();
            reply
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use commis_net::transport::Timings;

    fn reply(status: u16, url: &str, body: &str) -> Reply {
        let (url, body) = (url.to_owned(), body.as_bytes().to_vec());
        Reply { status, headers: Vec::new(), body, url, hops: 0, timings: Timings::default() }
    }

    #[test]
    fn when_two_answers_say_the_same() {
        let at = "https://shop.test/a";
        let check = |one: (u16, &str, &str), other: (u16, &str, &str), expected: bool| {
            let of = |it: (u16, &str, &str)| reply(it.0, it.1, it.2);
            assert_eq!(same_reply(&of(one), &of(other)), expected, "{one:?} {other:?}");
        };
        let words = "one two three four five six seven eight nine ten";
        check((200, at, "[]"), (200, at, "[]"), true);
        check((200, at, "[]"), (200, at, "[1]"), false);
        check((401, at, "no"), (403, at, "no"), false);
        check(
            (200, "https://shop.test/login?next=/a", words),
            (200, "https://shop.test/login?next=/b", words),
            true,
        );
        check((200, "https://shop.test/login", words), (200, at, words), false);
        // A token of a form.
        let long: String = (0..30).fold(String::new(), |out, n| format!("{out}word{n} "));
        check((200, at, &format!("{long} x1")), (200, at, &format!("{long} x2")), true);
        check((403, at, "not a member"), (403, at, "sign in first"), false);
    }
}

#[cfg(test)]
#[path = "login_run_tests.rs"]
mod site_tests;
