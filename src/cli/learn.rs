//! `commis recipe learn`

use std::{
    collections::{BTreeMap, BTreeSet},
    io::Read as _,
    sync::Arc,
};

use super::{
    Global, context,
    learn_args::{Args, nothing_to_learn, pairs},
    learn_manual,
    learn_result::conclude,
};
use commis_base::{
    error::{Code, Error, Result},
    files::read_bounded,
    ids::RecipeName,
};
use commis_browser::Step;
use commis_learn::{Source, Task, variable};
use commis_recipe::yaml;

pub async fn run(args: Args, global: &Global) -> Result<u8> {
    args.check()?;
    if args.manual.is_some() {
        return learn_manual::run(args, global).await;
    }
    let first = pairs(&args.param)?;
    let second = pairs(&args.second)?;
    let source = match (&args.har, &args.url) {
        (Some(path), _) => Source::har(path.clone())?,
        (None, Some(url)) => Source::page(url.clone(), steps(args.steps.as_deref())?, &first)?,
        (None, None) => return Err(nothing_to_learn()),
    };
    let name = match &args.name {
        Some(it) => RecipeName::new(it.clone())?,
        None => match &args.har {
            Some(path) => RecipeName::slug(&path.file_stem().unwrap_or_default().to_string_lossy()),
            None => RecipeName::slug(&args.task),
        },
    };
    let examples = if second.is_empty() { vec![first] } else { vec![first, second] };
    let mut task = Task::new(name, args.task.clone(), source, examples);
    let logins = args.login.iter().chain(&args.second_login);
    task.logins = logins.map(|it| it.parse()).collect::<Result<_>>()?;
    let named: Vec<String> = task
        .examples
        .iter()
        .flat_map(BTreeMap::values)
        .filter_map(|it| variable(it).map(str::to_owned))
        .collect();
    commis_batch::check_task(&mut task, &BTreeSet::new(), args.allow_task_secrets)?;
    // The command line is the user's word; the file of steps is perhaps a stranger's.
    for it in &named {
        task.secrets.named_by_the_user(it);
    }
    let (cx, progress, _place) = args.prepare(&task, global).await?;
    let task = Arc::new(task);
    let (own, its) = (Arc::clone(&task), Arc::clone(&cx));
    let work = move || async move { commis_learn::learn(&own, &its).await };
    let end = context::run_interruptible("the same command with --resume goes on", work).await;
    progress.finish();
    cx.browser.close().await;
    if end.is_err()
        && cx.store.peek(&task.id)?.is_some_and(|it| matches!(it.failure(), Ok(Some(_))))
    {
        context::say(&format!("commis recipe debug --task-id {} shows what the step saw", task.id));
    }
    conclude(&end?, &cx, &task, args.json)
}

fn steps(path: Option<&std::path::Path>) -> Result<Vec<Step>> {
    let Some(path) = path else {
        return Ok(Vec::new());
    };
    let text = if ["-", "/dev/stdin"].iter().any(|it| path.as_os_str() == *it) {
        let mut text = String::new();
        let read = std::io::stdin().take(1024 * 1024).read_to_string(&mut text);
        read.map_err(|err| Error::new(Code::Usage, "cannot read steps from stdin").source(err))?;
        text
    } else {
        String::from_utf8_lossy(&read_bounded(path, 1024 * 1024)?).into_owned()
    };
    let options = serde_saphyr::options! {
        strict_booleans: true,
        budget: serde_saphyr::budget! { max_nodes: 10_000, max_depth: 16, max_aliases: 0, max_anchors: 0 },
        // It would show lines of the file, which may hold secrets.
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options(&text, options).map_err(|err| {
        let message = format!("{}: {}", path.display(), yaml::describe_error(&err));
        Error::new(Code::ManifestInvalid, message).hint("docs/how-to/steps.md shows the steps")
    })
}
