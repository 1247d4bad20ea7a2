//! Paths, projections and selections evaluated where the document lies: nothing is copied but what is found.
//!
//! Most recipes need no more of JMESPath than this. For the rest (functions, comparisons, slices) `expression` asks the library's
//! interpreter, whose results these are held to.

use std::rc::Rc;

use jmespath::ast::Ast;

use super::document::Document;

/// What a path leads to: a place in the document, or what an expression put together.
#[derive(Clone)]
pub enum QueryValue<'d> {
    There(&'d Document<'d>),
    List(Rc<Vec<QueryValue<'d>>>),
    /// By name, each once.
    Hash(Rc<Vec<(&'d str, QueryValue<'d>)>>),
}

/// What the expression finds; `None` when it is not one of those that are understood here.
pub fn find<'d>(at: &QueryValue<'d>, node: &'d Ast) -> Option<QueryValue<'d>> {
    Some(match node {
        Ast::Identity { .. } => at.clone(),
        Ast::Field { name, .. } => at.field(name),
        Ast::Index { idx, .. } => at.index(*idx),
        Ast::Subexpr { lhs, rhs, .. } => find(&find(at, lhs)?, rhs)?,
        Ast::Projection { lhs, rhs, .. } => {
            let mut out = Vec::new();
            let list = find(at, lhs)?.each(|it| {
                let it = find(&it, rhs)?;
                if !it.is_null() {
                    out.push(it);
                }
                Some(())
            })?;
            if list { QueryValue::from_items(out) } else { QueryValue::NULL }
        }
        Ast::Flatten { node, .. } => {
            let mut out = Vec::new();
            let list = find(at, node)?.each(|it| {
                let inner = it.each(|it| {
                    out.push(it);
                    Some(())
                })?;
                if !inner {
                    out.push(it);
                }
                Some(())
            })?;
            if list { QueryValue::from_items(out) } else { QueryValue::NULL }
        }
        Ast::ObjectValues { node, .. } => match find(at, node)? {
            QueryValue::There(Document::Object(all)) => {
                QueryValue::from_items(all.iter().map(|it| QueryValue::There(&it.1)).collect())
            }
            QueryValue::Hash(all) => {
                QueryValue::from_items(all.iter().map(|it| it.1.clone()).collect())
            }
            _ => QueryValue::NULL,
        },
        Ast::MultiList { .. } | Ast::MultiHash { .. } if at.is_null() => QueryValue::NULL,
        Ast::MultiList { elements, .. } => {
            QueryValue::from_items(elements.iter().map(|it| find(at, it)).collect::<Option<_>>()?)
        }
        Ast::MultiHash { elements, .. } => {
            let mut out: Vec<(&str, QueryValue<'_>)> = Vec::with_capacity(elements.len());
            for it in elements {
                let value = find(at, &it.value)?;
                match out.binary_search_by(|kept| kept.0.cmp(&it.key)) {
                    Ok(n) => out[n].1 = value,
                    Err(n) => out.insert(n, (&it.key, value)),
                }
            }
            QueryValue::Hash(Rc::new(out))
        }
        Ast::Comparison { .. }
        | Ast::Condition { .. }
        | Ast::Expref { .. }
        | Ast::Function { .. }
        | Ast::Literal { .. }
        | Ast::Not { .. }
        | Ast::And { .. }
        | Ast::Or { .. }
        | Ast::Slice { .. } => return None,
    })
}

impl QueryValue<'_> {
    const NULL: Self = Self::There(Document::NULL);

    fn from_items(all: Vec<Self>) -> Self {
        Self::List(Rc::new(all))
    }

    fn is_null(&self) -> bool {
        matches!(self, Self::There(Document::Null))
    }

    fn field(&self, name: &str) -> Self {
        match self {
            Self::There(it) => it.get(name).map_or(Self::NULL, Self::There),
            Self::List(_) => Self::NULL,
            Self::Hash(all) => match all.binary_search_by(|it| it.0.cmp(name)) {
                Ok(n) => all[n].1.clone(),
                Err(_) => Self::NULL,
            },
        }
    }

    /// -1 is the last.
    fn index(&self, n: i32) -> Self {
        let len = match self {
            Self::There(it) => it.as_list().map_or(0, <[_]>::len),
            Self::List(all) => all.len(),
            Self::Hash(_) => 0,
        };
        let back = n.unsigned_abs() as usize;
        let at = if n < 0 { len.checked_sub(back) } else { Some(back) };
        match (at.filter(|it| *it < len), self) {
            (Some(n), Self::There(Document::List(all))) => Self::There(&all[n]),
            (Some(n), Self::List(all)) => all[n].clone(),
            _ => Self::NULL,
        }
    }

    /// Goes through a list until `seen` gives up. False when it is no list.
    fn each(&self, mut seen: impl FnMut(Self) -> Option<()>) -> Option<bool> {
        match self {
            Self::There(Document::List(all)) => {
                for it in all {
                    seen(Self::There(it))?;
                }
            }
            Self::List(all) => {
                for it in all.iter() {
                    seen(it.clone())?;
                }
            }
            _ => return Some(false),
        }
        Some(true)
    }
}
