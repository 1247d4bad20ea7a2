//! Steps on pages that are made for them.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::*;
use commis_artifacts::recording::{Action, Control};

fn at(html: &str) -> String {
    format!("http://shop.test/html?html={}", utf8_percent_encode(html, NON_ALPHANUMERIC))
}

/// Records these steps on that page, for three seconds each.
async fn record(
    browser: &Browser,
    html: &str,
    typed: &[(&str, &str)],
    steps: &str,
) -> Result<RawRecording> {
    let mut context = browser.context().await.unwrap();
    let mut plan = plan(&at(html), steps);
    plan.timeout = Duration::from_secs(3);
    plan.typed = typed.iter().map(|it| (it.0.to_owned(), it.1.to_owned())).collect();
    context.record(&plan).await
}

/// Sends one request as it loads, and one some time after each key.
const TYPEAHEAD: &str = r#"<input aria-label="Word" id="q"><p id="out"></p><script>
const ask = async q => {
  const r = await fetch('/slow?ms=' + (q ? SLOW : 0) + '&q=' + encodeURIComponent(q));
  out.textContent = 'got ' + (await r.json()).slow;
};
ask('');
let timer;
q.oninput = () => { clearTimeout(timer); timer = setTimeout(() => ask(q.value), 250); };
</script>"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_request_is_waited_for_that_began_after_the_last_key() {
    let site = serve().await;
    let Some(browser) = start(&site).await else {
        return;
    };
    let steps = "
- fill: {role: textbox, name: Word, value: lan tern}
- wait_for: {request: /slow}
";
    for slow in ["0", "700"] {
        let html = TYPEAHEAD.replace("SLOW", slow);
        let recording = record(&browser, &html, &[("q", "lan tern")], steps).await.unwrap();
        let found = exchange(&recording, "q=lan%20tern");
        assert_eq!(text(found), r#"{"slow":"lan tern"}"#);
        assert!(recording.page.visible_text.contains("got lan tern"));
        assert_eq!(recording.notes, [] as [String; 0]);
    }
    // A request of the page's own is none of the step's.
    let html = TYPEAHEAD.replace("q.oninput", "q.nothing");
    let err = record(&browser, &html, &[], steps).await.map(drop).unwrap_err();
    assert_eq!(err.code(), Code::StepFailed);
    let hint = err.hint_text().unwrap();
    assert!(hint.contains("/slow?ms=0&q= began before the last step"), "{hint}");
    browser.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_typed_request_in_flight_is_waited_for() {
    let site = serve().await;
    let Some(browser) = start(&site).await else {
        return;
    };
    let steps = "- fill: {role: textbox, name: Word, value: lantern}";
    let html = TYPEAHEAD.replace("SLOW", "3600");
    let recording = record(&browser, &html, &[("q", "lantern")], steps).await.unwrap();
    assert_eq!(text(exchange(&recording, "q=lantern")), r#"{"slow":"lantern"}"#);
    assert!(recording.page.visible_text.contains("got lantern"));
    assert_eq!(recording.notes.len(), 1);
    // Not where it carries nothing that was typed.
    let recording = record(&browser, &html, &[("q", "other")], steps).await.unwrap();
    assert_eq!(recording.notes, [] as [String; 0]);
    browser.close().await.unwrap();
}

const SHADOWS: &str = r#"<p>in the light<div id="host"></div><script>
const one = host.attachShadow({ mode: 'open' });
one.innerHTML = '<style>p { color: red }</style><slot>spare words</slot><div id="inner"></div><p hidden>not shown</p>';
const two = one.getElementById('inner').attachShadow({ mode: 'open' });
two.innerHTML = '<label>Deep word <input></label><button>Deep button</button><p class="out"></p>';
two.querySelector('button').onclick = () => {
  two.querySelector('.out').textContent = 'found ' + two.querySelector('input').value;
  two.querySelector('.out').classList.add('done');
};
</script><iframe srcdoc="<p>framed same"></iframe><iframe src="http://other.test/frame"></iframe>"#;

#[tokio::test(flavor = "multi_thread")]
async fn what_stands_in_shadow_roots_and_frames_is_seen() {
    let site = serve().await;
    let Some(browser) = start(&site).await else {
        return;
    };
    let steps = "
- fill: {role: textbox, name: Deep word, value: fish}
- click: {role: button, name: Deep button}
- wait_for: {text: Found fish}
- wait_for: {selector: p.done}
- wait_for: {text: framed same}
- wait_for: {text: inside other}
";
    let recording = record(&browser, SHADOWS, &[], steps).await.unwrap();
    let seen = &recording.page.visible_text;
    for part in ["in the light", "spare words", "found fish", "framed same", "inside other"] {
        assert!(seen.contains(part), "{part} is not in {seen}");
    }
    for part in ["not shown", "color"] {
        assert!(!seen.contains(part), "{part} is in {seen}");
    }
    let by_others = "
- fill: {label: Deep word, value: a}
- click: {css: button}
- wait_for: {text: found a}
";
    record(&browser, SHADOWS, &[], by_others).await.unwrap();
    browser.close().await.unwrap();
}

const FORM: &str = r#"<form>
<label>Kind <select name="cat"><option value="">Any</option><option value="12">Fish</option><option value="7">Fowl</option></select></label>
<fieldset><legend>Size</legend><label><input type="radio" name="size" value="s">Small</label>
<label><input type="radio" name="size" value="l" id="large">Large</label></fieldset>
<label><input type="checkbox" name="fresh" value="1"> Fresh only</label>
<input type="range" name="price" min="1" max="9" step="2" aria-label="Price">
<input placeholder="Your town" list="towns" name="town" required pattern="[a-z]+"><datalist id="towns"><option value="ber">Bergen</datalist>
<input type="password" name="pw" aria-label="Password">
<button type="button" data-testid="go" onclick="show()">Go</button></form>
<p id="menu" onmouseenter="out.textContent = 'hovered'">menu</p><p id="out"></p>
<div style="height: 4000px"></div><p id="end">the end</p>
<script>
const show = () => out.textContent = 'sent ' + new URLSearchParams(new FormData(document.forms[0])) + (confirm('sure?') ? ' yes' : ' no');
new IntersectionObserver(all => { if (all.some(it => it.isIntersecting)) fetch('/echo-get?end'); }).observe(end);
</script>"#;

fn control<'a>(recording: &'a RawRecording, kind: &str) -> &'a Control {
    let of = |it: &'a Action| it.control.as_ref().filter(|it| it.kind == kind);
    recording.actions.iter().find_map(of).unwrap_or_else(|| panic!("no {kind}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_is_used_as_people_do() {
    let site = serve().await;
    let Some(browser) = start(&site).await else {
        return;
    };
    let steps = "
- select: {name: Kind, value: Fish}
- check: {role: radio, name: Large}
- check: {name: Fresh only}
- uncheck: {name: Fresh only}
- check: {label: Fresh only}
- fill: {placeholder: your town, value: Bergen}
- fill: {role: textbox, name: Password, value: hunter2hunter2}
- dialog: accept
- click: {test_id: go}
- wait_for: {text: 'sent cat=12&size=l&fresh=1&price=5&town=Bergen&pw=hunter2hunter2 yes'}
- click: {css: 'form button'}
- wait_for: {text: ' no'}
- hover: {css: '#menu'}
- wait_for: {text: hovered}
- scroll: {to: bottom}
- wait_for: {request: end}
- scroll: {css: '#menu'}
";
    // Nothing that may be written down is typed where a password belongs.
    let refused = record(&browser, FORM, &[], steps).await.err().unwrap();
    assert_eq!(refused.code(), Code::SecretInTask);
    assert!(!refused.to_string().contains("hunter2") && refused.hint_text().is_some());
    let secrets = vec!["hunter2hunter2".to_owned().into()];
    let secret = Plan { secrets, timeout: Duration::from_secs(3), ..plan(&at(FORM), steps) };
    let recording = browser.context().await.unwrap().record(&secret).await.unwrap();
    assert_eq!(recording.secrets[0].as_str(), "hunter2hunter2");
    let filled = recording.actions.iter().filter_map(|it| it.value.as_deref());
    assert!(filled.clone().any(|it| it == "[REDACTED:password]"));
    assert_eq!(filled.filter(|it| it.contains("hunter2")).count(), 1, "what was waited for");
    let kinds: Vec<ActionKind> = recording.actions.iter().map(|it| it.kind).collect();
    assert_eq!(kinds[1..4], [ActionKind::Select, ActionKind::Check, ActionKind::Check]);
    assert!(kinds.contains(&ActionKind::Hover) && kinds.contains(&ActionKind::Scroll));
    let select = &recording.actions[1];
    assert_eq!((select.name.as_deref(), select.value.as_deref()), (Some("Kind"), Some("Fish")));
    assert!(select.role.is_some());
    let pairs = |it: &Control| {
        let pair =
            |it: &commis_artifacts::recording::ControlOption| format!("{}={}", it.label, it.value);
        it.options.iter().map(pair).collect::<Vec<_>>().join(" ")
    };
    let it = control(&recording, "select");
    assert_eq!((&*it.name, &*it.label), ("cat", "Kind"));
    assert_eq!(pairs(it), "Any= Fish=12 Fowl=7");
    let it = control(&recording, "radio");
    assert_eq!((&*it.name, &*it.label), ("size", "Large"));
    assert_eq!(pairs(it), "Small=s Large=l");
    assert_eq!(pairs(control(&recording, "checkbox")), "Fresh only=1");
    let it = control(&recording, "text");
    assert_eq!(pairs(it), "Bergen=ber");
    assert_eq!((it.required, it.pattern.as_deref()), (true, Some("[a-z]+")));
    assert_eq!(it.placeholder.as_deref(), Some("Your town"));
    assert_eq!(pairs(control(&recording, "password")), "");

    for (step, why, hint) in [
        ("- select: {name: Kind, value: Meat}", "no such option", ""),
        (
            "- uncheck: {role: radio, name: Large}\n- check: {role: button, name: Go}",
            "cannot be ticked",
            "",
        ),
        ("- click: {css: 'a['}", "not a CSS selector", ""),
        ("- click: {role: radio, name: Huge}", "no such element", "radio \"Small\""),
        ("- frame: {name: none}", "no such frame", "no frames"),
    ] {
        let err = record(&browser, FORM, &[], step).await.map(drop).unwrap_err();
        assert_eq!(err.code(), Code::StepFailed);
        assert!(err.message().contains(why), "{err}");
        assert!(err.hint_text().unwrap_or("").contains(hint), "{:?}", err.hint_text());
    }
    browser.close().await.unwrap();
}

const ALIKE: &str = r#"<button hidden onclick="out.textContent='hidden'">Buy</button>
<ul><li>Lamp <button onclick="out.textContent='lamp'">Buy</button><li>Hose <button onclick="out.textContent='hose'">Buy</button></ul>
<div style="visibility: hidden"><a href="/no">More</a></div><a href="/none" style="display:block;width:0;height:0;overflow:hidden">More</a><a href="javascript:void(out.textContent='more')">More</a>
<button disabled>Send</button><button onclick="out.textContent='sent'">Send</button>
<iframe name="inner" srcdoc="<button onclick=&quot;document.body.append('inner bought')&quot;>Buy</button>"></iframe>
<p id="out"></p>"#;

#[tokio::test(flavor = "multi_thread")]
async fn several_elements_that_fit_equally_well_are_told_apart_or_named() {
    let site = serve().await;
    let Some(browser) = start(&site).await else {
        return;
    };
    let steps = "
- click: {role: button, name: Buy, nth: 2}
- wait_for: {text: hose}
- click: {role: link, name: More}
- wait_for: {text: more}
- click: {role: button, name: Send}
- wait_for: {text: sent}
- frame: {name: inner}
- click: {role: button, name: Buy}
- wait_for: {text: inner bought}
- frame: main
- click: {css: 'li button', nth: 1}
- wait_for: {text: lamp}
- frame: {css: iframe}
- click: {role: button, name: Buy}
- frame: {url: srcdoc}
";
    record(&browser, ALIKE, &[], steps).await.unwrap();
    let step = "- click: {role: button, name: Buy}";
    let err = record(&browser, ALIKE, &[], step).await.map(drop).unwrap_err();
    assert_eq!(err.code(), Code::StepFailed);
    let hint = err.hint_text().unwrap();
    for part in
        ["nth", "1: button \"Buy\" near \"Lamp Buy\"", "2: button \"Buy\" near \"Hose Buy\""]
    {
        assert!(hint.contains(part), "{hint}");
    }
    browser.close().await.unwrap();
}

/// `over` is put over the button.
fn covered(over: &str) -> String {
    format!(
        r#"<form onsubmit="out.textContent = 'searched ' + q.value; return false">
<input type="search" aria-label="Word" id="q" oninput="over.hidden = false" onblur="setTimeout(() => over.hidden = true, 50)">
<div style="position: relative"><button style="width: 200px; height: 40px">Search</button>{over}</div></form><p id="out"></p>"#
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn what_lies_over_a_button_is_closed_or_named() {
    let site = serve().await;
    let Some(browser) = start(&site).await else {
        return;
    };
    let place = "style='position: absolute; left: -10px; top: -10px; width: 400px; height: 400px; background: white'";
    let steps = "
- fill: {role: searchbox, name: Word, value: lamp}
- click: {role: button, name: Search}
- wait_for: {text: searched lamp}
";
    let list =
        format!("<ul id='over' role='listbox' hidden {place}><li role='option'>lampshade</ul>");
    record(&browser, &covered(&list), &[], steps).await.unwrap();
    // A part of it can be reached.
    let part = "<p id='over' style='position: absolute; left: 50px; top: 0; width: 400px; height: 40px; background: white'>part";
    record(&browser, &covered(part), &[], steps).await.unwrap();
    let banner = format!(
        "<div id='over' role='dialog' aria-label='We value you' {place}>x</div><script>q.oninput = q.onblur = null</script>"
    );
    let err = record(&browser, &covered(&banner), &[], steps).await.map(drop).unwrap_err();
    assert_eq!(err.code(), Code::StepFailed);
    assert!(err.message().contains("dialog \"We value you\" covers the element"), "{err}");
    browser.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_missing_on_a_page_at_rest_is_not_waited_for_to_the_end() {
    let site = serve().await;
    let Some(browser) = start(&site).await else {
        return;
    };
    let tried = async |html: &str, seconds: u64| {
        let mut context = browser.context().await.unwrap();
        let mut plan = plan(&at(html), "- click: {role: button, name: Go}");
        plan.timeout = Duration::from_secs(seconds);
        let end = context.record(&plan).await.map(drop);
        (end.map_err(|err| (err.message().to_owned(), err.retryable())), context.failure())
    };
    let ticks = "<p id=out>0<script>setInterval(() => out.textContent++, 400)</script>";
    let asks = "<script>setInterval(() => fetch('/echo-get'), 3000)</script>";
    let comes = "<script>setTimeout(() => document.body.innerHTML = '<button>Go</button>', 5000)</script><p>x";
    let busy = "<p aria-busy=true>please wait";
    let ((rests, ticks, asks), (comes, busy)) = tokio::join!(
        async { (tried("<p>nothing", 40).await, tried(ticks, 11).await, tried(asks, 11).await) },
        async { (tried(comes, 40).await, tried(busy, 11).await) },
    );
    let (why, again) = rests.0.unwrap_err();
    assert!(why.contains("nothing has happened on the page for 8 s") && !again, "{why}");
    assert_eq!(comes.0, Ok(()));
    for it in [ticks, asks, busy] {
        let (why, again) = it.0.unwrap_err();
        assert!(why.ends_with("no such element") && !again, "{why}");
        assert_eq!(it.1.unwrap().what, "click button \"Go\"");
    }
    browser.close().await.unwrap();
}
