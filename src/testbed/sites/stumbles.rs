//! `stumbles.test`: a page for each way in which a scripted step fails.

use axum::http::StatusCode;
use axum::response::Response;

use crate::testbed_state::TestbedState;
use crate::wire::{self, SiteRequest};

const FORM: &str = r#"<h1>Lamps</h1><nav><a href="/help">Help</a> <a href="/about">About us</a> <a href="/contact">Contact</a></nav>
<form onsubmit="out.textContent = 'no lamps'; return false"><label>Search <input type="search" name="q"></label>
<label>Kind <select name="kind"><option value="1">Floor lamp</option><option value="2">Table lamp</option></select></label>
<label><input type="checkbox" name="stock"> In stock</label> <button>Find</button></form><p id="out"></p>
<ul id="lamps"><li><b>Anna</b> <i>12.50</i></li><li><b>Bertha</b> <i>20.00</i></li><li><b>Clara</b> <i>31.00</i></li></ul>"#;
const UNNAMED: &str = "<form><select name=field><option>kind<option>maker</select>
<input name=is><input name=is><textarea name='a[\"b\"]'></textarea><input placeholder=Town><input placeholder=Street><input></form>";

const TWICE: &str =
    r"<ul><li>Lamp <button>Buy</button></li><li>Hose <button>Buy</button></li></ul>";
const COVERED: &str = r#"<button style="width: 200px; height: 40px">Show lamps</button>
<div role="dialog" aria-label="We value your privacy" style="position: fixed; inset: 0; background: white">We value your privacy <button>Accept</button></div>"#;
const DISABLED: &str = r"<label>Name <input></label> <button disabled>Send</button>";
const FRAMED: &str =
    r#"<button>Pay</button><iframe name="ads" srcdoc="<a href='/ad'>Lamps, lamps</a>"></iframe>"#;
const MENU: &str = r#"<button aria-controls="more" aria-expanded="false" onclick="more.hidden = !more.hidden">More</button>
<ul id="more" hidden><li><a href="/export">Export</a></li></ul>"#;
const HANGS: &str = r#"<p id="out">loading</p><script>
fetch('http://endless.test/slow?ms=120000', { mode: 'no-cors' }).then(() => { out.textContent = 'loaded'; });
</script>"#;
const REFUSED: &str = r#"<p id="out">loading</p><script>
fetch('http://10.0.0.1/api/lamps').catch(it => { console.error('no lamps', it.message); });
</script>"#;
const LOGIN: &str = r#"<h1>Sign in</h1><form><label>User <input name="user"></label>
<label>Password <input type="password" name="password" value="remembered"></label> <button>Sign in</button></form>"#;
const CONFIRM: &str = r#"<button onclick="out.textContent = confirm('Delete all lamps?') ? 'All lamps are gone' : 'All lamps are there'">Delete</button><p id="out"></p>"#;
const POPUP: &str = r#"<a href="/details" target="_blank">Details</a>"#;
const SHAKY: &str = r"<p>Lamps</p><script>fetch('/broken')</script>";
const BROKEN: &str = r"<h1>Something went wrong</h1>";

pub fn answer(ask: &SiteRequest, _: &TestbedState) -> Response {
    let page = |main: &str| {
        wire::html(format!("<!doctype html><meta charset=utf-8><title>Stumbles</title>{main}"))
    };
    match &*ask.path {
        "/" => page(FORM),
        "/twice" => page(TWICE),
        "/unnamed" => page(UNNAMED),
        "/covered" => page(COVERED),
        "/disabled" => page(DISABLED),
        "/framed" => page(FRAMED),
        "/menu" => page(MENU),
        "/hangs" => page(HANGS),
        "/refused" => page(REFUSED),
        "/login" => page(LOGIN),
        "/private" => wire::redirect("/login"),
        "/confirm" => page(CONFIRM),
        "/popup" => page(POPUP),
        "/shaky" => page(SHAKY),
        "/help" | "/about" | "/contact" | "/details" | "/export" | "/ad" => page("<p>Lamps, lamps"),
        "/broken" => wire::answer(StatusCode::INTERNAL_SERVER_ERROR, "text/html", BROKEN),
        _ => wire::not_found(),
    }
}
