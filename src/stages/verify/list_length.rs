//! How long the list of an answer is, and whether it is only the first page of a longer one.

use serde_json::Value;

use commis_recipe::{
    blocks,
    model::{PageInfo, TransportKind},
    pagination::{Length, PageInfoReader},
};

use super::{NOBODYS_WORDS, Run};
use crate::{
    length::{self, ListFindings, ProofAnswer, more_than_shown},
    paginate::PaginationProver,
    refutation::{Proof, final_},
};

impl Run<'_, '_> {
    /// Notes how answers say how long their list is. Fails where the task asks for all of it, and A is only the first page.
    pub(super) async fn is_long_enough(&mut self, a: &Value) -> Proof<()> {
        let Some(items) = a.as_array().map(|it| it.len() as u64) else { return Ok(()) };
        let typed: Vec<&str> = self.typed(&NOBODYS_WORDS);
        let all: Vec<&ProofAnswer> = self.answers.iter().chain(&self.without).collect();
        let mut found = length::page_info(&all, &self.response, &typed);
        if let (Some(info), Some(ProofAnswer { whole, body, .. })) = (&found, self.answers.first())
        {
            let reader = PageInfoReader::new(info)?;
            let page = blocks::parse_bounded(&String::from_utf8_lossy(body));
            let said = match (whole, page) {
                (Some(it), _) => reader.read_json(&it.into(), items),
                (None, Some(page)) => reader.read_page(&page, "", items),
                (None, None) => Length::default(),
            };
            if self.length.complete != Some(false) && said.complete.is_some() {
                self.length = said;
            }
            self.length.total = self.length.total.or(said.total);
        }
        if let (Some(witness), None) = (&self.draft.witness, &self.response.html)
            && let Some(given) = more_than_shown(a, &witness.first)
            && !length::is_counted(given, &self.length, &self.draft.list, self.answers.first())
        {
            let count = witness.first.count;
            return Err(final_(&format!(
                "the answer has {given} items, and the page showed {count} and no way to others"
            ))
            .into());
        }
        if let Some(name) = &self.draft.list.counted {
            return Err(final_(&format!(
                "the recording asked for two parts of the list by `{name}`: which one is meant is not known"
            ))
            .into());
        }
        let witness = self.draft.witness.as_ref();
        self.report.first_page = length::first_page(&ListFindings {
            items,
            length: self.length,
            shown: witness.map(|it| u64::from(it.first.count)),
            further: witness.map_or(0, |it| it.further).max(self.draft.list.further),
            page: &self.draft.list,
            paged_by: self.paged_by.take(),
            sized_by: self.sized_by.take(),
            full_pages: length::are_full_pages(
                &self.answers,
                witness.map_or("", |it| it.task.as_str()),
                self.turns_page,
            ),
        });
        if let Some(first) = self.report.first_page.clone() {
            if found.is_none() && self.length.complete.is_none() {
                found = Some(PageInfo { page_size: Some(items), ..PageInfo::default() });
            }
            let unproven =
                if self.is_one_call() { self.paginate(found.as_ref()).await? } else { None };
            if self.draft.list.asked_for_all && self.report.pages.is_none() {
                let why = unproven.map_or(String::new(), |it| format!("; {it}"));
                return Err(final_(&format!(
                    "the task asks for all items, and the answer is only a part: {} ({}){why}",
                    first.describe(),
                    first.evidence
                ))
                .into());
            }
        } else if self.draft.list.asked_for_all
            && self.length.complete.is_none()
            && self.is_one_call()
        {
            // Nothing says that the list goes on. Whoever asks for all of it wants to know.
            self.paginate(found.as_ref()).await?;
        }
        self.report.page_info = found;
        Ok(())
    }

    /// Whether further pages can be asked for: of what many calls give together there are none.
    fn is_one_call(&self) -> bool {
        self.transport != TransportKind::Stub && self.draft.assembly.is_none()
    }

    /// Looks for the way to further pages; returns why none was proven.
    async fn paginate(&mut self, info: Option<&PageInfo>) -> Proof<Option<String>> {
        let mut response = self.response.clone();
        response.page_info = info.cloned();
        let Some(first) = self.answers.first() else { return Ok(None) };
        let shape = &self.baseline.shape;
        let mut paging = PaginationProver::new(
            self.replayer,
            self.draft,
            &response,
            self.transport,
            shape,
            &mut self.report.replays,
        );
        paging.info = info;
        match paging.prove(first).await? {
            Ok(it) => self.report.pages = Some(it),
            Err(why) => return Ok(Some(why)),
        }
        Ok(None)
    }
}
