//! Variables of forms that hold values beside the request: one for each text that a parameter is sent as.

use commis_recipe::{
    template::{Filter, Piece, Template, apply_filters},
    values::{ValueLookup, Values},
};

/// Names of variables and what they hold, in order.
#[derive(Default)]
pub struct VariableTable {
    pub all: Vec<(String, String)>,
}

impl VariableTable {
    /// The variable that holds that text: called as the parameter is, if that name is free.
    pub fn name(&mut self, wanted: &str, text: &str) -> String {
        let mut out = wanted.to_owned();
        let mut nth = 1;
        loop {
            match self.all.iter().find(|it| it.0 == out) {
                Some(it) if it.1 == text => return out,
                Some(_) => {
                    nth += 1;
                    out = format!("{wanted}_{nth}");
                }
                None => {
                    self.all.push((out.clone(), text.to_owned()));
                    return out;
                }
            }
        }
    }
}

/// A template as text of a form: literals through `literal`, each value by `value` (its name, and its text as it is spelled;
/// `None` for a value of an earlier answer). `None` where a value was not given.
pub fn render_template(
    template: &Template,
    values: &Values,
    literal: impl Fn(&str) -> String,
    mut value: impl FnMut(&str, Option<String>, &[Filter]) -> String,
) -> Option<String> {
    let mut out = String::new();
    for piece in template.pieces() {
        match piece {
            Piece::Literal(it) => out.push_str(&literal(it)),
            Piece::Value(name, filters) => match values.get(name) {
                ValueLookup::Absent => return None,
                ValueLookup::Given(bound) => {
                    out.push_str(&value(name, Some(apply_filters(filters, &bound.text)), filters));
                }
                ValueLookup::Unknown => out.push_str(&value(name, None, filters)),
            },
        }
    }
    Some(out)
}
