//! A host that a parameter chooses from a closed list.
//!
//! No value reaches the host of a request but those that the recipe's file names: each choice is listed, and each host that a choice
//! gives is one of `allowed_domains`.

use url::Url;

use super::{
    model::{Parameter, RequestTemplate},
    template::Template,
    values,
};
use commis_base::error::{Code, Error, Result};

/// The words that a parameter accepts and the host that each of them gives, in order. Empty for a parameter without a closed list.
///
/// Fails with `RECIPE_INVALID` where `host` is not a template of that parameter, `PARAM_INVALID` where a choice is none of its values.
pub fn hosts_of_choices(host: &str, parameter: &Parameter) -> Result<Vec<(String, String)>> {
    let template = Template::parse(host)?;
    let constraints = &parameter.constraints;
    let listed = constraints.one_of.iter().filter(|_| constraints.map.is_empty());
    let all = constraints.map.keys().chain(listed);
    all.map(|word| {
        let value = values::coerce(parameter, word)?.text;
        let rendered = template.render(|name| {
            let is_own = name == parameter.name;
            is_own
                .then(|| value.clone())
                .ok_or_else(|| invalid(format!("`host` takes `{{{name}}}`, too")))
        })?;
        Ok((word.clone(), rendered))
    })
    .collect()
}

/// Whether this is a host as URLs have it: lower case, without scheme, port and final dot.
pub fn is_canonical_host(text: &str) -> bool {
    let parsed = Url::parse(&format!("https://{text}/")).ok();
    parsed.as_ref().and_then(Url::host_str) == Some(text) && !text.ends_with('.')
}

/// Fails with `RECIPE_INVALID` where a request's host is not one that the parameter's list and `allowed_domains` name.
pub fn check(request: &RequestTemplate, parameters: &[Parameter], own_host: bool) -> Result<()> {
    let Some(host) = &request.host else { return Ok(()) };
    if own_host || request.address.is_some() {
        return Err(invalid("`host` goes with neither `own_host` nor `address`".to_owned()));
    }
    let template = Template::parse(host)?;
    let mut names = template.names();
    let name = names.next().filter(|_| names.next().is_none());
    let chosen = name.and_then(|name| parameters.iter().find(|it| it.name == name));
    let parameter = chosen.filter(|it| it.required || it.default.is_some()).ok_or_else(|| {
        invalid("`host` is not a template of one parameter that is always given".to_owned())
            .hint("write `host: \"{language}.wiki.example\"`")
    })?;
    let choices = hosts_of_choices(host, parameter)?;
    if choices.is_empty() {
        let why = format!("`host` takes `{}`, which has no list of choices", parameter.name);
        return Err(invalid(why).hint("list them under `constraints`, as `enum` or `map`"));
    }
    if let Some((word, host)) = choices.iter().find(|it| !request.allowed_domains.contains(&it.1)) {
        let shown = |it: &str| it.escape_debug().take(80).collect::<String>();
        let why = format!(
            "the choice `{}` gives the host `{}`, which allowed_domains does not hold",
            shown(word),
            shown(host)
        );
        return Err(invalid(why).hint("list every host that the recipe reaches"));
    }
    Ok(())
}

fn invalid(why: String) -> Error {
    Error::new(Code::RecipeInvalid, why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{model::Recipe, yaml};

    fn recipe(host: &str, constraints: &str, domains: &str) -> Result<Recipe> {
        yaml::parse(&format!(
            "{{version: 2, name: pages, task: Find, status: draft, source_url: 'https://en.wiki.test/', parameters: [\
             {{name: language, type: str, required: true, source: task_input, constraints: {constraints}}}, {{name: q, type: str, required: true, source: task_input}}], \
             request: {{method: GET, url: 'https://en.wiki.test:8443/find', host: '{host}', query: [{{name: q, value: '{{q}}'}}], allowed_domains: {domains}}}, response: {{type: json}}}}"
        ))
    }

    fn address(recipe: &Recipe, language: &str) -> std::result::Result<String, String> {
        let given = [("language", language), ("q", "a.evil.test/ b")];
        let given = given.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let prepared = crate::request::prepare_request(&recipe.request, &recipe.parameters, &given);
        prepared.map(|it| it.url).map_err(|err| err.code().to_string())
    }

    #[test]
    fn a_choice_gives_one_of_the_hosts() {
        let domains = "[en.wiki.test, de.wiki.test, nds-nl.wiki.test]";
        let listed = recipe("{language}.wiki.test", "{enum: [en, de, nds-nl]}", domains).unwrap();
        let find = "/find?q=a.evil.test%2F+b";
        assert_eq!(address(&listed, "de").unwrap(), format!("https://de.wiki.test:8443{find}"));
        for other in
            ["fr", "DE", "de.evil", "de.wiki.test/", "", "evil.test#", "de@evil.test", "[::1]"]
        {
            assert_eq!(address(&listed, other), Err("PARAM_INVALID".to_owned()), "{other}");
        }
        let map = "{map: {English: en.wiki.test, Deutsch: de.wiki.test}}";
        let mapped = recipe("{language}", map, domains).unwrap();
        assert_eq!(
            address(&mapped, "deutsch").unwrap(),
            format!("https://de.wiki.test:8443{find}")
        );
        assert_eq!(address(&mapped, "de.wiki.test"), Err("PARAM_INVALID".to_owned()));
    }

    #[test]
    fn what_is_no_closed_list_of_hosts_is_refused() {
        let both = "[en.wiki.test, de.wiki.test]";
        for (host, constraints, why) in [
            ("{language}.wiki.test", "{max_len: 20}", "no list of choices"),
            ("{language}.wiki.test", "{enum: [en, de, fr]}", "gives the host `fr.wiki.test`"),
            ("{language}", "{map: {English: en.wiki.test, Fr: fr.wiki.test}}", "`fr.wiki.test`"),
            ("{language}.wiki.test", "{enum: [en, EN]}", "gives the host `EN.wiki.test`"),
            ("{language}.{q}.test", "{enum: [en, de]}", "one parameter"),
            ("{q}.wiki.test", "{enum: [en, de]}", "no list of choices"),
            ("en.wiki.test", "{enum: [en, de]}", "one parameter"),
            ("{slot_x}.wiki.test", "{enum: [en, de]}", "neither a parameter nor a slot"),
        ] {
            let err = recipe(host, constraints, both).unwrap_err();
            assert!(
                err.code() == Code::RecipeInvalid && err.to_string().contains(why),
                "{host}: {err}"
            );
        }
    }

    #[test]
    fn canonical_hosts() {
        for it in ["a.test", "xn--bcher-kva.test", "127.0.0.1", "nds-nl.wiki.test"] {
            assert!(is_canonical_host(it), "{it}");
        }
        for it in
            ["A.test", "a.test.", "bücher.test", "a.test:80", "a.test/x", "", "x@a.test", "a b"]
        {
            assert!(!is_canonical_host(it), "{it}");
        }
    }
}
