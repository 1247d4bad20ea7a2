//! JMESPath of recipes: bounded before it is compiled, and bounded in what it can make.
//!
//! The library has no limit of its own: its parser recurses (2,000 nested `[` overflow the stack, measured), `[-2147483648]`
//! overflows, and `[@,@]|[@,@]|…` doubles its input at every step. So length, nesting, digits and growth are limited
//! here, and results are counted while they are converted.

use jmespath::{Context, DEFAULT_RUNTIME, Expression, Rcvar, Variable, ast::Ast, interpret};
use serde_json::{Map, Number, Value};

use crate::error::{Code, Error, Result};

const MAX_LEN: usize = 1024;
const MAX_NESTING: usize = 32;
const MAX_DIGITS: usize = 9;
/// How many times the input's size a result may have, by the shape of the expression.
const MAX_GROWTH: u64 = 256;
const MAX_NODES: usize = 1_000_000;

/// A compiled expression.
#[derive(Clone, Debug)]
pub struct Query {
    expression: Expression<'static>,
}

/// A document to search, converted once.
pub struct Document(Rcvar);

impl Document {
    /// Fails with `PARSE_ERROR` when the value can not be a document.
    pub fn new(value: &Value) -> Result<Self> {
        Variable::from_serializable(value)
            .map(|it| Self(Rcvar::new(it)))
            .map_err(|err| Error::new(Code::ParseError, format!("convert the answer: {err}")))
    }
}

impl Query {
    /// Fails with `RECIPE_INVALID`.
    pub fn compile(text: &str) -> Result<Self> {
        let invalid = |why: String| {
            let shown: String = text.chars().take(80).collect();
            Error::new(Code::RecipeInvalid, format!("JMESPath `{}`: {why}", shown.escape_debug()))
        };
        if text.len() > MAX_LEN {
            return Err(invalid(format!("longer than {MAX_LEN} bytes")));
        }
        pre_check(text).map_err(|why| invalid(why.to_owned()))?;
        let expression = jmespath::compile(text)
            .map_err(|err| invalid(err.to_string().lines().next().unwrap_or("").to_owned()))?;
        if growth(expression.as_ast()) > MAX_GROWTH {
            return Err(invalid("multiplies its input too often".to_owned()));
        }
        Ok(Self { expression })
    }

    /// What the expression finds; `null` when nothing. Fails with `PARSE_ERROR` when a function refuses its arguments, or
    /// the result is out of proportion.
    pub fn search(&self, document: &Document) -> Result<Value> {
        let mut context = Context::new(self.expression.as_str(), &DEFAULT_RUNTIME);
        let found =
            interpret(&document.0, self.expression.as_ast(), &mut context).map_err(|err| {
                let why = err.to_string();
                let why = why.lines().next().unwrap_or("");
                Error::new(Code::ParseError, format!("evaluate the JMESPath: {why}"))
            })?;
        let mut left = MAX_NODES;
        to_value(&found, &mut left).ok_or_else(|| {
            Error::new(Code::ParseError, format!("the JMESPath makes more than {MAX_NODES} values"))
        })
    }
}

/// Nesting and digit runs outside quotes and literals.
fn pre_check(text: &str) -> Result<(), &'static str> {
    let (mut depth, mut digits) = (0_usize, 0_usize);
    let mut unary = 0_usize;
    let mut quote = None;
    let mut escaped = false;
    for c in text.chars() {
        if let Some(end) = quote {
            if escaped {
                escaped = false;
            } else if c == '\\' {
                escaped = true;
            } else if c == end {
                quote = None;
            }
            continue;
        }
        digits = if c.is_ascii_digit() { digits + 1 } else { 0 };
        if digits > MAX_DIGITS {
            return Err("a number has more than 9 digits");
        }
        match c {
            '"' | '\'' | '`' => quote = Some(c),
            '[' | '(' | '{' => depth += 1,
            ']' | ')' | '}' => depth = depth.saturating_sub(1),
            // `!!!!…` recurses as brackets do, but never closes.
            '!' | '&' => unary += 1,
            _ => {}
        }
        if depth > MAX_NESTING || unary > 2 * MAX_NESTING {
            return Err("nested more than 32 levels deep");
        }
    }
    Ok(())
}

/// An upper bound of how often the input can occur in the output.
fn growth(node: &Ast) -> u64 {
    let product = |a: &Ast, b: &Ast| growth(a).saturating_mul(growth(b));
    let sum = |all: &mut dyn Iterator<Item = &Ast>| {
        all.fold(0, |n: u64, it| n.saturating_add(growth(it))).max(1)
    };
    match node {
        Ast::Subexpr { lhs, rhs, .. } | Ast::Projection { lhs, rhs, .. } => product(lhs, rhs),
        Ast::Or { lhs, rhs, .. } | Ast::And { lhs, rhs, .. } | Ast::Comparison { lhs, rhs, .. } => {
            growth(lhs).max(growth(rhs))
        }
        Ast::Condition { predicate, then, .. } => growth(predicate).max(growth(then)),
        Ast::Expref { ast, .. } => growth(ast),
        Ast::Flatten { node, .. } | Ast::Not { node, .. } | Ast::ObjectValues { node, .. } => {
            growth(node)
        }
        // `map(&[@,@], x)`: the expression applies to the other argument.
        Ast::Function { args, .. } => {
            let outer = args.iter().map(growth).fold(1, u64::saturating_mul);
            outer.max(sum(&mut args.iter()))
        }
        Ast::MultiList { elements, .. } => sum(&mut elements.iter()),
        Ast::MultiHash { elements, .. } => sum(&mut elements.iter().map(|it| &it.value)),
        Ast::Field { .. }
        | Ast::Identity { .. }
        | Ast::Index { .. }
        | Ast::Literal { .. }
        | Ast::Slice { .. } => 1,
    }
}

fn to_value(it: &Variable, left: &mut usize) -> Option<Value> {
    *left = left.checked_sub(1)?;
    Some(match it {
        Variable::Null | Variable::Expref(_) => Value::Null,
        Variable::Bool(it) => Value::Bool(*it),
        Variable::Number(it) => Value::Number(Number::clone(it)),
        Variable::String(it) => Value::String(it.clone()),
        Variable::Array(all) => {
            all.iter().map(|it| to_value(it, left)).collect::<Option<Vec<_>>>()?.into()
        }
        Variable::Object(all) => all
            .iter()
            .map(|(key, it)| Some((key.clone(), to_value(it, left)?)))
            .collect::<Option<Map<_, _>>>()?
            .into(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn search(text: &str, value: &Value) -> String {
        Query::compile(text)
            .and_then(|it| it.search(&Document::new(value)?))
            .map_or_else(|err| err.code().to_string(), |it| it.to_string())
    }

    #[test]
    fn expressions() {
        let doc = json!({"hits": [{"t": "a", "n": 1, "x": null}, {"t": "b", "n": 2.5}], "big": 9_007_199_254_740_993_u64});
        for (text, want) in [
            ("hits[].t", r#"["a","b"]"#),
            ("hits[].{title: t, n: n}", r#"[{"n":1,"title":"a"},{"n":2.5,"title":"b"}]"#),
            ("hits[?n > `1`].t | [0]", r#""b""#),
            ("big", "9007199254740993"),
            ("nothing.here", "null"),
            ("length(hits)", "2"),
            ("\"hits\"[-1].t", r#""b""#),
            ("hits[", "RECIPE_INVALID"),
            ("hits[-2147483648]", "RECIPE_INVALID"),
            ("t == `2147483648000`", "false"),
            ("unknown(@)", "PARSE_ERROR"),
            ("abs('x')", "PARSE_ERROR"),
        ] {
            assert_eq!(search(text, &doc), want, "{text}");
        }
    }

    #[test]
    fn bombs() {
        let doc = json!([1, 2, 3]);
        let refused = |text: &str| assert_eq!(search(text, &doc), "RECIPE_INVALID", "{text}");
        refused(&"[".repeat(1000));
        refused(&format!("{}a{}", "(".repeat(40), ")".repeat(40)));
        refused(&"a[?".repeat(300));
        refused(&format!("{}a", "!".repeat(900)));
        refused(&"a".repeat(2000));
        refused(&vec!["[@,@]"; 100].join("|"));
        refused(&vec!["[@,@][]"; 50].join("|"));
        refused(&vec!["map(&[@,@],@)"; 30].join("|"));
        assert_eq!(
            search("['[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[']", &doc),
            "[\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\"]"
        );
        let big: Value = (0..9000).collect();
        assert_eq!(search(&["[@,@]"; 8].join("|"), &big), "PARSE_ERROR");
    }
}
