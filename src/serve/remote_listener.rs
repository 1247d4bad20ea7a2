//! The remote listener: where it is open, and the keys that clients pair with.

use super::principal::{Scope, digest};
use commis_base::{
    error::{Code, Error, Result},
    ids,
};
use schemars::JsonSchema;
use serde::Serialize;
use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};
use tokio_util::sync::CancellationToken;

/// How long a key waits to be used.
const KEY: Duration = Duration::from_secs(10 * 60);

#[derive(Default)]
pub struct RemoteListener {
    pub(super) open: Mutex<Option<(SocketAddr, CancellationToken)>>,
    /// Held while it is opened: there is one.
    pub(super) opening: tokio::sync::Mutex<()>,
    pub(super) keys: Mutex<BTreeMap<String, Pairing>>,
}

pub(super) struct Pairing {
    pub(super) scopes: Vec<Scope>,
    pub(super) expires_sec: Option<u32>,
    pub(super) note: String,
    pub(super) until: Instant,
}

/// A key as it is shown, once.
#[derive(Serialize, JsonSchema)]
pub struct PairingKey {
    key: String,
    /// How long it can be traded for a token.
    holds_sec: u64,
}

impl RemoteListener {
    /// Where it listens, if it does.
    pub fn addr(&self) -> Option<SocketAddr> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(|it| it.0)
    }

    /// Closes it; false when it was not open.
    pub fn close(&self) -> bool {
        let held = self.open.lock().unwrap_or_else(PoisonError::into_inner).take();
        held.is_some_and(|it| {
            it.1.cancel();
            tracing::info!("the remote listener is closed");
            true
        })
    }

    pub(super) fn has_keys(&self) -> bool {
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        keys.retain(|_, it| it.until > Instant::now());
        !keys.is_empty()
    }

    /// A key that can be traded once for a token with these scopes. Fails with `USAGE`, `INTERNAL`.
    pub fn pair(
        &self,
        can: &[String],
        expires_sec: Option<u32>,
        note: String,
    ) -> Result<PairingKey> {
        let scopes = can.iter().map(|it| Scope::parse(it)).collect::<Result<Vec<_>>>()?;
        if scopes.is_empty() {
            return Err(Error::new(Code::ParamInvalid, "give at least one scope"));
        }
        let key = ids::random_token()?;
        let pairing = Pairing { scopes, expires_sec, note, until: Instant::now() + KEY };
        self.has_keys();
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        keys.insert(digest(&key), pairing);
        Ok(PairingKey { key, holds_sec: KEY.as_secs() })
    }
}
