//! What a task came to: the recipe that its artifacts prove, or why there is none.

use std::collections::BTreeSet;

use super::{
    LearnResult, Run, demote, demoted_since, is_ours, keep_published, proven_since, publish,
};
use commis_artifacts::{
    kinds::Kind,
    payloads::{Judged, Outcome, Reason, RecipeDraftMinimized, Reject, VerificationReport},
    recording::SessionRecording,
    store::ArtifactState,
};
use commis_base::{
    error::{Code, Error, Result},
    ids::RecipeName,
};
use commis_recipe::model::{Recipe, SlotSource, Status};

impl Run<'_> {
    pub(super) fn finish(
        mut self,
        reject: Option<Reject>,
        live_values_lost: bool,
    ) -> Result<LearnResult> {
        let recording = self.recording()?;
        // Who took it over publishes, too.
        self.folder.check_lease()?;
        self.folder.forget_failure()?;
        let name = self.choice.as_ref().and_then(|it| it.name.clone());
        let name = name.unwrap_or_else(|| self.task.name.clone());
        let model = self.model_use()?;
        let mut out = LearnResult {
            task_id: self.task.id.to_string(),
            name: self.task.name.to_string(),
            outcome: Outcome::NonRecipeable,
            reason: None,
            detail: (!self.notes.is_empty()).then(|| self.notes.join("; ")),
            recipe: None,
            artifacts: self.cx.store.root().join(self.task.id.as_str()),
            ran: std::mem::take(&mut self.ran),
            reused: std::mem::take(&mut self.reused),
            live_values_lost,
            skipped_entries: self.skipped,
            browser_ms: recording.duration_ms,
            transport: None,
            model,
        };
        let reject = match reject {
            Some(it) => Some(it),
            None => self.get::<VerificationReport>()?.reject(),
        };
        if let Some(reject) = reject {
            out.outcome = reject.reason.outcome();
            out.reason = Some(reject.reason.as_str().to_owned());
            out.detail = Some(reject.detail)
                .into_iter()
                .chain(out.detail)
                .reduce(|a, b| format!("{a}; {b}"));
            // What may change something is never kept.
            let kept = if reject.reason == Reason::Mutation {
                None
            } else {
                self.proven(&name, &recording)
            };
            match kept {
                Some(held) => keep_published(&mut out, &held, self.cx),
                None => demote(&name, self.task, self.cx, &recording)?,
            }
            return Ok(out);
        }
        let report: VerificationReport = self.get()?;
        let verified_at = match self.folder.find(Kind::VerificationReport)? {
            ArtifactState::Intact(it) => it.created_at,
            _ => String::new(),
        };
        let draft = match self.get::<Judged<RecipeDraftMinimized>>()? {
            Judged::Done(it) => it,
            Judged::Rejected(it) => return Err(Error::new(Code::Internal, it.detail)),
        };
        let mut recipe =
            publish(&self.task.about(), &recording, &draft, &self.get()?, &report, &verified_at);
        recipe.own_host = self.task.own_host_of(&recipe, &self.cx.policy);
        recipe.name = name;
        check_requested_hosts(&recipe, &recording)?;
        self.folder.check_lease()?;
        out.outcome = if report.verified { Outcome::Verified } else { Outcome::SavedDraft };
        out.reason.clone_from(&report.reason);
        if !report.verified
            && let Some(held) = self.proven(&recipe.name, &recording)
            && !proven_since(&held, &recipe)
        {
            keep_published(&mut out, &held, self.cx);
            return Ok(out);
        }
        // A file that says the same is left alone, and so is one that was proven since, or shown to work no longer.
        let path = match self.cx.recipes.user_recipe(&recipe.name) {
            Ok(Some(held)) if held == recipe || proven_since(&held, &recipe) => {
                self.cx.recipes.path(&recipe.name)
            }
            Ok(Some(held)) if demoted_since(&held, &recipe) => {
                out.detail = held.demotion.map(|it| {
                    format!(
                        "out of service since {}: {}; --force learns it again",
                        it.at,
                        it.reason.describe()
                    )
                });
                self.cx.recipes.path(&recipe.name)
            }
            _ => self.cx.recipes.save(&recipe)?,
        };
        out.recipe = Some(path);
        out.transport = report.verified.then(|| report.transport.as_str().to_owned());
        Ok(out)
    }

    /// The recipe that an earlier run of the same task published and that stands verified, unless a person chose anew.
    fn proven(&self, name: &RecipeName, recording: &SessionRecording) -> Option<Recipe> {
        let held = self.cx.recipes.user_recipe(name).ok().flatten()?;
        let takes = |it: &String| held.parameters.iter().any(|known| known.name == *it);
        let same = is_ours(&held, self.task, recording) && recording.typed.keys().all(takes);
        (self.choice.is_none() && same && held.status == Status::Verified).then_some(held)
    }
}

/// Artifacts come from other machines, too: a recipe asks hosts that its page asked. Fails with [`Code::ArtifactCorrupt`].
fn check_requested_hosts(recipe: &Recipe, recording: &SessionRecording) -> Result<()> {
    let host = |it: &str| Some(url::Url::parse(it).ok()?.host_str()?.to_owned());
    let seen: BTreeSet<String> = std::iter::once(&recording.url)
        .chain(recording.exchanges.iter().map(|it| &it.url))
        .filter_map(|it| host(it))
        .collect();
    let slots = recipe.slots.iter().filter_map(|it| match &it.from {
        SlotSource::Document { url, .. } | SlotSource::Response { url, .. } => Some(url.as_str()),
        _ => None,
    });
    // Templates may stand in the path.
    let end = recipe.request.url.find("://").map_or(0, |it| it + 3);
    let path = recipe.request.url[end..].find('/').map_or(recipe.request.url.len(), |it| end + it);
    let mut asked = std::iter::once(&recipe.request.url[..path]).chain(slots).map(host);
    match asked.find(|it| it.as_ref().is_none_or(|it| !seen.contains(it))) {
        None => Ok(()),
        Some(it) => Err(Error::new(
            Code::ArtifactCorrupt,
            format!(
                "the recipe of {} asks the host {}, which its recording never asked",
                recipe.name,
                it.as_deref().unwrap_or("nobody")
            ),
        )
        .hint("its artifacts were changed; `--force` learns it again")),
    }
}
