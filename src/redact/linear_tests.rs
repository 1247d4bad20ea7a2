//! Hostile texts of many kinds: how far the scans of redaction look grows as the texts do.

use super::{
    tests::{exchange, recording},
    *,
};
use commis_artifacts::recording::ResourceType;

/// A name, the type, and the text of about so many bytes.
type Hostile = (&'static str, &'static str, fn(usize) -> String);

fn kinds() -> Vec<Hostile> {
    fn rep(it: &str, n: usize) -> String {
        it.repeat(n / it.len())
    }
    fn each(n: usize, it: impl Fn(usize) -> String) -> String {
        let mut out = String::new();
        let mut i = 0;
        while out.len() < n {
            out.push_str(&it(i));
            i += 1;
        }
        out
    }
    vec![
        ("token=d&", "text/html", |n| rep("token=d&", n)),
        ("token:d;", "text/plain", |n| rep("token:d;", n)),
        ("form token=d&", "application/x-www-form-urlencoded", |n| rep("token=d&", n)),
        ("token=\"", "text/html", |n| rep("token=\"", n)),
        ("token=xé", "text/plain", |n| rep("token=xé", n)),
        ("token='\\", "text/javascript", |n| rep("token='\\", n)),
        ("metas", "text/html", |n| {
            each(n, |i| format!("<meta name=token{i} content='q9Zx{i}Kd81uw3mZ'>"))
        }),
        ("inputs one value", "text/html", |n| rep("<input name=csrf value='q9ZxKd81uw3mZ0pL'>", n)),
        ("quote unclosed", "text/html", |n| rep("<a \"'>", n)),
        ("<a ", "text/html", |n| rep("<a ", n)),
        ("<input a=", "text/html", |n| rep("<input a='", n)),
        ("attributes", "text/html", |n| format!("<p {}>x</p>", each(n, |i| format!("a{i} ")))),
        ("attributes of one input", "text/html", |n| format!("<input {}>x</p>", rep("a ", n))),
        ("<script>", "text/html", |n| rep("<script>", n)),
        ("</", "text/html", |n| format!("<script>{}", rep("</", n))),
        ("<!--", "text/html", |n| rep("<!--", n)),
        ("elements", "application/xml", |n| rep("<token>d</token>", n)),
        ("elements 2", "application/xml", |n| rep("<token>q9ZxKd81uw3mZ</token>", n)),
        ("&quot;", "text/html", |n| rep("&quot;token&quot;:&quot;a", n)),
        ("&", "text/html", |n| rep("&", n)),
        ("%25", "text/plain", |n| rep("%25", n)),
        ("%2525..", "text/plain", |n| {
            format!("token=q9ZxKd81uw3mZ0pL {}", rep("%252525252525", n))
        }),
        ("\\", "text/plain", |n| rep("\\", n)),
        ("BEGIN", "text/plain", |n| rep("-----BEGIN ", n)),
        ("BEGIN END", "text/plain", |n| format!("{}-----END x", rep("-----BEGIN ", n))),
        ("run", "text/plain", |n| rep("aB3dE5gH", n)),
        ("run=", "text/plain", |n| rep("aB3dE5gH9kL2mN4p=", n)),
        ("eyJ.", "text/plain", |n| rep("eyJhbGciOiJIUzI1NiJ9.", n)),
        ("json tokens", "application/json", |n| {
            format!("[{}0]", each(n, |i| format!("{{\"token\":\"q9Zx{i}Kd81uw3mZ\"}},")))
        }),
        ("json keys", "application/json", |n| {
            format!("{{{}\"z\":0}}", each(n, |i| format!("\"token{i}\":\"q9Zx{i}Kd81uw3mZ\",")))
        }),
        ("json secret keys", "application/json", |n| {
            format!(
                "{{\"token\":\"q9ZxKd81uw3mZ0pL\",{}\"z\":0}}",
                each(n, |i| format!("\"q9ZxKd81uw3mZ0pL{i}\":1,"))
            )
        }),
        ("json long key", "application/json", |n| {
            format!("{{\"{}\":[{}[]]}}", rep("k", n / 2), rep("[1],", n / 2))
        }),
        ("json long key objects", "application/json", |n| {
            format!("{{\"{}\":[{}{{}}]}}", rep("k", n / 2), rep("{\"a\":[1]},", n / 2))
        }),
        ("json in json", "application/json", |n| {
            let mut it = format!("[{}1]", rep("\"token=d\",", n / 8));
            for _ in 0..3 {
                it = serde_json::to_string(&vec![it]).unwrap();
            }
            it
        }),
        ("long almost", "application/json", |n| {
            format!("{{\"token\":\"{}X1\",\"b\":\"{}\"}}", rep("ab", n / 4), rep("ab", n / 2))
        }),
        ("long almost after", "application/json", |n| {
            format!("{{\"token\":\"{}X1\",\"b\":\"{}\"}}", rep("ab", n / 4), rep("abX", n / 2))
        }),
        ("prefixes", "application/json", |n| {
            let w = rep("aq", 3000);
            let m = ((n / 2) as f64).sqrt() as usize;
            format!(
                "{{\"tokens\":[{}\"x\"],\"b\":\"{}\"}}",
                (20..m.min(2500))
                    .map(|k| format!("\"{}!1\",", &w[..k]))
                    .collect::<Vec<_>>()
                    .concat(),
                rep("aq", n / 2)
            )
        }),
        ("cores", "application/json", |n| {
            use base64::Engine as _;
            let all = each(n, |i| {
                format!(
                    "\"{}\",",
                    base64::engine::general_purpose::STANDARD
                        .encode(format!("{i}q9ZxKd81uw3mZ0pLw2Vb{i}"))
                )
            });
            format!("{{\"token\":\"q9ZxKd81uw3mZ0pLw2Vb\",\"b\":[{all}1]}}")
        }),
        ("url", "application/json", |n| {
            format!("{{\"u\":\"https://a.example/{}\"}}", rep("reset/", n))
        }),
        ("url query", "application/json", |n| {
            format!("{{\"u\":\"https://a.example/?{}\"}}", rep("token=d&", n))
        }),
        ("url many", "application/json", |n| {
            format!("[{}1]", rep("\"https://a.example/?token=d\",", n))
        }),
        ("url @", "application/json", |n| format!("{{\"u\":\"x://{}\"}}", rep("a:b@", n))),
        ("semicolons", "application/json", |n| format!("{{\"u\":\"{}\"}}", rep("token=d;", n))),
        ("percent form", "application/json", |n| format!("{{\"u\":\"{}\"}}", rep("a%3Db%26", n))),
        ("ampersands", "application/json", |n| format!("{{\"u\":\"a=b{}\"}}", rep("&", n))),
        ("name words", "application/json", |n| {
            format!(
                "[{}1]",
                each(n, |i| format!(
                    "{{\"{}{i}\":\"abcdefghij\"}},",
                    "apikeyaccesskeyauthkeyapikeysessidapikeyauthke"
                ))
            )
        }),
        ("events", "text/event-stream", |n| rep("data: {\"token\":\"d\"}\n", n)),
        ("lines {", "text/event-stream", |n| rep("{\n", n)),
        ("formatting", "text/html", |n| each(n, |i| format!("<b a={i}><p>"))),
        ("b p", "text/html", |n| {
            format!("{}{}", each(n / 4, |i| format!("<b a={i}>")), rep("</p><p>x", n / 2))
        }),
        ("table text", "text/html", |n| format!("<table>{}", rep("x<b>", n))),
        ("divs", "text/html", |n| rep("<div><p>abc def</p></div>", n)),
        ("rows", "text/html", |n| format!("<table>{}</table>", rep("<tr><td>abc<td>12", n))),
        ("a a a", "application/json", |n| format!("[\"{}\"]", rep("red ", n))),
        ("assigned", "text/html", |n| format!("<script>{}</script>", rep("a={", n))),
        ("assigned 2", "text/html", |n| format!("<script>{}</script>", rep("a=[\"", n))),
        ("jsonp", "text/javascript", |n| rep("a&&", n) + "a({})"),
        ("codes", "text/plain", |n| rep("Your code is 482913. ", n)),
        ("codes html", "text/html", |n| rep("<p>Your code is</p><b>482913</b>", n)),
        ("recovery codes", "text/plain", |n| rep("recovery codes 12345-67890\n", n)),
        ("keys", "text/plain", |n| rep("scan JBSW Y3DP EHPK 3PXP or JBSWY3DPEHPK3PXP\n", n)),
        ("passwords", "text/plain", |n| rep("password is river.Harbor6650! ", n)),
        ("links", "text/plain", |n| rep("sign in https://a.test/x/8f14e45fceea167a5a36dedd ", n)),
        ("anchors", "text/html", |n| {
            rep("<a href=\"https://a.test/8f14e45fceea167a5a36dedd\">log in</a>", n)
        }),
        ("links without end", "text/plain", |n| rep("http://", n)),
        ("schemes", "text/plain", |n| rep("a+b.c-d", n) + "://x"),
        ("data", "text/html", |n| rep("data:image/svg+xml;base64,PHN2Zz4", n)),
        ("yaml", "application/yaml", |n| rep("a:\n  password:\n    key: q9ZxKd81uw3mZ\n", n)),
        ("yaml deep", "application/yaml", |n| {
            each(n, |i| format!("{}k{i}:\n", " ".repeat(i % 200)))
        }),
        ("table", "text/csv", |n| format!("name,api_token\n{}", rep("ann,q9ZxKd81uw3mZ0pL7\n", n))),
        ("table quoted", "text/csv", |n| format!("name,api_token\n\"{}", rep("ann,\"\"q9\n", n))),
        ("netrc", "text/plain", |n| rep("machine a login b password q9ZxKd81uw3mZ ", n)),
        ("commands", "text/plain", |n| rep("curl -u ann:q9ZxKd81uw3mZ ", n)),
        ("stored", "text/javascript", |n| rep("setItem('jwt','q9ZxKd81uw3mZ0pL')", n)),
        ("stored without end", "text/javascript", |n| rep("('a", n)),
        ("assigned values", "text/html", |n| format!("<script>{}</script>", rep("var a=\"", n))),
        ("pre", "text/html", |n| rep("<pre>", n)),
        ("bytes", "application/json", |n| format!("[{}1]", rep("72,", n))),
        ("pairs told", "application/json", |n| format!("[{}1]", rep("[\"token\",\"d\"],", n))),
        ("not json", "application/json", |n| rep("{\"a\":1}\n", n) + "x"),
    ]
}

/// What all scans of both passes look at, of a recording and of a document to share.
fn looked_at(mime: &str, body: &str) -> [u64; 2] {
    let kind = if mime == "text/html" { ResourceType::Document } else { ResourceType::Fetch };
    let mut raw = recording(vec![exchange("GET", "https://a.example/", kind, mime, body)]);
    raw.page.visible_text = "red ".repeat(500);
    let one = step_counter::count(|| drop(redact(raw, &RedactSettings::default())));
    let other = step_counter::count(|| {
        let mut it = Redactor::new(&RedactSettings::default());
        it.body(body, mime, Place::Answer);
        it.write();
        it.body(body, mime, Place::Answer);
    });
    [one, other]
}

#[test]
fn twice_as_long_is_twice_as_far() {
    const SIZE: usize = 8 * 1024;
    // One thread, since each counts its own.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(|| {
        for (name, mime, make) in kinds() {
            let [small, large] = [SIZE, 4 * SIZE].map(|n| looked_at(mime, &make(n)));
            for (small, large) in small.into_iter().zip(large) {
                // Lists that double in length are searched a little longer.
                assert!(large <= 6 * small + 40 * SIZE as u64, "{name}: {small} {large}");
                assert!(large <= 1500 * 4 * SIZE as u64, "{name}: {large}");
            }
        }
    });
}
