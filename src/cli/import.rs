//! `commis import`

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{
    Global,
    context::{self, clean},
    learn_args::pairs,
};
use commis_base::{
    error::{Code, Error, Result},
    files::read_bounded,
    ids::RecipeName,
};
use commis_export::import::{Draft, ImportResult, MAX_FILE, from_hurl, from_openapi};
use commis_net::egress::EgressPolicy;
use commis_recipe::{
    model::{BodyTemplate, Recipe},
    registry::Registry,
    template::Template,
    values,
};

/// Make drafts of recipes from an OpenAPI document, or from a Hurl file with one request
///
/// From OpenAPI 3, in JSON or YAML, each GET becomes a draft, and each POST that the document marks as proven. Only the file
/// itself is read. Values come from its examples, defaults and choices. A draft passes the checks of every recipe, and its host
/// those of the egress policy. A draft names the variable of a key. `commis recipe verify NAME` proves a draft. Exit code 1 if
/// a part of the file was not imported.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  commis import api.yaml --dry-run
  commis import api.yaml --server https://api.example.com/v1 --only find-parts
  commis import search.hurl --example query=lamp && commis recipe verify search")]
pub struct Args {
    /// The file
    file: PathBuf,
    /// Format of the file (default: from its name)
    #[arg(long = "as", value_enum, value_name = "FORM")]
    form: Option<Form>,
    /// Use this server instead of those in the document
    #[arg(long, value_name = "URL")]
    server: Option<String>,
    /// Only drafts of these names
    #[arg(long, value_name = "NAME", num_args = 1..)]
    only: Vec<String>,
    /// One more example of a parameter, for each draft that has it: a proof needs two. Repeatable
    #[arg(long, value_name = "NAME=VALUE")]
    example: Vec<String>,
    /// List the drafts without writing them
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    Openapi,
    Hurl,
}

pub async fn run(args: Args, global: &Global) -> Result<u8> {
    let place = context::open(global).await?;
    let (home, settings) = (&place.home, &place.settings);
    let bytes = read_bounded(&args.file, MAX_FILE as u64)?;
    let text = String::from_utf8(bytes)
        .map_err(|_| Error::new(Code::Usage, format!("{} is not UTF-8", args.file.display())))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut found = match args.form.unwrap_or_else(|| looks(&args.file)) {
        Form::Openapi => from_openapi(text, args.server.as_deref())?,
        Form::Hurl => {
            let name = args.file.file_stem().map_or("recipe".into(), |it| it.to_string_lossy());
            from_hurl(text, &name)?
        }
    };
    if !args.only.is_empty() {
        let wanted: Vec<RecipeName> =
            args.only.into_iter().map(RecipeName::new).collect::<Result<_>>()?;
        if let Some(name) =
            wanted.iter().find(|it| !found.drafts.iter().any(|draft| draft.recipe.name == **it))
        {
            let names: Vec<&str> =
                found.drafts.iter().map(|it| it.recipe.name.as_str()).take(20).collect();
            return Err(Error::new(
                Code::Usage,
                format!("the file has no request that becomes `{name}`"),
            )
            .hint(format!("it has {}", names.join(", "))));
        }
        found.drafts.retain(|it| wanted.contains(&it.recipe.name));
        found.refused.clear();
    }
    for (name, value) in pairs(&args.example)? {
        more(&mut found.drafts, &name, &value)?;
    }
    let policy = EgressPolicy::new(&settings.egress)?;
    let registry = context::registry(home)?;
    let mut written: Vec<(Draft, Option<PathBuf>)> = Vec::new();
    let ImportResult { drafts, mut refused } = found;
    for draft in drafts {
        let name = draft.recipe.name.to_string();
        let why = obstacle(&draft.recipe, &policy, &registry);
        if let Some(why) = why {
            refused.push(commis_export::import::RejectedEntry { name, why });
            continue;
        }
        let path = if args.dry_run { None } else { Some(registry.save(&draft.recipe)?) };
        written.push((draft, path));
    }
    if args.json {
        let drafts: Vec<Value> = written
            .iter()
            .map(|(it, path)| json!({"name": it.recipe.name, "path": path, "notes": it.notes, "recipe": it.recipe}))
            .collect();
        context::out(&json!({"drafts": drafts, "refused": refused}));
    } else {
        for (draft, path) in &written {
            let recipe = &draft.recipe;
            let place =
                path.as_ref().map_or("not written".to_owned(), |it| it.display().to_string());
            context::line(&clean(&format!(
                "{}: {} {} ({place})",
                recipe.name, recipe.request.method, recipe.request.url
            )));
            for note in &draft.notes {
                context::say(&clean(&format!("{}: {note}", recipe.name)));
            }
        }
        for it in &refused {
            context::say(&clean(&format!("{} is not taken: {}", it.name, it.why)));
        }
        if written.iter().any(|it| it.1.is_some()) {
            context::say("these are drafts: `commis recipe verify NAME` proves one");
        }
    }
    Ok(u8::from(!refused.is_empty() || written.is_empty()))
}

/// Fails with [`Code::Usage`] where no draft has such a parameter, or a value does not fit.
fn more(drafts: &mut [Draft], name: &str, value: &str) -> Result<()> {
    let mut is_known = false;
    for draft in drafts {
        let Some(it) = draft.recipe.parameters.iter_mut().find(|it| it.name == name) else {
            continue;
        };
        is_known = true;
        values::coerce(it, value).map_err(|err| {
            Error::new(Code::Usage, err.message().to_owned()).hint("--example NAME=VALUE")
        })?;
        if !it.examples.iter().any(|it| it == value) {
            it.examples.push(value.to_owned());
        }
        if it.examples.len() > 1 {
            draft.notes.retain(|it| !it.starts_with(&format!("`{name}` has one example")));
        }
    }
    if is_known {
        return Ok(());
    }
    let shown = clean(name).replace('\n', " ");
    Err(Error::new(Code::Usage, format!("no draft of this file has a parameter `{shown}`"))
        .hint("list the parameters with --dry-run --json"))
}

fn looks(file: &Path) -> Form {
    let is_hurl = file.extension().is_some_and(|it| it.eq_ignore_ascii_case("hurl"));
    if is_hurl { Form::Hurl } else { Form::Openapi }
}

/// Why a draft is not kept.
fn obstacle(recipe: &Recipe, policy: &EgressPolicy, registry: &Registry) -> Option<String> {
    if registry.path(&recipe.name).symlink_metadata().is_ok() {
        return Some("you have a recipe of that name; delete or rename that one first".to_owned());
    }
    let asked = recipe.request.url.replace(['{', '}'], "");
    for url in [&asked, &recipe.source_url] {
        if let Err(err) = policy.check(url) {
            let hint = err.hint_text().map_or(String::new(), |it| format!("; {it}"));
            return Some(format!("{}{hint}", err.message()));
        }
    }
    secret(recipe).map(|(name, why)| {
        format!("`{name}` seems to hold a secret ({why}): write `auth`, which names a variable, or let a parameter bring the value")
    })
}

/// A literal or example that no file should hold.
fn secret(recipe: &Recipe) -> Option<(String, &'static str)> {
    let request = &recipe.request;
    let literals = request.query.iter().map(|it| (&it.name, &it.value));
    let literals = literals.chain(request.headers.iter());
    let form = match &request.body {
        Some(BodyTemplate::Form(all)) => &all[..],
        _ => &[],
    };
    let literals = literals.chain(form.iter().map(|it| (&it.name, &it.value)));
    let literals = literals.filter(|it| Template::parse(it.1).is_ok_and(|it| it.is_literal()));
    let values = recipe
        .parameters
        .iter()
        .flat_map(|it| it.examples.iter().chain(&it.default).map(move |text| (&it.name, text)));
    literals.chain(values).find_map(|(name, text)| {
        let why = commis_redact::typed_secret(name, text)?;
        Some((clean(name).replace('\n', " "), why))
    })
}
