//! Whether an answer needs the login that it was learned with, and is that account's.
//!
//! A stranger must be refused or get something else; so must a second login, where there is one. A recipe that answers another
//! account with the first one's things would be the worst of all.

use serde_json::Value;

use super::gaps::lacking;
use super::judge::{Call, Identity, Observed, Replayer, data_difference_bp, observe};
use super::refutation::{Proof, final_, heard};
use super::verify::{MARGIN_BP, is_none};
use super::witness::coverage;
use commis_artifacts::payloads::{RecipeDraftMinimized, Replay};
use commis_base::error::Result;
use commis_recipe::model::{LoginProof, ResponseSpec, TransportKind};

/// What is held against others' answers.
pub struct Own<'a> {
    pub draft: &'a RecipeDraftMinimized,
    pub response: &'a ResponseSpec,
    /// The shape that a run holds answers against.
    pub shape: &'a [String],
    pub transport: TransportKind,
    /// The answer to the first example, and by how much it differs from itself, basis points.
    pub answer: &'a Value,
    pub noise_bp: u32,
}

impl Own<'_> {
    /// How the login was proven to be needed; `None` where a stranger gets the same. At most two replays, which are added to
    /// `replays`. Fails where the second login gets what the first one got.
    pub async fn proof(
        &self,
        replayer: &mut dyn Replayer,
        replays: &mut Vec<Replay>,
    ) -> Proof<Option<LoginProof>> {
        let stranger = self.send_as(Identity::Stranger, "a stranger", replayer, replays).await?;
        heard("a stranger", &stranger.replay)?;
        let mut proof = (!self.is_same(&stranger)).then_some(LoginProof::OneLogin);
        // Nor could a run when the login has ended. That there is nothing is no answer of a recipe that never saw an empty one.
        let is_empty = stranger.data.as_ref().is_some_and(is_none);
        if proof.is_some() && stranger.good() && !is_empty {
            return Err(final_(
                "a stranger gets another answer that is built alike: nothing in it tells that it is not the account's",
            )
            .into());
        }
        if proof.is_some() && replayer.logins() > 1 {
            let second =
                self.send_as(Identity::SecondLogin, "the second login", replayer, replays).await?;
            heard("the second login", &second.replay)?;
            if self.is_same(&second) {
                return Err(final_(
                    "the second login gets what the first one got: nothing shows that the answer is that of whoever asks",
                )
                .into());
            }
            if let Some(why) = self.differs_from_its_page(&second) {
                return Err(final_(&format!("the second login: {why}")).into());
            }
            proof = Some(LoginProof::TwoLogins);
        }
        replayer.act_as(Identity::Login);
        Ok(proof)
    }

    async fn send_as(
        &self,
        identity: Identity,
        what: &str,
        replayer: &mut dyn Replayer,
        replays: &mut Vec<Replay>,
    ) -> Result<Observed> {
        replayer.act_as(identity);
        let call = Call {
            transport: self.transport,
            request: &self.draft.request,
            parameters: &self.draft.parameters,
            values: &self.draft.first,
            slots: &self.draft.slots,
        };
        let n = replays.len() as u32 + 1;
        let seen = observe(replayer, call, self.response, Some(self.shape), n, what).await?;
        replays.push(seen.replay.clone());
        Ok(seen)
    }

    /// What the second login's page showed, and the answer that it got lacks.
    fn differs_from_its_page(&self, second: &Observed) -> Option<String> {
        let shown = self.draft.second_login_shown.as_ref()?;
        let witness = self.draft.witness.as_ref().filter(|it| it.further == 0)?;
        let data = second.data.as_ref().filter(|_| second.good())?;
        lacking(&coverage(data, shown, &witness.task))
    }

    fn is_same(&self, other: &Observed) -> bool {
        let data = other.data.as_ref().filter(|_| other.good());
        data.is_some_and(|it| {
            data_difference_bp(self.answer, it) <= self.noise_bp.saturating_add(MARGIN_BP)
        })
    }
}
