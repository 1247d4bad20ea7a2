//! Research on a topic: questions, each answered by a recipe or by browsing, and a report whose every sentence names its source.

use super::{Asked, Kind, Length, Meta, Row, Spec, Tool, Verb, row};
use crate::{
    answer::Trouble,
    doing::research::{Wanted, check, research},
    principal::{Area, Need, Right},
};
use commis_agent::research::Researched;

pub fn rows(out: &mut Vec<Row>) {
    out.push(
        row(
            Spec {
                name: "research",
                kind: Kind::Write,
                need: Need::May(Area::Browse, Right::Write),
                routes: &[(Verb::Post, "/api/research")],
                tool: Tool::All,
                length: Length::Run,
                help: "Research a topic: a plan of questions, each answered by a recipe or by browsing, and a report in which every sentence names its source.\nA model plans, browses at the sites of `urls` and `hosts`, reading only, and writes; a sentence that does not stand in the sources that it names is left out. What was done is kept: with `resume` only the rest is done.",
            },
            call,
        )
        .checked(|args: Wanted, _, _| check(&args)),
    );
}

async fn call(asked: Asked, it: Wanted) -> Result<(Researched, Meta), Box<Trouble>> {
    research(&asked, it).await
}
