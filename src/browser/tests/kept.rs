//! What a page that stays says, is given and is asked, in real Chromium: rings, prompts, files, scripts, refs in pictures.

use super::{
    desk::{page, run_command},
    *,
};
use crate::page_session::{
    Command, LogQuery, PageController, ScreenshotOptions, SnapshotOptions, UploadFile,
};

fn click(target: &str) -> Command {
    Command::Click(target.parse().unwrap())
}

fn last(most: usize) -> LogQuery {
    LogQuery { most, all: false }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_pages_say_is_kept_over_documents_and_in_files_until_the_page_is_closed() {
    let site = serve().await;
    let Some(browser) = start(&site).await else { return };
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("browse/.default");
    let context = browser.context().await.unwrap();
    let mut desk = PageController::new(context, Duration::from_secs(20), Some(&folder)).unwrap();
    let token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U";
    let first = format!(
        "<script>console.log('first', '{token}'); onload = () => fetch('/code?n=1')</script>"
    );
    desk.run(Command::Goto(page(&first))).await.unwrap();
    let asks = "<button onclick=\"this.textContent = prompt('Your name?')\">Ask</button>";
    desk.run(Command::Goto(page(&format!("<script>console.warn('second')</script>{asks}"))))
        .await
        .unwrap();
    desk.run(Command::Dialog(true, Some("Ada".to_owned()))).await.unwrap();
    let effect = desk.run(click("button \"Ask\"")).await.unwrap().effect.unwrap();
    assert_eq!(effect.dialogs, ["prompt \"Your name?\" was accepted"]);
    assert!(run_command(&mut desk, Command::Text(None)).await.contains("Ada"));

    let console = run_command(&mut desk, Command::Console(last(10))).await;
    assert!(
        console.contains("> log: first ") && console.contains("> warning: second"),
        "{console}"
    );
    assert!(!console.contains("dozjg"), "{console}");
    assert!(run_command(&mut desk, Command::Dialogs(last(10))).await.contains("Your name?"));
    let network = run_command(&mut desk, Command::Network(last(10))).await;
    assert!(network.lines().any(|it| it.contains(" 200 GET /html?")), "{network}");
    assert!(network.contains(" GET /code?n=1"), "{network}");
    let newest = run_command(&mut desk, Command::Network(last(1))).await;
    assert!(newest.starts_with("… 2 earlier ones"), "{newest}");

    // A second after they came.
    let file = folder.join("console.ndjson");
    let read = || std::fs::read_to_string(&file).unwrap_or_default();
    wait_until("line of the console on disk", || read().contains("second")).await;
    let text = read();
    assert!(text.contains("second") && text.contains("first") && !text.contains("dozjg"), "{text}");
    drop(desk);
    assert!(!folder.exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn files_scripts_and_refs_in_pictures() {
    let site = serve().await;
    let Some(browser) = start(&site).await else { return };
    let context = browser.context().await.unwrap();
    let mut desk = PageController::new(context, Duration::from_secs(20), None).unwrap();
    let takes = "<input type=file multiple id=f><p id=out></p><script>
        f.onchange = async () => { out.textContent = [...f.files].map(it => it.name).join() + ' ' + await f.files[0].text(); };</script>
        <button style='position:absolute;left:200px;top:100px;width:120px;height:60px'>Go</button>
        <iframe src='http://other.test/next' style='position:absolute;left:0;top:300px'></iframe>";
    desk.run(Command::Goto(page(takes))).await.unwrap();
    let given = |name: &str| UploadFile { name: name.to_owned(), bytes: b"inside".to_vec() };
    let files = vec![given("one.txt"), given("two.txt")];
    let to = |css: &str, files| Command::Upload(css.parse().unwrap(), files);
    let said = run_command(&mut desk, to("css=#f", files)).await;
    assert!(said.contains("gave one.txt, two.txt"), "{said}");
    assert!(run_command(&mut desk, Command::Text(None)).await.contains("one.txt,two.txt inside"));
    assert!(desk.run(to("css=button", vec![given("x")])).await.is_err());

    let js = |it: &str| Command::Js(it.to_owned());
    let said = run_command(&mut desk, js("Promise.resolve({n: f.files.length})")).await;
    assert_eq!(said, "> {\"n\":2}");
    let err = desk.run(js("missing.thing")).await.unwrap_err();
    assert!(err.message().contains("ReferenceError"), "{err}");

    let plain =
        desk.run(Command::Screenshot(ScreenshotOptions::default())).await.unwrap().png.unwrap();
    let marked = ScreenshotOptions { marks: true, ..ScreenshotOptions::default() };
    let marked = desk.run(Command::Screenshot(marked)).await.unwrap().png.unwrap();
    assert_ne!(plain, marked);
    let wish = SnapshotOptions::default();
    let lines =
        run_command(&mut desk, Command::Snapshot { wish, clickable: false, within: None }).await;
    assert!(lines.contains("button \"Go\""), "{lines}");
    let at = |png: &[u8], x: usize, y: usize| {
        let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
        let mut out = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut out).unwrap();
        let at = (y * info.width as usize + x) * info.color_type.samples();
        [out[at], out[at + 1], out[at + 2]]
    };
    // The label's paper at the button's corner, the frame along its lower edge.
    assert_eq!(at(&marked, 200, 100), [255, 235, 59]);
    assert_eq!(at(&marked, 260, 159), [213, 0, 109]);

    let other = page("<h1>Other</h1>");
    let differs = run_command(&mut desk, Command::Diff(other)).await;
    assert!(differs.contains("+ heading \"Other\""), "{differs}");
    assert!(differs.contains("- button \"Go\""), "{differs}");
    assert!(run_command(&mut desk, Command::Tabs).await.lines().count() == 1, "closed again");
    assert_eq!(desk.trail().2.iter().filter(|it| it.contains("tab")).count(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ref_is_another_elements_only_where_that_is_asked_for() {
    let site = serve().await;
    let Some(browser) = start(&site).await else { return };
    let context = browser.context().await.unwrap();
    let mut desk = PageController::new(context, Duration::from_secs(20), None).unwrap();
    let html =
        "<div id=a><button onclick=\"out.textContent += 'x'\">Add</button></div><p id=out></p>
        <a href='#' onclick=\"a.innerHTML = a.innerHTML; return false\">Again</a>
        <a href='#' onclick=\"a.innerHTML += a.innerHTML; return false\">Twice</a>";
    desk.run(Command::Goto(page(html))).await.unwrap();
    let wish = SnapshotOptions::default();
    let lines =
        run_command(&mut desk, Command::Snapshot { wish, clickable: false, within: None }).await;
    let line = lines.lines().find(|it| it.ends_with("button \"Add\"")).unwrap();
    let number = line.split(' ').next().unwrap().to_owned();
    desk.run(click("link \"Again\"")).await.unwrap();
    assert_eq!(desk.run(click(&number)).await.unwrap_err().code(), Code::RefStale);
    let said = run_command(&mut desk, click(&format!("{number}~"))).await;
    assert!(said.contains(&format!("in place of {number},")), "{said}");
    desk.run(click("link \"Twice\"")).await.unwrap();
    let err = desk.run(click(&format!("{number}~"))).await.unwrap_err();
    assert_eq!(err.code(), Code::RefStale, "there are two: {err}");
}

#[tokio::test(flavor = "multi_thread")]
async fn long_traffic_goes_to_disk_in_parts_and_what_acts_did_is_told_after_it() {
    let site = serve().await;
    let Some(browser) = start(&site).await else { return };
    let home = tempfile::tempdir().unwrap();
    let sessions = crate::sessions::SessionStore::new(home.path());
    let context = browser.context().await.unwrap();
    // 3,100 requests are the test, not how fast a busy machine serves them.
    let mut desk = PageController::new(context, Duration::from_secs(300), None).unwrap();
    // More than are held in memory.
    let many = "<button onclick=\"many()\">All</button><button onclick=\"fetch('/code?last=1')\">One</button><p id=out></p><script>
        async function many() {
          for (let n = 0; n < 62; n++) await Promise.all(Array.from({length: 50}, (_, i) => fetch('/code?n=' + (n * 50 + i))));
          out.textContent = 'done';
        }</script>";
    let begun = sessions.record("long", "", "http://shop.test/", "").unwrap();
    desk.record(begun, &page(many)).await.unwrap();
    for target in ["button \"All\"", "button \"One\"", "button \"One\""] {
        desk.run(click(target)).await.unwrap();
        let done = crate::page_session::WaitCondition::Text("done".to_owned());
        if let Err(err) = desk.run(Command::Wait(done)).await {
            let said = run_command(&mut desk, Command::Console(last(5))).await;
            let asked = run_command(&mut desk, Command::Network(last(5))).await;
            panic!("{err}: {said}; {asked}");
        }
    }
    let effect = desk.run(click("button \"One\"")).await.unwrap().effect.unwrap();
    assert_eq!(effect.requests.len(), 1, "{effect:?}");
    assert!(effect.requests[0].id > 3100, "{effect:?}");
    let manifest = desk.end().await.unwrap();
    assert!(manifest.files.contains_key("recording/01_session_recording-1.json"), "{manifest:?}");
    let whole = sessions.traffic(&manifest.id).unwrap().unwrap();
    assert!(whole.exchanges.len() > 3100, "{}", whole.exchanges.len());
    let (_, lines) = sessions.load(&manifest.id).unwrap();
    let last = lines.iter().rfind(|it| it.command == "click").unwrap();
    let last = last.traffic.unwrap_or_else(|| panic!("{lines:#?}"));
    let own = &whole.exchanges[last[0] as usize];
    assert!(own.url.ends_with("/code?last=1") && own.id == last[0], "{own:?}");
}
