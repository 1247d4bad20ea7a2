//! Words by which addresses say what is done, and those beside which a verb is only a name; and what a word, a name or a statement says.

/// Verbs wherever they are a segment by themselves, or what an address says that is to be done.
#[rustfmt::skip]
pub const VERBS: &[&str] = &[
    "accept", "acknowledge", "activate", "add", "approve", "ban", "cancel", "clear", "confirm", "deactivate",
    "decline", "decrement", "del", "delete", "deregister", "destroy", "detach", "disable", "disapprove",
    "discard", "disconnect", "dismiss", "downvote", "drop", "enable", "enroll", "erase", "impersonate",
    "increment", "insert", "kick", "kill", "logoff", "logout", "markasread", "markread", "mute", "optin",
    "optout", "poweroff", "poweron", "purchase", "purge", "reactivate", "reboot", "redeem", "refund",
    "reject", "remove", "reopen", "revert", "revoke", "rm", "rollback", "shutdown", "signoff", "signout",
    "switchoff", "switchon", "terminate", "turnoff", "turnon", "unapprove", "unarchive", "unassign", "unban",
    "unblock", "undelete", "undeploy", "undo", "unenroll", "unfave", "unflag", "unfollow", "unfriend",
    "unhide", "uninstall", "unlike", "unlink", "unload", "unlock", "unmute", "unpin", "unpublish",
    "unregister", "unset", "unspam", "unstar", "unsub", "unsubscribe", "untrash", "unvote", "unwatch",
    "upvote", "wipe", "withdraw",
    // The same in other languages.
    "abmelden", "ajouter", "agregar", "annuler", "bestellen", "borrar", "cancelar", "deconnexion", "eliminar",
    "entfernen", "hinzufuegen", "hinzufügen", "kaufen", "kuendigen", "kündigen", "loeschen", "löschen",
    "stornieren", "supprimer",
];

/// The same where something is named that it is done to: `/flag?id=17`, and not `/flag/germany`.
pub const LOOSE: &[&str] = &[
    "acheter",
    "bezahlen",
    "bid",
    "buy",
    "comprar",
    "empty",
    "fave",
    "flag",
    "grant",
    "hide",
    "save",
    "spam",
    "trash",
    "ueberweisen",
    "vote",
    "überweisen",
];

/// Verbs behind what they are done to: `/users/ann/follow`. By themselves they are pages.
#[rustfmt::skip]
pub const BEHIND: &[&str] = &[
    "apply", "archive", "assign", "block", "bookmark", "bump", "capture", "charge", "claim",
    "close", "complete", "copy", "demote", "deploy", "deposit", "duplicate", "escalate", "execute", "extend",
    "favorite", "favourite", "finish", "follow", "freeze", "install", "join", "leave", "like", "lock", "mark",
    "merge", "move", "notify", "pause", "pay", "pin", "poke", "promote", "publish", "react", "rebuild",
    "regenerate", "reload", "renew", "requeue", "rerun", "resend", "reserve", "reset", "resolve", "restart",
    "restore", "resume", "retry", "rotate", "run", "send", "ship", "snooze", "star", "start", "stop",
    "submit", "subscribe", "suspend", "sync", "toggle", "transfer", "trigger", "unsuspend", "verify", "void",
    "vote", "watch",
];

/// Of these, verbs behind a name as well as behind a number.
pub const SOCIAL: &[&str] = &[
    "block",
    "bookmark",
    "favorite",
    "favourite",
    "follow",
    "join",
    "leave",
    "like",
    "pin",
    "star",
    "subscribe",
    "watch",
];

/// A GET shows the form for it, unless it carries what the form asks for.
#[rustfmt::skip]
pub const FORMS: &[&str] = &[
    "apply", "create", "donate", "import", "invite", "join", "login", "pay", "publish", "register", "rename",
    "reserve", "reset", "send", "set", "signin", "signup", "submit", "subscribe", "transfer", "update",
    "upload", "verify", "write",
];

/// Parameters of a page that shows a form: where it was come from, and what it is about.
#[rustfmt::skip]
pub const ABOUT: &[&str] = &[
    "back", "backurl", "category", "client", "continue", "dest", "destination", "f", "forum", "from", "goto",
    "hl", "kind", "lang", "language", "locale", "mode", "next", "nonce", "oldid", "page", "parent", "plan",
    "preload", "prompt", "redirect", "redlink", "ref", "referer", "referrer", "return", "returnto",
    "returnurl", "scope", "section", "source", "state", "step", "t", "tab", "template", "theme", "title",
    "topic", "type", "veaction", "view", "code_challenge", "code_challenge_method", "response_type",
    "redirect_uri", "redirect_to", "return_to", "return_url", "response_mode", "action", "limit", "offset",
    "per_page", "page_size", "pagesize", "perpage", "phpsessid", "jsessionid", "q", "search", "sectok", "sid",
    "sort", "sort_by", "order_by", "desc",
];

/// What verbs are done to.
#[rustfmt::skip]
pub const THINGS: &[&str] = &[
    "account", "address", "alert", "all", "attachment", "bag", "basket", "booking", "bookmark", "card",
    "cart", "channel", "comment", "contact", "coupon", "device", "email", "entry", "event", "favorites",
    "favourites", "file", "folder", "friend", "group", "image", "invitation", "invite", "invoice", "issue",
    "item", "items", "key", "me", "member", "membership", "message", "note", "order", "page", "password",
    "payment", "photo", "post", "product", "profile", "project", "read", "record", "repo", "repository",
    "request", "reservation", "review", "role", "row", "session", "spam", "subscription", "tag", "task",
    "thread", "ticket", "token", "topic", "trip", "unread", "user", "video", "wishlist",
];

/// Where things are put together that are bought later.
pub const CARTS: &[&str] = &["cart", "basket", "bag", "wishlist", "warenkorb", "panier", "carrito"];
pub const IN_CARTS: &[&str] = &["apply", "change", "clear", "set", "update"];

/// What stands behind these is a title, until there is a number.
#[rustfmt::skip]
pub const TITLED: &[&str] = &[
    "article", "articles", "blog", "blogs", "c", "categories", "category", "crates", "define", "dictionary",
    "doc", "docs", "documentation", "faq", "gems", "glossary", "guide", "guides", "help", "kb", "learn",
    "library", "man", "module", "modules", "news", "npm", "package", "packages", "post", "posts", "q",
    "question", "questions", "r", "reference", "search", "story", "support", "synonyms", "tag", "tagged",
    "tags", "term", "thesaurus", "topic", "topics", "translate", "tutorials", "wiki", "word", "words",
];

/// What stands behind these, in a repository, is the path of a file.
pub const FILES: &[&str] = &["blame", "blob", "commits", "edit", "history", "raw", "src", "tree"];

/// Folders of what is part of pages.
#[rustfmt::skip]
pub const STATIC: &[&str] = &[
    "_next", "_nuxt", "assets", "build", "css", "dist", "fonts", "icons", "images", "img", "js", "media",
    "node_modules", "plugins", "static", "themes", "vendor", "wp-content", "wp-includes",
];
pub const ASSETS: &[&str] = &[
    "avif", "css", "eot", "gif", "ico", "jpeg", "jpg", "js", "map", "mjs", "mp3", "mp4", "otf",
    "pdf", "png", "svg", "ttf", "wasm", "webm", "webp", "woff", "woff2",
];
/// A program answers, and its name may say what it does.
pub const PROGRAMS: &[&str] =
    &["action", "ashx", "asp", "aspx", "cfm", "cgi", "do", "jsp", "jspa", "php", "pl", "py", "svc"];

/// Parameters that say what is to be done.
#[rustfmt::skip]
pub const ACTIONS: &[&str] = &[
    "ac", "acao", "accion", "act", "actie", "action", "actionid", "actiontype", "aktion", "azione", "cmd",
    "cmnd", "command", "do", "doaction", "func", "function", "fuseaction", "method", "mode", "op", "oper",
    "operation", "subaction", "task", "todo", "verb", "wc-ajax",
];
/// Parameters that are another path.
pub const PATHS: &[&str] =
    &["controller", "main_page", "module", "p", "page", "path", "q", "r", "route", "rt", "view"];
/// Of these, such as are a path of one word, too.
pub const PAGES: &[&str] = &["controller", "route"];
/// Parameters whose name alone is a verb.
#[rustfmt::skip]
pub const NAMED: &[&str] = &[
    "activate", "add", "approve", "ban", "borrar", "cancel", "deactivate", "del", "delete", "destroy",
    "disable", "dismiss", "downvote", "drop", "eliminar", "enable", "erase", "kaufen", "kill", "loeschen",
    "logoff", "logout", "löschen", "mylogout", "optout", "purge", "reboot", "refund", "reject", "remove",
    "revoke", "rm", "shutdown", "signout", "supprimer", "terminate", "trash", "unban", "unblock", "undelete",
    "undo", "unfollow", "uninstall", "unlike", "unlink", "unpin", "unpublish", "unsub", "unsubscribe",
    "unwatch", "upvote", "vote", "watch", "wipe",
];
/// Sent with a GET for nothing but a change, by WordPress, Moodle, Atlassian, MyBB and others.
pub const PROOFS: &[&str] = &[
    "_authenticator",
    "_wpnonce",
    "atl_token",
    "cmd_mod",
    "logouthash",
    "logoutkey",
    "my_post_key",
    "securitytoken",
    "sesc",
    "sesskey",
];
/// What ends a stay, also behind a word: `UserLogout`, `wp-logout`.
pub const LEAVING: &[&str] =
    &["logoff", "logout", "signoff", "signout", "unsubscribe", "optout", "abmelden"];

/// Words by which the path of a POST asks. Fewer than those that may stand in an answer's favour: `POST /filter`, `/list`, `/view` and
/// `/notifications/read` make, count or mark something.
pub const ASKS: &[&str] = &[
    "autocomplete",
    "autosuggest",
    "browse",
    "fetch",
    "find",
    "get",
    "lookup",
    "msearch",
    "query",
    "search",
    "suggest",
    "typeahead",
];

/// More of them, for what is called by a GET.
pub const SHOWS: &[&str] =
    &["check", "count", "download", "export", "list", "load", "preview", "print", "show", "view"];

/// Fields in which a text would be kept.
#[rustfmt::skip]
pub const TEXTS: &[&str] = &[
    "address", "bio", "body", "caption", "comment", "content", "description", "email", "label", "message",
    "name", "note", "password", "phone", "quantity", "reply", "subject", "text", "title",
];

/// Before such a field's name: what is searched and in which way, and who asks.
#[rustfmt::skip]
pub const SEARCHED: &[&str] = &[
    "app", "block", "browser", "client", "collection", "display", "filter", "form", "layout", "list", "view", "country", "device", "facet", "field", "file", "host", "index",
    "network", "operation", "os", "platform", "query", "region", "search", "sort", "srch", "table",
];

/// Of the verbs, such as name or describe a thing as well: `/refund-policy`, `/clear-quartz`, `/drop-earrings`.
#[rustfmt::skip]
pub const ALSO: &[&str] = &[
    "ban", "clear", "decline", "drop", "insert", "kick", "kill", "mute", "purchase", "refund",
];

/// Two words that are a name, whatever follows.
#[rustfmt::skip]
pub const COMPOUNDS: &[&str] = &[
    "addin", "addins", "addon", "addons", "banlist", "banlists", "cancelculture", "enablecookies",
    "enablejavascript", "followup", "followups", "kickoff", "kickoffs", "purchaseorder", "purchaseorders",
    "purchaserequisition", "purchaserequisitions",
];

/// Verbs before the number of what they are done to. Not `/block/17`, `/stop/17`, `/watch/17`, which are things.
#[rustfmt::skip]
pub const AHEAD: &[&str] = &[
    "bump", "close", "complete", "execute", "favorite", "favourite", "finish", "follow", "like", "mark",
    "notify", "pause", "poke", "react", "renew", "requeue", "rerun", "resend", "restart", "restore", "retry",
    "suspend", "toggle",
];

/// More of what verbs are done to, for such as do nothing else but do.
#[rustfmt::skip]
pub const MORE: &[&str] = &[
    "acct", "backup", "bill", "bin", "bucket", "cache", "campaign", "certificate", "column", "container",
    "content", "customer", "data", "database", "db", "directory", "document", "draft", "employee", "feed",
    "field", "host", "index", "job", "label", "license", "link", "list", "listing", "location", "log", "mail",
    "media", "msg", "node", "notification", "object", "offer", "option", "permission", "picture", "plan",
    "plugin", "poll", "process", "property", "queue", "registration", "report", "resource", "rule",
    "schedule", "selected", "server", "service", "setting", "shipment", "site", "snapshot", "song", "story",
    "student", "subscriber", "table", "team", "template", "tweet", "url", "volume", "vote", "webhook",
    "website", "workflow", "workspace",
];

/// What is done with money, and how it is called there: `/send-money`, `/pay-now`.
#[rustfmt::skip]
pub const PAYS: &[&str] = &[
    "deposit", "pay", "send", "transfer", "wire", "withdraw",
];

#[rustfmt::skip]
pub const MONEY: &[&str] = &[
    "amount", "bitcoin", "cash", "coins", "credits", "crypto", "funds", "gift", "money", "now", "tip",
];

/// What is cleared or emptied.
#[rustfmt::skip]
pub const EMPTIES: &[&str] = &[
    "all", "basket", "bin", "cache", "cart", "cookies", "data", "database", "folder", "history", "inbox",
    "junk", "list", "log", "logs", "notifications", "queue", "session", "spam", "storage", "trash",
];

/// What is done to an order at last: `/checkout/complete`, `/submit-order`.
#[rustfmt::skip]
pub const BUYS: &[&str] = &[
    "capture", "charge", "complete", "confirm", "execute", "finalise", "finalize", "finish", "pay", "place",
    "process", "submit",
];

#[rustfmt::skip]
pub const BUYING: &[&str] = &[
    "bid", "booking", "checkout", "donation", "order", "orders", "payment", "payments", "purchase",
    "reservation", "trade", "transaction", "transfer",
];

/// Verbs and things in one, that are done where `now` follows and something is named.
#[rustfmt::skip]
pub const ORDERS: &[&str] = &[
    "apply", "bid", "book", "checkout", "hire", "join", "order", "rent", "reserve",
];

/// Before the verb in the names of programs and buttons: `do_logout`, `btnDelete`, `ajax_delete`, `safeRestart`.
#[rustfmt::skip]
pub const PREFIXES: &[&str] = &[
    "action", "ajax", "async", "batch", "btn", "bulk", "button", "cmd", "do", "force", "handle", "mass",
    "perform", "process", "safe", "submit",
];

/// What stands behind these is called as it likes, but for the verb and the thing: `/products/clear-glass-vase`.
#[rustfmt::skip]
pub const SLUGGED: &[&str] = &[
    "album", "albums", "answers", "artist", "artists", "book", "books", "brand", "brands", "catalog",
    "collection", "collections", "community", "discussions", "dp", "episode", "episodes", "features", "film",
    "films", "forum", "forums", "game", "games", "gp", "howto", "insights", "itm", "jobs", "legal", "lesson",
    "lessons", "lyrics", "magazine", "movie", "movies", "p", "page", "pages", "podcast", "podcasts",
    "policies", "press", "product", "products", "recipe", "recipes", "research", "shop", "show", "shows",
    "song", "songs", "store", "t", "threads", "tips", "title", "track", "tracks", "tv", "video", "videos",
];

/// Names of hosts that tell how something is done.
#[rustfmt::skip]
pub const TOLD: &[&str] = &[
    "blog", "developer", "developers", "docs", "faq", "help", "kb", "learn", "news", "wiki",
];

/// Before a `:` that is a part of a title.
#[rustfmt::skip]
pub const NAMESPACES: &[&str] = &[
    "category", "draft", "file", "help", "mediawiki", "module", "portal", "project", "special", "talk",
    "template", "user", "wikipedia",
];

/// Parameters that name one thing, or how much of it.
#[rustfmt::skip]
pub const ONE: &[&str] = &[
    "account", "acct", "amount", "asin", "booking", "cid", "comment", "contact", "container", "customer",
    "device", "email", "entry", "file", "filename", "friend", "gid", "guid", "host", "iban", "ids", "invoice",
    "item", "items", "job", "key", "member", "message", "mid", "msg", "name", "nid", "node", "order_no",
    "path", "payee", "payment", "pid", "pk", "pod", "post", "postid", "process", "processname", "product",
    "qty", "quantity", "recipient", "record", "row", "rowid", "screen_name", "serial", "service", "sku",
    "subscription", "symbol", "table", "target", "task", "thread", "ticket", "tid", "token", "topic", "uid",
    "unit", "user", "userid", "username", "uuid", "video", "vm", "worker",
];

/// Parameters that name none, even as a number: where in a list, when, how large, and by whom it is asked.
#[rustfmt::skip]
pub const COUNTS: &[&str] = &[
    "_", "adults", "affiliate_id", "age", "api_key", "app_id", "appid", "campaign_id", "cat", "category",
    "category_id", "cb", "children", "city_id", "client_id", "color", "colour", "cols", "columns", "count",
    "country_id", "d", "date", "day", "days", "depth", "distance", "forum", "from", "guests", "h", "height",
    "hl", "hours", "index", "k", "lang_id", "language_id", "lat", "level", "limit", "lng", "lon", "m", "max",
    "min", "minutes", "month", "n", "nights", "num", "offset", "order_by", "p", "page", "page_size",
    "pagesize", "partner_id", "sort", "sort_by",
    "per_page", "perpage", "pg", "price", "price_max", "price_min", "q", "quality", "r", "radius", "rand",
    "rating", "ref", "region_id", "results", "rev", "rooms", "rows", "s", "score", "section", "session_id",
    "sessionid", "sid", "size", "start", "step", "store_id", "t", "tab", "time", "timestamp", "to", "ts", "v",
    "variant", "ver", "version", "visitor_id", "w", "week", "width", "x", "y", "year", "z", "zoom",
];

/// Parameters that say which button was pressed, or are as short as that.
#[rustfmt::skip]
pub const BUTTONS: &[&str] = &[
    "a", "btn", "button", "event", "submit",
];

/// On a button that is pressed for no view of a list. `Apply`, `Reset`, `Submit` and `Update` are.
#[rustfmt::skip]
pub const PRESSED: &[&str] = &[
    "checkout", "close", "complete", "donate", "merge", "order", "pay", "publish", "reserve", "send",
    "transfer",
];

/// More verbs that are none of a question, in the path of a POST.
#[rustfmt::skip]
pub const WRITES: &[&str] = &[
    "alter", "bulk", "change", "clone", "edit", "exec", "execute", "index", "modify", "mutate", "overwrite", "patch",
    "persist", "put", "rebuild", "reindex", "replace", "rewrite", "truncate", "upsert", "write",
];

/// Behind a word that asks, what is made there: `POST /search/alerts`.
#[rustfmt::skip]
pub const MADE: &[&str] = &[
    "alert", "alerts", "bookmark", "bookmarks", "click", "clicks", "event", "events", "favorites",
    "favourites", "feedback", "history", "log", "preference", "preferences", "saved", "settings",
    "subscriptions", "track",
];

/// Fields that are a statement, and none that is searched for.
#[rustfmt::skip]
pub const STATED: &[&str] = &[
    "cypher", "sparql", "sql", "statement", "statements", "stmt",
];

/// Words by which a statement changes something. The last are those of GraphQL and of a console.
#[rustfmt::skip]
pub const STATES: &[&str] = &[
    "alter", "call", "create", "delete", "drop", "exec", "execute", "grant", "insert", "merge", "remove",
    "rename", "replace", "revoke", "truncate", "update", "upsert", "mutation",
];

/// Words before them.
#[rustfmt::skip]
pub const LEADS: &[&str] = &[
    "base", "begin", "declare", "do", "explain", "foreach", "from", "match", "optional", "prefix", "profile",
    "select", "set", "start", "unwind", "use", "with",
];

/// Behind them, by which a statement is told from a question in words.
#[rustfmt::skip]
pub const OBJECTS: &[&str] = &[
    "continuous", "data", "database", "exists", "from", "function", "graph", "index", "into", "keyspace",
    "measurement", "of", "role", "schema", "series", "shard", "table", "trigger", "unique", "user", "view",
    "where",
];

/// Segments behind which a query may be a statement.
pub const STORES: &[&str] = &["db", "exec", "execute", "query", "sql"];

/// Parameters that are a text of GraphQL, or name what is called.
#[rustfmt::skip]
pub const CALLS: &[&str] = &[
    "body", "doc", "document", "documentid", "extensions", "id", "op", "opname", "operation", "operationname",
    "operations", "operationtype", "query", "queryname",
];

/// Verbs of an operation that are nothing else, and stand for a change wherever they stand in its name.
#[rustfmt::skip]
pub const CHANGING: &[&str] = &[
    "append", "assign", "authorize", "buy", "mutate", "mutation", "checkin", "create", "dispatch", "edit", "enqueue", "generate", "modify", "overwrite", "pay",
    "persist", "replace", "save", "send", "submit", "upsert",
];

/// Verbs that are nouns as well: at the beginning of a name they do something to what follows, unless that makes a noun of both.
#[rustfmt::skip]
pub const BOTH: &[&str] = &[
    "archive", "bid", "block", "book", "bookmark", "call", "cart", "charge", "checkout", "claim", "comment",
    "copy", "deposit", "donate", "exchange", "favorite", "favourite", "flag", "follow", "grant", "hire",
    "import", "like", "lock", "login", "mail", "message", "order", "pin", "place", "post", "rate", "register",
    "release", "rent", "reply", "request", "reserve", "share", "ship", "signup", "star", "start", "stop",
    "subscribe", "trade", "transfer", "trash", "vote", "watch",
];

/// Nouns that are hardly verbs, though they stand among those.
pub const NOUNS: &[&str] =
    &["index", "patch", "spam", "complete", "extend", "set", "void", "capture"];

/// Verbs and nouns by which an operation or a control asks, beside those of paths.
#[rustfmt::skip]
pub const READING: &[&str] = &[
    "aggregate", "aggregations", "analyse", "analyze", "availability", "bootstrap", "calculate", "compare", "compute", "lint", "metadata", "renderer", "timer", "describe", "detail", "details", "discover",
    "estimate", "exists", "explain", "explore", "facets", "filter", "geocode", "has", "head", "history", "info",
    "inspect", "is", "locate", "mget", "parse", "paginate", "price", "prices", "quote",
    "read", "recommend", "recommendations", "render", "related", "results", "retrieve", "scan", "select",
    "similar", "simulate", "sort", "stats", "status", "suggestions", "summary", "translate", "validate",
];

/// Nouns that make one noun of themselves and the word before: `order_book`, `rateLimit`.
#[rustfmt::skip]
pub const HEADS: &[&str] = &[
    "area", "book", "by", "count", "data", "date", "detail", "details", "entries", "feed", "field", "fields",
    "for", "form", "history", "id", "ids", "info", "information", "limit", "limits", "line", "lines", "list",
    "log", "lookup", "methods", "name", "names", "number", "numbers", "of", "options", "overview", "page",
    "policy", "preferences", "rate", "rates", "results", "settings", "state", "states", "status", "summary",
    "table", "terms", "total", "tracking", "tree", "type", "types", "value", "values", "view",
];

/// Of what asks, the verbs: a path that ends in one may ask. `POST /orders/17/status` may set what it names.
#[rustfmt::skip]
pub const CALLED: &[&str] = &[
    "aggregate", "analyse", "analyze", "availability", "calculate", "check", "compare", "compute", "count", "describe", "download", "estimate", "explain",
    "explore", "export", "facets", "filter", "geocode", "inspect", "lint", "list", "load", "locate", "mget",
    "info", "parse", "preview", "price", "prices", "quote", "recommend", "recommendations", "related", "render", "results",
    "retrieve", "select", "show", "similar", "simulate", "suggestions", "translate", "validate", "view",
];

/// Things that are run to be read.
pub const REPORTS: &[&str] = &["report", "reports"];

/// Of them, such as make something of what they are given, and keep nothing.
#[rustfmt::skip]
pub const TURNS: &[&str] = &[
    "calculate", "compute", "estimate", "lint", "parse", "preview", "render", "simulate", "translate", "validate",
];

/// Of paths at which everything is called by its name in the request.
#[rustfmt::skip]
pub const ENDPOINTS: &[&str] = &[
    "adminajax", "ajax", "api", "aura", "batchexecute", "call", "callkw", "csw", "endpoint", "gateway", "graphql", "jsonrpc",
    "livewire", "mcp", "message", "rpc", "service", "services", "soap", "trpc", "wfs", "wps", "xmlrpc",
];

/// What is made for who asks for it.
#[rustfmt::skip]
pub const ISSUED: &[&str] = &[
    "captcha", "challenge", "cookie", "installation", "nonce", "otp", "session", "ticket", "token", "tokens",
];

/// What is told a site, and none of its data: words of paths.
#[rustfmt::skip]
pub const COUNTED: &[&str] = &[
    "analytics", "auth", "authorize", "beacon", "captcha", "challenge", "click", "collect", "consent",
    "conversion", "event", "feedback", "heartbeat", "identify", "impression", "installation", "log", "metric",
    "oauth", "ping", "pixel", "presence", "push", "report", "rum", "session", "signin", "telemetry", "token",
    "track", "verify", "visit", "visitor",
];

/// What is shown of such a noun.
pub const VIEWS: &[&str] = &[
    "check", "detail", "details", "feed", "index", "list", "overview", "page", "show", "table",
    "view",
];

/// What a page shows of a list, and how: a control about it asks.
#[rustfmt::skip]
pub const UI: &[&str] = &[
    "back", "chart", "collapse", "column", "columns", "expand", "filter", "filters", "last", "map", "more",
    "newer", "newest", "next", "older", "oldest", "page", "pages", "prev", "previous", "refresh", "result",
    "results", "search", "sort", "tab", "view",
];

/// Fields that are a question, or hold one. Without `-` and `_`.
#[rustfmt::skip]
pub const QUESTIONS: &[&str] = &[
    "aggregations", "aggs", "autocomplete", "collapse", "conditions", "cql", "criteria", "cypher", "expr",
    "facet", "facetfilters", "facets", "jql", "filter", "filters", "highlight", "indexname", "keyword", "keywords", "knn", "needle",
    "numericfilters", "phrase", "prefix", "q", "queries", "query", "search", "searchterm", "searchtext", "select",
    "soql", "sparql", "sql", "statement", "stmt", "suggest", "term", "terms", "where",
];

/// Fields that say which part of a list, and in what order.
#[rustfmt::skip]
pub const LISTED: &[&str] = &[
    "after", "before", "column", "columns", "continuation", "cursor", "desc", "dir", "direction", "draw", "first", "fields", "hitsperpage", "length", "limit", "offset",
    "orderby", "page", "pageindex", "pageno", "pagenumber", "pagesize", "paging", "perpage", "pagination",
    "rows", "maxid", "minid", "nexttoken", "pagetoken", "scroll", "sinceid", "size", "skip", "sort", "sortby", "sorting", "sortorder", "start", "startafter", "startingafter", "top", "untilid",
];

/// Fields that say who asks, or that prove it.
#[rustfmt::skip]
pub const TECHNICAL: &[&str] = &[
    "analytics", "antiforgery", "apikey", "app", "authenticity", "browser", "callback", "charset", "client", "clickanalytics",
    "context", "csrf", "csrfmiddlewaretoken", "csrftoken", "device", "format", "hl", "jsonrpc", "lang",
    "language", "locale", "nonce", "platform", "requestverificationtoken", "secret", "sessionid", "sid", "timestamp",
    "timezone", "token", "tz", "usertoken", "utf8", "utm", "version", "viewstate", "visitor", "xsrf",
];

/// Fields that say how much of something.
pub const AMOUNTS: &[&str] = &[
    "amount",
    "amounts",
    "iban",
    "payment",
    "qty",
    "quantities",
    "quantity",
    "recipient",
    "sku",
    "skus",
];

/// Words of a header by which it names what is done.
#[rustfmt::skip]
pub const DOING: &[&str] = &[
    "action", "call", "cmd", "command", "do", "event", "function", "handler", "intent", "mutation", "op",
    "operation", "procedure", "rpc", "soapaction", "target", "task", "trigger",
];

/// Words of a header that says who asks, from where, by what right and in which way.
#[rustfmt::skip]
pub const DESCRIBING: &[&str] = &[
    "accept", "access", "account", "agent", "ajax", "antiforgery", "api", "apikey", "app", "application", "auth", "authentication",
    "authorization", "brand", "browser", "build", "cache", "catalog", "channel", "client", "code", "commit", "content",
    "context", "cookie", "correlation", "country", "csrf", "csrftoken", "currency", "database", "date", "deployment", "domain",
    "device", "env", "environment", "experiment", "fetch", "fingerprint", "flags", "format", "hash", "header", "host",
    "http", "id", "info", "ip", "key", "lang", "language", "layout", "library", "locale", "market", "media",
    "mode", "model", "name", "namespace", "network", "nonce", "oauth", "origin", "os", "page", "parent", "platform",
    "protocol", "publishable", "realm", "referer", "referrer", "region", "release", "req", "request", "requested",
    "requesttoken", "response", "schema", "screen", "sdk", "secret", "section", "security", "service", "session",
    "sid", "sign", "signature", "site", "source", "span", "state", "store", "storefront", "tenant", "time",
    "timestamp", "timezone", "token", "trace", "type", "tz", "ua", "uid", "url", "user", "uuid", "ver", "version",
    "viewport", "visitor", "with", "workspace", "xsrf", "xsrftoken", "x",
];

/// Words of the first 300 characters, in small letters; verbs of two words as one.
pub fn words(text: &str) -> Vec<String> {
    words_within(text, 300)
}

/// [`words`] of the first `most` characters.
pub fn words_within(text: &str, most: usize) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut fresh = true;
    let mut was_lower = false;
    for it in text.chars().take(most) {
        if !it.is_alphanumeric() {
            fresh = true;
            continue;
        }
        if fresh || (was_lower && it.is_uppercase()) {
            out.push(String::new());
        }
        fresh = false;
        was_lower = it.is_lowercase();
        if let Some(word) = out.last_mut() {
            word.extend(it.to_lowercase());
        }
    }
    let mut joined: Vec<String> = Vec::new();
    for it in out {
        let pair = |it: &str, before: &str| match it {
            "out" | "in" => matches!(before, "log" | "sign" | "opt" | "check"),
            "off" => matches!(before, "log" | "sign" | "power" | "switch" | "turn"),
            "on" => matches!(before, "power" | "switch" | "turn"),
            "up" => before == "sign",
            _ => false,
        };
        match joined.last_mut() {
            Some(last) if pair(&it, last) => last.push_str(&it),
            _ => joined.push(it),
        }
    }
    joined
}

/// Whether a word is in one of these.
pub fn is_in_lists(word: &str, lists: &[&[&str]]) -> bool {
    lists.iter().any(|it| it.contains(&word))
}

/// What verbs are done to: anything of the kind, one or many.
pub fn is_thing(word: &str) -> bool {
    let one = word.strip_suffix('s').unwrap_or(word);
    is_in_lists(word, &[THINGS, CARTS, MORE]) || is_in_lists(one, &[THINGS, CARTS, MORE])
}

/// A verb and no name of a thing as well.
pub fn is_strong(word: &str) -> bool {
    is_in_lists(word, &[VERBS]) && !is_in_lists(word, &[ALSO])
}

/// The verb of a word that is one with its thing.
pub fn split_verb<'a>(word: &str, lists: &[&[&'a str]]) -> Option<&'a str> {
    lists.iter().flat_map(|it| it.iter()).copied().find(|verb| {
        let Some(rest) = word.strip_prefix(verb).filter(|it| !it.is_empty()) else { return false };
        let bare =
            ["as", "by", "from", "my", "the", "to"].iter().find_map(|it| rest.strip_prefix(it));
        let does = is_in_lists(verb, &[VERBS])
            || lists.contains(&BEHIND) && !is_in_lists(verb, &[&["watch"]]);
        let is = |it: &str| {
            does && (is_thing(it) || it == "id")
                || is_in_lists(verb, &[PAYS]) && is_in_lists(it, &[MONEY])
        };
        is(rest) || bare.is_some_and(is)
    })
}

/// The word by which a statement changes something. `strictly`: where it may as well be words that are searched for.
pub fn statement_verb(key: &str, value: &str, strictly: bool) -> Option<String> {
    let lower = key.to_ascii_lowercase();
    let is_stated = words(key).iter().any(|it| is_in_lists(it, &[STATED]));
    let searches = matches!(&*lower, "q" | "query");
    if !is_stated && !searches && lower != "command" {
        return None;
    }
    for piece in value.split(';') {
        let all: Vec<String> = piece
            .split(|it: char| !(it.is_alphanumeric() || it == '_'))
            .filter(|it| !it.is_empty())
            .map(str::to_lowercase)
            .collect();
        let Some(first) = all.first() else { continue };
        let in_comment = ["--", "/*", "#"].iter().any(|it| piece.trim_start().starts_with(it));
        let does = |it: &&String| is_in_lists(it, &[STATES]);
        let found = if is_stated || in_comment || is_in_lists(first, &[LEADS]) {
            all.iter().find(does)
        } else {
            all.first().filter(does).filter(|_| !searches || all.len() > 1)
        };
        let of_table = all
            .windows(2)
            .any(|it| is_in_lists(&it[0], &[STATES]) && is_in_lists(&it[1], &[OBJECTS]))
            || all.iter().any(|it| it == "set") && all.iter().any(|it| it == "update")
            || first == "mutation" && piece.contains('{');
        if let Some(word) = found.filter(|_| !strictly || of_table) {
            return Some(word.clone());
        }
    }
    let is_mutation = value.contains('{') && value.to_ascii_lowercase().contains("mutation");
    is_mutation.then(|| "mutation".to_owned())
}

/// The verb of an operation's name: `DeleteItem`, and not `UpdatesQuery` or `StartPage`.
pub fn operation_verb(name: &str) -> Option<String> {
    let all = words(name);
    let (first, last) = (all.first()?, all.last()?);
    let is_shown = all.len() == 1 || is_in_lists(last, &[ASKS, SHOWS, &["page", "subscription"]]);
    let does = is_strong(first) || all.iter().any(|it| it == "mutation");
    let may = !is_shown && is_in_lists(first, &[VERBS, LOOSE, BEHIND, FORMS, WRITES]);
    (does || may).then(|| if does && !is_strong(first) { last.clone() } else { first.clone() })
}

/// Whether a field or a parameter names what is done.
pub fn is_action(name: &str) -> bool {
    let it = name.trim_start_matches(['/', '_', '$']);
    if it.starts_with("javax.faces.") || it.starts_with("jakarta.faces.") {
        return false;
    }
    let it = it.rsplit(['/', '.']).next().unwrap_or_default().to_ascii_lowercase();
    is_in_lists(
        &it,
        &[ACTIONS, &["intent", "button", "descriptor", "event", "handler", "meth", "methodname"]],
    ) && !is_in_lists(&it, &[&["mode", "task", "function"]])
}
