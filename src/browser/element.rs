//! How a step names an element: as assistive technology does, or by what a page gives its testers, or by a selector.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// One element of the page or of a frame. In YAML `{role: button, name: Next}`, `{label: Town}`, `{css: "#q", nth: 2}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Fields", into = "Fields")]
pub struct Element {
    pub by: Locator,
    /// Which of several that fit equally well, from 1.
    pub nth: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Locator {
    /// Accessible role and name. Without a role, any that the step can act on.
    Role {
        role: Option<String>,
        name: String,
    },
    /// A form's control by its label alone.
    Label(String),
    Placeholder(String),
    /// `data-testid`, or one of its cousins.
    TestId(String),
    Css(String),
}

/// An element and what to write there or to choose in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Fields", into = "Fields")]
pub struct Fill {
    pub element: Element,
    pub value: String,
}

/// The same for a list, whose role may be left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Fields", into = "Fields")]
pub struct Choice {
    pub element: Element,
    /// The option's label, or the value that the form sends for it.
    pub value: String,
}

/// The same for what can be ticked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Fields", into = "Fields")]
pub struct Tick(pub Element);

/// As it is written.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fields {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    role: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    placeholder: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    test_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    css: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    nth: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    value: Option<String>,
}

/// What an editor is told of the forms: exactly one of them, with a value or without.
fn forms(needs_role: bool, value: Option<&str>) -> Schema {
    let text = |says: &str| json!({"type": "string", "description": says});
    let one = ["name", "label", "placeholder", "test_id", "css"];
    let one: Vec<Value> = one.iter().map(|it| json!({"required": [it]})).collect();
    let mut all = json_schema!({
        "type": "object",
        "properties": {
            "role": text("Accessible role, such as `button`"),
            "name": text("Accessible name"),
            "label": text("The label of a form's control"),
            "placeholder": text("The placeholder of a field"),
            "test_id": text("`data-testid`, or one of its cousins"),
            "css": text("A CSS selector, as the last resort"),
            "nth": {"type": "integer", "minimum": 1, "description": "Which of several that fit equally well, from 1"},
        },
        "additionalProperties": false,
        "dependentRequired": {"role": ["name"]},
        "oneOf": one,
    });
    if needs_role {
        all.insert("dependentRequired".to_owned(), json!({"role": ["name"], "name": ["role"]}));
    }
    if let Some(says) = value {
        if let Some(known) = all.get_mut("properties").and_then(|it| it.as_object_mut()) {
            known.insert("value".to_owned(), text(says));
        }
        all.insert("required".to_owned(), json!(["value"]));
    }
    all
}

macro_rules! in_these_forms {
    ($($name:ident, $needs_role:literal, $value:expr, $says:literal;)*) => {$(
        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                let mut out = forms($needs_role, $value);
                out.insert("description".to_owned(), $says.into());
                out
            }
        }
    )*};
}

in_these_forms! {
    Element, true, None, "One element of the page or of a frame.";
    Tick, false, None, "What can be ticked; its role may be left out.";
    Fill, true, Some("What to type; `{name}` is a parameter, `env:NAME` a variable"), "A field and what to type into it.";
    Choice, false, Some("The option's label, or the value that the form sends for it"), "A list, whose role may be left out, and what to choose in it.";
}

const FORMS: &str =
    "an element is given by role and name, or by one of label, placeholder, test_id, css";

impl Fields {
    fn element(self, needs_role: bool) -> Result<Element, String> {
        let Self { role, name, label, placeholder, test_id, css, nth, .. } = self;
        if nth == Some(0) {
            return Err("nth counts from 1".to_owned());
        }
        let by = match (role, name, label, placeholder, test_id, css) {
            (None, Some(_), None, None, None, None) if needs_role => {
                return Err("a name needs a role with it, such as button or link".to_owned());
            }
            (Some(_), None, None, None, None, None) => {
                return Err("a role needs a name with it".to_owned());
            }
            (role, Some(name), None, None, None, None) => Locator::Role { role, name },
            (None, None, Some(it), None, None, None) => Locator::Label(it),
            (None, None, None, Some(it), None, None) => Locator::Placeholder(it),
            (None, None, None, None, Some(it), None) => Locator::TestId(it),
            (None, None, None, None, None, Some(it)) => Locator::Css(it),
            _ => return Err(FORMS.to_owned()),
        };
        Ok(Element { by, nth })
    }

    fn with_value(mut self, needs_role: bool) -> Result<(Element, String), String> {
        let value = self.value.take().ok_or("a value is missing")?;
        Ok((self.element(needs_role)?, value))
    }

    fn alone(self, needs_role: bool) -> Result<Element, String> {
        match self.value {
            Some(_) => Err("this step takes no value".to_owned()),
            None => self.element(needs_role),
        }
    }
}

impl TryFrom<Fields> for Element {
    type Error = String;

    fn try_from(it: Fields) -> Result<Self, String> {
        it.alone(true)
    }
}

impl TryFrom<Fields> for Tick {
    type Error = String;

    fn try_from(it: Fields) -> Result<Self, String> {
        it.alone(false).map(Self)
    }
}

impl TryFrom<Fields> for Fill {
    type Error = String;

    fn try_from(it: Fields) -> Result<Self, String> {
        let (element, value) = it.with_value(true)?;
        Ok(Self { element, value })
    }
}

impl TryFrom<Fields> for Choice {
    type Error = String;

    fn try_from(it: Fields) -> Result<Self, String> {
        let (element, value) = it.with_value(false)?;
        Ok(Self { element, value })
    }
}

impl From<Element> for Fields {
    fn from(it: Element) -> Self {
        let mut out = Self { nth: it.nth, ..Self::default() };
        match it.by {
            Locator::Role { role, name } => (out.role, out.name) = (role, Some(name)),
            Locator::Label(it) => out.label = Some(it),
            Locator::Placeholder(it) => out.placeholder = Some(it),
            Locator::TestId(it) => out.test_id = Some(it),
            Locator::Css(it) => out.css = Some(it),
        }
        out
    }
}

impl From<Tick> for Fields {
    fn from(it: Tick) -> Self {
        it.0.into()
    }
}

impl From<Fill> for Fields {
    fn from(it: Fill) -> Self {
        Self { value: Some(it.value), ..it.element.into() }
    }
}

impl From<Choice> for Fields {
    fn from(it: Choice) -> Self {
        Self { value: Some(it.value), ..it.element.into() }
    }
}

impl Element {
    pub fn with_name(role: &str, name: &str) -> Self {
        Self { by: Locator::Role { role: Some(role.to_owned()), name: name.to_owned() }, nth: None }
    }

    pub fn css(selector: &str) -> Self {
        Self { by: Locator::Css(selector.to_owned()), nth: None }
    }

    /// With each text of it changed but the role.
    #[must_use]
    pub fn map(&self, with: impl Fn(&str) -> String) -> Self {
        let by = match &self.by {
            Locator::Role { role, name } => Locator::Role { role: role.clone(), name: with(name) },
            Locator::Label(it) => Locator::Label(with(it)),
            Locator::Placeholder(it) => Locator::Placeholder(with(it)),
            Locator::TestId(it) => Locator::TestId(with(it)),
            Locator::Css(it) => Locator::Css(with(it)),
        };
        Self { by, nth: self.nth }
    }

    /// What it is called.
    pub fn text(&self) -> &str {
        match &self.by {
            Locator::Role { name, .. } => name,
            Locator::Label(it)
            | Locator::Placeholder(it)
            | Locator::TestId(it)
            | Locator::Css(it) => it,
        }
    }

    /// `button "Next"`, `label "Town"`, `css "#q" (2)`.
    pub fn describe(&self) -> String {
        let how = match &self.by {
            Locator::Role { role, .. } => role.as_deref().unwrap_or("name"),
            Locator::Label(_) => "label",
            Locator::Placeholder(_) => "placeholder",
            Locator::TestId(_) => "test_id",
            Locator::Css(_) => "css",
        };
        let nth = self.nth.map(|it| format!(" ({it})")).unwrap_or_default();
        format!("{how} {:?}{nth}", self.text())
    }
}
