//! A small web on loopback, for the demo and the tests: many hosts under `.test`, one process.
//!
//! One server answers every host by the `Host` header (or by the authority of an absolute request
//! line, which is what a proxy client sends). Nothing here reads a random source, and a clock only where a site refuses many calls in a second: the
//! same sequence of requests gets the same answers. Names are not resolved here; the caller points
//! `*.test` at [`Testbed::addr`].
//!
//! Queries that start with `zzz` find nothing, everywhere; all others find something.

mod brotli;
mod demand;
mod dns;
mod hostile;
pub mod model;
mod pictures;
mod shell;
mod sites;
mod testbed_state;
mod third;
mod tls;
mod wire;
mod words;

#[cfg(test)]
mod tests;

pub use dns::Dns;
pub use hostile::{H2, LOCATIONS, RAW};
pub use hostile::{HOSTS as HOSTILE_HOSTS, HostileServer};
pub use testbed_state::session_of;
pub use tls::authority_pem;
pub use tls::{CertificateFault, WRONG};

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::connect_info::Connected;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{FromRequestParts, Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::serve::IncomingStream;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};

use testbed_state::TestbedState;
use wire::SiteRequest;

type Handler = fn(&SiteRequest, &TestbedState) -> Response;

/// Host and what answers for it, sorted by host.
const TABLE: &[(&str, Handler)] = &[
    ("abc123-dsn.searchkit.test", sites::docs::searchkit),
    ("accounts.test", sites::accounts::answer),
    ("ads.adnet.test", third::ads),
    ("almanac.test", sites::requests::almanac),
    ("annex.test", demand::further::annex),
    ("api.gauges.test", sites::gauges::answer),
    ("api.huddle.test", demand::members::huddle_api),
    ("api.observatory.test", sites::keyed::answer),
    ("api.seedbank.test", sites::hosts::seedbank),
    ("archive.test", sites::archive::answer),
    ("atlas.test", sites::wrapped::atlas),
    ("auction.test", sites::walls::auction),
    ("ballot.test", sites::traps::ballot),
    ("basket.test", sites::traps::basket),
    ("bells.test", demand::public::bells),
    ("berg.dwellings.test", demand::hosts::dwellings),
    ("bikes.test", sites::inputs::bikes),
    ("boats.test", sites::inputs::boats),
    ("bonds.test", sites::wrapped::bonds),
    ("bulletin.test", demand::feeds::bulletin),
    ("buses.test", sites::streams::buses),
    ("cabins.test", sites::inputs::cabins),
    ("carvings.test", demand::varied::carvings),
    ("city.test", sites::city::answer),
    ("clinic.test", sites::walls::clinic),
    ("clipstream.test", demand::scripts::clipstream),
    ("clocks.test", sites::resembling::clocks),
    ("club.test", sites::club::answer),
    ("code.test", sites::code::answer),
    ("cogs.test", demand::varied::cogs),
    ("coins.test", sites::walks::coins),
    ("compass.test", demand::scripts::compass),
    ("config.flagsrv.test", third::flags),
    ("control.test", third::control),
    ("count.lexica.test", demand::hosts::lexica),
    ("courier.test", sites::reorder::courier),
    ("crateful.test", demand::cookies::crateful),
    ("crier.test", sites::paging::crier),
    ("da.lexica.test", demand::hosts::lexica),
    ("de.lexica.test", demand::hosts::lexica),
    ("depot.test", sites::depot::answer),
    ("desk.test", demand::members::desk),
    ("docs.test", sites::docs::answer),
    ("dossier.test", demand::composed::dossier),
    ("dwellings.test", demand::hosts::dwellings),
    ("ebbflow.test", demand::varied::ebbflow),
    ("en.lexica.test", demand::hosts::lexica),
    ("endless.test", sites::endless::answer),
    ("estates.test", demand::composed::estates),
    ("fares.test", sites::traps::fares),
    ("ferries.test", sites::ferries::answer),
    ("fi.lexica.test", demand::hosts::lexica),
    ("files.playbill.test", demand::chains::playbill_files),
    ("films.test", sites::persisted::answer),
    ("flights.test", sites::flights::answer),
    ("flora.test", demand::public::flora),
    ("forum.test", sites::forum::answer),
    ("frames.test", sites::frames::answer),
    ("frontrow.test", demand::chains::frontrow),
    ("gallery.test", sites::paging::gallery),
    ("gitfarm.test", demand::bearers::gitfarm),
    ("glossary.test", sites::decoys::glossary),
    ("granary.test", demand::further::granary),
    ("grants.test", sites::encoded::grants),
    ("hallmarks.test", sites::series::hallmarks),
    ("hamnoy.dwellings.test", demand::hosts::dwellings),
    ("harbour.test", sites::rpc::harbour),
    ("hearth.test", demand::bearers::hearth),
    ("hoard.test", sites::locks::hoard),
    ("hostile.test", sites::hostile::answer),
    ("hotels.test", sites::decoys::hotels),
    ("huddle.test", demand::members::huddle),
    ("id.lectern.test", demand::cookies::lectern_id),
    ("inspections.test", demand::downloads::inspections),
    ("jobs.test", sites::jobs::answer),
    ("keepsake.test", demand::cookies::keepsake),
    ("kiln.test", demand::composed::kiln),
    ("leaky.test", sites::locks::leaky),
    ("lectern.test", demand::cookies::lectern),
    ("ledger.test", sites::rpc::ledger),
    ("ledgerly.test", demand::cookies::ledgerly),
    ("ledgers.test", sites::series::ledgers),
    ("lenses.test", sites::resembling::lenses),
    ("lettings.test", sites::markup::lettings),
    ("lexica.test", demand::hosts::lexica),
    ("library.test", sites::library::answer),
    ("lights.test", sites::requests::lights),
    ("lund.ledgerly.test", demand::cookies::ledgerly),
    ("lures.test", sites::lures::answer),
    ("marsh.ledgerly.test", demand::cookies::ledgerly),
    ("members.test", sites::members::answer),
    ("meterbox.test", demand::bearers::meterbox),
    ("metrics.tracker.test", third::tracker),
    ("mirrors.test", demand::hosts::mirrors),
    ("molecules.test", sites::streams::molecules),
    ("mosses.test", sites::resembling::mosses),
    ("museum.test", sites::walls::museum),
    ("nds-nl.lexica.test", demand::hosts::lexica),
    ("nesset.dwellings.test", demand::hosts::dwellings),
    ("news.test", sites::news::answer),
    ("north.mirrors.test", demand::hosts::mirrors),
    ("nothing.test", sites::nothing::answer),
    ("notices.test", sites::hosts::notices),
    ("okoro.ledgerly.test", demand::cookies::ledgerly),
    ("oracle.test", sites::traps::oracle),
    ("orchardgit.test", demand::acts::orchardgit),
    ("orrery.test", sites::series::orrery),
    ("parts.test", sites::chained::parts),
    ("pawns.test", demand::public::pawns),
    ("permits.test", demand::downloads::permits),
    ("plank.test", demand::varied::plank),
    ("plants.test", sites::decoys::plants),
    ("plates.test", sites::resembling::plates),
    ("playbill.test", demand::chains::playbill),
    ("pledge.test", sites::encoded::pledge),
    ("pocket.test", demand::cookies::pocket),
    ("podcasts.test", sites::markup::podcasts),
    ("portal.test", sites::decoys::portal),
    ("postbox.test", demand::cookies::postbox),
    ("pressroom.test", demand::cookies::pressroom),
    ("quakes.test", sites::wrapped::quakes),
    ("quarries.test", sites::resembling::quarries),
    ("quarry.test", sites::series::quarry),
    ("quay.test", sites::choices::quay),
    ("quayside.test", demand::chains::quayside),
    ("railbook.test", demand::public::railbook),
    ("receipts.test", demand::downloads::receipts),
    ("recipes.test", sites::recipes::answer),
    ("redirect.test", sites::redirect::answer),
    ("relics.test", sites::resembling::relics),
    ("reorder.test", sites::reorder::answer),
    ("reviews.test", sites::traps::reviews),
    ("ripples.test", demand::composed::ripples),
    ("ropes.test", sites::resembling::ropes),
    ("rosterly.test", demand::bearers::rosterly),
    ("rosters.test", sites::rosters::answer),
    ("scoreline.test", demand::varied::scoreline),
    ("seals.test", sites::resembling::seals),
    ("seeds.test", sites::hosts::seeds),
    ("shelfmark.test", demand::members::shelfmark),
    ("shiftly.test", demand::bearers::rosterly),
    ("shop.test", sites::shop::answer),
    ("shutterly.test", demand::members::shutterly),
    ("signalbox.test", sites::signalbox::answer),
    ("sluice.test", sites::resembling::sluice),
    ("solvik.dwellings.test", demand::hosts::dwellings),
    ("sound.test", sites::locks::sound),
    ("south.mirrors.test", demand::hosts::mirrors),
    ("species.test", sites::requests::species),
    ("spore.test", demand::feeds::spore),
    ("stalls.test", sites::stalls::answer),
    ("stats.test", sites::stats::answer),
    ("stock.test", sites::inputs::stock),
    ("stoppost.test", demand::varied::stoppost),
    ("store.test", sites::store::answer),
    ("stumbles.test", sites::stumbles::answer),
    ("suggest.lexica.test", demand::hosts::lexica),
    ("surgery.test", demand::cookies::surgery),
    ("surveys.test", demand::downloads::surveys),
    ("sv.lexica.test", demand::hosts::lexica),
    ("tariff.test", demand::public::tariff),
    ("thesaurus.test", sites::requests::thesaurus),
    ("thicket.test", demand::acts::thicket),
    ("ticker.test", sites::streams::ticker),
    ("tickets.test", sites::tickets::answer),
    ("transit.test", sites::chained::transit),
    ("trees.test", sites::encoded::trees),
    ("vanpool.test", demand::cookies::vanpool),
    ("vault.test", sites::vault::answer),
    ("vestby.dwellings.test", demand::hosts::dwellings),
    ("videos.test", sites::encoded::videos),
    ("wages.test", demand::bearers::wages),
    ("walks.test", sites::walks::walks),
    ("warble.test", demand::feeds::warble),
    ("weirs.test", sites::resembling::sluice),
    ("west.mirrors.test", demand::hosts::mirrors),
    ("widget.framehost.test", sites::frames::widget),
    ("wines.test", sites::inputs::wines),
    ("worker.test", sites::worker::answer),
    ("xn--bcher-kva.test", sites::hosts::buecher),
];

/// Every host name served, sorted; besides these there are those of [`sites::load`], which have no pages, and the
/// library again under any name in `many.test`.
pub const HOSTS: &[&str] = &{
    let mut names = [""; TABLE.len()];
    let mut i = 0;
    while i < TABLE.len() {
        names[i] = TABLE[i].0;
        i += 1;
    }
    names
};

/// A running testbed. It stops when dropped.
pub struct Testbed {
    addr: SocketAddr,
    state: Arc<TestbedState>,
    /// Closed on drop, which is what the server waits for.
    _stop: oneshot::Sender<()>,
}

impl Testbed {
    /// Binds 127.0.0.1:`port` (0 = any free port) and serves until dropped.
    pub async fn start(port: u16) -> std::io::Result<Testbed> {
        Self::start_logged(port, None).await
    }

    /// The same; each request is a line of JSON in that file, as it comes in: `at_ms`, `host`, `method`, `path`, `query`.
    pub async fn start_logged(port: u16, log: Option<std::fs::File>) -> std::io::Result<Testbed> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let addr = listener.local_addr()?;
        let state = Arc::new(TestbedState::new(addr.port(), log));
        let app = Router::new()
            .fallback(serve)
            .with_state(Arc::clone(&state))
            .into_make_service_with_connect_info::<Peer>();
        let (stop, stopped) = oneshot::channel::<()>();
        tokio::spawn(async move {
            let server = axum::serve(TestbedListener::open(listener), app).with_graceful_shutdown(
                async move {
                    // An error means that the sender is gone, which is the signal.
                    let _ = stopped.await;
                },
            );
            // axum's accept loop retries by itself; there is nobody to tell.
            let _ = server.await;
        });
        Ok(Testbed { addr, state, _stop: stop })
    }

    /// Where it listens.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// How many requests came in which protocol: `http/1.1`, `https/1.1`, `h2`.
    pub fn protocols(&self) -> std::collections::BTreeMap<&'static str, u64> {
        self.state.protocols()
    }

    /// Requests seen so far: `"host METHOD /path"` to how often. Any host counts, also one that is
    /// not served (an address, `localhost`); only `control.test` leaves no trace.
    pub fn hits(&self) -> std::collections::BTreeMap<String, u64> {
        self.state.hits()
    }

    /// Changes a site that knows a change, as `control.test/turn` does.
    pub fn turn(&self, site: &str) {
        self.state.turn(site);
    }
}

/// What a request came over.
#[derive(Clone, Copy, Debug)]
pub struct Peer {
    /// Over TLS.
    secure: bool,
}

impl Connected<IncomingStream<'_, TestbedListener>> for Peer {
    fn connect_info(stream: IncomingStream<'_, TestbedListener>) -> Self {
        *stream.remote_addr()
    }
}

/// Connections that have shaken hands where they wanted to; each does so on its own.
pub struct TestbedListener(mpsc::Receiver<(Box<dyn tls::Connection>, Peer)>);

impl TestbedListener {
    /// Accepts until it is dropped.
    pub fn open(listener: TcpListener) -> Self {
        let (sender, receiver) = mpsc::channel(16);
        tokio::spawn(async move {
            loop {
                let accepted = tokio::select! {
                    accepted = listener.accept() => accepted,
                    () = sender.closed() => return,
                };
                let Ok((stream, _)) = accepted else {
                    // Out of descriptors, most likely.
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                };
                let _ = stream.set_nodelay(true);
                let sender = sender.clone();
                tokio::spawn(async move {
                    // A client that goes away, or does not trust us, is not an error of the server.
                    let arrived = tokio::select! {
                        arrived = tls::arrive(stream, |_| &["h2", "http/1.1"]) => arrived,
                        () = sender.closed() => return,
                    };
                    if let Ok(it) = arrived {
                        let _ = sender.send((it.stream, Peer { secure: it.secure })).await;
                    }
                });
            }
        });
        Self(receiver)
    }
}

impl axum::serve::Listener for TestbedListener {
    type Io = Box<dyn tls::Connection>;
    type Addr = Peer;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        match self.0.recv().await {
            Some(it) => it,
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> std::io::Result<Peer> {
        Ok(Peer { secure: false })
    }
}

async fn serve(State(state): State<Arc<TestbedState>>, request: Request) -> Response {
    let (mut head, body) = request.into_parts();
    let upgrade = WebSocketUpgrade::from_request_parts(&mut head, &()).await;
    let ask = match SiteRequest::read(Request::from_parts(head, body)).await {
        Ok(ask) => ask,
        Err(refusal) => return refusal,
    };
    if ask.host != "control.test" {
        state.count_hit(&ask);
    }
    if ask.host == "endless.test" {
        tokio::time::sleep(sites::endless::delay(&ask)).await;
    }
    if let ("ticker.test", "/feed", Ok(upgrade)) = (&*ask.host, &*ask.path, upgrade) {
        return sites::streams::feed(upgrade);
    }
    if sites::load::serves(&ask.host) {
        return sites::load::answer(&ask, &state);
    }
    let response = answer(&ask, &state);
    if ask.secure && STRICT.contains(&&*ask.host) {
        return wire::with(response, "strict-transport-security", "max-age=600");
    }
    response
}

/// Hosts that want to be asked over https from then on.
const STRICT: &[&str] = &["jobs.test", "shop.test"];

fn answer(ask: &SiteRequest, state: &TestbedState) -> Response {
    match TABLE.binary_search_by(|(host, _)| (*host).cmp(ask.host.as_str())) {
        Ok(i) => TABLE[i].1(ask, state),
        // Any number of hosts that are one like another.
        Err(_) if ask.host.ends_with(".many.test") => sites::library::answer(ask, state),
        Err(_) => wire::text(StatusCode::NOT_FOUND, "no such host in this web\n"),
    }
}
