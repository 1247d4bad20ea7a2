//! What clients in Python and TypeScript share: names that are free, and a request's parts as expressions of either.

use serde_json::Value;

use super::{
    escaping, page,
    refusal::{Refusal, RefusalCode},
    resolved_request::{Body, RequestParts, answer_reason, commis_only_reason},
};
use commis_recipe::{
    model::{Auth, AuthKind, Pair, ParamType, Parameter, Recipe},
    request::{is_raw, is_raw_in_value},
    template::{Filter, Piece, Template},
};

/// How a language writes what the other one writes otherwise.
pub struct Language {
    pub string: fn(&str) -> String,
    /// An expression, unless that name stands for nothing; then the third.
    pub unless: fn(&str, &str, &str) -> String,
    pub null: &'static str,
    pub yes: &'static str,
    pub no: &'static str,
    /// In a list of pairs.
    pub nothing: &'static str,
    /// In JSON.
    pub absent: &'static str,
    /// What a list is made smaller by where elements may be absent.
    pub kept: &'static str,
    pub pair: (char, char),
    /// A number of JSON from its text.
    pub number: &'static str,
    /// Names that mean something in it, or in the runtime.
    pub reserved: &'static [&'static str],
}

/// A recipe as a function.
pub struct Function<'a> {
    pub asked: RequestParts<'a>,
    pub language: &'a Language,
    /// Names of parameters, slots and values of earlier answers, and how they are called.
    names: Vec<(String, String)>,
}

/// Why no client can be written.
pub fn obstacle(recipe: &Recipe, asked: &RequestParts<'_>) -> Option<Refusal> {
    let key_and_slot = recipe.auth.is_some() && !asked.slots.is_empty();
    let why = commis_only_reason(recipe).or_else(|| page::obstacle(recipe));
    why.or_else(|| answer_reason(recipe)).or_else(|| {
        key_and_slot.then(|| {
            let why = "it needs a key and a value of an earlier answer, both at once";
            Refusal::new(RefusalCode::UnsendableRequest, why)
        })
    })
}

/// A value of JSON as that language writes it.
pub fn literal(language: &Language, value: &Value) -> String {
    match value {
        Value::Null => language.null.to_owned(),
        Value::Bool(true) => language.yes.to_owned(),
        Value::Bool(false) => language.no.to_owned(),
        Value::Number(it) => it.to_string(),
        Value::String(it) => (language.string)(it),
        Value::Array(all) => {
            let all: Vec<String> = all.iter().map(|it| literal(language, it)).collect();
            format!("[{}]", all.join(", "))
        }
        Value::Object(all) => {
            let one = |(name, it): (&String, &Value)| {
                format!("{}: {}", (language.string)(name), literal(language, it))
            };
            format!("{{{}}}", all.iter().map(one).collect::<Vec<_>>().join(", "))
        }
    }
}

/// A name that is none of `taken`, and is now.
pub fn take_free_name(wanted: String, taken: &mut Vec<String>) -> String {
    let mut out = wanted;
    while taken.contains(&out) {
        out.push('_');
    }
    taken.push(out.clone());
    out
}

impl<'a> Function<'a> {
    /// `fields` are names of templates that stand for a value of an earlier step: `channels.id`.
    pub fn with_fields(asked: RequestParts<'a>, language: &'a Language, fields: &[String]) -> Self {
        let mut taken: Vec<String> = language.reserved.iter().map(|it| (*it).to_owned()).collect();
        let recipe = asked.recipe;
        let all = recipe.parameters.iter().map(|it| it.name.as_str());
        let names: Vec<(String, String)> = all
            .chain(recipe.slots.iter().map(|it| it.name.as_str()))
            .chain(fields.iter().map(String::as_str))
            .map(|name| {
                // What begins with `_` is the runtime's.
                let bare = name.strip_prefix('_').map_or(name.to_owned(), |it| format!("p_{it}"));
                let bare = bare.replace(['.', '-'], "_");
                (name.to_owned(), take_free_name(bare, &mut taken))
            })
            .collect();
        Self { asked, language, names }
    }

    pub fn name(&self, of: &str) -> &str {
        self.names.iter().find(|it| it.0 == *of).map_or("", |it| it.1.as_str())
    }

    pub fn parameter(&self, name: &str) -> Option<&'a Parameter> {
        self.asked.recipe.parameters.iter().find(|it| it.name == name)
    }

    /// Whether the caller may give nothing, and then nothing is sent.
    pub fn is_optional(&self, name: &str) -> bool {
        self.parameter(name).is_some_and(|it| !it.required && it.default.is_none())
    }

    /// `_lower(_text(q))`
    fn value(&self, name: &str, filters: &[Filter]) -> String {
        let of = self.name(name).to_owned();
        let is_text = self.parameter(name).is_none_or(|it| it.kind == ParamType::Str);
        let text = if is_text { of } else { format!("_text({of})") };
        filters.iter().fold(text, |it, filter| format!("_{}({it})", filter_function(*filter)))
    }

    /// Text, without a thought of what may be missing.
    pub fn text(&self, template: &Template) -> String {
        let parts: Vec<String> = template
            .pieces()
            .map(|it| match it {
                Piece::Literal(text) => (self.language.string)(text),
                Piece::Value(name, filters) => self.value(name, filters),
            })
            .collect();
        if parts.is_empty() { (self.language.string)("") } else { parts.join(" + ") }
    }

    /// A text of a condition: empty where its value is not given.
    pub fn condition(&self, template: &Template) -> String {
        let nothing = (self.language.string)("");
        self.unless_absent(template, self.text(template), &nothing)
    }

    fn unless_absent(&self, template: &Template, expression: String, nothing: &str) -> String {
        let mut out = expression;
        let mut seen: Vec<&str> = Vec::new();
        for name in template.names() {
            if self.is_optional(name) && !seen.contains(&name) {
                seen.push(name);
                out = (self.language.unless)(self.name(name), &out, nothing);
            }
        }
        out
    }

    /// Origin and path.
    pub fn url(&self) -> String {
        let mut parts: Vec<String> = Vec::new();
        let mut literal = self.asked.origin.to_owned();
        for (n, template) in self.asked.path.iter().enumerate() {
            if n > 0 {
                literal.push('/');
            }
            let whole = template.pieces().count() == 1;
            for piece in template.pieces() {
                match piece {
                    Piece::Literal(it) => literal.push_str(&escaping::encode_path(it)),
                    Piece::Value(name, filters) => {
                        parts.push((self.language.string)(&std::mem::take(&mut literal)));
                        let encode = if whole { "_segment" } else { "_quoted" };
                        parts.push(format!("{encode}({})", self.value(name, filters)));
                    }
                }
            }
        }
        if !literal.is_empty() {
            parts.push((self.language.string)(&literal));
        }
        parts.join(" + ")
    }

    /// A list of pairs, those without a value among them.
    pub fn pairs(&self, all: &[(&Pair, Template)]) -> String {
        let each = all.iter().map(|(pair, template)| {
            let value = self.unless_absent(template, self.text(template), self.language.nothing);
            let may = if template.is_literal() { is_raw } else { is_raw_in_value };
            let raw: String = pair.raw.chars().filter(|it| *it == ' ' || may(*it)).collect();
            let (open, close) = self.language.pair;
            let name = (self.language.string)(&pair.name);
            if raw.is_empty() {
                format!("{open}{name}, {value}{close}")
            } else {
                format!("{open}{name}, {value}, {}{close}", (self.language.string)(&raw))
            }
        });
        format!("[{}]", each.collect::<Vec<_>>().join(", "))
    }

    pub fn headers(&self) -> String {
        let needed =
            self.asked.headers.iter().filter(|it| !it.1.names().any(|it| self.is_optional(it)));
        let each = needed.map(|(name, template)| {
            format!("{}: {}", (self.language.string)(name), self.text(template))
        });
        format!("{{{}}}", each.collect::<Vec<_>>().join(", "))
    }

    /// A header that may be missing has no place in an object that is always whole.
    pub fn optional_header(&self) -> Option<Refusal> {
        let odd =
            self.asked.headers.iter().find(|it| it.1.names().any(|it| self.is_optional(it)))?;
        let why = format!("its header `{}` may be left out", odd.0);
        Some(Refusal::new(RefusalCode::UnsendableRequest, why))
    }

    /// The body, as what the runtime's functions of these names make of it; `None` for nothing.
    pub fn body(&self, json: &str, form: &str) -> Option<String> {
        Some(match self.asked.body.as_ref()? {
            Body::Json(it) => format!("{json}({})", self.json(it)),
            Body::Form(all) => format!("{form}({})", self.pairs(all)),
            Body::Text(it) => {
                let nothing = (self.language.string)("");
                self.unless_absent(it, self.text(it), &nothing)
            }
        })
    }

    pub fn is_text_body(&self) -> bool {
        matches!(self.asked.body, Some(Body::Text(_)))
    }

    fn json(&self, value: &Value) -> String {
        match value {
            Value::Null => self.language.null.to_owned(),
            Value::Bool(true) => self.language.yes.to_owned(),
            Value::Bool(false) => self.language.no.to_owned(),
            Value::Number(it) => it.to_string(),
            Value::String(it) => match Template::parse(it) {
                Ok(it) => self.json_text(&it),
                Err(_) => (self.language.string)(it),
            },
            Value::Array(all) => {
                let each: Vec<String> = all.iter().map(|it| self.json(it)).collect();
                let may_lack = |it: &Value| {
                    let template = it.as_str().and_then(|it| Template::parse(it).ok());
                    template.is_some_and(|it| it.names().any(|it| self.is_optional(it)))
                };
                let kept = if all.iter().any(may_lack) { self.language.kept } else { "" };
                format!("[{}]{kept}", each.join(", "))
            }
            Value::Object(all) => {
                let each: Vec<String> = all
                    .iter()
                    .map(|(key, it)| format!("{}: {}", (self.language.string)(key), self.json(it)))
                    .collect();
                format!("{{{}}}", each.join(", "))
            }
        }
    }

    fn json_text(&self, template: &Template) -> String {
        let typed = template
            .single_name()
            .filter(|name| self.parameter(name).is_some_and(|it| it.kind != ParamType::Str));
        let expression = match typed {
            Some(name) => self.name(name).to_owned(),
            None if template.is_number() => {
                format!("{}({})", self.language.number, self.text(template))
            }
            None => self.text(template),
        };
        self.unless_absent(template, expression, self.language.absent)
    }
}

/// As the runtime calls it: `_json` is something else there.
fn filter_function(filter: Filter) -> &'static str {
    match filter {
        Filter::Json => "inside_json",
        it => it.as_str(),
    }
}

/// Where a key goes: `header` or `query`, its name, and what stands before the value.
pub fn key_place(auth: &Auth) -> (&'static str, &str, &'static str) {
    match (auth.kind, &auth.header, &auth.query) {
        (AuthKind::Bearer, ..) => ("header", "authorization", "Bearer "),
        (AuthKind::Basic, ..) => ("header", "authorization", "Basic "),
        (AuthKind::ApiKey, _, Some(name)) => ("query", name, ""),
        (AuthKind::ApiKey, Some(name), None) => ("header", name, ""),
        (AuthKind::ApiKey, None, None) => ("header", "authorization", ""),
    }
}

/// Whether some value is spelled by a filter.
pub fn has_filters(recipe: &Recipe) -> bool {
    serde_json::to_value(&recipe.request).is_ok_and(|it| spells(&it))
}

/// The same of what items are chosen by.
pub fn has_filtered_condition(recipe: &Recipe) -> bool {
    let steps = recipe.chain.iter().flat_map(|it| &it.before);
    serde_json::to_value(steps.map(|it| &it.choose).collect::<Vec<_>>()).is_ok_and(|it| spells(&it))
}

fn spells(value: &Value) -> bool {
    match value {
        Value::String(it) => Template::parse(it).is_ok_and(|it| it.has_filters()),
        Value::Array(all) => all.iter().any(spells),
        Value::Object(all) => all.values().any(spells),
        _ => false,
    }
}

/// `ShopSearch`
pub fn type_name(recipe: &Recipe) -> String {
    let words = recipe.name.as_str().split('-').map(|it| {
        let (first, rest) = it.split_at(usize::from(!it.is_empty()));
        first.to_ascii_uppercase() + rest
    });
    let out: String = words.collect();
    if out.starts_with(|it: char| it.is_ascii_digit()) { format!("R{out}") } else { out }
}

/// The types that a schema says a value may have, in the order that they are written.
pub fn types(schema: &Value) -> Vec<&str> {
    match &schema["type"] {
        Value::String(one) => vec![one.as_str()],
        Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// Choices of a parameter.
pub fn choices(it: &Parameter) -> Option<Vec<&str>> {
    let limits = &it.constraints;
    if !limits.map.is_empty() {
        return Some(limits.map.keys().map(String::as_str).collect());
    }
    (it.kind == ParamType::Str && !limits.one_of.is_empty())
        .then(|| limits.one_of.iter().map(String::as_str).collect())
}
