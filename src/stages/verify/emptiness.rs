//! Answers without items: which are some, and what they say.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{NOBODYS_WORDS, ProofAnswer, Run, is_none, length};
use crate::{
    refutation::{Halt, Proof, final_, require_answer},
    replay::{Observation, example_answer},
};
use commis_base::error::Code;
use commis_recipe::{
    blocks,
    model::{EmptyAnswer, ParamType, Parameter, TransportKind},
};

impl Run<'_, '_> {
    /// An example is answered by a list without items, and the manifest does not ask for some.
    pub(super) async fn finds_nothing(
        &mut self,
        what: &str,
        values: &BTreeMap<String, String>,
    ) -> Proof<bool> {
        let asked_for = self.response.min_items > self.draft.response.min_items;
        Ok(!asked_for && self.is_empty(what, values).await?)
    }

    /// The values are answered by a list without items. Its page is kept, to be looked at by [`say_so`](Self::say_so).
    pub(super) async fn is_empty(
        &mut self,
        what: &str,
        values: &BTreeMap<String, String>,
    ) -> Proof<bool> {
        Ok(self.find_items(what, values).await?.is_none())
    }

    /// The answer to the values, unless it is a list without items, which is kept as by [`is_empty`](Self::is_empty).
    async fn find_items(
        &mut self,
        what: &str,
        values: &BTreeMap<String, String>,
    ) -> Proof<Option<Observation>> {
        let mut response = self.response.clone();
        response.min_items = Some(0);
        response.required_paths.clear();
        let seen = self.observe_with(what, values, &response, None).await?;
        require_answer(what, &seen.replay)?;
        if seen.good() && seen.data.as_ref().is_some_and(is_none) {
            self.without.push(ProofAnswer::from_observation(seen));
            return Ok(None);
        }
        Ok(Some(seen))
    }

    /// Every page without items is built as those with some, and says what they do not say: a login, a challenge or a page that
    /// has changed is none.
    pub(super) fn say_so(&self) -> Proof<()> {
        if self.without.is_empty() || self.empty_page(&[]).is_some() {
            return Ok(());
        }
        Err(final_("a page without items that an example got does not say that there are none")
            .into())
    }

    /// What tells the pages without items. `typed`: what they were asked for beside the examples.
    pub(super) fn empty_page(&self, typed: &[&str]) -> Option<EmptyAnswer> {
        let Some(html) = &self.response.html else {
            let full: Vec<&Value> =
                self.answers.iter().filter_map(|it| it.whole.as_ref()).collect();
            let empty: Vec<&Value> =
                self.without.iter().filter_map(|it| it.whole.as_ref()).collect();
            return Some(length::empty_answer(&full, &empty));
        };
        let page = |it: &ProofAnswer| blocks::parse_bounded(&String::from_utf8_lossy(&it.body));
        let with: Vec<_> = self.answers.iter().filter_map(page).collect();
        let without: Vec<_> = self.without.iter().map(page).collect::<Option<_>>()?;
        let typed = self.typed(typed);
        blocks::no_results::learn(
            &without.iter().collect::<Vec<_>>(),
            &with.iter().collect::<Vec<_>>(),
            html,
            &typed,
        )
    }

    /// How the site says that it has nothing, from its answers to words that nobody uses: such a page is no failure later. Two
    /// words, because a line that only one page has may be anything.
    pub(super) async fn nothing(
        &mut self,
        first: &BTreeMap<String, String>,
    ) -> Proof<Option<EmptyAnswer>> {
        let is_word = |it: &&Parameter| {
            let limits = &it.constraints;
            it.required
                && it.kind == ParamType::Str
                && limits.one_of.is_empty()
                && limits.format.is_none()
                && first.get(&it.name).is_some_and(|it| it.chars().any(char::is_alphabetic))
        };
        if let Some(it) = self.draft.parameters.iter().find(is_word)
            && self.transport != TransportKind::Stub
        {
            // A line of a page may be anything; what JSON says beside the list is by a name.
            let words = if self.response.html.is_some() { 2 } else { 1 };
            for word in &NOBODYS_WORDS[..words] {
                if self.without.len() >= words || self.replayer.spent() {
                    break;
                }
                let mut values = first.clone();
                values.insert(it.name.clone(), (*word).to_owned());
                match self.find_items("nobody's word", &values).await {
                    Ok(None) => {}
                    // Some servers fall over a word that they have nothing for.
                    Err(Halt::Refuted(why)) if why.transient == Some(Code::ConnectFailed) => break,
                    Ok(Some(seen)) => {
                        let data = seen.data.as_ref().filter(|_| seen.good());
                        self.report.substitute = data.map(|it| example_answer(&values, &[it]));
                        break;
                    }
                    Err(why) => return Err(why),
                }
            }
        }
        if self.without.is_empty() {
            return Ok(None);
        }
        Ok(self.empty_page(&NOBODYS_WORDS))
    }
}
