//! Arazzo 1.0: one workflow for each recipe, and OpenAPI documents of the requests that its steps send.
//!
//! A runtime expression of Arazzo reads a header or goes to a place in a JSON answer, and that is all: an item that is found by its
//! fields, all items, and a request for each item are refused by name. An input is what is sent, as parameters of OpenAPI are:
//! `{city|slug}` becomes the input `city_slug`, a text in that spelling.

use std::cell::RefCell;

use jmespath::ast::Ast;
use serde_json::{Map, Value, json};

use super::{
    ExportOutput,
    chain::{step_recipes, steps_obstacle, unsupported_steps},
    escaping::comment,
    hurl_steps::names_of_path,
    identifier,
    openapi::{Documents, operation, path_values, value_schema},
    proof, proof_line,
    refusal::{Refusal, RefusalCode},
    resolved_request::{Body, RequestParts, commis_only_reason},
    task,
};
use commis_base::error::Result;
use commis_recipe::{
    model::{Recipe, ResponseType},
    request::CompiledRequest,
    steps::{Choose, Poll, Step, split_step_name},
    template::{Filter, Piece, Template},
};

const SOURCE: &str = "requests";

pub fn write(recipes: &[Recipe], out: &mut ExportOutput) -> Result<()> {
    for recipe in recipes {
        let steps = step_recipes(recipe);
        let mut requests: Vec<RequestParts<'_>> =
            steps.iter().map(RequestParts::from_recipe).collect::<Result<_>>()?;
        requests.push(RequestParts::from_recipe(recipe)?);
        let why = commis_only_reason(recipe)
            .or_else(|| requests.iter().find_map(|it| it.earlier_answer_slot("Arazzo")))
            .or_else(|| steps_obstacle(recipe, "Arazzo"));
        let files = match why {
            Some(why) => Err(why),
            None => Workflow { recipe, requests: &requests, given: RefCell::default() }.files(),
        };
        match files {
            Ok(files) => files.into_iter().for_each(|(path, text)| out.push(path, text)),
            Err(why) => out.refuse(recipe, why),
        }
    }
    Ok(())
}

fn several(what: &str) -> Refusal {
    unsupported_steps("Arazzo", what)
}

type ExportResult<T> = std::result::Result<T, Refusal>;

struct Workflow<'a> {
    recipe: &'a Recipe,
    requests: &'a [RequestParts<'a>],
    /// Parameters that the steps use, and how they are spelled.
    given: RefCell<Vec<(String, Vec<Filter>)>>,
}

impl Workflow<'_> {
    /// Paths and texts: the workflow first.
    fn files(&self) -> ExportResult<Vec<(String, String)>> {
        let recipe = self.recipe;
        let name = identifier(&recipe.name);
        let before = recipe.chain.as_ref().map_or(&[][..], |it| &it.before);
        let mut documents = Documents::default();
        let mut sources: Vec<usize> = Vec::new();
        let mut operations: Vec<String> = Vec::new();
        let mut steps: Vec<Value> = Vec::new();
        for (at, asked) in self.requests.iter().enumerate() {
            let step = before.get(at);
            let step_name = self.step_name(at);
            // One request in two steps is one operation.
            let same =
                self.requests[..at].iter().position(|it| it.recipe.request == asked.recipe.request);
            let (source, id) = if let Some(it) = same {
                (sources[it], operations[it].clone())
            } else {
                let id = step.map_or_else(|| name.clone(), |it| format!("{name}_{}", it.name));
                let (path, mut written) = operation(asked);
                written["operationId"] = id.as_str().into();
                if let Some(step) = step {
                    // What is known of the data is known of the last answer.
                    written.as_object_mut().map(|it| it.remove("x-commis-data"));
                    if step.response.kind == ResponseType::Json {
                        written["responses"]["200"]["content"] =
                            json!({"application/json": {"schema": {}}});
                    }
                }
                (documents.add(asked, &path, written), id)
            };
            sources.push(source);
            let mut out = json!({"stepId": step_name, "operationId": id});
            operations.push(id);
            let parameters = self.parameters(asked)?;
            if !parameters.is_empty() {
                out["parameters"] = parameters.into();
            }
            if let Some(it) = self.body(asked)? {
                out["requestBody"] = it;
            }
            let mut criteria = vec![json!({"condition": "$statusCode == 200"})];
            out["outputs"] = match step {
                Some(step) => {
                    if let Some(poll) = &step.poll {
                        criteria.push(json!({"condition": ready(step, poll)?}));
                        out["onFailure"] = json!([{
                            "name": format!("{step_name}_again"), "type": "retry",
                            "retryAfter": 1, "retryLimit": poll.limit() - 1,
                        }]);
                    }
                    self.outputs(step)?
                }
                None => json!({"data": data(recipe)}),
            };
            out["successCriteria"] = criteria.into();
            steps.push(out);
        }
        let files = documents.files();
        if files.len() > 1 {
            // With one document a plain name is all that is needed, and some runners read no other.
            for ((step, id), source) in steps.iter_mut().zip(&operations).zip(&sources) {
                step["operationId"] =
                    format!("$sourceDescriptions.{SOURCE}_{}.{id}", source + 1).into();
            }
        }
        let described: Vec<Value> = files
            .iter()
            .enumerate()
            .map(|(at, (file, _))| {
                json!({
                    "name": format!("{SOURCE}_{}", at + 1),
                    "url": format!("./{}.{file}", recipe.name),
                    "type": "openapi",
                })
            })
            .collect();
        let last = self.step_name(self.requests.len() - 1);
        let workflow = json!({
            "arazzo": "1.0.1",
            "info": {
                "title": task(recipe), "version": "1.0.0",
                "summary": proof_line(recipe), "x-commis-proof": proof(recipe),
            },
            "sourceDescriptions": described,
            "workflows": [{
                "workflowId": name,
                "summary": task(recipe),
                "inputs": self.inputs(),
                "steps": steps,
                "outputs": {"data": format!("$steps.{last}.outputs.data")},
            }],
        });
        let pretty = |it: &Value| serde_json::to_string_pretty(it).unwrap_or_default() + "\n";
        let mut out = vec![(format!("{}.arazzo.json", recipe.name), pretty(&workflow))];
        let of_recipe =
            |(file, it): (String, Value)| (format!("{}.{file}", recipe.name), pretty(&it));
        out.extend(files.into_iter().map(of_recipe));
        Ok(out)
    }

    fn step_name(&self, at: usize) -> &str {
        let Some(chain) = &self.recipe.chain else { return "ask" };
        chain.before.get(at).map_or(&chain.last, |it| &it.name)
    }

    /// What the caller gives. A default is no reason to leave a value out: not every runner puts it in.
    fn inputs(&self) -> Value {
        let given = self.given.borrow();
        let mut properties = Map::new();
        for (name, filters) in given.iter() {
            let (mut schema, extra) = value_schema(self.recipe, name, filters);
            if let Some(all) = extra.get("examples").and_then(Value::as_object) {
                schema["examples"] = all.values().map(|it| it["value"].clone()).collect();
            }
            if let Some(it) = extra.get("description") {
                schema["description"] = it.clone();
            }
            properties.insert(input_name(name, filters), schema);
        }
        let required: Vec<String> = properties.keys().cloned().collect();
        json!({"type": "object", "properties": properties, "required": required})
    }

    /// Whether a run leaves it out, because nobody gives a value.
    fn is_left_out(&self, template: &Template) -> bool {
        template.names().any(|name| {
            let found = self.recipe.parameters.iter().find(|it| it.name == name);
            found.is_some_and(|it| !it.required && it.default.is_none())
        })
    }

    fn parameters(&self, asked: &RequestParts<'_>) -> ExportResult<Vec<Value>> {
        let mut out = Vec::new();
        for (shown, name, filters) in path_values(asked) {
            let value = self.expression(&name, &filters)?;
            out.push(json!({"name": shown, "in": "path", "value": value}));
        }
        let mut named: Vec<(&str, Vec<Value>)> = Vec::new();
        for (pair, template) in asked.query.iter().filter(|it| !self.is_left_out(&it.1)) {
            let value = self.value(template, false)?;
            match named.iter_mut().find(|it| it.0 == pair.name) {
                Some(it) => it.1.push(value),
                None => named.push((&pair.name, vec![value])),
            }
        }
        for (name, mut values) in named {
            let value = if values.len() == 1 { values.remove(0) } else { values.into() };
            out.push(json!({"name": name, "in": "query", "value": value}));
        }
        for (name, template) in asked.headers.iter().filter(|it| !self.is_left_out(&it.1)) {
            if !matches!(*name, "accept" | "content-type" | "authorization") {
                let value = self.value(template, false)?;
                out.push(json!({"name": name, "in": "header", "value": value}));
            }
        }
        Ok(out)
    }

    fn body(&self, asked: &RequestParts<'_>) -> ExportResult<Option<Value>> {
        let (kind, payload) = match &asked.body {
            None => return Ok(None),
            Some(Body::Json(it)) => ("application/json", self.json(it)?.unwrap_or_default()),
            Some(Body::Form(all)) => {
                let mut out = Map::new();
                for (pair, template) in all.iter().filter(|it| !self.is_left_out(&it.1)) {
                    if out.insert(pair.name.clone(), self.value(template, false)?).is_some() {
                        return Err(unsendable("it has two fields of a form with one name"));
                    }
                }
                ("application/x-www-form-urlencoded", out.into())
            }
            Some(Body::Text(it)) => ("text/plain", self.value(it, false)?),
        };
        Ok(Some(json!({"contentType": kind, "payload": payload})))
    }

    /// JSON with expressions in it; `None` for what nobody gives.
    fn json(&self, value: &Value) -> ExportResult<Option<Value>> {
        Ok(Some(match value {
            Value::String(it) => {
                let template = Template::parse(it)
                    .map_err(|err| Refusal::new(RefusalCode::UnsendableRequest, err.message()))?;
                if self.is_left_out(&template) {
                    return Ok(None);
                }
                self.value(&template, true)?
            }
            Value::Array(all) => {
                let mut out = Vec::new();
                for it in all {
                    out.extend(self.json(it)?);
                }
                out.into()
            }
            Value::Object(all) => {
                let mut out = Map::new();
                for (key, it) in all {
                    if let Some(it) = self.json(it)? {
                        out.insert(key.clone(), it);
                    }
                }
                out.into()
            }
            it => it.clone(),
        }))
    }

    /// A template as a text with expressions. In JSON a value of an earlier answer is a text, as a run sends it.
    fn value(&self, template: &Template, in_json: bool) -> ExportResult<Value> {
        let pieces: Vec<Piece<'_>> = template.pieces().collect();
        if let [Piece::Value(name, filters)] = pieces[..] {
            if in_json && template.is_number() {
                let why =
                    format!("`{}` becomes a number of JSON, which Arazzo cannot do", comment(name));
                return Err(Refusal::new(RefusalCode::UnsendableRequest, why));
            }
            let it = self.expression(name, filters)?;
            let is_parameter = self.recipe.parameters.iter().any(|it| it.name == name);
            return Ok(if in_json && !is_parameter { format!("{{{it}}}") } else { it }.into());
        }
        let mut out = String::new();
        for piece in pieces {
            match piece {
                Piece::Literal(it) => out.push_str(it),
                Piece::Value(name, filters) => {
                    out.extend(["{", &self.expression(name, filters)?, "}"]);
                }
            }
        }
        let of_literals = template.pieces().any(|it| match it {
            Piece::Literal(it) => it.contains("{$") || it.starts_with('$'),
            Piece::Value(..) => false,
        });
        if of_literals {
            return Err(unsendable("it sends a text that Arazzo would read as an expression"));
        }
        Ok(out.into())
    }

    fn expression(&self, name: &str, filters: &[Filter]) -> ExportResult<String> {
        if self.recipe.parameters.iter().any(|it| it.name == name) {
            let it = (name.to_owned(), filters.to_vec());
            if !self.given.borrow().contains(&it) {
                self.given.borrow_mut().push(it);
            }
            return Ok(format!("$inputs.{}", input_name(name, filters)));
        }
        if !filters.is_empty() {
            let why = format!(
                "`{}` of an earlier answer is spelled anew, which Arazzo cannot do",
                comment(name)
            );
            return Err(Refusal::new(RefusalCode::EarlierValue, why));
        }
        let (step, field) = split_step_name(name);
        Ok(format!("$steps.{step}.outputs.{}", output_name(field)))
    }

    /// The values that later requests take of a step's answer.
    fn outputs(&self, step: &Step) -> ExportResult<Value> {
        let mut out = Map::new();
        for asked in self.requests {
            let compiled = CompiledRequest::new(&asked.recipe.request)
                .map_err(|err| Refusal::new(RefusalCode::UnsendableRequest, err.message()))?;
            for name in compiled.names() {
                let (of, field) = split_step_name(name);
                if of == step.name {
                    out.insert(output_name(field), place(step, field)?.into());
                }
            }
        }
        if out.is_empty() {
            out.insert("body".to_owned(), "$response.body".into());
        }
        Ok(out.into())
    }
}

/// `city`, `city_slug`.
fn input_name(name: &str, filters: &[Filter]) -> String {
    let parts = std::iter::once(name).chain(filters.iter().map(|it| it.as_str()));
    parts.collect::<Vec<_>>().join("_")
}

fn unsendable(why: &str) -> Refusal {
    Refusal::new(RefusalCode::UnsendableRequest, why)
}

/// `team.id` as `team_id`.
fn output_name(field: Option<&str>) -> String {
    field.map_or_else(|| "value".to_owned(), |it| it.replace(['.', '-'], "_"))
}

/// Where a field of a step's answer is.
fn place(step: &Step, field: Option<&str>) -> ExportResult<String> {
    let response = &step.response;
    if let (ResponseType::Text, Some(name), None, None) =
        (response.kind, &response.header, &response.between, field)
    {
        return Ok(format!("$response.header.{name}"));
    }
    if response.kind != ResponseType::Json || response.framing.is_some() {
        return Err(several("an answer that is not JSON alone"));
    }
    let unknown = || several("an expression that is more than names and places");
    let all = jmespath::parse(response.extract.as_deref().unwrap_or("@")).map_err(|_| unknown())?;
    let keys: Vec<&str> = field.map_or_else(Vec::new, |it| it.split('.').collect());
    let found = match (&step.choose, &all) {
        (None, Ast::Projection { .. }) => None,
        (None, it) => pointer(it, Vec::new(), &keys),
        (Some(Choose::First), Ast::Projection { lhs, rhs, .. }) => {
            let list = match &**lhs {
                Ast::Flatten { node, .. } => node,
                it => it,
            };
            walk(list, Vec::new()).and_then(|it| pointer(rhs, with(it, "0"), &keys))
        }
        (Some(Choose::First), it) => {
            let first = walk(it, Vec::new()).map(|it| with(it, "0"));
            first.map(|it| keys.iter().fold(it, |it, key| with(it, key)))
        }
        (Some(Choose::Only), _) => return Err(several("the only item of a list")),
        (Some(Choose::Where(_)), _) => return Err(several("an item that is found by its fields")),
        (Some(Choose::Key(_)), _) => return Err(several("a member that a parameter names")),
        (Some(Choose::All(_)), _) => {
            return Err(several("the values of all items in one request"));
        }
    };
    Ok(body(&found.ok_or_else(unknown)?))
}

/// The data as a place in the answer, or the whole answer; `x-commis-extract` of the operation says the rest.
fn data(recipe: &Recipe) -> String {
    let response = &recipe.response;
    let extract = response.extract.as_deref().filter(|_| response.kind == ResponseType::Json);
    let found = extract.filter(|_| response.framing.is_none()).and_then(|it| {
        let node = jmespath::parse(it).ok()?;
        walk(&node, Vec::new())
    });
    body(&found.unwrap_or_default())
}

/// A condition that holds where the answer is ready.
fn ready(step: &Step, poll: &Poll) -> ExportResult<String> {
    let unknown = || several("a wait until what no condition can say");
    let node = jmespath::parse(&poll.until).map_err(|_| unknown())?;
    let (path, wanted) = match &node {
        Ast::Comparison { comparator: jmespath::ast::Comparator::Equal, lhs, rhs, .. } => {
            let Ast::Literal { value, .. } = &**rhs else { return Err(unknown()) };
            (&**lhs, serde_json::to_value(value.as_ref()).map_err(|_| unknown())?)
        }
        it => (it, Value::Bool(true)),
    };
    let wanted = match &wanted {
        Value::String(it) if !it.contains(['\'', '\\']) => format!("'{it}'"),
        Value::Bool(_) | Value::Number(_) => wanted.to_string(),
        _ => return Err(unknown()),
    };
    let keys = names_of_path(path).filter(|it| !it.is_empty()).ok_or_else(unknown)?;
    Ok(format!("{} == {wanted}", place(step, Some(&keys.join(".")))?))
}

fn body(path: &[String]) -> String {
    if path.is_empty() {
        return "$response.body".to_owned();
    }
    let escaped = path.iter().map(|it| it.replace('~', "~0").replace('/', "~1"));
    format!("$response.body#/{}", escaped.collect::<Vec<_>>().join("/"))
}

fn with(mut path: Vec<String>, key: &str) -> Vec<String> {
    path.push(key.to_owned());
    path
}

/// A path of names and places as a JSON Pointer's parts.
fn walk(node: &Ast, before: Vec<String>) -> Option<Vec<String>> {
    Some(match node {
        Ast::Identity { .. } => before,
        Ast::Field { name, .. } if !name.chars().any(char::is_control) => with(before, name),
        Ast::Index { idx, .. } if *idx >= 0 => with(before, &idx.to_string()),
        Ast::Subexpr { lhs, rhs, .. } => walk(rhs, walk(lhs, before)?)?,
        _ => return None,
    })
}

/// Of a field of what an expression makes.
fn pointer(shape: &Ast, base: Vec<String>, keys: &[&str]) -> Option<Vec<String>> {
    match shape {
        Ast::MultiHash { elements, .. } => {
            let (first, rest) = keys.split_first()?;
            let found = elements.iter().find(|it| it.key == *first)?;
            pointer(&found.value, base, rest)
        }
        Ast::Subexpr { lhs, rhs, .. } if matches!(**rhs, Ast::MultiHash { .. }) => {
            pointer(rhs, walk(lhs, base)?, keys)
        }
        it => Some(keys.iter().fold(walk(it, base)?, |it, key| with(it, key))),
    }
}
