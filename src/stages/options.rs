//! A word that was chosen and the value that the form sends for it: label "Fish", request `cat=12`.
//!
//! Everything is woven and read back in terms of what is sent, and then named by what a person chooses. Where the word itself
//! stands in the request, it is a typed value like any other.

use std::collections::BTreeMap;

use commis_artifacts::{
    payloads::{RecipeDraftMinimized, SecondRecording},
    recording::{Control, Exchange, SessionRecording},
};
use commis_recipe::model::{Constraints, ParamType};

/// The control of each parameter that is sent as something else.
pub struct ParameterControls(BTreeMap<String, Control>);

impl ParameterControls {
    /// `None` where every typed value is sent as it is, or not at all, or the second example chose what is not on offer.
    pub fn from_recordings(
        recording: &SessionRecording,
        exchange: &Exchange,
        second: &SecondRecording,
    ) -> Option<Self> {
        let mut out = BTreeMap::new();
        for (name, typed) in &recording.typed {
            let hits = || exchange.measures.typed_in_request.iter().filter(|it| it.name == *name);
            let mut controls = recording.actions.iter().filter_map(|it| it.control.as_ref());
            if hits().any(|it| it.option)
                && hits().all(|it| it.option)
                && let Some(control) = controls.find(|it| it.sent_value(typed).is_some())
                && second.values.get(name).is_none_or(|it| control.offers(it))
            {
                out.insert(name.clone(), control.clone());
            }
        }
        (!out.is_empty()).then_some(Self(out))
    }

    /// Both recordings, with what was sent in place of what was typed.
    pub fn with_sent_values(
        &self,
        first: &SessionRecording,
        second: &SecondRecording,
    ) -> (SessionRecording, SecondRecording) {
        let (mut first, mut second) = (first.clone(), second.clone());
        self.send(&mut first.typed);
        self.send(&mut second.values);
        if let Some(it) = &mut second.recording {
            self.send(&mut it.typed);
        }
        (first, second)
    }

    fn send(&self, values: &mut BTreeMap<String, String>) {
        for (name, control) in &self.0 {
            if let Some(it) = values.get_mut(name)
                && let Some(value) = control.sent_value(it)
            {
                *it = value.to_owned();
            }
        }
    }

    /// Names the parameters' values by what a person chooses.
    pub fn name(&self, draft: &mut RecipeDraftMinimized) {
        let word = |name: &str, value: &mut String| {
            let mut choices = self.0.get(name).into_iter().flat_map(Control::choices);
            if let Some(it) = choices.find(|it| it.value == *value) {
                value.clone_from(&it.label);
            }
        };
        for (name, it) in draft.first.iter_mut().chain(draft.second.iter_mut().flatten()) {
            word(name, it);
        }
        for parameter in &mut draft.parameters {
            let Some(control) = self.0.get(&parameter.name) else { continue };
            for it in &mut parameter.examples {
                word(&parameter.name, it);
            }
            let fits = |value: &str| match parameter.kind {
                ParamType::Int => value.parse::<i64>().is_ok(),
                ParamType::Float => value.parse::<f64>().is_ok(),
                ParamType::Str | ParamType::Bool => true,
            };
            let all: Vec<_> = control.choices().filter(|it| fits(&it.value)).collect();
            parameter.constraints = Constraints {
                one_of: all.iter().map(|it| it.label.clone()).collect(),
                map: all.iter().map(|it| (it.label.clone(), it.value.clone())).collect(),
                ..Constraints::default()
            };
            if let Some(evidence) = draft.evidence.get_mut(&parameter.name) {
                evidence.push_str(match control.kind.as_str() {
                    "link" => ", as the page's link of that name",
                    "button" => ", as the page's button of that name",
                    _ => ", as the form's option of that name",
                });
            }
        }
    }
}
