//! A page that stays, logged in: a login is put into a context before its first page, and taken out where that is asked for.

use super::PageController;
use commis_base::error::{Code, Error, Result};
use commis_vault::{LoginData, LoginName};

impl PageController {
    /// Puts a login into this context; nothing where it is in it already. How many of its cookies the browser did not take. Fails
    /// with `PARAM_INVALID` where something was done here before.
    pub async fn mount(&mut self, name: &LoginName, held: &LoginData) -> Result<usize> {
        if self.login.as_ref() == Some(name) {
            return Ok(0);
        }
        let fresh = self.login.is_none() && self.begun_at.is_none() && self.keep.is_none();
        if !fresh || !self.context.is_fresh().await? {
            let what = match &self.login {
                Some(it) => format!("this context is logged in as `{it}`"),
                None => "something was done in this context before".to_owned(),
            };
            return Err(Error::new(Code::ParamInvalid, what).hint(
                "a login needs a new context: give another --context, or run `commis browse close` first",
            ));
        }
        let refused = self.context.mount(held).await?;
        // What that took is nobody's business.
        self.context.listen()?;
        self.login = Some(name.clone());
        Ok(refused)
    }

    /// The login that was put into this context.
    pub fn login(&self) -> Option<&LoginName> {
        self.login.as_ref()
    }

    /// What this context holds of the page's site, or of that of `url`.
    pub async fn capture_login(&self, url: Option<&str>) -> Result<LoginData> {
        self.context.capture_login(url, "context").await
    }
}
