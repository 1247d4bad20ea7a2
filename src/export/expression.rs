//! A JMESPath expression as JavaScript over a few functions: the part of the language that recipes are written in.

use jmespath::ast::{Ast, Comparator};

use super::escaping::quote_javascript;

/// The expression applied to what `input`, a name, stands for. Fails with what it cannot say.
pub fn compile(expression: &str, input: &str) -> Result<String, String> {
    let it = jmespath::parse(expression).map_err(|_| "it does not parse".to_owned())?;
    Compiler { names: 0 }.node(&it, input)
}

struct Compiler {
    names: usize,
}

type CodeResult = Result<String, String>;

impl Compiler {
    fn name(&mut self) -> String {
        self.names += 1;
        format!("it{}", self.names)
    }

    /// `make` of the input by a name, so that it is computed once.
    fn bind(
        &mut self,
        input: &str,
        make: impl FnOnce(&mut Self, &str) -> CodeResult,
    ) -> CodeResult {
        if input.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_') {
            return make(self, input);
        }
        let name = self.name();
        Ok(format!("_with({input}, ({name}) => {})", make(self, &name)?))
    }

    fn node(&mut self, node: &Ast, input: &str) -> CodeResult {
        Ok(match node {
            Ast::Identity { .. } => input.to_owned(),
            Ast::Field { name, .. } => format!("_field({input}, {})", quote_javascript(name)),
            Ast::Index { idx, .. } => format!("_index({input}, {idx})"),
            Ast::Subexpr { lhs, rhs, .. } => {
                let left = self.node(lhs, input)?;
                self.node(rhs, &left)?
            }
            Ast::Flatten { node, .. } => format!("_flat({})", self.node(node, input)?),
            Ast::ObjectValues { node, .. } => format!("_values({})", self.node(node, input)?),
            Ast::Slice { start, stop, step: 1, .. } => {
                let bound =
                    |it: &Option<i32>| it.map_or("undefined".to_owned(), |it| it.to_string());
                format!("_slice({input}, {}, {})", bound(start), bound(stop))
            }
            Ast::Slice { .. } => return Err("a slice with steps".to_owned()),
            Ast::Projection { lhs, rhs, .. } => {
                let left = self.node(lhs, input)?;
                let name = self.name();
                format!("_each({left}, ({name}) => {})", self.node(rhs, &name)?)
            }
            Ast::Condition { predicate, then, .. } => self.bind(input, |it, input| {
                let test = it.node(predicate, input)?;
                Ok(format!("(_truthy({test}) ? {} : null)", it.node(then, input)?))
            })?,
            Ast::MultiHash { elements, .. } => self.bind(input, |it, input| {
                let all: Result<Vec<String>, String> = elements
                    .iter()
                    .map(|one| Ok(format!("{}: {}", key(&one.key), it.node(&one.value, input)?)))
                    .collect();
                Ok(format!("({input} === null ? null : {{ {} }})", all?.join(", ")))
            })?,
            Ast::MultiList { elements, .. } => self.bind(input, |it, input| {
                let all: Result<Vec<String>, String> =
                    elements.iter().map(|one| it.node(one, input)).collect();
                Ok(format!("({input} === null ? null : [{}])", all?.join(", ")))
            })?,
            Ast::Literal { value, .. } => literal(&value.to_string())?,
            Ast::Or { lhs, rhs, .. } => self.bind(input, |it, input| {
                let (left, right) = (it.node(lhs, input)?, it.node(rhs, input)?);
                let name = it.name();
                Ok(format!("_with({left}, ({name}) => (_truthy({name}) ? {name} : {right}))"))
            })?,
            Ast::And { lhs, rhs, .. } => self.bind(input, |it, input| {
                let (left, right) = (it.node(lhs, input)?, it.node(rhs, input)?);
                let name = it.name();
                Ok(format!("_with({left}, ({name}) => (_truthy({name}) ? {right} : {name}))"))
            })?,
            Ast::Not { node, .. } => format!("!_truthy({})", self.node(node, input)?),
            Ast::Comparison { comparator, lhs, rhs, .. } => {
                let sign = match comparator {
                    Comparator::Equal => "===",
                    Comparator::NotEqual => "!==",
                    Comparator::LessThan => "<",
                    Comparator::LessThanEqual => "<=",
                    Comparator::GreaterThan => ">",
                    Comparator::GreaterThanEqual => ">=",
                };
                let is_plain = |it: &Ast| matches!(it, Ast::Literal { value, .. } if !value.is_array() && !value.is_object());
                let by_value = sign.len() == 3;
                if by_value && !is_plain(lhs) && !is_plain(rhs) {
                    return Err("a comparison of two values of the answer".to_owned());
                }
                self.bind(input, |it, input| {
                    let (left, right) = (it.node(lhs, input)?, it.node(rhs, input)?);
                    Ok(if by_value {
                        format!("({left} {sign} {right})")
                    } else {
                        format!("_compare({left}, {right}, (a, b) => a {sign} b)")
                    })
                })?
            }
            Ast::Function { name, args, .. } => match (name.as_str(), &args[..]) {
                ("keys" | "values" | "length", [of]) => {
                    format!("_{name}({})", self.node(of, input)?)
                }
                _ => return Err(format!("{name}()")),
            },
            Ast::Expref { .. } => return Err("&".to_owned()),
        })
    }
}

/// `__proto__` in quotes would be no key.
fn key(name: &str) -> String {
    format!("[{}]", quote_javascript(name))
}

fn literal(json: &str) -> CodeResult {
    let read: serde_json::Value =
        serde_json::from_str(json).map_err(|_| "a literal that is no JSON".to_owned())?;
    Ok(match read {
        serde_json::Value::String(it) => quote_javascript(&it),
        it @ (serde_json::Value::Null
        | serde_json::Value::Bool(_)
        | serde_json::Value::Number(_)) => it.to_string(),
        it => format!("JSON.parse({})", quote_javascript(&it.to_string())),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions() {
        for (text, expected) in [
            ("a.b", r#"_field(_field(x, "a"), "b")"#),
            ("@", "x"),
            ("a[0]", r#"_index(_field(x, "a"), 0)"#),
            ("a[].t", r#"_each(_flat(_field(x, "a")), (it1) => _field(it1, "t"))"#),
            ("{a: b}", r#"(x === null ? null : { ["a"]: _field(x, "b") })"#),
            (
                "r.{a: b, c: c}",
                r#"_with(_field(x, "r"), (it1) => (it1 === null ? null : { ["a"]: _field(it1, "b"), ["c"]: _field(it1, "c") }))"#,
            ),
            (
                "a[?n > `1`].t",
                r#"_each(_field(x, "a"), (it1) => (_truthy(_compare(_field(it1, "n"), 1, (a, b) => a > b)) ? _field(it1, "t") : null))"#,
            ),
            ("keys(a)", r#"_keys(_field(x, "a"))"#),
            ("\"a\\\"*/\"", r#"_field(x, "a\"*/")"#),
        ] {
            assert_eq!(compile(text, "x").as_deref(), Ok(expected), "{text}");
        }
        for (text, why) in [
            ("max_by(a, &n)", "max_by()"),
            ("a == b", "a comparison of two values of the answer"),
            ("a[::2]", "a slice with steps"),
        ] {
            assert_eq!(compile(text, "x"), Err(why.to_owned()), "{text}");
        }
    }
}
