//! # Traffic rules and content switching
//!
//! A rule belongs to one vserver, has a priority (lower is asked first) and an action, and acts where its condition is
//! true. Conditions are those of scenarios: groups of terms, *and* inside a group, one true group is enough, `!` negates.
//! Terms are criteria, which look at the request, and board terms (`vs:web`, `sc:dr`, `sw:drill`, checks), which look at
//! the appliance. A rule without `when` always acts.
//!
//! ```toml
//! [service.shop1]
//! type    = "HTTP"
//! address = "192.0.2.11:8080"
//!
//! [service.static1]
//! type    = "HTTP"
//! address = "192.0.2.12:8080"
//!
//! [vserver.shop]
//! type     = "HTTP"
//! services = ["shop1"]
//!
//! [vserver.static]
//! type     = "HTTP"
//! services = ["static1"]
//!
//! [cs_vserver.front]                     # has the address; the others are reached through it
//! type    = "HTTP"
//! address = "192.0.2.100:80"
//! default = "static"
//!
//! [criterion.is-shop]
//! path = { starts_with = "/shop/" }
//!
//! [criterion.canary]
//! cookie = { name = "canary", equals = "1" }
//!
//! [rule.to-shop]
//! vserver  = "front"
//! priority = 10
//! when     = [["is-shop"], ["canary"]]
//! action   = { route = { vserver = "shop" } }
//!
//! [rule.drop-debug]
//! vserver  = "shop"
//! priority = 10
//! action   = { edit = [{ remove = "X-Debug" }, { path = "^/shop/(.*)$", to = "/$1" }] }
//!
//! [rule.hide-server]
//! vserver  = "shop"
//! priority = 20
//! phase    = "response"
//! action   = { edit = [{ remove = "Server" }] }
//! ```
//!
//! # Criteria
//!
//! | key | looks at |
//! |---|---|
//! | `path` | the path without query, in every way a server may read it: `/%61pi/`, `/x/../api/` and `//api/` are `/api/`. See below |
//! | `url` | the path in all these ways, and behind it, where there is one, `?` and the query as sent |
//! | `query_string` | the query as sent, without its `?`; empty where there is none |
//! | `host` | the Host field without port; case does not matter |
//! | `method` | one or a list. A known method in other case (`delete`) is answered 501 before any rule is asked |
//! | `header`, `cookie`, `query` | `{ name = …, TEST }`; without a test it is enough to be there. A parameter is decoded once, `+` is a space |
//! | `client` | networks that the client's address may be in |
//! | `port` | the port that the client connected to |
//! | `sni`, `tls` | the server name of the handshake; whether there was one |
//! | `status`, `response_header` | the answer; in rules with `phase = "response"` |
//!
//! Servers differ in what they decode, resolve, merge and cut off, and in which order; a path is read in all these ways,
//! and a `path` criterion is met where *any* reading meets it. So protect by refusing: name what is refused
//! (`when = [["is-admin"]]`), or refuse all but what is allowed (`when = [["is-public!"]]`), and no spelling passes. A rule
//! that *lets through* what it names is met by one reading while the server may take another: write it as the second.
//! A path with more than 64 readings is answered 400 by every vserver with rules.
//!
//! Tests of a text: `equals` (or the text alone), `starts_with`, `ends_with`, `contains`, `one_of` (a list: NetScaler's
//! pattern set), `regex`. Regular expressions take time linear in the text whatever they are, and one that would need
//! more than 1 MiB when compiled is refused.
//!
//! # Actions
//!
//! | action | does | then |
//! |---|---|---|
//! | `respond = { status, headers, body }` | answers; values are filled in as in edits. In a body they are escaped where its `Content-Type` is HTML, XML or JSON; braces that are none of these stay | ends |
//! | `redirect = { status, location }` | answers with a location; `{path}`, `{query}`, `{host}`, `{hostname}` (without port) are replaced, and `{url}`: path and query as sent, with a `?` only where there was one | ends |
//! | `reject = true` | resets the connection | ends |
//! | `route = { vserver = "x" }` | hands the request over; the rules of `x` are asked next | ends this list |
//! | `route = { service = "x" }`, `{ group = "x" }` | only this member, or these, of the rule's own vserver. While none of them is UP the rule does not act | ends this list |
//! | `edit = [...]` | changes the head, see below | goes on |
//! | `mirror = { vserver, percent, body_limit }` | sends a copy of so many percent of the requests; answers are dropped, failures are counted and never reach the client | goes on |
//! | `count = true` | nothing but that the rule is counted: a condition is tried before it does something, or with `stop` an exception is made | goes on |
//!
//! A rule that goes on may say `stop = true`: once it acted, no other rule of its vserver and phase is asked. So of several
//! edits the first that is met is made, and no condition has to name the ones before it:
//!
//! ```toml
//! [criterion.is-old]
//! path = { starts_with = "/v1/" }
//!
//! [rule.old]
//! vserver  = "api"
//! priority = 10
//! when     = [["is-old"]]
//! action   = { edit = [{ set = "X-Version", value = "1" }] }
//! stop     = true
//!
//! [rule.new]
//! vserver  = "api"
//! priority = 20
//! action   = { edit = [{ set = "X-Version", value = "2" }] }
//!
//! [vserver.api]
//! type     = "HTTP"
//! services = ["api1"]
//!
//! [service.api1]
//! type     = "HTTP"
//! address  = "192.0.2.13:8080"
//! ```
//!
//! What comes from [policies](super::policies) is asked all the same, and there a `stop` ends its own bank.
//!
//! Edits: `{ set = "Name", value = "…" }` replaces, `{ add = "Name", value = "…" }` appends, `{ remove = "Name" }`,
//! `{ remove_cookie = "name" }`; of a request `{ path = "PATTERN", to = "…" }` with `$1` for what a bracket matched, `{ url = "…" }` (path and query
//! become this) and `{ url_path = "…" }` (the path does, and the query stays); of an
//! answer `{ set_cookie = "name", value = "…" }` and `{ status = 503 }`. Values, and what `url` and
//! `url_path` say, may hold what is filled in (below), as the request was sent: rules never see what others have changed.
//! In a target it is percent-encoded where it would end the target or, in `url_path`, the path; a target that would be longer
//! than 8 KiB stays as it was. So does the PATTERN of `path`: a
//! criterion meets `/%73hop/x` as `/shop/x`, and `^/shop/` leaves it alone; write `^/[^/]+/(.*)$`, or let servers decode. Fields that say where a message ends,
//! or belong to one connection, cannot be edited; nor can a status become one that has no body, or lose being one.
//! X-Forwarded-For and its like are written after the edits. What is set in a request, or removed, goes under its look-alikes
//! too: with `X-User` goes `X_User`, which some servers take for it. What `set_cookie` fills in is percent-encoded where it
//! would end the value (`;`, `,`, space, quotes), so that no client adds an attribute. A Host that is `set` with what is filled
//! in has to be a name or an address, with a port or without; where it is none (the field was absent, or sent twice, or has
//! a space, comma, slash or `@`) Host stays as it was.
//!
//! | filled in | |
//! |---|---|
//! | `{path}`, `{query}`, `{url}` | as sent: without query, without `?`, both |
//! | `{host}`, `{hostname}` | the Host field as sent, with and without its port |
//! | `{client}`, `{port}`, `{sni}` | the client's address, the port that it connected to, the server name of the TLS handshake |
//! | `{method}` | GET, … |
//! | `{header:NAME}` | all fields of this name of the request, joined by `, ` |
//! | `{cookie:NAME}`, `{query:NAME}` | the first cookie or parameter of this name, as sent |
//!
//! What is not there fills in nothing. A `location` takes the first five.
//!
//! A copy for a mirror leaves when the body is whole. One over `body_limit` (64 KiB unless said otherwise, 1 MiB at most)
//! is not sent, and no more than 256 are under way at once, nor do their bodies hold more than 64 MiB together.
//!
//! # Content switching
//!
//! A `cs_vserver` has an address, rules that route, a `default`, and no members. It is UP while one of its targets can
//! serve, by its own members or by its backup chain; its health is the share of targets that can. While it is not UP,
//! rules that answer still do, nothing is handed over, and its own `backup` takes new clients. Without a `default`, what no
//! rule takes is answered 503. Targets balance; a target that switches content itself is refused.
//!
//! # Without HTTP
//!
//! On vservers of type TCP, SSL_TCP, SSL_BRIDGE, DNS_TCP and ANY (its connections) a rule can `reject`, `route` and `count`, and its
//! criteria are those of the connection: `client`, `port`, `sni`, `tls`. SSL_BRIDGE reads the server name without
//! decrypting, so that one address can stand for many sites that keep their own keys.
