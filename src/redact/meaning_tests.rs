//! Generated secrets in the places where their surroundings say what they are, beside values that look alike and are data:
//! how many of the one stay, and of the other go. Values are made of a seed; wordings of every other row are held back from
//! those that rules were made with.

use fastrand::Rng;
use serde_json::{Value, json};

use super::{class::Place, *};

const BASE62: &str = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const HEX: &str = "0123456789abcdef";
const BASE32: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const DIGITS: &str = "0123456789";
const LOWER: &str = "0123456789abcdefghijklmnopqrstuvwxyz";
const CAPITALS: &str = "BCDFGHJKLMNPQRSTVWXZ";

fn run(dice: &mut Rng, letters: &str, len: usize) -> String {
    let all: Vec<char> = letters.chars().collect();
    (0..len).map(|_| all[dice.usize(..all.len())]).collect()
}

/// As people choose them.
fn password(dice: &mut Rng) -> String {
    const WORDS: &[&str] = &["copper", "Harbor", "violet", "Meadow", "trout", "Winter"];
    const SIGNS: &[&str] = &[".", "_", "-", "+"];
    let pick = |dice: &mut Rng, all: &[&'static str]| all[dice.usize(..all.len())];
    let (a, b) = (pick(dice, WORDS), pick(dice, WORDS));
    format!("{a}{}{b}{}{}", pick(dice, SIGNS), dice.u32(1000..9999), pick(dice, &["!", "*", "?"]))
}

/// A kind, the type of the body, and the body; `{}` is where the secret stands.
type Row = (&'static str, &'static str, &'static str);

/// `%t` a token, `%h` hexadecimal, `%6` six digits, `%s` a key of an authenticator, `%p` a password, `%g` two groups of capitals.
const SECRETS: &[Row] = &[
    // What people read beside a value, or what a button copies.
    (
        "label %t",
        "html",
        "<label for=\"p\">Access token</label><input id=\"p\" type=text value=\"{}\">",
    ),
    ("label %t", "html", "<input readonly aria-label=\"Personal access token\" value=\"{}\">"),
    ("label %t", "html", "<button data-clipboard-text=\"{}\">Copy token</button>"),
    (
        "label %t",
        "html",
        "<clipboard-copy data-clipboard=\"{}\" title=\"Copy API key\"><svg></svg></clipboard-copy>",
    ),
    ("marked %p", "json", "**Username:** ann\\n**Password:** {}\\n"),
    ("marked %p", "json", "**Username**: ann\\n**Password**: `{}`\\n"),
    ("arrow %t", "text", "{:user=>\"ann\", :password=>\"{}\"}"),
    ("arrow %t", "text", "'user' => 'ann',\n'password' => '{}',\n"),
    ("wifi %t", "object", "{\"qr\":\"WIFI:T:WPA;S:Lamp;P:{};;\"}"),
    ("velvet orbit tundra mosaic", "object", "{\"passphrase\":\"{}\"}"),
    ("code %6", "object", "{\"door\":{\"access_code\":\"{}\"}}"),
    ("link %t", "html", "<p>Do not share: <a href=\"http://shop.test/l/{}\">open</a></p>"),
    // Without spaces, behind what is said, to be typed somewhere else, and not to be told.
    ("code %6", "json", "验证码：{}"),
    ("code %6", "json", "認証コードは{}です"),
    ("code %6", "json", "{} est votre code"),
    ("code %6", "json", "Enter {} to continue"),
    ("code %6", "json", "{} — enter this in the app to finish signing in"),
    ("code %6", "json", "Code: {}. Do not share it."),
    ("code %6", "json", "Door code: {}"),
    ("code %6", "html", "<p>Gate code {}#</p>"),
    ("code %6", "json", "Ihr Schließfachcode: {}"),
    ("code %6", "text", "Your code for the shop.\n\n@shop.test #{}"),
    ("wifi %t", "json", "The Wi-Fi key: {}"),
    ("wifi %p", "text", "WIFI:T:WPA;S:Lamp;P:{};;"),
    // Tables, terms, elements and attributes.
    (
        "cell %t",
        "html",
        "<table><tr><th>Name</th><th>API key</th></tr><tr><td>Prod</td><td>{}</td></tr></table>",
    ),
    (
        "cell %t",
        "html",
        "<table><tr><th>Key<td>x<tr><th>Access token<td><input readonly value=\"{}\"></table>",
    ),
    ("term %t", "html", "<dl><dt>Client secret</dt><dd><code>{}</code></dd></dl>"),
    ("named %t", "xml", "<resources><string name=\"api_key\">{}</string></resources>"),
    ("address %t", "html", "<p><a href=\"/(S(lit3py55t21z5v55vlm25s55))/next?token={}\">x</a></p>"),
    // Commands and settings.
    ("option %t", "text", "kubeadm join 10.0.0.1:6443 --token {} --x"),
    ("option %p", "text", "sshpass -p {} ssh ann@b.test"),
    ("shell %t", "text", "ConvertTo-SecureString \"{}\" -AsPlainText -Force"),
    ("sql %p", "text", "CREATE USER app IDENTIFIED BY '{}';"),
    ("stored %t", "html", "<script>localStorage[\"k\"]=\"{}\"</script>"),
    ("stored %t", "html", "<script>document.cookie='a='+'{}'+';path=/'</script>"),
    ("folded %t", "yaml", "client_secret:\n  {}\nname: x\n"),
    // Objects that say in two parts what one name says.
    ("object %t", "object", "{\"token\":{\"access\":\"{}\"}}"),
    (
        "object %t",
        "object",
        "{\"diff\":[{\"path\":[\"smtp\",\"password\"],\"lhs\":\"x\",\"rhs\":\"{}\"}]}",
    ),
    ("code %6", "json", "Your code is {}."),
    ("code %6", "json", "{} is your Lantern verification code"),
    ("code %6", "json", "Use {} to verify your phone number."),
    ("code %6", "json", "Dein Code lautet {}."),
    ("code %6", "json", "Ihr Bestätigungscode: {}"),
    ("code %6", "json", "Votre code de vérification est {}"),
    ("code %6", "json", "Voici votre code à usage unique : {}"),
    ("code %6", "json", "Tu código de verificación es {}."),
    ("code %6", "json", "O seu código de acesso é {}."),
    ("code %6", "json", "Il tuo codice di verifica è {}"),
    ("code %6", "json", "Je verificatiecode is {}"),
    ("code %6", "json", "Din verifieringskod är {}"),
    ("code %6", "json", "Twój kod weryfikacyjny to {}."),
    ("code %6", "json", "Váš ověřovací kód je {}"),
    ("code %6", "json", "Az ellenőrző kódod: {}"),
    ("code %6", "json", "Ваш код подтверждения: {}"),
    ("code %6", "json", "Doğrulama kodunuz: {}"),
    ("code %6", "json", "認証コード: {}"),
    ("code %6", "json", "您的验证码是 {}，请勿泄露"),
    ("code %6", "json", "인증번호 [{}]를 입력하세요"),
    ("code %6", "text", "인증번호 [{}]를 입력해 주세요."),
    ("code %6", "text", "Your verification code: [{}]."),
    ("code %6", "text", "Il codice per accedere è {}"),
    ("code %6", "text", "The code to sign in is {}."),
    ("mail server %p", "text", "[smtp.test]:587 ann:{}\n"),
    ("router %h", "text", "username ann password 7 {}\n"),
    ("router %t", "text", "enable secret 5 $1$abcd${}\n"),
    ("jar %t", "text", ".shop.test\tTRUE\t/\tTRUE\t1790000000\tsessionid\t{}\n"),
    ("define %t", "text", "define( 'AUTH_KEY',   '{}' );"),
    ("set %t", "text", "aws configure set aws_session_token {}"),
    ("option %t", "text", "keytool -list -storepass {}"),
    ("with %p", "text", "You can log in as ann with {}"),
    ("direct %p", "text", "user ann, password {}, port 22"),
    ("inflected %p", "text", "Passordet ditt er {}"),
    ("inflected %p", "text", "Uusi salasanasi on {}"),
    ("sign %p", "text", "您的新密码：{}"),
    ("sign %p", "text", "新しいパスワード：{}"),
    ("code %6", "text", "Giriş yapmak için {} kodunu girin"),
    ("pair %p", "text", "requests.get(u, auth=(\"ada\", \"{}\"))"),
    ("server %t", "text", "SetEnv API_KEY {}"),
    ("server %p", "text", "fastcgi_param DB_PASSWORD {};"),
    (
        "ppk %t",
        "text",
        "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nPublic-Lines: 1\nAAAA\nPrivate-Lines: 1\n{}\nPrivate-MAC: 0\n",
    ),
    ("code %6", "json", "رمز التحقق الخاص بك هو {}"),
    (
        "code %6",
        "html",
        "<table><tr><td>Enter this code to sign in:</td></tr><tr><td style=\"font-size:32px;color:#1a2b3c\"><b>{}</b></td></tr></table>",
    ),
    (
        "code %6",
        "html",
        "<p>Geben Sie diesen Bestätigungscode ein</p><h1>{}</h1><p>Er gilt zehn Minuten.</p>",
    ),
    ("pairing %g", "html", "<p>On your television, enter the pairing code <strong>{}</strong></p>"),
    (
        "seed %s",
        "html",
        "<p>Scan the picture with your authenticator app or type this key: <code>{}</code></p>",
    ),
    ("seed %s", "json", "If you cannot scan it, type {} into the app."),
    (
        "seed %s",
        "html",
        "<a href=\"otpauth://totp/Lantern:ann?secret={}&amp;issuer=Lantern\">open</a>",
    ),
    (
        "link %t",
        "html",
        "<p>You asked to sign in.</p><a href=\"https://shop.test/login/magic/{}\">Sign in</a>",
    ),
    (
        "link %h",
        "html",
        "<a href='https://shop.test/account/password/reset/{}?email=a%40b.test'>Choose a new one</a>",
    ),
    ("link %t", "json", "Follow https://shop.test/reset?code={}&lang=en within the hour."),
    ("link %t", "json", "Klicken Sie hier, um sich anzumelden: https://shop.test/x/{}"),
    ("link %t", "json", "Cliquez pour vous connecter : https://shop.test/connexion?t={}"),
    ("link %t", "html", "<a href=\"https://news.test/unsubscribe?u={}\">leave</a>"),
    ("link %t", "json", "Otrzymujesz zaproszenie: https://shop.test/zaproszenie/{}"),
    (
        "feed %h",
        "html",
        "<input readonly value=\"https://mail.test/calendar/ical/ann/private-{}/basic.ics\">",
    ),
    ("address %t", "text", "DATABASE_URL=postgres://shop:{}@db.test:5432/shop\nPORT=8443\n"),
    ("address %t", "json", "amqp://worker:{}@queue:5672/shop"),
    ("address %t", "text", "jdbc.ora=jdbc:oracle:thin:scott/{}@ora.test:1521:XE\nx=1\n"),
    ("settings %p", "yaml", "database:\n  host: db.test\n  password: {}\n"),
    ("settings %t", "yaml", "search:\n  api:\n    key: {}\n  index: products_v3\n"),
    ("settings %p", "text", "[client]\nuser = root\npasswd = {}\n"),
    ("settings %p", "text", "machine git.test\n  login ann\n  password {}\n"),
    (
        "settings %p",
        "xml",
        "<add name=\"Shop\" connectionString=\"Server=sql.test;User Id=sa;Password={};\"/>",
    ),
    ("table %t", "csv", "name,city,api_token,plan\nAnna,Graz,{},team-yearly\n"),
    ("table %p", "csv", "user;password;last\nanna;{};2026-11-19\n"),
    ("command %p", "html", "<pre>curl -u anna:{} https://api.test/v1/items</pre>"),
    ("command %p", "text", "PGPASSWORD={} psql -h db.test\nls -la\n"),
    ("command %t", "html", "<pre>docker login -u ci -p {} registry.test\n</pre>"),
    (
        "field %p",
        "html",
        "<form><input name=mail value=a@b.test><input type=\"password\" name=\"old\" value=\"{}\"></form>",
    ),
    (
        "stored %t",
        "html",
        "<script>localStorage.setItem('jwt','{}');localStorage.setItem('layout','two-columns')</script>",
    ),
    ("stored %t", "html", "<script>sessionStorage[\"authToken\"]=\"{}\";</script>"),
    ("stored %t", "html", "<script>document.cookie=\"sid={}; path=/\";</script>"),
    (
        "stored %t",
        "html",
        "<script>window.__STATE__={\"session\": {\"id\": \"{}\"}, \"theme\": \"dark\"};</script>",
    ),
    (
        "attribute %t",
        "html",
        "<div data-config=\"%7B%22accessToken%22%3A%20%22{}%22%2C%20%22pageSize%22%3A%2050%7D\"></div>",
    ),
    ("behind a word %t", "text", "lantern access token {}\nready\n"),
    ("behind a word %h", "text", "Your lantern API key is {}, keep it.\n"),
    ("behind a word %t", "text", "lantern secret - '{}'\n"),
    ("named by itself %h", "text", "using lantern-secret-key-{}\n"),
    ("log %h", "text", "[DEBUG] Using Key={}\n[INFO] 200\n"),
    ("log %t", "text", "GET https://api.test/v1/users?key={} 200\n"),
    (
        "several words %t",
        "xml",
        "<entry><id>lantern</id><secret>{lantern AQAB {}}</secret></entry>",
    ),
    (
        "aligned %p",
        "text",
        "$mail = (\n  user            => 'ann',\n  password        => '{}',\n);\n",
    ),
    ("compared %p", "text", "if user.password == '{}':\n    return True\n"),
    ("next line %t", "text", "lanternApiKey =\n  \"{}\";\n"),
    (
        "block %t",
        "text",
        "variable \"lantern_api_token\" {\n  type    = string\n  default = \"{}\"\n}\n",
    ),
    ("build %p", "text", "credentials {\n    username 'ann'\n    password '{}'\n}\n"),
    ("bot %t", "text", "notify 8812345671:AAH{} later\n"),
    ("argument %t", "text", "var login = new NetworkCredential(\"ann\", \"{}\");\n"),
    ("option %t", "text", "dotnet nuget push a.nupkg --api-key  {}  -s https://nuget.test/\n"),
    ("sentence %p", "json", "the wifi password is {}"),
    ("sentence %p", "json", "login for staging: admin / {}"),
    ("sentence %p", "json", "das Passwort für den Drucker lautet {}"),
];

/// The same as JSON.
fn documents(dice: &mut Rng) -> Vec<(&'static str, Value, Vec<String>)> {
    let codes: Vec<String> = (0..4).map(|_| run(dice, LOWER, 9) + &run(dice, DIGITS, 1)).collect();
    let numbers: Vec<String> =
        (0..4).map(|_| run(dice, DIGITS, 5) + "-" + &run(dice, DIGITS, 5)).collect();
    let [one, two, three] = [0; 3].map(|_| password(dice));
    let groups = run(dice, CAPITALS, 4) + "-" + &run(dice, CAPITALS, 4);
    vec![
        ("codes", json!({"backupCodes": codes, "sizes": ["38-40", "42-44"]}), codes.clone()),
        ("codes", json!({"recovery_codes": numbers}), numbers.clone()),
        ("device", json!({"user_code": groups, "expires_in": 900}), vec![groups.clone()]),
        (
            "pair",
            json!([{"name": "password", "value": one}, {"name": "theme", "value": "dark"}]),
            vec![one.clone()],
        ),
        (
            "patch",
            json!({"op": "replace", "path": "/smtp/password", "value": two}),
            vec![two.clone()],
        ),
        (
            "change",
            json!({"changes": {"password": {"old": three, "new": one}, "city": {"old": "Graz", "new": "Linz"}}}),
            vec![three, one],
        ),
    ]
}

/// Data that looks like one of these: `{}` stands for what has to stay.
const HARMLESS: &[Row] = &[
    ("%t", "html", "<label for=\"p\">Order</label><input id=\"p\" type=text value=\"{}\">"),
    ("%t", "html", "<button data-clipboard-text=\"{}\">Copy checksum</button>"),
    ("lamp", "html", "<label for=\"p\">Search key</label><input id=\"p\" value=\"{}\">"),
    ("Enter your passphrase", "object", "{\"passphrase\":\"{}\"}"),
    ("Sommer", "html", "<input aria-label=\"Password\" value=\"{}\">"),
    ("value", "text", "const token=>{}.length>4\nconst f = password => check(password)\n"),
    ("%h", "json", "**Commit:** {}"),
    ("%h", "text", "the cache key {} was found\n"),
    ("%u", "text", "rows of session {} were read\n"),
    ("base64.StdEncoding.EncodeToString", "text", "var token string\n\nsignature := {}(sum)\n"),
    ("SonarV2DetectorIsEnabled2026", "text", "// read by whoever has a token\n{} bool\n"),
    ("postgresql://db.test:5432/lanterns", "text", "const uri = \"{}\";\n"),
    (
        "%6",
        "html",
        "<table><tr><th>Product</th><th>Number</th></tr><tr><td>Lamp</td><td>{}</td></tr></table>",
    ),
    ("%6", "html", "<dl><dt>Password</dt><dd>Change it</dd><dt>Visitors</dt><dd>{}</dd></dl>"),
    ("%6", "json", "{} 人が読みました"),
    ("%6", "xml", "<resources><string name=\"app_name\">Lamp {}</string></resources>"),
    ("Argon2id-v19", "text", "password hashing with {}"),
    ("PBKDF2-SHA512", "text", "Passwords use {} now"),
    ("nord-dark2", "text", "set theme_name {}"),
    ("%6", "text", "Results [{}] of many, see figure [12]"),
    ("%6", "text", "git log --oneline --since {} --format x"),
    ("%6", "json", "Error code: {}"),
    ("%6", "json", "Order {} was shipped, your parcel arrives today between 10 and 12"),
    ("%6", "json", "Postal code {}, Vienna"),
    ("%6", "json", "Use promo code {} at checkout for 20 % off"),
    ("%6", "json", "Ihr Gutscheincode: {}"),
    ("%6", "json", "Artikelnummer {} ist wieder lieferbar"),
    ("%6", "json", "{} people have seen the verification video"),
    ("%6", "html", "<p>Product code <b>{}</b></p><p>In stock</p>"),
    ("%h", "html", "<img src=\"/assets/{}.webp\"><a href=\"/p/1\">Lamp</a>"),
    ("%h", "json", "https://git.test/shop/commit/{}"),
    ("%h", "json", "fixed in {} by Anna"),
    ("%h", "html", "<script src=\"/static/main.{}.js\"></script>"),
    ("%u", "json", "https://api.test/orders/{}"),
    ("%u", "html", "<a href=\"https://shop.test/records/{}/edit\">edit</a>"),
    ("%d", "json", "valid until {}"),
    ("%d", "csv", "user;password_changed;city\nann;{};Graz\n"),
    ("Your password must be at least 12 characters, with one digit.", "json", "{}"),
    ("Pass the token in the Authorization header of each request.", "html", "<p>{}</p>"),
    ("username:password", "html", "<pre>curl -u {} https://api.test/</pre>"),
    ("YOUR_API_KEY", "html", "<pre>curl -H \"X-Api-Key: {}\" https://api.test/v1/me</pre>"),
    ("Passwort", "object", "login.password"),
    ("is too short (minimum is 12 characters)", "object", "password"),
    (
        "function(e){return/^.{8,}$/.test(e)}",
        "js",
        "var o={password:{}};e.exports=function(t){return t.auth=!0,t};",
    ),
    (
        "function(e){return",
        "js",
        "for(i=0;i<n.length;i++)k(i);s.prototype.secret={} this.a};if(a>b)c()",
    ),
    (
        "16.4-alpine",
        "yaml",
        "services:\n  db:\n    image: postgres:{}\n    password_file: /run/secrets/db\n",
    ),
    ("Europe/Vienna", "text", "TZ={}\nSESSION_COOKIE_NAME=sid\n"),
    ("two-columns", "html", "<script>localStorage.setItem('layout','{}')</script>"),
    (
        "ann@birch.test",
        "html",
        "<form><input name=\"email\" value=\"{}\"><input type=password name=p></form>",
    ),
    ("978-3-16-231579-0", "json", "ISBN {}"),
    ("+49 170 4829137", "json", "We sent a 6-digit code to {}"),
    ("https://youtube.test/watch?v=dQw4w9WgXcQ", "json", "See {} for how to log in"),
];

/// Twelve words, as wallets give them.
fn words(dice: &mut Rng) -> String {
    const WORDS: &[&str] = &[
        "abandon", "ability", "able", "about", "above", "absent", "harvest", "hockey", "lamp",
        "ladder", "quantum", "quarter", "ribbon", "satoshi", "timber", "tornado", "umbrella",
        "velvet", "whisper", "zebra", "oxygen", "mango", "nephew", "inject",
    ];
    let all: Vec<&str> = (0..12).map(|_| WORDS[dice.usize(..WORDS.len())]).collect();
    all.join(" ")
}

pub fn of_kind(kind: &str, dice: &mut Rng) -> String {
    match kind.rsplit(' ').next().unwrap_or("") {
        "%t" => run(dice, BASE62, 30) + &run(dice, DIGITS, 2),
        "%h" => run(dice, HEX, 40),
        "%6" => run(dice, "123456789", 6),
        "%s" => run(dice, BASE32, 28) + &run(dice, "234567", 4),
        "%p" => password(dice),
        "%g" => run(dice, CAPITALS, 3) + "7-" + &run(dice, CAPITALS, 4),
        "%u" => format!(
            "{}-{}-4{}-a{}-{}",
            run(dice, HEX, 8),
            run(dice, HEX, 4),
            run(dice, HEX, 3),
            run(dice, HEX, 3),
            run(dice, HEX, 12)
        ),
        // Four letters or digits, twice.
        "%c" => run(dice, LOWER, 3) + "7-" + &run(dice, LOWER, 4),
        "%w" => words(dice),
        "%d" => format!("2026-{:02}-{:02}", dice.u32(1..13), dice.u32(1..29)),
        _ => kind.to_owned(),
    }
}

/// What a document to share and a live page make of it.
pub fn of(kind: &str, text: &str) -> [String; 2] {
    let mime = match kind {
        "json" | "object" => "application/json",
        "html" => "text/html",
        "xml" => "application/xml",
        "yaml" => "application/yaml",
        "csv" => "text/csv",
        "js" => "application/javascript",
        _ => "text/plain",
    };
    let mut it = Redactor::new(&RedactSettings::default());
    it.body(text, mime, Place::Answer);
    it.write();
    let shared = it.body(text, mime, Place::Answer).unwrap_or_else(|| text.to_owned());
    [shared, message(text)]
}

pub fn body(kind: &str, template: &str, value: &str) -> String {
    let text = template.replacen("{}", value, 1);
    match kind {
        "json" => json!({ "id": 4711, "text": text }).to_string(),
        "object" => json!({ template: value }).to_string(),
        _ => text,
    }
}

#[test]
fn what_surrounds_a_value_says_what_it_is() {
    let (mut all, mut missed, mut kept, mut wrong) = (0, Vec::new(), 0, Vec::new());
    for seed in [20_261_127, 4711, 99] {
        let mut dice = Rng::with_seed(seed);
        for (kind, mime, template) in SECRETS {
            let value = of_kind(kind, &mut dice);
            for it in of(mime, &body(mime, template, &value)) {
                all += 1;
                if it.contains(&value) {
                    missed.push(format!("{kind} {mime}: {it}"));
                }
            }
        }
        for (kind, document, values) in documents(&mut dice) {
            for it in of("json", &document.to_string()) {
                all += values.len();
                let left = values.iter().filter(|value| it.contains(value.as_str()));
                missed.extend(left.map(|value| format!("{kind}: {value} in {it}")));
                let stays = ["38-40", "dark", "Graz", "replace"].into_iter();
                for word in stays.filter(|word| document.to_string().contains(word)) {
                    kept += 1;
                    if !it.contains(word) {
                        wrong.push(format!("{kind}: {word} not in {it}"));
                    }
                }
            }
        }
        for (kind, mime, template) in HARMLESS {
            let value = of_kind(kind, &mut dice);
            let text = body(mime, template, &value);
            for it in of(mime, &text) {
                kept += 1;
                if it != text {
                    wrong.push(format!("{mime} {template}: {it}"));
                }
            }
        }
    }
    println!("{} of {all} missed, {} of {kept} wrong", missed.len(), wrong.len());
    assert!(missed.len() * 100 <= all, "{missed:#?}");
    assert!(wrong.len() * 50 <= kept, "{wrong:#?}");
}

/// A list that a page prints, what stands before and after it, and lines that belong together.
#[test]
fn codes_in_lists_and_over_lines() {
    let mut dice = Rng::with_seed(7);
    let codes: Vec<String> =
        (0..5).map(|_| run(&mut dice, DIGITS, 4) + "-" + &run(&mut dice, DIGITS, 4)).collect();
    let items = format!("<li>{}</li>", codes.join("</li><li>"));
    let page = format!(
        "<h2>Recovery codes</h2><p>Keep them safe.</p><ul>{items}</ul><h3>Recent orders</h3><ul><li>8478-08039</li><li>8875-98009</li></ul>"
    );
    for it in of("html", &page) {
        assert!(codes.iter().all(|code| !it.contains(code.as_str())), "{it}");
        assert!(it.contains("8478-08039") && it.contains("8875-98009"), "{it}");
    }
    let told = lines(&[
        "heading \"Enter this code to sign in\"".to_owned(),
        "\"482913\"".to_owned(),
        "\"{\\\"apiKey\\\":\\\"hT9vKq2LmZ81RwXc4Bn6\\\",\\\"n\\\":1}\"".to_owned(),
        "\"Order 551204\"".to_owned(),
    ]);
    assert_eq!(told[1], "\"[REDACTED:code]\"");
    assert_eq!(told[2], "\"{\\\"apiKey\\\":\\\"[REDACTED:apikey]\\\",\\\"n\\\":1}\"");
    assert_eq!(
        (told[0].as_str(), told[3].as_str()),
        ("heading \"Enter this code to sign in\"", "\"Order 551204\"")
    );
}

/// A cookie's value, as a page for debugging repeats it.
#[test]
fn what_is_known_is_found_in_every_echo() {
    let mut dice = Rng::with_seed(11);
    let value = run(&mut dice, BASE62, 26);
    let letters: Vec<String> = value.chars().map(String::from).collect();
    let numbers: Vec<String> = value.bytes().map(|b| b.to_string()).collect();
    for echo in [
        value.chars().rev().collect::<String>(),
        letters.join(" "),
        numbers.join(", "),
        value.to_uppercase(),
        value[..13].to_owned(),
        value[13..].to_owned(),
    ] {
        let mut it = Redactor::new(&RedactSettings::default());
        let mut both = || {
            it.header("cookie", &format!("sid={value}"));
            let text = format!("{{\"you\":\"saw {echo} here\",\"n\":[1,2]}}");
            let new = it.body(&text, "application/json", Place::Answer).unwrap_or(text);
            it.write();
            new
        };
        both();
        let new = both();
        assert!(!new.contains(&echo) && new.contains("[REDACTED:"), "{echo}: {new}");
    }
}
