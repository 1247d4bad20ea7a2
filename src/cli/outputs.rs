//! JSON Schema of what commands print with `--json`, by command, as `docs/reference/outputs.schema.json` has it. Tests of the program
//! hold real outputs to it (`tests/it/outputs.rs`).
//!
//! What the daemon answers is printed as it came, so its schema is that of the operation.

use serde_json::{Map, Value, json};

use super::{artifacts, check_row, doctor, dry_run, explain, heal, list, map, validate, verify};
use commis_learn::LearnResult;
use commis_recipe::model::Recipe;
use commis_runner::RecipeRunResult;
use commis_serve::operations::{TABLE, output_schema};
use commis_state::TaskRow;

/// Commands that print what an operation answers.
const OPERATIONS: &[(&str, &str)] = &[
    ("browse goto", "browse_goto"),
    ("browse snapshot", "browse_snapshot"),
    ("browse steps", "browse_steps"),
    ("browse close", "browse_close"),
    ("session record", "session_record"),
    ("session end", "session_end"),
    ("session ls", "session_list"),
    ("session show", "session_show"),
    ("session diff", "session_diff"),
    ("session audit", "session_audit"),
    ("session purge", "session_purge"),
];

pub fn schemas() -> Value {
    let mut out = Map::new();
    for (command, schema) in [
        ("recipe learn", output_schema::<LearnResult>()),
        ("recipe learn-batch, each line", output_schema::<commis_batch::EventLine<'_>>()),
        ("recipe map, each line", output_schema::<map::OutputLine<'_>>()),
        ("recipe run", output_schema::<RecipeRunResult>()),
        ("recipe list", output_schema::<Vec<list::Row<'_>>>()),
        ("recipe get", output_schema::<Recipe>()),
        ("recipe explain", output_schema::<explain::ExplainReport>()),
        ("recipe validate", output_schema::<validate::ValidateReport<'_>>()),
        ("recipe dry-run", output_schema::<dry_run::DryRunReport>()),
        ("recipe verify", output_schema::<Vec<verify::Row<'_>>>()),
        ("recipe check", output_schema::<Vec<check_row::Row>>()),
        ("recipe heal", output_schema::<Vec<heal::Row>>()),
        ("artifacts ls", output_schema::<Vec<TaskRow>>()),
        ("artifacts shared", output_schema::<artifacts::SharedReport<'_>>()),
        ("artifacts verify", output_schema::<artifacts::VerifyReport<'_>>()),
        ("doctor", output_schema::<Vec<doctor::Check>>()),
    ] {
        out.insert(command.to_owned(), schema);
    }
    for (command, operation) in OPERATIONS {
        let row = TABLE.iter().find(|it| it.spec.name == *operation).unwrap();
        out.insert((*command).to_owned(), row.output.clone());
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "description": "What each command prints with --json: see json-output.md. Of `recipe learn-batch` each line.",
        "$defs": out,
    })
}
