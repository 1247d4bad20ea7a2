//! The shared SSRF vectors in the browser, every connection led to a stand-in: a page's fetch, navigation, in_page_fetch.

use futures::{StreamExt as _, stream};
use serde_json::json;

use super::*;
use crate::page;
use commis_net::egress::stub::{
    DnsRows, DnsTable, OWN, SsrfVector, StubConnection, StubServers, is_public,
};
use commis_testbed::HostileServer;

/// What counts is whether it connects.
const FETCH: &str = "async function (url) {
  try { await fetch(url, { mode: 'no-cors', cache: 'no-store', signal: AbortSignal.timeout(5000) }); } catch (e) {}
  return true;
}";

#[derive(Clone, Copy, Debug, PartialEq)]
enum ProbeKind {
    Fetch,
    Navigate,
    InPage,
    InContext,
}

/// Vectors whose tables do not contradict each other, so that they can share one browser.
fn groups(all: &[SsrfVector]) -> Vec<(DnsRows, Vec<&SsrfVector>)> {
    let mut groups: Vec<(DnsRows, Vec<&SsrfVector>)> = Vec::new();
    for it in all {
        let fits = |rows: &DnsRows| {
            it.dns.iter().all(|(name, answer)| rows.get(name).is_none_or(|known| known == answer))
        };
        let at = groups.iter().position(|(rows, _)| fits(rows)).unwrap_or_else(|| {
            groups.push((DnsRows::new(), Vec::new()));
            groups.len() - 1
        });
        groups[at].0.extend(it.dns.clone());
        groups[at].1.push(it);
    }
    groups
}

struct Rig {
    browser: Browser,
    context: Context,
    stand_ins: StubServers,
    table: DnsTable,
    policy: Arc<EgressPolicy>,
}

impl Rig {
    /// With a page open: of the web, or of a host of the user's own.
    async fn start(exe: &Path, web: &HostileServer, at: Option<&str>) -> Self {
        let stand_ins = StubServers::default();
        let table = DnsTable::default();
        let settings = EgressSettings {
            test_hosts: vec![format!("wild.test={}", web.addr())],
            allowed_ports: vec![8443],
            own: OWN.iter().map(|it| (it.0.to_owned(), it.1.to_owned())).collect(),
            ..EgressSettings::default()
        };
        let policy =
            Arc::new(EgressPolicy::with_stubs(&settings, table.clone(), stand_ins.clone()));
        let browser = Browser::launch(exe, Arc::clone(&policy)).await.unwrap();
        let mut context = browser.context().await.unwrap();
        context.visit(at);
        let page = at.map_or("http://wild.test/".to_owned(), |it| format!("http://{it}/"));
        context.open(&page, Duration::from_secs(10)).await.unwrap();
        Self { browser, context, stand_ins, table, policy }
    }

    async fn go(&self, how: ProbeKind, url: &str) {
        match how {
            ProbeKind::Fetch => {
                let shared = self.context.shared();
                let frame = shared.main_frame().await.unwrap();
                let patience = Duration::from_secs(10);
                let called: Result<bool> =
                    page::call(&shared.cdp, &frame, FETCH, &[json!(url)], patience).await;
                called.unwrap();
            }
            ProbeKind::Navigate => unreachable!("needs the context for itself"),
            ProbeKind::InPage | ProbeKind::InContext => {
                let request = PreparedRequest {
                    method: "GET".to_owned(),
                    url: url.to_owned(),
                    headers: Vec::new(),
                    body: None,
                    allowed_domains: Vec::new(),
                    own_host: None,
                };
                let _ = if how == ProbeKind::InPage {
                    self.context.in_page_fetch().send(&request).await
                } else {
                    self.context.context_request().send(&request).await
                };
            }
        }
    }

    async fn one(&mut self, how: ProbeKind, url: &str) -> Vec<StubConnection> {
        if how == ProbeKind::Navigate {
            let _ = self.context.open(url, Duration::from_secs(5)).await;
        } else {
            self.go(how, url).await;
        }
        self.stand_ins.take()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ssrf_vectors_reach_nothing_that_is_denied() {
    let Ok(exe) = find_chromium(None) else {
        commis_base::testing::skip_without("Chromium");
        return;
    };
    let web = HostileServer::start(0).await.unwrap();
    let all = SsrfVector::all();
    let swapped: Vec<SsrfVector> =
        all.iter().filter(|it| !it.hops.is_empty()).map(SsrfVector::with_schemes_swapped).collect();
    let all = [all, swapped].concat();
    let mut wrong = Vec::new();
    let mut rig = Rig::start(&exe, &web, None).await;
    for how in [ProbeKind::Fetch, ProbeKind::Navigate, ProbeKind::InPage, ProbeKind::InContext] {
        let begun = Instant::now();
        for (rows, vectors) in groups(&all) {
            rig.policy.reset_stubs(&rig.table, rows);
            if how != ProbeKind::Navigate {
                rig.context.open("http://wild.test/", Duration::from_secs(10)).await.unwrap();
            }
            let (refused, others): (Vec<&SsrfVector>, Vec<&SsrfVector>) =
                vectors.iter().partition(|it| {
                    // A browser drops white space and reads backslashes and escapes its own way: what comes out may be public.
                    let otherwise = how == ProbeKind::Fetch && it.layer == "parse";
                    !it.is_allowed() && it.hops.is_empty() && !otherwise
                });
            // All at once: not one connection may be tried.
            if how == ProbeKind::Navigate {
                for it in &refused {
                    let _ = rig.context.open(&it.input, Duration::from_secs(5)).await;
                }
            } else {
                stream::iter(&refused).for_each_concurrent(8, |it| rig.go(how, &it.input)).await;
            }
            for it in rig.stand_ins.take() {
                wrong.push(format!("{how:?}: one of many reached {it:?}"));
            }
            for it in others {
                rig.stand_ins.queue_redirects(it.hops.clone());
                let before = rig.table.asked.lock().unwrap().clone();
                let connects = rig.one(how, &it.input).await;
                let here = it.first_addresses();
                // A page may be redirected to another public host; a request of ours may not.
                let ours = matches!(how, ProbeKind::InPage | ProbeKind::InContext);
                let may = |it: &StubConnection| {
                    is_public(it.meant.ip()) && (!ours || here.contains(&it.meant.ip()))
                };
                if !connects.iter().all(may) {
                    wrong.push(format!("{how:?} {}: {connects:?}", it.id));
                }
                if it.is_allowed() && !it.is_local_name() && connects.is_empty() {
                    wrong.push(format!("{how:?} {} {}: blocked", it.id, it.input));
                }
                let asked = rig.table.asked.lock().unwrap().clone();
                if asked.iter().any(|(name, n)| n - before.get(name).unwrap_or(&0) > 1) {
                    wrong.push(format!("{how:?} {}: looked up more than once, {asked:?}", it.id));
                }
            }
        }
        println!("{how:?}: {} vectors in {:?}", all.len(), begun.elapsed());
    }
    rig.browser.close().await.unwrap();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn ssrf_vectors_from_a_host_of_ones_own_reach_nothing_else_inside() {
    let Ok(exe) = find_chromium(None) else {
        commis_base::testing::skip_without("Chromium");
        return;
    };
    let web = HostileServer::start(0).await.unwrap();
    let all = SsrfVector::all();
    let chains = all.iter().filter(|it| !it.hops.is_empty()).map(SsrfVector::with_schemes_swapped);
    let all: Vec<SsrfVector> = chains.chain(all.iter().cloned()).collect();
    let rig = Rig::start(&exe, &web, Some("localhost:80")).await;
    let mut wrong = Vec::new();
    for (rows, vectors) in groups(&all) {
        rig.policy.reset_stubs(&rig.table, rows);
        for it in vectors {
            rig.stand_ins.queue_redirects(it.hops.clone());
            rig.stand_ins.take();
            rig.go(ProbeKind::Fetch, &it.input).await;
            for connect in rig.stand_ins.take() {
                // To the page's own host leads what names it, and what is read as a path on it.
                let own = connect.meant == "127.0.0.1:80".parse().unwrap()
                    && connect.head.to_ascii_lowercase().contains("host: localhost\r\n")
                    && it.hops.is_empty();
                if !own && !is_public(connect.meant.ip()) {
                    wrong.push(format!("{} {}: {connect:?}", it.id, it.input));
                }
            }
        }
    }
    rig.browser.close().await.unwrap();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
