//! Words for things that data is about. What stands under such a name is theirs: the number of a vehicle, the address of a song,
//! the preview of a picture.

use std::{collections::BTreeSet, sync::LazyLock};

/// Whether a name that ends in this word names a thing.
pub fn is_thing(word: &str) -> bool {
    static ALL: LazyLock<BTreeSet<&str>> = LazyLock::new(|| set(THINGS));
    // Compounds: `minithumbnail`.
    ["thumbnail", "preview", "placeholder"].iter().any(|it| word.ends_with(it))
        || ALL.contains(word)
}

/// Whether a name that ends in this word is about it, though a word of secrets stands before: in English the last noun is what
/// is meant. Rules of passwords, measures, coins, the programme of a session, what a cookie tastes of.
pub fn is_about(word: &str) -> bool {
    static ALL: LazyLock<BTreeSet<&str>> = LazyLock::new(|| set(ABOUT));
    ALL.contains(word)
}

/// Whether a word names a picture.
pub fn is_picture(word: &str) -> bool {
    PICTURES.split_ascii_whitespace().any(|it| it == word)
}

fn set(words: &'static str) -> BTreeSet<&'static str> {
    words.split_ascii_whitespace().collect()
}

/// Whether a name whose words these are names what a picture looks like: `preview_data`, `thumbBase64`.
pub fn is_pictured(words: &[String]) -> bool {
    let any = |list: &str, word: &str| list.split_ascii_whitespace().any(|it| it == word);
    words.last().is_some_and(|it| any(CONTENTS, it)) && words.iter().any(|it| any(PICTURES, it))
}

/// Whether a name says that what a page asks for is packed into its value: `trackingParams`, `continuation_params`.
pub fn is_packed(words: &[String]) -> bool {
    words.len() > 1 && words.last().is_some_and(|it| it == "params" || it == "param")
}

/// Kinds of numbers that things have. They say nothing of a word before them: a card's number is none of these.
pub fn is_number(word: &str) -> bool {
    matches!(word, "number" | "num" | "no" | "nr" | "serial" | "sequence" | "seq")
}

const PICTURES: &str = "preview thumb thumbs thumbnail placeholder blur blurhash thumbhash lqip image img picture photo poster cover \
    banner avatar logo icon artwork still sprite snapshot waveform";
const CONTENTS: &str =
    "data payload encoded base64 base b string bytes blob raw value uri content hash";

/// Media, trade, transport, places, what people say to each other, documents, ledgers, places in a list.
const THINGS: &str = "video videos clip track song album playlist artist channel episode season show movie film series podcast media \
    asset playback image images picture photo photos thumbnail thumb preview placeholder blurhash thumbhash lqip poster cover banner \
    avatar logo icon gallery artwork still frame snapshot waveform peaks spectrogram sprite storyboard trailer audio sound transcript caption subtitle \
    lyrics stream broadcast \
    product products item items sku variant listing offer deal catalog catalogue collection category brand seller merchant shop order \
    orders shipment parcel package tracking delivery receipt refund barcode ean gtin upc isbn asin mpn lot bundle bid auction \
    vin vehicle car chassis engine fleet trip ride route leg flight aircraft vessel ship train container cargo booking seat valve \
    place venue location city region station stop airport property building house room unit site area zone garden restaurant hotel \
    post tweet status story reel comment reply message thread conversation board card community page profile author creator \
    owner member follower topic mention emoji sticker gif poll feed activity review rating \
    document doc file files folder section paragraph chapter article book record row cell sheet table node edge element object \
    entity reference ref parent child root leaf block layer shape model component template widget \
    wallet transaction tx txid contract cid ipfs nft iban bic lei isin cusip \
    marker anchor pointer offset next prev previous \
    event match game team player league race score recipe ingredient gene protein molecule compound sample specimen sensor device \
    santa";

const ABOUT: &str = "rules requirements complexity attempts lifetime age changed protected expired revoked locked blocked manager page \
    standard category tag tags summary abstract language languages lang locale currency percent ratio total average left out \
    usd supply holders ring logo theme topic topics genre location speaker speakers replay storage model plan role roles \
    permission permissions reason reminder notification notifications shortcut brand flavour flavor ingredient ingredients \
    menu law drink dish recipe move look bond phase stage steps weight width height distance speed";
