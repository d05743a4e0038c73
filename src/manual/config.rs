//! # The configuration
//!
//! TOML. A table's key is the object's name, so a name defined twice is an error and the order of tables means nothing;
//! lists keep their order and mean it. Definitions carry no prefix; references to anything but a plain check or
//! criterion do (`vs:` `svc:` `sc:` `dc:` `tw:` `sw:`). Durations are `500ms`, `30s`, `15m`, `2h`, `400d`; a bare number
//! is seconds. Names of keys are NetScaler's in snake case for the load balancer; its own spelling of a parameter
//! (`resp_timeout`, `backup_vserver`) is understood as well. Names have at most 127 bytes and hold no control characters, no
//! marks that turn the direction of text, and no `"`, `{` or `}`; `.` and `..` are none (but for the zone `.`).
//!
//! ## Checking
//!
//! `bascule check FILE` loads it exactly as `run` would and prints *all* problems at once, each with file, line and the
//! nearest known spelling, then warnings. It exits with 1 on a problem, with 0 on warnings. Of a file that is no TOML only
//! the first mistake is told, and nothing else until every file is TOML: the rest would be a guess. This file
//!
//! ```toml,bad
//! [service.a]
//! type    = "HTTP"
//! address = "192.0.2.1"
//! prot    = 80
//!
//! [check.api-a]
//! type     = "HTTP"
//! url      = "http://192.0.2.10/health"
//! interval = "5 sec"
//!
//! [scenario.dr.activate]
//! when = [["api-b!{fails:3}"]]
//! ```
//!
//! is answered with
//!
//! ```text
//! box.toml:4: unknown key `prot` in service.a; did you mean `port`?
//! box.toml:9: check.api-a.interval: `5 sec`: unknown unit `sec`; known: w, d, h, m, s, ms, us, ns
//! box.toml:12: scenario.dr.activate.when[0][0]: there is no check `api-b`; did you mean `api-a`?
//! ```
//!
//! ## Several files, defaults, overrides
//!
//! `include = ["apps/*.toml"]` adds files, relative to the including file. `[defaults.monitor]`, `[defaults.service]`,
//! `[defaults.vserver]`, `[defaults.check]`, `[defaults.scenario]` say once what holds for all. `--set PATH=VALUE`
//! replaces a value for one run or check: `--set admin.listen=127.0.0.1:0`; port 0 takes a free port, and
//! `--ready-file` tells which, and is written anew whenever another address is bound or one is closed.
//!
//! ## Who may manage it
//!
//! Without users only callers on loopback and on the Unix socket may, as superuser. `bascule passwd` makes the hash for
//! a user:
//!
//! ```toml
//! [admin]
//! listen = "127.0.0.1:9080"
//!
//! [admin.user.ops]
//! role          = "operator"     # superuser, operator or read-only
//! password_hash = { file = "/etc/bascule/ops.hash" }
//! ```
//!
//! ## Examples
//!
//! `profiles/example.toml` shows every table. The other profiles show one idea each, with its trap, and come with an
//! event script that walks both:
//!
//! | profile | the idea | the trap |
//! |---|---|---|
//! | `fast-in-slow-out` | leave at the first failed sample, return after fifteen clean minutes | `fall` hides the sample; a box that is cut off sees everything fail |
//! | `careful-in-fast-out` | leave after three failures in a row, return with the first success | flapping, and what holds it |
//! | `auto-in-manual-out` | over by itself, back by a person | the second outage must fail over too |
//! | `asymmetric-triggers` | who is told differs by direction | a gate holds back triggers, never the transition |
//! | `dc-pair` | two data centres and their four generated scenarios | a dead replication link, a site cut off, no witness |
//! | `backup-chain` | backups of backups, and a last resort | a vserver whose last members drain refuses new clients |
//! | `dns-members` | a service group whose members DNS names, while they change and while DNS is silent | a group that goes down for a reason other than DNS |
//! | `health-spillover` | new clients go to the backup below half of the weight | which half is lost |
//! | `demo` | what `scripts/run` lets people break | |
