//! What of a document an expression can look at: everything else need not be kept when the document is read.
//!
//! Worked out backwards, from what the result shows to what its parts need. Where a value is compared, tested or given to a
//! function, all of it counts. An array keeps its length, and whether something is null is always known, so nothing that was
//! left out can be told from the result.

use jmespath::ast::Ast;

/// `a[].b[].c` asks twice as much with each step, because `[]` reads lists of lists as well.
const MAX_SIZE: usize = 256;

/// A part of a document, by structure. The default is the least: what kind of value there is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FieldMask {
    /// The value with all that is in it.
    all: bool,
    /// Of an object.
    fields: Vec<(String, FieldMask)>,
    /// Of an object's every field, besides.
    values: Option<Box<FieldMask>>,
    /// Of an array's every element.
    elements: Option<Box<FieldMask>>,
}

impl FieldMask {
    pub const ALL: &'static Self = &Self::everything();

    pub const NONE: &'static Self =
        &Self { all: false, fields: Vec::new(), values: None, elements: None };

    const fn everything() -> Self {
        Self { all: true, fields: Vec::new(), values: None, elements: None }
    }

    /// All that can bear on what the expression finds.
    pub fn from_expression(expression: &Ast) -> Self {
        required_mask(expression, Self::everything())
    }

    pub fn field(name: &str, reach: Self) -> Self {
        Self { fields: vec![(name.to_owned(), reach)], ..Self::default() }
    }

    pub fn elements(reach: Self) -> Self {
        Self { elements: Some(Box::new(reach)), ..Self::default() }
    }

    fn values(reach: Self) -> Self {
        Self { values: Some(Box::new(reach)), ..Self::default() }
    }

    /// What either of them holds.
    #[must_use]
    pub fn union(mut self, other: Self) -> Self {
        if self.all || other.all {
            return Self::everything();
        }
        for (name, reach) in other.fields {
            match self.fields.iter_mut().find(|it| it.0 == name) {
                Some((_, own)) => *own = std::mem::take(own).union(reach),
                None => self.fields.push((name, reach)),
            }
        }
        self.values = union_optional(self.values, other.values);
        self.elements = union_optional(self.elements, other.elements);
        if let Some(every) = &self.values {
            for (_, own) in &mut self.fields {
                *own = std::mem::take(own).union(Self::clone(every));
            }
        }
        if self.size() > MAX_SIZE { Self::everything() } else { self }
    }

    fn size(&self) -> usize {
        let below = self.fields.iter().map(|it| &it.1);
        let boxed = [&self.values, &self.elements].into_iter().flatten().map(AsRef::as_ref);
        below.chain(boxed).map(Self::size).sum::<usize>() + 1
    }

    /// Whether the value counts with all that is in it.
    pub const fn is_all(&self) -> bool {
        self.all
    }

    /// What is kept of the field of that name; `None`: not even that it is there.
    pub fn get_field(&self, name: &str) -> Option<&Self> {
        if self.all {
            return Some(self);
        }
        let own = self.fields.iter().find(|it| it.0 == name).map(|it| &it.1);
        own.or(self.values.as_deref())
    }

    /// What is kept of each element.
    pub fn get_elements(&self) -> Option<&Self> {
        if self.all { Some(self) } else { self.elements.as_deref() }
    }

    /// How many fields an object may keep, where that is known.
    pub fn field_count(&self) -> Option<usize> {
        (!self.all && self.values.is_none()).then_some(self.fields.len())
    }
}

fn union_optional(a: Option<Box<FieldMask>>, b: Option<Box<FieldMask>>) -> Option<Box<FieldMask>> {
    match (a, b) {
        (Some(a), Some(b)) => Some(Box::new(a.union(*b))),
        (a, b) => a.or(b),
    }
}

/// What must be known of the input so that of the node's result `wanted` is.
fn required_mask(node: &Ast, wanted: FieldMask) -> FieldMask {
    let each = |wanted: &FieldMask| wanted.get_elements().cloned().unwrap_or_default();
    let whole = |all: &mut dyn Iterator<Item = &Ast>| {
        all.fold(FieldMask::default(), |out, it| {
            out.union(required_mask(it, FieldMask::everything()))
        })
    };
    match node {
        Ast::Identity { .. } => wanted,
        Ast::Field { name, .. } => FieldMask::field(name, wanted),
        Ast::Subexpr { lhs, rhs, .. } => required_mask(lhs, required_mask(rhs, wanted)),
        Ast::Index { .. } => FieldMask::elements(wanted),
        Ast::Slice { .. } => FieldMask::elements(each(&wanted)),
        Ast::Projection { lhs, rhs, .. } => {
            required_mask(lhs, FieldMask::elements(required_mask(rhs, each(&wanted))))
        }
        Ast::Flatten { node, .. } => {
            let one = each(&wanted);
            required_mask(node, FieldMask::elements(one.clone().union(FieldMask::elements(one))))
        }
        Ast::ObjectValues { node, .. } => required_mask(node, FieldMask::values(each(&wanted))),
        Ast::MultiList { elements, .. } => elements
            .iter()
            .fold(FieldMask::default(), |out, it| out.union(required_mask(it, each(&wanted)))),
        Ast::MultiHash { elements, .. } => elements.iter().fold(FieldMask::default(), |out, it| {
            let one = wanted.get_field(&it.key).cloned().unwrap_or_default();
            out.union(required_mask(&it.value, one))
        }),
        Ast::Condition { predicate, then, .. } => {
            required_mask(predicate, FieldMask::everything()).union(required_mask(then, wanted))
        }
        Ast::Or { lhs, rhs, .. } | Ast::And { lhs, rhs, .. } | Ast::Comparison { lhs, rhs, .. } => {
            whole(&mut [&**lhs, &**rhs].into_iter())
        }
        Ast::Not { node, .. } => whole(&mut std::iter::once(&**node)),
        Ast::Function { args, .. } => whole(&mut args.iter()),
        // An expression given to a function is applied to its other arguments, of which all is known.
        Ast::Expref { .. } | Ast::Literal { .. } => FieldMask::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_steps_stay_small() {
        let many = "a[].".repeat(200) + "b";
        let size = FieldMask::from_expression(&jmespath::parse(&many).unwrap()).size();
        assert!(size <= 2 * MAX_SIZE, "{size}");
    }
}
