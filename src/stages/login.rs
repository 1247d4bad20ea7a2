//! Whether an answer needs the login that it was learned with, and is that account's.
//!
//! A stranger must be refused or get something else; so must a second login, where there is one. A recipe that answers another
//! account with the first one's things would be the worst of all.

use serde_json::Value;

use super::{
    gaps::incomplete_reason,
    refutation::{Failure, Proof, final_, require_answer},
    replay::{Identity, MARGIN_BP, Observation, ReplayCall, Replayer, data_difference_bp, observe},
    witness::coverage,
};
use commis_artifacts::payloads::{RecipeDraftMinimized, Replay, VerificationReport};
use commis_base::error::{Code, Result};
use commis_recipe::model::{LoginProof, ResponseSpec, StrangerAnswer, TransportKind};

/// What is held against others' answers.
pub struct OwnAnswer<'a> {
    pub draft: &'a RecipeDraftMinimized,
    pub response: &'a ResponseSpec,
    /// The shape that a run holds answers against.
    pub shape: &'a [String],
    pub transport: TransportKind,
    /// The answer to the first example, and by how much it differs from itself, basis points.
    pub answer: &'a Value,
    pub noise_bp: u32,
}

/// How a login was proven to be needed.
pub struct NeededLogin {
    pub proof: LoginProof,
    pub stranger: StrangerAnswer,
    /// Of the data that a stranger got, where it had items.
    pub stranger_sha256: Option<String>,
}

impl NeededLogin {
    pub fn note_in(self, report: &mut VerificationReport) {
        report.login = Some(self.proof);
        report.stranger = Some(self.stranger);
        report.stranger_sha256 = self.stranger_sha256;
    }
}

impl OwnAnswer<'_> {
    /// How the login was proven to be needed; `None` where a stranger gets the same, who has a session of the page where there is a
    /// browser: a site that wants any session needs no login. At most three replays, which are added to `replays`. Fails where the second login gets what the first one got.
    pub async fn proof(
        &self,
        replayer: &mut dyn Replayer,
        replays: &mut Vec<Replay>,
    ) -> Proof<Option<NeededLogin>> {
        let in_page = TransportKind::ContextRequest;
        let by = if self.transport.uses_session() || !replayer.transports().contains(&in_page) {
            self.transport
        } else {
            in_page
        };
        let stranger = OwnAnswer { transport: by, ..*self };
        let mut stranger =
            stranger.send_as(Identity::Stranger, "a stranger", replayer, replays).await?;
        // A stranger's page has nothing for the slots: what the site says to a wrong value is seen without the page.
        let unsent = stranger.replay.code.as_deref() == Some(Code::SessionRequired.as_str());
        if unsent && self.transport == TransportKind::LoginHttp {
            stranger = self
                .send_as(Identity::Stranger, "a stranger without the page", replayer, replays)
                .await?;
        }
        require_answer("a stranger", &stranger.replay)?;
        let answer = match stranger.replay.items {
            _ if !stranger.good() => StrangerAnswer::Refused,
            Some(0) => StrangerAnswer::Empty,
            _ => StrangerAnswer::Other,
        };
        let mut proof = (!self.is_same(&stranger)).then_some(LoginProof::OneLogin);
        // A session that anybody gets is a page's, and not this transport's.
        if proof.is_none() && self.transport == TransportKind::LoginHttp {
            replayer.act_as(Identity::Login);
            let text = "a stranger with a session of the page gets the same".to_owned();
            return Err(Failure { text, is_final: false, transient: None }.into());
        }
        if proof.is_some() && replayer.logins() > 1 {
            let second =
                self.send_as(Identity::SecondLogin, "the second login", replayer, replays).await?;
            require_answer("the second login", &second.replay)?;
            if self.is_same(&second) {
                return Err(final_(
                    "the second login gets what the first one got: nothing shows that the answer is that of whoever asks",
                )
                .into());
            }
            if self.is_refused_what_its_page_shows(&second) {
                return Err(final_(
                    "the second login is refused what its own page shows: the request holds something of the first account",
                )
                .into());
            }
            if let Some(why) = self.differs_from_its_page(&second) {
                return Err(final_(&format!("the second login: {why}")).into());
            }
            proof = Some(LoginProof::TwoLogins);
        }
        replayer.act_as(Identity::Login);
        let got = stranger.replay.data_sha256.filter(|_| answer == StrangerAnswer::Other);
        Ok(proof.map(|proof| NeededLogin { proof, stranger: answer, stranger_sha256: got }))
    }

    async fn send_as(
        &self,
        identity: Identity,
        what: &str,
        replayer: &mut dyn Replayer,
        replays: &mut Vec<Replay>,
    ) -> Result<Observation> {
        replayer.act_as(identity);
        let call = ReplayCall {
            transport: self.transport,
            request: &self.draft.request,
            parameters: &self.draft.parameters,
            values: &self.draft.first,
            slots: &self.draft.slots,
            steps: &self.draft.steps,
            assembly: self.draft.assembly.as_ref(),
        };
        let n = replays.len() as u32 + 1;
        let seen = observe(replayer, call, self.response, Some(self.shape), n, what).await?;
        replays.push(seen.replay.clone());
        Ok(seen)
    }

    /// A request that names the first account is refused to everybody else, whose page asks for something of its own.
    fn is_refused_what_its_page_shows(&self, second: &Observation) -> bool {
        let shown = self.draft.second_login_shown.as_ref();
        !second.good() && shown.is_some_and(|it| !it.rows.is_empty())
    }

    /// What the second login's page showed, and the answer that it got lacks.
    fn differs_from_its_page(&self, second: &Observation) -> Option<String> {
        let shown = self.draft.second_login_shown.as_ref()?;
        let witness = self.draft.witness.as_ref().filter(|it| it.further == 0)?;
        let data = second.data.as_ref().filter(|_| second.good())?;
        incomplete_reason(&coverage(data, shown, &witness.task))
    }

    fn is_same(&self, other: &Observation) -> bool {
        let data = other.data.as_ref().filter(|_| other.good());
        data.is_some_and(|it| {
            data_difference_bp(self.answer, it) <= self.noise_bp.saturating_add(MARGIN_BP)
        })
    }
}
