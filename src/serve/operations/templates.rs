//! Templates: what is taken of a page, kept by name and used again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Asked, Kind, Meta, Row, Verb, plain, row, spec};
use crate::{
    answer::Trouble,
    desks::Desks,
    principal::{Area, Need, Right},
};
use commis_browser::{
    desk::{Command, Desk},
    sessions::templates::{Template, Templates, Wish},
};

type Out<T> = std::result::Result<(T, Meta), Box<Trouble>>;

const READ: Need = Need::May(Area::Browse, Right::Read);
const WRITE: Need = Need::May(Area::Browse, Right::Write);

fn first() -> String {
    "default".to_owned()
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Save {
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
struct Apply {
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
struct Named {
    /// As `session_template_list` names it.
    name: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

pub fn rows(out: &mut Vec<Row>) {
    out.extend([
        row(
            spec("session_template_save", &[(Verb::Post, "/api/sessions/templates/save")], WRITE, Kind::Write, "Keep by name which list or record of the page is taken, by selectors that last.\nThe answer shows what it takes of the page as it is now."),
            save,
        ),
        row(
            spec("session_template_apply", &[(Verb::Post, "/api/sessions/templates/apply")], WRITE, Kind::Write, "Take of a page what a template takes.\nAn answer without the shape that it had is refused."),
            apply,
        ),
        row(
            spec("session_template_list", &[(Verb::Post, "/api/sessions/templates/list")], READ, Kind::Read, "List templates."),
            list,
        ),
        row(
            spec("session_template_show", &[(Verb::Post, "/api/sessions/templates/show")], READ, Kind::Read, "Show a template."),
            show,
        ),
        row(
            spec("session_template_remove", &[(Verb::Post, "/api/sessions/templates/remove")], WRITE, Kind::Write, "Remove a template."),
            remove,
        ),
    ]);
}

fn all(asked: &Asked) -> Templates {
    let owner = asked.who.scopes.as_ref().map_or("", |_| &*asked.who.id);
    Templates::new(&asked.daemon.home.sessions, owner)
}

#[derive(Serialize, JsonSchema)]
struct Saved {
    template: Template,
    /// What it takes of the page; a stranger's.
    data: Value,
}

async fn save(asked: Asked, it: Save) -> Out<Saved> {
    let of = (&asked.who, &*it.context);
    let (url, documents) =
        Desks::with(&asked.daemon, of, async |desk: &mut Desk| desk.drawn().await).await?;
    let wish = Wish { name: it.name, about: it.about, extract: it.extract };
    let (template, data) = Template::of(&documents, &url, &wish)?;
    all(&asked).save(&template)?;
    plain(Saved { template, data })
}

#[derive(Serialize, JsonSchema)]
struct Applied {
    /// Redacted; a stranger's.
    data: Value,
    /// The page that it was taken of.
    url: String,
}

async fn apply(asked: Asked, it: Apply) -> Out<Applied> {
    let template = all(&asked).get(&it.name)?;
    let of = (&asked.who, &*it.context);
    let (url, documents) = Desks::with(&asked.daemon, of, async |desk: &mut Desk| {
        if let Some(url) = it.url {
            desk.run(Command::Goto(url)).await?;
        }
        desk.drawn().await
    })
    .await?;
    plain(Applied { data: template.apply(&documents)?, url })
}

#[derive(Serialize, JsonSchema)]
struct Listed {
    templates: Vec<Template>,
}

async fn list(asked: Asked, _: Nothing) -> Out<Listed> {
    plain(Listed { templates: all(&asked).list()? })
}

async fn show(asked: Asked, it: Named) -> Out<Template> {
    plain(all(&asked).get(&it.name)?)
}

#[derive(Serialize, JsonSchema)]
struct Removed {
    removed: bool,
}

async fn remove(asked: Asked, it: Named) -> Out<Removed> {
    all(&asked).remove(&it.name)?;
    plain(Removed { removed: true })
}
