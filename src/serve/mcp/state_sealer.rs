//! What a client carries for us from one request to the next: encrypted, for one caller, one request and a short time, and to be
//! used once.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::{
    aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey},
    rand::{SecureRandom as _, SystemRandom},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::task_database::Database;
use commis_base::{
    error::{Code, Error, Result},
    ids,
};
use commis_state::now_ms;

const MINUTES: i64 = 10;

pub struct StateSealer {
    key: LessSafeKey,
    random: SystemRandom,
}

#[derive(Serialize, Deserialize)]
struct SealedState {
    nonce: String,
    expires_ms: i64,
    value: Value,
}

impl StateSealer {
    /// With a key that ends with this process. Fails with `INTERNAL`.
    pub fn new() -> Result<Self> {
        let random = SystemRandom::new();
        let mut key = zeroize::Zeroizing::new([0_u8; 32]);
        random.fill(&mut *key).map_err(|_| no_random())?;
        let key = UnboundKey::new(&AES_256_GCM, &*key).map_err(|_| no_random())?;
        Ok(Self { key: LessSafeKey::new(key), random })
    }

    /// `value`, to be read again by that principal for that request alone. Fails with `INTERNAL`.
    pub fn close(&self, principal: &str, request: &str, value: Value) -> Result<String> {
        let sealed = SealedState {
            nonce: ids::random_token()?,
            expires_ms: now_ms() + MINUTES * 60_000,
            value,
        };
        let mut bytes = serde_json::to_vec(&sealed).map_err(|err| {
            Error::new(Code::Internal, "cannot encrypt the state of the answer").source(err)
        })?;
        let mut nonce = [0_u8; NONCE_LEN];
        self.random.fill(&mut nonce).map_err(|_| no_random())?;
        let aad = Aad::from(format!("{principal}\0{request}"));
        self.key
            .seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), aad, &mut bytes)
            .map_err(|_| no_random())?;
        let mut out = nonce.to_vec();
        out.extend_from_slice(&bytes);
        Ok(URL_SAFE_NO_PAD.encode(out))
    }

    /// What was sealed, once. Fails with `FORBIDDEN` for what is not ours, another's, of another request, too old, or used.
    pub async fn open(
        &self,
        database: &Database,
        principal: &str,
        request: &str,
        text: &str,
    ) -> Result<Value> {
        let refused = || {
            Error::new(Code::Forbidden, "`requestState` is unknown, used, expired, or belongs to another request")
                .hint("call again without it; a state works once, within ten minutes, for the same caller and request")
        };
        let mut bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| refused())?;
        if bytes.len() < NONCE_LEN {
            return Err(refused());
        }
        let mut rest = bytes.split_off(NONCE_LEN);
        let nonce = Nonce::try_assume_unique_for_key(&bytes).map_err(|_| refused())?;
        let aad = Aad::from(format!("{principal}\0{request}"));
        let open = self.key.open_in_place(nonce, aad, &mut rest).map_err(|_| refused())?;
        let it: SealedState = serde_json::from_slice(open).map_err(|_| refused())?;
        if it.expires_ms < now_ms() || !database.use_up(&it.nonce, it.expires_ms).await? {
            return Err(refused());
        }
        Ok(it.value)
    }
}

fn no_random() -> Error {
    Error::new(Code::Internal, "the system provides no random bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_state_is_for_one_caller_one_request_and_one_use() {
        let home = tempfile::tempdir().unwrap();
        let database = Database::open(home.path()).unwrap();
        let seal = StateSealer::new().unwrap();
        let value = serde_json::json!({"a": 1});
        let text = seal.close("ann", "r1", value.clone()).unwrap();
        assert!(!text.contains("\"a\""));
        for (principal, what) in [("bob", "r1"), ("ann", "r2"), ("ann\0r1", "")] {
            let err = seal.open(&database, principal, what, &text).await.unwrap_err();
            assert_eq!(err.code(), Code::Forbidden);
        }
        let mut changed = text.clone().into_bytes();
        let last = changed.len() - 1;
        changed[last] = if changed[last] == b'A' { b'B' } else { b'A' };
        let changed = String::from_utf8(changed).unwrap();
        for junk in ["", "AAAA", "%%", changed.as_str()] {
            assert!(seal.open(&database, "ann", "r1", junk).await.is_err(), "{junk}");
        }
        assert_eq!(seal.open(&database, "ann", "r1", &text).await.unwrap(), value);
        assert!(seal.open(&database, "ann", "r1", &text).await.is_err(), "used twice");
        // Another process has another key.
        let text = seal.close("ann", "r1", value).unwrap();
        assert!(StateSealer::new().unwrap().open(&database, "ann", "r1", &text).await.is_err());
    }
}
