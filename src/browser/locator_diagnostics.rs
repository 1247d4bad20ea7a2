//! What a page has instead of an element that is not there: what comes nearest to it, and what would explain its absence.

use serde::Deserialize;

use super::{
    context_state::{ContextInner, FailureContext},
    element::Locator,
    lookup,
    page::{self, Frame},
    plan::Step,
};
use commis_artifacts::failure::Element as Seen;
use commis_base::error::Result;

/// Elements of a page that are compared, and of those that are hidden.
const MAX_SEEN: usize = 2000;
const MAX_HIDDEN: usize = 200;
/// Texts that the browser draws, for what must not be in a picture.
const MAX_DRAWN: usize = 5000;
/// Characters of a name.
const MAX_NAME: usize = 80;
/// Of those that are hidden and have the name that was asked for.
const MAX_CLOSED: usize = 3;
/// From here on two names are taken for one that was misspelled. `Serach` and `Search` are 0.96 alike, `Find` and `Fire` 0.87.
const ALIKE: f64 = 0.88;

/// Roles that people take for each other.
const KIN: &[&[&str]] = &[
    &[
        "textbox",
        "searchbox",
        "combobox",
        "spinbutton",
        "Date",
        "DateTime",
        "InputTime",
        "ColorWell",
    ],
    &["combobox", "listbox", "option", "radio", "menuitemradio"],
    &["checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio"],
    &["button", "link", "tab", "menuitem", "switch", "option"],
    &["slider", "spinbutton"],
];
const TYPED: &[&str] = KIN[0];
const CHOSEN: &[&str] = KIN[1];
const TICKED: &[&str] = KIN[2];

/// Elements that are in the document and not shown, and what opens them as far as the page says so.
const HIDDEN: &str = "function (max) {
  const plain = it => (it ?? '').replace(/\\s+/g, ' ').trim().slice(0, 200).toWellFormed();
  const roles = { A: 'link', BUTTON: 'button', SELECT: 'combobox', TEXTAREA: 'textbox', OPTION: 'option', SUMMARY: 'button' };
  const types = { checkbox: 'checkbox', radio: 'radio', search: 'searchbox', submit: 'button', button: 'button', number: 'spinbutton', range: 'slider' };
  const role = it => it.getAttribute('role') ?? (it.tagName === 'INPUT' ? types[it.type] ?? 'textbox' : roles[it.tagName] ?? '');
  const label = it => plain(it.getAttribute('aria-label') || Array.from(it.labels ?? [], it => it.textContent).join(' ')
    || (it.tagName === 'INPUT' && ['submit', 'button'].includes(it.type) ? it.value : '') || it.textContent || it.title || it.placeholder);
  const shown = it => it.checkVisibility({ visibilityProperty: true });
  const opener = it => {
    for (; it; it = it.parentElement) {
      const by = it.id && document.querySelector('[aria-controls~=\"' + CSS.escape(it.id) + '\"],[popovertarget=\"' + CSS.escape(it.id) + '\"]');
      if (by && shown(by)) return role(by) + ' ' + JSON.stringify(label(by));
      if (it.tagName === 'DETAILS' && !it.open) return 'summary ' + JSON.stringify(label(it.querySelector('summary') ?? it));
      const before = it.previousElementSibling;
      if (before && !shown(it) && shown(before) && before.matches('button,a,[role=button],[aria-haspopup],[aria-expanded]')) return role(before) + ' ' + JSON.stringify(label(before));
    }
    return '';
  };
  const all = Array.from(document.querySelectorAll('a[href],button,input:not([type=hidden]),select,textarea,[role],option')).slice(0, 20000);
  const closed = it => it.tagName !== 'OPTION' && role(it) && !shown(it);
  return all.filter(closed).slice(0, max).map(it => ({ role: role(it), name: label(it), opener: opener(it) }));
}";

#[derive(Deserialize)]
struct HiddenElement {
    role: String,
    name: String,
    opener: String,
}

/// What a step asks for.
struct WantedElement<'a> {
    role: Option<&'a str>,
    /// Roles that would do, or come near.
    kin: Vec<&'a str>,
    name: Option<&'a str>,
}

impl<'a> WantedElement<'a> {
    fn from_step(step: &'a Step) -> Self {
        let element = step.element();
        let (role, name) = match element.map(|it| &it.by) {
            Some(Locator::Role { role, name }) => (role.as_deref(), Some(&**name)),
            Some(Locator::Label(it) | Locator::Placeholder(it)) => (None, Some(&**it)),
            Some(Locator::TestId(_) | Locator::Css(_)) | None => (None, None),
        };
        let acts = match step {
            Step::Fill(_) => TYPED,
            Step::Select(_) => CHOSEN,
            Step::Check(_) | Step::Uncheck(_) => TICKED,
            _ => &[],
        };
        let kin = match role {
            Some(role) => {
                KIN.iter().filter(|it| it.contains(&role)).copied().flatten().copied().collect()
            }
            None => acts.to_vec(),
        };
        Self { role, kin, name }
    }

    /// The lower, the nearer: first the very name, then by role, then by how alike the names are.
    fn distance(&self, role: &str, name: &str) -> (u8, u32) {
        let alike = self.name.map_or(0.0, |it| alike(it, name));
        let tier = match (self.name, self.role) {
            (Some(_), _) if alike >= 1.0 => 0,
            (_, Some(it)) if it == role => 1,
            (_, None) if self.kin.contains(&role) => 1,
            (None, None) if self.kin.is_empty() => 1,
            _ if self.kin.contains(&role) => 2,
            _ => 3,
        };
        (tier, ((1.0 - alike) * 1000.0) as u32)
    }

    /// Of those, the one whose name is misspelled rather than another.
    fn misspelled<'b>(&self, all: &'b [Seen]) -> Option<&'b Seen> {
        let wanted = self.name?;
        let likely = |it: &&Seen| {
            let fits = Some(&*it.role) == self.role || self.kin.contains(&&*it.role);
            fits && (ALIKE..1.0).contains(&alike(wanted, &it.name))
        };
        all.iter().find(likely)
    }
}

/// 1 for the same but for case and white space.
fn alike(a: &str, b: &str) -> f64 {
    let plain = |it: &str| {
        let lower = it.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        lower.chars().take(MAX_NAME).collect::<String>()
    };
    let (a, b) = (plain(a), plain(b));
    if a == b {
        return 1.0;
    }
    let part = a.chars().count().min(b.chars().count()) >= 3 && (a.contains(&b) || b.contains(&a));
    strsim::jaro_winkler(&a, &b).max(if part { 0.85 } else { 0.0 }).min(0.999)
}

/// The line of a text that comes near to one that was waited for.
pub fn line<'a>(wanted: &str, text: &'a str) -> Option<&'a str> {
    let lines = text.lines().map(str::trim).take(MAX_SEEN).map(|it| (alike(wanted, it), it));
    let best = lines.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (ALIKE..1.0).contains(&best.0).then_some(best.1)
}

/// How a frame is told from others; nothing for the page itself.
fn frame_label(frame: &Frame, main: bool) -> Option<String> {
    let called = if frame.name.is_empty() { &frame.url } else { &frame.name };
    (!main).then(|| called.chars().take(200).collect())
}

/// Looks around for what a step asks for, or at what there is.
pub async fn around(shared: &ContextInner, step: &Step) -> FailureContext {
    let asked = WantedElement::from_step(step);
    let frames = shared.frames().await.unwrap_or_default();
    let within = shared.lock().within.clone();
    let mut out = FailureContext::default();
    let mut near: Vec<(bool, Seen)> = Vec::new();
    let mut hidden: Vec<(bool, Seen, String)> = Vec::new();
    for (i, frame) in frames.iter().enumerate() {
        let (place, acts_here) =
            (frame_label(frame, i == 0), within.as_ref().is_none_or(|it| *it == frame.id));
        for node in lookup::query(shared, frame, None).await {
            let (role, name) = (node.role(), node.name());
            if node.ignored {
                continue;
            }
            if out.drawn.len() < MAX_DRAWN {
                out.drawn
                    .extend([name.clone(), node.value()].into_iter().filter(|it| it.len() > 3));
            }
            if !lookup::is_interactive(&role) || near.len() >= MAX_SEEN {
                continue;
            }
            let name: String = name.chars().take(MAX_NAME).collect();
            let state = node.is_disabled().then(|| "disabled".to_owned());
            let seen = Seen { role, name, frame: place.clone(), state };
            if near.iter().all(|it| it.1 != seen) {
                near.push((acts_here, seen));
            }
        }
        let all: Result<Vec<HiddenElement>> =
            page::call(&shared.cdp, frame, HIDDEN, &[MAX_HIDDEN.into()], page::PATIENCE).await;
        for it in all.unwrap_or_default() {
            let name = it.name.chars().take(MAX_NAME).collect();
            let state = Some("hidden".to_owned());
            let seen = Seen { role: it.role, name, frame: place.clone(), state };
            hidden.push((acts_here, seen, it.opener));
        }
    }
    let named = |it: &Seen| asked.name.is_some_and(|name| alike(name, &it.name) >= 1.0);
    let fits = |it: &Seen| {
        named(it)
            && (asked.role.is_none_or(|role| it.role == role) || asked.kin.contains(&&*it.role))
    };
    if let Some((_, it)) = near.iter().find(|it| !it.0 && fits(&it.1)) {
        let way = match &it.frame {
            None => "`frame: main`".to_owned(),
            Some(name) => format!("`frame: {{name: …}}` or `frame: {{url: …}}` for {name:?}"),
        };
        out.causes.push(format!(
            "{} is outside the frame that the steps act in: put {way} before this step",
            it.describe()
        ));
    }
    if let Some((_, it)) = near
        .iter()
        .find(|it| it.0 && named(&it.1) && asked.role.is_some_and(|role| role != it.1.role))
    {
        out.causes.push(format!("{} has that name: its role is {}", it.describe(), it.role));
    }
    let closed = hidden
        .iter()
        .filter(|it| named(&it.1))
        .min_by_key(|it| asked.distance(&it.1.role, &it.1.name));
    if let Some((_, it, opener)) = closed {
        let by = if opener.is_empty() { String::new() } else { format!(", perhaps by {opener}") };
        out.causes.push(format!("{} {:?} is in the page, but hidden: a step before this one has to open what it is in{by}", it.role, it.name));
    }
    near.sort_by_cached_key(|it| (asked.distance(&it.1.role, &it.1.name), !it.0));
    out.elements = near.into_iter().map(|it| it.1).collect();
    if out.causes.is_empty()
        && let Some(it) = asked.misspelled(&out.elements)
    {
        out.causes.push(format!("{} is called nearly so", it.describe()));
    }
    let named =
        hidden.into_iter().map(|it| it.1).filter(|it| asked.distance(&it.role, &it.name).0 == 0);
    let at = out.elements.iter().take_while(|it| asked.distance(&it.role, &it.name).0 == 0).count();
    out.elements.splice(at..at, named.take(MAX_CLOSED));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(role: &str, name: &str) -> Seen {
        Seen { role: role.to_owned(), name: name.to_owned(), ..Seen::default() }
    }

    fn sorted(yaml: &str, page: &[(&str, &str)]) -> Vec<String> {
        let step: Step = serde_saphyr::from_str(yaml).unwrap();
        let asked = WantedElement::from_step(&step);
        let mut all: Vec<Seen> = page.iter().map(|it| seen(it.0, it.1)).collect();
        all.sort_by_cached_key(|it| asked.distance(&it.role, &it.name));
        all.iter().map(Seen::describe).collect()
    }

    #[test]
    fn what_is_nearest_comes_first() {
        let page = [
            ("link", "Home"),
            ("link", "About us"),
            ("button", "Search"),
            ("textbox", "Your town"),
            ("searchbox", "Find a book"),
            ("combobox", "Sort by"),
        ];
        // Another kind of element with nearly that name comes after those of the kind.
        let links = [&page[..], &[("link", "Find books")]].concat();
        let fill = sorted("fill: {role: searchbox, name: Find book, value: x}", &links);
        assert_eq!(fill[0], "searchbox \"Find a book\"");
        assert!(fill[1].contains("box \"") && fill[2].contains("box \""), "{fill:?}");
        assert_eq!(fill[3], "link \"Find books\"");
        let by_label = sorted("fill: {label: Town, value: x}", &page);
        assert_eq!(by_label[0], "textbox \"Your town\"");
        let wrong_role = sorted("click: {role: link, name: search}", &page);
        assert_eq!(wrong_role[..2], ["button \"Search\"", "link \"Home\""]);
        let select = sorted("select: {name: Sort, value: x}", &page);
        assert_eq!(select[0], "combobox \"Sort by\"");
        // A selector says nothing of roles and names: as they stand.
        assert_eq!(
            sorted("click: {css: '#a'}", &page)[..2],
            ["link \"Home\"", "link \"About us\""]
        );
    }

    #[test]
    fn a_misspelled_name_is_told_from_another() {
        let check = |wanted: &str, name: &str, expected: bool| {
            let step: Step = serde_json::from_value(
                serde_json::json!({"click": {"role": "button", "name": wanted}}),
            )
            .unwrap();
            let all = [seen("button", name)];
            assert_eq!(
                WantedElement::from_step(&step).misspelled(&all).is_some(),
                expected,
                "{wanted} {name}"
            );
        };
        check("Serach", "Search", true);
        check("Show result", "Show results", true);
        check("Save", "Cancel", false);
        check("Next", "Text", false);
    }
}
