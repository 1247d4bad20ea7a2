//! A recipe of several requests as code: each step as a recipe of one request, and what a later request takes of its answer.

use super::{
    client::{Function, Language, obstacle},
    refusal::{Refusal, RefusalCode},
    resolved_request::RequestParts,
};
use commis_base::error::Result;
use commis_recipe::{
    model::{Recipe, Slot},
    request::CompiledRequest,
    steps::{Chain, Choose, Step, split_step_name},
    template::Template,
};

/// The recipe of each step before the last, as if it had no other.
pub fn step_recipes(recipe: &Recipe) -> Vec<Recipe> {
    let before = recipe.chain.iter().flat_map(|it| &it.before);
    let one = |step: &Step| Recipe {
        request: step.request.clone(),
        response: step.response.clone(),
        chain: None,
        pages: None,
        ..recipe.clone()
    };
    before.map(one).collect()
}

/// Both at once are in no form: the key belongs to one origin, and the steps may ask several.
pub fn key_and_chain() -> Refusal {
    let why = "it needs a key and makes several requests, both at once";
    Refusal::new(RefusalCode::UnsendableRequest, why)
}

/// Why a form that calls its requests one after the other cannot hold a recipe, if its steps are the reason.
pub fn steps_obstacle(recipe: &Recipe, form: &str) -> Option<Refusal> {
    let chain = recipe.chain.as_ref()?;
    if recipe.auth.is_some() {
        return Some(key_and_chain());
    }
    if chain.for_each.is_some() {
        return Some(unsupported_steps(form, "one request for each item of a list"));
    }
    chain.output.is_some().then(|| unsupported_steps(form, "an `output` of several answers"))
}

/// That a form cannot express what a recipe's steps do.
pub fn unsupported_steps(form: &str, what: &str) -> Refusal {
    let why = format!(
        "it makes several requests, with {what}, for which {form} has no words; python and typescript have"
    );
    Refusal::new(RefusalCode::SeveralRequests, why)
}

/// A recipe's requests as code: those of the steps, and the last one.
pub struct Requests<'a> {
    pub before: Vec<Function<'a>>,
    pub last: Function<'a>,
    /// Names of templates that stand for a value of a step's answer, by step.
    wanted: Vec<Vec<String>>,
    /// Those that each item of a list gives.
    pub of_item: Vec<String>,
}

impl<'a> Requests<'a> {
    /// `steps` are [`step_recipes`]. Fails with `RECIPE_INVALID`.
    pub fn new(recipe: &'a Recipe, steps: &'a [Recipe], language: &'a Language) -> Result<Self> {
        let mut names: Vec<Vec<String>> = Vec::new();
        for it in steps.iter().chain([recipe]) {
            let compiled = CompiledRequest::new(&it.request)?;
            names.push(compiled.names().into_iter().map(str::to_owned).collect());
        }
        let of_last = names.last().cloned().unwrap_or_default();
        let for_each = recipe.chain.as_ref().and_then(|it| it.for_each.as_deref());
        let of = |step: &str, all: &mut dyn Iterator<Item = &String>| {
            let mut out: Vec<String> =
                all.filter(|it| split_step_name(it).0 == step).cloned().collect();
            out.sort_unstable();
            out.dedup();
            out
        };
        let before = recipe.chain.as_ref().map_or(&[][..], |it| &it.before);
        let wanted: Vec<Vec<String>> = before
            .iter()
            .enumerate()
            .map(|(at, step)| {
                let until = if for_each == Some(&*step.name) { steps.len() } else { names.len() };
                of(&step.name, &mut names[at + 1..until].iter().flatten())
            })
            .collect();
        let of_item = for_each.map_or_else(Vec::new, |it| of(it, &mut of_last.iter()));
        let mut fields: Vec<String> = wanted.iter().chain([&of_item]).flatten().cloned().collect();
        fields.dedup();
        let function = |it: &'a Recipe| {
            Ok(Function::with_fields(RequestParts::from_recipe(it)?, language, &fields))
        };
        Ok(Self {
            before: steps.iter().map(function).collect::<Result<_>>()?,
            last: function(recipe)?,
            wanted,
            of_item,
        })
    }

    /// Why no client can be written.
    pub fn obstacle(&self) -> Option<Refusal> {
        let recipe = self.last.asked.recipe;
        if recipe.auth.is_some() && recipe.chain.is_some() {
            return Some(key_and_chain());
        }
        if let Some(why) = self.odd_list() {
            return Some(why);
        }
        let all = self.before.iter().chain([&self.last]);
        let why = all
            .map(|it| obstacle(it.asked.recipe, &it.asked).or_else(|| it.optional_header()))
            .find_map(|it| it);
        why.or_else(|| self.odd_condition())
    }

    /// All items of a list in one request, where code has no words for what becomes of an empty one, or of a JSON list.
    fn odd_list(&self) -> Option<Refusal> {
        let chain = self.last.asked.recipe.chain.as_ref()?;
        let step = chain.before.iter().find(|it| match &it.choose {
            Some(Choose::All(separator)) => separator.is_empty() || chain.output.is_some(),
            _ => false,
        })?;
        let why = "puts its items into a request as a JSON list, or beside an `output`";
        let why = format!("step `{}` {why}, for which this form has no words", step.name);
        Some(Refusal::new(RefusalCode::SeveralRequests, why))
    }

    /// A condition with something beside a value that may be missing.
    fn odd_condition(&self) -> Option<Refusal> {
        let chain = self.last.asked.recipe.chain.as_ref()?;
        let odd = |text: &str| {
            Template::parse(text).is_ok_and(|it| {
                it.pieces().count() > 1 && it.names().any(|name| self.last.is_optional(name))
            })
        };
        let step = chain.before.iter().find(|it| match &it.choose {
            Some(Choose::Where(all)) => all.values().filter_map(|it| it.as_str()).any(odd),
            _ => false,
        })?;
        let why = format!("a condition of step `{}` has a value that may be left out", step.name);
        Some(Refusal::new(RefusalCode::SeveralRequests, why))
    }

    /// The steps, each with its request and the names that its answer gives.
    pub fn steps(&self) -> impl Iterator<Item = (&'a Step, &Function<'a>, &[String])> {
        let steps = self.chain().map_or(&[][..], |it| &it.before);
        steps
            .iter()
            .zip(&self.before)
            .zip(&self.wanted)
            .map(|((step, function), wanted)| (step, function, wanted.as_slice()))
    }

    pub fn chain(&self) -> Option<&'a Chain> {
        self.last.asked.recipe.chain.as_ref()
    }

    /// What is fetched before all requests: each address once, with the values of its answer.
    pub fn prefetched_slots(&self) -> Vec<(&'a str, Vec<&'a Slot>)> {
        let mut out: Vec<(&str, Vec<&Slot>)> = Vec::new();
        for (url, slots) in
            self.before.iter().chain([&self.last]).flat_map(|it| it.asked.prefetched_slots())
        {
            let at = out.iter().position(|it| it.0 == url).unwrap_or_else(|| {
                out.push((url, Vec::new()));
                out.len() - 1
            });
            for slot in slots {
                if !out[at].1.iter().any(|it| it.name == slot.name) {
                    out[at].1.push(slot);
                }
            }
        }
        out
    }

    /// The step before this one that asks for the same in the same words: it is asked for once.
    pub fn same_request(&self, at: usize) -> Option<usize> {
        let steps = &self.chain()?.before;
        let request = steps.get(at).map_or(&self.last.asked.recipe.request, |it| &it.request);
        let is_polled = |it: &Step| it.poll.is_some();
        if steps.get(at).is_some_and(is_polled) {
            return None;
        }
        steps[..at.min(steps.len())].iter().position(|it| it.request == *request && !is_polled(it))
    }

    /// Whether one of the answers is read by an expression.
    pub fn has_expressions(&self) -> bool {
        let of_chain = self
            .chain()
            .is_some_and(|it| it.output.is_some() || it.before.iter().any(|it| it.poll.is_some()));
        let reads = |it: &Function<'_>| it.asked.recipe.response.extract.is_some();
        of_chain || self.before.iter().chain([&self.last]).any(reads)
    }
}
