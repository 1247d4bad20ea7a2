//! Templates: which list or record of a page is taken, by selectors that last, kept by name and used again.
//!
//! What is taken is held against the shape it had: an answer without it is refused, because it is another list's or no answer.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use scraper::Html;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use commis_base::{
    error::{Code, Error, Result},
    files::{self, Dir},
    ids::RecipeName,
};
use commis_recipe::{
    blocks::{self, Block, read::HtmlReader},
    document::Document,
    expression::Query,
    model::HtmlSpec,
    shape::{self, VerifiedShape},
};
use commis_state::now_ms;

const END: &str = ".yaml";
const MAX_FILE: usize = 64 << 10;
const MOST: usize = 500;
/// Items that may lack what all had, in ten thousandths.
const LACKING_BP: usize = 2000;
/// How alike an answer's shape has to be, in ten thousandths; as for recipes.
const ALIKE_BP: u32 = 8000;

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Template {
    pub name: String,
    /// The page that it was made on.
    pub url: String,
    /// What is taken of a page.
    pub html: HtmlSpec,
    /// A JMESPath expression that what was taken goes through.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extract: Option<String>,
    /// The shape of the answer: typed paths.
    pub shape: Vec<String>,
    pub saved_ms: i64,
}

/// What is to be taken.
#[derive(Clone, Debug, Default)]
pub struct TemplateRequest {
    pub name: String,
    /// Words of the list or record that is meant; the weightiest when empty.
    pub about: String,
    pub extract: Option<String>,
}

/// Those of one owner.
pub struct TemplateStore {
    folder: PathBuf,
}

fn empty(why: &str) -> Error {
    Error::new(Code::ExtractEmpty, why.to_owned())
        .hint("see the page with `browse text`; save a new template with `session template save`")
}

/// The fields of each item, or of the one thing.
fn extract_fields(html: &HtmlSpec, reader: &HtmlReader, page: &Html) -> Result<Option<Value>> {
    let mut items: Vec<Value> = reader.read(page)?.into_iter().map(Value::Object).collect();
    Ok(match (html.single, items.is_empty()) {
        (_, true) => None,
        (true, false) => Some(items.swap_remove(0)),
        (false, false) => Some(Value::Array(items)),
    })
}

fn items(data: &Value) -> &[Value] {
    data.as_array().map_or(std::slice::from_ref(data), Vec::as_slice)
}

/// Whether too many items lack a field that all had.
fn lacks(html: &HtmlSpec, data: &Value) -> bool {
    let all = items(data);
    html.fields.keys().filter(|it| !html.optional.contains(it)).any(|field| {
        let lacking = all.iter().filter(|it| it[field].is_null()).count();
        lacking * 10_000 > all.len() * LACKING_BP
    })
}

fn through(extract: Option<&str>, data: Value) -> Result<Value> {
    let Some(text) = extract else { return Ok(data) };
    let found = Query::compile(text)?.search(&Document::from(&data))?;
    if found.is_null() {
        return Err(empty("the expression matches nothing in the selected data"));
    }
    Ok(found)
}

/// How many of the words it has.
fn speaks_of(block: &Block, words: &[String]) -> usize {
    let texts = block.rows.iter().take(20).flatten().flatten();
    let all = block.heading.iter().chain(&block.about).chain(&block.fields).chain(texts);
    let text = all.map(|it| it.to_lowercase()).collect::<Vec<_>>().join(" ");
    words.iter().filter(|it| text.contains(it.as_str())).count()
}

impl Template {
    /// Finds what is meant on a page, given as markup of what is drawn: the page and its frames. Fails with `EXTRACT_EMPTY`,
    /// `RECIPE_INVALID`.
    pub fn learn(documents: &[String], url: &str, wish: &TemplateRequest) -> Result<(Self, Value)> {
        let name = RecipeName::new(wish.name.clone())?;
        let words: Vec<String> = wish.about.split_whitespace().map(str::to_lowercase).collect();
        let mut best: Option<(usize, usize, HtmlSpec, Value)> = None;
        for page in documents.iter().filter_map(|it| blocks::parse_bounded(it)) {
            for block in blocks::find(&page, true, false) {
                let score = (speaks_of(&block, &words), block.weight);
                let Some(spec) = block.spec else { continue };
                if best.as_ref().is_some_and(|it| (it.0, it.1) >= score) {
                    continue;
                }
                if let Some(data) = extract_fields(&spec, &HtmlReader::new(&spec)?, &page)? {
                    best = Some((score.0, score.1, spec, data));
                }
            }
        }
        let Some((spoken, _, mut html, data)) = best else {
            return Err(empty("the page has neither a list nor a record"));
        };
        if spoken < words.len() {
            return Err(empty("no list or record of the page has all of these words"));
        }
        for field in html.fields.keys() {
            let has = |it: &Value| !it[field].is_null();
            if !html.optional.contains(field) && !items(&data).iter().all(has) {
                html.optional.push(field.clone());
            }
        }
        let data = through(wish.extract.as_deref(), data)?;
        let it = Self {
            name: name.as_str().to_owned(),
            url: commis_redact::message(url),
            html,
            extract: wish.extract.clone(),
            shape: shape::paths(&data),
            saved_ms: now_ms(),
        };
        Ok((it, redacted(data)))
    }

    /// Takes the same of another page. Fails with `EXTRACT_EMPTY`, and with `SHAPE_DRIFT` where what is there has another shape.
    pub fn apply(&self, documents: &[String]) -> Result<Value> {
        let reader = HtmlReader::new(&self.html)?;
        for page in documents.iter().filter_map(|it| blocks::parse_bounded(it)) {
            let Some(data) = extract_fields(&self.html, &reader, &page)? else { continue };
            let drift = |why: String| {
                Err(Error::new(Code::ShapeDrift, why).hint(
                    "the page has changed, or is another kind of page; save the template again",
                ))
            };
            if lacks(&self.html, &data) {
                return drift("what the page has lacks what this template takes".to_owned());
            }
            let data = through(self.extract.as_deref(), data)?;
            let alike = VerifiedShape::new(&self.shape).similarity_bp(&data);
            if alike < ALIKE_BP {
                return drift(format!(
                    "what the page has is {} % like what this template takes",
                    alike / 100
                ));
            }
            return Ok(redacted(data));
        }
        Err(empty("the page has nothing that this template takes"))
    }
}

/// As all answers.
fn redacted(mut data: Value) -> Value {
    fn walk(it: &mut Value) {
        match it {
            Value::String(text) => *text = commis_redact::message(text),
            Value::Array(all) => all.iter_mut().for_each(walk),
            Value::Object(all) => all.values_mut().for_each(walk),
            _ => {}
        }
    }
    walk(&mut data);
    data
}

impl TemplateStore {
    /// Beside the sessions.
    pub fn new(sessions: &Path, owner: &str) -> Self {
        let folder = sessions.with_file_name("templates");
        let own = (!owner.is_empty()).then(|| RecipeName::slug(owner));
        Self { folder: own.map_or(folder.clone(), |it| folder.join(it.as_str())) }
    }

    fn missing() -> Error {
        Error::new(Code::TaskNotFound, "there is no such template")
            .hint("`session template ls` lists them")
    }

    fn file(name: &str) -> Result<String> {
        RecipeName::new(name.to_owned()).map_err(|_| Self::missing())?;
        Ok(format!("{name}{END}"))
    }

    /// Fails with `ARTIFACT_IO`, and beyond 500.
    pub fn save(&self, it: &Template) -> Result<()> {
        let dir = files::open_or_create(&self.folder)?;
        let name = Self::file(&it.name)?;
        if dir.names()?.len() >= MOST && dir.stat(&name)?.is_none() {
            return Err(Error::new(
                Code::ParamInvalid,
                format!("there are {MOST} templates, which is the limit"),
            )
            .hint("`session template rm` removes one"));
        }
        let yaml = serde_saphyr::to_string(it).map_err(|err| {
            Error::new(Code::Internal, "a template cannot be written").source(err)
        })?;
        dir.write(&name, yaml.as_bytes())
    }

    /// Fails with `TASK_NOT_FOUND`, `ARTIFACT_CORRUPT`.
    pub fn get(&self, name: &str) -> Result<Template> {
        let file = Self::file(name)?;
        let dir = Dir::open(&self.folder, false)?.ok_or_else(Self::missing)?;
        let bytes = dir.read(&file, MAX_FILE)?.ok_or_else(Self::missing)?;
        serde_saphyr::from_str(&String::from_utf8_lossy(&bytes)).map_err(|err| {
            Error::new(Code::ArtifactCorrupt, format!("template {name} is damaged"))
                .hint("`session template rm` removes it")
                .source(err)
        })
    }

    /// By name; damaged ones are left out.
    pub fn list(&self) -> Result<Vec<Template>> {
        let Some(dir) = Dir::open(&self.folder, false)? else { return Ok(Vec::new()) };
        let mut names = dir.names()?;
        names.sort();
        let names = names.iter().filter_map(|it| it.strip_suffix(END));
        Ok(names.filter_map(|it| self.get(it).ok()).collect())
    }

    /// Fails with `TASK_NOT_FOUND`.
    pub fn remove(&self, name: &str) -> Result<()> {
        let file = Self::file(name)?;
        let dir = Dir::open(&self.folder, false)?.ok_or_else(Self::missing)?;
        if dir.remove(&file)? { Ok(()) } else { Err(Self::missing()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(rows: &[(&str, &str)], price: &str) -> Vec<String> {
        let rows: Vec<String> = rows
            .iter()
            .map(|(name, it)| format!("<li class=\"product\"><h3>{name}</h3><span class=\"{price}\">{it}</span><p>Made by hand of the best that there is</p></li>"))
            .collect();
        let rows = rows.concat();
        vec![format!(
            "<body><nav><a href=\"/a\">Home</a><a href=\"/b\">Help</a></nav><h2>Products</h2><ul class=\"products\">{rows}</ul></body>"
        )]
    }

    const KEY: &str = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB";

    #[test]
    fn what_was_taken_once_is_taken_again_or_refused() {
        let wish =
            TemplateRequest { name: "products".into(), about: "lantern".into(), extract: None };
        let first =
            page(&[("Garden lantern", "12 EUR"), ("Hose", "9 EUR"), ("Rake", "7 EUR")], "price");
        let (it, data) = Template::learn(&first, "http://shop.test/", &wish).unwrap();
        assert_eq!(data.as_array().unwrap().len(), 3, "{data}");
        let now = page(&[("Kettle", "30 EUR"), (KEY, "1 EUR")], "price");
        let data = it.apply(&now).unwrap();
        assert!(data[0].to_string().contains("Kettle"), "{data}");
        assert!(!data.to_string().contains(KEY), "{data}");
        assert_eq!(
            it.apply(&["<p>Nothing</p>".to_owned()]).unwrap_err().code(),
            Code::ExtractEmpty
        );
        // The same list without what the template knew of each.
        let other = vec![
            now[0]
                .replace("<h3>", "<b>")
                .replace("</h3>", "</b>")
                .replace("<span", "<i")
                .replace("</span>", "</i>"),
        ];
        let code = it.apply(&other).map_err(|it| it.code());
        assert!(matches!(code, Err(Code::ShapeDrift | Code::ExtractEmpty)), "{code:?}");
        let none = TemplateRequest { about: "lantern zebra".into(), ..wish.clone() };
        assert!(Template::learn(&first, "http://shop.test/", &none).is_err());
        let names = TemplateRequest { extract: Some("length(@)".into()), ..wish };
        let (it, data) = Template::learn(&first, "http://shop.test/", &names).unwrap();
        assert_eq!((data, it.apply(&now).unwrap()), (3.into(), 2.into()));
    }

    #[test]
    fn templates_are_kept_by_name_and_owner() {
        let home = tempfile::tempdir().unwrap();
        let sessions = home.path().join("sessions");
        let (all, other) =
            (TemplateStore::new(&sessions, ""), TemplateStore::new(&sessions, "tok-1"));
        let wish = TemplateRequest { name: "products".into(), ..TemplateRequest::default() };
        let rows = [("Garden lantern", "12 EUR"), ("Hose", "9 EUR"), ("Rake", "7 EUR")];
        let (it, _) = Template::learn(&page(&rows, "price"), "http://shop.test/", &wish).unwrap();
        all.save(&it).unwrap();
        assert_eq!(all.get("products").unwrap().html, it.html);
        assert_eq!((all.list().unwrap().len(), other.list().unwrap().len()), (1, 0));
        for name in ["../products", "", "none"] {
            assert_eq!(all.get(name).unwrap_err().code(), Code::TaskNotFound);
        }
        all.remove("products").unwrap();
        assert!(all.list().unwrap().is_empty() && all.remove("products").is_err());
    }
}
