//! A recipe as files hold it: one request, or steps.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use super::{
    chain::{Chain, Step},
    model::{
        Auth, Demotion, LoginNeed, Parameter, Recipe, RequestTemplate, ResponseSpec, Slot, Status,
        Verification,
    },
    paging::Pages,
    trust_level::Trust,
};
use commis_base::ids::RecipeName;

/// A learned or hand-written shortcut, of one request or several.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(
    rename = "Recipe",
    extend("oneOf" = [{"required": ["request", "response"]}, {"required": ["steps"]}])
)]
pub struct RecipeFile {
    /// Of the language: 1, or 2 where there are `steps` or `pages`.
    pub version: u32,
    /// As its file is called, without `.yaml`.
    pub name: RecipeName,
    /// The task sentence, with `{parameter}` where values go.
    pub task: String,
    /// A word to list recipes by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// Where it stands: only a verified one runs without `--draft`.
    pub status: Status,
    /// The page the request was learned on; opened first when the recipe needs a session.
    pub source_url: String,
    /// The host of the user's own, `host:port`, that it was learned at: it runs only where the settings name that host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_host: Option<String>,
    /// What a caller gives.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<Parameter>,
    /// What is sent, where it is one request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<RequestTemplate>,
    /// Two to four requests in a row instead: what later ones take from earlier answers is written `{step.field}`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
    /// Values that the call needs and that are fetched each run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slots: Vec<Slot>,
    /// The login that a run needs. Never its name or content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub login: Option<LoginNeed>,
    /// A key that the site wants. Never its value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth: Option<Auth>,
    /// What of the answer to `request` is the data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<ResponseSpec>,
    /// With `steps`: JMESPath over their answers by name, `{orders: list, name: me.name}`. Without it the last answer is the data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// How further pages of its list are asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages: Option<Pages>,
    /// How it was proven; only learning and `recipe verify` write it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification: Option<Verification>,
    /// Why learning did not prove it: what it refused by what the page showed cannot be proven without the page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// Why it was put out of service, of a deprecated one that may be proven again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub demotion: Option<Demotion>,
}

impl TryFrom<RecipeFile> for Recipe {
    type Error = String;

    fn try_from(it: RecipeFile) -> Result<Self, String> {
        let (chain, request, response) = match (it.request, it.response, it.steps.is_empty()) {
            (Some(request), Some(response), true) if it.output.is_none() => {
                (None, request, response)
            }
            (Some(_), Some(_), true) => return Err("`output` needs `steps`".to_owned()),
            (None, None, false) => {
                let (chain, request, response) = Chain::from_steps(it.steps, it.output)?;
                (Some(chain), request, response)
            }
            (None, _, true) => return Err("missing field `request`".to_owned()),
            (_, None, true) => return Err("missing field `response`".to_owned()),
            (_, _, false) => {
                return Err("`steps` stands in place of `request` and `response`".to_owned());
            }
        };
        Ok(Self {
            version: it.version,
            name: it.name,
            task: it.task,
            category: it.category,
            status: it.status,
            source_url: it.source_url,
            own_host: it.own_host,
            parameters: it.parameters,
            request,
            chain,
            slots: it.slots,
            login: it.login,
            auth: it.auth,
            response,
            pages: it.pages,
            verification: it.verification,
            refused: it.refused,
            demotion: it.demotion,
            trust: Trust::default(),
        })
    }
}

impl From<Recipe> for RecipeFile {
    fn from(it: Recipe) -> Self {
        let output = it.chain.as_ref().and_then(|it| it.output.clone());
        let (request, response, steps) = match it.chain {
            None => (Some(it.request), Some(it.response), Vec::new()),
            Some(chain) => (None, None, chain.into_steps(it.request, it.response)),
        };
        Self {
            version: it.version,
            name: it.name,
            task: it.task,
            category: it.category,
            status: it.status,
            source_url: it.source_url,
            own_host: it.own_host,
            parameters: it.parameters,
            request,
            steps,
            slots: it.slots,
            login: it.login,
            auth: it.auth,
            response,
            output,
            pages: it.pages,
            verification: it.verification,
            refused: it.refused,
            demotion: it.demotion,
        }
    }
}

impl Serialize for Recipe {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        RecipeFile::from(self.clone()).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Recipe {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        RecipeFile::deserialize(deserializer)?.try_into().map_err(D::Error::custom)
    }
}

impl JsonSchema for Recipe {
    fn inline_schema() -> bool {
        RecipeFile::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        RecipeFile::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        RecipeFile::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        RecipeFile::json_schema(generator)
    }
}
