//! How a recipe's status changes: every edge is here.
//!
//! `draft → verified → deprecated → verified`. The file says where a recipe stands, and why; counters only say what happened.
//! A recipe that is learned anew is another recipe and takes the place of this one whole.

use super::model::{Demotion, DemotionReason, Recipe, Status};

/// So many failures in a row by its own fault, and a recipe is out of service.
pub const MAX_FAILURES: u32 = 5;

/// Where a recipe stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecipeState {
    Draft,
    Verified,
    /// Runs showed that it no longer works; it may be proven again.
    Demoted(DemotionReason),
    /// Its task was learned again and came to something else, perhaps to a change that must not be sent: for learning alone
    /// to give back.
    TakenBack,
}

/// What happened to a recipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecipeEvent {
    /// Calls with its examples proved it.
    Proven,
    /// A run's answer no longer has the shape that was verified.
    Drifted,
    /// A run failed by the recipe's fault, as did so many in a row, this one counted.
    Failed { in_a_row: u32 },
    /// Its task was learned again and came to something else.
    TakenBack,
}

impl RecipeState {
    /// Where it stands after that.
    #[must_use]
    pub const fn apply(self, event: RecipeEvent) -> Self {
        match (self, event) {
            (Self::TakenBack, _) | (_, RecipeEvent::TakenBack) => Self::TakenBack,
            (_, RecipeEvent::Proven) => Self::Verified,
            (Self::Verified, RecipeEvent::Drifted) => Self::Demoted(DemotionReason::Drift),
            (Self::Verified, RecipeEvent::Failed { in_a_row }) if in_a_row >= MAX_FAILURES => {
                Self::Demoted(DemotionReason::Failures)
            }
            (it, RecipeEvent::Drifted | RecipeEvent::Failed { .. }) => it,
        }
    }

    /// Whether calls with its examples may be made to prove it.
    pub const fn may_be_proven(self) -> bool {
        !matches!(self, Self::TakenBack)
    }
}

impl Recipe {
    pub fn state(&self) -> RecipeState {
        match (self.status, &self.demotion) {
            (Status::Draft, _) => RecipeState::Draft,
            (Status::Verified, _) => RecipeState::Verified,
            (Status::Deprecated, Some(it)) => RecipeState::Demoted(it.reason),
            (Status::Deprecated, None) => RecipeState::TakenBack,
        }
    }

    /// Writes down where it stands; `now` (RFC 3339) is kept of a demotion.
    pub fn set_state(&mut self, standing: RecipeState, now: &str) {
        (self.status, self.demotion) = match standing {
            RecipeState::Draft => (Status::Draft, None),
            RecipeState::Verified => (Status::Verified, None),
            RecipeState::TakenBack => (Status::Deprecated, None),
            RecipeState::Demoted(reason) => {
                (Status::Deprecated, Some(Demotion { reason, at: now.to_owned() }))
            }
        };
    }
}

impl DemotionReason {
    /// For a person.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Drift => "the answer no longer has the shape that was verified",
            Self::Failures => "it failed five times in a row",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml;

    #[test]
    fn every_edge_of_a_status() {
        use RecipeState::{Draft, TakenBack, Verified};
        let drift = RecipeState::Demoted(DemotionReason::Drift);
        let failures = RecipeState::Demoted(DemotionReason::Failures);
        let failed = |in_a_row| RecipeEvent::Failed { in_a_row };
        let events = [
            RecipeEvent::Proven,
            RecipeEvent::Drifted,
            failed(MAX_FAILURES - 1),
            failed(MAX_FAILURES),
            failed(MAX_FAILURES + 1),
            RecipeEvent::TakenBack,
        ];
        for (from, to) in [
            (Draft, [Verified, Draft, Draft, Draft, Draft, TakenBack]),
            (Verified, [Verified, drift, Verified, failures, failures, TakenBack]),
            (drift, [Verified, drift, drift, drift, drift, TakenBack]),
            (failures, [Verified, failures, failures, failures, failures, TakenBack]),
            (TakenBack, [TakenBack; 6]),
        ] {
            for (event, to) in events.into_iter().zip(to) {
                assert_eq!(from.apply(event), to, "{from:?} {event:?}");
            }
            assert_eq!(from.may_be_proven(), from.apply(RecipeEvent::Proven) == Verified);
        }
        assert_eq!(MAX_FAILURES, 5, "as `told` says");
    }

    #[test]
    fn a_standing_is_written_down_and_read_back() {
        let mut recipe = yaml::parse(
            "{version: 1, name: x, task: t, status: draft, source_url: 'https://a.com/', \
             request: {method: GET, url: 'https://a.com/', allowed_domains: [a.com]}, response: {type: json}, \
             verification: {fingerprint_version: 1, fingerprint_sha256: x, verified_at: null, transport: public_http, requires_session: false}}",
        )
        .unwrap();
        for it in [
            RecipeState::Demoted(DemotionReason::Drift),
            RecipeState::Draft,
            RecipeState::Demoted(DemotionReason::Failures),
            RecipeState::Verified,
            RecipeState::TakenBack,
        ] {
            recipe.set_state(it, "2026-01-01T00:00:00Z");
            let read = yaml::parse(&yaml::to_yaml(&recipe).unwrap()).unwrap();
            assert_eq!((read.state(), &read), (it, &recipe));
        }
        recipe.set_state(RecipeState::Demoted(DemotionReason::Drift), "2026-01-01T00:00:00Z");
        recipe.status = Status::Verified;
        assert!(yaml::parse(&yaml::to_yaml(&recipe).unwrap()).is_err());
    }
}
