//! # First steps
//!
//! ## Watch a failover
//!
//! `scripts/run` builds the program, starts a demonstration appliance with back ends of its own on loopback, and prints
//! what to try: break a server and watch new requests go elsewhere; break a site and watch `dig` answer with the other
//! one; bring it back and watch the return wait for its hold.
//!
//! ## Rehearse a policy
//!
//! Nothing needs to run for that. Each profile is a policy with a script that walks its idea and its trap, in virtual
//! time; the timeline shows fifteen minutes in a moment:
//!
//! ```sh
//! bascule test profiles
//! bascule simulate profiles/fast-in-slow-out.toml --events profiles/fast-in-slow-out.events
//! ```
//!
//! ## Run your own
//!
//! A configuration begins small. This one, in `box.toml`, balances two servers and needs no root:
//!
//! ```toml
//! [appliance]
//! name = "box"
//!
//! [monitor.alive]
//! type    = "HTTP"
//! request = "GET /health"
//!
//! [defaults.service]
//! type     = "HTTP"
//! monitors = ["alive"]
//!
//! [service.web1]
//! address = "127.0.0.1:8001"
//!
//! [service.web2]
//! address = "127.0.0.1:8002"
//!
//! [vserver.web]
//! type     = "HTTP"
//! address  = "127.0.0.1:8080"
//! services = ["web1", "web2"]
//! ```
//!
//! ```sh
//! bascule check box.toml
//! bascule run --config box.toml
//! ```
//!
//! It says `ready` once every listener is bound. Two servers to break, if there are none at hand, each in a terminal of
//! its own:
//!
//! ```sh
//! bascule demo-backend --listen 127.0.0.1:8001 --name one
//! bascule demo-backend --listen 127.0.0.1:8002 --name two
//! ```
//!
//! They answer a GET with their name. One is broken and healed by a POST, and the monitor `alive` sees it within
//! seconds:
//!
//! ```sh
//! curl -X POST http://127.0.0.1:8001/fail
//! curl -X POST http://127.0.0.1:8001/heal
//! ```
//!
//! REST and `/metrics` open by themselves on `127.0.0.1:9080`, for this machine alone (`admin.listen`, see
//! [`config`](super::config)). Another terminal, in the directory of `box.toml`, because the socket of the command line
//! is in `state` beside it:
//!
//! ```sh
//! curl http://127.0.0.1:8080/
//! bascule shell -c 'show service' -c 'show lb vserver web'
//! bascule shell -c 'disable service web1 30' -c 'show service web1'
//! bascule shell
//! ```
//!
//! The last one is interactive: Tab completes, `?` after a word says what can follow, `show status` says what is wrong
//! and what people have set. [`commands`](super::commands) builds vservers line by line, and `bascule top` watches. Ctrl-C in the first terminal ends the appliance, after open work is done.
//!
//! Where to go on: [`words`](super::words) and [`states`](super::states) for the load balancer,
//! [`scenarios`](super::scenarios) and [`records`](super::records) for DNS, [`config`](super::config) for the file.
