//! What a page asks for and does not get: downloads, permissions, files, logins.

use std::{fs, path::PathBuf};

use super::{channels::chromiums, *};

/// `html` as a page of `shop.test`.
fn page(html: &str) -> String {
    let mut url = url::Url::parse("http://shop.test/html").unwrap();
    url.query_pairs_mut().append_pair("html", html);
    url.into()
}

/// A browser in which `http://shop.test` passes for safe where the build heeds that.
async fn daring(exe: &Path, site: &Site) -> Browser {
    let safe = "--unsafely-treat-insecure-origin-as-secure=http://shop.test".to_owned();
    Browser::start(exe, policy(site), &[safe], None).await.unwrap()
}

/// Waits until something is named that way: the browser tells of it a moment later.
async fn blocked_in(context: &Context, what: &str, named: &dyn Fn(&BlockedRequest) -> bool) {
    wait_until(what, || context.blocked().iter().any(named)).await;
}

/// Files below `folder` that are called as the download is or hold what it holds.
fn traces(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_type().is_ok_and(|it| it.is_dir()) {
            found.extend(traces(&path));
        } else {
            let held = fs::read(&path).unwrap_or_default();
            let holds =
                held.windows(site::DOWNLOAD.len()).any(|it| it == site::DOWNLOAD.as_bytes());
            if holds || entry.file_name().to_string_lossy().starts_with("commis-download") {
                found.push(path);
            }
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn a_download_leaves_nothing_behind_and_is_named() {
    let site = serve().await;
    let blob = format!("URL.createObjectURL(new Blob(['{}']))", site::DOWNLOAD);
    let ways = [
        ("/file", "<a href=/file>Save</a>".to_owned()),
        ("/next", "<a href=/next download=commis-download.bin>Save</a>".to_owned()),
        ("/file", "<a href=/away?/file>Save</a>".to_owned()),
        ("/file", "<a href=/away?/file download>Save</a>".to_owned()),
        ("/file", "<button onclick=\"location = '/file'\">Save</button>".to_owned()),
        ("/file", "<button onclick=\"frames[0].location = '/file'\">Save</button><iframe>".to_owned()),
        ("/file", "<button onclick=\"frames[0].location = '/away?/file'\">Save</button><iframe src=http://other.test/next>".to_owned()),
        ("blob:", format!("<a id=a download=commis-download.bin>Save</a><script>a.href = {blob}</script>")),
        ("blob:", format!("<a id=a download=commis-download.bin>Save</a><script>a.href = {blob}; a.click()</script>")),
        ("data:", format!("<a download=commis-download.bin href='data:text/plain,{}'>Save</a>", site::DOWNLOAD)),
    ];
    for exe in chromiums() {
        let browser = Browser::launch(&exe, policy(&site)).await.unwrap();
        let profile = fs::read_link(format!("/proc/{}/cwd", browser.0.pid)).unwrap();
        for (what, html) in &ways {
            let role = if html.contains("<button") { "button" } else { "link" };
            let steps = format!("- click: {{role: {role}, name: Save}}");
            let mut context = browser.context().await.unwrap();
            context.record(&plan(&page(html), &steps)).await.unwrap();
            let named =
                |it: &BlockedRequest| it.code == "DOWNLOAD_BLOCKED" && it.url.contains(what);
            blocked_in(&context, html, &named).await;
            context.dispose().await.unwrap();
        }
        let steps = "- click: {role: link, name: Save}\n- wait_for: {text: saved}";
        let mut plan = plan(&page(&ways[0].1), steps);
        plan.timeout = Duration::from_secs(2);
        let err = browser.context().await.unwrap().record(&plan).await.map(drop).unwrap_err();
        assert_eq!(err.code(), Code::DownloadBlocked, "{err}");
        assert!(err.message().contains("saved") && err.message().contains("/file"), "{err}");
        let home = std::env::home_dir().unwrap_or_default();
        let mut found = traces(&profile);
        for folder in [".", "Downloads"]
            .map(|it| home.join(it))
            .iter()
            .chain([&PathBuf::from("."), &std::env::temp_dir()])
        {
            let names = fs::read_dir(folder).into_iter().flatten().flatten().map(|it| it.path());
            found.extend(names.filter(|it| it.to_string_lossy().contains("commis-download")));
        }
        assert!(found.is_empty(), "{found:?}");
        browser.close().await.unwrap();
    }
}

const PERMISSIONS: &str = "<button onclick=go()>Ask</button><p id=out></p><script>
const asked = {
  geolocation: () => new Promise((yes, no) => navigator.geolocation.getCurrentPosition(yes, no)),
  notifications: () => Notification.requestPermission(),
  'clipboard-read': () => navigator.clipboard.readText(),
  'clipboard-write': () => navigator.clipboard.write([new ClipboardItem({ 'text/plain': 'x' })]),
  midi: () => navigator.requestMIDIAccess(),
  sysex: () => navigator.requestMIDIAccess({ sysex: true }),
  camera: () => navigator.mediaDevices.getUserMedia({ video: true }),
  microphone: () => navigator.mediaDevices.getUserMedia({ audio: true }),
  'persistent-storage': () => navigator.storage.persist(),
  'screen-wake-lock': () => navigator.wakeLock.request(),
  'local-fonts': () => queryLocalFonts(),
  'window-management': () => getScreenDetails(),
  'idle-detection': () => IdleDetector.requestPermission(),
  screen: () => navigator.mediaDevices.getDisplayMedia(),
};
async function go() {
  const late = new Promise(done => setTimeout(done, 3000, 'hangs'));
  const ask = async ([name, it]) => {
    let answer;
    try { answer = await Promise.race([it(), late]); if (Array.isArray(answer)) answer = answer.length > 0; } catch (err) { answer = 'refused ' + err; }
    return name + ': ' + answer;
  };
  const all = await Promise.all(Object.entries(asked).map(ask));
  for (const name of NAMES) {
    try { all.push(name + ' is ' + (await navigator.permissions.query({ name })).state); } catch (err) {}
  }
  out.textContent = 'asked ' + JSON.stringify(all);
}
</script>";

#[tokio::test(flavor = "multi_thread")]
async fn permissions_are_denied_at_once() {
    let site = serve().await;
    for exe in chromiums() {
        let browser = daring(&exe, &site).await;
        let mut context = browser.context().await.unwrap();
        let names = serde_json::to_string(guard::PERMISSIONS).unwrap();
        let html = PERMISSIONS.replace("NAMES", &names);
        let steps = "- click: {role: button, name: Ask}\n- wait_for: {text: asked}";
        let recording = context.record(&plan(&page(&html), steps)).await.unwrap();
        let shown = recording.page.visible_text;
        let all: Vec<String> =
            serde_json::from_str(shown.split_once("asked ").unwrap().1.trim()).unwrap();
        assert!(all.len() >= 14 + guard::PERMISSIONS.len(), "{all:#?}");
        let no = ["refused", "denied", ": false"];
        let got: Vec<_> = all.iter().filter(|it| no.iter().all(|no| !it.contains(no))).collect();
        assert!(got.is_empty(), "{} {got:#?}", exe.display());
        browser.close().await.unwrap();
    }
}

const FILES: &str = "<input type=file aria-label=Upload id=file>
<button onclick=\"pick(() => showOpenFilePicker())\">Open</button>
<button onclick=\"pick(() => showSaveFilePicker())\">Store</button>
<button onclick=\"pick(() => showDirectoryPicker())\">Folder</button><p id=out></p><script>
let n = 0;
const show = it => { out.textContent += ' ' + ++n + ': ' + it; };
file.oncancel = () => show('cancelled');
file.onchange = () => show('chosen');
async function pick(it) {
  try { await it(); show('chosen'); } catch (err) { show(err); }
}
</script>";

#[tokio::test(flavor = "multi_thread")]
async fn file_choosers_are_cancelled() {
    let site = serve().await;
    for exe in chromiums() {
        let browser = daring(&exe, &site).await;
        let mut context = browser.context().await.unwrap();
        let names = ["Upload", "Open", "Store", "Folder"];
        let step = |(n, name): (usize, &&str)| {
            let click = format!("- click: {{role: button, name: {name}}}");
            format!("{click}\n- wait_for: {{text: '{}: '}}\n", n + 1)
        };
        let steps: String = names.iter().enumerate().map(step).collect();
        let recording = context.record(&plan(&page(FILES), &steps)).await.unwrap();
        let shown = recording.page.visible_text;
        assert!(shown.contains("1: cancelled") && !shown.contains("chosen"), "{shown}");
        // Where there are such pickers, each says who refused.
        let refused = shown.matches("Error: ").count();
        let known =
            shown.matches("Intercepted by").count() + shown.matches("is not defined").count();
        assert_eq!((refused, known), (3, 3), "{shown}");
        browser.close().await.unwrap();
    }
}

const LOGIN: &str = "<p id=out></p><script>
const ask = it => new Promise(done => {
  const x = new XMLHttpRequest();
  x.onloadend = () => done(x.status);
  it(x);
  x.send();
});
(async () => {
  const all = [await ask(x => x.open('GET', '/login'))];
  all.push(await ask(x => x.open('GET', '/login', true, 'me', 'word')));
  all.push(await ask(x => x.open('GET', '/login')));
  out.textContent = 'asked ' + all;
})();
</script>";

#[tokio::test(flavor = "multi_thread")]
async fn a_login_is_not_asked_for_and_not_shared() {
    let site = serve().await;
    for exe in chromiums() {
        let browser = Browser::launch(&exe, policy(&site)).await.unwrap();
        let mut first = browser.context().await.unwrap();
        let steps = "- wait_for: {text: asked}";
        let recording = first.record(&plan(&page(LOGIN), steps)).await.unwrap();
        assert_eq!(recording.page.visible_text.trim(), "asked 401,0,401");
        let named = recording.blocked.iter().find(|it| it.url.contains("/login")).unwrap();
        assert_eq!(named.code, "URL_BLOCKED");
        for context in [&mut first, &mut browser.context().await.unwrap()] {
            let recording = context.record(&plan("http://shop.test/login", "")).await.unwrap();
            assert_eq!(exchange(&recording, "/login").status, Some(401));
            assert_eq!(recording.page.visible_text.trim(), "outside");
        }
        browser.close().await.unwrap();
    }
}

const POPUPS: &str = "<button onclick=\"window.open('http://127.0.0.1/opened')\">One</button>
<a href=http://127.0.0.1/linked target=_blank>Two</a>
<button onclick=\"window.open('http://127.0.0.1/orphan', '', 'noopener')\">Three</button>
<form method=post target=_blank action=http://127.0.0.1/posted><button>Four</button></form>
<button onclick=\"window.open('http://other.test/next')\">Five</button>";

#[tokio::test(flavor = "multi_thread")]
async fn a_popup_goes_nowhere_and_is_named_where_it_may_not_go() {
    let site = serve().await;
    for exe in chromiums() {
        let browser = Browser::launch(&exe, policy(&site)).await.unwrap();
        let mut context = browser.context().await.unwrap();
        let click = |role: &str, name: &str| format!("- click: {{role: {role}, name: {name}}}\n");
        let steps = [("button", "One"), ("link", "Two"), ("button", "Three"), ("button", "Four")];
        let steps: String = steps.iter().map(|it| click(it.0, it.1)).collect();
        context.record(&plan(&page(POPUPS), &steps)).await.unwrap();
        for path in ["opened", "linked", "orphan", "posted"] {
            let url = format!("http://127.0.0.1/{path}");
            let named = |it: &BlockedRequest| it.code == "URL_BLOCKED" && it.url == url;
            blocked_in(&context, path, &named).await;
        }
        let mut plan =
            plan(&page(POPUPS), &(click("button", "Five") + "- wait_for: {text: second}"));
        plan.timeout = Duration::from_secs(2);
        let mut context = browser.context().await.unwrap();
        let err = context.record(&plan).await.map(drop).unwrap_err();
        assert!(err.hint_text().unwrap().contains("popup to http://other.test/next"), "{err}");
        assert!(context.blocked().is_empty(), "{:?}", context.blocked());
        browser.close().await.unwrap();
    }
    let reached = site.log.lock().unwrap().clone();
    assert!(reached.iter().all(|it| it.starts_with("shop.test/")), "{reached:?}");
}

const POISON: &str = "<p id=out></p><script>
(async () => {
  await navigator.serviceWorker.register('/service.js');
  if (!navigator.serviceWorker.controller) await new Promise(done => navigator.serviceWorker.oncontrollerchange = done);
  const ask = \"fetch('http://shop.test/api/search?q=hat&keys=1').then(it => it.text())\";
  const worker = new Worker(URL.createObjectURL(new Blob([ask + '.then(postMessage)'])));
  const all = [await eval(ask), await new Promise(done => worker.onmessage = it => done(it.data))];
  out.textContent = 'read ' + all;
})();
</script>";

#[tokio::test(flavor = "multi_thread")]
async fn what_a_service_worker_would_serve_is_served_to_nobody() {
    let site = serve().await;
    let Some(exe) = chromiums().into_iter().find(|it| it.ends_with("chromium")) else {
        println!("no full Chromium here, and no other runs them for http: not tested");
        return;
    };
    let browser = daring(&exe, &site).await;
    let mut first = browser.context().await.unwrap();
    let steps = "- wait_for: {text: read}";
    let recording = first.record(&plan(&page(POISON), steps)).await.unwrap();
    let shown = &recording.page.visible_text;
    assert_eq!((shown.matches("hat item 0").count(), shown.matches("poison").count()), (2, 0));
    assert!(text(exchange(&recording, "/api/search")).contains("hat item 0"));
    // The page of a replay, and what it fetches.
    first.open("http://shop.test/next", Duration::from_secs(10)).await.unwrap();
    let request = PreparedRequest {
        method: "GET".to_owned(),
        url: "http://shop.test/api/search?q=hat&keys=1".to_owned(),
        headers: Vec::new(),
        body: None,
        allowed_domains: Vec::new(),
        own_host: None,
    };
    let kinds: [&dyn Transport; 2] = [&first.in_page_fetch(), &first.context_request()];
    for transport in kinds {
        let reply = transport.send(&request).await.unwrap();
        assert!(String::from_utf8_lossy(&reply.body).contains("hat item 0"));
    }
    let mut second = browser.context().await.unwrap();
    let html = "<p id=out></p><script>navigator.serviceWorker.getRegistrations().then(it => out.textContent = 'found ' + it.length)</script>";
    let steps = "- wait_for: {text: found}";
    let recording = second.record(&plan(&page(html), steps)).await.unwrap();
    assert_eq!(recording.page.visible_text.trim(), "found 0");
    browser.close().await.unwrap();
}
