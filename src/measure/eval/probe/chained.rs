//! Rules for what a call needs from calls before it: the plain GETs that slots are filled from.

use std::collections::BTreeMap;

use super::{super::stubs::Rule, Prober, bare, name};
use commis_base::error::Result;
use commis_recipe::model::{Slot, SlotSource};
use commis_runner::slots;

/// Of a document that holds a token: what is kept before and after it.
const AROUND: usize = 200;

impl Prober<'_, '_> {
    /// Rules for the plain GETs that slots are filled from, and values that stand for a session's.
    pub(super) async fn learn_slots(&mut self, slots: &[Slot]) -> Result<()> {
        for slot in slots {
            let stand_in = format!("stub-{}", slot.name.replace('_', "-"));
            let key = match &slot.from {
                SlotSource::Live { placeholder } => format!("live:{placeholder}"),
                SlotSource::Cookie { name, .. } => format!("cookie:{name}"),
                SlotSource::Meta { name } => format!("meta:{name}"),
                SlotSource::Storage { area, key, .. } => format!("storage:{}:{key}", area.as_str()),
                SlotSource::Response { url, .. } | SlotSource::Document { url, .. } => {
                    let known = self.stubs.rules.iter().any(|it| it.url == bare(url));
                    if !known {
                        self.learn_chained(url, slot, &stand_in).await?;
                    }
                    continue;
                }
            };
            self.stubs.session.entry(key).or_insert(stand_in);
        }
        Ok(())
    }

    async fn learn_chained(&mut self, url: &str, slot: &Slot, stand_in: &str) -> Result<()> {
        let mut reply = None;
        let got = slots::fetch([slot], None, &self.cx.http, |it| reply = Some(it.clone())).await;
        let (Ok(values), Some(mut reply)) = (got, reply) else { return Ok(()) };
        let Some(value) = values.get(&slot.name) else { return Ok(()) };
        let text = String::from_utf8_lossy(&reply.body).replace(value.as_str(), stand_in);
        reply.body = match &slot.from {
            SlotSource::Document { after, until, .. } => {
                // The stretch that holds it; the rest of a page or script is of no use here.
                let (before, rest) = text.split_once(after.as_str()).unwrap_or(("", ""));
                let (value, beyond) = rest.split_once(until.as_str()).unwrap_or((rest, ""));
                let before = before.char_indices().rev().take(AROUND).last();
                let head = before.map_or("", |(at, _)| {
                    &text.split_once(after.as_str()).unwrap_or(("", "")).0[at..]
                });
                let tail: String = beyond.chars().take(AROUND).collect();
                format!("{head}{after}{value}{until}{tail}").into_bytes()
            }
            _ => text.into_bytes(),
        };
        self.seen.push(reply);
        self.stubs.rules.push(Rule {
            method: "GET".to_owned(),
            url: bare(url).to_owned(),
            is: BTreeMap::new(),
            outside_session: None,
            needs: Vec::new(),
            answers: Vec::new(),
            default: Some(name(self.seen.len() - 1)),
        });
        self.marks.push(BTreeMap::new());
        self.chained.push((slot.clone(), stand_in.to_owned()));
        Ok(())
    }
}
