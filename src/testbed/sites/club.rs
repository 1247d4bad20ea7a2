//! `club.test`: a membership that can be cancelled: two offers to stay, a question, and a POST that does it. How often each was
//! done is told at `/api/count`. Whoever asks is logged in.

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::json;

use crate::shell::{self, Extra, Layout, Site};
use crate::testbed_state::TestbedState;
use crate::wire::{self, SiteRequest};

const SITE: Site = Site {
    name: "Marlow Rowing Club",
    description: "Eights, fours and coffee on the river.",
    layout: Layout::Classic,
    nav: &["Boats", "Courses", "Clubhouse"],
    main: r#"<h1>On the river since 1871</h1>
<p>Courses begin every second Monday. The boathouse is open from six.</p>
<p><a href="/account">Your account</a></p>"#,
    script: ("", ""),
    extras: &[Extra::Pixel, Extra::Flags],
};

const CANCELLED: &str = "club cancelled";
const KEPT: &str = "club kept";
const PAUSED: &str = "club paused";

pub fn answer(ask: &SiteRequest, state: &TestbedState) -> Response {
    // Carried along, so that a run that begins with it fails at its end.
    let fails = ask.param("fail").is_some();
    let carried = if fails { "?fail=1" } else { "" };
    let page = |main: &str| shell::page(&SITE, ask, "", &main.replace("{carried}", carried));
    let is_cancelled = !state.recorded_actions(CANCELLED).is_empty();
    match ask.route() {
        ("GET", "/account") if is_cancelled => page(ENDED),
        ("GET", "/account") => page(ACCOUNT),
        ("GET", "/account/cancel") => page(OFFER),
        ("GET", "/account/cancel/pause") => page(PAUSE),
        ("GET", "/account/cancel/confirm") => page(CONFIRM),
        ("POST", "/account/cancel/confirm") if fails => page(FAILED),
        ("POST", "/account/cancel/confirm") => {
            state.note(CANCELLED, &ask.body);
            see("/account/cancelled")
        }
        ("POST", "/account/offer") => {
            state.note(KEPT, &ask.body);
            see("/account/kept")
        }
        ("POST", "/account/pause") => {
            state.note(PAUSED, &ask.body);
            see("/account/paused")
        }
        ("GET", "/account/cancelled") if is_cancelled => page(DONE),
        ("GET", "/account/cancelled") => wire::redirect("/account"),
        ("GET", "/account/kept") => page(
            "<h1>Good to have you</h1><p>You pay €7.49 a month from now on.</p><a href='/account'>Your account</a>",
        ),
        ("GET", "/account/paused") => page(
            "<h1>See you in three months</h1><p>Your membership is paused until 1 March 2027.</p><a href='/account'>Your account</a>",
        ),
        ("GET", "/api/count") => wire::json(&json!({
            "count": state.recorded_actions(CANCELLED).len(),
            "kept": state.recorded_actions(KEPT).len(),
            "paused": state.recorded_actions(PAUSED).len(),
        })),
        _ => shell::answer(&SITE, ask),
    }
}

fn see(to: &str) -> Response {
    wire::with(wire::text(StatusCode::SEE_OTHER, "see other\n"), "location", to)
}

const ACCOUNT: &str = r#"<h1>Your account</h1>
<p>Ada Example, ada@example.test</p>
<h2>Membership</h2>
<dl><dt>Plan</dt><dd>Gold, €14.99 a month</dd><dt>Next payment</dt><dd>1 December 2026</dd></dl>
<ul><li><a href="/help">Help with your membership</a></li>
<li><a href="/account/cancel{carried}">Cancel membership</a></li></ul>"#;

const ENDED: &str = "<h1>Your account</h1>
<p>Ada Example, ada@example.test</p>
<h2>Membership</h2>
<p>Your membership ends on 30 November 2026. No further payments are due.</p>";

const OFFER: &str = r#"<h1>Before you go</h1>
<p>Stay for half the price: €7.49 instead of €14.99 a month, for a whole year.</p>
<form method="post" action="/account/offer"><button>Keep 50% off</button></form>
<p><a href="/account/cancel/pause{carried}">Continue to cancel</a></p>"#;

const PAUSE: &str = r#"<h1>Take a break instead?</h1>
<p>Pause your membership for three months. You pay nothing, and your locker stays yours.</p>
<form method="post" action="/account/pause"><button>Pause for 3 months</button></form>
<p><a href="/account/cancel/confirm{carried}">Continue to cancel</a></p>"#;

const CONFIRM: &str = r#"<h1>Cancel your membership</h1>
<p>You lose your locker, your place in the eight and the price of 2019. You can row until 30 November 2026.</p>
<form method="post" action="/account/cancel/confirm{carried}">
<input type="hidden" name="membership" value="M-4471">
<label>Why do you leave? <select name="reason"><option>No reason</option><option>Too expensive</option><option>I move away</option></select></label>
<button>Finish cancellation</button></form>
<p><a href="/account">Keep membership</a></p>"#;

const DONE: &str = "<h1>Goodbye, Ada</h1>
<p>Your membership ends on 30 November 2026. We have sent you a mail.</p>";

/// It holds words of success as well.
const FAILED: &str = r#"<h1>That did not work</h1>
<p>Something went wrong on our side, and your membership is not cancelled. Please try again later.</p>
<p><a href="/account">Your account</a></p>"#;
