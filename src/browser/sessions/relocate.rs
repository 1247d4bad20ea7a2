//! Finds an element again on a page that may have changed since.
//!
//! Candidates are elements of the same class of roles. The weights are those that a search over 10,376 elements of 30 sites found
//! (Kluge and Stocco, arXiv 2505.16424); what an element stands in is weighed like its neighbours' text. A score alone is never
//! enough: it has to agree with the name or with something that lasts, and lead clearly. Where labels changed together, what is no
//! label decides: marks, the form, the controls around it. What was another element before is none of the candidates. What is only
//! likely is for the wire to decide.

use super::fingerprint::Fingerprint;

/// How far the best has to be ahead of the second, of 1.
const LEAD: f64 = 0.08;
/// The same in a row, where all that is around it has changed as well.
const ROW_LEAD: f64 = 0.15;
const ENOUGH: f64 = 0.4;
/// How much of what is no label has to be the same where a mark is.
const MARKED: f64 = 0.5;
/// Candidates that a refusal names.
const TOLD: usize = 3;

/// How sure one has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strictness {
    Reads,
    /// The act may change something where it goes.
    Changes,
}

impl Strictness {
    /// How much of what is no label has to be the same, and how far that has to be ahead of the second.
    fn evidence(self) -> (f64, f64) {
        match self {
            Self::Reads => (0.7, 0.1),
            Self::Changes => (0.8, 0.2),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchTrust {
    /// Called the same and in the same place, and the only one.
    Same,
    /// Something has changed; what is left says that it is the one.
    Healed,
    /// Its name or something lasting is the same, in another place; only what it or a later act asks for can tell.
    Likely,
    /// It stands where that stood, and is called something else; only what it asks for can tell.
    Placed,
}

/// Why none was chosen, with those that are most alike, or `nothing`.
fn describe_best(
    was: &Fingerprint,
    now: &[Fingerprint],
    all: &[(f64, usize)],
    why: &str,
    nothing: &str,
) -> String {
    let best = all.iter().take(TOLD);
    let best: Vec<String> =
        best.map(|it| format!("{} ({:.2})", now[it.1].describe(), it.0)).collect();
    let best = if best.is_empty() { nothing.to_owned() } else { best.join("; ") };
    format!("{} {why}; there is {best}", was.describe())
}

/// How far the one element of that name is trusted. `marked`: the elements that share a mark with it.
fn trust_in(was: &Fingerprint, it: &Fingerprint, marked: &[usize], at: usize) -> MatchTrust {
    let is_marked = marked.contains(&at);
    let contradicted = !marked.is_empty() && !is_marked;
    let in_place = was.is_in_form(it) && (was.alone || was.is_in_row(it));
    match (contradicted, in_place) {
        (true, _) => MatchTrust::Likely,
        (false, true) => MatchTrust::Same,
        _ if was.is_near(it) || is_marked => MatchTrust::Healed,
        _ => MatchTrust::Likely,
    }
}

/// Which of them it is. Else why not, with the best of them.
pub fn choose(
    was: &Fingerprint,
    now: &[Fingerprint],
    bar: Strictness,
) -> Result<(usize, MatchTrust), String> {
    let mut all: Vec<(f64, usize)> = now
        .iter()
        .enumerate()
        .filter(|it| was.is_of_class(it.1))
        .map(|(at, it)| (was.score(it), at))
        .collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let best_of = |why: &str| describe_best(was, now, &all, why, "nothing of its kind");
    let those = |fits: &dyn Fn(&Fingerprint) -> bool| -> Vec<usize> {
        all.iter().map(|it| it.1).filter(|at| fits(&now[*at])).collect()
    };
    let named = those(&|it| was.is_named_as(it));
    // Where a link leads is what it is, whatever it is called.
    let marked = those(&|it| was.shares_mark(it) && (!was.was_another(it) || was.leads_where(it)));
    // By name, where that is one element's; else by the row that it stands in.
    let same = match &named[..] {
        [_] if was.alone => named.clone(),
        _ if was.alone => told_apart(was, now, &named, bar),
        _ => {
            let in_row =
                those(&|it| was.is_named_as(it) && was.is_in_form(it) && was.is_in_row(it));
            // A row that says just the same is it before one that says nearly the same.
            let exact: Vec<usize> =
                in_row.iter().copied().filter(|at| was.is_in_same_row(&now[*at])).collect();
            if exact.is_empty() { in_row } else { exact }
        }
    };
    // Rows that say the same are told apart by where they lead.
    let led = same.iter().copied().filter(|at| was.leads_where(&now[*at])).collect::<Vec<_>>();
    let same = if same.len() > 1 && led.len() == 1 { led } else { same };
    if let [one] = same[..] {
        return Ok((one, trust_in(was, &now[one], &marked, one)));
    }
    if !named.is_empty() && (!was.alone || named.len() > 1) {
        // Others of that name are there, and none where it was, or several.
        return Err(best_of(if same.is_empty() && !was.alone {
            "is not there"
        } else {
            "cannot be told from others"
        }));
    }
    // Marks that a program counts up may be another element's now.
    let is_built_so = |it: &Fingerprint| !was.is_built() || was.evidence(it) >= MARKED;
    if let [one] = marked[..]
        && (named.is_empty() || was.is_named_as(&now[one]))
        && is_built_so(&now[one])
    {
        return Ok((one, MatchTrust::Likely));
    }
    // Called something else: what is no label tells, or it has to stand where it stood.
    all.retain(|it| !was.was_another(&now[it.1]));
    if was.is_built()
        && let Some(found) = by_build(was, now, all.iter().map(|it| it.1), bar)
    {
        return Ok(found);
    }
    let nothing = "nothing of its kind that was not there before";
    let best_of = |why: &str| describe_best(was, now, &all, why, nothing);
    let Some(&(score, best)) = all.first() else { return Err(best_of("is not there")) };
    let lead = score - all.get(1).map_or(0.0, |it| it.0);
    if lead < LEAD {
        return Err(best_of("cannot be told from others"));
    }
    let it = &now[best];
    let in_row = was.row.is_some() && was.is_in_row(it) && !was.alone;
    let around = was.is_near(it) && (was.alone || was.is_in_row(it));
    // What came in its place may be something else.
    let other_kind = was.is_built() && (!was.is_of_kind(it) || was.contradicts(it));
    if other_kind
        || score < ENOUGH
        || !was.is_in_form(it)
        || !(around || (in_row && lead >= ROW_LEAD))
    {
        return Err(best_of("is not there"));
    }
    Ok((best, MatchTrust::Placed))
}

/// Those of one name that it may be: one where all that tells them apart says the same.
fn told_apart(
    was: &Fingerprint,
    now: &[Fingerprint],
    named: &[usize],
    bar: Strictness,
) -> Vec<usize> {
    let only = |fits: &dyn Fn(&Fingerprint) -> bool| -> Option<usize> {
        let mut all = named.iter().copied().filter(|at| fits(&now[*at]));
        all.next().filter(|_| all.next().is_none())
    };
    // What stands for an element by itself, and what only goes with it.
    let strong = [
        only(&|it| was.leads_where(it)),
        only(&|it| was.shares_mark(it)),
        only(&|it| was.is_in_same_row(it))
            .or_else(|| only(&|it| was.row.is_some() && was.is_in_row(it))),
        only(&|it| was.is_in_form(it)),
    ];
    let mut by_build: Vec<(f64, usize)> =
        named.iter().map(|at| (was.evidence(&now[*at]), *at)).collect();
    by_build.sort_by(|a, b| b.0.total_cmp(&a.0));
    let built = match by_build[..] {
        [first, second, ..] if was.is_built() && first.0 - second.0 >= bar.evidence().1 => {
            Some(first.1)
        }
        _ => None,
    };
    let weak = [only(&|it| was.is_near(it)), built];
    let mut votes = strong.iter().chain(&weak).flatten();
    let Some(first) = votes.next() else { return named.to_vec() };
    let is_sure = bar == Strictness::Reads || strong.iter().any(Option::is_some);
    if votes.all(|it| it == first) && is_sure { vec![*first] } else { named.to_vec() }
}

/// The one that is built and placed as it was, whatever it and its neighbours are called.
fn by_build(
    was: &Fingerprint,
    now: &[Fingerprint],
    candidates: impl Iterator<Item = usize>,
    bar: Strictness,
) -> Option<(usize, MatchTrust)> {
    let fits = |at: &usize| {
        let it = &now[*at];
        (was.is_of_kind(it) || was.shares_mark(it)) && !was.contradicts(it)
    };
    let mut all: Vec<(f64, usize)> =
        candidates.filter(fits).map(|at| (was.evidence(&now[at]), at)).collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let &(score, best) = all.first()?;
    let lead = score - all.get(1).map_or(0.0, |it| it.0);
    let it = &now[best];
    let in_row = was.alone || was.row.is_none() || was.is_in_row(it);
    let (enough, ahead) = bar.evidence();
    // One of those that stood together is gone: which, nothing tells but a mark.
    let may_be_gone = was.has_lost(it) && !was.shares_mark(it);
    if score < enough || lead < ahead || !in_row || may_be_gone {
        return None;
    }
    let (sure, _) = Strictness::Changes.evidence();
    Some((
        best,
        if score >= sure || was.shares_mark(it) { MatchTrust::Likely } else { MatchTrust::Placed },
    ))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::sessions::fingerprint::{class, mark_of};

    fn chosen(was: &Fingerprint, now: &[Fingerprint]) -> Result<(usize, MatchTrust), String> {
        choose(was, now, Strictness::Reads)
    }

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
        assert_eq!(chosen(&was, &moved), Ok((1, MatchTrust::Same)));
        // Gone: the others are called the same, and are in other rows.
        assert!(chosen(&was, &rows(&["Rake", "Hose"])).is_err());
        assert!(chosen(&was, &rows(&["Garden lantern", "Garden lantern"])).is_err());
        assert!(chosen(&was, &[]).is_err());
    }

    #[test]
    fn rows_that_say_the_same_are_told_apart_by_where_they_lead() {
        let view = |id: u32| {
            let mut it = Fingerprint { role: "link".into(), ..button("View", Some("Edit")) };
            it.attributes.insert("href".into(), format!("/ships/details?id={id}"));
            it
        };
        let rows: Vec<_> = [7, 5, 9].map(view).into();
        assert_eq!(chosen(&view(9), &rows), Ok((2, MatchTrust::Same)));
        // Gone, or there twice: the others look just like it.
        assert!(chosen(&view(8), &rows).is_err());
        assert!(chosen(&view(5), &[view(5), view(5)]).is_err());
    }

    #[test]
    fn what_lasts_finds_a_renamed_one_and_the_wire_decides() {
        let mut was = button("Search", None);
        was.attributes.insert("id".into(), "go".into());
        was.near = vec!["Query".into()];
        let mut now = button("Find", None);
        now.attributes.clone_from(&was.attributes);
        now.near.clone_from(&was.near);
        assert_eq!(chosen(&was, &[button("Help", None), now]), Ok((1, MatchTrust::Likely)));
        assert!(chosen(&was, &[button("Help", None), button("Log out", None)]).is_err());
    }

    #[test]
    fn only_one_of_that_kind_is_not_enough() {
        let was = button("Save", Some("Profile"));
        assert!(chosen(&was, &[button("Delete", Some("Account"))]).is_err());
        let field =
            Fingerprint { role: "textbox".into(), name: "Save".into(), ..Fingerprint::default() };
        assert!(chosen(&was, &[field]).is_err());
    }

    /// A search form and what is around it, in the words of whichever language.
    fn form(names: [&str; 4]) -> Vec<Fingerprint> {
        let kinds = ["input:search", "select", "button:submit", "button:button"];
        let of = |(at, name): (usize, &&str)| {
            let shape: Vec<String> = kinds
                .iter()
                .enumerate()
                .map(|(i, it)| if i == at { format!(">{it}") } else { (*it).to_owned() })
                .collect();
            let (tag, kind) = kinds[at].split_once(':').unwrap_or((kinds[at], ""));
            let attributes = [
                ("tag", tag),
                ("type", kind),
                ("form", "find get /find"),
                ("path", "form main"),
                ("shape", &shape.join(" ")),
                ("beside", "q sort"),
                ("among", "1"),
            ];
            Fingerprint {
                role: ["searchbox", "combobox", "button", "button"][at].into(),
                name: (*name).into(),
                alone: true,
                form: Some(names[2].into()),
                near: names[at.saturating_sub(1)..at].iter().map(|it| (*it).to_owned()).collect(),
                attributes: attributes.map(|(a, b)| (a.to_owned(), b.to_owned())).into(),
                ..Fingerprint::default()
            }
        };
        names.iter().enumerate().map(of).collect()
    }

    #[test]
    fn labels_that_change_together_hide_nothing() {
        let were = form(["Product", "Sort by", "Search", "Clear"]);
        let are = form(["Artikel", "Ordnen nach", "Suchen", "Leeren"]);
        for bar in [Strictness::Reads, Strictness::Changes] {
            for (at, was) in were.iter().enumerate() {
                assert_eq!(choose(was, &are, bar), Ok((at, MatchTrust::Likely)), "{was:?}");
            }
        }
    }

    #[test]
    fn what_is_gone_is_not_found_in_what_was_beside_it() {
        let mut were = form(["Product", "Sort by", "Search", "Clear"]);
        were[2].others = vec![mark_of("Clear").unwrap()];
        // The others are called as they were.
        let mut are = were.clone();
        are.remove(2);
        // All are called something else, and one button is left of two.
        let mut renamed = form(["Artikel", "Ordnen nach", "Suchen", "Leeren"]);
        renamed.remove(2);
        renamed[2].attributes.insert("shape".into(), "input:search select >button:button".into());
        // The same where both were of one kind.
        let mut submits = renamed.clone();
        submits[2].attributes.insert("type".into(), "submit".into());
        submits[2].attributes.insert("shape".into(), "input:search select >button:submit".into());
        were[2].attributes.insert("among".into(), "2".into());
        for bar in [Strictness::Reads, Strictness::Changes] {
            for now in [&are, &renamed, &submits] {
                assert!(choose(&were[2], now, bar).is_err(), "{now:?}");
            }
        }
    }

    #[test]
    fn a_box_of_a_question_is_not_another_one_of_it() {
        let of = |name: &str, value: &str| {
            let attributes =
                [("tag", "input"), ("type", "radio"), ("name", "size"), ("value", value)];
            Fingerprint {
                role: "radio".into(),
                name: name.into(),
                alone: true,
                attributes: attributes.map(|(a, b)| (a.to_owned(), b.to_owned())).into(),
                ..Fingerprint::default()
            }
        };
        let was = of("Medium", "m");
        assert_eq!(
            chosen(&was, &[of("Klein", "s"), of("Mittel", "m")]),
            Ok((1, MatchTrust::Likely))
        );
        assert!(chosen(&was, &[of("Klein", "s")]).is_err());
    }

    #[test]
    fn two_of_one_name_are_told_apart_by_their_rows() {
        let was = Fingerprint { alone: true, ..button("Add to cart", Some("Garden lantern 1")) };
        let now = |rows: [&str; 2]| rows.map(|it| button("Add to cart", Some(it)));
        for bar in [Strictness::Reads, Strictness::Changes] {
            let rows = now(["Rake", "Garden lantern 1"]);
            assert_eq!(choose(&was, &rows, bar), Ok((1, MatchTrust::Same)));
            // A row that is nearly called so is another row.
            assert!(choose(&was, &now(["Garden lantern 2", "Rake"]), bar).is_err());
            assert!(choose(&was, &now(["Garden lantern 1", "Garden lantern 1"]), bar).is_err());
        }
        // The row says one, and a mark the other.
        let mut was = was;
        was.attributes.insert("id".into(), "add".into());
        let mut rows = now(["Rake", "Garden lantern 1"]);
        rows[0].attributes.insert("id".into(), "add".into());
        assert!(chosen(&was, &rows).is_err());
        // In lists, too.
        let was = button("Add to cart", Some("Garden lantern 1"));
        assert!(chosen(&was, &now(["Garden lantern 2", "Rake"])).is_err());
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
                let (found, gone) = (chosen(&was, &now), chosen(&was, &without));
                for (wire, out) in counts.iter_mut().enumerate() {
                    let acts = |it: MatchTrust| {
                        wire == 1 || matches!(it, MatchTrust::Same | MatchTrust::Healed)
                    };
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
