//! # Who gets in: users, sessions, tokens, directory, TLS
//!
//! ## Ways in
//!
//! | way | who | role |
//! |---|---|---|
//! | Unix socket `bascule.sock` in the state directory | root, and the user that the appliance runs as | superuser |
//! | | users and groups of `[admin.socket]`, as the kernel says who they are | as said there |
//! | | on the disk of the appliance: who has logged in to its console or by SSH ([`appliance`](super::appliance)) | theirs |
//! | TCP, without users | callers on this machine | superuser |
//! | TCP, HTTP Basic | users of `[admin.user.NAME]`, then of the directory (`[admin.ldap]`) | theirs |
//! | TCP, cookie of a session | who has logged in by `POST /api/v1/login` | theirs |
//! | TCP, `Authorization: Bearer` | API tokens of `[admin.token.NAME]` | theirs |
//!
//! Roles are `read-only`, `operator` (what people do to the running appliance: drains, modes, switches) and `superuser` (the
//! configuration too). `GET /api/v1/whoami` says who one is, through which door, what one may do and until when.
//!
//! Where users are configured and none of them, no token and no group of the directory is a superuser, `bascule check` and
//! every change warn: the configuration can then be changed over the Unix socket alone.
//!
//! A lost password is no disaster: on the box `sudo bascule shell` needs none. Write a new hash (`bascule passwd`) into the
//! file and reload. Superusers set one with `PUT /api/v1/users/NAME/password` and `{"password": …}`, which adds the user
//! where there is none, with `"role"` if it is said; who is the first to log in must be a superuser. The hash alone is kept.
//!
//! ## Sessions
//!
//! `POST /api/v1/login` with `{"username": …, "password": …}` sets the cookie `bascule_session` (HttpOnly, SameSite=Strict,
//! Secure over TLS) and answers `csrf`, which every act with that cookie carries in the field `X-CSRF-Token`; `whoami` tells
//! it again. `POST /api/v1/logout` ends the session. It also ends when nothing was asked for `idle`, in any case after
//! `absolute`, and at once when its user, their password or their role changes; a restart ends all of them. What lasts,
//! such as `/events`, ends with what let it in: a session, a password, a token, a role, an address in `allow`.
//!
//! ```toml
//! [admin.sessions]                 # all optional
//! idle     = "30m"
//! absolute = "12h"
//! per_user = 16                    # one more ends the one used least lately
//! most     = 1024                  # in all
//! ```
//!
//! ## API tokens
//!
//! A token is for a program. The configuration holds its hash only, so whoever reads the file has no token.
//!
//! ```text
//! bascule token create ci --role operator --ttl 90d      # prints the token, once, alone on stdout
//! bascule token list
//! bascule token revoke ci
//! bascule token hash ci --role operator                  # without an appliance: what to write into the file, on stderr
//! ```
//!
//! The command makes the token and tells the appliance its hash. A token is configuration: with `--save` it is written to
//! the file at once, else it is gone with the next restart unless somebody saves. Over REST the hashes are objects at
//! `/api/v1/tokens`.
//!
//! ```toml
//! [admin.token.ci]
//! role    = "operator"
//! hash    = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
//! expires = 2027-03-01T00:00:00Z   # optional
//! ```
//!
//! Commands take it from `BASCULE_TOKEN`, others send `Authorization: Bearer`. One that has expired or is not known is
//! refused with that reason. In its last seven days every answer carries `X-Token-Expires`, commands warn, and so does
//! `bascule check`.
//!
//! ## A directory (LDAP)
//!
//! ```toml
//! [admin.ldap]
//! url           = "ldaps://ldap.example"        # or ldap://…, with starttls = true
//! ca            = "company"                     # [certificate.company]; default: the system's authorities
//! bind_dn       = "cn=bascule,dc=example"       # as whom people are looked for; default: as nobody
//! bind_password = { file = "ldap.secret" }
//! base          = "ou=people,dc=example"
//! user_filter   = "(uid={user})"                # the default; for Active Directory "(sAMAccountName={user})"
//! group_base    = "ou=groups,dc=example"        # default: only `memberOf` of the person counts
//! roles         = { netops = "operator", "cn=admins,ou=groups,dc=example" = "superuser" }
//! timeout       = "5s"
//!
//! [certificate.company]
//! certificate = "certs/ca.pem"
//! ```
//!
//! Somebody is looked for by the filter, and must be found once; their groups are `memberOf` and what `group_filter` finds
//! below `group_base`; then the directory is asked with their own password. The highest role of all groups counts; without
//! one they are refused with that reason. What they typed is escaped in filters, and an empty password is no login.
//!
//! **Local names come first.** A name of `[admin.user]` is never asked of the directory, so keep one local superuser: it
//! works while the directory is away, and nobody in the directory can take its name, in capitals or not: names of the
//! directory are one person's without regard to case and spaces. Others get 503 with the reason while
//! the directory cannot be asked; that counts as no wrong password. A right answer is remembered for a minute. The journal
//! calls them `ldap:NAME`. How long a wrong name or password takes to be refused does not tell whether the name is a local
//! one: with a directory each costs the same work, and is told at whole quarters of a second. (While the directory is
//! away the 503 does tell that a name is no local one; and a directory that is slower than that shows.) A session goes on until it ends, whatever the directory says meanwhile; a change of
//! `[admin.ldap]` ends it.
//!
//! In the shell `add`, `set` and `rm system user NAME [PASSWORD]` and `bind system user NAME ROLE` do what `systemuser` of
//! NITRO does; the shell keeps none of these lines.
//!
//! ## Guessing
//!
//! Ten wrong passwords in a row for one name from one network lock that name there for five minutes, and each further wrong
//! one for twice as long, up to an hour: 429, `Retry-After`, "Locked for 4 min 12 s after 10 wrong passwords". A network is an
//! IPv4 address or an IPv6 /64. From elsewhere the same name goes on, so nobody can be locked out from afar. A hundred wrong
//! ones from one network, at most ten of each name, lock it but for those who have logged in from there within the day. Asking
//! in parallel gains nothing: no more passwords are looked at than would close the door. The Unix socket is never locked.
//!
//! Logins to an appliance's own machine count alike: over SSH for the address where `ssh` runs, at the console for the
//! console alone, whatever `admin.allow` says. The journal tells their refusals with the door
//! `login from 198.51.100.7` or `console`.
//!
//! A lock is forgotten when the user gets another password, and when a superuser lifts it:
//! `unlock system user NAME` in the shell, `DELETE /api/v1/users/NAME/lock`; also for a name of the directory.
//! `GET /api/v1/logins` tells of every user, and of who has logged in by the directory, the open sessions, the wrong
//! passwords that still count, and until when a lock lasts.
//!
//! ## How much one caller may hold
//!
//! | what | of one caller | in all |
//! |---|---|---|
//! | connections over TCP | 64 of an address (IPv6: a /64), 192 from this machine | 256 |
//! | connections over the Unix socket, with a role | 64 of a user | 176; the rest of 256 is root's and the own user's |
//! | the same without a role, to be told so | 4 of a user | 16 |
//! | streams of `/events` | 16; one more ends their oldest, with an event `ended` | 128, of which 32 are for superusers |
//! | answers kept for an `Idempotency-Key` | 200, 4 MiB | 1000, 16 MiB; of whoever has most, the oldest goes |
//! | searches of the journal (`/journal`, `/timeline`, `/transitions`, `/history`) | 2; further ones wait, at most 10 s | |
//! | sessions of NITRO | 64; one more ends the one used least lately | 1024 |
//!
//! A peer that takes a handshake of TLS up and does not go on is let go after ten seconds, and holds nobody up.
//!
//! ## TLS
//!
//! ```toml
//! [admin]
//! listen = "192.0.2.10:9443"
//! allow  = ["10.0.0.0/8", "2001:db8::/32"]      # default: everybody
//!
//! [admin.tls]
//! generated = true                              # or certificate = "NAME", of [certificate.NAME]
//! ```
//!
//! With `generated` the appliance makes a certificate of its own, keeps it in the state directory (`admin-tls.crt`,
//! `admin-tls.key` for its own user only) and renews it under the same key a month before it ends. Its fingerprint is
//! printed at the start and stands in `/status` under `management`. Either way the next connection gets what the
//! configuration says then; nothing is restarted.
//!
//! Clients say `--url https://…` with `--ca FILE` (`BASCULE_CA`), or with `--fingerprint SHA256` (`BASCULE_FINGERPRINT`) for
//! a certificate that nobody has signed. Plain text on that port is sent on to `https://` where it reads, and refused where
//! it acts.
//!
//! Without TLS, credentials from other machines are refused (403, `tls_needed`): they would cross the network for everybody
//! to read. `plain_text = true` takes them all the same, with a warning; `/healthz` and `/readyz` need none and are
//! answered in any case.
//!
//! `allow` closes connections from other addresses before anything is read.
//!
//! ## The Unix socket for others
//!
//! ```toml
//! [admin.socket]
//! groups = { netops = "operator" }              # names or numbers; the highest role counts
//! users  = { nagios = "read-only" }             # counts before groups
//! ```
//!
//! The socket's permission bits follow: 0600; 0660 and that group where one group alone is named and the socket can be
//! given to it; else 0666, where the kernel says who calls and others are refused. They must be able to reach the state
//! directory too.
//!
//! ## What is written down
//!
//! Every act and every change of the configuration has its actor and the door they came through (`door`) in the journal.
//! Entries of kind `access` tell logins, logouts, refusals and locks that were lifted: a minute at most thirty refusals, and ten
//! logins and logouts of each caller, with the number that was left out (`left_out`). A name that was refused is told only where it is a user's, since what is typed there is sometimes a password.
//! Logins by HTTP Basic, once with each request, are not journalled; what they do is.
