//! A chat in Telegram where a request that waits is shown, with two buttons under it.
//!
//! What counts is who pressed, by the number of their account, and not which chat it was in. A button brings back a word that was made for
//! that one message and is kept in memory alone, so what an older daemon asked can no longer be answered. Updates are fetched only while
//! something waits. The message says in the end what became of the request, whoever decided.

use std::{sync::Arc, time::Duration};

use backon::{ExponentialBuilder, Retryable as _};
use serde_json::json;

use super::{
    bot::{Bot, ButtonPress, DATA, MESSAGE, length},
    dashboard,
    pending::Question,
    scope::refusal_reason,
    spawn_until_stop,
};
use crate::{
    Daemon,
    principal::{Principal, is_equal_constant_time},
    queue::CallOptions,
};
use commis_agent::{ApprovalRequest, ApprovalState, Channel};
use commis_base::{
    error::{Code, Error, Result},
    ids,
    settings::TelegramSettings,
};
use commis_state::now_ms;

/// How long one call waits for a button, and how long once one was pressed.
const PATIENCE: Duration = Duration::from_secs(20);
const SOON: Duration = Duration::from_secs(1);
/// Between two calls that bring nothing: an API may not wait.
const PAUSE: Duration = Duration::from_millis(300);
/// After a failure, at most.
const LONGEST: Duration = Duration::from_secs(30);
/// Left for what is said in the end.
const ROOM: usize = 300;
/// Messages that wait for an answer.
const MOST: usize = 200;

const YES: &str = "y";
const NO: &str = "n";

/// Shows it in the chat; that this could not be done is in the log.
pub async fn send_question(daemon: Arc<Daemon>, settings: TelegramSettings, it: ApprovalRequest) {
    let asked = async {
        let bot = Bot::new(&settings)?;
        let (text, word) = message(&it, &settings, &dashboard(&daemon))?;
        let buttons = match &word {
            Some(word) => vec![
                ("Send it once", data(YES, &it.id, word)),
                ("Never send it", data(NO, &it.id, word)),
            ],
            None => Vec::new(),
        };
        let message = with_retries(|| bot.say(&text, &buttons)).await?;
        let question = Question {
            message,
            text,
            digest: it.request.digest.clone(),
            // What nothing brings back.
            word: word.map_or_else(ids::random_token, Ok)?,
            pressed: None,
        };
        let begins = {
            let mut open = daemon.channels.telegram.lock();
            if open.all.len() < MOST {
                open.all.insert(it.id.clone(), question);
            }
            !std::mem::replace(&mut open.heard, true)
        };
        if begins {
            spawn_until_stop(&daemon, hear(Arc::clone(&daemon), bot));
        }
        Ok::<_, Error>(())
    };
    if let Err(err) = asked.await {
        tracing::error!(id = it.id, error = %err, "nobody was asked in the chat about a request that waits");
    }
}

fn data(verb: &str, id: &str, word: &str) -> String {
    let out = format!("{verb}:{id}:{word}");
    debug_assert!(out.len() <= DATA);
    out
}

/// What is said, and the word that its buttons bring back; none where it cannot be decided there.
fn message(
    it: &ApprovalRequest,
    settings: &TelegramSettings,
    dashboard: &str,
) -> Result<(String, Option<String>)> {
    let elsewhere = |why: &str| {
        format!(
            "Decide at {dashboard} or with: commis approve {}\nIt cannot be approved here: {why}.",
            it.id
        )
    };
    let until = jiff::Timestamp::from_millisecond(it.expires_ms);
    let until = until.map(|it| it.strftime("%H:%M UTC").to_string()).unwrap_or_default();
    let amounts: Vec<String> = it.amounts.iter().map(ToString::to_string).collect();
    let amounts = match amounts.as_slice() {
        [] => String::new(),
        all => format!("\namounts {}", all.join(", ")),
    };
    let whole = format!("commis asks about {}{amounts}\n\nIt waits until {until}.", it.request());
    if length(&whole) + ROOM > MESSAGE {
        // Its host alone: a path may be as long.
        let host: String = it.request.origin.chars().take(300).collect();
        let why = elsewhere("it does not fit into a message");
        return Ok((format!("commis asks about one {} to {host}\n{why}", it.request.method), None));
    }
    Ok(match refusal_reason(settings.approves, it) {
        Some(why) => (format!("{whole}\n{}", elsewhere(&why)), None),
        None => (whole, Some(ids::random_token()?)),
    })
}

/// Hears buttons until nothing waits any more.
async fn hear(daemon: Arc<Daemon>, bot: Bot) {
    let (mut offset, mut pause) = (None, PAUSE);
    loop {
        tell_ends(&daemon, &bot).await;
        let timeout = {
            let mut open = daemon.channels.telegram.lock();
            if open.all.is_empty() {
                open.heard = false;
                return;
            }
            if open.all.values().any(|it| it.pressed.is_some()) { SOON } else { PATIENCE }
        };
        let heard = tokio::select! {
            it = bot.pressed(offset, timeout) => it,
            () = daemon.channels.changed.notified() => continue,
        };
        let all = match heard {
            Ok(all) => all,
            Err(err) => {
                tracing::warn!(error = %err, "no buttons are heard of");
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(LONGEST);
                continue;
            }
        };
        pause = PAUSE;
        if all.is_empty() {
            // Ended by what was decided meanwhile.
            let _ = tokio::time::timeout(PAUSE, daemon.channels.changed.notified()).await;
        }
        for (next, press) in all {
            offset = Some(next);
            let Some(press) = press else { continue };
            let said = decide(&daemon, &press).await;
            if let Err(err) = bot.answer(&press, &said).await {
                tracing::warn!(error = %err, "who pressed a button was not answered");
            }
        }
    }
}

/// What a button does, and what is said to who pressed it.
async fn decide(daemon: &Arc<Daemon>, press: &ButtonPress) -> String {
    // As they are now: who was taken off the list decides nothing more.
    let Some(settings) = daemon.runtime().settings.agent.telegram.clone() else {
        return "nothing is decided here any more".to_owned();
    };
    if press.from.is_bot || !settings.senders.contains(&press.from.id) {
        tracing::warn!(
            sender = press.from.id,
            "a button was pressed by somebody who is not listed"
        );
        return "you are not one of those who decide here".to_owned();
    }
    let gone = "this is not open any more".to_owned();
    let mut parts = press.data.splitn(3, ':');
    let (Some(verb @ (YES | NO)), Some(id), Some(word)) =
        (parts.next(), parts.next(), parts.next())
    else {
        return gone;
    };
    let question = {
        let mut open = daemon.channels.telegram.lock();
        let question = open
            .all
            .get_mut(id)
            .filter(|it| it.pressed.is_none() && is_equal_constant_time(&it.word, word));
        let Some(question) = question else { return gone };
        question.pressed = Some(press.from.id);
        question.clone()
    };
    let done = act(daemon, &settings, id, &question, (verb, press.from.id)).await;
    match done {
        Ok(()) if verb == YES => "approved".to_owned(),
        Ok(()) => "it is never sent".to_owned(),
        Err(why) => {
            // Where nothing came of it the buttons hold on.
            if let Some(it) = daemon.channels.telegram.lock().all.get_mut(id) {
                it.pressed = None;
            }
            why
        }
    }
}

async fn act(
    daemon: &Arc<Daemon>,
    settings: &TelegramSettings,
    id: &str,
    question: &Question,
    (verb, sender): (&str, u64),
) -> std::result::Result<(), String> {
    let it =
        daemon.suspended_runs.approvals.get(id, None, now_ms()).map_err(|err| err.to_string())?;
    if let Some(why) = refusal_reason(settings.approves, &it).filter(|_| verb == YES) {
        return Err(format!("it cannot be approved here: {why}"));
    }
    let (name, args) = match verb {
        YES => ("approval_approve", json!({"id": id, "digest": question.digest})),
        _ => ("approval_reject", json!({ "id": id })),
    };
    // The chat is the owner's; who it was is written down.
    let by_way = Some((Channel::Telegram, format!("telegram {sender}")));
    let principal = Principal { by_way, ..Principal::root() };
    let options = CallOptions { key: None, apart: false };
    let done = daemon.dispatcher.perform(daemon, name, args, principal, options).await;
    done.map(drop).map_err(|it| it.message.clone())
}

/// Says under each message what became of its request, once that is known.
async fn tell_ends(daemon: &Arc<Daemon>, bot: &Bot) {
    let all: Vec<(String, Question)> = {
        let open = daemon.channels.telegram.lock();
        open.all.iter().map(|it| (it.0.clone(), it.1.clone())).collect()
    };
    for (id, question) in all {
        let told = match daemon.suspended_runs.approvals.get(&id, None, now_ms()) {
            Ok(it) if !it.state.is_settled() => continue,
            Ok(it) => ending(&it.state),
            Err(err) if err.code() == Code::ApprovalNotFound => "it is gone".to_owned(),
            Err(_) => continue,
        };
        daemon.channels.telegram.lock().all.remove(&id);
        let text = format!("{}\n\n{told}", question.text);
        if let Err(err) = with_retries(|| bot.change(question.message, &text)).await {
            tracing::warn!(id, error = %err, "the chat was not told what became of a request");
        }
    }
}

/// What became of it, and by whom.
fn ending(state: &ApprovalState) -> String {
    match state.by() {
        Some(it) => format!("{}: {}, {}", state.word(), it.who, it.channel.word()),
        None => state.word().to_owned(),
    }
}

/// What may pass by itself is tried again, four times within a minute.
async fn with_retries<T, F: Future<Output = Result<T>>>(call: impl FnMut() -> F) -> Result<T> {
    let often = ExponentialBuilder::default()
        .with_min_delay(Duration::from_secs(1))
        .with_factor(3.0)
        .with_max_times(4)
        .with_jitter();
    call.retry(often).when(|err: &Error| err.code().retryable()).await
}

#[cfg(test)]
#[path = "telegram_tests.rs"]
mod tests;
