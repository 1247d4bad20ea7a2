//! Research on a topic: questions, each answered by a recipe or by browsing, and a report whose every sentence names its source.

use super::{
    ExecutionMode, HttpMethod, Kind, Meta, Operation, OperationContext, Spec, ToolExposure, row,
};
use crate::{
    agent_runs::research::{ResearchArgs, check, research},
    answer::ApiError,
    principal::{AccessRequirement, AccessRight, Area},
};
use commis_agent::research::ResearchReport;

pub fn rows(out: &mut Vec<Operation>) {
    out.push(
        row(
            Spec {
                name: "research",
                kind: Kind::Write,
                need: AccessRequirement::May(Area::Browse, AccessRight::Write),
                routes: &[(HttpMethod::Post, "/api/research")],
                tool: ToolExposure::All,
                length: ExecutionMode::Run,
                help: "Research a topic: a plan of questions, each answered by a recipe or by browsing, and a report in which every sentence names its source.\nA model plans, browses at the sites of `urls` and `hosts`, reading only, and writes; a sentence that does not stand in the sources that it names is left out. What was done is kept: with `resume` only the rest is done.",
            },
            call,
        )
        .checked(|args: ResearchArgs, _, _| check(&args)),
    );
}

async fn call(
    cx: OperationContext,
    it: ResearchArgs,
) -> Result<(ResearchReport, Meta), Box<ApiError>> {
    research(&cx, it).await
}
