//! `commis recipe export`

use std::path::{Path, PathBuf};

use serde_json::json;

use super::{Global, context, learn_args::pairs, names, redact};
use commis_base::{
    error::{Code, Error, Result},
    files::Dir,
    ids::RecipeName,
};
use commis_export::{ExportFormat, ExportOutput, export};
use commis_recipe::{
    model::{Recipe, Status},
    registry::{Registry, Source},
};

/// Write recipes in the forms of other tools: OpenAPI, Arazzo, curl, Hurl, Python, TypeScript, Postman, tools of models, skills
///
/// One file goes to stdout, several go into the folder of --out. Each says whether and when its recipe was proven. No file
/// holds a key or a cookie: it names the variable of a key. If a form cannot hold something, stderr names it with the reason.
/// The exit code is 1 if you named that recipe.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  commis export shop-search --as curl -p query=lantern
  commis export shop-search city-forecast --as python --out clients.py
  commis export --all --as openapi --out api/")]
pub struct Args {
    /// Names of recipes: `commis list` has them
    #[arg(add = names::recipes(), required_unless_present = "all")]
    names: Vec<String>,
    /// The form
    #[arg(long = "as", value_enum, value_name = "FORM")]
    form: ExportFormat,
    /// A folder, or a file where there is one to write; `-` or absent: stdout
    #[arg(long, value_name = "FOLDER|FILE")]
    out: Option<PathBuf>,
    /// Every recipe in service, and of the library only verified ones
    #[arg(long, conflicts_with = "names")]
    all: bool,
    /// A value in place of the first example, in forms that hold values. Repeatable
    #[arg(short, long = "param", value_name = "NAME=VALUE")]
    param: Vec<String>,
    /// Print JSON: the files with their texts or paths, and the refused recipes
    #[arg(long)]
    pub json: bool,
}

pub fn run(args: Args, global: &Global) -> Result<u8> {
    let (home, _) = context::read(global)?;
    let registry = context::registry(&home)?;
    let recipes =
        if args.all { all(&registry, args.form)? } else { load_named(&registry, args.names)? };
    let given = pairs(&args.param)?;
    let exported = export(&recipes, args.form, &given)?;
    let out = args.out.filter(|it| it.as_os_str() != "-");
    let written = match &out {
        Some(place) => put(place, &exported)?,
        None => Vec::new(),
    };
    if args.json {
        let files: Vec<_> = match &out {
            None => exported.files.iter().map(|it| json!(it)).collect(),
            Some(_) => written.iter().map(|it| json!({"path": it})).collect(),
        };
        context::out(
            &json!({"files": files, "refused": exported.refused, "notes": exported.notes}),
        );
    } else if out.is_some() {
        for it in &written {
            context::line(&context::clean(&it.display().to_string()));
        }
    } else {
        print(&exported)?;
    }
    for it in &exported.notes {
        context::say(&context::clean(it));
    }
    for it in &exported.refused {
        context::say(&context::clean(&format!("{} is not exported: {}", it.name, it.why)));
    }
    let is_asked = !args.all && !exported.refused.is_empty();
    Ok(u8::from(is_asked || exported.files.is_empty()))
}

fn load_named(registry: &Registry, names: Vec<String>) -> Result<Vec<Recipe>> {
    let mut out: Vec<Recipe> = Vec::new();
    for name in names {
        let it = registry.get(&RecipeName::new(name)?)?.recipe;
        if out.iter().all(|seen| seen.name != it.name) {
            out.push(it);
        }
    }
    Ok(out)
}

/// A file that does not parse is listed as broken by `list`. What models read as instructions is made of nothing that nobody here
/// stands for.
fn all(registry: &Registry, form: ExportFormat) -> Result<Vec<Recipe>> {
    let for_models =
        matches!(form, ExportFormat::OpenaiTools | ExportFormat::Mcp | ExportFormat::Skill);
    // Drafts of the library were proven by nobody here.
    let entries = registry.list()?.into_iter();
    let entries = entries.filter(|it| it.source == Source::User || it.is_verified());
    let found = entries.filter_map(|it| it.recipe.ok());
    let wanted =
        |it: &Recipe| it.status != Status::Deprecated && !(for_models && it.trust.is_untrusted());
    Ok(found.filter(wanted).collect())
}

/// Fails with [`Code::Usage`] for several files.
fn print(exported: &ExportOutput) -> Result<()> {
    match &exported.files[..] {
        [] => Ok(()),
        [one] => {
            context::data(one.text.as_bytes());
            Ok(())
        }
        several => Err(Error::new(
            Code::Usage,
            format!("the export has {} files, and stdout takes one", several.len()),
        )
        .hint("name a folder with --out; --json prints them in one document")),
    }
}

/// Writes them, readable by their owner alone. A folder is one that is there, one that is named with a slash at its end, and
/// whatever takes more than one file.
fn put(place: &Path, exported: &ExportOutput) -> Result<Vec<PathBuf>> {
    let is_folder = place.is_dir()
        || place.as_os_str().to_string_lossy().ends_with('/')
        || exported.files.len() > 1
        || exported.files.iter().any(|it| it.path.contains('/'));
    if !is_folder {
        for it in &exported.files {
            redact::write(place, it.text.as_bytes())?;
        }
        return Ok(exported.files.iter().map(|_| place.to_owned()).collect());
    }
    let unusable =
        |err| Error::new(Code::Usage, format!("{} cannot be opened", place.display())).source(err);
    // Of a folder that the user names, links on the way are the user's business.
    let root = if place.is_dir() {
        place.canonicalize().map_err(unusable)?
    } else {
        std::path::absolute(place).map_err(unusable)?
    };
    let mut written = Vec::new();
    for it in &exported.files {
        let (folder, file) = match it.path.rsplit_once('/') {
            Some((folder, file)) => (root.join(folder), file),
            None => (root.clone(), it.path.as_str()),
        };
        if let Some(dir) = Dir::open(&folder, true)? {
            dir.write(file, it.text.as_bytes())?;
        }
        written.push(place.join(&it.path));
    }
    Ok(written)
}
