//! # NetScaler's policies
//!
//! Policies of content switching, of the responder and of rewriting are kept as NetScaler has them: a name, an expression, an
//! action, and where they are bound with which priority. What they do follows from that and is written nowhere else, so
//! the two cannot disagree: at load each binding becomes one [rule](super::rules), and its expression criteria.
//!
//! ```text
//! add policy patset shops
//! bind policy patset shops shop.example.test
//! add cs action to-shop -targetLBVserver shop
//! add cs policy is-shop -rule "HTTP.REQ.HOSTNAME.EQUALS_ANY(\"shops\")" -action to-shop
//! bind cs vserver front -policyName is-shop -priority 100
//! add responder action secure redirect "\"https://\" + HTTP.REQ.HOSTNAME + HTTP.REQ.URL" -responseStatusCode 301
//! add responder policy to-tls "CLIENT.SSL.IS_SSL.NOT" secure
//! bind cs vserver front -policyName to-tls -priority 10
//! show cs policy is-shop
//! ```
//!
//! and what stands in the file then:
//!
//! ```toml
//! [service.app]
//! type = "HTTP"
//! address = "192.0.2.11:80"
//! [vserver.web]
//! type = "HTTP"
//! services = ["app"]
//! [vserver.shop]
//! type = "HTTP"
//! services = ["app"]
//! [cs_vserver.front]
//! type = "HTTP"
//! address = "203.0.113.10:80"
//! default = "web"
//! cs_policies = { is-shop = 100 }
//! responder_policies = { to-tls = 10 }
//! [policy_patset.shops]
//! patterns = ["shop.example.test"]
//! [cs_action.to-shop]
//! target = "shop"
//! [cs_policy.is-shop]
//! rule = 'HTTP.REQ.HOSTNAME.EQUALS_ANY("shops")'
//! action = "to-shop"
//! [responder_action.secure]
//! type = "redirect"
//! target = '"https://" + HTTP.REQ.HOSTNAME + HTTP.REQ.URL'
//! status = 301
//! [responder_policy.to-tls]
//! rule = "CLIENT.SSL.IS_SSL.NOT"
//! action = "secure"
//! ```
//!
//! The shell, `POST /api/v1/ns/commands`, NITRO, REST and [`import`](super::import) make the same objects, and
//! `show ns runningConfig` gives them back as lines. `show` tells them again, and how often each was met; `stat cs policy`,
//! `stat responder policy` and `stat rewrite policy` tell that with the rate of the last 14 seconds, and so does
//! `/nitro/v1/stat/cspolicy`, `responderpolicy` and `rewritepolicy`. A policy counts what meets it where it is asked, at all vservers
//! that it is bound to, whatever its action. Undefined hits are 0: an expression is true or false of every request.
//! `show rule VSERVER/POLICY` tells what a binding became, and `stat rule` how often that acted.
//!
//! ## Objects
//!
//! | command | table | NITRO | REST |
//! |---|---|---|---|
//! | `policy patset` | `[policy_patset.NAME]` `patterns`: a list, or a table of patterns with their index | `policypatset`, `policypatset_pattern_binding` | `pattern-sets` |
//! | `policy expression` | `[policy_expression.NAME]` `value` | `policyexpression` | `policy-expressions` |
//! | `cs action` | `[cs_action.NAME]` `target`: a vserver that balances | `csaction` | `cs-actions` |
//! | `cs policy` | `[cs_policy.NAME]` `rule`, or `url` and `domain`; `action` | `cspolicy` | `cs-policies` |
//! | `responder action` | `[responder_action.NAME]` `type`, `target`, `status` | `responderaction` | `responder-actions` |
//! | `responder policy` | `[responder_policy.NAME]` `rule`, `action` | `responderpolicy` | `responder-policies` |
//! | `rewrite action` | `[rewrite_action.NAME]` `type`, `target`, `value` (stringBuilderExpr) | `rewriteaction` | `rewrite-actions` |
//! | `rewrite policy` | `[rewrite_policy.NAME]` `rule`, `action` | `rewritepolicy` | `rewrite-policies` |
//! | `bind cs vserver`, `bind lb vserver` | `responder_policies`, `rewrite_policies`, of content switching `cs_policies`: `{ POLICY = PRIORITY }` or `{ POLICY = { priority, goto, type, target } }` | `csvserver_cspolicy_binding`, `csvserver_responderpolicy_binding`, `csvserver_rewritepolicy_binding`, `lbvserver_responderpolicy_binding`, `lbvserver_rewritepolicy_binding`, and the way back such as `cspolicy_csvserver_binding` | within the vserver |
//!
//! `goto` is END (the default) or NEXT; `type` of a rewriting policy REQUEST (the default) or RESPONSE; `target` of a
//! content-switching policy takes the place of its action. A policy is bound once to a vserver. The commands ask
//! for a priority of responder and rewriting policies (1095), as NetScaler does; `import` gives one that is missing the next number
//! behind all others. A policy that nobody has bound is
//! kept. What is in use cannot be removed (315). An expression, an action or a binding that cannot be carried out is
//! refused where it is made, with the part that it is about: nothing is kept that would do nothing.
//!
//! ## Order
//!
//! A vserver's own [rules](super::rules) in the file are asked first. Then come, as NetScaler asks them: responder policies, those
//! that rewrite requests, content switching; and of the answer those that rewrite answers; each bank by its priorities. Where
//! one bank is all there is, its priorities are those of the rules; otherwise the rules are numbered by tens behind the
//! vserver's own.
//!
//! `[policy_global]` has `responder_policies` and `rewrite_policies` that hold for every vserver of type HTTP or SSL with an address
//! (`bind responder global`, `bind rewrite global`):
//!
//! ```toml
//! [policy_global]
//! rewrite_policies = { no-server = { priority = 100, goto = "NEXT", type = "RES_DEFAULT" } }
//! [rewrite_action.no-server]
//! type = "delete_http_header"
//! target = "Server"
//! [rewrite_policy.no-server]
//! rule = "true"
//! action = "no-server"
//! ```
//!
//! `type` is REQ_DEFAULT (the default), REQ_OVERRIDE and, of rewriting, RES_DEFAULT and RES_OVERRIDE: those with OVERRIDE are asked
//! before the vserver's own of the same bank, those with DEFAULT behind them, and END ends all of these. They are asked at the
//! vserver that was addressed, once for a request, and not again where content switching hands it over. They are written in
//! the TOML, or come from an ns.conf by [`import`](super::import); the shell and NITRO refuse to bind them.
//!
//! A policy that is met and says END ends its bank, and only that: behind a rewriting policy the next ones that rewrite are
//! not asked, content switching is. NEXT asks the next by its priority. Policies that answer, refuse or switch end their bank
//! whatever they say. A rule made of END says `stop`.
//!
//! An expression has 64 alternatives at most, once what it says is written as groups of tests.
//!
//! ## Expressions
//!
//! | expression | becomes |
//! |---|---|
//! | `HTTP.REQ.URL`, `.PATH_AND_QUERY` | `url` (`path` for STARTSWITH: no query stands before the path) |
//! | `HTTP.REQ.URL.PATH`, `.SUFFIX` | `path` |
//! | `HTTP.REQ.URL.QUERY`, `.QUERY.VALUE("x")` | `query_string`, `query` |
//! | `HTTP.REQ.HOSTNAME`, `.SERVER` | `host` |
//! | `HTTP.REQ.HEADER("x")`, `HTTP.REQ.COOKIE.VALUE("x")`, `HTTP.REQ.METHOD` | `header`, `cookie`, `method` |
//! | `HTTP.RES.STATUS`, `HTTP.RES.HEADER("x")` | `status`, `response_header` |
//! | `CLIENT.IP.SRC`, `CLIENT.TCP.DSTPORT`, `CLIENT.SSL.IS_SSL`, `CLIENT.SSL.CLIENT_HELLO.SNI` | `client`, `port`, `tls`, `sni` |
//!
//! with `EQ NE STARTSWITH ENDSWITH CONTAINS REGEX_MATCH EXISTS IN_SUBNET`, their `_ANY` forms with pattern sets,
//! `SET_TEXT_MODE(IGNORECASE)`, `TO_LOWER`, `NOT`, `&& || !`, parentheses and named expressions. A set without patterns is never met. A
//! pattern that needs look-around or references back is refused, as is whatever no criterion looks at.
//!
//! Hosts are compared without their port, and paths and parameters as they are decoded; the query and all of its text are
//! compared as sent. A text that can never be found so (`HOSTNAME.EQ("h.test:8080")`, `URL.CONTAINS("%2e")`) is refused; a set
//! may have a host with its port beside the host alone. Patterns (`re/…/`) are not looked into: write them for hosts without port
//! and for decoded paths. `SET_TEXT_MODE(URLENCODED)` is refused. Content switching and the responder are asked of the request: an
//! expression of theirs cannot look at the answer. The name of an expression is one word (letters, digits, `_`, `-`) and none
//! such as TRUE, HTTP or CLIENT with which expressions begin. Renaming a pattern set or an expression over REST changes the
//! expressions that name it.
//!
//! ## Actions
//!
//! | action | becomes |
//! |---|---|
//! | `redirect`, `respondwith` | `redirect`, `respond`; texts put together, see below |
//! | `RESET`, `DROP` | `reject`: the connection is reset, also where DROP would let the client wait |
//! | `NOOP`, `NOREWRITE` | `count`: nothing but that it is counted; with END no other of its bank is asked |
//! | `insert_http_header`, `delete_http_header` | `edit` |
//! | `replace` of `HTTP.REQ.HEADER("x")`, `HTTP.RES.HEADER("x")`, `HTTP.REQ.HOSTNAME`, `HTTP.REQ.URL` (path and query), `HTTP.REQ.URL.PATH` | `edit` |
//! | `insert_before`, `insert_after` of `HTTP.REQ.HOSTNAME`, `HTTP.REQ.URL`, `HTTP.REQ.URL.PATH` | `edit` |
//! | `cs action`, `-targetLBVserver` | `route` |
//!
//! Fields that follow from the message (Content-Length, Transfer-Encoding, Connection, …) are not edited, and Host is replaced
//! only; such an action is refused where it is made.
//!
//! Callers who may not change the configuration, and the journal, see neither answers that are given (`respondwith`), nor values
//! that are written, nor what cookies and the fields Authorization, Proxy-Authorization, Cookie and Set-Cookie are compared with.
//! Patterns of sets are shown: keep secrets out of them.
//!
//! Texts are put together with `+` from literals in quotes and `HTTP.REQ.URL`, `.PATH`, `.QUERY`, `.QUERY.VALUE("x")`,
//! `HTTP.REQ.HOSTNAME` (as it was sent, with its port), `.SERVER` (without), `HTTP.REQ.HEADER("x")`,
//! `HTTP.REQ.COOKIE.VALUE("x")`, `HTTP.REQ.METHOD`, `CLIENT.IP.SRC`, `CLIENT.TCP.DSTPORT` and `CLIENT.SSL.CLIENT_HELLO.SNI`; a
//! redirect takes host, URL, path and query. What the request has not is an empty text. Values of the answer are filled in
//! nowhere. A literal with braces that a [rule](super::rules) fills in (`{url}`) is refused. Policy labels (`-invoke`), html pages, `-headers` and
//! `-reasonPhrase`, `replace_all` and edits of bodies are refused by name.
