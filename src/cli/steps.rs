//! `commis recipe steps`

use std::{collections::BTreeMap, fmt::Write as _, sync::Arc, time::Duration};

use serde_json::{Value, json};

use super::{Global, context};
use commis_base::error::Result;
use commis_browser::{Context, Plan, Step, StepSuggestion};
use commis_recipe::blocks::{self, Block};

/// Links are listed last, and a page may have hundreds.
const MAX_LINKS: usize = 30;
const MAX_WAITS: usize = 8;

/// List the elements of a page as steps for a manifest
///
/// It opens the page and prints YAML: fields, lists, boxes, buttons and links, each by role and name. If several have one name,
/// `nth` distinguishes them. Comments list blocks to wait for.
///
/// With --json: {url, title, steps, waits, nameless}; a step has `step`, as a manifest has it, and `note`.
///
/// Example: commis recipe steps http://shop.test/ --testbed
#[derive(clap::Args)]
pub struct Args {
    /// The page
    url: String,
    /// All links, however many
    #[arg(long)]
    all: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

pub async fn run(args: Args, global: &Global) -> Result<u8> {
    let place = context::open(global).await?;
    let cx = context::learning(&place, None, Duration::ZERO, Box::new(|_, _| ()))?;
    let its = Arc::clone(&cx);
    let work = move || async move {
        let mut context = its.browser.context().await?;
        read_page(&mut context, &args.url).await
    };
    let end = context::run_interruptible("the same command looks again", work).await;
    cx.browser.close().await;
    let page = end?;
    if args.json {
        let steps: Vec<Value> =
            page.offers.iter().map(|it| json!({"step": it.step, "note": it.note})).collect();
        let waits: Vec<Value> = page
            .waits
            .iter()
            .map(|(selector, what)| json!({"selector": selector, "shows": what}))
            .collect();
        context::out(&json!({
            "url": page.url, "title": page.title, "steps": steps, "waits": waits,
            "nameless": page.nameless,
        }));
    } else {
        print(&page, args.all);
    }
    Ok(0)
}

struct Page {
    url: String,
    title: String,
    offers: Vec<StepSuggestion>,
    /// Elements that nothing names.
    nameless: usize,
    /// Selectors of blocks, and what they are.
    waits: Vec<(String, String)>,
}

async fn read_page(context: &mut Context, url: &str) -> Result<Page> {
    let plan = Plan {
        task: String::new(),
        url: url.to_owned(),
        typed: BTreeMap::new(),
        steps: Vec::new(),
        secrets: Vec::new(),
        bound: Vec::new(),
        timeout: Duration::from_secs(30),
    };
    let seen = context.record_then(&plan, || ()).await?.page;
    let (offers, nameless) = context.nameable().await?;
    let documents = seen.documents.iter().filter_map(|it| blocks::parse_bounded(it));
    let mut found: Vec<Block> = documents.flat_map(|it| blocks::find(&it, true, false)).collect();
    found.sort_by_key(|it| std::cmp::Reverse(it.weight));
    let mut waits: Vec<(String, String)> = Vec::new();
    for it in found {
        let Some(items) = it.spec.as_ref().map(|it| it.items.clone()) else { continue };
        let known = waits.iter().any(|it| it.0 == items);
        if waits.len() < MAX_WAITS && !known && context.has(&items).await {
            waits.push((items, describe_block(&it)));
        }
    }
    Ok(Page { url: seen.url, title: seen.title, offers, nameless, waits })
}

fn describe_block(it: &Block) -> String {
    let under = it.heading.as_ref().map(|it| format!(" under {it:?}")).unwrap_or_default();
    format!("{} items × {} columns{under}", it.rows.len(), it.fields.len())
}

fn print(page: &Page, all: bool) {
    comment(&format!("{} — {}", page.title, page.url));
    let is_link = |it: &StepSuggestion| matches!(&it.step, Step::Click(it) if it.describe().starts_with("link "));
    let mut links = 0;
    for it in &page.offers {
        links += usize::from(is_link(it));
        if is_link(it) && links > MAX_LINKS && !all {
            continue;
        }
        let mut text = line(&json!(it.step));
        if !it.note.is_empty() {
            let _ = write!(text, "  # {}", it.note.replace('\n', " "));
        }
        context::line(&context::clean(&text));
    }
    if links > MAX_LINKS && !all {
        comment(&format!("and {} more links: --all", links - MAX_LINKS));
    }
    if page.nameless > 0 {
        comment(&format!("{} elements have no name; css is the last resort", page.nameless));
    }
    for (selector, what) in &page.waits {
        let step = line(&json!({"wait_for": {"selector": selector}}));
        comment(&format!("{step}  # {what}"));
    }
}

fn comment(text: &str) {
    context::line(&context::clean(&format!("# {}", text.replace('\n', " "))));
}

/// A step on one line of YAML. Texts are quoted as JSON has them, which YAML reads alike.
fn line(step: &Value) -> String {
    let Some((kind, of)) = step.as_object().and_then(|it| it.iter().next()) else {
        return String::new();
    };
    let Some(fields) = of.as_object() else { return format!("- {kind}: {of}") };
    // As people write them.
    let order = ["role", "name", "label", "placeholder", "test_id", "css", "nth", "value"];
    let place = |it: &str| order.iter().position(|known| *known == it).unwrap_or(order.len());
    let mut fields: Vec<(&String, &Value)> = fields.iter().collect();
    fields.sort_by_key(|it| place(it.0));
    let plain = |(key, value): (&String, &Value)| match value {
        Value::String(it) if key == "role" => format!("{key}: {it}"),
        other => format!("{key}: {other}"),
    };
    let fields: Vec<String> = fields.into_iter().map(plain).collect();
    format!("- {kind}: {{ {} }}", fields.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_reads_back_as_it_was() {
        let steps = [
            json!({"fill": {"name": "Say \"hi\": no #1", "role": "searchbox", "value": "{q}"}}),
            json!({"click": {"role": "link", "name": "yes", "nth": 2}}),
            json!({"frame": {"name": "inner"}}),
            json!({"frame": "main"}),
            json!({"wait_for": {"selector": "#a > li:nth-child(2)"}}),
        ];
        for it in steps {
            let text = line(&it);
            assert!(!text.contains('\n'));
            let back: Vec<Step> = serde_saphyr::from_str(&text).unwrap();
            assert_eq!(json!(back[0]), it, "{text}");
        }
        assert_eq!(
            line(&json!({"click": {"nth": 2, "name": "Buy", "role": "button"}})),
            "- click: { role: button, name: \"Buy\", nth: 2 }"
        );
    }
}
