//! Runs that follow a list over its pages.

use std::{collections::BTreeMap, time::Duration};

use serde_json::Value;

use super::{
    RecipeRunner,
    runs::{Fallback, add_values},
};
use commis_base::error::{Code, Error, Result};
use commis_recipe::{
    model::Recipe,
    narrowing::{ItemFilter, ResultFilter},
    paging::{PageEnd, Pages, Resumption, decode_token, encode_token},
    registry::{Registry, Source},
};
use commis_runner::{
    RecipeRunResult, RunTimings,
    pages::{PageAnswer, PageWalk},
};
use commis_state::State;

/// How much of a list is wanted.
#[derive(Clone, Debug, Default)]
pub struct Extent {
    /// Items at most.
    pub max_items: Option<u64>,
    /// Pages at most.
    pub max_pages: Option<u64>,
    /// A continuation token.
    pub from: Option<String>,
    /// What of it is wanted.
    pub narrowing: ResultFilter,
}

impl Extent {
    /// What a run gives of that recipe where nothing more is said: all pages where its task asks for all, up to `max_pages`; else
    /// the first.
    pub fn usual(recipe: &Recipe, max_pages: u64) -> Self {
        let all = recipe.pages.as_ref().is_some_and(|it| it.all);
        Self { max_pages: Some(if all { max_pages } else { 1 }), ..Self::default() }
    }
}

/// Told of each page as it comes: its new items, and where the list goes on after it. Fails to stop.
pub type OnPage<'a> = dyn FnMut(Vec<Value>, Option<&str>) -> Result<()> + Send + 'a;

/// What a continuation token belongs to.
pub fn identify_call(recipe: &Recipe, params: &BTreeMap<String, String>) -> String {
    let values: Vec<String> = params.iter().map(|it| format!("{}={}", it.0, it.1)).collect();
    format!("{}\n{}\n{}", recipe.name, recipe.request.url, values.join("\n"))
}

/// Narrows the data of a run that succeeded. Fails as [`ResultFilter::apply`].
pub fn narrow(result: &mut RecipeRunResult, narrowing: &ResultFilter) -> Result<()> {
    if !result.success || narrowing.is_all() {
        return Ok(());
    }
    let narrowed = narrowing.apply(std::mem::take(&mut result.data))?;
    if let Value::Array(items) = &narrowed.data {
        result.items = Some(items.len() as u64);
    }
    if narrowed.cut {
        result.complete = Some(false);
    }
    result.filtered = narrowing.condition.as_ref().map(|_| narrowed.filtered);
    result.data = narrowed.data;
    Ok(())
}

impl RecipeRunner<'_> {
    /// The pages of a list as one answer; of a recipe that knows no pages, where none are asked for, its answer. Fails as
    /// [`RecipeRunner::follow`].
    pub async fn gather(
        self,
        (recipe, source): (&Recipe, Source),
        params: &BTreeMap<String, String>,
        counted: (&Registry, Result<&State, Code>),
        extent: &Extent,
    ) -> Result<RecipeRunResult> {
        let is_one = extent.from.is_none() && extent.max_items.is_none();
        if recipe.pages.is_none() && is_one && extent.max_pages == Some(1) {
            let mut result = self.serve((recipe, source), params, counted).await?;
            narrow(&mut result, &extent.narrowing)?;
            return Ok(result);
        }
        let mut all = Vec::new();
        let mut page = |mut items: Vec<Value>, _: Option<&str>| {
            all.append(&mut items);
            Ok(())
        };
        let ran = self.follow((recipe, source), params, counted, extent, &mut page).await?;
        let has_data = ran.success || !all.is_empty();
        Ok(if has_data { RecipeRunResult { data: all.into(), ..ran } } else { ran })
    }

    /// Gives the pages of a list one after the other. The result's data is that of no page: it goes to `on_page`; its items are
    /// those of all pages. A page that fails ends the run with its error and a token to go on from.
    ///
    /// Fails as [`RecipeRunner::serve`], with `PARAM_INVALID` where the recipe knows no pages or the token is of another call, and with what
    /// `on_page` fails with.
    pub async fn follow(
        self,
        (recipe, source): (&Recipe, Source),
        params: &BTreeMap<String, String>,
        counted: (&Registry, Result<&State, Code>),
        extent: &Extent,
        on_page: &mut OnPage<'_>,
    ) -> Result<RecipeRunResult> {
        let first = FirstCall::Served(source, counted);
        self.walk(recipe, params, first, extent, on_page).await
    }

    /// As much of a list as its recipe usually gives, as one answer, for who counts runs and asks for proof of failures by itself. The turn
    /// of its host is waited for between pages.
    /// Fails as [`RecipeRunner::call`] and [`RecipeRunner::follow`].
    pub async fn call_usual(
        self,
        recipe: &Recipe,
        params: &BTreeMap<String, String>,
        fallback: Fallback,
        max_pages: u64,
    ) -> Result<RecipeRunResult> {
        let mut extent = Extent::usual(recipe, max_pages);
        if extent.max_pages == Some(1) {
            return self.call(recipe, params, fallback).await;
        }
        let (mut all, mut count, mut timings) = (Vec::new(), 0, RunTimings::default());
        loop {
            let mut page = |mut items: Vec<Value>, _: Option<&str>| {
                all.append(&mut items);
                Ok(())
            };
            let first = FirstCall::Called(fallback);
            let mut ran = self.walk(recipe, params, first, &extent, &mut page).await?;
            count += ran.pages.unwrap_or(0);
            timings += ran.timings_ms;
            let is_own_limit =
                ran.error_code == Some(Code::RateLimited.as_str()) && ran.status_code.is_none();
            if is_own_limit && ran.continue_from.is_some() && count > 0 && count < max_pages {
                tokio::time::sleep(Duration::from_secs(ran.retry_after_sec.unwrap_or(1))).await;
                extent.from = ran.continue_from;
                extent.max_pages = Some(max_pages - count);
                continue;
            }
            ran.timings_ms = timings;
            if ran.success {
                (ran.items, ran.pages) = (Some(all.len() as u64), Some(count));
                ran.data = std::mem::take(&mut all).into();
            }
            return Ok(ran);
        }
    }

    async fn walk(
        self,
        recipe: &Recipe,
        params: &BTreeMap<String, String>,
        first: FirstCall<'_>,
        extent: &Extent,
        on_page: &mut OnPage<'_>,
    ) -> Result<RecipeRunResult> {
        let Some(pages) = &recipe.pages else {
            return Err(Error::new(
                Code::ParamInvalid,
                format!("{} has no proven way to further pages", recipe.name),
            )
            .hint("learn it again on a page that links to the next one; `recipe explain` says what was seen"));
        };
        // What is not known to read is sent once.
        let is_one = extent.max_pages == Some(1) && extent.from.is_none();
        if !is_one && !self.caller.compiled(recipe)?.is_repeatable() {
            let why =
                format!("`{}` is not known to only read, so its list is not followed", recipe.name);
            return Err(Error::new(Code::RecipeMayChange, why)
                .hint("prove it first: `commis recipe verify`"));
        }
        let asked = identify_call(recipe, params);
        let from = extent.from.as_deref().map(|it| decode_token(&asked, it)).transpose()?;
        let mut walk = Walk::new(pages, from, extent);
        loop {
            let own = walk.inner.page_recipe(recipe)?;
            let mut result = match (walk.inner.position(), first) {
                (None, FirstCall::Served(source, counted)) => {
                    self.serve((recipe, source), params, counted).await?
                }
                (None, FirstCall::Called(fallback)) => self.call(recipe, params, fallback).await?,
                (Some(_), FirstCall::Called(_)) => self.call(&own, params, Fallback::Never).await?,
                (Some(_), FirstCall::Served(..)) => {
                    let mut result = self.call(&own, params, Fallback::Never).await?;
                    add_values(recipe, &mut result);
                    result
                }
            };
            let step = walk.take(&mut result)?;
            if let Some(items) = step {
                let at = walk.continues().map(|it| encode_token(&asked, &it));
                on_page(items, at.as_deref())?;
            }
            if !walk.goes_on(&result) {
                return Ok(walk.result(result, &asked));
            }
        }
    }
}

/// How the first page is asked for.
#[derive(Clone, Copy)]
enum FirstCall<'a> {
    /// As [`RecipeRunner::serve`] does.
    Served(Source, (&'a Registry, Result<&'a State, Code>)),
    /// As [`RecipeRunner::call`] does.
    Called(Fallback),
}

/// A walk within its extent.
struct Walk<'a> {
    inner: PageWalk,
    extent: &'a Extent,
    sieve: ItemFilter<'a>,
    /// Items and pages of this run.
    items: u64,
    pages: u64,
    /// So many items of the last page were given, where it was cut.
    cut: Option<u64>,
    failed: bool,
    attempts: u32,
    timings: RunTimings,
    warnings: Vec<String>,
}

impl<'a> Walk<'a> {
    fn new(pages: &Pages, from: Option<Resumption>, extent: &'a Extent) -> Self {
        let inner = PageWalk::new(pages, from, false);
        Self {
            inner,
            extent,
            sieve: ItemFilter::new(&extent.narrowing, extent.max_items),
            items: 0,
            pages: 0,
            cut: None,
            failed: false,
            attempts: 0,
            timings: RunTimings::default(),
            warnings: Vec::new(),
        }
    }

    /// The new items of a page; `None` where it has none to give.
    fn take(&mut self, result: &mut RecipeRunResult) -> Result<Option<Vec<Value>>> {
        self.attempts += result.attempts;
        self.timings += result.timings_ms;
        let code = result.error_code.and_then(Code::from_wire);
        if !result.success {
            // What is not there after the last page ends the list.
            let is_gone = matches!(code, Some(Code::NotFound | Code::ExtractEmpty))
                || (code == Some(Code::HttpStatus) && result.status_code == Some(404));
            if is_gone && self.inner.page_count() > 0 {
                self.inner.take_missing()?;
            } else {
                self.failed = true;
            }
            return Ok(None);
        }
        self.warnings.append(&mut result.warnings);
        let Value::Array(items) = std::mem::take(&mut result.data) else {
            return Err(Error::new(
                Code::ExtractEmpty,
                "an answer of the paginated list is not a list",
            ));
        };
        let answer = PageAnswer { items, next: result.next.take(), total: result.total };
        let skipped = self.inner.skip();
        let new = match self.inner.take(answer) {
            Ok(it) => it,
            Err(err) => {
                result.fail(&err);
                self.failed = true;
                return Ok(None);
            }
        };
        self.pages += 1;
        let (new, rest) = self.sieve.take(new)?;
        self.cut = rest.map(|at| at as u64 + skipped);
        self.items += new.len() as u64;
        Ok(Some(new))
    }

    /// Where the list goes on: after the page that came last, or with it where it was cut or failed.
    fn continues(&self) -> Option<Resumption> {
        match (self.cut, self.failed) {
            (_, true) => Some(self.inner.resumption_at(self.inner.skip(), true)),
            (Some(skip), _) => Some(self.inner.resumption_at(skip, false)),
            (None, false) => self.inner.resumption(),
        }
    }

    fn goes_on(&mut self, result: &RecipeRunResult) -> bool {
        let is_enough = self.cut.is_some()
            || self.sieve.is_full()
            || self.extent.max_pages.is_some_and(|it| self.pages >= it);
        let ended = self.inner.end().is_some() || !result.success || self.failed;
        !is_enough && !ended && self.inner.advance()
    }

    /// The result of the whole run, by that of its last page.
    fn result(mut self, last: RecipeRunResult, asked: &str) -> RecipeRunResult {
        let mut out = last;
        if self.inner.end() == Some(PageEnd::NotFound) {
            out.success = true;
            (out.error, out.error_code, out.hint, out.raw_response) = (None, None, None, None);
        }
        out.continue_from = self.continues().map(|it| encode_token(asked, &it));
        out.complete =
            if self.cut.is_some() || self.failed { Some(false) } else { self.inner.is_complete() };
        out.total = self.inner.total();
        out.items = Some(self.items);
        out.filtered =
            self.extent.narrowing.condition.as_ref().map(|_| self.sieve.filtered_count());
        out.pages = Some(self.pages);
        out.attempts = self.attempts;
        out.timings_ms = self.timings;
        self.warnings.extend(self.inner.warnings());
        self.warnings.dedup();
        out.warnings = self.warnings;
        out
    }
}
