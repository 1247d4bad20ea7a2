//! One place of what a schema describes, before it is written down.

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Map, Value};

use crate::shape::profile::Kinds;

/// The default says nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SchemaNode {
    /// None: any.
    pub types: Kinds,
    /// By name; whether an object is never without.
    pub fields: BTreeMap<String, (bool, SchemaNode)>,
    /// Under every other name.
    pub map: Option<Box<SchemaNode>>,
    pub items: Option<Box<SchemaNode>>,
    /// The first elements, each its own.
    pub first: Vec<SchemaNode>,
}

impl SchemaNode {
    pub fn from_types(types: Kinds) -> Self {
        Self { types, ..Self::default() }
    }

    pub fn may_be_null(&self) -> bool {
        self.types.is_empty() || self.types.contains(Kinds::NULL)
    }

    #[must_use]
    pub fn make_nullable(mut self) -> Self {
        if !self.types.is_empty() {
            self.types = self.types.and(Kinds::NULL);
        }
        self
    }

    /// What both say of one value.
    #[must_use]
    pub fn intersect(mut self, other: Self) -> Self {
        self.types = common_kinds(self.types, other.types);
        for (key, (is_required, place)) in other.fields {
            let own = self.fields.remove(&key).unwrap_or_default();
            self.fields.insert(key, (own.0 || is_required, own.1.intersect(place)));
        }
        self.map = intersect_optional(self.map, other.map);
        self.items = intersect_optional(self.items, other.items);
        for (i, it) in other.first.into_iter().enumerate() {
            match self.first.get_mut(i) {
                Some(own) => *own = std::mem::take(own).intersect(it),
                None => self.first.push(it),
            }
        }
        // As JSON Schema reads them, these are of the rest only.
        if let Some(every) = &self.map {
            for (_, own) in self.fields.values_mut() {
                *own = std::mem::take(own).intersect(Self::clone(every));
            }
        }
        if let Some(every) = &self.items {
            for own in &mut self.first {
                *own = std::mem::take(own).intersect(Self::clone(every));
            }
        }
        self
    }

    /// As JSON Schema, whole or as much as fits.
    pub fn render(&self, budget: Option<usize>) -> Value {
        let all = Rows::from_root(self);
        let whole = all.write(0, all.0.len(), true);
        let Some(budget) = budget else { return whole };
        let fits = |it: &Value| it.to_string().len() <= budget;
        if fits(&whole) {
            return whole;
        }
        // More rows are more bytes.
        let (mut fitting, mut over) = (0, all.0.len() + 1);
        while fitting + 1 < over {
            let middle = usize::midpoint(fitting, over);
            if fits(&all.write(0, middle, false)) {
                fitting = middle;
            } else {
                over = middle;
            }
        }
        all.write(0, fitting, false)
    }
}

/// All places, the nearest to the root first, and of one object those first that are always there.
struct Rows<'a>(Vec<Row<'a>>);

struct Row<'a> {
    types: Kinds,
    /// What stands below, and in which row.
    below: Vec<(ChildKind<'a>, usize)>,
}

enum ChildKind<'a> {
    First,
    Items,
    Field(&'a str, bool),
    Map,
}

impl<'a> Rows<'a> {
    fn from_root(root: &'a SchemaNode) -> Self {
        let mut out = Vec::new();
        let mut left = VecDeque::from([root]);
        while let Some(it) = left.pop_front() {
            let mut below = Vec::new();
            let row = out.len() + 1;
            let mut add = |what, place| {
                below.push((what, row + left.len()));
                left.push_back(place);
            };
            it.first.iter().for_each(|it| add(ChildKind::First, it));
            it.items.iter().for_each(|it| add(ChildKind::Items, it));
            for wanted in [true, false] {
                for (key, (is_required, place)) in &it.fields {
                    if *is_required == wanted {
                        add(ChildKind::Field(key, wanted), place);
                    }
                }
            }
            it.map.iter().for_each(|it| add(ChildKind::Map, it));
            out.push(Row { types: it.types, below });
        }
        Self(out)
    }

    /// A row with what is below it among the first `most`.
    fn write(&self, row: usize, most: usize, with_required: bool) -> Value {
        let mut out = Map::new();
        if row >= most {
            return out.into();
        }
        let Row { types, below } = &self.0[row];
        let mut names = types.names().map(schema_type);
        match (names.next(), names.next()) {
            (None, _) => {}
            (Some(one), None) => _ = out.insert("type".to_owned(), one.into()),
            (Some(_), Some(_)) => {
                let all: Vec<&str> = types.names().map(schema_type).collect();
                out.insert("type".to_owned(), all.into());
            }
        }
        let (mut first, mut properties, mut required) = (Vec::new(), Map::new(), Vec::new());
        let mut rest = None;
        for (what, at) in below.iter().filter(|it| it.1 < most) {
            let it = self.write(*at, most, with_required);
            match what {
                ChildKind::First => first.push(it),
                ChildKind::Items => _ = out.insert("items".to_owned(), it),
                ChildKind::Field(key, is_required) => {
                    properties.insert((*key).to_owned(), it);
                    if *is_required && with_required {
                        required.push(Value::from(*key));
                    }
                }
                ChildKind::Map => rest = Some(it),
            }
        }
        if !first.is_empty() {
            // Validators of API descriptions want both.
            out.entry("items").or_insert_with(|| Map::new().into());
            out.insert("prefixItems".to_owned(), first.into());
        }
        if !properties.is_empty() {
            out.insert("properties".to_owned(), properties.into());
        }
        if !required.is_empty() {
            out.insert("required".to_owned(), required.into());
        }
        if let Some(it) = rest {
            out.insert("additionalProperties".to_owned(), it);
        }
        out.into()
    }
}

/// A kind of a shape, as JSON Schema calls it.
pub fn schema_type(kind: &str) -> &str {
    match kind {
        "str" => "string",
        "int" => "integer",
        "num" => "number",
        "bool" => "boolean",
        "list" => "array",
        it => it,
    }
}

fn intersect_optional(
    a: Option<Box<SchemaNode>>,
    b: Option<Box<SchemaNode>>,
) -> Option<Box<SchemaNode>> {
    match (a, b) {
        (Some(a), Some(b)) => Some(Box::new(a.intersect(*b))),
        (a, b) => a.or(b),
    }
}

/// Kinds that both allow; what contradicts itself says nothing.
fn common_kinds(a: Kinds, b: Kinds) -> Kinds {
    if a.is_empty() || b.is_empty() {
        return if a.is_empty() { b } else { a };
    }
    let widened = |it: Kinds| if it.contains(Kinds::NUM) { it.or(Kinds::INT) } else { it };
    let both = widened(a).common(widened(b));
    if both.contains(Kinds::NUM) { both.without(Kinds::INT) } else { both }
}
