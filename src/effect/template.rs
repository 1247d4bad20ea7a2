//! A recipe's request, judged as it is written down.

use super::{Answer, Call, Circumstances, Content, Effect, judge};
use commis_recipe::model::{BodyTemplate, Recipe, RequestTemplate};

/// What a run of a recipe does. `is_proven`: it was sent again and again here, and answered with data each time; what speaks of a
/// change counts all the same.
///
/// Of several requests the first that may change something counts.
pub fn of_recipe(recipe: &Recipe, is_proven: bool) -> Effect {
    for step in recipe.steps_before() {
        let it = of_request(&step.request, recipe, is_proven);
        if !it.is_read() {
            return it;
        }
    }
    of_request(&recipe.request, recipe, is_proven)
}

fn of_request(request: &RequestTemplate, recipe: &Recipe, is_proven: bool) -> Effect {
    let mut url = request.url.clone();
    if !request.query.is_empty() {
        let mut pairs = url::form_urlencoded::Serializer::new(String::new());
        pairs.extend_pairs(request.query.iter().map(|it| (&it.name, &it.value)));
        url.push(if url.contains('?') { '&' } else { '?' });
        url.push_str(&pairs.finish());
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
    let known = Circumstances {
        pressed: None,
        task: Some(&recipe.task),
        answer: is_proven.then_some(proven),
    };
    judge(&call, &known)
}

#[cfg(test)]
mod tests {
    use super::*;
    use commis_recipe::yaml;

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
            assert_eq!(of_recipe(&recipe, false).is_read(), alone, "{method} {path} {task}");
            assert_eq!(of_recipe(&recipe, true).is_read(), proven, "{method} {path} {task}");
        }
    }
}
