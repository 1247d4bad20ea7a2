//! Addresses as real applications write them, and what is known of them before there is an answer.

use super::super::{Call, Content, fields::BODY, judge_before_send};

/// Whether a request is known to read before it leaves, by itself alone.
fn check_reads(
    method: &str,
    url: &str,
    content_type: Option<&str>,
    body: Option<&[u8]>,
) -> Result<(), String> {
    let headers = content_type.map(|it| ("content-type", it)).into_iter().collect();
    let content =
        body.filter(|it| !it.is_empty()).map_or(Content::None, |it| Content::Bytes(it.into()));
    judge_before_send(&Call { method, url, headers, content }, None).into_result()
}

fn get(url: &str) -> Result<(), String> {
    let url = if url.starts_with("http") { url.to_owned() } else { format!("https://a.test{url}") };
    check_reads("GET", &url, None, None)
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
        assert_eq!(check_reads("HEAD", &format!("https://a.test{url}"), None, Some(b"")), Ok(()));
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
        assert!(check_reads("HEAD", &format!("https://a.test{url}"), None, None).is_err());
        assert!(check_reads("POST", &format!("https://a.test{url}"), None, None).is_err());
    }
}

#[test]
fn other_methods_are_not_known() {
    for method in ["PUT", "PATCH", "DELETE", "MERGE", "PROPPATCH", "get", "", "CONNECT"] {
        assert!(check_reads(method, "https://a.test/search?q=x", None, None).is_err(), "{method}");
    }
    assert!(check_reads("GET", "https://a.test/search", None, Some(b"a=1")).is_err());
    for url in ["wss://a.test/", "data:,x", "nothing", "file:///etc/passwd", "ftp://a.test/"] {
        assert!(check_reads("GET", url, None, None).is_err(), "{url}");
    }
    assert!(check_reads("OPTIONS", "https://a.test/orders", None, None).is_ok());
    let deep = format!("https://a.test/{}delete", "x/".repeat(70));
    assert!(check_reads("GET", &deep, None, None).is_err());
    let long = format!("https://a.test/{}/delete", "x".repeat(500));
    assert!(check_reads("GET", &long, None, None).unwrap_err().chars().count() < 170);
}

#[test]
fn what_is_known_of_posts() {
    const FORM: &str = "application/x-www-form-urlencoded";
    const JSON: &str = "application/json";
    const PARTS: &str = "multipart/form-data; boundary=x";
    for (path, kind, body, reads) in [
        ("/search", FORM, "q=lantern&page=2", true),
        // A word of a path alone says nothing.
        ("/search", "", "", false),
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
        ("/api/GetLocations", JSON, "{}", false),
        ("/api/GetLocations", JSON, r#"{"page":1}"#, true),
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
        ("/rpc", JSON, r#"{"jsonrpc":"2.0","method":"search"}"#, true),
        ("/rpc", JSON, r#"{"jsonrpc":"2.0","method":"orders"}"#, false),
        ("/search", JSON, r#"{"jsonrpc":"2.0","method":"order.place","params":{}}"#, false),
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
        let end = check_reads("POST", &url, kind, Some(body.as_bytes()));
        assert_eq!(end.is_ok(), reads, "{path} {body}: {end:?}");
    }
    let large = format!("q={}", "x".repeat(BODY));
    assert!(
        check_reads("POST", "https://a.test/search", Some(FORM), Some(large.as_bytes())).is_err()
    );
    assert!(check_reads("POST", "https://a.test/search", Some(FORM), Some(b"q=\xff")).is_err());
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
        let end = check_reads("POST", &url, Some("application/json"), Some(body.as_bytes()));
        assert_eq!(end.is_ok(), reads, "{path} {body}: {end:?}");
    }
}

/// All that are judged wrongly, at once.
fn misjudged(all: &[&str], reads: bool) -> Vec<String> {
    let told = |url: &&str| {
        let end = get(url);
        (end.is_ok() != reads).then(|| format!("{url}: {end:?}"))
    };
    all.iter().filter_map(told).collect()
}

#[test]
fn what_people_read_all_day_reads() {
    #[rustfmt::skip]
    let all = [
        // Names that begin with a verb.
        "/orders", "/orders?page=2", "/archive", "/archive/17", "/archive?page=2", "/archive?year=2024&month=3",
        "/archive?from=2024-01-01&to=2024-06-30", "/likes", "/follow-up-questions", "/running-shoes", "/closed-issues",
        "/news/pay-rise-for-nurses", "/2024/05/delete-your-cookies", "/blog/how-to-delete-a-file",
        "/blog/add-dark-mode-to-your-site", "/wiki/Delete_(computing)", "/wiki/Special:Search/delete", "/wiki/Help:Move",
        "/de:install", "/std/io/trait.Write.html", "/docs/delete", "/docs/api/delete-user", "/docs/graphql/mutations",
        "https://docs.a.test/en/rest/remove-background", "https://help.a.test/hc/cancel-your-plan", "/products/clear-glass-vase",
        "/products/clear-bags?variant=41234567890", "/products/add-a-bead-bracelet", "/collections/drop-earrings",
        "/collections/drop", "/pages/cancel-any-time", "/policies/refund-policy", "/refund-policy", "/purchase-history?page=2",
        "/purchase-orders/17", "/trash-cans", "/kick-off", "/movies/kill-bill", "/clear-quartz", "/add-ons", "/cancel-culture",
        "/marketplace", "/payment-methods", "/pay-calculator", "/move-planner", "/run-clubs", "/start-here", "/watch-live",
        "/save-money", "/order-history?id=7", "/like-new", "/send", "/stops?route=7", "/stop/1234", "/runs/7", "/block/800000",
        "/pin/17", "/watch/17", "/watch?v=dQw4w9WgXcQ&list=PL1&index=2&t=17", "/mail/trash", "/mail/trash?page=2", "/starred",
        "/addresses/17", "/banking", "/delivery?id=7", "/completed?id=7", "/users/7:search", "/report?id=7", "/checkout/shipping",
        "/checkout?step=payment", "/order/complete-guide",
        // Words that are searched for, or that a list is in order of.
        "/search?q=delete", "/search?q=delete+from+list", "/search?q=x;delete", "/search?action=search", "/search?query=mutation",
        "/search?q=x&submit=Search", "/search?q=x&submit=Submit", "/list?submit=Apply", "/list?sort=clear", "/list?a=1&event=17",
        "/?variant=delete", "/list?filter[status]=closed", "/list?item.delete=0", "/list?update_id=7",
        // GraphQL.
        "/graphql?query=%7B%20items%20%7B%20id%20%7D%20%7D", "/graphql?operationName=GetProducts&variables=%7B%22id%22%3A7%7D",
        "/graphql?operationName=UpdatesQuery&extensions=%7B%22persistedQuery%22%3A%7B%22sha256Hash%22%3A%22ab%22%7D%7D",
        "/api/v3/StaysSearch/8f14e45fceea?operationName=StaysSearch",
        "/i/api/graphql/8f14e45fceea/HomeTimeline?variables=%7B%22count%22%3A20%7D", "/graphql/query?query_hash=8f14e45fceea",
        // Stores that are asked by a GET: Prometheus, InfluxDB, CARTO, Elasticsearch, Solr, WebHDFS.
        "/api/v1/query?query=rate(http_requests_total[5m])", "/query?db=a&q=SELECT+mean(value)+FROM+cpu",
        "/api/v2/sql?q=SELECT+*+FROM+places", "/items/_search?q=delete", "/_cat/indices?v", "/solr/core/select?q=*:*",
        "/solr/admin/cores?action=STATUS", "/webhdfs/v1/tmp?op=LISTSTATUS",
        // Slack, VK, Flickr, Last.fm, Telegram.
        "/api/conversations.history?channel=C1", "/api/users.list", "/stopwatch?id=7", "/startups?id=7",
        "/method/users.get?user_ids=7", "/services/rest/?method=flickr.photos.search&text=delete",
        "/2.0/?method=track.getInfo&artist=x", "/bot17/getUpdates?offset=3",
        // Roundcube, phpList, DokuWiki, MoinMoin, Redmine, Zen Cart, WooCommerce.
        "/?_task=mail&_mbox=Trash", "/?_task=mail&_action=show&_uid=7&_mbox=INBOX", "/lists/?p=subscribe",
        "/doku.php?id=start&do=edit", "/doku.php?id=start&do=login&sectok=ab", "/doku.php?id=start&do=revisions",
        "/Page?action=AttachFile&do=view&target=x.png", "/projects/a/issues?set_filter=1&status_id=o",
        "/index.php?main_page=shopping_cart", "/?wc-ajax=get_refreshed_fragments",
        // Machines: VLC, SABnzbd, Tasmota, Nagios, Tomcat, Spring, Pi-hole, WHM.
        "/requests/status.xml", "/api?mode=queue&output=json", "/cm?cmnd=Status%200", "/nagios/cgi-bin/status.cgi?host=all",
        "/manager/text/list", "/actuator/health", "/admin/api.php?summary", "/json-api/listaccts",
        // Amazon, Facebook's part of other pages, Reddit.
        "/gp/your-account/order-history?ref_=x", "/gp/cart/view.html", "/dp/B00ABC1234?th=1",
        "/plugins/like.php?href=https%3A%2F%2Fb.test&width=450&appId=17", "/r/rust/comments/1abc23d4/remove_all_of_it/",
        "/owner/repo/compare/main...delete", "/linux.git/tree/kernel/signal.c?h=master",
    ];
    assert!(all.len() >= 100);
    assert_eq!(misjudged(&all, true), Vec::<String>::new());
}

#[test]
fn what_changes_is_asked_about() {
    #[rustfmt::skip]
    let all = [
        // A verb and its thing.
        "/send-money", "/send-money?to=evil&amount=5", "/transfer_money?to=evil&amount=100", "/sendmoney?to=evil", "/pay-now",
        "/pay-now?amount=5", "/buy-now?sku=7", "/book-now?room=7", "/empty-trash", "/clear-history", "/delete_messages?ids=1,2",
        "/delete-by-id", "/delete-by-id?id=7", "/delete-17", "/remove_all_my_photos?id=7", "/removeProductFromShoppingCart",
        "/addtocart", "/deluser.php?id=7", "/ajax_delete.php", "/doDelete", "/do_transfer", "/bulk-delete", "/submit-order",
        "/process-payment", "/checkout/complete", "/checkout/complete?id=7", "/checkout/pay", "/order/place",
        "/products/add-to-cart", "/products/delete?id=7", "/docs/delete?id=7", "/photo-remove?id=7",
        // Verbs by themselves.
        "/del", "/rm/17", "/rm?id=7", "/clear", "/clear?id=7", "/wipe", "/purge", "/kill?pid=7", "/drop?table=x",
        "/my/account/history/clear", "/my/account/history/17/delete", "/mail/trash?id=7", "/mail/move?id=7&to=trash", "/mail/archive?id=7", "/archive?id=7",
        "/follow?user=5", "/like?id=5", "/like/5", "/toggle?id=7", "/mark?id=7&as=read", "/restart?id=7", "/restart/7",
        "/stop?service=web", "/run?job=7", "/close?id=7", "/accounts/close?id=7", "/publish?id=7", "/reset?id=7",
        "/invoices/17/void", "/orders/17/submit",
        // In the query.
        "/?a=delete&id=7", "/?c=user&a=del&id=7", "/?action[]=delete", "/?form[action]=delete",
        "/?tx_news_pi1[action]=delete&tx_news_pi1[id]=7", "/?submit=Delete", "/?submit=Send&id=7", "/?btnDelete=1",
        "/?do_delete=1", "/?delete.x=12&delete.y=7", "/?action:delete=Delete", "/?delete_id=7", "/?remove_ids=7", "/?rm=7",
        "/?op=del&id=7", "/?action=findAndDelete", "/index.php?page=logout", "/index.php?page=delete_user&id=7",
        // Marks and masks.
        "/users/7:delete", "/users/7!delete", "/posts/7:delete", "/v1/projects/a/topics/b:publish", "/user!doDelete.action",
        "/account%252Fdelete", "/account%2Fdelete", "/account/%64elete", "/account%5Cdelete", "/x?action=%2564elete",
        "/x;action=delete", "/x?id=7;action=delete", "/x?id=7&amp;action=delete",
        // GraphQL and other stores.
        "/graphql?query=mutation%7BdeleteAccount%7Bid%7D%7D", "/graphql?query=%23a%0Amutation%20A%7Bb%7D",
        "/api?query=mutation%20%7B%20b%20%7D", "/graphql?operationName=DeleteAccount&extensions=%7B%7D",
        "/graphql?operationName=CartMutation&variables=%7B%7D", "/graphql?operationName=UpdateProfile", "/graphql?id=removeItem",
        "/i/api/graphql/8f14e45fceea/CreateTweet?variables=%7B%7D", "/query?db=a&q=DROP+MEASUREMENT+cpu",
        "/exec?query=drop+table+orders", "/?query=DROP+TABLE+orders", "/api/v2/sql?q=DELETE+FROM+places",
        "/x?sql=select+1;+delete+from+orders", "/index.php?route=/sql&sql_query=DROP+TABLE+x",
        "/solr/core/update?commit=true&stream.body=x", "/solr/admin/cores?action=UNLOAD&core=x",
        // phpBB, vBulletin, SMF, MyBB, Joomla, Drupal, TYPO3.
        "/mcp.php?i=main&mode=lock&t=17", "/login.php?do=logout&logouthash=x", "/subscription.php?do=addsubscription&t=17",
        "/index.php?action=deletemsg;topic=17.0;msg=3;sesc=ab", "/index.php?action=markasread;sa=all",
        "/usercp2.php?action=do&my_post_key=ab", "/index.php?option=com_users&task=user.logout",
        "/administrator/index.php?option=com_content&task=articles.publish&cid[]=17", "/node/17/delete",
        // Roundcube, Horde, SquirrelMail, phpList, Mailman.
        "/?_task=mail&_action=delete&_uid=7", "/?_task=logout&_token=x", "/imp/message.php?actionID=delete_message&index=7",
        "/src/delete_message.php?mailbox=INBOX&message=7", "/lists/?p=unsubscribe&uid=8f14", "/mailman/options/a?unsub=1",
        // Shops: osCommerce, Zen Cart, PrestaShop, OpenCart, WooCommerce, Amazon, eBay, PayPal.
        "/product_info.php?products_id=7&action=buy_now", "/shopping_cart.php?action=remove_product&products_id=7",
        "/index.php?main_page=logoff", "/cart?add=1&id_product=7", "/?mylogout=",
        "/index.php?route=account/wishlist.add&product_id=7", "/?wc-ajax=add_to_cart", "/gp/aws/cart/add.html?ASIN.1=B00ABC1234",
        "/myb/WatchListAdd?item=7", "/cgi-bin/webscr?cmd=_logout",
        // Slack, VK, Flickr, Telegram, Facebook.
        "/api/chat.delete?channel=C1&ts=1", "/api/conversations.archive?channel=C1", "/api/item.hide?id=7", "/transferitem?id=7",
        "/method/friends.add?user_id=7", "/method/messages.send?user_id=7&message=x",
        "/services/rest/?method=flickr.photos.delete", "/bot17/sendMessage?chat_id=7&text=x", "/bot17/deleteWebhook",
        "/a/like.php?ft_ent_identifier=7", "/a/mobile/friends/add_friend.php?id=7",
        // Trackers and builds: Bugzilla, MoinMoin, DokuWiki, Redmine, Jenkins.
        "/editproducts.cgi?action=del&product=x", "/index.cgi?logout=1", "/Page?action=DeletePage",
        "/Page?action=AttachFile&do=del&target=x", "/doku.php?id=start&do=revert&rev=17",
        "/watchers/watch?object_id=7&object_type=issue", "/job/app/doDelete", "/job/app/17/stop", "/safeRestart",
        // Machines: Shelly, Tasmota, VLC, SABnzbd, Tomcat, Spring, Supervisor, Nagios, Pi-hole, WHM, a router.
        "/relay/0?turn=on", "/rpc/Switch.Toggle?id=0", "/rpc/Shelly.Reboot", "/cm?cmnd=Power%20Toggle", "/cm?cmnd=Power%20On",
        "/requests/status.xml?command=pl_pause", "/api?mode=addurl&name=x", "/manager/text/undeploy?path=/x",
        "/manager/text/stop?path=/x", "/actuator/shutdown", "/index.html?action=stop&processname=web", "/?action=restartall",
        "/cgi-bin/cmd.cgi?cmd_typ=96&cmd_mod=2", "/admin/api.php?disable=300&auth=x", "/json-api/removeacct?user=x",
        "/json-api/suspendacct?user=x", "/userRpm/SysRebootRpm.htm?Reboot=Reboot",
    ];
    assert!(all.len() >= 150);
    assert_eq!(misjudged(&all, false), Vec::<String>::new());
}

/// What the head of the file says; what is learned to be told goes up.
#[test]
fn what_stays_untold_reads() {
    #[rustfmt::skip]
    let all = [
        "/order?id=7", "/rate?id=7&stars=5", "/led/on", "/x?id=7&state=gone", "/x?action=5", "/x7?k=9", "/block/17", "/watch?id=7",
        "/archive/17", "/posts/delete-all", "/graphql?extensions=%7B%22persistedQuery%22%3A%7B%22sha256Hash%22%3A%22ab%22%7D%7D",
    ];
    assert_eq!(misjudged(&all, true), Vec::<String>::new());
}

#[test]
fn a_statement_hides_behind_nothing() {
    let many = format!("select 1{}; delete from orders", "; select 1".repeat(5000));
    let long = format!("select {} 1; delete from orders", "x, ".repeat(20000));
    for sql in [many, long] {
        let body = serde_json::json!({ "sql": sql }).to_string();
        let kind = Some("application/json");
        let end = check_reads("POST", "https://a.test/query", kind, Some(body.as_bytes()));
        assert_eq!(end.unwrap_err(), "POST /query is about `delete`");
    }
}

#[test]
fn posts_that_do_by_what_they_find() {
    const JSON: &str = "application/json";
    for (path, body, reads) in [
        ("/items/_delete_by_query", "{}", false),
        ("/items/_update_by_query", "{}", false),
        ("/delete_search", "{}", false),
        ("/save-search", "{}", false),
        ("/search-save", "{}", false),
        ("/delete-query", "{}", false),
        ("/findAndModify", "{}", false),
        ("/findOneAndReplace", "{}", false),
        ("/getOrCreate", "{}", false),
        ("/search;action=delete", "{}", false),
        ("/items/7:delete", "{}", false),
        ("/search/alerts", "{}", false),
        ("/search/history", "{}", false),
        ("/query", r#"{"sql":"delete from orders"}"#, false),
        ("/query", r#"{"sql":"select 1; delete from orders"}"#, false),
        ("/query", r#"{"sql":"WITH a AS (SELECT 1) DELETE FROM orders"}"#, false),
        ("/query", r#"{"stmt":["  Insert into a values (1)"]}"#, false),
        ("/query", r#"{"query":"DROP TABLE orders"}"#, false),
        ("/query", r#"{"query":"/* x */ truncate orders"}"#, false),
        ("/query", r#"{"query":"-- x\nGRANT ALL ON a TO b"}"#, false),
        ("/query", r#"{"q":"update a set b = 1"}"#, false),
        ("/query", r#"{"command":"call transfer(7)"}"#, false),
        ("/db/neo4j/query/v2", r#"{"statement":"MATCH (n) DETACH DELETE n"}"#, false),
        ("/query", r#"{"query":"mutation { deleteAccount { id } }"}"#, false),
        ("/query", r#"{"query":"query A { a } mutation B { b }"}"#, false),
        ("/v1/query", r#"{"type":"delete","args":{"table":"orders","where":{}}}"#, false),
        ("/v1/query", r#"{"type":"run_sql","args":{}}"#, false),
        ("/query?sql=delete+from+orders", "{}", false),
        // What asks still does.
        ("/query", r#"{"sql":"select id, update_time from orders where state = 'open'"}"#, true),
        ("/query", r#"{"query":"SELECT 1"}"#, true),
        ("/query", r#"{"query":"query A { a }"}"#, true),
        ("/search", r#"{"q":"delete"}"#, true),
        ("/search", r#"{"query":"lantern for a call box"}"#, true),
        ("/search", r#"{"type":"book","query":"x"}"#, true),
        ("/orders/search", r#"{"status":"open"}"#, true),
        ("/order-search", r#"{"status":"open"}"#, true),
        ("/order-search", "{}", false),
        ("/search/17", r#"{"page":2}"#, true),
        ("/search/products", r#"{"page":2}"#, true),
        ("/v1/projects/a/databases/b/documents:runQuery", "{}", true),
        ("/v1/projects/a/databases/b/documents:batchGet", "{}", true),
    ] {
        let url = format!("https://a.test{path}");
        let end = check_reads("POST", &url, Some(JSON), Some(body.as_bytes()));
        assert_eq!(end.is_ok(), reads, "{path} {body}: {end:?}");
    }
}
