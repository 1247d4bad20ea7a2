//! Walls, and pages that only talk about them.

use super::*;

fn page(url: &str, title: &str, lines: &[&str]) -> PageView {
    PageView { url: url.to_owned(), title: title.to_owned(), content: lines.join("\n") }
}

fn found(seen: &PageView) -> Option<Blocker> {
    wall(seen, "https://shop.example/", None)
}

fn check(want: Option<Blocker>, all: &[(&str, &str, &[&str])]) {
    for (url, title, lines) in all {
        assert_eq!(found(&page(url, title, lines)), want, "{url} {title} {lines:#?}");
    }
}

/// Pages, one a line: address, title, and lines of the snapshot.
fn check_all(want: Option<Blocker>, pages: &str) {
    let pages = pages.lines().filter(|it| !it.is_empty() && !it.starts_with('#'));
    let pages: Vec<Vec<&str>> = pages.map(|it| it.split(" ~ ").collect()).collect();
    assert!(pages.len() >= 5);
    for it in pages {
        assert!(it.len() >= 3, "{it:?}");
        check(want, &[(it[0], it[1], &it[2..])]);
    }
}

/// Lines of a page that has much on it.
fn large(lines: &[&str]) -> Vec<String> {
    let link = |n: usize| format!("@e{} link \"Article number {n}\"", n + 100);
    let text =
        |n: usize| format!("\"What stands in article number {n} and is not of interest here.\"");
    (0..80)
        .flat_map(|n| [link(n), text(n)])
        .chain(lines.iter().map(|it| (*it).to_owned()))
        .collect()
}

#[test]
fn ac_7_2_a_login_is_a_wall() {
    check_all(
        Some(Blocker::Login),
        r#"
https://tv.example/login ~ TV ~ heading "Sign In" [level 1] ~ @e1 textbox "Email or mobile number" ~ @e2 textbox "Password" ~ @e3 button "Sign In" ~ @e4 link "Forgot password?" ~ @e5 checkbox "Remember me" ~ @e6 link "Sign up now."
# As Playwright MCP has it.
https://code.example/login ~ Sign in to Code · Code ~ - main [ref=e2]: ~   - heading "Sign in to Code" [level=1] [ref=e3] ~   - text: Username or email address ~   - textbox "Username or email address" [active] [ref=e5] ~   - text: Password ~   - textbox "Password" [ref=e7] ~   - link "Forgot password?" [ref=e8] [cursor=pointer]: ~     - /url: /password_reset ~   - button "Sign in" [ref=e9] [cursor=pointer]
# A field without a name, in two ways.
https://a.example/ ~ Intranet ~ - text: Username ~ - textbox [ref=e1] ~ - text: Password ~ - textbox [ref=e2] ~ - button "Login" [ref=e3]
https://a.example/ ~ Intranet ~ @e1 textbox in "User" ~ @e2 textbox in "Password" ~ @e3 button "Log on"
# Of the testbed.
http://members.test/ ~ Guild of Bookbinders ~ link "Guild of Bookbinders home" ~ @e2 link "Members" ~ @e3 link "Meetings" ~ @e4 link "Join" ~ heading "Members" [level 1] ~ @e5 searchbox "Search members" ~ "Please log in to continue" ~ @e6 textbox "Username" ~ @e7 textbox "Password" ~ @e8 button "Log in" ~ @e9 link "About us" ~ @e10 textbox "Newsletter" ~ @e11 button "Subscribe" ~ @e12 button "Accept all"
http://accounts.test/login ~ Sign in ~ @e1 textbox "Email" ~ @e2 textbox "Password" ~ @e3 button "Sign in"
https://a.example/wp-login.php?redirect_to=x ~ Log In ‹ Blog — WordPress ~ @e1 textbox "Username or Email Address" ~ @e2 textbox "Password" ~ @e3 button "Show password" ~ @e4 checkbox "Remember Me" ~ @e5 button "Log In"
# An arrow for a button, and none at all.
https://a.example/users/sign_in ~ Shop ~ @e1 textbox "Email" ~ @e2 textbox "Password" ~ @e3 button
https://a.example/session/new ~ Shop ~ @e1 textbox "Email" ~ @e2 textbox "Password"
# German, French, Spanish.
https://a.example/konto ~ Mein Konto – Anmelden ~ heading "Anmelden" [level 1] ~ @e1 textbox "E-Mail-Adresse" ~ @e2 textbox "Passwort" ~ @e3 button "Anmelden" ~ @e4 link "Passwort vergessen?"
https://a.example/kundenkonto ~ Willkommen zurück ~ @e1 textbox "Benutzername" ~ @e2 textbox "Kennwort" ~ @e3 button "Weiter"
https://a.example/compte ~ Connexion ~ @e1 textbox "Adresse e-mail" ~ @e2 textbox "Mot de passe" ~ @e3 button "Se connecter" ~ @e4 button "Créer un compte"
https://a.example/mi-cuenta ~ Iniciar sesión ~ @e1 textbox "Correo electrónico" ~ @e2 textbox "Contraseña" ~ @e3 button "Entrar"
https://a.example/mi-cuenta ~ Tienda ~ heading "Inicia sesión" [level 1] ~ @e1 textbox "Usuario" ~ @e2 textbox "Clave" ~ @e3 button "Acceder"
# In two steps.
https://accounts.example/v3/signin/identifier?flow=x ~ Sign in – Accounts ~ heading "Sign in" [level 1] ~ @e1 textbox "Email or phone" ~ @e2 button "Forgot email?" ~ @e3 button "Next" ~ @e4 button "Create account"
https://login.example/common/oauth2/authorize ~ Sign in to your account ~ heading "Sign in" [level 1] ~ @e1 textbox "Enter your email, phone, or Skype." ~ @e2 button "Next"
https://a.example/log-in ~ Log in or sign up ~ heading "Log in or sign up" [level 1] ~ @e1 button "Continue with Google" ~ @e2 button "Continue with Apple" ~ @e3 textbox "Email address" ~ @e4 button "Continue"
# Accounts of others alone.
https://a.example/login ~ Log in | Board ~ heading "Log in" [level 1] ~ @e1 link "Continue with Google" ~ @e2 link "Continue with SAML"
# Asked again who is there.
https://code.example/settings/admin ~ Confirm access ~ heading "Confirm access" [level 1] ~ @e1 textbox "Password" ~ @e2 button "Confirm"
# A dialog over a page, a robot's box and a password, a form to register beside.
https://a.example/login ~ Log in ~ @e1 textbox "Email" ~ @e2 textbox "Password" ~ frame "a-1x" ~ @e3 checkbox "I'm not a robot" ~ @e4 button "Log in"
https://a.example/my-account/ ~ My account – Shop ~ heading "My account" [level 1] ~ heading "Login" [level 2] ~ @e1 textbox "Username or email address *" [required] ~ @e2 textbox "Password *" [required] ~ @e3 checkbox "Remember me" ~ @e4 button "Log in" ~ heading "Register" [level 2] ~ @e5 textbox "Email address *" ~ @e6 textbox "Password *" ~ @e7 button "Register"
https://code.example/settings/admin ~ Verify it's you ~ heading "Verify it's you" [level 1] ~ @e1 textbox "Enter your current password" ~ @e2 button "Continue"
# What is filled in by the browser, whatever it is called.
https://a.example/login ~ Kirjaudu ~ @e1 textbox "Tunnus" = "ada" ~ @e2 textbox "Salasana" = "••••••••" ~ @e3 button "Kirjaudu sisään"
"#,
    );
    let all = large(&[
        "dialog \"Log in to continue\"",
        "@e1 textbox \"Email\"",
        "@e2 textbox \"Password\"",
        "@e3 button \"Log in\"",
    ]);
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    check(Some(Blocker::Login), &[("https://a.example/news", "News", &all)]);
    // What is written before a form says what it is for.
    let all = large(&[
        "\"Please log in to continue\"",
        "@e1 textbox \"Email\"",
        "@e2 textbox \"Password\"",
        "@e3 button \"Log in\"",
    ]);
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    check(Some(Blocker::Login), &[("https://a.example/news", "News", &all)]);
}

#[test]
fn a_second_factor_is_a_wall() {
    check_all(
        Some(Blocker::SecondFactor),
        r#"
https://code.example/sessions/two-factor/app ~ Two-factor authentication · Code ~ heading "Two-factor authentication" [level 1] ~ @e1 textbox "Authentication code" ~ @e2 button "Verify"
https://a.example/check ~ Shop ~ "We sent it to a…@example.com" ~ @e1 textbox "Verification code" ~ @e2 button "Continue"
https://a.example/check ~ Shop ~ - paragraph [ref=e1]: Enter the 6-digit code from your authenticator app. ~ - textbox "Code" [ref=e2] ~ - button "Submit" [ref=e3]
https://a.example/check ~ Verify it's you ~ heading "Verify it's you" [level 1] ~ @e1 textbox "Digit 1" ~ @e2 textbox "Digit 2" ~ @e3 textbox "Digit 3" ~ @e4 textbox "Digit 4" ~ @e5 button "Continue"
https://a.example/check ~ Two-step verification ~ heading "Enter the code" [level 1] ~ @e1 textbox ~ @e2 textbox ~ @e3 textbox ~ @e4 textbox ~ @e5 textbox ~ @e6 textbox ~ @e7 button "Continue"
https://a.example/mfa ~ Bank ~ @e1 spinbutton "Passcode" ~ @e2 button "Log in"
https://a.example/x ~ Bank ~ @e1 textbox "SMS-Code" ~ @e2 button "Weiter"
https://a.example/x ~ Zwei-Faktor-Authentisierung ~ heading "Bestätigung in zwei Schritten" [level 1] ~ @e1 textbox "Sicherheitscode" ~ @e2 button "Bestätigen"
https://a.example/x ~ Banque ~ heading "Validation en deux étapes" [level 1] ~ @e1 textbox "Code de sécurité" ~ @e2 button "Valider"
https://a.example/x ~ Banque ~ @e1 textbox "Code à 6 chiffres" ~ @e2 button "Valider"
https://a.example/x ~ Banco ~ @e1 textbox "Código de verificación" ~ @e2 button "Continuar"
https://a.example/x ~ Banco ~ "Te hemos enviado un código de seguridad" ~ @e1 textbox "Código" ~ @e2 button "Continuar"
# No field: it is the phone's turn.
https://login.example/ ~ Approve sign in request ~ heading "Approve sign in request" [level 1] ~ "Open your authenticator app, and enter the number shown to sign in." ~ "42" ~ @e1 link "I can't use my Microsoft Authenticator app right now"
https://accounts.example/v3/signin/challenge/dp ~ 2-Step Verification ~ heading "2-Step Verification" [level 1] ~ "Check your phone" ~ @e1 button "Resend it" ~ @e2 button "Try another way"
"#,
    );
}

#[test]
fn a_question_whether_one_is_a_robot_is_a_wall() {
    check_all(
        Some(Blocker::Captcha),
        r#"
https://a.example/sorry/index ~ https://a.example/search?q=x ~ frame "a-8z" ~ @e1 checkbox "I'm not a robot" ~ "Our systems have detected unusual traffic from your computer network."
https://a.example/ ~ Just a moment... ~ heading "a.example" [level 1] ~ heading "Performing security verification" [level 2] ~ frame "cf-chl-widget-x" ~ @e1 checkbox "Verify you are human"
https://a.example/ ~ Just a moment... ~ "a.example needs to review the security of your connection before proceeding." ~ frame "cf-chl-widget-x"
https://a.example/ ~ Just a moment... ~ - paragraph [ref=e1]: Verifying you are human. This may take a few seconds.
https://a.example/ ~ a.example ~ - iframe [ref=e1]: ~   - checkbox "hCaptcha checkbox with text 'I am human'. Select in order to trigger the challenge" [ref=e2]
https://a.example/ ~ Access to this page has been denied ~ heading "Before we continue..." [level 1] ~ "Press & Hold to confirm you are a human (and not a bot)." ~ @e1 button "Press & Hold"
https://a.example/ ~ a.example ~ - iframe "DataDome CAPTCHA" [ref=e1]
https://a.example/errors/validateCaptcha ~ Robot Check ~ heading "Enter the characters you see below" [level 4] ~ image "captcha" ~ @e1 textbox "Type characters" ~ @e2 button "Continue shopping"
https://a.example/ ~ Kontakt ~ @e1 textbox "Zeichen im Bild" ~ @e2 button "Absenden"
https://a.example/ ~ a.example ~ @e1 checkbox "Ich bin kein Roboter."
https://a.example/ ~ a.example ~ @e1 checkbox "Je ne suis pas un robot"
https://a.example/ ~ a.example ~ @e1 checkbox "No soy un robot"
https://a.example/ ~ Nur einen Moment… ~ "Bestätigen Sie, dass Sie ein Mensch sind, indem Sie die Aktion unten durchführen." ~ frame "x"
https://a.example/ ~ Un instant… ~ "Vérifiez que vous êtes humain."
https://a.example/ ~ Un momento… ~ "Verifique que es un ser humano completando la acción siguiente."
https://a.example/ ~ reCAPTCHA ~ "Select all images with crosswalks" ~ @e1 button "Get a new challenge" ~ @e2 button "Get an audio challenge" ~ @e3 button "Verify"
"#,
    );
}

#[test]
fn a_session_that_ended_is_told_from_one_that_never_began() {
    let login = page(
        "https://shop.example/login?next=/orders",
        "Log in",
        &["@e1 textbox \"Email\"", "@e2 textbox \"Password\"", "@e3 button \"Log in\""],
    );
    let before = |lines: &[&str]| page("https://www.shop.example/orders", "Orders", lines);
    let of = |begun_at: &str, before: Option<&PageView>| wall(&login, begun_at, before).unwrap();
    let start = "https://shop.example/";
    assert_eq!(of(start, None), Blocker::Login);
    assert_eq!(
        of(start, Some(&before(&["@e1 link \"Log out\"", "@e2 link \"Orders\""]))),
        Blocker::SessionEnded
    );
    assert_eq!(of(start, Some(&before(&["@e1 button \"Abmelden\""]))), Blocker::SessionEnded);
    // Seed 002, 2.7.3: anywhere but where it began.
    assert_eq!(of(start, Some(&before(&["@e1 link \"Orders\""]))), Blocker::SessionEnded);
    assert_eq!(
        of("https://shop.example/login", Some(&before(&["@e1 link \"Log out\""]))),
        Blocker::Login
    );
    // Who was offered to log in was not.
    assert_eq!(
        of(start, Some(&before(&["@e1 link \"Log in\"", "@e2 link \"Orders\""]))),
        Blocker::Login
    );
    assert_eq!(of(start, Some(&login)), Blocker::Login, "tried, and wrong");
    let named = page(
        "https://shop.example/login/identifier",
        "Sign in",
        &["@e1 textbox \"Email\"", "@e2 button \"Next\""],
    );
    assert_eq!(of(start, Some(&named)), Blocker::Login, "the step before");
    let elsewhere = page("https://other.example/", "Other", &["@e1 link \"Log out\""]);
    assert_eq!(of(start, Some(&elsewhere)), Blocker::Login);

    check_all(
        Some(Blocker::SessionEnded),
        r#"
https://a.example/login?expired ~ Log in ~ alert ~ "Your session has expired. Please log in again." ~ @e1 textbox "Email" ~ @e2 textbox "Password" ~ @e3 button "Log in"
https://a.example/x ~ Anmelden ~ "Ihre Sitzung ist abgelaufen." ~ @e1 textbox "Benutzername" ~ @e2 textbox "Passwort" ~ @e3 button "Anmelden"
https://a.example/x ~ Connexion ~ - paragraph [ref=e1]: Votre session a expiré. ~ - textbox "Mot de passe" [ref=e2] ~ - button "Se connecter" [ref=e3]
# Without a field.
https://a.example/x ~ Bank ~ heading "Your session has expired" [level 1] ~ @e1 link "Log in again"
https://a.example/x ~ Bank ~ heading "Your session timed out" [level 1] ~ @e1 button "OK"
https://a.example/x ~ Banco ~ heading "Su sesión ha caducado" [level 1] ~ @e1 link "Iniciar sesión"
"#,
    );
    let all = large(&[
        "alertdialog \"Session expired\"",
        "\"You have been logged out.\"",
        "@e1 button \"Log in again\"",
    ]);
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    check(Some(Blocker::SessionEnded), &[("https://a.example/app", "App", &all)]);
}

#[test]
fn what_only_talks_about_it_is_no_wall() {
    let article = [
        "heading \"Two-factor authentication explained\" [level 1]",
        "\"Two-factor authentication asks for a verification code from an authenticator app besides your password. If you see a captcha, tick I'm not a robot.\"",
        "heading \"What is a verification code?\" [level 2]",
        "\"Your session has expired when you have been logged out. Please log in again, and confirm you are human.\"",
        "@e1 link \"How to sign in\"",
        "@e2 link \"Resend code\"",
        "@e3 searchbox \"Search help\"",
    ];
    check_all(
        None,
        r#"
https://help.example/articles/login ~ How to log in when you forgot your password ~ heading "How to log in when you forgot your password" [level 1] ~ "Enter your email and password and press Log in." ~ @e1 searchbox "Search" ~ @e2 link "Log in" ~ @e3 textbox "Email" ~ @e4 button "Subscribe"
https://help.example/sign-in-with-google ~ Sign in with Google | Help ~ heading "Sign in with Google" [level 1] ~ "Press Sign in with Google." ~ @e1 link "Sign in with Apple" ~ @e2 link "Sign in with Google"
https://blog.example/passwords ~ Why passwords are bad ~ heading "Passwords" [level 1] ~ "A password is a secret." ~ @e1 textbox "Comment" ~ @e2 textbox "Email" ~ @e3 button "Post comment"
# A page with a way to log in.
https://shop.example/ ~ Shop ~ @e1 link "Log in" ~ @e2 link "Sign up" ~ @e3 searchbox "Search" ~ @e4 button "Search" ~ heading "Offers" [level 1]
https://shop.example/ ~ Shop ~ @e1 button "Log in" ~ @e2 textbox "Email" ~ @e3 button "Subscribe"
# Forms that want something else.
https://a.example/signup ~ Create your account ~ @e1 button "Log in" ~ @e2 textbox "Email" ~ @e3 textbox "Password" ~ @e4 button "Create account" ~ @e5 link "Already have an account? Log in"
https://a.example/register ~ Registrieren ~ @e1 textbox "E-Mail" ~ @e2 textbox "Passwort" ~ @e3 textbox "Passwort wiederholen" ~ @e4 button "Konto erstellen"
https://a.example/settings/security ~ Change password ~ @e1 textbox "Current password" ~ @e2 textbox "New password" ~ @e3 textbox "Confirm new password" ~ @e4 button "Save" ~ @e5 button "Log out"
https://a.example/einstellungen ~ Passwort ändern ~ @e1 textbox "Aktuelles Passwort" ~ @e2 textbox "Neues Passwort" ~ @e3 button "Weiter"
https://a.example/reset ~ Forgot password? ~ heading "Reset your password" [level 1] ~ @e1 textbox "Email" ~ @e2 button "Continue"
https://a.example/wifi ~ Router ~ heading "Wireless" [level 1] ~ @e1 textbox "Network name" ~ @e2 textbox "Wi-Fi password" ~ @e3 button "Save"
https://a.example/delete ~ Delete account ~ @e1 textbox "Password" ~ @e2 button "Delete account"
https://shop.example/checkout ~ Checkout ~ heading "Checkout" [level 1] ~ @e1 textbox "Email" ~ @e2 textbox "Password (optional)" ~ @e3 button "Log in" ~ @e4 textbox "First name" ~ @e5 textbox "Last name" ~ @e6 textbox "Street" ~ @e7 textbox "City" ~ @e8 button "Continue"
https://shop.example/checkout ~ Checkout ~ @e1 textbox "Email" ~ @e2 button "Continue"
https://a.example/newsletter ~ Newsletter ~ @e1 textbox "E-Mail-Adresse" ~ @e2 button "Anmelden"
https://a.example/contact ~ Contact ~ @e1 textbox "Email" ~ @e2 textbox "Message" ~ @e3 button "Submit"
https://a.example/join ~ Join ~ @e1 textbox "Email" ~ @e2 textbox "Password" ~ @e3 link "Log in" ~ @e4 button "Create account"
https://a.example/join ~ Join ~ @e1 textbox "Email" ~ @e2 textbox "Password" ~ @e3 button "Sign in with Google" ~ @e4 button "Create account"
https://a.example/auth/register ~ Welcome ~ @e1 textbox "Email" ~ @e2 textbox "Password" ~ @e3 button "Create account"
https://a.example/login/renew ~ Log in ~ @e1 textbox "New password" ~ @e2 textbox "Confirm password" ~ @e3 button "Continue"
https://a.example/login/reset ~ Reset ~ @e1 textbox "Email" ~ @e2 button "Continue"
https://a.example/login/help ~ Help ~ @e1 link "Sign in with Google" ~ @e2 link "Sign in with Apple"
# Codes of other kinds.
https://shop.example/cart ~ Cart ~ @e1 textbox "Promo code" ~ @e2 button "Apply" ~ @e3 textbox "Gift card code" ~ @e4 textbox "Postal code"
https://shop.example/pay ~ Payment ~ "Your bank may ask for a verification code." ~ @e1 textbox "Card number" ~ @e2 textbox "Expiry date" ~ @e3 textbox "Security code" ~ @e4 button "Pay €34.94"
https://shop.example/pay ~ Zahlung ~ @e1 textbox "Kartennummer" ~ @e2 textbox "Sicherheitscode" ~ @e3 button "Bezahlen"
https://shop.example/address ~ Adresse ~ @e1 textbox "Code postal" ~ @e2 textbox "Pays" ~ @e3 button "Continuer"
https://a.example/settings ~ Two-step verification ~ heading "Two-step verification" [level 1] ~ @e1 textbox "Postal code" ~ @e2 textbox "Country code" ~ @e3 button "Save"
https://a.example/code ~ Look up a code ~ @e1 textbox "Code" ~ @e2 button "Search"
https://a.example/form ~ Form ~ @e1 textbox ~ @e2 textbox ~ @e3 textbox ~ @e4 textbox ~ @e5 button "Send"
https://a.example/settings ~ Security settings ~ heading "Two-factor authentication" [level 2] ~ @e1 button "Enable two-factor authentication" ~ @e2 button "Show recovery codes" ~ @e3 button "Log out"
# Robots that are there and ask nothing.
https://a.example/contact ~ Contact ~ @e1 textbox "Message" ~ @e2 button "Send" ~ frame "a-1q" ~ "protected by reCAPTCHA" ~ @e3 link "Privacy - Opens in new window"
https://a.example/contact ~ Contact ~ @e1 textbox "Message" ~ @e2 checkbox "I'm not a robot" [checked] ~ @e3 button "Send"
https://shop.example/toys ~ Robots ~ heading "Robots" [level 1] ~ @e1 link "Robot R2, are you human?" ~ @e2 checkbox "Robots" ~ @e3 button "Add to cart"
https://a.example/docs/captcha ~ CAPTCHA ~ heading "CAPTCHA" [level 1] ~ "A CAPTCHA is a test." ~ @e1 link "Contents"
https://a.example/security-check ~ Security check of your home ~ heading "Security check" [level 1] ~ "Book a visit" ~ @e1 textbox "Name" ~ @e2 button "Book"
https://a.example/alarm ~ Security check ~ heading "Security check" [level 1] ~ "Verify you are human at the door." ~ @e1 link "A" ~ @e2 link "B" ~ @e3 link "C" ~ @e4 link "D" ~ @e5 link "E" ~ @e6 link "F" ~ @e7 link "G" ~ @e8 link "H"
# Sessions of another kind.
https://a.example/ ~ Yoga ~ heading "Your yoga session" [level 1] ~ "The session has ended. See you next week." ~ @e1 button "OK"
"#,
    );
    check(
        None,
        &[
            (
                "https://help.example/two-factor",
                "Two-factor authentication explained - Help",
                &article[..],
            ),
            ("https://a.example/", "", &[]),
            ("", "", &["@e1 textbox"]),
        ],
    );
    // A form in the corner of a page that has much else on it, and comments under an article.
    for lines in [
        &["@e1 textbox \"Username\"", "@e2 textbox \"Password\"", "@e3 button \"Login\""][..],
        &[
            "heading \"Login\" [level 3]",
            "@e1 textbox \"Username\"",
            "@e2 textbox \"Password\"",
            "@e3 button \"Login\"",
        ],
        &[
            "heading \"Comments\" [level 2]",
            "\"anna: what if I have been logged out?\"",
            "@e1 textbox \"Comment\"",
            "@e2 button \"Send\"",
        ],
        &article,
    ] {
        let all = [vec!["heading \"Forum index\" [level 1]".to_owned()], large(lines)].concat();
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        check(None, &[("https://forum.example/index.php", "Forum index", &all)]);
    }
    // Much to click and little to read, and the other way round.
    let form = ["@e1 textbox \"Username\"", "@e2 textbox \"Password\"", "@e3 button \"Login\""];
    let links: Vec<String> = (0..30).map(|n| format!("@e{} link \"{n}\"", n + 10)).collect();
    let links: Vec<&str> = links.iter().map(String::as_str).chain(form).collect();
    let text = format!("\"{}\"", "The river rose again. ".repeat(100));
    let text: Vec<&str> = [&*text].into_iter().chain(form).collect();
    // A heading that is a sentence does not name the page.
    let said = "heading \"What we do so that nobody but you can log in to your account\" [level 1]";
    let said: Vec<&str> = [said].into_iter().chain(links.iter().copied()).collect();
    let ended = "heading \"Your session has expired\" [level 2]";
    let ended: Vec<&str> = [ended]
        .into_iter()
        .chain(links[..30].iter().copied())
        .chain(["@e1 link \"Log in\""])
        .collect();
    for lines in [links, text, said, ended] {
        check(None, &[("https://forum.example/", "Forum", &lines)]);
    }
    let ended = large(&["heading \"Your session has expired\" [level 2]", "@e1 link \"Log in\""]);
    let ended: Vec<&str> = ended.iter().map(String::as_str).collect();
    check(None, &[("https://help.example/", "Help", &ended)]);
}

#[test]
fn each_wall_has_its_own_sentence() {
    let all = [Blocker::Login, Blocker::SecondFactor, Blocker::Captcha, Blocker::SessionEnded];
    let told: Vec<&str> = all.iter().map(|it| it.describe()).collect();
    assert_eq!(
        told,
        [
            "Login required. Please log in.",
            "2FA required. Complete authentication.",
            "CAPTCHA detected. Please solve.",
            "Session expired. Please log in.",
        ]
    );
}

#[test]
fn a_page_of_any_size_is_read_in_time() {
    let long = "@e1 textbox \"x\"\n".repeat(200_000);
    assert_eq!(found(&page("https://a.example/", "x", &[&long])), None);
    let wide = format!("\"{}\"", "captcha ".repeat(200_000));
    assert_eq!(found(&page("https://a.example/", &"login ".repeat(10_000), &[&wide])), None);
}
