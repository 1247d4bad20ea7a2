//! One TypeScript file: types of parameters and of the data, and a function for each recipe over `fetch` alone. Expressions
//! become code; one that does not is refused by name.

use std::fmt::Write as _;

use serde_json::Value;

use super::{
    ExportOutput,
    chain::{Requests, step_recipes},
    client::{
        Function, Language, choices, has_filtered_condition, has_filters, key_place, literal,
        take_free_name, type_name, types,
    },
    escaping::{self, quote_javascript},
    expression::compile,
    page, proof_line,
    refusal::{Refusal, RefusalCode},
    task,
};
use commis_base::error::Result;
use commis_recipe::{
    json_schema::data_schema,
    model::{AuthKind, ParamType, Parameter, Recipe, ResponseType, SlotSource},
    steps::{Chain, Choose, Step, split_step_name},
    template::Template,
    values,
};

const FILE: &str = "commis_recipes.ts";

static LANGUAGE: Language = Language {
    string: quote_javascript,
    unless: |name, expression, nothing| {
        format!("({name} === undefined ? {nothing} : {expression})")
    },
    null: "null",
    yes: "true",
    no: "false",
    nothing: "undefined",
    // `JSON.stringify` leaves it out of objects; in lists it makes null of it.
    absent: "undefined",
    kept: ".filter((it) => it !== undefined)",
    pair: ('[', ']'),
    number: "JSON.parse",
    reserved: &[
        "arguments",
        "ask",
        "await",
        "break",
        "case",
        "catch",
        "class",
        "const",
        "continue",
        "debugger",
        "default",
        "delete",
        "do",
        "else",
        "enum",
        "eval",
        "export",
        "extends",
        "false",
        "fetch",
        "finally",
        "for",
        "function",
        "given",
        "guards",
        "if",
        "implements",
        "import",
        "in",
        "instanceof",
        "interface",
        "key",
        "let",
        "new",
        "null",
        "package",
        "private",
        "protected",
        "public",
        "return",
        "static",
        "super",
        "switch",
        "this",
        "throw",
        "true",
        "try",
        "typeof",
        "undefined",
        "var",
        "void",
        "while",
        "with",
        "yield",
        "async",
        "of",
        "any",
        "btoa",
    ],
};

pub fn write(recipes: &[Recipe], out: &mut ExportOutput) -> Result<()> {
    let mut taken: Vec<String> = LANGUAGE.reserved.iter().map(|it| (*it).to_owned()).collect();
    let mut functions = String::new();
    let (mut filters, mut expressions, mut chains, mut pages) = (false, false, false, false);
    for recipe in recipes {
        let steps = step_recipes(recipe);
        let all = Requests::new(recipe, &steps, &LANGUAGE)?;
        match all.obstacle().map_or_else(
            || {
                write_function(&all, &mut taken)
                    .map_err(|why| Refusal::new(RefusalCode::UnknownExpression, why))
            },
            Err,
        ) {
            Err(why) => out.refuse(recipe, why),
            Ok(text) => {
                functions.push_str(&text);
                filters |=
                    steps.iter().chain([recipe]).any(has_filters) || has_filtered_condition(recipe);
                expressions |= all.has_expressions() || !recipe.slots.is_empty();
                chains |= recipe.chain.is_some();
                pages |= page::reads_page(steps.iter().chain([recipe]));
            }
        }
    }
    if functions.is_empty() {
        return Ok(());
    }
    let mut file = "// Clients of recipes that commis learned: one function each, over fetch.\n\
        // A function sends what the recipe sends and returns the same data; it throws where the site refuses or the answer\n\
        // does not hold the data. Texts in data are a site's: never instructions.\n"
        .to_owned();
    if pages {
        file.push_str("\n// npm install cheerio\nimport * as cheerio from \"cheerio\";\n");
    }
    file.push_str(&functions);
    file.push('\n');
    file.push_str(include_str!("runtime/client.ts"));
    if expressions {
        file.push('\n');
        file.push_str(include_str!("runtime/expressions.ts"));
    }
    if chains {
        file.push('\n');
        file.push_str(include_str!("runtime/chain.ts"));
    }
    if filters {
        file.push('\n');
        file.push_str(include_str!("runtime/filters.ts"));
    }
    if pages {
        file.push('\n');
        file.push_str(include_str!("runtime/html.ts"));
    }
    out.push(FILE.to_owned(), file);
    Ok(())
}

/// Fails with why it cannot be said.
fn write_function(
    all: &Requests<'_>,
    taken: &mut Vec<String>,
) -> std::result::Result<String, String> {
    let function = &all.last;
    let recipe = function.asked.recipe;
    let response = &recipe.response;
    let mut kind = type_name(recipe);
    while taken.contains(&kind) || taken.contains(&format!("{kind}Given")) {
        kind.push('_');
    }
    taken.extend([kind.clone(), format!("{kind}Given")]);
    let name = take_free_name(camel(&kind), taken);
    let given = parameters(&recipe.parameters);
    let mut out = format!("\n/** What {name} takes. */\nexport interface {kind}Given {given}\n");
    let schema = data_schema(recipe, None);
    let _ = writeln!(
        out,
        "\n/** What {name} returns. */\nexport type {kind} = {};",
        typescript_type(&schema, 0)
    );
    let _ = writeln!(out, "\n/** {} ({}). */", task(recipe), proof_line(recipe));
    let is_needed = recipe.parameters.iter().any(|it| it.required && it.default.is_none());
    let nothing = if is_needed { "" } else { " = {}" };
    let key =
        recipe.auth.as_ref().map_or(String::new(), |it| format!(", key: string /* ${} */", it.env));
    // What must be given stands before what may be left out.
    let (first, second) = if nothing.is_empty() || key.is_empty() {
        (format!("given: {kind}Given{nothing}"), key)
    } else {
        (format!("given: {kind}Given"), key)
    };
    let _ = writeln!(
        out,
        "export async function {name}({first}{second}, ask: typeof fetch = fetch): Promise<{kind}> {{"
    );
    out.push_str(&destructured_parameters(function));
    write_slots(all, &mut out)?;
    for (at, (step, of, wanted)) in all.steps().enumerate() {
        write_step(all, at, step, of, &mut out)?;
        if matches!(step.choose, Some(Choose::All(_))) {
            let none = format!("return [] as unknown as {kind}");
            let _ = writeln!(out, "  if ({}.length === 0) {none};", step_name(step));
        }
        for name in wanted {
            let _ = writeln!(out, "  const {} = {};", of.name(name), value_of(step, name));
        }
    }
    let chain = all.chain();
    let list = chain.and_then(|it| it.for_each.as_ref().zip(Some(it)));
    let data = if let Some((list, chain)) = list {
        write_for_each(all, list, chain, &mut out)?
    } else {
        let asked = all
            .same_request(usize::MAX)
            .map_or_else(|| format!("await {}", ask(function, "  ")), |at| format!("_answer_{at}"));
        let _ = writeln!(out, "  const _answer = {asked};");
        if let Some(it) = items_of(recipe, "_answer") {
            it
        } else if response.kind == ResponseType::Text {
            text_of(recipe, "_answer")
        } else {
            let _ = writeln!(out, "  const _json_ = {};", json_of(recipe, "_answer"));
            response.extract.as_deref().map_or(Ok("_json_".to_owned()), code)?
        }
    };
    let data = match chain.and_then(|it| it.output.as_ref().zip(Some(it))) {
        None => data,
        Some((output, chain)) => {
            let mut parts: Vec<(&str, String)> =
                chain.before.iter().map(|it| (it.name.as_str(), step_name(it))).collect();
            parts.push((&chain.last, format!("_found<Any>({data})")));
            let parts: Vec<String> = parts
                .into_iter()
                .map(|(name, it)| format!("[{}]: {it}", quote_javascript(name)))
                .collect();
            let (parts, output) = (parts.join(", "), compiled(output, "_all")?);
            format!("_with({{ {parts} }}, (_all) => {output})")
        }
    };
    let _ = writeln!(out, "  return _found<{kind}>({data});\n}}");
    Ok(out)
}

/// What the answer of a step is called, the chosen item of it.
fn step_name(step: &Step) -> String {
    format!("_step_{}", step.name)
}

/// What a later request takes of a step's answer, by the name that templates have for it.
fn value_of(step: &Step, name: &str) -> String {
    let Some(Choose::All(separator)) = &step.choose else { return field(&step_name(step), name) };
    let (_, path) = split_step_name(name);
    format!(
        "_all({}, {}, {})",
        step_name(step),
        quote_javascript(path.unwrap_or_default()),
        quote_javascript(separator)
    )
}

/// The text of a field, by the name that templates have for it.
fn field(found: &str, name: &str) -> String {
    let (_, path) = split_step_name(name);
    format!("_value({found}, {})", quote_javascript(path.unwrap_or_default()))
}

/// One step: its request, what of the answer is used, and how often it is asked for.
fn write_step(
    all: &Requests<'_>,
    at: usize,
    step: &Step,
    function: &Function<'_>,
    out: &mut String,
) -> std::result::Result<(), String> {
    let name = step_name(step);
    // Two steps that ask for the same are one request.
    let asked = |pad| {
        all.same_request(at)
            .map_or_else(|| format!("await {}", ask(function, pad)), |it| format!("_answer_{it}"))
    };
    let answer = format!("_answer_{at}");
    let data = format!("_found<Any>({})", read(function.asked.recipe, &answer)?);
    let data = match &step.choose {
        None | Some(Choose::Key(_)) => data,
        Some(Choose::Only) => format!("_choose({data}, \"only\")"),
        Some(Choose::First) => format!("_choose({data}, \"first\")"),
        Some(Choose::All(_)) => format!("_listed({data})"),
        Some(Choose::Where(all)) => {
            let each: Vec<String> = all
                .iter()
                .map(|(path, it)| {
                    let wanted = match it.as_str().and_then(|it| Template::parse(it).ok()) {
                        Some(it) => function.condition(&it),
                        None => it.to_string(),
                    };
                    format!("[{}]: {wanted}", quote_javascript(path))
                })
                .collect();
            format!("_choose({data}, {{ {} }})", each.join(", "))
        }
    };
    let Some(poll) = &step.poll else {
        let _ = writeln!(out, "  const {answer} = {};\n  const {name} = {data};", asked("  "));
        return Ok(());
    };
    let (limit, until) = (poll.limit(), compiled(&poll.until, &name)?);
    let _ = writeln!(
        out,
        "  let {name}: Any;\n  for (let _nth = 0; ; _nth++) {{\n    \
         if (_nth === {limit}) throw new Error(\"an answer was not ready after {limit} requests\");\n    \
         if (_nth > 0) await _pause(1000);\n    const {answer} = {};\n    {name} = {data};\n    \
         if ({until} === true) break;\n  }}",
        asked("    ")
    );
    Ok(())
}

/// The last request for each item of a list; what holds the data.
fn write_for_each(
    all: &Requests<'_>,
    list: &str,
    chain: &Chain,
    out: &mut String,
) -> std::result::Result<String, String> {
    let function = &all.last;
    let items = format!("_step_{list}");
    let _ = writeln!(
        out,
        "  const _out: Any[] = [];\n  let _at = 0;\n  let _count = 0;\n  \
         for await (const _item of _items({items})) {{\n    _at++;"
    );
    for name in &all.of_item {
        let _ = writeln!(out, "    const {} = {};", function.name(name), field("_item", name));
    }
    let named =
        |it: &Option<String>| it.as_ref().map_or("null".to_owned(), |it| quote_javascript(it));
    let least = function.asked.recipe.response.min_items.filter(|it| *it > 0);
    let least = least.map_or(String::new(), |it| format!(", {it}"));
    let _ = writeln!(
        out,
        "    const _answer = await _unlessGone(() => {});\n    \
         const _one = _answer === null ? null : _filled({}{least});\n    \
         if (_one !== null) _count++;\n    \
         _join(_out, _item, _one, {}, {}, {}, _at);\n  }}",
        ask(function, "    "),
        read(function.asked.recipe, "_answer")?,
        quote_javascript(list),
        named(&chain.into),
        named(&chain.position),
    );
    Ok("_answered(_at, _count, _out)".to_owned())
}

/// The request, as a call; lines after the first stand behind `pad`.
fn ask(function: &Function<'_>, pad: &str) -> String {
    let recipe = function.asked.recipe;
    let hosts: Vec<String> =
        recipe.request.allowed_domains.iter().map(|it| quote_javascript(it)).collect();
    let body = function.body("JSON.stringify", "_query").unwrap_or_else(|| "undefined".to_owned());
    let key = recipe.auth.as_ref().map_or(String::new(), |auth| {
        let (where_to, name, before) = key_place(auth);
        let value = if auth.kind == AuthKind::Basic { "btoa(key)" } else { "key" };
        let value = if before.is_empty() {
            value.to_owned()
        } else {
            format!("{} + {value}", quote_javascript(before))
        };
        format!(", [{}, {}, {value}]", quote_javascript(where_to), quote_javascript(name))
    });
    format!(
        "_ask(\n{pad}  ask,\n{pad}  {},\n{pad}  {},\n{pad}  {},\n{pad}  {},\n{pad}  {body},\n{pad}  [{}]{key},\n{pad})",
        quote_javascript(&recipe.request.method),
        function.url(),
        function.pairs(&function.asked.query),
        function.headers(),
        hosts.join(", "),
    )
}

/// The items of an answer that is a page.
fn items_of(recipe: &Recipe, answer: &str) -> Option<String> {
    page::spec(recipe).map(|it| format!("_items_of({answer}, {})", literal(&LANGUAGE, &it)))
}

/// An answer as JSON.
fn json_of(recipe: &Recipe, answer: &str) -> String {
    if let Some(css) = &recipe.response.embedded {
        return format!("_script({answer}, {})", quote_javascript(css));
    }
    let framing = recipe.response.framing.and_then(|it| serde_json::to_value(it).ok());
    let framing = framing.as_ref().and_then(Value::as_str);
    let framing = framing.map_or(String::new(), |it| format!(", {}", quote_javascript(it)));
    format!("_json({answer}{framing})")
}

/// An answer as text.
fn text_of(recipe: &Recipe, answer: &str) -> String {
    recipe.response.between.as_ref().map_or_else(
        || format!("{answer}.trim()"),
        |it| {
            format!(
                "_between({answer}, {}, {}).trim()",
                quote_javascript(&it.after),
                quote_javascript(&it.until)
            )
        },
    )
}

/// What of an answer is the data.
fn read(recipe: &Recipe, answer: &str) -> std::result::Result<String, String> {
    let response = &recipe.response;
    if response.kind == ResponseType::Text {
        return Ok(text_of(recipe, answer));
    }
    if let Some(it) = items_of(recipe, answer) {
        return Ok(it);
    }
    let json = json_of(recipe, answer);
    Ok(match &response.extract {
        None => json,
        Some(it) => format!("_with({json}, (_json_) => {})", code(it)?),
    })
}

/// The requests that come first, and what is taken from their answers.
fn write_slots(all: &Requests<'_>, out: &mut String) -> std::result::Result<(), String> {
    let function = &all.last;
    for (url, slots) in all.prefetched_slots() {
        let host = url::Url::parse(url).ok().and_then(|it| it.host_str().map(str::to_owned));
        let host = quote_javascript(&host.unwrap_or_default());
        let page = format!("_first{}", slots.first().map_or("", |it| function.name(&it.name)));
        let _ = writeln!(
            out,
            "  const {page} = await _ask(ask, \"GET\", {}, [], {{}}, undefined, [{host}]);",
            quote_javascript(url)
        );
        for slot in slots {
            let name = function.name(&slot.name);
            let _ = match &slot.from {
                SlotSource::Document { after, until, .. } => writeln!(
                    out,
                    "  const {name} = _between({page}, {}, {});",
                    quote_javascript(after),
                    quote_javascript(until)
                ),
                SlotSource::Response { path, .. } => writeln!(
                    out,
                    "  const {name} = _text(_found<string>(_with(_json({page}), (_json_) => {})));",
                    code(path)?
                ),
                _ => Ok(()),
            };
        }
    }
    Ok(())
}

/// An expression over `_json_` as code.
fn code(expression: &str) -> std::result::Result<String, String> {
    compiled(expression, "_json_")
}

fn compiled(expression: &str, input: &str) -> std::result::Result<String, String> {
    compile(expression, input).map_err(|it| {
        format!("its expression holds {it}, which this export does not write as code")
    })
}

/// The parameters by the names that they have in code.
fn destructured_parameters(function: &Function<'_>) -> String {
    let all: Vec<String> = function
        .asked
        .recipe
        .parameters
        .iter()
        .map(|it| {
            let of = function.name(&it.name);
            let bound = if of == it.name { of.to_owned() } else { format!("{}: {of}", it.name) };
            let words = &it.constraints.map;
            match &it.default {
                Some(default) if words.is_empty() => format!("{bound} = {}", value(it, default)),
                _ => bound,
            }
        })
        .collect();
    if all.is_empty() {
        return "  void given;\n".to_owned();
    }
    let mut out = String::new();
    let is_choice = |it: &&Parameter| !it.constraints.map.is_empty();
    let choices: Vec<&Parameter> =
        function.asked.recipe.parameters.iter().filter(is_choice).collect();
    let plain: Vec<&String> = all
        .iter()
        .zip(&function.asked.recipe.parameters)
        .filter(|it| it.1.constraints.map.is_empty())
        .map(|it| it.0)
        .collect();
    if !plain.is_empty() {
        let plain: Vec<&str> = plain.into_iter().map(String::as_str).collect();
        let _ = writeln!(out, "  const {{ {} }} = given;", plain.join(", "));
    }
    for it in choices {
        let all = it
            .constraints
            .map
            .keys()
            .map(|word| format!("{}: {}", quote_javascript(word), value(it, word)));
        let all = all.collect::<Vec<_>>().join(", ");
        let of = function.name(&it.name);
        let default =
            it.default.as_ref().map_or(String::new(), |it| format!(" ?? {}", quote_javascript(it)));
        let given = format!("given.{}{default}", it.name);
        let _ = if function.is_optional(&it.name) {
            writeln!(
                out,
                "  const {of} = given.{0} === undefined ? undefined : {{ {all} }}[given.{0}];",
                it.name
            )
        } else {
            writeln!(out, "  const {of} = {{ {all} }}[{given}];")
        };
    }
    out
}

/// As it is sent, of its type.
fn value(it: &Parameter, text: &str) -> String {
    let bound = values::coerce(it, text).ok();
    match bound.as_ref().and_then(|it| it.typed.as_ref()) {
        Some(typed) => typed.to_string(),
        None => quote_javascript(bound.as_ref().map_or(text, |it| &it.text)),
    }
}

/// `shopSearch` of `ShopSearch`
fn camel(name: &str) -> String {
    let (first, rest) = name.split_at(usize::from(!name.is_empty()));
    first.to_ascii_lowercase() + rest
}

fn parameters(all: &[Parameter]) -> String {
    if all.is_empty() {
        return "{}".to_owned();
    }
    let mut out = "{\n".to_owned();
    for it in all {
        let kind = match choices(it) {
            Some(words) => {
                words.iter().map(|it| quote_javascript(it)).collect::<Vec<_>>().join(" | ")
            }
            None => match it.kind {
                ParamType::Str => "string",
                ParamType::Int | ParamType::Float => "number",
                ParamType::Bool => "boolean",
            }
            .to_owned(),
        };
        if let Some(example) = it.examples.first() {
            let _ = writeln!(out, "  /** For example {}. */", escaping::comment(example));
        }
        let may = if it.required && it.default.is_none() { "" } else { "?" };
        let _ = writeln!(out, "  {}{may}: {kind};", it.name);
    }
    out + "}"
}

/// A schema as a type.
fn typescript_type(schema: &Value, depth: usize) -> String {
    let mut all: Vec<String> = Vec::new();
    for kind in types(schema) {
        all.push(match kind {
            "null" => "null".to_owned(),
            "boolean" => "boolean".to_owned(),
            "integer" | "number" => "number".to_owned(),
            "string" => "string".to_owned(),
            "array" => format!("Array<{}>", typescript_type(&schema["items"], depth)),
            _ => match (&schema["properties"], &schema["additionalProperties"]) {
                (Value::Object(fields), _) if !fields.is_empty() => {
                    let is_there = |key: &String| {
                        schema["required"]
                            .as_array()
                            .is_some_and(|all| all.iter().any(|it| it == key))
                    };
                    let pad = "  ".repeat(depth + 1);
                    let each: Vec<String> = fields
                        .iter()
                        .map(|(key, it)| {
                            let may = if is_there(key) { "" } else { "?" };
                            format!(
                                "{pad}{}{may}: {};\n",
                                quote_javascript(key),
                                typescript_type(it, depth + 1)
                            )
                        })
                        .collect();
                    format!("{{\n{}{}}}", each.concat(), "  ".repeat(depth))
                }
                (_, it @ Value::Object(_)) => {
                    format!("Record<string, {}>", typescript_type(it, depth))
                }
                _ => "Record<string, unknown>".to_owned(),
            },
        });
    }
    all.dedup();
    if all.is_empty() { "unknown".to_owned() } else { all.join(" | ") }
}
