//! # REST: the configuration object by object, lists, certificates, events
//!
//! Everything is at `/api/v1`, JSON in and out. `GET /api/v1/openapi.json` describes every path with what it reads and
//! answers (OpenAPI 3.1); clients can be generated from it. Errors are problem documents (RFC 9457): `code` is for programs,
//! `detail` for people, and `did_you_mean` has the nearest spelling of what was not known. Names in paths are
//! percent-encoded, `/` and spaces too: `/services/spare%2Fspare1`, `/zones/example.test/rrsets/www%20A`.
//!
//! ## Changing one object
//!
//! An object is its table of the configuration as JSON, with the keys of [`keys`](super::keys). GET on a collection and on
//! an object shows *state*; what is configured is at `…/config`. Kinds that have no state of their own show their
//! configuration at once.
//!
//! | call | does |
//! |---|---|
//! | `POST /services` `{"name": "web3", "server": "app1", "port": 8003}` | adds one: 201 with `Location`; 409 where it exists |
//! | `PATCH /services/web3` `{"max_client": 500}` | merge patch (RFC 7396): what it names changes, `null` takes a key away |
//! | `PUT /services/web3` | replaces one, or adds it; not on switches, where PUT sets the switch |
//! | `DELETE /services/web3` | takes one away; 409 with `used_by` while something names it |
//! | `POST /services/web3/rename` `{"to": "front3"}` | another name, wherever the old one stands: lists, conditions, records |
//! | `GET /config/sections`, `GET`, `PATCH`, `PUT /config/sections/features` | tables that stand once: `defaults`, `dns`, `journal`, … |
//!
//! Collections: `vservers`, `cs-vservers`, `services`, `service-groups` with their `members`, `servers`, `certificates`,
//! `lb-groups`, `criteria`, `rules`, `pattern-sets`, `policy-expressions`, `cs-actions`, `cs-policies`, `responder-actions`,
//! `responder-policies`, `rewrite-actions`, `rewrite-policies`, `monitors`, `checks`, `time-windows`, `switches`, `triggers`, `queries`, `alert-rules`
//! (`alerts` are those that stand), `scenarios`, `datacenters`, `datacenter-pairs`, `peers`, `zones` with their `rrsets`,
//! `users`, `journal-receivers`, `network-interfaces`, `tsig-keys`, and the `client-limits` of a vserver.
//!
//! The answer to a change is the object as it is configured now, `changes` (a line for each difference), `generation` (the
//! snapshot that shows it; whatever is asked afterwards sees it), `warnings` that were not there before, and `object`, its
//! state. Comments and the order of the file's text stay. The change runs and is not saved: `POST /config/save` writes it
//! to the file, and a restart or a reload before that drops it. What people do to objects (`disable`, modes, switches) is
//! no configuration and needs no save.
//!
//! A rename takes the state of a scenario along, and what people did to a server, a service, a service group or its
//! member, a vserver or a check: a drain goes on to its deadline, and what is disabled or forced stays so, with who did it
//! and why. A text that is loaded is read the same way: an object that is gone and one that is new are the same under
//! another name where type and address are the same (of a group those of its members, of a check what it looks at) and no
//! third is like them. The value of a switch stays with the old name and ends. Save after a rename: a restart before that
//! brings the old name back without what was done to it.
//!
//! A patch goes into a short form as into the long one: `{"services": {"web2": 5}}` on `services = ["web1", "web2"]` leaves
//! web1 with weight 1. A list in a patch replaces the list.
//!
//! What would leave nobody who may configure over the network, no user, token or group of the directory that is a
//! superuser, is 409 (`last_superuser`); a whole configuration (`PUT /config`) is taken as it is.
//!
//! A change that does not load is 422 and changes nothing. Each of its `problems` has `what`, `did_you_mean` where there is
//! a likely spelling, and `pointer`, a JSON pointer into the body, where it is the body's fault:
//!
//! ```text
//! POST /api/v1/services {"name": "web3", "server": "app1", "prot": 8003}
//! 422 … "problems": [{"pointer": "/prot", "what": "unknown key `prot` in service.web3", "did_you_mean": "port", …}]
//! ```
//!
//! `?dry_run=true` says what would follow and does nothing: differences, transitions of scenarios, and DNS answers before
//! and after.
//!
//! **Two editors.** Every object has an `ETag`. `If-Match` with it makes a change that was meant for another state 412;
//! the hash of the whole configuration (`/status`, ETag of `/config`) may stand there too, and then nothing at all may have
//! changed. `If-None-Match: *` on PUT only adds. Without either, changes are made one after the other and each sees the
//! one before.
//!
//! **Sent again.** A POST with `Idempotency-Key` is done once: sent again with the same key it gets the first answer,
//! marked `Idempotency-Replayed: true`; the same key with something else is 422. Answers are kept for a day, at most 1000 and
//! 200 of one caller, and not beyond the process. What was refused is not kept, for it changed nothing; what only reads
//! (`/explain/request`) is simply done again.
//!
//! ## Lists
//!
//! `limit` (10 000 by default, at most 50 000), `q` (part of the name), `state` (`UP,TROFS`), `fields` (members of each item)
//! and `cursor`. An answer has `items`, `total`, and `next`, the path of the next page, where there is one; also as
//! `Link`.
//!
//! ## Certificates
//!
//! `PUT /certificates/shop` takes the names of files as in the configuration, `{"certificate": "shop.pem", "key":
//! "shop.key"}`, and reads them again also where the names stay. Or it takes PEM: `certificate`, `chain` and `key` as texts,
//! or one PEM with all of it as `application/x-pem-file`. Uploaded files are kept under `certificates/` in the state
//! directory, readable by the appliance alone; the configuration names them, so that a saved one finds them after a
//! restart. A key that is not the certificate's is 422. Open connections go on; new ones get the new certificate. Files that
//! neither the running configuration nor the file or its older versions name are taken away at a later upload. `GET` tells
//! names, expiry and `used_by`, never the key.
//!
//! ## Events
//!
//! `GET /events` is a stream of server-sent events. `hello` comes first; then each change with the kind of its object as
//! `event` and the whole changed object in `data.object`. `?topics=service,scenario` chooses kinds. `Last-Event-ID` resumes
//! where a connection was lost, from the last 4096 events; where that is too far back (or the process is another one) comes
//! `reset`: fetch anew. `heartbeat` comes every 2 s, `config` when another configuration runs or was saved, and
//! `rates` each second for what `?rates=vserver/web,service/web1` names (at most 50 objects). A client that takes nothing
//! for 30 s is let go. With a 17th stream of one caller their oldest ends, after an event `ended`
//! ([`access`](super::access)).
