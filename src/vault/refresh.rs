//! A login renewed as the site's own pages renew it: one request that takes a stored token, or a cookie, and gives new ones.
//!
//! Refresh tokens are often good for one use, so one process renews at a time, and what the answer gives is sealed before anything
//! else is done with it. A process that dies between the site's answer and that write has lost the login, unless the site takes the
//! old token once more; the sealed file is the old state or the new one, never a part of one.

use std::{collections::BTreeMap, time::Duration};

use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::{Changes, Login, LoginData, Refresh, StorageItem, TokenMapping};
use commis_base::error::{Code, Error, Result};
use commis_net::{
    egress::site_of,
    transport::{Reply, public_http::PublicHttp},
};
use commis_recipe::{
    model::{Slot, SlotSource, StorageArea},
    request::prepare_request,
};
use commis_runner::slots::stored_text;
use commis_state::now_ms;

/// How long to wait for another process that renews the same login.
const PATIENCE: Duration = Duration::from_secs(20);
const LOOK_AGAIN: Duration = Duration::from_millis(20);

impl Refresh {
    /// The tokens and cookies that it gives, as a login holds them now.
    fn tokens(&self, held: &LoginData) -> Vec<Option<String>> {
        let one = |it: &TokenMapping| {
            let item = held.stored_at(&self.origin, it.area, &it.key)?;
            stored_text(&item.value, it.path.as_deref()).ok()?
        };
        let now = now_ms();
        let cookie = |name: &String| {
            let mut all = held.cookies().iter();
            let found = all.find(|it| it.name == *name && !it.has_expired(now));
            found.map(|it| it.value.to_string())
        };
        self.gives.iter().map(one).chain(self.cookies.iter().map(cookie)).collect()
    }

    /// What it takes of the login. `None` where that is not there.
    fn values(&self, held: &LoginData) -> Option<BTreeMap<String, String>> {
        let one = |slot: &Slot| {
            let SlotSource::Storage { area, key, path } = &slot.from else { return None };
            let item = held.stored_at(&self.origin, *area, key)?;
            Some((slot.name.clone(), stored_text(&item.value, path.as_deref()).ok()??))
        };
        self.slots.iter().map(one).collect()
    }

    /// The stored values after this answer. `None` where it does not give what it should.
    fn apply_answer(&self, held: &LoginData, answer: &Value) -> Option<Vec<StorageItem>> {
        let mut out: Vec<StorageItem> = Vec::new();
        for it in &self.gives {
            let new = answer.pointer(&it.from)?.as_str().filter(|it| !it.is_empty())?;
            let known = out.iter().position(|old| old.area == it.area && old.name == it.key);
            let at = if let Some(at) = known {
                at
            } else {
                out.push(match held.stored_at(&self.origin, it.area, &it.key) {
                    Some(known) => known.clone(),
                    // A page asks for it each time, so a fresh login holds none.
                    None if it.area == StorageArea::Memory => StorageItem {
                        origin: self.origin.clone(),
                        area: it.area,
                        name: it.key.clone(),
                        value: String::new().into(),
                        set_ms: 0,
                    },
                    None => return None,
                });
                out.len() - 1
            };
            let item = &mut out[at];
            let old = stored_text(&item.value, it.path.as_deref()).ok()??;
            let value = if it.path.is_some() {
                let mut json: Value = serde_json::from_str(&item.value).ok()?;
                replace(&mut json, &old, new);
                json.to_string()
            } else {
                new.to_owned()
            };
            item.value = value.into();
            item.set_ms = now_ms();
        }
        Some(out)
    }
}

/// Puts `new` wherever the text `old` is a leaf.
fn replace(json: &mut Value, old: &str, new: &str) {
    match json {
        Value::String(it) if it == old => new.clone_into(it),
        Value::Array(all) => all.iter_mut().for_each(|it| replace(it, old, new)),
        Value::Object(all) => all.values_mut().for_each(|it| replace(it, old, new)),
        _ => {}
    }
}

impl Login {
    /// Renews it as the site's pages do; `used` is the state that a request was refused with. True where it is another one now, also
    /// because another process was first; false where nobody knows how, or the site refuses. Fails with the codes of
    /// `Transport::send` where the site was not heard, with `TASK_BUSY`, and as [`Login::save_changes`].
    pub async fn renew(
        &self,
        http: &PublicHttp,
        used: &LoginData,
        own: Option<&str>,
    ) -> Result<bool> {
        if self.contents().refresh().is_none() {
            return Ok(false);
        }
        let begun = Instant::now();
        let _lock = loop {
            match self.refresh_lock()? {
                Some(it) => break it,
                None if begun.elapsed() < PATIENCE => sleep(LOOK_AGAIN).await,
                None => {
                    return Err(Error::new(Code::TaskBusy, "another process renews this login")
                        .hint("try again in a moment"));
                }
            }
        };
        self.reload()?;
        let held = self.contents();
        let Some(refresh) = held.refresh() else { return Ok(false) };
        if refresh.tokens(&held) != refresh.tokens(used) {
            return Ok(true);
        }
        if site_of(&refresh.request.url) != held.site() {
            return Ok(false);
        }
        let Some(values) = refresh.values(&held) else { return Ok(false) };
        let mut outgoing = prepare_request(&refresh.request, &[], &values)?;
        outgoing.own_host = own.map(str::to_owned);
        let reply: Reply = http.call(&outgoing, Some(self)).await?;
        match reply.status {
            200..=299 => {}
            // The site has trouble; the token may be good.
            429 | 500.. => {
                let what = format!("the site answered {} to a refresh of its login", reply.status);
                let code = if reply.status == 429 { Code::RateLimited } else { Code::ServerError };
                return Err(Error::new(code, what).hint("try again later"));
            }
            _ => return Ok(false),
        }
        // What it sets is sealed already.
        if refresh.gives.is_empty() {
            return Ok(refresh.tokens(&self.contents()) != refresh.tokens(&held));
        }
        let Ok(answer) = serde_json::from_slice::<Value>(&reply.body) else { return Ok(false) };
        let Some(stored) = refresh.apply_answer(&held, &answer) else { return Ok(false) };
        self.save_changes(Changes { cookies: Vec::new(), stored }).await?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::{LoginName, Vault};
    use commis_base::settings::{EgressSettings, Home};
    use commis_net::{egress::EgressPolicy, transport::PreparedRequest};
    use commis_testbed::Testbed;

    const ORIGIN: &str = "http://huddle.test";
    const KEY: &str = "huddle.session";

    struct Site {
        _web: Testbed,
        http: PublicHttp,
        home: tempfile::TempDir,
        name: LoginName,
    }

    impl Site {
        async fn start() -> Self {
            let web = Testbed::start(0).await.unwrap();
            let settings = EgressSettings {
                test_hosts: vec![format!("*.test={}", web.addr())],
                ..EgressSettings::default()
            };
            let http = PublicHttp::new(Arc::new(EgressPolicy::new(&settings).unwrap())).unwrap();
            let home = tempfile::tempdir().unwrap();
            Self { _web: web, http, home, name: "huddle".parse().unwrap() }
        }

        async fn ask(&self, method: &str, url: &str, body: Value, bearer: &str) -> (u16, Value) {
            let request = PreparedRequest {
                method: method.to_owned(),
                url: url.to_owned(),
                headers: vec![("authorization".to_owned(), format!("Bearer {bearer}"))],
                body: (method == "POST").then(|| body.to_string().into_bytes()),
                allowed_domains: Vec::new(),
                own_host: None,
            };
            let reply = self.http.call(&request, None).await.unwrap();
            (reply.status, serde_json::from_slice(&reply.body).unwrap())
        }

        async fn log_in(&self) -> Login {
            let (_, it) = self
                .ask("GET", "http://control.test/password?account=ada-lund", Value::Null, "")
                .await;
            let body = json!({"name": "ada-lund", "password": it["password"]});
            let (_, it) = self.ask("POST", "http://api.huddle.test/session", body, "").await;
            let tokens = json!({"access": it["access"], "refresh": it["refresh"]});
            let stored = vec![StorageItem {
                origin: ORIGIN.to_owned(),
                area: StorageArea::Local,
                name: KEY.to_owned(),
                value: json!({"tokens": tokens, "at": 1}).to_string().into(),
                set_ms: 0,
            }];
            let held = LoginData::new(&format!("{ORIGIN}/"), "form", Vec::new(), stored).unwrap();
            self.vault().seal(&self.name, &held, true).unwrap();
            let login = self.open();
            login.set_refresh(refresh()).unwrap();
            login
        }

        fn vault(&self) -> Vault {
            Vault::new(&Home::find(Some(self.home.path())).unwrap())
        }

        fn open(&self) -> Login {
            Login::open(self.vault(), &self.name).unwrap()
        }

        /// Status of a request with the access token that is sealed now.
        async fn status(&self) -> u16 {
            let access = refresh().tokens(&self.open().contents())[0].clone().unwrap();
            self.ask("GET", "http://api.huddle.test/rooms", Value::Null, &access).await.0
        }

        async fn expire(&self, site: &str) {
            let url = format!("http://control.test/expire?site={site}&account=ada-lund");
            self.ask("GET", &url, Value::Null, "").await;
        }
    }

    fn refresh() -> Refresh {
        let place =
            |name: &str| json!({"area": "local", "key": KEY, "path": format!("tokens.{name}")});
        let gives = |name: &str| {
            let mut it = place(name);
            it["from"] = format!("/{name}").into();
            it
        };
        serde_json::from_value(json!({
            "origin": ORIGIN,
            "request": {
                "method": "POST", "url": "http://api.huddle.test/session/refresh", "allowed_domains": ["api.huddle.test"],
                "headers": {"content-type": "application/json"}, "body": {"json": {"refresh": "{token}"}},
            },
            "slots": [{"name": "token", "from": {"storage": place("refresh")}}],
            "gives": [gives("access"), gives("refresh")],
        }))
        .unwrap()
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_login_is_renewed_once_whoever_asks() {
        let site = Site::start().await;
        let login = site.log_in().await;
        assert_eq!(site.status().await, 200);
        site.expire("api.huddle.test").await;
        assert_eq!(site.status().await, 401);
        // The token is good for one use: a second refresh would fail.
        let (one, other) = (site.open(), site.open());
        let used = login.contents();
        let both = [one.renew(&site.http, &used, None), other.renew(&site.http, &used, None)];
        assert!(futures::future::join_all(both).await.into_iter().all(Result::unwrap));
        assert_eq!(site.status().await, 200);
        let stored = site.open().contents();
        let item = stored.stored_at(ORIGIN, StorageArea::Local, KEY).unwrap();
        let json: Value = serde_json::from_str(&item.value).unwrap();
        assert_eq!(json["at"], 1, "what is no token stays");
        // Again with the state that is current: the new refresh token is good.
        assert!(one.renew(&site.http, &stored, None).await.unwrap());
        assert_eq!(site.status().await, 200);
        site.expire("refresh.huddle.test").await;
        let now = site.open();
        assert!(!now.renew(&site.http, &now.contents(), None).await.unwrap());
        // A login that was made anew keeps the way, and not the tokens.
        let again = site.log_in().await;
        assert!(again.contents().refresh().is_some());
        let before = now.contents();
        now.save_changes(Changes { cookies: Vec::new(), stored: vec![item.clone()] })
            .await
            .unwrap();
        assert_ne!(before.taken_ms(), site.open().contents().taken_ms());
        assert_eq!(
            site.status().await,
            200,
            "an answer to the login before is not written over it"
        );
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_crash_before_the_write_loses_the_login_and_nothing_else() {
        let site = Site::start().await;
        let login = site.log_in().await;
        site.expire("api.huddle.test").await;
        let dir =
            commis_base::files::open_or_create(&site.home.path().join("vault/huddle")).unwrap();
        let before = dir.read("1.sealed", 1 << 20).unwrap().unwrap();
        assert!(login.renew(&site.http, &login.contents(), None).await.unwrap());
        // What a process leaves that died between the answer and the write.
        dir.write("1.sealed", &before).unwrap();
        let after = site.open();
        assert!(!after.renew(&site.http, &after.contents(), None).await.unwrap());
        assert_eq!(site.status().await, 401);
        // A lock of somebody who died is free.
        site.log_in().await;
        assert_eq!(site.status().await, 200);
    }

    /// The token of `meterbox.test` is in a page's memory alone: a fresh login holds none, and each refresh spends its cookie.
    #[tokio::test(flavor = "multi_thread")]
    async fn a_token_in_memory_is_given_by_the_first_refresh() {
        let site = Site::start().await;
        let word = site
            .ask("GET", "http://control.test/password?account=ada-lund", Value::Null, "")
            .await
            .1;
        let origin = "http://meterbox.test";
        let held =
            LoginData::new(&format!("{origin}/"), "form", vec![theme("meterbox.test")], Vec::new())
                .unwrap();
        site.vault().seal(&site.name, &held, true).unwrap();
        let login = site.open();
        let request = PreparedRequest {
            method: "POST".to_owned(),
            url: format!("{origin}/auth/login"),
            headers: vec![("content-type".to_owned(), "application/json".to_owned())],
            body: Some(
                json!({"name": "ada-lund", "password": word["password"]}).to_string().into_bytes(),
            ),
            allowed_domains: Vec::new(),
            own_host: None,
        };
        assert_eq!(site.http.call(&request, Some(&login)).await.unwrap().status, 200);
        let refresh: Refresh = serde_json::from_value(json!({
            "origin": origin,
            "request": {"method": "POST", "url": format!("{origin}/auth/refresh"), "allowed_domains": ["meterbox.test"]},
            "slots": [],
            "gives": [{"from": "/access_token", "area": "memory", "key": "token"}],
        }))
        .unwrap();
        login.set_refresh(refresh).unwrap();
        let status = async || {
            let token = site.open().stored(origin, StorageArea::Memory, "token");
            let token = token.map_or_else(String::new, |it| it.to_string());
            let url = format!("{origin}/api/readings?year=2024");
            site.ask("GET", &url, Value::Null, &token).await.0
        };
        assert_eq!(status().await, 401);
        for _ in 0..2 {
            let used = site.open();
            assert!(used.renew(&site.http, &used.contents(), None).await.unwrap());
            assert_eq!(status().await, 200);
            site.expire("meterbox.test").await;
            assert_eq!(status().await, 401);
        }
        site.expire("renewal.meterbox.test").await;
        let used = site.open();
        assert!(!used.renew(&site.http, &used.contents(), None).await.unwrap());
    }

    /// Without anything a login is none.
    fn theme(host: &str) -> crate::Cookie {
        crate::Cookie {
            name: "theme".to_owned(),
            value: "dark".to_owned().into(),
            domain: host.to_owned(),
            path: "/".to_owned(),
            ends: None,
            secure: false,
            http_only: false,
            same_site: None,
            partition: None,
            set_ms: 0,
        }
    }

    /// The refresh request of `granary.test` carries nothing but a cookie, which is good for one use and goes to its address alone.
    #[tokio::test(flavor = "multi_thread")]
    async fn a_login_is_renewed_by_a_cookie_alone() {
        let site = Site::start().await;
        let word = site
            .ask("GET", "http://control.test/password?account=ada-lund", Value::Null, "")
            .await
            .1;
        let item = StorageItem {
            origin: "http://granary.test".to_owned(),
            area: StorageArea::Local,
            name: "theme".to_owned(),
            value: "dark".to_owned().into(),
            set_ms: 0,
        };
        let held = LoginData::new("http://granary.test/", "form", Vec::new(), vec![item]).unwrap();
        site.vault().seal(&site.name, &held, true).unwrap();
        let login = site.open();
        let form = format!("name=ada-lund&password={}", word["password"].as_str().unwrap());
        let request = |method: &str, path: &str, body: Option<String>| PreparedRequest {
            method: method.to_owned(),
            url: format!("http://granary.test{path}"),
            headers: vec![(
                "content-type".to_owned(),
                "application/x-www-form-urlencoded".to_owned(),
            )],
            body: body.map(String::into_bytes),
            allowed_domains: Vec::new(),
            own_host: None,
        };
        let sent = async |request: PreparedRequest| {
            let login = site.open();
            site.http.call(&request, Some(&login)).await.unwrap().status
        };
        sent(request("POST", "/login", Some(form))).await;
        let crates = || request("GET", "/crates.json?hall=north", None);
        assert_eq!(sent(crates()).await, 200);
        let refresh: Refresh = serde_json::from_value(json!({
            "origin": "http://granary.test",
            "request": {"method": "POST", "url": "http://granary.test/session/renew", "allowed_domains": ["granary.test"]},
            "slots": [], "gives": [], "cookies": ["pass"],
        }))
        .unwrap();
        login.set_refresh(refresh).unwrap();
        for _ in 0..2 {
            site.expire("granary.test").await;
            assert_eq!(sent(crates()).await, 401);
            let (one, other, used) = (site.open(), site.open(), login.contents());
            let both = [one.renew(&site.http, &used, None), other.renew(&site.http, &used, None)];
            assert!(futures::future::join_all(both).await.into_iter().all(Result::unwrap));
            assert_eq!(sent(crates()).await, 200);
            login.reload().unwrap();
        }
        // With both gone it has ended.
        site.expire("granary.test").await;
        site.expire("renewal.granary.test").await;
        assert!(!login.renew(&site.http, &login.contents(), None).await.unwrap());
        assert_eq!(sent(crates()).await, 401);
    }
}
