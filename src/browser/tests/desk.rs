//! A page that stays, in real Chromium: what a snapshot shows, what a ref means, what an act says that it did.

use super::*;
use crate::page_session::{
    ColorScheme, Command, CommandOutput, DevicePreset, ElementStateQuery, EmulationOptions,
    PageController, ScreenshotOptions, SnapshotOptions, WaitCondition,
};

pub async fn desk(browser: &Browser) -> PageController {
    PageController::new(browser.context().await.unwrap(), Duration::from_secs(20), None).unwrap()
}

pub fn page(html: &str) -> String {
    let mut url = url::Url::parse("http://shop.test/html").unwrap();
    url.query_pairs_mut().append_pair("html", html);
    url.into()
}

pub async fn open(desk: &mut PageController, html: &str) {
    desk.run(Command::Goto(page(html))).await.unwrap();
}

pub async fn snapshot_text(desk: &mut PageController, changed: bool, clickable: bool) -> String {
    let wish = SnapshotOptions { changed, ..SnapshotOptions::default() };
    let all = desk.run(Command::Snapshot { wish, clickable, within: None }).await.unwrap().text;
    // Of the address, which holds the page.
    all.lines().filter(|it| !it.contains("http://shop.test/html")).collect::<Vec<_>>().join("\n")
}

pub async fn run_command(desk: &mut PageController, command: Command) -> String {
    desk.run(command).await.unwrap().text
}

pub async fn click(desk: &mut PageController, target: &str) -> Result<CommandOutput> {
    desk.run(Command::Click(target.parse().unwrap())).await
}

/// The ref of the line that ends so.
pub fn number(shown: &str, end: &str) -> String {
    let line =
        shown.lines().find(|it| it.ends_with(end)).unwrap_or_else(|| panic!("no {end} in {shown}"));
    line.split(' ').next().unwrap().to_owned()
}

const LIST: &str = "<!doctype html><title>List</title><main><ul></ul><p id=out>none</p></main><script>
const names = Array.from({length: 20}, (_, i) => 'Lantern ' + (i + 1));
const ul = document.querySelector('ul');
const out = document.getElementById('out');
for (const it of names) ul.insertAdjacentHTML('beforeend', '<li><h3>' + it + '</h3><button>Add</button></li>');
ul.onclick = e => { if (e.target.tagName === 'BUTTON') out.textContent = 'added ' + e.target.parentNode.querySelector('h3').textContent; };
globalThis.reuse = () => { const all = [...ul.querySelectorAll('h3')]; names.reverse().forEach((it, i) => { all[i].textContent = it; }); };
globalThis.render = () => { ul.innerHTML = ''; for (const it of names.reverse()) ul.insertAdjacentHTML('beforeend', '<li><h3>' + it + '</h3><button>Add</button></li>'); };
addEventListener('hashchange', () => globalThis[location.hash.slice(1)]?.());
</script>";

/// The five ways in which refs go stale elsewhere (list re-rendered, nodes re-used, another form's button, navigation, navigation by a
/// click): no act on another element.
#[tokio::test(flavor = "multi_thread")]
async fn a_ref_is_that_element_in_that_place_or_nothing() {
    let site = serve().await;
    let Some(browser) = start(&site).await else { return };
    let mut desk = desk(&browser).await;
    let stale = |it: Result<CommandOutput>| it.err().map(|it| it.code());
    for how in ["reuse", "render"] {
        let go = format!("{LIST}<a href='#{how}'>go</a>");
        open(&mut desk, &go).await;
        let first = number(&snapshot_text(&mut desk, false, false).await, "in \"Lantern 1\"");
        assert!(click(&mut desk, &first).await.unwrap().text.contains("the page changed"));
        assert_eq!(
            desk.run(Command::Text("css=#out".parse().ok())).await.unwrap().text,
            "> added Lantern 1"
        );
        click(&mut desk, "link \"go\"").await.unwrap();
        let err = click(&mut desk, &first).await.unwrap_err();
        assert_eq!(err.code(), Code::RefStale, "{how}");
        let hint = err.hint_text().unwrap();
        assert!(hint.contains("in \"Lantern 1\""), "{hint}");
        assert_eq!(
            desk.run(Command::Text("css=#out".parse().ok())).await.unwrap().text,
            "> added Lantern 1"
        );
        // What it says may be meant is.
        let meant =
            number(&hint.replace("similar elements: ", "").replace("; ", "\n"), "in \"Lantern 1\"");
        click(&mut desk, &meant).await.unwrap();
    }
    let forms = "<form id=a><input aria-label=Word><button>Search</button></form><p id=out></p>
<button onclick=\"a.remove(); document.body.insertAdjacentHTML('beforeend', '<form><input aria-label=Other><button type=button onclick=out.textContent=1>Search</button></form>')\">Swap</button>";
    open(&mut desk, forms).await;
    let search = number(&snapshot_text(&mut desk, false, false).await, "button \"Search\"");
    click(&mut desk, "button Swap").await.unwrap();
    assert_eq!(stale(click(&mut desk, &search).await), Some(Code::RefStale));
    assert_eq!(desk.run(Command::Text("css=#out".parse().ok())).await.unwrap().text, "");
    let go = number(&snapshot_text(&mut desk, false, false).await, "button \"Search\"");
    open(&mut desk, forms).await;
    assert_eq!(stale(click(&mut desk, &go).await), Some(Code::RefStale));
    let link =
        format!("<a href='{}'>on</a><button>Search</button>", page("<button>Search</button>"));
    open(&mut desk, &link).await;
    let search = number(&snapshot_text(&mut desk, false, false).await, "button \"Search\"");
    let said = click(&mut desk, "link on").await.unwrap();
    assert!(said.effect.unwrap().navigated.is_some());
    assert_eq!(stale(click(&mut desk, &search).await), Some(Code::RefStale));
    browser.close().await.unwrap();
}

/// What a page builds after it was opened is waited for by its name; what does not come is missed once the page is at rest.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_named_may_come_while_the_page_is_built() {
    let site = serve().await;
    let Some(browser) = start(&site).await else { return };
    let mut desk = desk(&browser).await;
    let html = "<p>0</p><script>let n = 0;
const build = () => {
  document.querySelector('p').textContent = n;
  if (n++ < 8) setTimeout(build, 100);
  else document.body.insertAdjacentHTML('beforeend', '<button>Late</button><i id=late>here</i>');
};
build();</script>";
    open(&mut desk, html).await;
    assert!(click(&mut desk, "button Late").await.unwrap().text.ends_with("nothing happened"));
    open(&mut desk, html).await;
    assert_eq!(run_command(&mut desk, Command::Text("css=#late".parse().ok())).await, "> here");
    for absent in ["button Never", "css=#never"] {
        let err = click(&mut desk, absent).await.unwrap_err();
        assert_eq!(err.code(), Code::StepFailed, "{absent}");
    }
    browser.close().await.unwrap();
}

/// Frames of this and of another process, closed shadow roots, what can be clicked without a role, and what nobody is to see.
#[tokio::test(flavor = "multi_thread")]
async fn everything_that_can_be_acted_on_is_shown_and_acts() {
    let site = serve().await;
    let Some(browser) = start(&site).await else { return };
    let mut desk = desk(&browser).await;
    let frame = |host: &str, name: &str| {
        let inner = format!("<button onclick=\"this.textContent='{name} done'\">{name}</button>");
        page(&inner).replace("shop.test", host)
    };
    let html = format!(
        "<title>all</title><div id=host></div><div id=plain onclick=\"this.textContent='more came'\">Load more</div>
<iframe title=near src='{}'></iframe><iframe title=far src='{}'></iframe>
<p style='display:none'><button>never</button></p><button aria-label='a&#x202e;b&#x200b;&#x1b;[31m'>x</button>
<input aria-label=Word value=lantern><input type=checkbox aria-label=Gift checked><select aria-label=Size><option>S<option selected>M</select>
<script>const it = host.attachShadow({{mode: 'closed'}}); it.innerHTML = '<button>Deep</button>'; it.firstChild.onclick = e => {{ e.target.textContent = 'Deep done'; }};</script>",
        frame("shop.test", "Near"),
        frame("other.test", "Far")
    );
    open(&mut desk, &html).await;
    let all = snapshot_text(&mut desk, false, true).await;
    for name in ["Near", "Far", "Deep"] {
        let at = number(&all, &format!("button \"{name}\""));
        click(&mut desk, &at).await.unwrap();
    }
    let more = number(&all, "div \"Load more\"");
    assert!(more.starts_with("@c"));
    click(&mut desk, &more).await.unwrap();
    let now = snapshot_text(&mut desk, false, false).await;
    for name in ["Near done", "Far done", "Deep done", "more came"] {
        assert!(now.contains(name), "{name}: {now}");
    }
    assert!(
        !now.contains("never") && !now.contains('\u{1b}') && !now.contains('\u{202e}'),
        "{now}"
    );
    for line in [
        "textbox \"Word\" = \"lantern\"",
        "checkbox \"Gift\" [checked]",
        "combobox \"Size\" = \"M\" {\"S\", \"M\"}",
    ] {
        assert!(now.contains(line), "{line}: {now}");
    }
    assert_eq!(snapshot_text(&mut desk, true, false).await, "nothing changed");
    desk.run(Command::Uncheck("checkbox Gift".parse().unwrap())).await.unwrap();
    desk.run(Command::Select("combobox Size".parse().unwrap(), "S".into())).await.unwrap();
    let changed = snapshot_text(&mut desk, true, false).await;
    assert!(
        changed.contains("+ ") && changed.contains("= \"S\"") && changed.lines().count() < 8,
        "{changed}"
    );
    browser.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_act_says_what_it_did() {
    let site = serve().await;
    let Some(browser) = start(&site).await else { return };
    let mut desk = desk(&browser).await;
    desk.run(Command::Goto("http://shop.test/".into())).await.unwrap();
    let before = snapshot_text(&mut desk, false, false).await;
    let said =
        desk.run(Command::Fill("searchbox Search".parse().unwrap(), "hat".into())).await.unwrap();
    assert!(said.text.contains("GET /suggest?q=hat 200"), "{}", said.text);
    // What was typed is no part of what a button next to it stands in.
    let find = number(&before, "button \"Find things\"");
    assert!(click(&mut desk, &find).await.unwrap().text.contains("GET /api/search?q=hat"));
    let said = desk.run(Command::Press("Enter".into())).await.unwrap();
    let effect = said.effect.unwrap();
    assert!(effect.dom_changed && effect.navigated.is_none());
    assert_eq!(effect.requests.len(), 1);
    assert!(
        effect.requests[0].path.starts_with("/api/search?q=hat")
            && effect.requests[0].status == Some(200)
    );
    let said = click(&mut desk, "button Ask").await.unwrap();
    assert!(
        said.text.contains("\"sure?\" was dismissed") && said.text.contains("now in tab 2"),
        "{}",
        said.text
    );
    run_command(&mut desk, Command::Tab(1)).await;
    let said = click(&mut desk, "link \"Next page\"").await.unwrap();
    assert_eq!(said.effect.unwrap().navigated.as_deref(), Some("http://shop.test/next"));
    let said = desk.run(Command::Back).await.unwrap();
    assert_eq!(said.effect.unwrap().navigated.as_deref(), Some("http://shop.test/"));
    desk.run(Command::Wait(WaitCondition::Selector("#q".into()))).await.unwrap();
    open(&mut desk, "<button>Nothing</button>").await;
    assert!(click(&mut desk, "button Nothing").await.unwrap().text.ends_with("nothing happened"));
    let (begun, steps, lost) = desk.trail();
    assert_eq!(begun, Some("http://shop.test/"));
    assert!(steps.len() >= 6 && lost.is_empty(), "{steps:?} {lost:?}");
    // A password is typed, and is in no step.
    open(&mut desk, "<input type=password aria-label=Password>").await;
    let said = desk
        .run(Command::Fill("textbox Password".parse().unwrap(), "hunter2hunter2".into()))
        .await
        .unwrap();
    let all = format!("{} {:?}", said.text, desk.trail());
    assert!(!all.contains("hunter2"), "{all}");
    browser.close().await.unwrap();
}

/// However many of them there were before.
#[tokio::test(flavor = "multi_thread")]
async fn an_act_tells_of_its_dialogs_and_refusals_as_the_first_one_did() {
    let site = serve().await;
    let Some(browser) = start(&site).await else { return };
    let mut desk = desk(&browser).await;
    let html = "<button onclick=\"alert('sure')\">Ask</button>
        <button onclick=\"fetch('http://10.0.0.1/x').catch(() => {})\">Reach</button>
        <button onclick=\"document.open('x')\">Empty</button>";
    open(&mut desk, html).await;
    for n in 0..25 {
        let effect = click(&mut desk, "button Ask").await.unwrap().effect.unwrap();
        assert_eq!(effect.dialogs, ["alert \"sure\" was dismissed"], "{n}");
    }
    for n in 0..3 {
        let effect = click(&mut desk, "button Reach").await.unwrap().effect.unwrap();
        assert!(effect.refused.len() == 1 && effect.refused[0].contains("10.0.0.1"), "{n}");
    }
    // A page may have no element at all.
    click(&mut desk, "button Empty").await.unwrap();
    assert_eq!(run_command(&mut desk, Command::Html(None)).await, "");
    desk.run(Command::Scroll(crate::page_session::ScrollDirection::Bottom)).await.unwrap();
    browser.close().await.unwrap();
}

/// A change that is seen at once is no reason to miss what comes right after it.
#[tokio::test(flavor = "multi_thread")]
async fn what_an_act_puts_off_is_told_beside_what_it_changes_at_once() {
    let site = serve().await;
    let Some(browser) = start(&site).await else { return };
    let mut desk = desk(&browser).await;
    let message = "const c = new MessageChannel(); c.port1.onmessage = () => alert('late'); c.port2.postMessage(0)";
    for later in [
        "Promise.resolve().then(() => alert('late'))",
        message,
        "(async () => { for (let n = 0; n < 9; n++) await n; alert('late'); })()",
    ] {
        open(&mut desk, &format!("<button onclick=\"this.title = 'on'; {later}\">Go</button>"))
            .await;
        let effect = click(&mut desk, "button Go").await.unwrap().effect.unwrap();
        assert_eq!(effect.dialogs, ["alert \"late\" was dismissed"], "{later}");
        assert!(effect.dom_changed, "{later}");
    }
    browser.close().await.unwrap();
}

/// A field is typed into key by key where somebody may wait for the keys, and given its text at once elsewhere; either way it is told what
/// stands in it.
#[tokio::test(flavor = "multi_thread")]
async fn a_field_is_given_its_text_at_once_where_nobody_waits_for_keys() {
    let site = serve().await;
    let Some(browser) = start(&site).await else { return };
    let mut desk = desk(&browser).await;
    let html = "<input aria-label=Plain><input aria-label=Heard onkeydown='0'>
        <input aria-label=Short maxlength=4><input aria-label=Listed role=combobox>
        <input aria-label=Capitals>
        <script>let n = 0; addEventListener('input', it => {
            n += 1;
            it.target.title = n;
            if (it.target.ariaLabel === 'Capitals') it.target.value = it.target.value.toUpperCase();
        });</script>";
    for (name, value, events, told) in [
        ("Plain", "lantern", 2, "filled textbox \"Plain\" with \"lantern\": the page changed"),
        ("Heard", "lantern", 7, "filled textbox \"Heard\" with \"lantern\": the page changed"),
        ("Short", "1234", 4, "filled textbox \"Short\" with \"1234\": the page changed"),
        ("Listed", "lamp", 4, "filled combobox \"Listed\" with \"lamp\": the page changed"),
        // Two at once, and then one for each key and one to empty it.
        ("Capitals", "ab", 5, "it holds \"AB\" now"),
    ] {
        open(&mut desk, html).await;
        let role = if name == "Listed" { "combobox" } else { "textbox" };
        let target =
            crate::page_session::Target::Named { role: role.into(), name: name.into(), row: None };
        let said = desk.run(Command::Fill(target, value.into())).await.unwrap().text;
        assert!(said.contains(told), "{said}");
        let seen = run_command(&mut desk, Command::Js("n".into())).await;
        assert_eq!(seen, format!("> {events}"), "{name}");
    }
    browser.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_hangs_is_left_by_going_elsewhere() {
    let site = serve().await;
    let Some(browser) = start(&site).await else { return };
    let mut desk = desk(&browser).await;
    open(&mut desk, "<button onclick=\"setTimeout(() => { for (;;); })\">Hang</button>").await;
    // Whether it is told before the page hangs is a matter of moments.
    let _ = click(&mut desk, "button Hang").await;
    let snapshot =
        Command::Snapshot { wish: SnapshotOptions::default(), clickable: false, within: None };
    let err = desk.run(snapshot).await.unwrap_err();
    assert!(err.hint_text().unwrap().contains("go to another address"), "{err}");
    let said = run_command(&mut desk, Command::Goto("http://shop.test/next".into())).await;
    assert!(said.contains("stopped responding and was closed"), "{said}");
    let tabs = run_command(&mut desk, Command::Tabs).await;
    assert!(tabs.lines().count() == 1 && tabs.contains("http://shop.test/next"), "{tabs}");
    // One that begins to hang while it is being left.
    open(&mut desk, "<script>onbeforeunload = () => { for (;;); };</script>").await;
    let said = run_command(&mut desk, Command::Goto("http://shop.test/next".into())).await;
    assert!(said.contains("stopped responding and was closed"), "{said}");
    browser.close().await.unwrap();
}

/// What an act looks at is what a snapshot of the whole page says of that element.
#[tokio::test(flavor = "multi_thread")]
async fn an_element_read_alone_is_what_the_page_says_it_is() {
    let site = serve().await;
    let Some(browser) = start(&site).await else { return };
    let mut desk = desk(&browser).await;
    let form = "<form aria-label=Billing><label>Name <input value=a></label><select><option>One<option>Two</select>
        <div role=radiogroup aria-label=Speed><label><input type=radio name=s>Fast</label><label><input type=radio name=s>Slow</label></div>
        <div contenteditable>words</div><button>Save</button></form><form><input type=search><button>Save</button></form>
        <dialog open aria-label=Sure><p>Really?</p><button>Yes</button><button></button></dialog>
        <table><tr><th>Lamp<td>4<td><a href=/1>edit</a><tr><th>Hose<td>5<td><a href=/2>edit</a></table>
        <nav aria-label=Pages><ul><li><a href=/a>a</a><li><a href=/b>b <b>bold</b></a></ul></nav><details><summary>More</summary><button>In</button></details>
        <div><div><p>Words before it</p><div><div><button>Deep</button></div></div></div></div><div role=status><button>Undo</button></div>";
    let host = "<div id=h></div><script>const r = h.attachShadow({mode: 'closed'}); r.innerHTML = '<h2>Inside</h2><button>Shadow</button><slot></slot>';</script>";
    let framed = "<h1>Out</h1><button>Save</button><iframe name=f srcdoc='<h2>Inner</h2><button>Save</button><li>Row <a href=/x>x</a>'></iframe>";
    let inner = |html: &str| page(html).replace("shop.test", "other.test");
    let elsewhere = format!(
        "<h1>Out</h1><button>Save</button><iframe src='{}'></iframe><iframe style='display:none' src='{}'></iframe>",
        inner("<h2>Inner</h2><button>Keep</button>"),
        inner("<button>Unseen</button>")
    );
    let many = "<main></main><script>document.querySelector('main').innerHTML = Array.from({length: 60}, (_, i) =>
        `<div><span>Row ${i}</span><button>Add</button><a href=/${i}>Item ${i}</a></div>`).join('')</script>";
    for html in [LIST, form, host, framed, &elsewhere, many] {
        open(&mut desk, html).await;
        let (count, wrong, whole) = desk.read_alone().await;
        assert!(count > 0, "{html}");
        assert!(wrong.is_empty(), "{count}: {wrong:#?}");
        // A list's options, and what another frame calls the same.
        let whole: Vec<_> =
            whole.iter().filter(|it| !["One", "Two", "Save"].contains(&&***it)).collect();
        assert!(whole.is_empty(), "{whole:?}");
    }
}

const SIGN_IN: &str = "<!doctype html><title>Sign in</title><form id=in action=/enter method=post>
<label>Name <input name=name required></label><label>Password <input type=password name=password value=correct-horse-9></label>
<input type=hidden name=csrf_token value=8f14e45fceea167a5a36dedd4bea2543><label><input type=checkbox checked> Stay</label><button disabled>Enter</button>
</form><p style='display:none' id=gone>gone</p><script>document.cookie = 'sid=51b0c1d4e8f2a3b6; Max-Age=600; SameSite=Lax'; localStorage.token = 'x'.repeat(40);</script>";

/// What stands beside what is shown is told by name; no value that logs a person in.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_page_holds_is_told_without_its_secrets() {
    let site = serve().await;
    let Some(browser) = start(&site).await else { return };
    let mut desk = desk(&browser).await;
    open(&mut desk, SIGN_IN).await;
    let text = async |desk: &mut PageController, command| desk.run(command).await.unwrap().text;
    let mut all = String::new();
    for (command, part) in [
        (Command::Attrs("css=input[type=password]".parse().unwrap()), "name=\"password\""),
        (Command::Attrs("css=input[type=hidden]".parse().unwrap()), "name=\"csrf_token\""),
        (Command::Forms, "form \"in\" POST \"/enter\""),
        (Command::Forms, "text \"name\" \"Name\" [required]"),
        (Command::Cookies, "\"sid\" at shop.test, until 2"),
        (Command::Storage, "local \"token\": 40 characters"),
    ] {
        let told = text(&mut desk, command.clone()).await;
        assert!(told.contains(part), "{command:?}: {told}");
        all += &told;
    }
    for secret in
        ["correct-horse-9", "8f14e45fceea167a5a36dedd4bea2543", "51b0c1d4e8f2a3b6", "xxxx"]
    {
        assert!(!all.contains(secret), "{all}");
    }
    for (css, asks, holds) in [
        ("css=#in button", ElementStateQuery::Visible, "true"),
        ("css=#in button", ElementStateQuery::Enabled, "false"),
        ("css=[type=checkbox]", ElementStateQuery::Checked, "true"),
        ("css=[name=name]", ElementStateQuery::Editable, "true"),
        ("css=[name=name]", ElementStateQuery::InView, "true"),
        ("css=[name=name]", ElementStateQuery::Focused, "false"),
        ("css=#gone", ElementStateQuery::Visible, "false"),
    ] {
        assert_eq!(
            text(&mut desk, Command::Is(css.parse().unwrap(), asks)).await,
            holds,
            "{css} {asks:?}"
        );
    }
    let look = |size| {
        Command::Emulate(EmulationOptions {
            size: Some(size),
            mobile: true,
            ..EmulationOptions::default()
        })
    };
    let told = text(&mut desk, look((500, 400))).await;
    assert!(told.starts_with("the window is 500 by 400"), "{told}");
    assert!(desk.run(look((1, 400))).await.is_err());
    assert_eq!(text(&mut desk, Command::Blocked).await, "");
    let forbidden = desk.run(Command::Goto("http://shop.test/forbidden".to_owned())).await;
    assert!(forbidden.is_ok());
    assert!(text(&mut desk, Command::Blocked).await.contains("URL_BLOCKED"));
}

/// A popup is a tab: what opened it says so, commands are about it, and it is recorded and judged as the page is.
#[tokio::test(flavor = "multi_thread")]
async fn popups_are_tabs_behind_the_same_guard() {
    let site = serve().await;
    let Some(browser) = start(&site).await else { return };
    let mut desk = desk(&browser).await;
    for how in [
        "<a href=/next target=_blank>Open</a>",
        "<a href=/next target=_blank rel=noopener>Open</a>",
        "<button onclick=\"window.open('/next')\">Open</button>",
        "<button onclick=\"const it = window.open('about:blank'); it.location = '/next'\">Open</button>",
    ] {
        let opener = format!("<!doctype html><title>Opener</title><h1>First</h1>{how}");
        open(&mut desk, &opener).await;
        let said = click(
            &mut desk,
            if how.starts_with("<a") { "link \"Open\"" } else { "button \"Open\"" },
        );
        let effect = said.await.unwrap().effect.unwrap();
        assert!(effect.tab.is_some_and(|it| it > 1), "{how} {effect:?}");
        assert_eq!(effect.navigated.as_deref(), Some("http://shop.test/next"), "{how}");
        assert!(
            effect.requests.iter().any(|it| it.path == "/next" && it.status == Some(200)),
            "{how} {effect:?}"
        );
        assert!(effect.refused.is_empty(), "{how} {effect:?}");
        let all = run_command(&mut desk, Command::Tabs).await;
        assert_eq!(all.lines().count(), 2, "{all}");
        assert!(all.lines().nth(1).unwrap().starts_with("* tab "), "{all}");
        // Steps of a task have one page: there it is gone to.
        assert!(
            !how.contains("'/next')\">") || format!("{:?}", desk.trail().1).contains("/next"),
            "{how}"
        );
        let said = run_command(&mut desk, Command::CloseTab(None)).await;
        assert!(said.contains("now in tab 1"), "{said}");
        assert_eq!(run_command(&mut desk, Command::Title).await, "\"Opener\"", "{how}");
    }
    assert!(desk.run(Command::CloseTab(None)).await.is_err());
    assert!(desk.run(Command::Tab(77)).await.is_err());
    // What the policy forbids to the page is forbidden to a tab.
    open(&mut desk, "<a href=http://10.1.2.3/ target=_blank>Open</a>").await;
    let effect = click(&mut desk, "link \"Open\"").await.unwrap().effect.unwrap();
    assert!(effect.refused.iter().any(|it| it.contains("10.1.2.3")), "{effect:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn tabs_have_their_own_elements_and_the_same_cookies_and_look() {
    let site = serve().await;
    let Some(browser) = start(&site).await else { return };
    let mut desk = desk(&browser).await;
    let dark = EmulationOptions {
        scheme: Some(ColorScheme::Dark),
        ..DevicePreset::Phone.emulation_options()
    };
    desk.run(Command::Emulate(dark)).await.unwrap();
    let looks = "<p id=it></p><script>document.cookie = 'seen=1'; it.textContent = innerWidth + ' ' + matchMedia('(prefers-color-scheme: dark)').matches + ' ' + /Mobile/.test(navigator.userAgent)</script>";
    let head = "<!doctype html><meta name=viewport content='width=device-width'>";
    open(
        &mut desk,
        &format!("{head}<iframe src=http://other.test/next></iframe><button>One</button>{looks}"),
    )
    .await;
    let first = number(&snapshot_text(&mut desk, false, false).await, "\"One\"");
    desk.run(Command::NewTab(Some(page(&format!("{head}<button>Two</button>{looks}")))))
        .await
        .unwrap();
    let second = snapshot_text(&mut desk, false, false).await;
    assert!(second.contains("\"Two\"") && !second.contains("\"One\""), "{second}");
    assert!(
        run_command(&mut desk, Command::Text(Some("css=#it".parse().unwrap())))
            .await
            .contains("412 true true")
    );
    assert!(click(&mut desk, &first).await.is_err(), "an element of another tab");
    desk.run(Command::Tab(1)).await.unwrap();
    assert!(click(&mut desk, &first).await.is_ok());
    assert!(run_command(&mut desk, Command::Cookies).await.contains("seen"));
    // A tab that closes itself leaves the one before.
    open(&mut desk, "<button onclick=\"globalThis.it = window.open('/html?html=<button onclick=window.close()>Bye')\">Open</button>").await;
    click(&mut desk, "button \"Open\"").await.unwrap();
    let effect = click(&mut desk, "button \"Bye\"").await.unwrap().effect.unwrap();
    assert!(effect.tab.is_some(), "{effect:?}");
    assert!(desk.is_alive());
    let full = desk
        .run(Command::Screenshot(ScreenshotOptions { full: true, ..ScreenshotOptions::default() }))
        .await
        .unwrap();
    let part = ScreenshotOptions {
        of: Some("css=button".parse().unwrap()),
        ..ScreenshotOptions::default()
    };
    let part = desk.run(Command::Screenshot(part)).await.unwrap();
    let (full, part) = (full.png.unwrap(), part.png.unwrap());
    assert!(part.len() < full.len() && part.starts_with(b"\x89PNG"));
    assert!(desk.run(Command::Pdf).await.unwrap().pdf.unwrap().starts_with(b"%PDF"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_download_is_kept_where_it_was_asked_for_and_refused_elsewhere() {
    use std::os::unix::fs::PermissionsExt as _;
    let site = serve().await;
    let Some(browser) = start(&site).await else { return };
    let mut desk = desk(&browser).await;
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("downloads");
    open(
        &mut desk,
        "<a href=/file>Save</a><a href=/file download='../../x;\u{202e}y.txt'>Other</a><p>Text</p>",
    )
    .await;
    let get = |what: &str| Command::Download(what.parse().unwrap(), folder.clone());
    let said = run_command(&mut desk, get("link \"Save\"")).await;
    assert!(said.contains("bytes of http://shop.test/file in"), "{said}");
    let names = || {
        let all = std::fs::read_dir(&folder).unwrap().flatten();
        let mut all: Vec<String> =
            all.map(|it| it.file_name().to_string_lossy().into_owned()).collect();
        all.sort();
        all
    };
    assert_eq!(names().len(), 1);
    let file = folder.join(&names()[0]);
    assert_eq!(std::fs::read(&file).unwrap(), super::site::DOWNLOAD.as_bytes());
    assert_eq!(std::fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
    desk.run(get("link \"Save\"")).await.unwrap();
    desk.run(get("link \"Other\"")).await.unwrap();
    assert_eq!(names().len(), 3, "{:?}", names());
    assert!(
        names()
            .iter()
            .all(|it| it.chars().all(|it| it.is_ascii_alphanumeric() || "._-".contains(it))),
        "{:?}",
        names()
    );
    assert!(desk.run(get("css=p")).await.is_err());
    let effect = click(&mut desk, "link \"Save\"").await.unwrap().effect.unwrap();
    assert!(effect.refused.iter().any(|it| it.contains("download")), "{effect:?}");
    assert_eq!(names().len(), 3);
}
