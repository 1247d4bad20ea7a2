//! The unusual ways to ask and to answer, each with what it wants and what it refuses.

use reqwest::Client;
use serde_json::{Value, json};

use super::{client, json_of, url};
use crate::Testbed;

#[tokio::test]
async fn calls_by_get_depend_on_their_parameter_and_find_nothing_for_zzz() {
    let testbed = Testbed::start(0).await.unwrap();
    let client = client(&testbed);
    // The call with `{}` for the parameter, and where its list is.
    for (call, list) in [
        ("gallery.test/api/photos?q={}", "/photos"),
        ("crier.test/api/posts?text={}", "/posts"),
        ("museum.test/api/objects?q={}", "/objects"),
        ("api.seedbank.test/v3/packets?q={}", "/packets"),
        ("xn--bcher-kva.test/suche.json?titel={}", "/bücher"),
        ("notices.test/api/notices?q={}", "/notices"),
        ("stock.test/api/pictures?tag={}&tag=pier", "/pictures"),
        ("stock.test/api/pictures?tag=pier&tag={}", "/pictures"),
        ("hotels.test/api/hotels?place={}", "/hotels"),
        ("plants.test/api/similar?name={}", "/items"),
        ("portal.test/api/v1/products?q={}", "/data"),
        ("portal.test/api/v1/users?q={}", "/data"),
        ("portal.test/api/v1/orders?q={}", "/data"),
        ("walks.test/c/{}/walks.json", "/walks"),
        ("coins.test/api/finds?query={}", "/finds"),
        ("ferries.test/api/crossings?island={}", "/crossings"),
        ("species.test/api/live?name={}", "/birds"),
    ] {
        let get = async |value: &str| {
            let request = client.get(url(&testbed, &call.replace("{}", value)));
            json_of(request.header("x-requested-with", "XMLHttpRequest")).await
        };
        let items = |answer: &Value| answer.pointer(list).unwrap().as_array().unwrap().clone();
        let (status, amber) = get("amber").await;
        assert_eq!(status, 200, "{call}");
        assert!(!items(&amber).is_empty(), "{call}");
        assert_eq!(amber, get("amber").await.1, "{call}: same again");
        assert_ne!(items(&amber), items(&get("copper").await.1), "{call}: other");
        assert!(items(&get("zzz-amber").await.1).is_empty(), "{call}: zzz");
    }
}

async fn post(client: &Client, at: String, body: Value) -> (u16, Value) {
    let (status, answer) = json_of(client.post(at).body(body.to_string())).await;
    (status.as_u16(), answer)
}

#[tokio::test]
async fn json_rpc_answers_by_method_and_in_batches() {
    let testbed = Testbed::start(0).await.unwrap();
    let client = client(&testbed);
    let call = |method: &str, name: &str| json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": { "name": name } });
    let ledger = async |body| post(&client, url(&testbed, "ledger.test/rpc"), body).await.1;
    let firms = ledger(call("companies.find", "mercator")).await;
    assert_eq!(firms["id"], 7);
    assert!(firms["result"]["companies"][0]["name"].as_str().unwrap().contains("Mercator"));
    assert_eq!(ledger(call("companies.find", "zzz")).await["result"]["companies"], json!([]));
    assert_eq!(ledger(call("companies.find", " ")).await["error"]["code"], -32602);
    assert_eq!(ledger(call("companies.sell", "x")).await["error"]["code"], -32601);
    assert_eq!(ledger(json!({ "method": "rates.latest" })).await["error"]["code"], -32600);

    let batch = json!([call("user.current", ""), call("vessels.search", "north star")]);
    let (_, answers) = post(&client, url(&testbed, "harbour.test/services"), batch).await;
    let alone = call("vessels.search", "north star");
    let (_, alone) = post(&client, url(&testbed, "harbour.test/services"), alone).await;
    assert_eq!((&answers[1], answers.as_array().unwrap().len()), (&alone, 2));
    assert!(!alone["result"]["vessels"].as_array().unwrap().is_empty());
}

#[tokio::test]
async fn cursors_lead_to_the_end_and_belong_to_their_query() {
    let testbed = Testbed::start(0).await.unwrap();
    let client = client(&testbed);
    let get = async |rest: String| json_of(client.get(url(&testbed, &rest))).await;
    let start = "gallery.test/api/photos?q=ferry".to_owned();
    let (mut call, mut plates) = (start.clone(), 0);
    let total = loop {
        let (_, page) = get(call).await;
        plates += page["photos"].as_array().unwrap().len();
        match page["next_cursor"].as_str() {
            Some(cursor) => call = format!("{start}&cursor={cursor}"),
            None => break page["total"].as_u64().unwrap(),
        }
    };
    assert_eq!(plates as u64, total);
    let (_, other) = get("gallery.test/api/photos?q=harvest".to_owned()).await;
    let foreign = other["next_cursor"].as_str().unwrap();
    assert_eq!(get(format!("{start}&cursor={foreign}")).await.0, 400);

    let posts = "crier.test/api/posts?text=parking&limit=6".to_owned();
    assert_eq!(get(posts.clone()).await.0, 400, "without X-Requested-With");
    let offset = async |at: u32| {
        let request = client.get(url(&testbed, &format!("{posts}&offset={at}")));
        json_of(request.header("x-requested-with", "XMLHttpRequest")).await.1
    };
    assert_ne!(offset(0).await["posts"][0], offset(6).await["posts"][0]);
}

#[tokio::test]
async fn chained_calls_want_what_the_first_one_gave() {
    let testbed = Testbed::start(0).await.unwrap();
    let client = client(&testbed);
    let get = async |rest: &str, token: &str| {
        json_of(client.get(url(&testbed, rest)).header("x-token", token)).await
    };
    let (_, session) = get("transit.test/session.json", "").await;
    let token = session["token"].as_str().unwrap();
    assert_ne!(get("transit.test/session.json", "").await.1["token"], token);
    let (status, stops) = get("transit.test/api/stops?name=old+mill", token).await;
    assert_eq!(status, 200);
    assert!(stops["stops"][0]["label"].as_str().unwrap().starts_with("Old Mill"));
    assert_eq!(get("transit.test/api/stops?name=old+mill", "").await.0, 403);

    let id = async |name: &str| {
        get(&format!("parts.test/api/find?q={name}"), "").await.1["best"]["id"].clone()
    };
    let flywheel = id("flywheel").await;
    let (status, sheet) =
        get(&format!("parts.test/detail/{}", flywheel.as_str().unwrap()), "").await;
    assert_eq!((status.as_u16(), &sheet["id"]), (200, &flywheel));
    assert_ne!(id("belt").await, flywheel);
    assert_eq!(id("zzz").await, Value::Null);
    assert_eq!(get("parts.test/detail/flywheel", "").await.0, 404);
}

#[tokio::test]
async fn wrapped_json_and_other_formats() {
    let testbed = Testbed::start(0).await.unwrap();
    let client = client(&testbed);
    let get = async |rest: &str| {
        client.get(url(&testbed, rest)).send().await.unwrap().bytes().await.unwrap().to_vec()
    };
    let text = async |rest: &str| String::from_utf8(get(rest).await).unwrap();

    let script = text("atlas.test/places/lookup?q=sandy+bay&callback=cb_1").await;
    let inner = script.strip_prefix("/**/cb_1(").and_then(|it| it.strip_suffix(");")).unwrap();
    let places: Value = serde_json::from_str(inner).unwrap();
    assert!(places["geonames"][0]["name"].as_str().unwrap().contains("Sandy Bay"));
    assert!(text("atlas.test/places/lookup?q=x&callback=alert(1)").await.contains("error"));

    let guarded = text("bonds.test/_/data/bonds?issuer=waterworks").await;
    let bonds: Value = serde_json::from_str(guarded.strip_prefix(")]}'\n").unwrap()).unwrap();
    assert!(!bonds["result"]["bonds"].as_array().unwrap().is_empty());

    let lines = text("quakes.test/export/tremors.ndjson?region=etna").await;
    assert!(lines.lines().count() >= 7);
    for line in lines.lines() {
        assert!(serde_json::from_str::<Value>(line).unwrap()["magnitude"].is_f64());
    }
    assert!(get("quakes.test/export/tremors.ndjson?region=zzz").await.is_empty());

    let stream = text("buses.test/live/departures?stop=hospital").await;
    assert!(stream.matches("event: bus\n").count() >= 7);
    assert!(
        text("buses.test/live/departures?stop=zzz").await.ends_with("event: done\ndata: 0\n\n")
    );

    let message = get("molecules.test/v1/compounds:search?name=acetate").await;
    // Field 1, length-delimited; within it the same, which is the name.
    assert_eq!((message[0], message[2]), (0x0a, 0x0a));
    assert!(message.windows(7).any(|it| it == b"acetate"));
    assert_eq!(get("molecules.test/v1/compounds:search?name=zzz").await, [0x10, 0]);
}

#[tokio::test]
async fn sockets_open_only_when_asked() {
    let testbed = Testbed::start(0).await.unwrap();
    let client = client(&testbed);
    let plain = client.get(url(&testbed, "ticker.test/feed"));
    assert_eq!(json_of(plain).await.0, 426);
    let upgrade = client
        .get(url(&testbed, "ticker.test/feed"))
        .header("connection", "upgrade")
        .header("upgrade", "websocket")
        .header("sec-websocket-version", "13")
        // The example of RFC 6455, section 1.3.
        .header("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==");
    let response = upgrade.send().await.unwrap();
    assert_eq!(response.status(), 101);
    assert_eq!(response.headers()["sec-websocket-accept"], "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

#[tokio::test]
async fn refusals_say_what_they_are() {
    let testbed = Testbed::start(0).await.unwrap();
    let client = client(&testbed);
    let get = async |rest: &str| client.get(url(&testbed, rest)).send().await.unwrap();
    for call in ["auction.test/api/lots?q=spoons", "auction.test/catalogue?sale=S-114"] {
        let challenge = get(call).await;
        assert_eq!(challenge.status(), 403);
        assert_eq!(challenge.headers()["cf-mitigated"], "challenge");
        assert!(challenge.text().await.unwrap().contains("not a robot"));
    }
    let slots = client.post(url(&testbed, "clinic.test/api/slots/search")).body("{}");
    let slots = slots.send().await.unwrap();
    assert_eq!(slots.status(), 401);
    assert!(slots.headers()["www-authenticate"].to_str().unwrap().starts_with("Bearer"));

    for _ in 0..2 {
        get("museum.test/").await;
        let early = get("museum.test/api/objects?q=cuckoo").await;
        assert_eq!(
            (early.status().as_u16(), &early.headers()["retry-after"]),
            (429, &"1".parse().unwrap())
        );
        assert_eq!(get("museum.test/api/objects?q=cuckoo").await.status(), 200);
        assert_eq!(get("museum.test/api/objects?q=marine").await.status(), 200);
    }

    let redirect = get("seeds.test/api/search?q=climbing+bean").await;
    assert_eq!(redirect.headers()["location"], "//api.seedbank.test/v3/packets?q=climbing+bean");
    let first = get("notices.test/api/notices?q=footpath").await;
    let tag = first.headers()["etag"].clone();
    let again = |call: &str| client.get(url(&testbed, call)).header("if-none-match", &tag).send();
    assert_eq!(again("notices.test/api/notices?q=footpath").await.unwrap().status(), 304);
    assert_eq!(again("notices.test/api/notices?q=felling").await.unwrap().status(), 200);
}

#[tokio::test]
async fn typed_values_must_be_of_their_type() {
    let testbed = Testbed::start(0).await.unwrap();
    let client = client(&testbed);
    for (call, status, list) in [
        (
            "cabins.test/api/availability?check_in=2025-07-04&check_out=2025-07-11",
            200,
            Some("/cabins"),
        ),
        ("cabins.test/api/availability?check_in=2025-07-04&check_out=2025-06-30", 200, None),
        ("cabins.test/api/availability?check_in=4+July&check_out=2025-07-11", 422, None),
        ("cabins.test/api/availability?check_out=2025-07-11", 400, None),
        ("bikes.test/api/bikes?min_price=120&max_price=480", 200, Some("/bikes")),
        ("bikes.test/api/bikes?min_price=120&max_price=cheap", 422, None),
        ("bikes.test/api/bikes?min_price=120", 400, None),
        ("wines.test/api/wines?colour=red&taste=dry", 200, Some("/wines")),
        ("wines.test/api/wines?colour=Red&taste=dry", 422, None),
        ("stock.test/api/pictures", 400, None),
        ("quay.test/api/landings?cat=12&when=t", 200, Some("/lots")),
        ("quay.test/api/landings?cat=Whole+fish&when=Today", 422, None),
    ] {
        let (got, answer) = json_of(client.get(url(&testbed, call))).await;
        assert_eq!(got, status, "{call}");
        let items = list.map(|list| answer.pointer(list).unwrap().as_array().unwrap().len());
        assert!(items.is_none_or(|it| it > 0), "{call}");
    }
    let boats =
        async |body| post(&client, url(&testbed, "boats.test/api/boats/search"), body).await;
    let (status, four) = boats(json!({ "berths": 4, "budget": { "per_day": 240 } })).await;
    assert_eq!(status, 200);
    for (berths, per_day) in [(6, 240), (4, 310)] {
        let other = boats(json!({ "berths": berths, "budget": { "per_day": per_day } })).await.1;
        assert_ne!(other["boats"], four["boats"], "{berths} {per_day}");
    }
    assert_eq!(boats(json!({ "berths": "4", "budget": { "per_day": 240 } })).await.0, 422);
}

#[tokio::test]
async fn values_inside_values() {
    let testbed = Testbed::start(0).await.unwrap();
    let client = client(&testbed);
    let grants = async |form: &'static str| {
        json_of(client.post(url(&testbed, "grants.test/ajax")).body(form)).await
    };
    let (status, found) =
        grants("action=find_grants&payload=%7B%22topic%22%3A%22choir%22%7D").await;
    assert_eq!(status, 200);
    assert!(found["data"]["grants"][0]["title"].as_str().unwrap().contains("Choir"));
    assert_eq!(grants("payload=%7B%22topic%22%3A%22choir%22%7D").await.0, 400);
    assert_eq!(grants("action=find_grants&payload=choir").await.0, 400);

    let filter = "filter=%7B%22species%22%3A%7B%22like%22%3A%22lime%22%7D%7D";
    let trees = async |query: &str| {
        json_of(client.get(url(&testbed, &format!("trees.test/rest/trees?{query}")))).await
    };
    assert!(
        !trees(&format!("{filter}&api_version=2")).await.1["data"].as_array().unwrap().is_empty()
    );
    assert_eq!(trees(filter).await.0, 400);
    assert_eq!(trees("filter=lime&api_version=2").await.0, 400);

    let videos =
        async |body| post(&client, url(&testbed, "videos.test/lanternapi/v1/search"), body).await;
    let context = json!({ "client": { "clientName": "WEB", "clientVersion": "2" } });
    let (status, found) = videos(json!({ "context": context, "query": "sourdough" })).await;
    assert_eq!(status, 200);
    assert_ne!(found["estimatedResults"], "0");
    assert_eq!(videos(json!({ "query": "sourdough" })).await.0, 400);

    let log = json!({ "query": "ravenna", "results": [{ "name": "x" }] });
    let (_, echo) = post(&client, url(&testbed, "hotels.test/api/log"), log.clone()).await;
    assert_eq!(echo["received"], log);

    let pledge = json!({ "name": "B. Walker", "pledge": "bus" });
    let sign =
        async || post(&client, url(&testbed, "pledge.test/v1/pledges"), pledge.clone()).await;
    assert_eq!((sign().await.0, sign().await.1["id"].as_u64()), (201, Some(2)));
}

#[tokio::test]
async fn persisted_queries_are_known_by_their_hash_alone() {
    let testbed = Testbed::start(0).await.unwrap();
    let client = client(&testbed);
    let script = client.get(url(&testbed, "films.test/_next/films.js")).send().await.unwrap();
    let script = script.text().await.unwrap();
    let hash = |operation: &str| {
        let (_, rest) = script.split_once(&format!("{operation}: '")).unwrap();
        rest[..64].to_owned()
    };
    let ask = async |hash: String, variables: Value| {
        let extensions = json!({ "persistedQuery": { "version": 1, "sha256Hash": hash } });
        let body = json!({ "variables": variables, "extensions": extensions });
        let by_post = post(&client, url(&testbed, "films.test/graphql"), body).await;
        let query = url::form_urlencoded::Serializer::new(String::new())
            .append_pair("variables", &variables.to_string())
            .append_pair("extensions", &extensions.to_string())
            .finish();
        let (status, by_get) =
            json_of(client.get(url(&testbed, &format!("films.test/graphql?{query}")))).await;
        assert_eq!(by_post, (status.as_u16(), by_get));
        by_post
    };
    let (status, films) =
        ask(hash("FilmSearch"), json!({ "title": "paper moon", "first": 3 })).await;
    assert_eq!((status, films["data"]["films"]["nodes"].as_array().unwrap().len()), (200, 3));
    let (_, people) = ask(hash("PeopleSearch"), json!({ "name": "zzz" })).await;
    assert_eq!(people["data"]["people"], json!({ "total": 0, "nodes": [] }));
    assert_eq!(ask(hash("FilmSearch"), json!({ "name": "paper moon" })).await.0, 400);
    let unknown = ask("0".repeat(64), json!({ "title": "paper moon" })).await;
    assert_eq!(
        (unknown.0, &unknown.1["errors"][0]["message"]),
        (400, &json!("PersistedQueryNotFound"))
    );
}

#[tokio::test]
async fn documents_carry_tables_and_states() {
    let testbed = Testbed::start(0).await.unwrap();
    let client = client(&testbed);
    let flats = async |form: &'static str| {
        let response = client.post(url(&testbed, "lettings.test/flats/find")).body(form).send();
        let response = response.await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    };
    let (status, page) = flats("town=Kaunas&radius=5").await;
    assert_eq!((status, page.matches(r#"<tr class="flat">"#).count() >= 7), (200, true));
    assert_eq!(flats("town=zzz").await.1.matches(r#"<tr class="flat">"#).count(), 0);
    assert_eq!(flats("radius=5").await.0, 400);

    let shows =
        client.get(url(&testbed, "podcasts.test/search?term=geology")).send().await.unwrap();
    let shows = shows.text().await.unwrap();
    let (_, state) = shows.split_once("window.__INITIAL_STATE__ = ").unwrap();
    let state: Value = serde_json::from_str(state.split_once(";</script>").unwrap().0).unwrap();
    assert!(state["search"]["shows"][0]["title"].as_str().unwrap().contains("Geology"));

    let finds = client.get(url(&testbed, "coins.test/api/finds?query=denarius"));
    let (_, finds) = json_of(finds).await;
    let finds = finds["finds"].as_array().unwrap();
    let some = |test: fn(&Value) -> bool| finds.iter().any(test) && !finds.iter().all(test);
    assert!(some(|it| it["mint"].is_null()) && some(|it| it.get("image").is_none()));
}

#[tokio::test]
async fn calls_hang_on_more_than_their_parameters() {
    let testbed = Testbed::start(0).await.unwrap();
    let client = client(&testbed);
    let page = client.get(url(&testbed, "almanac.test/")).send().await.unwrap().text().await;
    let (_, rest) = page.as_deref().unwrap().split_once(r#""buildId":""#).unwrap();
    let build = rest.split('"').next().unwrap();
    for (build, query, status) in [(build, "q=moon", 200), (build, "", 400), ("old", "q=moon", 404)]
    {
        let call = format!("almanac.test/_data/{build}/search.json?{query}");
        assert_eq!(json_of(client.get(url(&testbed, &call))).await.0, status, "{call}");
    }

    let lights = async |accept: &str| {
        let request = client.get(url(&testbed, "lights.test/lights?q=gull"));
        request.header("accept", accept).send().await.unwrap().text().await.unwrap()
    };
    let list: Value = serde_json::from_str(&lights("application/json").await).unwrap();
    assert!(list["lights"][0]["name"].as_str().unwrap().starts_with("Gull"));
    assert!(lights("*/*").await.starts_with("<!doctype html>"));

    let words = async |body: &'static str| {
        json_of(client.post(url(&testbed, "thesaurus.test/lookup")).body(body)).await
    };
    let (status, quiet) = words("quiet").await;
    assert_eq!(status, 200);
    assert_ne!(quiet["words"], words("worn out").await.1["words"]);
    assert_eq!(words("zzz").await.1["words"], json!([]));
    assert_eq!(words(" ").await.0, 400);
}

#[tokio::test]
async fn traps_write_run_out_or_ignore() {
    let testbed = Testbed::start(0).await.unwrap();
    let client = client(&testbed);
    let get = async |rest: &str| json_of(client.get(url(&testbed, rest))).await;
    for count in 1..=2 {
        assert_eq!(get("basket.test/cart/add?item=rye").await.1["count"], count);
    }
    let review = async |operation: &str| {
        let body = json!({ "operationName": operation, "variables": { "text": "Good soup" } });
        post(&client, url(&testbed, "reviews.test/api/graphql"), body).await.1
    };
    assert_eq!(review("Reviews").await["data"]["reviews"].as_array().unwrap().len(), 5);
    assert_eq!(review("AddReview").await["data"]["addReview"]["review"]["id"], 3);
    assert_eq!(get("control.test/orders").await.1["orders"], 3);

    let page = client.get(url(&testbed, "ballot.test/")).send().await.unwrap().text().await;
    let (_, rest) = page.as_deref().unwrap().split_once(r#"name="form-nonce" content=""#).unwrap();
    let call =
        format!("ballot.test/api/candidates?name=moss&nonce={}", rest.split('"').next().unwrap());
    let (status, answer) = get(&call).await;
    assert_eq!((status.as_u16(), get(&call).await.0.as_u16()), (200, 403));
    let next = answer["next_nonce"].as_str().unwrap();
    let (_, again) = get(&format!("ballot.test/api/candidates?name=moss&nonce={next}")).await;
    assert_eq!(again["candidates"], answer["candidates"]);

    // The signatures are those of the page's script.
    for (call, status) in [
        ("fares.test/api/fares?to=Ghent&sig=c97408c8", 200),
        ("fares.test/api/fares?to=Malm%C3%B6&sig=c9dce34f", 200),
        ("fares.test/api/fares?to=Porto&sig=c97408c8", 403),
        ("fares.test/api/fares?to=Ghent", 403),
    ] {
        assert_eq!(get(call).await.0, status, "{call}");
    }
    let counsel =
        async |question: &str| get(&format!("oracle.test/api/counsel?question={question}")).await.1;
    assert_eq!(counsel("when").await, counsel("where").await);
    assert_eq!(counsel("zzz").await["counsel"], json!([]));
}
