//! CSS selectors that a page cannot make slow: shapes whose work grows as the square of a page are refused before there is a
//! page, and what is left counts each element that it looks at against the budget of the computation.

use scraper::{
    Element, ElementRef, Html, Node,
    error::SelectorErrorKind,
    selector::{CssLocalName, CssString, NonTSPseudoClass, Parser, PseudoElement, Simple},
};
use selectors::{
    OpaqueElement, SelectorList,
    attr::{AttrSelectorOperation, CaseSensitivity, NamespaceConstraint},
    bloom::BloomFilter,
    matching::{
        ElementSelectorFlags, MatchingContext, MatchingForInvalidation, MatchingMode,
        NeedsSelectorFlags, QuirksMode, SelectorCaches, matches_selector_list,
    },
    parser::{
        Combinator, Component, NthSelectorData, NthType, ParseRelative, RelativeSelector,
        RelativeSelectorMatchHint,
    },
};

use commis_base::work::step;

/// Levels of descent that may stand in each other: `:has(a b)` behind a descendant combinator.
const MAX_DESCENTS: u32 = 3;

/// A list of selectors.
#[derive(Clone, Debug)]
pub struct Selector {
    list: SelectorList<Simple>,
    /// Of each selector in the list.
    needs: Vec<Needs>,
}

/// What an element has to have before a selector is worth matching: most elements of a page do not.
#[derive(Clone, Debug, Default)]
struct Needs {
    local_name: Option<CssLocalName>,
    class: Option<CssLocalName>,
}

impl Needs {
    /// Of the selector's last compound.
    fn new(selector: &selectors::parser::Selector<Simple>) -> Self {
        let mut out = Self::default();
        for it in selector.iter() {
            match it {
                Component::LocalName(it) => out.local_name = Some(it.lower_name.clone()),
                Component::Class(it) => out.class = Some(it.clone()),
                _ => {}
            }
        }
        out
    }

    fn are_met(&self, element: ElementRef<'_>) -> bool {
        let it = element.value();
        // The name of an element in SVG may have letters in upper case, which a selector may have, too.
        self.local_name.as_ref().is_none_or(|name| it.name().eq_ignore_ascii_case(&name.0))
            && self
                .class
                .as_ref()
                .is_none_or(|it| has_class(element, it, CaseSensitivity::CaseSensitive))
    }
}

impl Selector {
    /// Fails with what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut input = cssparser::Parser::new(text);
        let list = SelectorList::parse(&Parser, &mut input, ParseRelative::No)
            .map_err(|err| SelectorErrorKind::from(err).to_string())?;
        let work = list_cost(&list, false)?;
        if work.siblings > 1 {
            return Err("nested sibling combinators (`~`) take quadratic time".into());
        }
        if work.descents > MAX_DESCENTS {
            return Err("descendants of descendants are looked for in each other too often".into());
        }
        let needs = list.slice().iter().map(Needs::new).collect();
        Ok(Self { list, needs })
    }

    pub fn matches(&self, element: ElementRef<'_>) -> bool {
        self.matches_in_scope(element, None, &mut SelectorCaches::default())
    }

    /// The elements of the page that it means, in the order in which the parser made them.
    pub fn select_in_page<'a>(&self, page: &'a Html) -> impl Iterator<Item = ElementRef<'a>> {
        let mut caches = SelectorCaches::default();
        let all = page.tree.nodes().filter_map(ElementRef::wrap).filter(|it| it.parent().is_some());
        all.filter(move |it| self.matches_in_scope(*it, None, &mut caches))
    }

    /// The elements within this one that the selector means, in document order.
    pub fn select_within<'a>(&self, scope: ElementRef<'a>) -> impl Iterator<Item = ElementRef<'a>> {
        let mut caches = SelectorCaches::default();
        let all = scope.descendants().skip(1).filter_map(ElementRef::wrap);
        all.filter(move |it| self.matches_in_scope(*it, Some(scope), &mut caches))
    }

    fn matches_in_scope(
        &self,
        element: ElementRef<'_>,
        scope: Option<ElementRef<'_>>,
        caches: &mut SelectorCaches,
    ) -> bool {
        step(1);
        if !self.needs.iter().any(|it| it.are_met(element)) {
            return false;
        }
        let mut context = MatchingContext::new(
            MatchingMode::Normal,
            None,
            caches,
            QuirksMode::NoQuirks,
            NeedsSelectorFlags::No,
            MatchingForInvalidation::No,
        );
        context.scope_element = scope.map(|it| it.opaque());
        matches_selector_list(&self.list, &CountedElement(element), &mut context)
    }
}

/// How the work for one element grows with the page: as which power of the siblings that it may have, and of the levels of
/// elements below each other, which are few.
#[derive(Clone, Copy, Default)]
struct MatchCost {
    siblings: u32,
    descents: u32,
}

impl MatchCost {
    fn or(self, other: Self) -> Self {
        Self {
            siblings: self.siblings.max(other.siblings),
            descents: self.descents.max(other.descents),
        }
    }

    fn times(self, other: Self) -> Self {
        Self { siblings: self.siblings + other.siblings, descents: self.descents + other.descents }
    }
}

fn list_cost(list: &SelectorList<Simple>, in_has: bool) -> Result<MatchCost, String> {
    list.slice()
        .iter()
        .try_fold(MatchCost::default(), |out, it| Ok(out.or(selector_cost(it, in_has)?)))
}

/// From its last compound to its first: those to the left are asked of each element that the walk there visits. A walk among
/// siblings, or up, is made once: what one combinator did not find, the next of its kind does not look for again.
fn selector_cost(
    selector: &selectors::parser::Selector<Simple>,
    in_has: bool,
) -> Result<MatchCost, String> {
    let (mut out, mut walk) = (MatchCost::default(), MatchCost::default());
    for it in selector.iter_raw_match_order() {
        match it {
            Component::Combinator(Combinator::Descendant) => walk.descents = 1,
            Component::Combinator(Combinator::LaterSibling) => walk.siblings = 1,
            Component::Negation(list) | Component::Is(list) | Component::Where(list) => {
                out = out.or(walk.times(list_cost(list, in_has)?));
            }
            // Counted from the end anew for each; the last child is seen at once.
            Component::Nth(it) if counts_from_end(it) => {
                out = out.or(walk.times(MatchCost { siblings: 1, descents: 0 }));
            }
            Component::NthOf(it) => {
                for it in it.selectors() {
                    out = out.or(walk.times(selector_cost(it, in_has)?));
                }
            }
            Component::Has(_) if in_has => return Err("`:has` in `:has` means nothing".into()),
            Component::Has(all) => {
                for it in all {
                    out = out.or(walk.times(relative_cost(it)?));
                }
            }
            _ => {}
        }
    }
    Ok(out.or(walk))
}

fn counts_from_end(it: &NthSelectorData) -> bool {
    match it.ty {
        NthType::LastChild => it.is_function,
        NthType::LastOfType | NthType::OnlyOfType => true,
        NthType::Child | NthType::OnlyChild | NthType::OfType => false,
    }
}

/// For each element it looks through others, and asks each of them.
fn relative_cost(it: &RelativeSelector<Simple>) -> Result<MatchCost, String> {
    use RelativeSelectorMatchHint::{
        InChild, InNextSibling, InNextSiblingSubtree, InSibling, InSiblingSubtree, InSubtree,
    };
    let search = match it.match_hint {
        InChild | InNextSibling => MatchCost::default(),
        InSubtree | InNextSiblingSubtree => MatchCost { siblings: 0, descents: 1 },
        InSibling | InSiblingSubtree => MatchCost { siblings: 1, descents: 0 },
    };
    let work = search.times(selector_cost(&it.selector, true)?);
    if work.siblings > 0 {
        return Err(
            "`:has` looks through all siblings of each element: that takes the square of a page"
                .into(),
        );
    }
    Ok(work)
}

/// An element that counts the nodes that are passed on the way to another.
#[derive(Clone, Copy, Debug)]
struct CountedElement<'a>(ElementRef<'a>);

impl<'a> CountedElement<'a> {
    fn first(mut nodes: impl Iterator<Item = ego_tree::NodeRef<'a, Node>>) -> Option<Self> {
        nodes.find_map(|it| {
            step(1);
            ElementRef::wrap(it).map(Self)
        })
    }
}

impl Element for CountedElement<'_> {
    type Impl = Simple;

    fn opaque(&self) -> OpaqueElement {
        self.0.opaque()
    }

    fn parent_element(&self) -> Option<Self> {
        step(1);
        self.0.parent_element().map(Self)
    }

    fn parent_node_is_shadow_root(&self) -> bool {
        self.0.parent_node_is_shadow_root()
    }

    fn containing_shadow_host(&self) -> Option<Self> {
        self.0.containing_shadow_host().map(Self)
    }

    fn is_pseudo_element(&self) -> bool {
        self.0.is_pseudo_element()
    }

    fn prev_sibling_element(&self) -> Option<Self> {
        Self::first(self.0.prev_siblings())
    }

    fn next_sibling_element(&self) -> Option<Self> {
        Self::first(self.0.next_siblings())
    }

    fn first_element_child(&self) -> Option<Self> {
        Self::first(self.0.children())
    }

    fn is_html_element_in_html_document(&self) -> bool {
        self.0.is_html_element_in_html_document()
    }

    fn has_local_name(&self, name: &CssLocalName) -> bool {
        self.0.has_local_name(name)
    }

    fn has_namespace(&self, namespace: &html5ever::Namespace) -> bool {
        self.0.has_namespace(namespace)
    }

    fn is_same_type(&self, other: &Self) -> bool {
        self.0.is_same_type(&other.0)
    }

    fn attr_matches(
        &self,
        namespace: &NamespaceConstraint<&html5ever::Namespace>,
        name: &CssLocalName,
        operation: &AttrSelectorOperation<&CssString>,
    ) -> bool {
        let values = self.0.value().attrs.iter().map(|it| 1 + it.1.len() / 64);
        step(values.sum());
        self.0.attr_matches(namespace, name, operation)
    }

    fn match_non_ts_pseudo_class(
        &self,
        class: &NonTSPseudoClass,
        context: &mut MatchingContext<'_, Simple>,
    ) -> bool {
        self.0.match_non_ts_pseudo_class(class, context)
    }

    fn match_pseudo_element(
        &self,
        element: &PseudoElement,
        context: &mut MatchingContext<'_, Simple>,
    ) -> bool {
        self.0.match_pseudo_element(element, context)
    }

    fn apply_selector_flags(&self, flags: ElementSelectorFlags) {
        self.0.apply_selector_flags(flags);
    }

    fn is_link(&self) -> bool {
        self.0.is_link()
    }

    fn is_html_slot_element(&self) -> bool {
        self.0.is_html_slot_element()
    }

    fn has_id(&self, id: &CssLocalName, case: CaseSensitivity) -> bool {
        self.0.has_id(id, case)
    }

    fn has_class(&self, name: &CssLocalName, case: CaseSensitivity) -> bool {
        has_class(self.0, name, case)
    }

    fn has_custom_state(&self, name: &CssLocalName) -> bool {
        self.0.has_custom_state(name)
    }

    fn imported_part(&self, name: &CssLocalName) -> Option<CssLocalName> {
        self.0.imported_part(name)
    }

    fn is_part(&self, name: &CssLocalName) -> bool {
        self.0.is_part(name)
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn is_root(&self) -> bool {
        self.0.is_root()
    }

    fn add_element_unique_hashes(&self, filter: &mut BloomFilter) -> bool {
        self.0.add_element_unique_hashes(filter)
    }
}

/// scraper makes a name of each class of the element before it compares, which costs more than all the rest of a page's selection.
fn has_class(element: ElementRef<'_>, name: &CssLocalName, case: CaseSensitivity) -> bool {
    let classes = element.value().attrs().find(|it| it.0 == "class").map_or("", |it| it.1);
    step(classes.len() / 16);
    classes.split_ascii_whitespace().any(|it| case.eq(it.as_bytes(), name.0.as_bytes()))
}

#[cfg(test)]
#[path = "matching_tests.rs"]
mod tests;
