//! The file that a session ended in.

use super::signals::last_action;
use commis_artifacts::recording::{
    Action, BlockedRequest, Exchange, ResourceType, SessionRecording,
};
use commis_base::error::Code;
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

/// The address of the file that the last action was refused to save, where no request of it was seen: its link says that it is saved,
/// or a script made it.
pub fn unseen_download<'a>(
    blocked: &'a [BlockedRequest],
    mut asked_after: impl Iterator<Item = Option<u32>>,
    actions: &[Action],
) -> Option<&'a str> {
    let last = last_action(actions)?;
    let is_saved = |it: &&BlockedRequest| it.code == Code::DownloadBlocked.as_str();
    let found = blocked.iter().rfind(is_saved)?;
    (!asked_after.any(|it| it == Some(last))).then_some(found.url.as_str())
}

/// Why nothing of the recording is what the last action was about: a file that no request gave.
pub fn lost_download(recording: &SessionRecording) -> Option<String> {
    let asked_after = recording.exchanges.iter().map(|it| it.after_action);
    let url = unseen_download(&recording.blocked, asked_after, &recording.actions)?;
    let made = if url.starts_with("http") {
        "could not be asked for again"
    } else {
        "was made by a script"
    };
    Some(format!("the session ended with saving a file, which {made}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::fixtures::{get, hits, session};

    #[test]
    fn a_file_that_no_request_gave() {
        let entries = vec![get("http://shop.test/find?q=lamp", &hits("lamp", "1"))];
        let mut recording = session(&[("q", "lamp")], "lamp", entries);
        let last = last_action(&recording.actions).unwrap();
        recording.exchanges[0].after_action = Some(last - 1);
        assert_eq!(lost_download(&recording), None);
        for (url, why) in [
            ("blob:http://shop.test/1", "by a script"),
            ("http://shop.test/a.csv", "asked for again"),
        ] {
            recording.blocked = vec![BlockedRequest {
                url: url.to_owned(),
                code: "DOWNLOAD_BLOCKED".to_owned(),
                reason: String::new(),
            }];
            assert!(lost_download(&recording).unwrap().contains(why));
        }
        // The last action asked for something.
        recording.exchanges[0].after_action = Some(last);
        assert_eq!(lost_download(&recording), None);
    }

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
