//! The file that a session ended in.

use super::signals::last_action;
use commis_artifacts::recording::{Exchange, ResourceType, SessionRecording};
use commis_recipe::model::Framing;

/// The exchange of the file that the last action downloaded. `None` where the session has an answer of its own.
pub fn last_download(recording: &SessionRecording) -> Option<u32> {
    let last = last_action(&recording.actions)?;
    let is_it = |it: &&Exchange| {
        it.framing == Some(Framing::File)
            && matches!(it.resource_type, ResourceType::Document | ResourceType::Iframe)
            && it.after_action == Some(last)
            && it.url != recording.page.url
    };
    let found = recording.exchanges.iter().rfind(is_it);
    found.filter(|_| recording.final_answer.is_none()).map(|it| it.id)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::fixtures::{get, hits, session};

    #[test]
    fn the_last_action_downloads_a_file() {
        let mut recording = session(
            &[("q", "lamp")],
            "lamp",
            vec![
                get("http://shop.test/find?q=lamp", &hits("lamp", "1")),
                get("http://shop.test/lamp.pdf", &json!({"name": "lamp.pdf", "size": 1})),
            ],
        );
        assert_eq!(last_download(&recording), None, "it is data");
        let file = &mut recording.exchanges[1];
        (file.framing, file.resource_type) = (Some(Framing::File), ResourceType::Document);
        assert_eq!(last_download(&recording), Some(1));
        // A page that shows the file, an earlier action, an answer that an agent gave.
        recording.page.url = "http://shop.test/lamp.pdf".to_owned();
        assert_eq!(last_download(&recording), None);
        recording.page.url = "http://shop.test/".to_owned();
        recording.exchanges[1].after_action = Some(0);
        assert_eq!(last_download(&recording), None);
        recording.exchanges[1].after_action = Some(1);
        recording.final_answer = Some("12 lamps".to_owned());
        assert_eq!(last_download(&recording), None);
    }
}
