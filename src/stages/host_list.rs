//! A host that was chosen of a list: the recipe may go to each host that the page offers, and to no other.

use commis_artifacts::{payloads::RecipeDraftMinimized, recording::SessionRecording};
use commis_net::egress::site_of;
use commis_recipe::{
    host_choice::{hosts_of_choices, is_canonical_host},
    model::{Parameter, RequestTemplate},
    template::Template,
};

/// Gives the parameter of each request's host its page's choices, and the request their hosts. Choices that lead to another site are
/// left out. `is_followed` says that the second example was recorded at a host of its own: a label of a host may be called like a
/// choice by chance. Fails with why the host has no closed list.
pub fn close_hosts(
    draft: &mut RecipeDraftMinimized,
    recording: &SessionRecording,
    is_followed: bool,
) -> Result<(), String> {
    let requests = draft.steps.iter_mut().map(|it| &mut it.request).chain([&mut draft.request]);
    for request in requests {
        let Some(host) = request.host.clone() else { continue };
        if !is_followed {
            return Err(
                "no recording shows that the second example's choice leads to another host"
                    .to_owned(),
            );
        }
        let name = Template::parse(&host).ok().and_then(|it| it.names().next().map(str::to_owned));
        let parameter = draft.parameters.iter_mut().find(|it| Some(&it.name) == name.as_ref());
        parameter.and_then(|it| close(request, &host, it, recording)).ok_or_else(|| {
            format!("it goes to the host `{host}`, and no list says which there are")
        })?;
    }
    Ok(())
}

fn close(
    request: &mut RequestTemplate,
    host: &str,
    parameter: &mut Parameter,
    recording: &SessionRecording,
) -> Option<()> {
    let constraints = &mut parameter.constraints;
    if constraints.map.is_empty() && constraints.one_of.is_empty() {
        let mut controls = recording.actions.iter().filter_map(|it| it.control.as_ref());
        let control = controls.find(|it| parameter.examples.iter().all(|word| it.offers(word)))?;
        constraints.one_of = control.choices().map(|it| it.value.clone()).collect();
        constraints.max_len = None;
    }
    let site = site_of(&request.url);
    let is_own = |it: &str| is_canonical_host(it) && site_of(&format!("https://{it}/")) == site;
    let all = hosts_of_choices(host, parameter).ok()?;
    let (own, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|it| is_own(&it.1));
    let constraints = &mut parameter.constraints;
    constraints.map.retain(|word, _| !others.iter().any(|it| it.0 == *word));
    constraints.one_of.retain(|word| !others.iter().any(|it| it.0 == *word));
    for (_, host) in own {
        if !request.allowed_domains.contains(&host) {
            request.allowed_domains.push(host);
        }
    }
    let is_choice = |word: &String| !others.iter().any(|it| it.0 == *word);
    parameter.examples.iter().all(is_choice).then_some(())
}
