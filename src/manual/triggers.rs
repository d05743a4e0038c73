//! # Triggers and queries: who is told of a transition, and who is asked before one
//!
//! A **trigger** acts when a scenario commits, or when an alert is raised or resolved ([`alerts`](super::alerts), which has
//! triggers of type SYSLOG too); a **query** reads for a guard. Each scenario names its triggers for each direction by
//! itself.
//!
//! ```toml
//! [switch.drill]
//!
//! [trigger.page-sre]
//! type          = "HTTP"                    # or HTTPS, which insists on https://
//! uri           = "https://hooks.example.test/incident"
//! method        = "POST"
//! headers       = { "X-Team" = "sre" }
//! body          = '{"text": "${scenario} ${direction}: ${about}", "all": ${payload}}'
//! timeout       = "10s"                     # one attempt, from the name to the last byte of the answer
//! expect_status = ["200-299"]
//! expect_body   = { contains = "accepted" } # or { regex = … }, or { json = { pointer = "/ok", equals = true } }
//! retry         = { attempts = 5, first = "1s", most = "5m", max_age = "1d" }
//! secret        = { file = "hook.secret" }  # signs what is sent
//!
//! [query.log-shipping]
//! type        = "HTTP"
//! uri         = "https://db.example.test/lag"
//! expect_body = { json = { pointer = "/applied", equals = true } }
//!
//! [scenario.dr.activate]
//! when     = [["sw:drill"]]
//! guard    = { run = ["log-shipping"], approve = true, on_timeout = "block" }
//! triggers = ["page-sre"]
//! ```
//!
//! ## At least once, in order, under one key
//!
//! What a commit promises is written to disk in the transaction of the commit. The new state is published, then the
//! deliveries go out, on a thread of their own: they never delay a transition and never undo one. A delivery whose commit
//! is not on disk yet waits for the disk, also where the commit itself is published without it.
//!
//! Of one scenario and one trigger the next delivery goes when the one before is delivered or given up. Each carries the
//! key `appliance:scenario:seq:direction:trigger` in `webhook-id`, the same in every attempt and after every restart. A
//! process that is killed after the receiver has answered and before that is written sends it once more: a receiver that
//! remembers keys takes it once. A seq is never given to two commits, so neither is a key.
//!
//! | what came | then |
//! |---|---|
//! | the expected status, and the expected body where one is asked for | delivered |
//! | anything else: another answer, a redirect (none is followed), no answer in time, a certificate that does not verify | tried again after a pause |
//! | `attempts` or `max_age` are used up, or the configuration no longer has the trigger | dead: kept until somebody replays or discards it |
//!
//! Pauses begin with `first` and double up to `most`; half of each is drawn by lot. A `Retry-After` lengthens a pause,
//! up to a day. Five attempts in a row that nobody answered, or with 429 or 5xx, open the **circuit breaker** of that
//! scheme, host and port for 10 s, twice as long each time, up to 5 min; one attempt then looks. Waiting for it costs no
//! attempt, and age goes on.
//!
//! Bounds: 4096 deliveries of commits and tests wait, and 1024 of alerts beside them; neither kind takes the other's
//! places. Beyond it the oldest one for the endpoint to which most of its kind wait is given up, so that a receiver
//! that hangs costs no other one a message. 1024 dead and 1024 delivered ones are kept, payloads take 64 MiB together
//! and 256 KiB each (beyond it `config` is null, then `groups`). 64 attempts run at once, 8 to one endpoint. Of an
//! answer 64 KiB are read.
//!
//! ## What is sent
//!
//! JSON, unless `body` says otherwise:
//!
//! | member | is |
//! |---|---|
//! | `type` | `scenario.activated`, `scenario.deactivated`, `trigger.test`; of [`alerts`](super::alerts) `alert.raised` and so on |
//! | `id` | the key |
//! | `appliance`, `scenario`, `about`, `seq`, `direction` | who, and which commit |
//! | `evaluated_at`, `committed_at` | RFC 3339, UTC |
//! | `cause`, `group`, `actor`, `reason` | `condition`, `config` or `admin:<user>`; the group that decided; who forced it, and why |
//! | `drill`, `drill_id` | true in a [drill](super::drills), with its number; true also where the reason of a forced transition begins with the word `drill` or `test`, and in a test |
//! | `test` | true where a person asked for it and nothing has changed |
//! | `groups` | every group of both directions: name, value, armed, and each term with its value and since when |
//! | `gate`, `guard` | their results, or null |
//! | `affected` | the steered DNS sets that the scenario decides about, with their records |
//! | `config_hash`, `config` | of the running configuration; the scenario (or its pair) and its checks at that moment, with headers, bodies and credentials hidden |
//!
//! In `body`, `${scenario}` and so on stand for members (`key` for `id`, `payload` for the whole); in a body whose
//! Content-Type is JSON, which is the default, values are escaped for the inside of a text. `$${` is `${` itself. A place
//! that is none is refused at load.
//!
//! With a `secret` the request carries `webhook-timestamp` and `webhook-signature` as the Standard Webhooks specification
//! has them: `v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`. A secret that begins with `whsec_` is base64,
//! any other is taken as it stands. It is read for each attempt and stands in no log, journal or answer.
//!
//! ## What a query says
//!
//! | answer | guard |
//! |---|---|
//! | expected status and body | passes |
//! | expected status, another body; another status that is none of the below | refuses |
//! | none, or 3xx, 408, 429 or 5xx; a body in which what is compared is not there | cannot tell: tried `retries` times more, `backoff` apart |
//!
//! The queries of a guard are asked one after the other; one that refuses ends the attempt, and one that could not tell
//! leaves it to `on_timeout` at the `deadline`. When the attempt ends for another reason, what is under way is cut off.
//! Only GET, HEAD and OPTIONS: a guard reads.
//!
//! With `approve = true` a person must approve as well, before or after the queries have passed:
//! `approve scenario dr 3 -reason …`, or `POST /api/v1/scenarios/dr/guard` with `{"decision": "approve", "attempt": 3}`.
//! `show scenario dr` names the attempt. A decision about another attempt than the one that runs is answered 409, and no
//! number comes twice, so a late click approves nothing. `refuse scenario dr` ends the attempt of any guard.
//!
//! ## Seeing and doing
//!
//! | shell | REST | does |
//! |---|---|---|
//! | `show outbox` | GET `/api/v1/outbox?status=&trigger=&scenario=` | what waits, was delivered, was given up |
//! | `replay outbox 17` | POST `/api/v1/outbox/17/replay` | sends a dead one again, with its key |
//! | `rm outbox 17` | DELETE `/api/v1/outbox/17` | forgets a dead one |
//! | `test trigger page-sre` | POST `/api/v1/triggers/page-sre/test` | sends a marked one, tries it once, and says how it went |
//! | `show trigger`, `show query` | GET `/api/v1/triggers`, `/queries` | counters, circuit breaker, last error |
//! | `show scenario dr` | `last_transition.triggers` | `pending`, `delivered`, `dead` or `suppressed`, attempts, last error |
//!
//! The journal has an entry `delivery` for each attempt that failed, each delivery and each that was given up; `/events`
//! tells them as they come. Metrics are named `bascule_trigger_…` and `bascule_query_…`.
