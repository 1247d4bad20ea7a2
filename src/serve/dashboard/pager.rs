//! Long lists in pages: which part of a list a page shows, and the links to the parts before and after it.

use maud::{Markup, html};

use super::DashboardContext;

/// The part of a list that is shown.
pub struct Pager {
    /// From 1.
    page: usize,
    size: usize,
}

impl Pager {
    /// As the address says; the first part, where it says nothing that is a number.
    pub fn new(cx: &DashboardContext, size: usize) -> Self {
        let asked = cx.query_value("page").and_then(|it| it.parse().ok());
        Self { page: asked.unwrap_or(1).clamp(1, 100_000), size }
    }

    /// Items before the part.
    pub fn skip(&self) -> usize {
        (self.page - 1) * self.size
    }

    /// The part of a list that is there whole; the last part, where the address leads behind the end.
    pub fn part<'a, T>(&mut self, all: &'a [T]) -> &'a [T] {
        let pages = all.len().div_ceil(self.size).max(1);
        self.page = self.page.min(pages);
        let from = self.skip();
        &all[from..all.len().min(from + self.size)]
    }

    /// Links to what stands before and after; nothing where a list has one part. `total`: where it is known.
    pub fn links(
        &self,
        cx: &DashboardContext,
        path: &str,
        shown: usize,
        more: bool,
        total: Option<usize>,
    ) -> Markup {
        let to = |page: usize| {
            let mut out = url::form_urlencoded::Serializer::new(String::new());
            for (name, value) in cx.query.iter().filter(|it| it.0 != "page") {
                out.append_pair(name, value);
            }
            format!("{path}?{}", out.append_pair("page", &page.to_string()).finish())
        };
        html! {
            @if self.page > 1 || more {
                nav.pager aria-label="Parts of the list" {
                    @if self.page > 1 { a href=(to(self.page - 1)) rel="prev" { "Previous" } } @else { span.soft { "Previous" } }
                    span {
                        @if shown == 0 { "nothing here" } @else { (self.skip() + 1) "–" (self.skip() + shown) }
                        @if let Some(it) = total { " of " (it) }
                    }
                    @if more { a href=(to(self.page + 1)) rel="next" { "Next" } } @else { span.soft { "Next" } }
                }
            }
        }
    }
}
