//! # NetScaler's commands
//!
//! `bascule shell` takes NetScaler's command line. This page is about the commands that change the configuration; what a
//! parameter does stands in [`netscaler`](super::netscaler).
//!
//! ```text
//! add server app1 192.0.2.11
//! add service web1 app1 HTTP 80 -maxClient 500
//! add lb monitor web-ok HTTP -httpRequest "GET /health" -respCode 200-204 -interval 2 -resptimeout 900 MSEC
//! bind service web1 -monitorName web-ok
//! add lb vserver web HTTP 203.0.113.10 80 -persistenceType COOKIEINSERT -timeout 10
//! bind lb vserver web web1 -weight 3
//! save ns config
//! ```
//!
//! Each line is a change of its own: it is carried out as a whole or not at all, the journal has an entry for it, and the
//! answer is `Done` or `ERROR:` with NetScaler's text. What a change makes wrong elsewhere is refused with 278 and the
//! sentence that `bascule check` would say.
//!
//! **Changes are not durable until they are saved.** `save ns config` (or `save config`) writes FILE, in which comments and
//! order stay; a restart or a reload takes FILE and says what it drops. `show status` and `show ns runningConfig` tell that
//! something is not saved. What people do to running objects (`disable`, `enable`) is state and needs no save.
//!
//! ## Lines
//!
//! - `<verb> <group> [<object>] <argument>… (-<keyword> <value>…)…`; `#` begins a comment.
//! - Verbs, groups, keywords and words of enumerations may be shortened as long as they are unambiguous, in any case:
//!   `sh lb vs web`, `set lb vs web -healthT 50`. A verb has at least two letters.
//! - `"…"` and `'…'` quote, with `\t \n \r \" \' \\` inside; `q/…/`, `q{…}`, `q<…>`, `q|…|`, `q~…~` and their like quote
//!   without escapes. Parentheses that are not quoted keep their spaces.
//! - A range makes a command for each: `add server app[1-3] 192.0.2.[11-13]`; `[01-10]` keeps its zeros. Ranges stand
//!   before the keywords, and all of a line are as long as each other, at most 1000. `show`, `stat`, `enable`, `disable`
//!   and `kill` take them as well: one that is refused does not keep the others from being carried out.
//! - `?` behind any words tells what can follow, and nothing is carried out: `set lb vserver web ?`, `bind cs vserver ?`,
//!   `set lb vserver web -lbMethod ?`. `help set lb vserver` tells the same. A `?` that is meant is quoted.
//! - `-devno` is ignored. What NetScaler has anyway (`-td 0`, `-cacheable NO`, `-m IP`, `-state ENABLED`) is taken; any
//!   other value of such a parameter is refused by name.
//! - `-state DISABLED` of what is added is carried out as an act behind the change: it is state and outlives a restart.
//! - A secret stands in no configuration: `-password env:NAME` or `-password file:PATH` says where it is found.
//!
//! ## Commands
//!
//! | command | objects |
//! |---|---|
//! | `add`, `set`, `unset`, `rm` | `server`, `service`, `serviceGroup`, `lb monitor`, `lb vserver`, `cs vserver`, `lb group`, `ssl certKey`, `cs action`, `cs policy`, `responder action`, `responder policy`, `rewrite action`, `rewrite policy`, `policy patset`, `policy expression`; `gslb site`, `gslb service`, `gslb vserver`; `dns zone`, `dns soaRec` |
//! | `add`, `rm` | `dns addRec`, `aaaaRec`, `cnameRec`, `nsRec`, `mxRec`, `txtRec`, `srvRec`, `ptrRec` |
//! | `set`, `unset` | `ssl vserver` (with `-HSTS ENABLED -maxage 31536000 -IncludeSubdomains YES`), `ssl service`, `ssl serviceGroup` |
//! | `bind`, `unbind` | `service` and `serviceGroup` to monitors, `serviceGroup` to members, `lb vserver` to services and groups, `cs vserver` to its default, `lb group` to vservers, `ssl vserver` to certificates, `policy patset` to patterns, `cs vserver` and `lb vserver` to policies ([`policies`](super::policies)), `gslb vserver` to services and domains, `gslb service` to monitors |
//! | `rename` | `server`, `service`, `serviceGroup`, `lb vserver`, `cs vserver`, `lb group`, policies and their actions; whatever names it follows, and what is disabled stays so |
//! | `set ns hostName` | `[appliance] name` |
//! | `add`, `rm` | `ns ip`, `ns ip6`, `route`, `route6`, `vlan`, `dns nameServer`, `ntp server` ([`network`](super::network)) |
//! | `bind vlan`, `unbind vlan` | `-ifnum IF -tagged`, `-IPAddress A MASK` |
//! | `enable ns feature`, `disable ns feature` | LB, GSLB; CS, SSL, REWRITE and RESPONDER are always on. What NetScaler has and is not there (CMP) is warned of where something else is enabled with it, and refused alone |
//! | `show ns runningConfig` | the configuration as such lines; what NetScaler has no word for is listed as comments with its table, and `-toml` prints the file (with `-c` nothing but it, so that it can go into one) |
//! | `show ns feature` | which are on |
//! | `batch -fileName F [-outfile F]` | lines of a file; an error does not end it, and a summary tells which lines failed. The same goes for lines through a pipe |
//!
//! What `gslb …` and `dns …` make are zones, records, scenarios, checks and data centres ([`nitro`](super::nitro) says how and
//! what is refused). What they do is shown: `show gslb vserver`, `service`, `site`, `stat gslb vserver`, `service`, `show dns zone`, `addRec`;
//! `disable service` takes a GSLB service out of the answers ([`records`](super::records)). Certificates are files of the appliance: `-cert` and `-key` name them as the TOML does.
//!
//! An address, port and type is one service's: a second one is refused (273), as on a NetScaler. A file, and REST,
//! may say it twice: `show ns runningConfig` has a comment before the second one, which would not be taken again.
//!
//! What is in use cannot be removed (315; monitors 2131, certificates 1541). A service or group that a vserver has as a
//! member is unbound and goes, as NetScaler does while `allowBoundSvcRemoval` is on.
//!
//! ## Over HTTP
//!
//! POST /api/v1/ns/commands with `{"lines": ["add server app1 192.0.2.11", "…"]}`, for the role that may configure. Each line
//! is answered by itself; those that load together are carried out as one change. `warnings` are those that hold at the end.
//! `"atomic": true` makes one change of all lines; `"dry_run": true` tells the differences and changes nothing;
//! each line is tried behind those before it that go well.
//!
//! ```text
//! {"results": [{"line": "add server app1 192.0.2.11", "ok": false, "code": 1335, "message": "Server already exists [name, app1]"}],
//!  "failed": 1, "changes": [], "config": {"unsaved": false, …}, "generation": 7}
//! ```
//!
//! ## Numbers of errors
//!
//! In the JSON of this path, in that of `bascule shell --json` (`number`), and in NITRO. Behind the text stands in brackets
//! what was meant: `[argument, value]`.
//!
//! | NSERR | text |
//! |---|---|
//! | 257 | Operation not permitted |
//! | 258 | No such resource |
//! | 273 | Resource already exists |
//! | 278 | Invalid argument |
//! | 304 | Address already in use |
//! | 315 | Resource in use |
//! | 350 | Invalid backup vserver |
//! | 351 | No such server |
//! | 354 | Invalid username or password |
//! | 430 | No such backup vserver |
//! | 431 | No arguments to set |
//! | 444 | Session expired or killed. Please login again |
//! | 461 | No such Vserver |
//! | 462 | No such service |
//! | 470 | No backupVserver bound |
//! | 478 | Vserver type mismatch. |
//! | 741 | Content-Switching or Cache-Redirection vservers cannot be used as a backupvserver. |
//! | 1027 | Not logged in or connection timed out |
//! | 1067 | Feature(s) not enabled |
//! | 1075 | Invalid name; names must begin with an alphanumeric character or underscore and must contain only alphanumerics, _, #, ., space, :, @, = or - |
//! | 1088 | No such command |
//! | 1089 | Ambiguous command name |
//! | 1090 | No such argument |
//! | 1091 | Required argument value missing |
//! | 1092 | Arguments cannot both be specified |
//! | 1093 | Argument pre-requisite missing |
//! | 1095 | Required argument missing |
//! | 1097 | Invalid argument value |
//! | 1099 | Ambiguous argument name |
//! | 1243 | Bulk operation failed |
//! | 1288 | Spill-over threshold should be a non-zero value |
//! | 1291 | Spill-over threshold cannot be set for dynamic connection spill-over method |
//! | 1303 | Service not bound to Vserver |
//! | 1304 | Service type mismatch between the vserver and service |
//! | 1313 | No spillover on the vserver due to max client setting 0 on a bound service |
//! | 1335 | Server already exists |
//! | 1381 | Persistence type is not COOKIEINSERT. |
//! | 1540 | Certificate does not exist |
//! | 1541 | Certificate is referenced |
//! | 1911 | Set a backup Vserver, to enable it. |
//! | 2128 | Monitor interval must be greater than response timeout |
//! | 2131 | Monitor must be unbound before it can be deleted |
//! | 2133 | The monitor is already bound to the service |
//! | 2138 | Not authorized to execute this command |
//! | 2139 | No operations allowed with the default monitor |
//! | 2144 | The VIP is already a backup in the chain |
//! | 2155 | Existing monitor is of different type than given |
//! | 2164 | Default monitor cannot be unbound from a service |
//! | 2165 | Default monitor cannot be bound explicitly to a service |
//! | 2170 | Monitor not bound to service |
//! | 2171 | Monitor does not exist |
//! | 2196 | Monitor retries must be greater than monitor failureRetries |
//! | 2306 | vserver is bound to a group. Set persistence parameters on group to change them for all vservers in group or unbind vserver from group and set on individual vserver. |
//! | 2307 | This backup/primary persistence combination is not supported |
