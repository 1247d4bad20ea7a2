//! A task's candidates as a table for the person who must choose.

use comfy_table::Table;

use super::{
    context::{self, clean},
    table::ruled_wide,
};
use commis_artifacts::{
    payloads::{Candidate, CandidateSet, Judged},
    recording::{Exchange, SessionRecording},
    store::TaskFolder,
};
use commis_base::{error::Result, ids::TaskId};

/// What each signal says when it speaks, for and against.
const WORDS: &[(&str, &str)] = &[
    ("typed_in_request", "carries what was typed"),
    ("visible_on_page", "the page showed its data"),
    ("shown_share", "the page showed much of it"),
    ("follows_input", "follows the second input"),
    ("echoes_input", "echoes the input"),
    ("after_action", "sent after the action"),
    ("holds_items", "holds the items that the page showed"),
    ("lacks_items", "lacks the items that the page showed"),
    ("task_values", "sends words of the task"),
    ("url_task_overlap", "URL speaks of the task"),
    ("task_host", "host named by the task"),
    ("task_keys", "answer's keys speak of the task"),
    ("body_task_overlap", "answer speaks of the task"),
    ("content_type", "is data by its type"),
    ("has_list", "holds a list"),
    ("json_richness", "rich in fields"),
    ("body_size", "of a fair size"),
    ("url_result_overlap", "URL speaks of results"),
    ("result_held", "holds what was given for an answer"),
    ("resource_type", "sent by a script"),
    ("initiator_stack", "sent by the page's code"),
    ("initiator_type", "sent by the page's code"),
    ("same_site", "same site"),
    ("api_path", "looks like an API"),
    ("latency", "took its time"),
    ("answer_values", "says much"),
    ("words_in_request", "request says words of the task"),
    ("words_in_keys", "answer's keys are words of the task"),
    ("words_in_answer", "answer says words of the task"),
    ("words_anywhere", "says words of the task"),
    ("names_in_request", "sends names that the task says"),
    ("names_in_answer", "answer says names of the task"),
    ("things_in_answer", "answer speaks of what the task asks for"),
    ("words_lead", "says more of the task than any other"),
    ("values_lead", "says more than any other"),
    ("tail_early", "path ends in what the task asks for first"),
    ("tail_named", "path ends in a word of the task"),
    ("tail_covered", "path ends in words of the task alone"),
    ("abbreviated", "abbreviates words of the task"),
    ("dates_in_request", "sends the task's date"),
    ("dates_in_answer", "answers with the task's date"),
    ("pairs_in_answer", "answer says words of the task"),
    ("kind_named", "items say that they are what is asked for"),
    ("id_named", "asks by the id that another answer gives a name of the task"),
    ("part_of_thing", "a part of the thing that the task names"),
    ("record_for_many", "one record, and the task asks for many things"),
    ("named_elsewhere", "another request ends in what the task names"),
    ("earlier_elsewhere", "another request ends in what the task asks for first"),
    ("other_kind", "items say that they are another kind of thing"),
    ("other_value", "gives another value to a name of the task"),
    ("typed_missing", "does not carry what was typed"),
    ("tail_unnamed", "path ends in a word that the task does not say"),
    ("part_beside", "asks for something beside the data"),
    ("unasked_values", "sends values that the task does not name"),
    ("crowded_site", "one of several answers of this site"),
    ("refused_lead", "what says more of the task was refused"),
    ("head_in_keys", "answer's keys name what is asked for"),
    ("refused_tail", "what ends in what the task asks for was refused"),
    ("one_of_many", "asks for one of the things of which the task asks for all"),
    ("no_list", "no list, and the task asks for many things"),
    ("head_missing", "does not name what is asked for"),
    ("value_missing", "lacks a value that the task names"),
    ("other_search", "searches for something else"),
    ("other_dates", "is of another time than the task"),
    ("other_collection", "names another kind of thing"),
    ("nouns_off", "names other things"),
    ("hands_out_token", "hands out a token"),
    ("telemetry", "measures visitors"),
    ("tracker_path", "looks like tracking"),
    ("housekeeping_path", "page housekeeping"),
    ("housekeeping_answer", "page housekeeping"),
    ("suggestion_path", "suggests while typing"),
    ("further_page", "a further page"),
    ("left_behind", "a page that was left for another"),
    ("static_path", "a file for everybody"),
    ("error_answer", "answers with an error"),
    ("cache_buster", "defeats caches"),
    ("lost_body", "its answer was lost"),
];

/// Prints the table and which command goes on; nothing when there are no candidates.
pub fn print(folder: &TaskFolder, id: &TaskId) -> Result<()> {
    let Ok(Judged::Done(set)) = folder.get::<Judged<CandidateSet>>() else { return Ok(()) };
    let recording: SessionRecording = folder.get()?;
    context::line(&table(&set, &recording)?.to_string());
    if let Some(doubt) = &set.doubt {
        context::line(&format!("the first is in doubt: {}", clean(doubt)));
    }
    context::say(&format!(
        "commis recipe create-from-candidate --task-id {id} --candidate N goes on with number N"
    ));
    Ok(())
}

fn table(set: &CandidateSet, recording: &SessionRecording) -> Result<Table> {
    let mut table =
        ruled_wide(["N", "score", "sure", "request", "type", "items", "for", "against"]);
    for it in &set.candidates {
        let exchange = recording.exchange(it.exchange)?;
        let operation = it.operation.as_ref().map(|it| format!(" #{it}")).unwrap_or_default();
        let url: String = it.url_summary.chars().take(70).collect();
        table.add_row([
            it.rank.to_string(),
            it.score_bp.to_string(),
            format!("{} %", (it.confidence_bp + 50) / 100),
            clean(&format!("{} {url}{operation}", it.method)),
            clean(&it.content_type),
            items(exchange).map(|it| it.to_string()).unwrap_or_default(),
            clean(&speaks(it, true)),
            clean(&against(it, exchange, recording)),
        ]);
    }
    Ok(table)
}

/// Length of the list that the page showed most of, else of the longest.
fn items(exchange: &Exchange) -> Option<u32> {
    let lists = exchange.measures.lists.iter();
    lists.max_by_key(|it| (it.items_visible, it.of_objects, it.len)).map(|it| it.len)
}

fn speaks(it: &Candidate, good: bool) -> String {
    let mut shares: Vec<(&String, i32)> =
        it.features.iter().map(|it| (it.0, *it.1)).filter(|it| (it.1 > 0) == good).collect();
    // Said with the names of what was typed.
    shares.retain(|it| it.0 != "typed_missing");
    shares.sort_by_key(|it| std::cmp::Reverse(it.1.abs()));
    let words: Vec<String> = shares.iter().take(4).map(|it| in_words(it.0)).collect();
    words.join(", ")
}

fn against(it: &Candidate, exchange: &Exchange, recording: &SessionRecording) -> String {
    let mut out = Vec::new();
    let hits = &exchange.measures.typed_in_request;
    for name in recording.typed.keys().filter(|name| hits.iter().all(|hit| hit.name != **name)) {
        out.push(format!("does not carry {name}"));
    }
    let signals = speaks(it, false);
    if !signals.is_empty() {
        out.push(signals);
    }
    out.join(", ")
}

fn in_words(signal: &str) -> String {
    let known = WORDS.iter().find(|it| it.0 == signal);
    known.map_or_else(|| signal.replace('_', " "), |it| it.1.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use commis_stages::WEIGHTS;

    #[test]
    fn every_signal_has_words() {
        let known: Vec<&str> = WORDS.iter().map(|it| it.0).collect();
        for (name, _) in WEIGHTS {
            assert!(known.contains(name), "{name} has no words");
        }
        assert_eq!(known.len(), WEIGHTS.len());
    }
}
