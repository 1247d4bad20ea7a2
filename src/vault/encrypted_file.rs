//! A login on disk: AES-256-GCM under a fresh nonce. Format, name and number of the state are bound to it, so that one file does
//! not pass for another.

use ring::{
    aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey},
    rand::{SecureRandom as _, SystemRandom},
};
use zeroize::{Zeroize as _, Zeroizing};

use super::{LoginName, key::Secret, login_data::LoginData};
use commis_base::error::{Code, Error, Result};

const MAGIC: &[u8] = b"commis-vault 1\n";

fn associated_data(name: &LoginName, state: u64) -> Aad<String> {
    Aad::from(format!("commis-vault 1\0{name}\0{state}"))
}

fn key(secret: &Secret) -> Result<LessSafeKey> {
    let key = UnboundKey::new(&AES_256_GCM, &secret[..]);
    key.map(LessSafeKey::new)
        .map_err(|_| Error::new(Code::Internal, "the key of the vault is invalid"))
}

/// What is written. Fails with `INTERNAL`.
pub fn seal(secret: &Secret, name: &LoginName, state: u64, held: &LoginData) -> Result<Vec<u8>> {
    let failed = |_| Error::new(Code::Internal, "the system provides no random bytes");
    let mut nonce = [0; NONCE_LEN];
    SystemRandom::new().fill(&mut nonce).map_err(failed)?;
    // In the buffer that is wiped, and encrypted where it stands.
    let mut body = held.to_bytes()?;
    let tag = key(secret)?
        .seal_in_place_separate_tag(
            Nonce::assume_unique_for_key(nonce),
            associated_data(name, state),
            &mut body,
        )
        .map_err(failed)?;
    Ok([MAGIC, &nonce, &body, tag.as_ref()].concat())
}

/// Fails with `ARTIFACT_CORRUPT` where it was changed, is another's, or was sealed with another key: they look alike.
pub fn open(secret: &Secret, name: &LoginName, state: u64, bytes: Vec<u8>) -> Result<LoginData> {
    let refused = || {
        let why = "was changed, or sealed with another key";
        Error::new(Code::ArtifactCorrupt, format!("the login `{name}` cannot be opened: it {why}"))
            .hint("restore the vault.key that sealed it, or log in again with --force")
    };
    let rest = bytes.strip_prefix(MAGIC).ok_or_else(refused)?;
    let (nonce, body) = rest.split_at_checked(NONCE_LEN).ok_or_else(refused)?;
    let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| refused())?;
    let mut body = Zeroizing::new(body.to_vec());
    let end = key(secret)?.open_in_place(nonce, associated_data(name, state), &mut body);
    let held = end.map_err(|_| refused()).and_then(|it| LoginData::from_bytes(it));
    body.zeroize();
    held
}
