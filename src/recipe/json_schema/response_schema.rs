//! The schema of a whole answer, from that of the data: `extract` turned round.
//!
//! Walking an expression backwards puts what is known of its result where it stands in its input. What it can not see is left
//! open: a field that may be null in the data may be missing in the answer, and what a filter passes over may be anything. Lists
//! that `[]` opens are taken for lists of no lists, which they were in all but 14 of 54,530 recorded ones.
//!
//! The answer itself is not kept as a profile: of 204 recorded sites a fifth answer with more than 256 places, up to 2,744, which
//! no recipe should hold; runs, by which a recipe is proven again, keep only what they extract; and what it does not read is not
//! its business.

use jmespath::ast::Ast;
use serde_json::Value;

use super::{infer_data, node::SchemaNode};
use crate::{
    model::{Framing, Recipe, ResponseType},
    shape::profile::{Kinds, is_plain},
};

/// An index beyond this says only that there is a list.
const MAX_INDEX: usize = 16;

/// What is known of a whole answer.
#[derive(Clone, Debug, PartialEq)]
pub struct AnswerSchema {
    pub schema: Value,
    /// Parts of `extract` that cannot be turned round, by name: what they look at is not described.
    pub open: Vec<String>,
}

/// Schema of the JSON that an answer is, or holds: in its framing, or embedded in a page. Fails with why there is none.
pub fn answer_schema(recipe: &Recipe) -> Result<AnswerSchema, &'static str> {
    let response = &recipe.response;
    match response.kind {
        ResponseType::Text => return Err("the answer is text"),
        ResponseType::Html if response.html.is_some() => return Err("the answer is a page"),
        _ => {}
    }
    let mut open = Vec::new();
    let mut place = infer_data(recipe);
    if let Some(extract) = &response.extract {
        let expression = jmespath::parse(extract).map_err(|_| "`extract` does not parse")?;
        place = infer_input(&expression, place, &mut open);
    }
    if response.framing == Some(Framing::Lines) {
        place = place.intersect(SchemaNode::from_types(Kinds::LIST));
    }
    open.sort_unstable();
    open.dedup();
    Ok(AnswerSchema { schema: place.render(None), open })
}

/// What the input must be where `node` finds something like `wanted` in it.
fn infer_input(node: &Ast, wanted: SchemaNode, open: &mut Vec<String>) -> SchemaNode {
    let nullable = wanted.may_be_null();
    let or_null = |kinds: Kinds| if nullable { kinds.and(Kinds::NULL) } else { kinds };
    let not_known = |what: &str, open: &mut Vec<String>| {
        open.push(what.to_owned());
        SchemaNode::default()
    };
    match node {
        Ast::Identity { .. } => wanted,
        Ast::Literal { .. } => SchemaNode::default(),
        Ast::Field { name, .. } => {
            let mut out = SchemaNode::from_types(or_null(Kinds::OBJECT));
            if is_plain(name) {
                out.fields.insert(name.clone(), (!nullable, wanted));
            }
            out
        }
        Ast::Subexpr { lhs, rhs, .. } => {
            let below = infer_input(rhs, wanted, open);
            infer_input(lhs, below, open)
        }
        Ast::Index { idx, .. } => {
            let mut out = SchemaNode::from_types(or_null(Kinds::LIST));
            if let Ok(at) = usize::try_from(*idx)
                && at < MAX_INDEX
            {
                out.first = vec![SchemaNode::default(); at];
                out.first.push(wanted);
            }
            out
        }
        // Which elements were taken is not seen in what is left.
        Ast::Slice { .. } => SchemaNode::from_types(or_null(Kinds::LIST)),
        Ast::Projection { lhs, rhs, .. } => {
            let one = wanted.items.map(|it| *it).unwrap_or_default();
            // Nulls are left out of a projection. Of 54,530 recorded lists with objects three held one as well.
            let is_object =
                one.types == Kinds::OBJECT && !matches!(**lhs, Ast::ObjectValues { .. });
            let one = if is_object && is_itself(rhs) { one } else { one.make_nullable() };
            let element = match &**rhs {
                Ast::Condition { .. } => not_known("a filter", open),
                _ => infer_input(rhs, one, open),
            };
            let below = SchemaNode {
                items: boxed_if_known(element),
                ..SchemaNode::from_types(or_null(Kinds::LIST))
            };
            infer_input(lhs, below, open)
        }
        Ast::Flatten { node, .. } => {
            // `a[].b[]`: what the first gives are lists.
            let below = if matches!(**node, Ast::Projection { .. }) {
                let inner =
                    SchemaNode { items: wanted.items, ..SchemaNode::from_types(Kinds::LIST) };
                SchemaNode {
                    items: boxed_if_known(inner),
                    ..SchemaNode::from_types(or_null(Kinds::LIST))
                }
            } else {
                wanted
            };
            infer_input(node, below, open)
        }
        Ast::ObjectValues { node, .. } => {
            let below =
                SchemaNode { map: wanted.items, ..SchemaNode::from_types(or_null(Kinds::OBJECT)) };
            infer_input(node, below, open)
        }
        Ast::MultiHash { elements, .. } => {
            let mut wanted = wanted;
            let mut out = SchemaNode::default();
            for it in elements {
                let one = wanted.fields.remove(&it.key).map(|it| it.1).unwrap_or_default();
                out = out.intersect(infer_input(&it.value, one, open));
            }
            make_present(out, nullable)
        }
        Ast::MultiList { elements, .. } => {
            let one = wanted.items.map(|it| *it).unwrap_or_default();
            let all = elements.iter().map(|it| infer_input(it, one.clone(), open));
            make_present(all.fold(SchemaNode::default(), SchemaNode::intersect), nullable)
        }
        Ast::Function { name, args, .. } => match (name.as_str(), &args[..]) {
            ("keys", [of]) => infer_input(of, SchemaNode::from_types(Kinds::OBJECT), open),
            ("values", [of]) => infer_input(
                of,
                SchemaNode { map: wanted.items, ..SchemaNode::from_types(Kinds::OBJECT) },
                open,
            ),
            ("reverse" | "sort" | "sort_by", [of, ..]) => infer_input(of, wanted, open),
            _ => not_known(&format!("{name}()"), open),
        },
        Ast::Condition { .. } => not_known("a filter", open),
        Ast::Or { .. } => not_known("||", open),
        Ast::And { .. } => not_known("&&", open),
        Ast::Not { .. } => not_known("!", open),
        Ast::Comparison { .. } => not_known("a comparison", open),
        Ast::Expref { .. } => not_known("&", open),
    }
}

/// What is made of an element is null only if the element is.
fn is_itself(node: &Ast) -> bool {
    matches!(node, Ast::Identity { .. } | Ast::MultiHash { .. } | Ast::MultiList { .. })
}

fn boxed_if_known(it: SchemaNode) -> Option<Box<SchemaNode>> {
    (it != SchemaNode::default()).then(|| Box::new(it))
}

/// A hash is made of whatever is there, and of null is null.
fn make_present(mut place: SchemaNode, nullable: bool) -> SchemaNode {
    if !place.types.is_empty() && !nullable {
        place.types = place.types.without(Kinds::NULL);
    }
    if nullable { place.make_nullable() } else { place }
}
