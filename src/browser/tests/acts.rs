//! Acts in real Chromium: on exactly what was named, or refused with the reason; and what is told of them is so.

use super::{
    desk::{click, desk, number, open, page, run_command, snapshot_text},
    *,
};
use crate::page_session::{Command, CommandOutput, PageController, ScrollDirection};

const HEARD: &str = "<p id=out>none</p><script>const heard = what => { out.textContent = what; };
addEventListener('click', e => heard(e.target.closest('button')?.textContent ?? 'missed'));</script>";

async fn heard(desk: &mut PageController) -> String {
    run_command(desk, Command::Text("css=#out".parse().ok())).await
}

fn why(said: Result<CommandOutput>) -> String {
    let err = said.expect_err("it was done");
    assert_eq!(err.code(), Code::StepFailed, "{err}");
    err.message().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_mouse_cannot_reach_is_not_clicked() {
    let site = serve().await;
    let Some(browser) = start(&site).await else { return };
    let mut desk = desk(&browser).await;
    let html = format!(
        "<style>body {{ margin: 0 }} #slides {{ width: 300px; overflow: clip; display: flex }} #slides div {{ flex: none; width: 300px }}</style>
<nav style='position: fixed; left: -300px'><button>Drawer</button></nav><div id=slides><div><button>First</button></div><div><button>Second</button></div></div>
<button style='pointer-events: none'>Frozen</button><button><span style='pointer-events: none'>Inner</span></button>
<div style='position: relative'><button>Under</button><aside style='position: absolute; inset: 0'>over it</aside></div>
<div style='height: 40px; overflow: hidden'><div style='height: 60px'></div><button>Cut</button></div>
<label><input type=checkbox id=box style='opacity: 0'> Alerts <a href=/next>terms</a></label>{HEARD}"
    );
    open(&mut desk, &html).await;
    for (name, reason) in [
        ("Drawer", "outside the window"),
        ("Second", "cuts the element off"),
        ("Frozen", "pointer-events"),
        ("Under", "aside \"over it\" covers"),
    ] {
        let why = why(click(&mut desk, &format!("button {name}")).await);
        assert!(why.contains(reason), "{name}: {why}");
        assert_eq!(heard(&mut desk).await, "> none", "{name}");
    }
    for name in ["First", "Inner", "Cut"] {
        click(&mut desk, &format!("button {name}")).await.unwrap();
        assert_eq!(heard(&mut desk).await, format!("> {name}"));
    }
    // What is on or off afterwards is told; the link in the label is not followed.
    let said = click(&mut desk, "css=#box").await.unwrap();
    assert!(said.text.contains("now checked"), "{}", said.text);
    assert!(said.effect.unwrap().navigated.is_none());
    browser.close().await.unwrap();
}

/// The one that the mouse was brought to changes places with another.
#[tokio::test(flavor = "multi_thread")]
async fn a_press_that_something_else_came_under_does_nothing() {
    let site = serve().await;
    let Some(browser) = start(&site).await else { return };
    let mut desk = desk(&browser).await;
    let with = |script: &str| {
        format!(
            "<style>button {{ position: absolute; width: 100px; height: 40px }}</style>
<button id=a style='left: 20px; top: 80px'>Keep</button><button id=b style='left: 20px; top: 300px'>Delete</button>{HEARD}<script>{script}</script>"
        )
    };
    let once = "a.addEventListener('mouseenter', () => { a.style.top = '300px'; b.style.top = '80px'; }, { once: true });";
    open(&mut desk, &with(once)).await;
    click(&mut desk, "button Keep").await.unwrap();
    assert_eq!(heard(&mut desk).await, "> Keep");
    // One that follows the mouse is always under it.
    let always = "addEventListener('mousemove', e => { b.style.left = e.clientX - 50 + 'px'; b.style.top = e.clientY - 20 + 'px'; });
addEventListener('mousedown', () => heard('pressed'));";
    open(&mut desk, &with(always)).await;
    let why = why(click(&mut desk, "button Keep").await);
    assert!(why.contains("button \"Delete\" "), "{why}");
    assert_eq!(heard(&mut desk).await, "> none");
    browser.close().await.unwrap();
}

/// Over frames of this and of another process lies a dialog of the page.
#[tokio::test(flavor = "multi_thread")]
async fn what_lies_over_a_frame_lies_over_what_is_in_it() {
    let site = serve().await;
    let Some(browser) = start(&site).await else { return };
    let mut desk = desk(&browser).await;
    let inner = |name: &str| {
        page(&format!("<button onclick=\"this.textContent='done {name}'\">{name}</button>"))
    };
    let html = format!(
        "<iframe src='{}'></iframe><iframe src='{}'></iframe><div id=over role=dialog aria-label=Wait style='position: fixed; inset: 0 0 100px 0'></div>
<button style='position: fixed; bottom: 10px' onclick='over.remove()'>Go on</button>",
        inner("Near"),
        inner("Far").replace("shop.test", "other.test")
    );
    open(&mut desk, &html).await;
    for name in ["Near", "Far"] {
        let why = why(click(&mut desk, &format!("button {name}")).await);
        assert!(why.contains("dialog \"Wait\" covers"), "{name}: {why}");
    }
    click(&mut desk, "button \"Go on\"").await.unwrap();
    for name in ["Near", "Far"] {
        click(&mut desk, &format!("button {name}")).await.unwrap();
    }
    let all = snapshot_text(&mut desk, false, false).await;
    assert!(all.contains("done Near") && all.contains("done Far"), "{all}");
    browser.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_drag_moves_what_was_named_however_far() {
    let site = serve().await;
    let Some(browser) = start(&site).await else { return };
    let mut desk = desk(&browser).await;
    let html = "<style>.card, #bin { height: 40px; margin: 4px; width: 300px; border: 1px solid }</style><div id=cards></div><div id=bin>Bin</div><p id=out>none</p><script>
for (let i = 1; i <= 40; i++) cards.insertAdjacentHTML('beforeend', `<div class=card role=button tabindex=0>Item ${i}</div>`);
let held = null;
addEventListener('pointerdown', e => { held = e.target.closest('.card'); });
addEventListener('pointerup', e => { const over = document.elementFromPoint(e.clientX, e.clientY)?.closest('#bin'); out.textContent = (held?.textContent ?? 'nothing') + ' to ' + (over?.id ?? 'nowhere'); held = null; });
</script>";
    for item in [3, 39] {
        open(&mut desk, html).await;
        let from = format!("button \"Item {item}\"").parse().unwrap();
        desk.run(Command::Drag(from, "css=#bin".parse().unwrap())).await.unwrap();
        assert_eq!(heard(&mut desk).await, format!("> Item {item} to bin"));
    }
    browser.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_field_that_does_not_hold_what_was_typed_says_so() {
    let site = serve().await;
    let Some(browser) = start(&site).await else { return };
    let mut desk = desk(&browser).await;
    let html = "<input id=number type=number><input id=four maxlength=4><input id=digits><input id=late><span id=slot><input id=gone></span>
<input id=plain><div id=editor contenteditable>old<p>text</p></div><textarea id=area></textarea><input id=pin type=password><script>
digits.oninput = () => { digits.value = digits.value.replace(/\\D/g, ''); };
late.oninput = () => setTimeout(() => { late.value = ''; }, 30);
gone.addEventListener('input', () => { const it = document.createElement('input'); it.id = 'gone'; slot.replaceChildren(it); }, { once: true });
pin.oninput = () => { pin.value = pin.value.slice(0, 3); };
addEventListener('keydown', e => { if (e.target === document.body) document.title = 'shortcut ' + e.key; });
</script>";
    open(&mut desk, html).await;
    for (css, value, says) in [
        ("#four", "ABCDEF", "it holds \"ABCD\" now (it takes 4 characters)"),
        ("#digits", "12a4", "it holds \"124\" now"),
        ("#late", "hello", "it is empty now"),
        ("#gone", "hello", "filled css=#gone with \"hello\": "),
        ("#plain", "a b", "filled css=#plain with \"a b\": nothing happened"),
        ("#editor", "one\ntwo", "filled css=#editor with \"one two\": the page changed"),
        ("#area", "one\ntwo", "filled css=#area with \"one two\": nothing happened"),
        ("#pin", "12345", "it holds another text now, of 3 characters"),
    ] {
        let target = format!("css={css}").parse().unwrap();
        let said = run_command(&mut desk, Command::Fill(target, value.to_owned())).await;
        assert!(said.contains(says), "{said}");
    }
    let target = "css=#number".parse().unwrap();
    let why = why(desk.run(Command::Fill(target, "twelve".to_owned())).await);
    assert!(why.contains("is empty"), "{why}");
    // What would have reached no field has not reached the page's shortcuts.
    assert_eq!(run_command(&mut desk, Command::Title).await, "\"\"");
    let text = run_command(&mut desk, Command::Text("css=#editor".parse().ok())).await;
    assert_eq!(text.replace("\n\n", "\n").replace("\n> \n", "\n"), "> one\n> two");
    browser.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_option_is_the_one_that_is_meant() {
    let site = serve().await;
    let Some(browser) = start(&site).await else { return };
    let mut desk = desk(&browser).await;
    let html = "<select id=c aria-label=City><option value=x>choose<optgroup label=Texas><option value=tx>Paris</optgroup><optgroup label=France><option value=fr>Paris</optgroup></select>
<select id=d aria-label=State><option value=a>Same<option value=b>Same</select>
<select id=m aria-label=Tags multiple><option value=r selected>Red<option value=g>Green</select><p id=out></p>
<script>addEventListener('change', () => { out.textContent = c.value + ' ' + d.value + ' ' + Array.from(m.selectedOptions, it => it.value); });</script>";
    open(&mut desk, html).await;
    let all = snapshot_text(&mut desk, false, false).await;
    assert!(all.contains("{\"choose\", \"Texas > Paris\", \"France > Paris\"}"), "{all}");
    assert!(all.contains("{\"Same (value=a)\", \"Same (value=b)\"}"), "{all}");
    let select = |css: &str, option: &str| {
        Command::Select(format!("css={css}").parse().unwrap(), option.to_owned())
    };
    let err = desk.run(select("#c", "Paris")).await.unwrap_err();
    assert!(err.hint_text().unwrap().contains("\"France > Paris\" or value=fr"), "{err:?}");
    desk.run(select("#c", "France > Paris")).await.unwrap();
    assert!(desk.run(select("#d", "Same")).await.is_err());
    desk.run(select("#d", "Same (value=b)")).await.unwrap();
    let said = run_command(&mut desk, select("#m", "Green")).await;
    assert!(said.contains("chosen: \"Red\", \"Green\""), "{said}");
    let back = Command::Unselect("css=#m".parse().unwrap(), "Red".to_owned());
    assert!(run_command(&mut desk, back).await.contains("chosen: \"Green\""));
    assert_eq!(heard(&mut desk).await, "> fr b g");
    let back = Command::Unselect("css=#c".parse().unwrap(), "France > Paris".to_owned());
    assert!(desk.run(back).await.is_err());
    browser.close().await.unwrap();
}

/// A countdown in a row goes on; the row stays the one that is called so.
#[tokio::test(flavor = "multi_thread")]
async fn a_row_whose_measures_go_on_is_the_same_row() {
    let site = serve().await;
    let Some(browser) = start(&site).await else { return };
    let mut desk = desk(&browser).await;
    let page = |names: &str, text: &str| {
        format!(
            "<ul id=list></ul><p id=out>none</p><a href='#on'>go</a><script>let n = 90; const names = {names};
for (const it of names) list.insertAdjacentHTML('beforeend', '<li><span></span> <button>Bid</button></li>');
const draw = () => [...list.children].forEach((li, i) => {{ const it = names[i]; li.firstChild.textContent = {text}; li.lastChild.onclick = () => {{ out.textContent = it; }}; }});
draw(); addEventListener('hashchange', () => {{ n -= 7; draw(); }});</script>"
        )
    };
    open(&mut desk, &page("['Clock', 'Lamp']", "`${it} ends in 1:${n}`")).await;
    let lamp = number(&snapshot_text(&mut desk, false, false).await, "in \"Lamp ends in 1:90\"");
    click(&mut desk, "link go").await.unwrap();
    click(&mut desk, &lamp).await.unwrap();
    assert_eq!(heard(&mut desk).await, "> Lamp");
    click(&mut desk, "button \"Bid\" in \"Clock ends in 1:90\"").await.unwrap();
    assert_eq!(heard(&mut desk).await, "> Clock");
    // A number that names what stands there is no measure, and neither tells two rows apart that it alone tells apart.
    for (names, text, row) in [
        ("['Lamp']", "`Order ${n}`", "button \"Bid\""),
        ("['Lamp', 'Clock']", "`ends in ${n + i}:00`", "in \"ends in 90:00\""),
    ] {
        open(&mut desk, &page(names, text)).await;
        let order = number(&snapshot_text(&mut desk, false, false).await, row);
        click(&mut desk, "link go").await.unwrap();
        let err = click(&mut desk, &order).await.unwrap_err();
        assert_eq!(err.code(), Code::RefStale, "{row}");
        assert_eq!(heard(&mut desk).await, "> none");
    }
    browser.close().await.unwrap();
}

/// No look is as quick there as on a page at rest.
#[tokio::test(flavor = "multi_thread")]
async fn a_click_on_a_busy_page_is_done_and_the_page_stays() {
    let site = serve().await;
    let Some(browser) = start(&site).await else { return };
    let mut desk = desk(&browser).await;
    let html = "<button onclick=\"out.textContent = 'gone'\">Go</button><p id=out>none</p><p id=n></p><script>
setInterval(() => { const until = performance.now() + 120; while (performance.now() < until); n.textContent = until | 0; }, 1);</script>";
    open(&mut desk, html).await;
    let go = number(&snapshot_text(&mut desk, false, false).await, "button \"Go\"");
    click(&mut desk, &go).await.unwrap();
    assert_eq!(heard(&mut desk).await, "> gone");
    browser.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_scrolls_is_named_and_where_it_is() {
    let site = serve().await;
    let Some(browser) = start(&site).await else { return };
    let mut desk = desk(&browser).await;
    let html = "<style>body { height: 100vh; overflow: hidden; margin: 0 } div { height: 100px; overflow: auto }</style>
<div id=a aria-label=One role=region></div><div id=b aria-label=Two role=region style='height: 200px'></div><script>
for (const it of [a, b]) it.innerHTML = '<p>line</p>'.repeat(60);</script><canvas id=c></canvas><p id=out>none</p><script>
c.onmousedown = e => { out.textContent = e.offsetX + ',' + e.offsetY; };</script>";
    open(&mut desk, html).await;
    let within = |way| Command::ScrollIn("css=#a".parse().unwrap(), way);
    assert!(run_command(&mut desk, within(ScrollDirection::Bottom)).await.contains("region One"));
    assert!(run_command(&mut desk, within(ScrollDirection::Down)).await.contains("at its end"));
    assert!(
        run_command(&mut desk, Command::Scroll(ScrollDirection::Down)).await.contains("region Two")
    );
    // A canvas is clicked by its place.
    let all = snapshot_text(&mut desk, false, true).await;
    let at = all.lines().find(|it| it.contains("canvas")).unwrap().split(' ').next().unwrap();
    click(&mut desk, &format!("{at} at 40,30")).await.unwrap();
    assert_eq!(heard(&mut desk).await, "> 40,30");
    let why = why(click(&mut desk, "css=#c at 400,30").await);
    assert!(why.contains("300 by 150 pixels"), "{why}");
    browser.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_without_a_page_says_what_it_is() {
    let site = serve().await;
    let Some(browser) = start(&site).await else { return };
    let mut desk = desk(&browser).await;
    let goto = |path: &str| Command::Goto(format!("http://shop.test/{path}"));
    let dirty = "<input id=t><script>let dirty = false; t.oninput = () => { dirty = true; }; addEventListener('beforeunload', e => { if (dirty) e.preventDefault(); });</script>";
    open(&mut desk, "<p>here</p>").await;
    let err = desk.run(goto("nothing")).await.unwrap_err();
    assert!(err.message().contains("answered 204"), "{err}");
    let err = desk.run(goto("file")).await.unwrap_err();
    assert_eq!(err.code(), Code::DownloadBlocked);
    assert!(err.hint_text().unwrap().contains("browse download"), "{err:?}");
    assert!(run_command(&mut desk, goto("no-such-page")).await.contains("the site answered 404"));
    // What was typed is not lost where that was asked for.
    for keeps in [true, false] {
        open(&mut desk, dirty).await;
        run_command(&mut desk, Command::Fill("css=#t".parse().unwrap(), "x".to_owned())).await;
        if keeps {
            run_command(&mut desk, Command::Dialog(false, None)).await;
            let why = why(desk.run(goto("next")).await);
            assert!(why.contains("it stays"), "{why}");
        }
        let said = run_command(&mut desk, goto("next")).await;
        assert!(said.contains("beforeunload \"\" was accepted"), "{said}");
    }
    browser.close().await.unwrap();
}
