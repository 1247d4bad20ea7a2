//! A column of a block.

use scraper::ElementRef;

/// One field over all items.
pub struct Column<'a> {
    pub name: String,
    pub place: ColumnSource,
    /// The attribute that is taken; `None`: the text.
    pub attribute: Option<String>,
    /// Every element of an item it is taken from; more than one makes a list.
    pub elements: Vec<Vec<ElementRef<'a>>>,
    pub texts: Vec<Option<String>>,
    pub is_list: bool,
}

/// How a column is found in an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnSource {
    /// By structure: position among the item's elements of one path.
    Path(usize),
    /// A column of the table that the item is a row of.
    Cell(usize),
    /// The value beside this label.
    Label(String),
    /// The heading of the item's group.
    Heading,
}

impl Column<'_> {
    /// Whether a reader of the page sees it: links and the like are no text, and what a picture says in place of one is.
    pub fn is_shown(&self) -> bool {
        let says = |it: &String| SAID.contains(&it.as_str());
        self.attribute.is_none()
            || (matches!(self.place, ColumnSource::Cell(_) | ColumnSource::Label(_))
                && self.attribute.as_ref().is_some_and(says))
            || (matches!(self.place, ColumnSource::Label(_))
                && self.attribute.as_deref() == Some(VALUE))
    }
}

/// Columns of one group.
pub const MAX_COLUMNS: usize = 40;

/// The attribute with what a field shows.
pub const VALUE: &str = "value";

/// Attributes that say what a picture or a sign shows.
pub const SAID: [&str; 3] = ["alt", "aria-label", "title"];
