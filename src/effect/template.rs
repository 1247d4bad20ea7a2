//! A recipe's request, judged as it is written down.

use url::Url;

use super::{Answer, Call, Content, Effect, RequestContext, judge, names_change};
use commis_recipe::{
    model::{BodyTemplate, Parameter, Recipe, RequestTemplate},
    template::Template,
};

/// Stands for a value in an address: the name of a parameter is no word of it, and what is not known is no number of one thing.
const VALUE: &str = "{}";
/// Examples of a parameter that are looked at.
const MAX_EXAMPLES: usize = 8;

/// What a run of a recipe does. `is_proven`: it was sent again and again here, and answered with data each time; what speaks of a
/// change counts all the same.
///
/// Of several requests the first that may change something counts.
pub fn recipe_effect(recipe: &Recipe, is_proven: bool) -> Effect {
    for step in recipe.steps_before() {
        let it = request_effect(&step.request, recipe, is_proven);
        if !it.is_read() {
            return it;
        }
    }
    request_effect(&recipe.request, recipe, is_proven)
}

fn request_effect(request: &RequestTemplate, recipe: &Recipe, is_proven: bool) -> Effect {
    let url = fill_address(request, &|_| None);
    if matches!(&*request.method, "GET" | "HEAD")
        && let Some(it) = example_addresses(request, recipe).find(names_change)
    {
        let why = format!(
            "{} {} is about a change with an example of its own",
            request.method,
            it.path()
        );
        return Effect::MayChange(why);
    }
    let content = match &request.body {
        None => Content::None,
        Some(BodyTemplate::Json(it)) => Content::Json(it),
        Some(BodyTemplate::Form(all)) => {
            Content::Form(all.iter().map(|it| (it.name.as_str(), it.value.as_str())).collect())
        }
        Some(BodyTemplate::Text(it)) => Content::Bytes(it.as_bytes().into()),
    };
    let headers = request.headers.iter().map(|it| (it.0.as_str(), it.1.as_str())).collect();
    let call = Call { method: &request.method, url: &url, headers, content };
    let proven =
        Answer { is_list: true, is_data: true, is_shown: true, asks: true, ..Answer::default() };
    let known = RequestContext {
        pressed: None,
        task: Some(&recipe.task),
        answer: is_proven.then_some(proven),
    };
    judge(&call, &known)
}

/// The address with what `value` says of each parameter, and [`VALUE`] in the place of others.
fn fill_address(request: &RequestTemplate, value: &dyn Fn(&str) -> Option<String>) -> String {
    let filled = |text: &str| {
        let render = |name: &str| Ok::<_, ()>(value(name).unwrap_or_else(|| VALUE.to_owned()));
        let filled = Template::parse(text).ok().and_then(|it| it.render(render).ok());
        filled.unwrap_or_else(|| text.to_owned())
    };
    let mut url = filled(&request.url);
    if !request.query.is_empty() {
        let mut pairs = url::form_urlencoded::Serializer::new(String::new());
        pairs.extend_pairs(request.query.iter().map(|it| (&it.name, filled(&it.value))));
        url.push(if url.contains('?') { '&' } else { '?' });
        url.push_str(&pairs.finish());
    }
    url
}

/// The address with each example of each parameter: what is called may be one.
fn example_addresses(request: &RequestTemplate, recipe: &Recipe) -> impl Iterator<Item = Url> {
    let of = |it: &Parameter| {
        let all = it.examples.iter().chain(&it.default).chain(it.constraints.map.values());
        all.take(MAX_EXAMPLES).map(|text| (it.name.clone(), text.clone())).collect::<Vec<_>>()
    };
    recipe.parameters.iter().flat_map(of).filter_map(|(name, text)| {
        let value = |it: &str| (it == name).then(|| text.clone());
        Url::parse(&fill_address(request, &value)).ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use commis_recipe::yaml;

    #[test]
    fn what_is_called_by_a_parameter_is_seen_in_its_examples() {
        for (path, query, examples, reads) in [
            ("/departures/{stop}", "", "harbour, oldtown", true),
            ("/departures/{stop}", "", "harbour, delete", false),
            ("/cart/{stop}", "", "'7'", true),
            ("/cart", "{name: do, value: '{stop}'}", "list", true),
            ("/cart", "{name: do, value: '{stop}'}", "list, delete", false),
            ("/find", "{name: q, value: '{stop}'}", "delete a book", true),
            ("/admin/ship/", "{name: search, value: '{stop}'}", "fender, Trieste", true),
        ] {
            let text = format!(
                "{{version: 1, name: x, task: 'Show {{stop}}', status: draft, source_url: 'https://a.test/', \
                 parameters: [{{name: stop, type: str, required: true, source: task_input, examples: [{examples}]}}], \
                 request: {{method: GET, url: 'https://a.test{path}', query: [{query}], allowed_domains: ['a.test']}}, response: {{type: json}}}}"
            );
            let recipe = yaml::parse(&text).unwrap();
            assert_eq!(recipe_effect(&recipe, false).is_read(), reads, "{path} {query} {examples}");
        }
    }

    #[test]
    fn what_a_recipe_does_is_seen_in_its_request() {
        for (method, path, body, task, alone, proven) in [
            ("GET", "/books", "", "Find books about rust", true, true),
            ("GET", "/account/delete", "", "Find books about rust", false, false),
            (
                "POST",
                "/search",
                "{json: {q: 'rust', page: 1}}",
                "Find books about rust",
                true,
                true,
            ),
            ("POST", "/data", "{json: {words: 'rust'}}", "Find books about rust", false, true),
            (
                "POST",
                "/account/delete",
                "{json: {id: 'rust'}}",
                "Find books about rust",
                false,
                false,
            ),
            ("POST", "/data", "{json: {words: 'rust'}}", "Delete the book rust", false, false),
        ] {
            let body = if body.is_empty() { String::new() } else { format!(", body: {body}") };
            let text = format!(
                "{{version: 1, name: find-it, task: '{task}', status: draft, source_url: 'https://a.test/', \
                 parameters: [], \
                 request: {{method: {method}, url: 'https://a.test{path}'{body}, allowed_domains: ['a.test']}}, response: {{type: json}}}}"
            );
            let recipe = yaml::parse(&text).unwrap();
            assert_eq!(recipe_effect(&recipe, false).is_read(), alone, "{method} {path} {task}");
            assert_eq!(recipe_effect(&recipe, true).is_read(), proven, "{method} {path} {task}");
        }
    }
}
