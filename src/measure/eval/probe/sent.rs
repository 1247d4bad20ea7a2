//! Rules for what a proof sends that no recording holds: requests of steps for other values, calls for items, further pages.

use std::collections::BTreeMap;

use super::{super::stubs::Rule, Prober, ProofToRepeat, RequestParts, bare, name};
use commis_base::error::Result;
use commis_net::transport::{PreparedRequest, Reply};
use commis_stages::verify::verify;

impl Prober<'_, '_> {
    /// Proves the recipe once more and keeps as rules what the stubs would answer otherwise, or not at all. Fails with what the proof
    /// fails with.
    pub(super) async fn repeat(&mut self, proof: ProofToRepeat<'_>) -> Result<()> {
        self.replayer.begin("the proof of a case".to_owned())?;
        self.replayer.keep_sent();
        let proven = verify(self.replayer, proof.draft, proof.baseline, proof.expect).await;
        let sent = self.replayer.take_sent();
        proven?;
        // A request that is sent again at once was not answered yet: its last answer stands. One that comes again later begins
        // another walk through the steps, whose answers may not fit those of the first.
        let is_same = |a: &PreparedRequest, b: &PreparedRequest| {
            (&a.method, &a.url, &a.body) == (&b.method, &b.url, &b.body)
        };
        let mut kept: Vec<(PreparedRequest, Reply)> = Vec::new();
        let mut before: Option<PreparedRequest> = None;
        for (request, reply) in sent {
            let is_again = before.as_ref().is_some_and(|it| is_same(it, &request));
            match kept.iter_mut().find(|it| is_same(&it.0, &request)) {
                Some(it) if is_again => it.1 = reply,
                Some(_) => {}
                None => kept.push((request.clone(), reply)),
            }
            before = Some(request);
        }
        for (request, reply) in kept.into_iter().rev() {
            self.keep(&request, reply);
        }
        Ok(())
    }

    fn keep(&mut self, request: &PreparedRequest, reply: Reply) {
        let Some(parts) = RequestParts::from_request(request) else { return };
        let known =
            self.stubs.rules.iter().find(|it| it.method == parts.method && parts.is_at(&it.url));
        let known = known.and_then(|it| it.response(&parts, false)?.parse::<usize>().ok());
        let is_same = |at: usize| {
            self.seen.get(at).is_some_and(|it| (it.status, &it.body) == (reply.status, &reply.body))
        };
        if known.is_some_and(is_same) {
            return;
        }
        let marks: BTreeMap<_, _> = parts
            .values
            .into_iter()
            .filter(|(part, _)| !part.starts_with("header:") && !part.starts_with("path:"))
            .collect();
        self.seen.push(reply);
        // Before the rules that say less.
        self.stubs.rules.insert(
            0,
            Rule {
                method: parts.method,
                url: bare(&request.url).to_owned(),
                is: BTreeMap::new(),
                outside_session: None,
                needs: Vec::new(),
                answers: Vec::new(),
                default: Some(name(self.seen.len() - 1)),
            },
        );
        self.marks.insert(0, marks);
    }
}
