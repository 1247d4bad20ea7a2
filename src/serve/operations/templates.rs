//! Templates: what is taken of a page, kept by name and used again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{HttpMethod, Kind, Meta, Operation, OperationContext, row, spec, with_default_meta};
use crate::{
    answer::ApiError,
    page_sessions::PageSessions,
    principal::{AccessRequirement, AccessRight, Area},
};
use commis_browser::{
    page_session::{Command, PageController},
    sessions::templates::{Template, TemplateRequest, TemplateStore},
};

type OperationOutput<T> = std::result::Result<(T, Meta), Box<ApiError>>;

const READ: AccessRequirement = AccessRequirement::May(Area::Browse, AccessRight::Read);
const WRITE: AccessRequirement = AccessRequirement::May(Area::Browse, AccessRight::Write);

fn first() -> String {
    "default".to_owned()
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SaveArgs {
    /// What it is called.
    name: String,
    /// The page's context.
    #[serde(default = "first")]
    context: String,
    /// Words of the list or record that is meant; the weightiest when absent.
    #[serde(default)]
    about: String,
    /// A JMESPath expression that what is taken goes through.
    extract: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ApplyArgs {
    /// As `session_template_list` names it.
    name: String,
    /// The page's context.
    #[serde(default = "first")]
    context: String,
    /// Open this page first: an absolute address.
    url: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NameArgs {
    /// As `session_template_list` names it.
    name: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NoArgs {}

pub fn rows(out: &mut Vec<Operation>) {
    out.extend([
        row(
            spec("session_template_save", &[(HttpMethod::Post, "/api/sessions/templates/save")], WRITE, Kind::Write, "Keep by name which list or record of the page is taken, by selectors that last.\nThe answer shows what it takes of the page as it is now."),
            save,
        ),
        row(
            spec("session_template_apply", &[(HttpMethod::Post, "/api/sessions/templates/apply")], WRITE, Kind::Write, "Take of a page what a template takes.\nAn answer without the shape that it had is refused."),
            apply,
        ),
        row(
            spec("session_template_list", &[(HttpMethod::Post, "/api/sessions/templates/list")], READ, Kind::Read, "List templates."),
            list,
        ),
        row(
            spec("session_template_show", &[(HttpMethod::Post, "/api/sessions/templates/show")], READ, Kind::Read, "Show a template."),
            show,
        ),
        row(
            spec("session_template_remove", &[(HttpMethod::Post, "/api/sessions/templates/remove")], WRITE, Kind::Write, "Remove a template."),
            remove,
        ),
    ]);
}

fn all(cx: &OperationContext) -> TemplateStore {
    let owner = cx.principal.scopes.as_ref().map_or("", |_| &*cx.principal.id);
    TemplateStore::new(&cx.daemon.home.sessions, owner)
}

#[derive(Serialize, JsonSchema)]
struct SaveResult {
    template: Template,
    /// What it takes of the page; a stranger's.
    data: Value,
}

async fn save(cx: OperationContext, it: SaveArgs) -> OperationOutput<SaveResult> {
    let of = (&cx.principal, &*it.context);
    let (url, documents) =
        PageSessions::with(&cx.daemon, of, async |controller: &mut PageController| {
            controller.drawn().await
        })
        .await?;
    let wish = TemplateRequest { name: it.name, about: it.about, extract: it.extract };
    let (template, data) = Template::learn(&documents, &url, &wish)?;
    all(&cx).save(&template)?;
    with_default_meta(SaveResult { template, data })
}

#[derive(Serialize, JsonSchema)]
struct ApplyResult {
    /// Redacted; a stranger's.
    data: Value,
    /// The page that it was taken of.
    url: String,
}

async fn apply(cx: OperationContext, it: ApplyArgs) -> OperationOutput<ApplyResult> {
    let template = all(&cx).get(&it.name)?;
    let of = (&cx.principal, &*it.context);
    let (url, documents) =
        PageSessions::with(&cx.daemon, of, async |controller: &mut PageController| {
            if let Some(url) = it.url {
                controller.run(Command::Goto(url)).await?;
            }
            controller.drawn().await
        })
        .await?;
    with_default_meta(ApplyResult { data: template.apply(&documents)?, url })
}

#[derive(Serialize, JsonSchema)]
struct TemplateList {
    templates: Vec<Template>,
}

async fn list(cx: OperationContext, _: NoArgs) -> OperationOutput<TemplateList> {
    with_default_meta(TemplateList { templates: all(&cx).list()? })
}

async fn show(cx: OperationContext, it: NameArgs) -> OperationOutput<Template> {
    with_default_meta(all(&cx).get(&it.name)?)
}

#[derive(Serialize, JsonSchema)]
struct RemoveResult {
    removed: bool,
}

async fn remove(cx: OperationContext, it: NameArgs) -> OperationOutput<RemoveResult> {
    all(&cx).remove(&it.name)?;
    with_default_meta(RemoveResult { removed: true })
}
