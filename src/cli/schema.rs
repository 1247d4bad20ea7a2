//! `commis recipe schema`

use super::context;
use commis_batch::manifest;
use commis_recipe::yaml;

/// Print the JSON Schema of recipe files, or of manifests
///
/// Editors with yaml-language-server complete and check a file by it. Recipes that commis writes name the schema in their first
/// line; add such a line to a manifest yourself.
///
/// Example: commis recipe schema --manifest > manifest.schema.json
#[derive(clap::Args)]
pub struct Args {
    /// The schema of manifests
    #[arg(long)]
    manifest: bool,
}

pub fn run(args: &Args) -> u8 {
    context::out(&if args.manifest { manifest::schema() } else { yaml::schema() });
    0
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::Value;

    use super::*;
    use commis_recipe::library;

    fn read(text: &str) -> Value {
        yaml::parse_strict(text, 100_000, 64).unwrap()
    }

    #[test]
    fn what_is_read_fits_its_schema() {
        let recipes = jsonschema::validator_for(&yaml::schema()).unwrap();
        for name in library::NAMES {
            let it = read(library::text(name).unwrap());
            let wrong: Vec<String> = recipes.iter_errors(&it).map(|it| it.to_string()).collect();
            assert!(wrong.is_empty(), "{name}: {wrong:?}");
        }
        let manifests = jsonschema::validator_for(&manifest::schema()).unwrap();
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        for file in
            ["manifests/quickstart.yaml", "corpus/manifest.yaml", "examples/batch/mine.yaml"]
        {
            let it = read(&std::fs::read_to_string(root.join(file)).unwrap());
            let wrong: Vec<String> = manifests.iter_errors(&it).map(|it| it.to_string()).collect();
            assert!(wrong.is_empty(), "{file}: {wrong:?}");
        }
    }

    #[test]
    fn what_is_refused_does_not_fit() {
        let schema = jsonschema::validator_for(&manifest::schema()).unwrap();
        let check = |entry: &str, fits: bool| {
            let text = format!(
                "version: 1\nrecipes: [{{name: a, task: t, url: 'http://a.test/'{entry}}}]"
            );
            assert_eq!(schema.is_valid(&read(&text)), fits, "{entry}");
        };
        check("", true);
        check(", nope: 1", false);
        check(", examples: {q: a}", false);
        for (step, fits) in [
            ("press: Enter", true),
            ("press: [Enter]", false),
            ("sleep: 3", false),
            ("click: {role: link, name: Next}", true),
            ("click: {role: link, name: Next, nth: 2}", true),
            ("click: {css: a}", true),
            ("click: {role: link}", false),
            ("click: {name: Next}", false),
            ("click: {role: link, name: Next, css: a}", false),
            ("click: {label: Next, placeholder: x}", false),
            ("click: {css: a, nth: 0}", false),
            ("click: {css: a, value: x}", false),
            ("click: {}", false),
            ("fill: {role: textbox, name: Town}", false),
            ("fill: {role: textbox, name: Town, value: x}", true),
            ("select: {name: Kind, value: Fish}", true),
            ("select: {name: Kind}", false),
            ("check: {name: Kind}", true),
            ("scroll: {to: bottom}", true),
            ("scroll: {to: top}", false),
            ("scroll: {css: a}", true),
            ("dialog: accept", true),
            ("dialog: maybe", false),
            ("frame: main", true),
            ("frame: {url: x}", true),
            ("frame: other", false),
            ("wait_for: {text: a}", true),
            ("wait_for: {text: a, selector: b}", false),
        ] {
            check(&format!(", record: [{step}]"), fits);
        }
    }
}
