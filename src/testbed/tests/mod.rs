//! The testbed as its callers see it, over HTTP.

mod acts;
mod data;
mod demand;
mod kinds;
mod server;

use reqwest::{Client, RequestBuilder, StatusCode};
use serde_json::Value;

use super::{HOSTS, Testbed};

/// A client for which every served host is the testbed.
fn client(testbed: &Testbed) -> Client {
    rustls::crypto::ring::default_provider().install_default().ok();
    let builder = Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none());
    let builder = HOSTS.iter().fold(builder, |b, host| b.resolve(host, testbed.addr()));
    builder.build().unwrap()
}

fn url(testbed: &Testbed, rest: &str) -> String {
    let (host, path) = rest.split_once('/').unwrap();
    format!("http://{host}:{}/{path}", testbed.addr().port())
}

async fn json_of(request: RequestBuilder) -> (StatusCode, Value) {
    let response = request.send().await.unwrap();
    (response.status(), serde_json::from_slice(&response.bytes().await.unwrap()).unwrap())
}
