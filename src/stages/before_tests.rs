//! Addresses as real applications write them, and what is known of them before there is an answer.

use super::*;

fn get(url: &str) -> Result<(), String> {
    let url = if url.starts_with("http") { url.to_owned() } else { format!("https://a.test{url}") };
    known_to_read("GET", &url, None, None)
}

#[test]
fn these_read() {
    for url in [
        "/",
        "/orders",
        "/orders?status=open&sort=date",
        "/orders/17",
        "/order/17",
        "/order-history",
        "/comments?page=2",
        "/posts/17",
        "/post/17/comments",
        "/books/17",
        "/book/17",
        "/cart",
        "/cart.js",
        "/checkout",
        "/places/berlin",
        "/messages/17",
        "/archive/2024",
        "/blog/2024/archive",
        "/issues/new",
        "/items/17/edit",
        "/search?q=delete",
        "/search?q=remove&page=2",
        "/?q=delete",
        "/?s=remove",
        "/find?text=add+to+cart",
        "/login",
        "/login?next=%2Fcart%2Fadd",
        "/login?return_to=https%3A%2F%2Fa.test%2Flogout",
        "/login/oauth/authorize?client_id=1&redirect_uri=x&scope=read&state=y&response_type=code",
        "/signup?plan=free",
        "/users/sign_in",
        "/users/password/new",
        "/register",
        "/subscribe",
        "/donate",
        "/submit",
        "/contact",
        "/buy",
        "/buy/houses-in-berlin",
        "/flag/germany",
        "/vote",
        "/watch?v=delete",
        "/settings/profile",
        "/products/add-on-lantern",
        "/products?hide=sold",
        "/list?order=asc&sort=price&hide_sold=1",
        "/items?delete=0&archived=false",
        "/about/company",
        // Titles.
        "/wiki/Delete",
        "/wiki/Cancel_culture",
        "/en/wiki/Add",
        "/tags/remove",
        "/questions/tagged/delete",
        "/questions/12345/remove-duplicates-from-a-list",
        "/questions/12345/delete-file",
        "/blog/cancel",
        "/blog/how-to-delete-your-account",
        "/docs/api/delete",
        "/dictionary/destroy",
        "/r/rust/comments/1abc23d4/add_item/",
        "/2024/05/how-to-remove-items/",
        "/news/17-ways-to-save",
        // MediaWiki.
        "/w/index.php?title=Delete&action=edit",
        "/w/index.php?title=X&action=raw",
        "/w/index.php?title=X&action=history",
        "/w/index.php?title=Special:Search&search=remove",
        "/w/index.php?title=X&oldid=17&diff=prev",
        "/w/api.php?action=query&list=search&srsearch=delete&format=json",
        "/w/api.php?action=parse&page=Remove&prop=text",
        "/index.php?page=orders",
        "/wiki/Special:Search?search=add",
        // WordPress.
        "/wp-admin/post.php?post=17&action=edit",
        "/wp-admin/edit.php?post_type=page&post_status=trash",
        "/wp-admin/edit.php?s=x&action=-1&_wpnonce=abc&_wp_http_referer=%2Fwp-admin",
        "/wp-json/wp/v2/posts?search=delete",
        "/wp-admin/admin-ajax.php?action=search_products&term=x",
        "/wp-admin/admin-ajax.php?action=get_cart",
        "/wp-login.php?action=lostpassword",
        "/wp-content/plugins/add-to-cart/style.css",
        // Django's admin.
        "/admin/",
        "/admin/shop/order/",
        "/admin/shop/order/17/change/",
        "/admin/shop/order/add/",
        "/admin/auth/user/?q=delete&o=1",
        // Jira.
        "/browse/PROJ-17",
        "/secure/CreateIssue!default.jspa",
        "/secure/Dashboard.jspa",
        "/rest/api/2/issue/PROJ-17",
        "/rest/api/2/search?jql=resolution%20%3D%20Unresolved",
        "/issues/?jql=text%20~%20delete",
        // GitHub, Gitea, GitLab.
        "/rust-lang/rust/issues?q=is%3Aopen+delete",
        "/rust-lang/rust/issues/new?template=bug.md",
        "/rust-lang/rust/pull/17/files",
        "/rust-lang/rust/blob/master/src/delete.rs",
        "/rust-lang/rust/tree/main/add",
        "/rust-lang/rust/edit/main/remove.md",
        "/rust-lang/rust/archive/refs/heads/main.zip",
        "/facebook/react",
        "/torvalds/linux/stargazers",
        "/owner/repo/src/branch/main/delete",
        "/explore/repos?q=add",
        "/group/project/-/merge_requests/17",
        "/group/project/-/merge_requests/new",
        // Shops.
        "/collections/all?sort_by=price",
        "/products/lantern?variant=17",
        "/index.php?route=product/search&search=add",
        "/index.php?controller=order",
        "/catalogsearch/result/?q=remove",
        "/customer/account/create/",
        // Boards.
        "/viewtopic.php?t=17&start=20",
        "/posting.php?mode=reply&t=17",
        "/ucp.php?mode=login&redirect=index.php",
        "/ucp.php?mode=register&sid=0123456789abcdef",
        "/memberlist.php?mode=viewprofile&u=17",
        "/item?id=17",
        "/reply?id=17&goto=item",
        "/upvoted?id=ann",
        "/submitted?id=ann",
        "/r/rust/submit",
        "/intent/tweet?text=hello",
        // Parts of pages.
        "/static/icons/delete.svg",
        "/img/add/icon.png",
        "/assets/logout-1a2b3c.js",
        "/js/add.js",
        "/npm/remove@1.0/dist/remove.min.js",
        "/_next/static/chunks/pages/account/delete-17.js",
        "/bundles/fave/4.32.0/vendor",
        "/favicon.ico",
    ] {
        assert_eq!(get(url), Ok(()), "{url}");
        assert_eq!(known_to_read("HEAD", &format!("https://a.test{url}"), None, Some(b"")), Ok(()));
    }
}

#[test]
fn these_speak_of_a_change() {
    for (url, word) in [
        ("/account/delete", "delete"),
        ("/account/delete/confirm", "delete"),
        ("/delete/17", "delete"),
        ("/orders/17/cancel", "cancel"),
        ("/list?action=remove", "remove"),
        ("/list?do=delete&id=17", "delete"),
        ("/x?op=user.logout", "logout"),
        ("/x?_method=DELETE", "delete"),
        ("/x?delete=17", "delete"),
        ("/x?remove", "remove"),
        ("/cart/add", "add"),
        ("/cart/add/17", "add"),
        ("/cart/add?id=17", "add"),
        ("/cart/add.js?id=17", "add"),
        ("/cart/change?line=1&quantity=0", "change"),
        ("/cart/clear.js", "clear"),
        ("/cart/update?x=1", "update"),
        ("/de/warenkorb/hinzufuegen", "hinzufuegen"),
        ("/warenkorb/hinzuf%C3%BCgen", "hinzufügen"),
        ("/add-to-cart/17", "add"),
        ("/addToCart?id=17", "add"),
        ("/AddToCart.aspx?id=17", "add"),
        ("/removeItem", "remove"),
        ("/delete_account", "delete"),
        ("/cancel-subscription", "cancel"),
        ("/mark-all-read", "mark"),
        ("/place-order", "place"),
        ("/cart_add?id=17", "add"),
        ("/logout", "logout"),
        ("/logout.php", "logout"),
        ("/log-out", "logout"),
        ("/Account/LogOff", "logoff"),
        ("/users/sign_out", "signout"),
        ("/user-logout", "logout"),
        ("/en/logout", "logout"),
        ("/logout%2f", "logout"),
        ("/l%6Fgout", "logout"),
        ("/logout;jsessionid=1", "logout"),
        ("/users/ann/follow", "follow"),
        ("/posts/17/like", "like"),
        ("/issues/17/close", "close"),
        ("/questions/123/delete", "delete"),
        ("/posts/delete/17", "delete"),
        ("/blog/delete?id=17", "delete"),
        ("/library/remove?isbn=3", "remove"),
        ("/users/create?name=x", "create"),
        ("/subscribe?email=x", "subscribe"),
        ("/login?user=ann&password=x", "login"),
        ("/verify/8f14e45fceea", "verify"),
        ("/buy/17", "buy"),
        // MediaWiki.
        ("/w/index.php?title=X&action=delete", "delete"),
        ("/w/index.php?title=X&action=rollback&token=y", "rollback"),
        ("/w/index.php?title=X&action=watch", "watch"),
        ("/wiki/Special:UserLogout", "logout"),
        ("/w/index.php?title=Special:UserLogout", "logout"),
        ("/w/api.php?action=logout", "logout"),
        // WordPress.
        ("/wp-login.php?action=logout&_wpnonce=abc", "logout"),
        ("/wp-admin/post.php?post=17&action=trash&_wpnonce=abc", "trash"),
        ("/wp-admin/plugins.php?action=activate&plugin=x", "activate"),
        ("/wp-admin/x.php?_wpnonce=abc", "_wpnonce"),
        ("/wp-admin/admin-ajax.php?action=woocommerce_add_to_cart", "add"),
        ("/?add-to-cart=17", "add"),
        ("/cart/?remove_item=0f3b", "remove"),
        // Django's admin.
        ("/admin/shop/order/17/delete/", "delete"),
        ("/admin/blog/post/17/delete/", "delete"),
        ("/admin/logout/", "logout"),
        ("/shop/order/add/", "add"),
        // Jira.
        ("/secure/DeleteComment!default.jspa?id=1", "delete"),
        ("/secure/Logout.jspa", "logout"),
        ("/secure/WorkflowUIDispatcher.jspa?id=1&action=5&atl_token=x", "atl_token"),
        // GitHub, Gitea.
        ("/rust-lang/rust/delete/main/README.md", "delete"),
        ("/torvalds/linux/star", "star"),
        ("/owner/repo/action/star", "star"),
        ("/owner/repo/_delete/main/x", "delete"),
        ("/notifications/unsubscribe/abc", "unsubscribe"),
        // Shops.
        ("/checkout/cart/add/uenc/abc/product/17/", "add"),
        ("/wishlist/index/add/product/17", "add"),
        ("/customer/account/logout/", "logout"),
        ("/index.php?route=checkout/cart/add&product_id=1", "add"),
        ("/index.php?controller=cart&add=1&id_product=7", "add"),
        // Boards.
        ("/ucp.php?mode=logout&sid=0123456789abcdef", "logout"),
        ("/posting.php?mode=delete&p=17", "delete"),
        ("/viewforum.php?f=2&watch=forum&hash=ab", "watch"),
        ("/vote?id=17&how=up&auth=x", "vote"),
        ("/flag?id=17&auth=x", "flag"),
        ("/hide?id=17", "hide"),
        ("/?q=user/logout", "logout"),
        ("/index.php?q=user/logout", "logout"),
        ("/index.php?r=site/logout", "logout"),
        ("/course/view.php?id=3&sesskey=ab&hide=4", "sesskey"),
        // Letters with links in them.
        ("/unsubscribe?u=1&id=2", "unsubscribe"),
        ("/email/unsubscribe/abc", "unsubscribe"),
        ("/preferences/opt-out", "optout"),
        ("/u/unsub/abc", "unsub"),
        ("/email-preferences/unsubscribe-all", "unsubscribe"),
        ("/confirm/abc", "confirm"),
        ("/invitations/abc/accept", "accept"),
    ] {
        let end = get(url).unwrap_err();
        assert!(
            end.starts_with("GET /") && end.ends_with(&format!("is about `{word}`")),
            "{url}: {end}"
        );
        assert!(known_to_read("HEAD", &format!("https://a.test{url}"), None, None).is_err());
        assert!(known_to_read("POST", &format!("https://a.test{url}"), None, None).is_err());
    }
}

#[test]
fn other_methods_are_not_known() {
    for method in ["PUT", "PATCH", "DELETE", "MERGE", "PROPFIND", "get", "", "CONNECT"] {
        assert!(
            known_to_read(method, "https://a.test/search?q=x", None, None).is_err(),
            "{method}"
        );
    }
    assert!(known_to_read("GET", "https://a.test/search", None, Some(b"a=1")).is_err());
    for url in ["wss://a.test/", "data:,x", "nothing", "file:///etc/passwd", "ftp://a.test/"] {
        assert!(known_to_read("GET", url, None, None).is_err(), "{url}");
    }
    assert!(known_to_read("OPTIONS", "https://a.test/orders", None, None).is_ok());
    let deep = format!("https://a.test/{}delete", "x/".repeat(70));
    assert!(known_to_read("GET", &deep, None, None).is_err());
    let long = format!("https://a.test/{}/delete", "x".repeat(500));
    assert!(known_to_read("GET", &long, None, None).unwrap_err().chars().count() < 170);
}

#[test]
fn what_is_known_of_posts() {
    const FORM: &str = "application/x-www-form-urlencoded";
    const JSON: &str = "application/json";
    const PARTS: &str = "multipart/form-data; boundary=x";
    for (path, kind, body, reads) in [
        ("/search", FORM, "q=lantern&page=2", true),
        ("/search", "", "", true),
        ("/_search", JSON, r#"{"query":{"match":{"field":"x"}},"size":10}"#, true),
        ("/items/_search", JSON, r#"{"query":{"match_all":{}}}"#, true),
        ("/_msearch", "application/x-ndjson", "{\"index\":\"a\"}\n{\"size\":1}\n", true),
        ("/1/indexes/docs/query", JSON, r#"{"query":"x","hitsPerPage":20}"#, true),
        (
            "/1/indexes/*/queries",
            "text/plain",
            r#"{"requests":[{"indexName":"a","params":"query=x"}]}"#,
            true,
        ),
        ("/api/orders/search", JSON, r#"{"status":"open"}"#, true),
        (
            "/v1/search",
            JSON,
            r#"{"context":{"clientName":"WEB","osName":"X11"},"query":"x"}"#,
            true,
        ),
        ("/api/searchProducts", JSON, r#"{"term":"x"}"#, true),
        ("/api/GetLocations", JSON, "{}", true),
        ("/suggest", FORM, "prefix=lan", true),
        (
            "/search",
            PARTS,
            "--x\r\nContent-Disposition: form-data; name=\"q\"\r\n\r\nlantern\r\n--x--\r\n",
            true,
        ),
        // Another word comes after, or it is the name of a thing.
        ("/search/save", FORM, "q=lantern", false),
        ("/search/17/delete", "", "", false),
        ("/searches", JSON, r#"{"q":"x"}"#, false),
        ("/queries", JSON, r#"{"q":"x"}"#, false),
        ("/getCartItems", JSON, "{}", false),
        ("/filter", JSON, r#"{"q":"x"}"#, false),
        ("/list", FORM, "q=x", false),
        ("/view", FORM, "q=x", false),
        ("/notifications/read", FORM, "id=17", false),
        ("/orders", FORM, "item=17", false),
        ("/", FORM, "q=x", false),
        ("/data", JSON, r#"{"query":"x"}"#, false),
        ("/rpc", JSON, r#"{"jsonrpc":"2.0","method":"search"}"#, false),
        ("/search?action=delete", FORM, "q=x", false),
        // A text is kept, or something is done.
        ("/search", FORM, "q=x&comment=hello", false),
        ("/search", FORM, "q=x&comment=", true),
        ("/search", JSON, r#"{"q":"x","user":{"email":"ann@a.test"}}"#, false),
        ("/search", JSON, r#"{"q":"x","notes":["hello"]}"#, true),
        ("/search", JSON, r#"{"q":"x","note":["hello"]}"#, false),
        ("/search", FORM, "q=x&action=remove", false),
        ("/search", FORM, "q=x&_method=delete", false),
        ("/search", FORM, "q=x&delete=17", false),
        ("/search", JSON, r#"[{"action":"create"}]"#, false),
        (
            "/search",
            PARTS,
            "--x\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\nhi\r\n--x--\r\n",
            false,
        ),
        (
            "/search",
            PARTS,
            "--x\r\nContent-Disposition: form-data; name=\"q\"; filename=\"a\"\r\n\r\nhi\r\n--x--\r\n",
            false,
        ),
        ("/search", "application/octet-stream", "\u{1}\u{2}", false),
        ("/search", "text/plain", "some words to be kept", false),
        ("/search", JSON, "{\"q\":", false),
    ] {
        let url = format!("https://a.test{path}");
        let kind = Some(kind).filter(|it| !it.is_empty());
        let end = known_to_read("POST", &url, kind, Some(body.as_bytes()));
        assert_eq!(end.is_ok(), reads, "{path} {body}: {end:?}");
    }
    let large = format!("q={}", "x".repeat(BODY));
    assert!(
        known_to_read("POST", "https://a.test/search", Some(FORM), Some(large.as_bytes())).is_err()
    );
    assert!(known_to_read("POST", "https://a.test/search", Some(FORM), Some(b"q=\xff")).is_err());
}

#[test]
fn what_is_known_of_graphql() {
    for (path, body, reads) in [
        ("/graphql", r#"{"query":"{ items { id } }"}"#, true),
        (
            "/api/graphql",
            r#"{"query":"query Q($a: Int) { items(first: $a) { id } }","variables":{"a":1},"operationName":"Q"}"#,
            true,
        ),
        ("/gql", r#"[{"query":"{ a }"},{"query":"{ b }"}]"#, true),
        (
            "/graphql.json",
            r#"{"query":"{ a }","extensions":{"persistedQuery":{"version":1,"sha256Hash":"ab"}}}"#,
            true,
        ),
        ("/graphql/query", r#"{"query":"{ a }"}"#, true),
        ("/graphql", r#"{"query":"mutation M { buy }"}"#, false),
        ("/graphql", "{\"query\":\"# x\\nmutation M { buy }\"}", false),
        ("/graphql", r#"{"query":"fragment F on A { b } mutation { buy }"}"#, false),
        ("/graphql", r#"[{"query":"{ a }"},{"query":"mutation { b }"}]"#, false),
        // A string of three quotes that would swallow it.
        ("/graphql", "{\"query\":\"\\\"\\\"\\\" \\\" \\\"\\\"\\\" mutation { buy }\"}", false),
        ("/graphql", "{\"query\":\"\\u006dutation { buy }\",\"query\":\"{ a }\"}", false),
        ("/graphql", r#"{"query":"{ a }","query":"mutation { b }"}"#, false),
        (
            "/graphql",
            r#"{"operationName":"SearchRepos","extensions":{"persistedQuery":{}}}"#,
            false,
        ),
        ("/graphql", r#"{"query":"{ a }","doc_id":"17"}"#, false),
        ("/graphql", r#"{"id":"17"}"#, false),
        ("/graphql", "[]", false),
        ("/graphql", "", false),
        ("/graphql", "query=%7Ba%7D", false),
        ("/graphql?query=mutation%7Bb%7D", r#"{"query":"{ a }"}"#, false),
        ("/graphql?doc_id=17", r#"{"query":"{ a }"}"#, false),
        // It only looks like one.
        ("/graphql/8f14e45fceea/CreateTweet", r#"{"query":"{ a }"}"#, false),
        ("/account", r#"{"query":"{ a }"}"#, false),
        ("/account/delete/graphql", r#"{"query":"{ a }"}"#, false),
    ] {
        let url = format!("https://a.test{path}");
        let end = known_to_read("POST", &url, Some("application/json"), Some(body.as_bytes()));
        assert_eq!(end.is_ok(), reads, "{path} {body}: {end:?}");
    }
}
