//! Finds an element again on a page that may have changed since.
//!
//! Candidates are elements of the same class of roles. The weights are those that a search over 10,376 elements of 30 sites found
//! (Kluge and Stocco, arXiv 2505.16424); what an element stands in is weighed like its neighbours' text. A score alone is never
//! enough: it has to agree with the name or with something that lasts, and lead clearly. What is only likely is for the wire to
//! decide.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How far the best has to be ahead of the second, of 1.
const LEAD: f64 = 0.08;
/// The same in a row, where all that is around it has changed as well.
const ROW_LEAD: f64 = 0.15;
const ENOUGH: f64 = 0.4;
const AGREES: f64 = 0.8;
/// Candidates that a refusal names.
const TOLD: usize = 3;

/// An element as it is known from outside.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fingerprint {
    pub role: String,
    pub name: String,
    /// Nothing else of its class had that name.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub alone: bool,
    /// What it stands in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<String>,
    /// The form, dialog or group around it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<String>,
    /// Names of the elements before and after it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub near: Vec<String>,
    /// Those that last: `type`, `id`, `name`, `href`, `placeholder`, `testid`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: BTreeMap<String, String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Called the same and in the same place, and the only one.
    Same,
    /// Something has changed; what is left says that it is the one.
    Healed,
    /// Its name or something lasting is the same, in another place; only what it or a later act asks for can tell.
    Likely,
    /// It stands where that stood, and is called something else; only what it asks for can tell.
    Placed,
}

/// Roles that stand for one another when a page is built anew.
pub fn class(role: &str) -> &str {
    match role {
        "button" | "link" | "menuitem" | "tab" | "DisclosureTriangle" | "treeitem" => "press",
        "textbox" | "searchbox" | "spinbutton" => "text",
        "checkbox" | "switch" | "menuitemcheckbox" => "tick",
        "radio" | "menuitemradio" => "choose",
        "combobox" | "listbox" => "list",
        other => other,
    }
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// Dice's coefficient over pairs of characters, 0 to 1.
fn alike(a: &str, b: &str) -> f64 {
    let (a, b) = (words(a), words(b));
    if a == b {
        return 1.0;
    }
    let pairs = |it: &str| {
        let all: Vec<char> = it.chars().collect();
        all.windows(2).map(|it| (it[0], it[1])).collect::<Vec<_>>()
    };
    let (a, mut b) = (pairs(&a), pairs(&b));
    let total = a.len() + b.len();
    let both = a
        .iter()
        .filter(|it| b.iter().position(|other| other == *it).map(|at| b.swap_remove(at)).is_some())
        .count();
    if total == 0 { 0.0 } else { 2.0 * both as f64 / total as f64 }
}

fn both(a: Option<&str>, b: Option<&str>) -> f64 {
    match (a, b) {
        (None, None) => 1.0,
        (Some(a), Some(b)) => alike(a, b),
        _ => 0.0,
    }
}

impl Fingerprint {
    pub fn is_of_class(&self, other: &Self) -> bool {
        class(&self.role) == class(&other.role)
    }

    /// How much `now` is like this, 0 to 1.
    pub fn score(&self, now: &Self) -> f64 {
        let mut parts = vec![
            (2.85, alike(&self.name, &now.name)),
            (0.8, f64::from(u8::from(self.role == now.role))),
            (1.0, both(self.form.as_deref(), now.form.as_deref())),
        ];
        // What an element with a name of its own stands in is no more than a neighbour.
        if !self.alone {
            parts.push((1.45, both(self.row.as_deref(), now.row.as_deref())));
        }
        if !self.near.is_empty() {
            let found = self.near.iter().filter(|it| now.near.contains(it)).count();
            parts.push((1.45, found as f64 / self.near.len() as f64));
        }
        for (name, was) in &self.attributes {
            let weight = match name.as_str() {
                "type" | "placeholder" => 0.9,
                "href" => 0.95,
                "id" => 0.5,
                _ => 1.8,
            };
            parts.push((weight, f64::from(u8::from(now.attributes.get(name) == Some(was)))));
        }
        let all: f64 = parts.iter().map(|it| it.0).sum();
        parts.iter().map(|it| it.0 * it.1).sum::<f64>() / all
    }

    fn is_named_as(&self, now: &Self) -> bool {
        !self.name.is_empty() && words(&self.name) == words(&now.name)
    }

    /// Whether something that lasts, and is one element's alone, is the same.
    fn shares_mark(&self, now: &Self) -> bool {
        ["testid", "id", "name", "href"].iter().any(|it| {
            let was = self.attributes.get(*it);
            was.is_some_and(|it| !it.is_empty()) && was == now.attributes.get(*it)
        })
    }

    fn leads_where(&self, now: &Self) -> bool {
        let was = self.attributes.get("href").filter(|it| !it.is_empty());
        was.is_some() && was == now.attributes.get("href")
    }

    fn is_in_row(&self, now: &Self) -> bool {
        both(self.row.as_deref(), now.row.as_deref()) >= AGREES
    }

    fn is_in_form(&self, now: &Self) -> bool {
        both(self.form.as_deref(), now.form.as_deref()) >= AGREES
    }

    fn is_near(&self, now: &Self) -> bool {
        self.near.iter().any(|it| now.near.contains(it))
    }

    pub fn told(&self) -> String {
        let row = self.row.as_ref().map(|it| format!(" in {it:?}")).unwrap_or_default();
        format!("{} {:?}{row}", self.role, self.name)
    }
}

/// Which of them it is. Else why not, with the best of them.
pub fn choose(was: &Fingerprint, now: &[Fingerprint]) -> Result<(usize, Trust), String> {
    let mut all: Vec<(f64, usize)> = now
        .iter()
        .enumerate()
        .filter(|it| was.is_of_class(it.1))
        .map(|(at, it)| (was.score(it), at))
        .collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let best_of = |why: &str| {
        let best: Vec<String> =
            all.iter().take(TOLD).map(|it| format!("{} ({:.2})", now[it.1].told(), it.0)).collect();
        let best = if best.is_empty() { "nothing of its kind".to_owned() } else { best.join("; ") };
        format!("{} {why}; there is {best}", was.told())
    };
    let those = |fits: &dyn Fn(&Fingerprint) -> bool| -> Vec<usize> {
        all.iter().map(|it| it.1).filter(|at| fits(&now[*at])).collect()
    };
    let named = those(&|it| was.is_named_as(it));
    let marked = those(&|it| was.shares_mark(it));
    // By name, where that is one element's; else by the row that it stands in.
    let same = match &named[..] {
        [_] if was.alone => named.clone(),
        _ => those(&|it| {
            was.is_named_as(it) && was.is_in_form(it) && (was.alone || was.is_in_row(it))
        }),
    };
    // Rows that say the same are told apart by where they lead.
    let led = same.iter().copied().filter(|at| was.leads_where(&now[*at])).collect::<Vec<_>>();
    let same = if same.len() > 1 && led.len() == 1 { led } else { same };
    if let [one] = same[..] {
        let it = &now[one];
        let contradicted = !marked.is_empty() && !marked.contains(&one);
        let in_place = was.is_in_form(it) && (was.alone || was.is_in_row(it));
        return Ok(match (contradicted, in_place) {
            (true, _) => (one, Trust::Likely),
            (false, true) => (one, Trust::Same),
            _ if was.is_near(it) || marked.contains(&one) => (one, Trust::Healed),
            _ => (one, Trust::Likely),
        });
    }
    if !was.alone && !named.is_empty() {
        // Others of that name are there, and none where it was, or several.
        return Err(best_of(if same.is_empty() {
            "is not there"
        } else {
            "cannot be told from others"
        }));
    }
    if let [one] = marked[..]
        && (named.is_empty() || was.is_named_as(&now[one]))
    {
        return Ok((one, Trust::Likely));
    }
    // Called something else, and nothing lasting on it: it has to stand where it stood.
    let Some(&(score, best)) = all.first() else { return Err(best_of("is not there")) };
    let lead = score - all.get(1).map_or(0.0, |it| it.0);
    if lead < LEAD {
        return Err(best_of("cannot be told from others"));
    }
    let it = &now[best];
    let in_row = was.row.is_some() && was.is_in_row(it) && !was.alone;
    let around = was.is_near(it) && (was.alone || was.is_in_row(it));
    if score < ENOUGH || !was.is_in_form(it) || !(around || (in_row && lead >= ROW_LEAD)) {
        return Err(best_of("is not there"));
    }
    Ok((best, Trust::Placed))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn button(name: &str, row: Option<&str>) -> Fingerprint {
        Fingerprint {
            role: "button".into(),
            name: name.into(),
            row: row.map(str::to_owned),
            ..Fingerprint::default()
        }
    }

    #[test]
    fn rows_are_told_apart() {
        let rows = |all: &[&str]| -> Vec<_> {
            all.iter().map(|it| button("Add to cart", Some(it))).collect()
        };
        let was = button("Add to cart", Some("Garden lantern"));
        let moved = rows(&["Rake", "Garden lantern", "Hose"]);
        assert_eq!(choose(&was, &moved), Ok((1, Trust::Same)));
        // Gone: the others are called the same, and are in other rows.
        assert!(choose(&was, &rows(&["Rake", "Hose"])).is_err());
        assert!(choose(&was, &rows(&["Garden lantern", "Garden lantern"])).is_err());
        assert!(choose(&was, &[]).is_err());
    }

    #[test]
    fn rows_that_say_the_same_are_told_apart_by_where_they_lead() {
        let view = |id: u32| {
            let mut it = Fingerprint { role: "link".into(), ..button("View", Some("Edit")) };
            it.attributes.insert("href".into(), format!("/ships/details?id={id}"));
            it
        };
        let rows: Vec<_> = [7, 5, 9].map(view).into();
        assert_eq!(choose(&view(9), &rows), Ok((2, Trust::Same)));
        // Gone, or there twice: the others look just like it.
        assert!(choose(&view(8), &rows).is_err());
        assert!(choose(&view(5), &[view(5), view(5)]).is_err());
    }

    #[test]
    fn what_lasts_finds_a_renamed_one_and_the_wire_decides() {
        let mut was = button("Search", None);
        was.attributes.insert("id".into(), "go".into());
        was.near = vec!["Query".into()];
        let mut now = button("Find", None);
        now.attributes.clone_from(&was.attributes);
        now.near.clone_from(&was.near);
        assert_eq!(choose(&was, &[button("Help", None), now]), Ok((1, Trust::Likely)));
        assert!(choose(&was, &[button("Help", None), button("Log out", None)]).is_err());
    }

    #[test]
    fn only_one_of_that_kind_is_not_enough() {
        let was = button("Save", Some("Profile"));
        assert!(choose(&was, &[button("Delete", Some("Account"))]).is_err());
        let field =
            Fingerprint { role: "textbox".into(), name: "Save".into(), ..Fingerprint::default() };
        assert!(choose(&was, &[field]).is_err());
    }

    fn properties(path: &std::path::Path) -> BTreeMap<String, String> {
        let bytes = std::fs::read(path).unwrap();
        let text = String::from_utf8_lossy(&bytes).replace("\\:", ":").replace("\\=", "=");
        text.lines()
            .filter_map(|it| it.split_once('='))
            .map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()))
            .collect()
    }

    fn folder(path: &std::path::Path) -> Vec<std::path::PathBuf> {
        let mut all: Vec<_> = std::fs::read_dir(path)
            .into_iter()
            .flatten()
            .map(|it| it.unwrap().path())
            .filter(|it| it.extension().is_some_and(|it| it == "properties"))
            .collect();
        all.sort();
        all
    }

    fn of_properties(it: &BTreeMap<String, String>) -> Fingerprint {
        let text = |name: &str| it.get(name).filter(|it| !it.is_empty()).cloned();
        let kind = text("type").unwrap_or_default();
        let role = match it.get("tag").map_or("", String::as_str) {
            "A" => "link",
            "INPUT" if !matches!(&*kind, "button" | "submit" | "image") => "textbox",
            "INPUT" | "BUTTON" => "button",
            "SELECT" => "combobox",
            other => other,
        };
        let sides = ["neighbor_text_left", "neighbor_text_right"];
        let kept = ["type", "id", "name", "href", "placeholder"];
        Fingerprint {
            role: role.to_owned(),
            name: ["text", "visible_text", "value", "placeholder"]
                .iter()
                .find_map(|it| text(it))
                .unwrap_or_default(),
            near: sides.iter().filter_map(|it| text(it)).collect(),
            attributes: kept.iter().filter_map(|it| Some(((*it).to_owned(), text(it)?))).collect(),
            ..Fingerprint::default()
        }
    }

    /// The public data of Similo2 (40 sites, two versions of each, years apart), where a checkout of it is named. `Likely` and `Placed`
    /// are what the wire would be asked about, which recorded properties cannot answer.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "where data that is not the project's own is")]
    fn public_pairs_of_versions() {
        let Some(root) = std::env::var_os("COMMIS_SIMILO2") else {
            println!("COMMIS_SIMILO2 names no checkout: not measured");
            return;
        };
        let root = std::path::Path::new(&root).join("WidgetLocator/apps");
        let mut apps: Vec<_> =
            std::fs::read_dir(&root).unwrap().map(|it| it.unwrap().path()).collect();
        apps.sort();
        let of = |print: &Fingerprint, all: &[Fingerprint]| {
            let same =
                |it: &&Fingerprint| class(&it.role) == class(&print.role) && it.name == print.name;
            Fingerprint { alone: all.iter().filter(same).count() == 1, ..print.clone() }
        };
        // By whether the wire is needed: cases, right, wrong, refused; and those that are gone, acted on.
        let mut counts = [[0; 5]; 2];
        for app in apps {
            let read = |it: &str| -> Vec<BTreeMap<String, String>> {
                folder(&app.join(it)).iter().map(|it| properties(it)).collect()
            };
            let (targets, candidates) = (read("target_widgets"), read("candidate_widgets"));
            let were: Vec<_> = targets.iter().map(of_properties).collect();
            let are: Vec<_> = candidates.iter().map(of_properties).collect();
            let now: Vec<_> = are.iter().map(|it| of(it, &are)).collect();
            for pair in folder(&app).iter().map(|it| properties(it)) {
                let Some(at) =
                    targets.iter().position(|it| it.get("xpath") == pair.get("old_xpath"))
                else {
                    continue;
                };
                let was = of(&were[at], &were);
                let new = &pair["new_xpath"];
                let kin = |it: &str| {
                    it == new
                        || it.starts_with(&format!("{new}/"))
                        || new.starts_with(&format!("{it}/"))
                };
                let left: Vec<usize> =
                    (0..now.len()).filter(|it| !kin(&candidates[*it]["xpath"])).collect();
                let without: Vec<_> = left.iter().map(|it| of(&are[*it], &are)).collect();
                let (found, gone) = (choose(&was, &now), choose(&was, &without));
                for (wire, out) in counts.iter_mut().enumerate() {
                    let acts = |it: Trust| wire == 1 || matches!(it, Trust::Same | Trust::Healed);
                    out[0] += 1;
                    match &found {
                        Ok((at, trust)) if acts(*trust) => {
                            out[if kin(&candidates[*at]["xpath"]) { 1 } else { 2 }] += 1;
                        }
                        _ => out[3] += 1,
                    }
                    out[4] += usize::from(gone.as_ref().is_ok_and(|it| acts(it.1)));
                }
            }
        }
        for (what, it) in ["without the wire", "where a request could tell"].iter().zip(counts) {
            let share = |at: usize| 100.0 * it[at] as f64 / it[0] as f64;
            println!(
                "{what}: {} cases, right {:.1} % wrong {:.1} % refused {:.1} % acts when gone {:.1} %",
                it[0],
                share(1),
                share(2),
                share(3),
                share(4)
            );
        }
        assert!(counts[0][0] > 500 && counts[0][2] * 50 < counts[0][0]);
    }
}
