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

fn all(asked: &OperationContext) -> TemplateStore {
    let owner = asked.who.scopes.as_ref().map_or("", |_| &*asked.who.id);
    TemplateStore::new(&asked.daemon.home.sessions, owner)
}

#[derive(Serialize, JsonSchema)]
struct SaveResult {
    template: Template,
    /// What it takes of the page; a stranger's.
    data: Value,
}

async fn save(asked: OperationContext, it: SaveArgs) -> OperationOutput<SaveResult> {
    let of = (&asked.who, &*it.context);
    let (url, documents) =
        PageSessions::with(&asked.daemon, of, async |desk: &mut PageController| desk.drawn().await)
            .await?;
    let wish = TemplateRequest { name: it.name, about: it.about, extract: it.extract };
    let (template, data) = Template::learn(&documents, &url, &wish)?;
    all(&asked).save(&template)?;
    with_default_meta(SaveResult { template, data })
}

#[derive(Serialize, JsonSchema)]
struct ApplyResult {
    /// Redacted; a stranger's.
    data: Value,
    /// The page that it was taken of.
    url: String,
}

async fn apply(asked: OperationContext, it: ApplyArgs) -> OperationOutput<ApplyResult> {
    let template = all(&asked).get(&it.name)?;
    let of = (&asked.who, &*it.context);
    let (url, documents) =
        PageSessions::with(&asked.daemon, of, async |desk: &mut PageController| {
            if let Some(url) = it.url {
                desk.run(Command::Goto(url)).await?;
            }
            desk.drawn().await
        })
        .await?;
    with_default_meta(ApplyResult { data: template.apply(&documents)?, url })
}

#[derive(Serialize, JsonSchema)]
struct TemplateList {
    templates: Vec<Template>,
}

async fn list(asked: OperationContext, _: NoArgs) -> OperationOutput<TemplateList> {
    with_default_meta(TemplateList { templates: all(&asked).list()? })
}

async fn show(asked: OperationContext, it: NameArgs) -> OperationOutput<Template> {
    with_default_meta(all(&asked).get(&it.name)?)
}

#[derive(Serialize, JsonSchema)]
struct RemoveResult {
    removed: bool,
}

async fn remove(asked: OperationContext, it: NameArgs) -> OperationOutput<RemoveResult> {
    all(&asked).remove(&it.name)?;
    with_default_meta(RemoveResult { removed: true })
}
