//! Makes tokens.

use super::{
    Daemon,
    principal::{Scope, digest},
    task_database::TokenView,
};
use commis_base::{error::Result, ids};
use commis_state::now_ms;
use std::sync::Arc;

/// Makes a token and keeps a digest of it. Fails with `INTERNAL`, `ARTIFACT_IO`.
pub async fn new_token(
    daemon: &Arc<Daemon>,
    scopes: &[Scope],
    expires_sec: Option<u32>,
    note: &str,
) -> Result<(String, TokenView)> {
    let token = format!("cms_{}{}", ids::random_token()?, ids::random_token()?);
    let created_ms = now_ms();
    let view = TokenView {
        id: format!("tok-{}", ids::random_token()?.get(..12).unwrap_or_default()),
        hash: digest(&token),
        scopes: scopes.iter().map(Scope::to_string).collect(),
        note: note.chars().filter(|it| !it.is_control()).collect(),
        created_ms,
        expires_ms: expires_sec.map(|it| created_ms + i64::from(it) * 1000),
    };
    daemon.database.add_token(view.clone()).await?;
    daemon.read_tokens()?;
    Ok((token, view))
}
