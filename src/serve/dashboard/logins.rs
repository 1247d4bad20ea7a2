//! The logins of the vault: which there are, which recipes use them, and when they were last known to be good. No value of one.

use maud::{Markup, html};

use super::{DashboardContext, format};
use crate::Daemon;
use commis_base::error::Result;
use commis_vault::{LoginSummary, Vault};

/// A section of the browser's page. Fails with `ARTIFACT_IO`.
pub fn section(cx: &DashboardContext) -> Result<Markup> {
    let all = Vault::new(&cx.daemon.home).list()?;
    Ok(html! {
        section #logins aria-labelledby="logins-head" {
            h2 #logins-head { "Logins" }
            @if all.is_empty() {
                (format::empty("The vault is empty.", &html! { p { code { "commis session login NAME URL" } " logs in once and seals it." } }))
            } @else { (table(&all, &cx.daemon, cx.now_ms)?) }
        }
    })
}

fn table(all: &[LoginSummary], daemon: &Daemon, now_ms: i64) -> Result<Markup> {
    let recipes = daemon.recipes.all()?;
    let users = |site: &str| -> Vec<String> {
        let used =
            recipes.iter().filter(|it| it.recipe.login.as_ref().is_some_and(|it| it.site == site));
        used.map(|it| it.recipe.name.to_string()).collect()
    };
    Ok(html! {
        table.rows {
            thead { tr {
                th scope="col" { "Login" }
                th scope="col" { "Recipes" }
                th scope="col" { "State" }
                th.n scope="col" { "Last fresh" }
            } }
            tbody {
                @for it in all {
                    tr {
                        th scope="row" { (it.name) span.task { (it.site) } }
                        td {
                            @for (at, name) in users(&it.site).iter().enumerate() {
                                @if at > 0 { ", " }
                                a href={ "/recipes/" (name) } { (name) }
                            }
                        }
                        td { (state(it)) }
                        td.n { @if it.trouble.is_none() { (format::ago(fresh_ms(it), now_ms)) } }
                    }
                }
            }
        }
    })
}

/// Where a login stands.
pub fn state(it: &LoginSummary) -> Markup {
    let (class, text) = match (&it.trouble, &it.checked) {
        (Some(_), _) => ("badge bad", "cannot be opened"),
        (None, Some(seen)) if !seen.holds && seen.at_ms >= fresh_ms(it) => ("badge warn", "ended"),
        _ if it.renewable => ("badge good", "renewed by runs"),
        _ => ("badge good", "sealed"),
    };
    html! { span class=(class) { (text) } }
}

/// When it was last known to be good: made, changed by an answer, or looked at and found good.
fn fresh_ms(it: &LoginSummary) -> i64 {
    let checked = it.checked.as_ref().filter(|it| it.holds).map_or(0, |it| it.at_ms);
    it.taken_ms.max(it.renewed_ms.unwrap_or(0)).max(checked)
}
