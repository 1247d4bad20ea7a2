//! Names and what they say, by example.

use super::*;

#[test]
fn names_by_what_they_say() {
    for (class, keys) in [
        (
            KeyClass::Always,
            "password currentPassword db_pass client_secret otp SECRET new_password mot_de_passe motDePasse lösenord Lo\u{308}senord \
             пароль новый_пароль 비밀번호 密码 パスワード كلمة_المرور mậtKhẩu şifre jelszó_újra",
        ),
        (
            KeyClass::Likely,
            "x-csrf-token accessToken API_KEY apikey phpsessid session_id sessionid authtoken _csrf X-Amz-Signature \
             x-algolia-api-key refresh_token jwt auth",
        ),
        (
            KeyClass::Likely,
            "bitbucket_key x-rapidapi-key MAPBOX_ACCESS_TOKEN __Host-sid requestfinance-key urlscantoken azureopenaiaccess \
             statuspage_token asana_webhook auth_hash intra42Login",
        ),
        (
            KeyClass::Always,
            "pin verification_code card_pin sms-code userpass CC_TEST_REPORTER_ID urlscansecret",
        ),
        (
            KeyClass::Perhaps,
            "flumpazkey code state device_code ticket github openweathermap ACCESS the-odds-api mailgun_cert",
        ),
        (
            KeyClass::Harmless,
            "max_tokens token_type sort_key next_page_token pageToken credentialsId kms_key_id has_password \
             credentialsid jobcredentialsid keyvaulttostoresecrets passwordpolicy Sec-WebSocket-Key public_key \
             passwordPolicy secretary id order_id cache_key i18nKey LLM_SECRET_NAME gclid session_count_id",
        ),
        (
            KeyClass::Silent,
            "šifra парольный authors keyword keywords monkey compass zip_code keyboard title q whiskey pinned pin_x columns authority passenger",
        ),
        (
            KeyClass::Harmless,
            "video_key mediaKey commentSurfaceKey session_duration session_timeout oauth_scopes csrf-param token_last_eight \
             time_signature image_signature snowflake nanoid minithumbnail preview_b64 ixid passwordRules session_language cookie_flavour token_supply secretion_rate id_str trackid imagehash tokens_per_minute password_hint_shown \
             vault_id search_token",
        ),
        (
            KeyClass::Likely,
            "hashicorp_vault_token VAULT_CLIENT_TOKEN search_access_token user_search_api_key token_v2 vault_key",
        ),
        (KeyClass::Perhaps, "azure_search_query_key algolia_search_key"),
        (
            KeyClass::Harmless,
            "author track coverPhoto spotify_track youtube_video vehicleNumber previewData token_count session_title trackingParams",
        ),
        (KeyClass::Perhaps, "secret_garden cookie_banner private_room"),
        (KeyClass::Likely, "login_ticket sesskey fb_dtsg passkey sec-websocket-protocol"),
    ] {
        for key in keys.split_whitespace() {
            assert_eq!(classify(key, Place::Json), class, "{key}");
        }
    }
    assert_eq!(classify("key", Place::Query), KeyClass::Perhaps);
    assert_eq!(classify("key", Place::Answer), KeyClass::Harmless);
    assert_eq!(classify("github", Place::Answer), KeyClass::Silent);
    assert_eq!(classify("Sec-WebSocket-Key", Place::Header), KeyClass::Harmless);
}
