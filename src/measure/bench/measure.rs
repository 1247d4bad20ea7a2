//! One scenario measured: the arms take turns, so that whatever else the machine does falls on all of them alike.

use std::{collections::BTreeMap, hint::black_box, time::Instant};

use futures::future::try_join_all;
use rustix::time::{ClockId, clock_gettime};
use scraper::Html;
use serde_json::Value;

use super::{
    allocations::{self, Allocations},
    reference_client::{self, Floor},
    scenarios::Scenario,
    site::Site,
    stats::{Arm, Figures, Sample},
};
use commis_base::error::{Code, Error, Result};
use commis_recipe::{
    model::{Recipe, ResponseType, Status, TransportKind, Verification},
    request::{CompiledRequest, bind},
    shape,
};
use commis_runner::{
    RunTimings,
    call::Caller,
    extract::{HttpAnswer, extract, fingerprint},
};

const ALLOCATION_ROUNDS: usize = 21;
/// Every order there is: an arm that always came after the longest one would find cold caches and a spent time slice.
const ORDERS: [[Arm; 3]; 6] = [
    [Arm::Floor, Arm::Parse, Arm::Run],
    [Arm::Run, Arm::Parse, Arm::Floor],
    [Arm::Parse, Arm::Run, Arm::Floor],
    [Arm::Floor, Arm::Run, Arm::Parse],
    [Arm::Run, Arm::Floor, Arm::Parse],
    [Arm::Parse, Arm::Floor, Arm::Run],
];

/// A recipe ready to be run, and the floor under it.
struct Call {
    recipe: Recipe,
    floor: Floor,
    html: bool,
}

/// A scenario ready to be measured.
pub struct PreparedScenario<'a> {
    scenario: &'a Scenario,
    calls: Vec<Call>,
    caller: &'a Caller,
    /// Length of a decoded body.
    pub bytes: usize,
}

impl<'a> PreparedScenario<'a> {
    /// Sends each request once: what comes back is the shape that the recipe is verified with.
    pub async fn new(scenario: &'a Scenario, site: &Site, caller: &'a Caller) -> Result<Self> {
        let recipes = scenario.recipes()?;
        let hosts: Vec<String> =
            recipes.iter().flat_map(|it| it.request.allowed_domains.clone()).collect();
        let client = reference_client::client(site, &hosts)?;
        let mut calls = Vec::new();
        let mut bytes = 0;
        for mut recipe in recipes {
            let values = bind(&recipe, &params(0), &BTreeMap::new())?;
            let outgoing = CompiledRequest::new(&recipe.request)?.fill(&values)?;
            let (floor, body, mime) = Floor::new(client.clone(), &outgoing).await?;
            bytes = body.len();
            let extracted = extract(&recipe.response, HttpAnswer::from_body(&mime, &body))?;
            let shape = fingerprint(&recipe.response, &extracted);
            verified(&mut recipe, shape);
            let html = recipe.response.kind == ResponseType::Html;
            calls.push(Call { recipe, floor, html });
        }
        Ok(Self { scenario, calls, caller, bytes })
    }

    /// So many rounds of all arms, in another order each. A round is one run, or as many as are in flight at a time. The first
    /// rounds, a tenth and at least until every recipe ran twice, are not counted. Also returns how many of the runs that
    /// count found their recipe compiled.
    pub async fn measure(&self, rounds: usize) -> Result<(Figures, u64)> {
        let warm_up = (rounds / 10).max(2 * self.calls.len() / self.scenario.at_once).max(5);
        let mut out = Figures::default();
        let mut before = 0;
        for round in 0..warm_up + rounds {
            if round == warm_up {
                before = self.caller.calls_and_hits().1;
            }
            for arm in ORDERS[round % ORDERS.len()] {
                let samples = self.round(arm, round).await?;
                if round >= warm_up {
                    out.add(arm, samples);
                }
            }
        }
        Ok((out, self.caller.calls_and_hits().1 - before))
    }

    async fn round(&self, arm: Arm, round: usize) -> Result<Vec<Sample>> {
        let width = self.scenario.at_once;
        let call = |n: usize| (&self.calls[n % self.calls.len()], params(n));
        if width == 1 {
            let (call, params) = call(round);
            let cpu = cpu_ns();
            let mut sample = self.once(arm, call, &params).await?;
            sample.cpu_ns = cpu_ns() - cpu;
            return Ok(vec![sample]);
        }
        let all: Vec<_> = (0..width).map(|n| call(round * width + n)).collect();
        let cpu = cpu_ns();
        let mut samples =
            try_join_all(all.iter().map(|(call, params)| self.once(arm, call, params))).await?;
        let each = (cpu_ns() - cpu) / width as u64;
        for it in &mut samples {
            it.cpu_ns = each;
        }
        Ok(samples)
    }

    /// What came back is dropped within the time.
    async fn once(
        &self,
        arm: Arm,
        call: &Call,
        params: &BTreeMap<String, String>,
    ) -> Result<Sample> {
        let start = Instant::now();
        let stages = match arm {
            Arm::Floor => {
                black_box(call.floor.send().await?);
                None
            }
            Arm::Parse => {
                let body = call.floor.send().await?;
                if call.html {
                    black_box(Html::parse_document(&String::from_utf8_lossy(&body)));
                } else {
                    black_box(serde_json::from_slice::<Value>(&body).map_err(|err| {
                        Error::new(
                            Code::ParseError,
                            "the body that the reference client received is not JSON",
                        )
                        .source(err)
                    })?);
                }
                None
            }
            Arm::Run => Some(self.run(call, params).await?),
        };
        Ok(Sample { wall_ns: start.elapsed().as_nanos() as u64, cpu_ns: 0, stages })
    }

    async fn run(&self, call: &Call, params: &BTreeMap<String, String>) -> Result<RunTimings> {
        let compiled = self.caller.compiled(&call.recipe)?;
        let permit = self.caller.enter(&compiled).await?;
        let done = black_box(self.caller.call(&permit, &compiled, params).await);
        if done.success {
            return Ok(done.timings_ms);
        }
        let why = done.error.unwrap_or_default();
        let code = done.error_code.and_then(Code::from_wire).unwrap_or(Code::Internal);
        Err(Error::new(code, format!("{}: {why}", self.scenario.name)))
    }

    /// Allocations of one run of each arm, the median of some; `None` in a program that does not count them.
    pub fn allocations(&self, runtime: &tokio::runtime::Runtime) -> Option<Allocations> {
        let of = |arm| {
            let mut all = Vec::new();
            for round in 0..ALLOCATION_ROUNDS {
                let call = &self.calls[round % self.calls.len()];
                let params = params(round);
                all.push(allocations::count(|| {
                    // What failed here failed when it was timed.
                    let _ = runtime.block_on(self.once(arm, call, &params));
                })?);
            }
            all.sort_unstable();
            Some(all[all.len() / 2])
        };
        Some(Allocations { floor: of(Arm::Floor)?, parse: of(Arm::Parse)?, run: of(Arm::Run)? })
    }
}

fn params(n: usize) -> BTreeMap<String, String> {
    BTreeMap::from([("query".to_owned(), format!("lantern {n}"))])
}

/// As verify leaves it.
fn verified(recipe: &mut Recipe, shape: Vec<String>) {
    recipe.status = Status::Verified;
    recipe.verification = Some(Verification {
        fingerprint_version: shape::FINGERPRINT_VERSION,
        fingerprint_sha256: shape::fingerprint(&shape),
        shape,
        profile: None,
        verified_at: None,
        transport: TransportKind::PublicHttp,
        requires_session: false,
        browser_ms: None,
        witness: None,
        proof: None,
        complete: None,
        substitute: None,
        first_page: None,
        examples: Vec::new(),
    });
}

/// CPU time of this process so far, all threads, user and system.
pub fn cpu_ns() -> u64 {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
