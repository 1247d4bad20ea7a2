//! JMESPath of recipes: bounded before it is compiled, and bounded in what it can make.
//!
//! The library has no limit of its own: its parser recurses (2,000 nested `[` overflow the stack, measured), `[-2147483648]`
//! overflows, `[@,@]|[@,@]|…` doubles its input at every step, `[to_string(@)]|…` its backslashes, and `join(@.a, @.b)`
//! writes a long `a` between all of `b`. So length, nesting, digits and growth are limited here, functions that write text
//! share a budget, and results are counted while they are converted.

use std::{cell::Cell, collections::BTreeMap, sync::LazyLock};

use jmespath::{
    Context, ErrorReason, JmespathError, Rcvar, Runtime, SearchResult, Variable,
    ast::Ast,
    functions::{Function, JoinFn, ReverseFn, ToStringFn},
    interpret,
};
use serde_json::{Map, Number, Value};

use super::{
    document::Document,
    jmespath_eval::{QueryValue, find},
    projection::FieldMask,
};
use commis_base::error::{Code, Error, Result};

const MAX_LEN: usize = 1024;
const MAX_NESTING: usize = 32;
const MAX_DIGITS: usize = 9;
/// How many times the input's size a result may have, by the shape of the expression.
const MAX_GROWTH: u64 = 256;
const MAX_NODES: usize = 1_000_000;
/// Values that may be made on the way: the document's, times the growth.
const MAX_WORK: u64 = 32_000_000;
/// Bytes of text, keys included, that may be found in an answer, by an expression or by selectors: four times
/// what an answer may weigh itself.
pub const MAX_TEXT: usize = 4 << 20;

/// A compiled expression.
#[derive(Clone, Debug)]
pub struct Query {
    text: String,
    ast: Ast,
    reach: FieldMask,
    growth: u64,
}

impl Query {
    /// Fails with `RECIPE_INVALID`.
    pub fn compile(text: &str) -> Result<Self> {
        let invalid = |why: String| {
            let shown: String = text.chars().take(80).collect();
            Error::new(
                Code::RecipeInvalid,
                format!("the JMESPath `{}` is invalid: {why}", shown.escape_debug()),
            )
        };
        if text.len() > MAX_LEN {
            return Err(invalid(format!("it is longer than {MAX_LEN} bytes")));
        }
        pre_check(text).map_err(|why| invalid(why.to_owned()))?;
        let ast = jmespath::parse(text)
            .map_err(|err| invalid(err.to_string().lines().next().unwrap_or("").to_owned()))?;
        let growth = growth(&ast);
        if growth > MAX_GROWTH {
            return Err(invalid("it multiplies its input too often".to_owned()));
        }
        let reach = FieldMask::from_expression(&ast);
        Ok(Self { text: text.to_owned(), ast, reach, growth })
    }

    /// What a document must hold for the expression to find in it what it finds in the whole.
    pub fn reach(&self) -> &FieldMask {
        &self.reach
    }

    /// What the expression finds; `null` when nothing. Fails with `PARSE_ERROR` when a function refuses its arguments, and
    /// with `RESPONSE_TOO_LARGE` when what is found, or made on the way, is out of proportion.
    pub fn search(&self, document: &Document<'_>) -> Result<Value> {
        if self.growth.saturating_mul(document.size()) > MAX_WORK {
            return Err(too_large_error());
        }
        match find(&QueryValue::There(document), &self.ast) {
            Some(found) => {
                CopyBudget::default().copy_query_value(&found).ok_or_else(too_large_error)
            }
            None => self.interpret(document),
        }
    }

    /// By the library, which knows all of JMESPath.
    pub(super) fn interpret(&self, document: &Document<'_>) -> Result<Value> {
        WRITTEN.set(0);
        let mut context = Context::new(&self.text, &RUNTIME);
        let found = interpret(&to_variable(document), &self.ast, &mut context);
        if WRITTEN.get() > MAX_TEXT {
            return Err(too_large_error());
        }
        let found = found.map_err(|err| {
            let why = err.to_string();
            let why = why.lines().next().unwrap_or("");
            Error::new(Code::ParseError, format!("cannot evaluate the JMESPath: {why}"))
        })?;
        CopyBudget::default().copy_variable(&found).ok_or_else(too_large_error)
    }
}

/// What `extract` or its selectors find is larger than any answer may be.
pub fn too_large_error() -> Error {
    Error::new(Code::ResponseTooLarge, "the extracted data is much larger than the answer")
        .hint("let `extract` select less, each part once; items that contain each other repeat it")
}

fn to_variable(it: &Document<'_>) -> Rcvar {
    Rcvar::new(match it {
        Document::Null => Variable::Null,
        Document::Bool(it) => Variable::Bool(*it),
        Document::Number(it) => Variable::Number(it.clone()),
        Document::Text(it) => Variable::String(it.clone().into_owned()),
        Document::List(all) => Variable::Array(all.iter().map(to_variable).collect()),
        Document::Object(all) => {
            let all = all.iter().map(|(key, it)| (key.clone().into_owned(), to_variable(it)));
            Variable::Object(all.collect::<BTreeMap<_, _>>())
        }
    })
}

thread_local! {
    /// Bytes that functions wrote during one evaluation, which does not leave its thread.
    static WRITTEN: Cell<usize> = const { Cell::new(0) };
}

/// The standard functions; those that write text count it before they do.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    let mut out = Runtime::new();
    out.register_builtin_functions();
    let counted: [(&str, Box<dyn Function>); 3] = [
        ("join", Box::new(JoinFn::new())),
        ("reverse", Box::new(ReverseFn::new())),
        ("to_string", Box::new(ToStringFn::new())),
    ];
    for (name, inner) in counted {
        out.register_function(name, Box::new(BoundedFunction(inner)));
    }
    out
});

struct BoundedFunction(Box<dyn Function>);

impl Function for BoundedFunction {
    fn evaluate(&self, args: &[Rcvar], context: &mut Context<'_>) -> SearchResult {
        let glue = match args {
            [glue, all] => glue
                .as_string()
                .zip(all.as_array())
                .map_or(0, |(glue, all)| glue.len().saturating_mul(all.len())),
            _ => 0,
        };
        let len = args.iter().map(|it| written_len(it)).fold(glue, usize::saturating_add);
        let written = WRITTEN.get().saturating_add(len);
        WRITTEN.set(written);
        if written > MAX_TEXT {
            let why = ErrorReason::Parse("more text than an answer may hold".to_owned());
            return Err(JmespathError::new("", 0, why));
        }
        self.0.evaluate(args, context)
    }
}

/// At least as long as the value written as JSON, but for what is escaped: that at most sextuples it.
fn written_len(it: &Variable) -> usize {
    match it {
        Variable::String(it) => it.len() + 3,
        Variable::Array(all) => all.iter().map(|it| written_len(it)).sum::<usize>() + 3,
        Variable::Object(all) => {
            all.iter().map(|(key, it)| key.len() + 4 + written_len(it)).sum::<usize>() + 3
        }
        _ => 8,
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

/// What may still be copied.
struct CopyBudget {
    nodes: usize,
    text: usize,
}

impl Default for CopyBudget {
    fn default() -> Self {
        Self { nodes: MAX_NODES, text: MAX_TEXT }
    }
}

impl CopyBudget {
    fn spend_node(&mut self) -> Option<()> {
        self.nodes = self.nodes.checked_sub(1)?;
        Some(())
    }

    fn copy_text(&mut self, text: &str) -> Option<String> {
        self.text = self.text.checked_sub(text.len())?;
        Some(text.to_owned())
    }

    fn copy_query_value(&mut self, it: &QueryValue<'_>) -> Option<Value> {
        match it {
            QueryValue::There(it) => self.copy_document(it),
            QueryValue::List(all) => {
                self.spend_node()?;
                self.copy_list(all.iter(), Self::copy_query_value)
            }
            QueryValue::Hash(all) => {
                self.spend_node()?;
                self.copy_object(all.iter().map(|it| (it.0, &it.1)), Self::copy_query_value)
            }
        }
    }

    fn copy_document(&mut self, it: &Document<'_>) -> Option<Value> {
        self.spend_node()?;
        Some(match it {
            Document::Null => Value::Null,
            Document::Bool(it) => Value::Bool(*it),
            Document::Number(it) => Value::Number(it.clone()),
            Document::Text(it) => Value::String(self.copy_text(it)?),
            Document::List(all) => self.copy_list(all.iter(), Self::copy_document)?,
            Document::Object(all) => {
                self.copy_object(all.iter().map(|it| (&*it.0, &it.1)), Self::copy_document)?
            }
        })
    }

    fn copy_variable(&mut self, it: &Variable) -> Option<Value> {
        self.spend_node()?;
        Some(match it {
            Variable::Null | Variable::Expref(_) => Value::Null,
            Variable::Bool(it) => Value::Bool(*it),
            Variable::Number(it) => Value::Number(Number::clone(it)),
            Variable::String(it) => Value::String(self.copy_text(it)?),
            Variable::Array(all) => self.copy_list(all.iter(), |own, it| own.copy_variable(it))?,
            Variable::Object(all) => self
                .copy_object(all.iter().map(|it| (&**it.0, it.1)), |own, it| {
                    own.copy_variable(it)
                })?,
        })
    }

    fn copy_list<T>(
        &mut self,
        all: impl ExactSizeIterator<Item = T>,
        copy: fn(&mut Self, T) -> Option<Value>,
    ) -> Option<Value> {
        let mut out = Vec::with_capacity(all.len());
        for it in all {
            out.push(copy(self, it)?);
        }
        Some(out.into())
    }

    fn copy_object<'k, T>(
        &mut self,
        all: impl ExactSizeIterator<Item = (&'k str, T)>,
        copy: fn(&mut Self, T) -> Option<Value>,
    ) -> Option<Value> {
        let mut out = Map::with_capacity(all.len());
        for (key, it) in all {
            out.insert(self.copy_text(key)?, copy(self, it)?);
        }
        Some(out.into())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn search(text: &str, value: &Value) -> String {
        Query::compile(text)
            .and_then(|it| it.search(&Document::from(value)))
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
        assert_eq!(search(&["[@,@]"; 8].join("|"), &big), "RESPONSE_TOO_LARGE");
    }

    #[test]
    fn what_is_found_is_in_proportion() {
        let long = "x".repeat(600_000);
        let doc = json!({"a": long, "b": vec![""; 100_000], "c": vec!["\\"; 10]});
        let many = json!(vec![0; 300_000]);
        let eight = ["[@,@][]"; 8].join("|");
        for (text, doc) in [
            ("[a,a,a,a,a,a,a,a]", &doc),
            ("join(a, b)", &doc),
            ("[[b,b,b,b],[b,b,b,b]][].join('0123456789', @)", &doc),
            (&["[to_string(@)]"; 60].join("|"), &doc),
            ("[a,a,a,a,a,a,a,a][].reverse(@)", &doc),
            (&eight, &many),
        ] {
            assert_eq!(search(text, doc), "RESPONSE_TOO_LARGE", "{text}");
        }
        assert_eq!(search("length(join(', ', b))", &doc), "199998");
        assert_eq!(search("length([a,a,a,a,a][])", &doc), "5");
    }
}
