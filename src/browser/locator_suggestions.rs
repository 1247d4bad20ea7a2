//! What of a page steps can name: each element as the step that would use it.

use std::collections::BTreeMap;

use super::{
    Context,
    context_state::ContextInner,
    controls,
    element::{Choice, Element, Fill, Locator, Tick},
    lookup::{self, FoundElement},
    page::Frame,
    plan::{FrameLocator, FrameTarget, MainFrame, Step},
};
use commis_artifacts::recording::Control;
use commis_base::error::Result;
use commis_recipe::template::is_name;

/// Elements of one page that are looked at.
const MAX_ELEMENTS: usize = 600;
const MAX_NAME: usize = 200;

/// A step as it could stand in a manifest.
pub struct StepSuggestion {
    pub step: Step,
    /// More about the element, for a person.
    pub note: String,
}

impl Context {
    /// The steps that would use what the page shows, by frame, and within a frame what is filled in first; and how many elements
    /// have no name to be called by.
    ///
    /// Fails with `STEP_FAILED` when the page is gone.
    pub async fn nameable(&self) -> Result<(Vec<StepSuggestion>, usize)> {
        let shared = self.shared();
        let (mut out, mut nameless, mut left) = (Vec::new(), 0, MAX_ELEMENTS);
        for (i, frame) in shared.frames().await?.iter().enumerate() {
            let mut offers = of_frame(shared, frame, &mut nameless, &mut left).await;
            if offers.is_empty() {
                continue;
            }
            offers.sort_by_key(|it| rank(&it.step));
            if i > 0 {
                let by = if frame.name.is_empty() {
                    let url = frame.url.split(['?', '#']).next().unwrap_or_default();
                    FrameLocator::Url(url.trim_start_matches("about:").to_owned())
                } else {
                    FrameLocator::Name(frame.name.clone())
                };
                let step = Step::Frame(FrameTarget::One(by));
                out.push(StepSuggestion { step, note: "what follows is in a frame".to_owned() });
            }
            out.extend(offers);
            if i > 0 {
                let step = Step::Frame(FrameTarget::Main(MainFrame::Main));
                out.push(StepSuggestion { step, note: String::new() });
            }
        }
        Ok((out, nameless))
    }

    /// Whether a selector matches on the page or in one of its frames.
    pub async fn has(&self, selector: &str) -> bool {
        let shared = self.shared();
        let frames = shared.frames().await.unwrap_or_default();
        super::page::any_has_selector(&shared.cdp, &frames, selector, true).await
    }
}

/// What people do first.
fn rank(step: &Step) -> u8 {
    match step {
        Step::Fill(_) => 0,
        Step::Select(_) => 1,
        Step::Check(_) => 2,
        Step::Click(Element { by: Locator::Role { role: Some(role), .. }, .. })
            if role == "link" =>
        {
            4
        }
        _ => 3,
    }
}

async fn of_frame(
    shared: &ContextInner,
    frame: &Frame,
    nameless: &mut usize,
    left: &mut usize,
) -> Vec<StepSuggestion> {
    let mut seen: BTreeMap<(String, String), Vec<usize>> = BTreeMap::new();
    let mut out: Vec<StepSuggestion> = Vec::new();
    for node in lookup::query(shared, frame, None).await {
        let (role, name) = (node.role(), node.name());
        let Some(backend) = node.backend.filter(|_| !node.ignored && lookup::is_interactive(&role))
        else {
            continue;
        };
        // An option is chosen from its list.
        if matches!(&*role, "option" | "slider") || name.chars().count() > MAX_NAME || *left == 0 {
            continue;
        }
        *left -= 1;
        let Some(probe) = lookup::probe(shared, frame, backend).await.filter(|it| it.visible)
        else {
            continue;
        };
        let found = FoundElement {
            session: frame.session.clone(),
            world: frame.world,
            backend,
            role: None,
            name: None,
            called: None,
        };
        let control = controls::read(shared, &found).await;
        let by = if name.is_empty() {
            let Some(it) = control.as_ref().and_then(without_name) else {
                *nameless += 1;
                continue;
            };
            it
        } else {
            Locator::Role { role: Some(role.clone()), name: name.clone() }
        };
        let element = Element { by, nth: None };
        let name = element.text().to_owned();
        let disabled = if probe.enabled { "" } else { "disabled" };
        let (step, more) = step(&role, element, control.as_ref());
        let note = [disabled, &more].into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>();
        let alike = seen.entry((role, name)).or_default();
        alike.push(out.len());
        out.push(StepSuggestion { step, note: note.join("; ") });
        if alike.len() > 1 {
            // The lookup counts those that are visible, in this order.
            for (n, at) in alike.iter().enumerate() {
                if let Some(it) = out.get_mut(*at) {
                    set_nth(&mut it.step, n as u32 + 1);
                }
            }
            if let Some(it) = out.last_mut() {
                it.note = format!("near {:?}", probe.near);
            }
        }
    }
    out
}

/// What a control is called by that has no accessible name; `None` where only its place on the page would tell.
fn without_name(control: &Control) -> Option<Locator> {
    if let Some(it) = &control.placeholder {
        return Some(Locator::Placeholder(it.clone()));
    }
    let tag = match &*control.kind {
        it @ ("select" | "textarea") => it,
        _ => "input",
    };
    // As a string of CSS.
    let name = control.name.replace('\\', "\\\\").replace('"', "\\\"");
    (!name.is_empty()).then(|| Locator::Css(format!("{tag}[name=\"{name}\"]")))
}

/// The step that uses an element of that role, and what else there is to say.
fn step(role: &str, element: Element, control: Option<&Control>) -> (Step, String) {
    let kind = control.map_or("", |it| &it.kind);
    match role {
        "checkbox" | "radio" | "switch" => (Step::Check(Tick(element)), String::new()),
        "combobox" | "listbox" if kind == "select" => {
            let options: Vec<&str> =
                control.iter().flat_map(|it| &it.options).map(|it| it.label.as_str()).collect();
            let value = options.iter().find(|it| !it.is_empty()).copied().unwrap_or_default();
            let shown = options.iter().take(8).copied().collect::<Vec<_>>().join(", ");
            let more = options.len().saturating_sub(8);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let value = value.to_owned();
            (Step::Select(Choice { element, value }), format!("of {shown}{more}"))
        }
        "textbox" | "searchbox" | "combobox" | "spinbutton" => {
            let name = match (&element.by, control) {
                (Locator::Css(_), Some(control)) => &control.name,
                _ => element.text(),
            };
            let value = format!("{{{}}}", hole(name));
            (Step::Fill(Fill { element, value }), String::new())
        }
        _ => (Step::Click(element), String::new()),
    }
}

fn set_nth(step: &mut Step, n: u32) {
    match step {
        Step::Fill(it) => it.element.nth = Some(n),
        Step::Select(it) => it.element.nth = Some(n),
        Step::Check(it) => it.0.nth = Some(n),
        Step::Click(it) => it.nth = Some(n),
        _ => {}
    }
}

/// A parameter's name out of a field's.
fn hole(name: &str) -> String {
    let words = name.to_lowercase();
    let words = words.split(|c: char| !c.is_ascii_alphanumeric()).filter(|it| !it.is_empty());
    let text: String = words.collect::<Vec<_>>().join("_").chars().take(40).collect();
    let text = text.trim_end_matches('_').to_owned();
    if is_name(&text) && !text.starts_with("slot_") { text } else { "value".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fields_name_becomes_a_parameters() {
        for (name, expected) in [
            ("Search the shop", "search_the_shop"),
            ("E-mail:", "e_mail"),
            ("Größe", "gr_e"),
            ("検索", "value"),
        ] {
            assert_eq!(hole(name), expected);
        }
    }
}
