//! What happens, to whoever watches: server-sent events with ids that grow, what was missed first.

use std::{convert::Infallible, sync::Arc};

use axum::response::sse::Event as Sse;
use futures::{Stream, StreamExt as _, stream};
use tokio::sync::broadcast::error::RecvError;

use super::{Daemon, task_database::Event};
use commis_base::error::Result;

/// The events of a task, or of all, after that id: first those that were missed, then as they come. Ends with the task, with the
/// daemon, and when it is not read. Fails with `RATE_LIMITED` when too many are open.
pub async fn stream(
    daemon: &Arc<Daemon>,
    is_scoped: bool,
    task: Option<String>,
    after: Option<i64>,
) -> Result<impl Stream<Item = Result<Sse, Infallible>> + use<>> {
    let place = daemon.events.place(is_scoped)?;
    // Listening begins before the past is read, so that nothing falls between.
    let coming = daemon.database.listen();
    // Whether it has ended is asked before: what ends it in the meantime is in the past then.
    let had_ended = match &task {
        Some(id) => daemon.database.task(id).await?.state.has_ended(),
        None => false,
    };
    // Without an id: a task from its beginning, all from now on.
    let past = match (after, &task) {
        (None, None) => Vec::new(),
        (after, task) => daemon.database.events_after(task.as_deref(), after.unwrap_or(0)).await?,
    };
    let ended = had_ended || task.is_some() && past.last().is_some_and(|it| is_end(&it.kind));
    let last = past.last().map_or(after.unwrap_or(0), |it| it.id);
    let stop = daemon.stop.clone();
    let rest =
        stream::unfold((coming, place, last, ended), move |(mut coming, place, last, ended)| {
            let (task, stop) = (task.clone(), stop.clone());
            async move {
                if ended {
                    return None;
                }
                loop {
                    let event = tokio::select! {
                        () = stop.cancelled() => return None,
                        it = coming.recv() => match it {
                            Ok(it) => it,
                            Err(RecvError::Lagged(_) | RecvError::Closed) => return None,
                        },
                    };
                    if event.id <= last || task.is_some() && event.task_id != task {
                        continue;
                    }
                    let over = task.is_some() && is_end(&event.kind);
                    let id = event.id;
                    return Some((event, (coming, place, id, over)));
                }
            }
        });
    Ok(stream::iter(past).chain(rest).map(|it| Ok(sse(&it))))
}

fn is_end(kind: &str) -> bool {
    matches!(kind, "done" | "failed" | "cancelled" | "interrupted")
}

fn sse(it: &Event) -> Sse {
    let data = serde_json::to_string(it).unwrap_or_default();
    Sse::default().id(it.id.to_string()).event(it.kind.as_str()).data(data)
}
