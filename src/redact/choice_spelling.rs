//! Whether a choice is one: where each value is but its word in another spelling, the word tells it, and new words do.

use commis_artifacts::recording::Control;
use commis_recipe::template::Filter;
use url::Url;

/// What a choice of links that lead to different hosts is named by.
pub const HOST: &str = "//";

/// Whether a choice is the host of an address, or a label of it before the last two.
pub fn is_in_host(url: &Url, value: &str) -> bool {
    url.domain()
        .is_some_and(|host| host == value || host.rsplit('.').skip(2).any(|label| label == value))
}

/// One change makes every word into its value, or into the same part of it: `Deck` and `/group/deck`.
///
/// Of hosts only those are gone to that the page names, so that their words never tell them.
pub fn is_spelled(control: &Control) -> bool {
    if control.name == HOST {
        return false;
    }
    let chains = std::iter::once(&[] as &[Filter]).chain(Filter::CHAINS.iter().copied());
    // One word of several is not the choice: `north` of `North league`.
    let whole = |chain: &&[Filter]| chain.iter().all(|it| it.word().is_none());
    chains.filter(whole).any(|chain| {
        let rest = |label: &str, value: &str| -> Option<(String, String)> {
            let made = chain.iter().fold(label.to_owned(), |it, filter| filter.apply(&it));
            let (before, after) = value.split_once(made.as_str()).filter(|_| !made.is_empty())?;
            Some((before.to_owned(), after.to_owned()))
        };
        let mut rests = control.options.iter().map(|it| rest(&it.label, &it.value));
        let Some(Some(first)) = rests.next() else { return false };
        rests.all(|it| it.as_ref() == Some(&first))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use commis_artifacts::recording::ControlOption;

    #[test]
    fn words_that_tell_their_values() {
        let check = |pairs: &[(&str, &str)]| {
            let option = |it: &(&str, &str)| ControlOption {
                label: it.0.to_owned(),
                value: it.1.to_owned(),
            };
            is_spelled(&Control {
                options: pairs.iter().map(option).collect(),
                ..Control::default()
            })
        };
        assert!(check(&[("Upper Moor", "upper-moor"), ("Jämtland", "jamtland")]));
        assert!(check(&[("davit", "ships:davit"), ("fender", "ships:fender")]));
        assert!(!check(&[("Deck", "deck_3"), ("Galley", "galley_2")]));
        let hosts = [("Deck", "deck.ships.test"), ("Galley", "galley.ships.test")];
        assert!(check(&hosts));
        let options =
            hosts.iter().map(|it| ControlOption { label: it.0.into(), value: it.1.into() });
        assert!(!is_spelled(&Control {
            name: HOST.into(),
            options: options.collect(),
            ..Control::default()
        }));
        assert!(!check(&[("Fév", "02"), ("Mai", "05")]));
        assert!(!check(&[("North league", "north"), ("South league", "south")]));
    }
}
