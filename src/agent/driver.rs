//! What drives a browser for the loop: our own, or a server of somebody else.

use std::path::PathBuf;

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

use super::{Action, PageView};
use commis_base::error::Result;
use commis_model::Tool;

/// A browser that does one action after the other. Dropping it closes what it opened.
pub trait BrowserDriver: Send {
    /// What the model may call there.
    fn tools(&self) -> Vec<Tool>;

    /// `on`: the address of the page that it was judged for. Fails with `REF_STALE` where the page is of another site now, and with
    /// what the action fails with, which the model is told; `BROWSER_FAILED` and other environments' failures end the task.
    fn act<'a>(&'a mut self, act: &'a Action, on: &'a str) -> BoxFuture<'a, Result<ActionResult>>;

    /// The page as it is now.
    fn snapshot(&mut self) -> BoxFuture<'_, Result<PageView>>;

    /// The page's text as it is drawn, a line a block; `None` where that is not known. A snapshot may cut one word in pieces.
    fn drawn(&mut self) -> BoxFuture<'_, Result<Option<String>>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    /// Where a picture of the page was put; `None` where there are none.
    fn picture(&mut self) -> BoxFuture<'_, Result<Option<PathBuf>>>;

    /// Gives the page to a person, in a window, where there can be one; whether a person has it now. What a person does there is not
    /// held back.
    fn hand_over(&mut self, _note: &str) -> BoxFuture<'_, bool> {
        Box::pin(std::future::ready(false))
    }

    /// Takes it back. Fails with what the browser fails with.
    fn take_back(&mut self) -> BoxFuture<'_, Result<()>> {
        Box::pin(std::future::ready(Ok(())))
    }
}

/// What an action came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ActionResult {
    /// For the model. What a page says in it is marked.
    pub text: String,
    /// Requests that were held back on the way.
    pub held: Vec<PausedRequest>,
}

/// A request that did not leave, as its bytes are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PausedRequest {
    /// By which whoever holds it knows it.
    pub id: String,
    pub method: String,
    pub url: String,
    /// As the browser will send them, cookies aside.
    pub headers: Vec<(String, String)>,
    pub body: Option<Vec<u8>>,
    /// There is a body, of which not everything can be seen (files).
    pub is_opaque: bool,
    /// Why it may change something.
    pub why: String,
    /// Names of cookies that go with it and that scripts can write, with digests of their values. Nothing of it is kept.
    #[serde(skip)]
    pub cookies: Vec<(String, String)>,
}
