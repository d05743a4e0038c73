//! # Import of an ns.conf
//!
//! ```text
//! bascule import ns.conf > box.toml
//! bascule check box.toml
//! ```
//!
//! The TOML goes to stdout. What became of the lines goes to stderr, each with its place: carried in part (which keyword
//! was left out, and why), missing, or a note where something is carried and yet not the same to the letter. The last line
//! counts: *carried*, *in part*, *of no meaning here* (the network, users of the box, built-in objects; `--all` lists
//! them), *missing*. Exit status 0: nothing is missing that changes where traffic goes or what it is answered; 2: something
//! is, or the TOML does not load; `--strict` makes it 2 for anything that is missing.
//!
//! Lines may stand in any order and name what comes later. Paths of certificates and keys stay as they are, relative to
//! the TOML: put the files there.
//!
//! ## Objects
//!
//! Servers, services, service groups, monitors, vservers, content-switching vservers, certificates and their bindings go by
//! the tables of [`netscaler`](super::netscaler). That an object is disabled is state and no configuration: the import says
//! which command disables it once the appliance runs.
//!
//! A monitor of type USER runs a script that no ns.conf holds: its line is carried in part, and `[monitors] scripts` names the
//! folder `/etc/bascule/scripts`, into which the scripts have to be put ([`monitors`](super::monitors) says how they are called).
//!
//! ## Policies
//!
//! Content-switching, responder and rewriting policies, their actions, pattern sets, named expressions and bindings become the
//! objects that the shell and NITRO would make of the same lines: [`policies`](super::policies) says which expressions
//! and actions there are, and what follows from them. A line whose expression or action cannot be carried out is missing, and so
//! are the lines that name it.
//!
//! `bind responder global` and `bind rewrite global` become `[policy_global]`.
//!
//! `set ns hostName` becomes `[appliance] name`, `add dns nameServer` with an address `[resolver] name_servers`, `add ntp
//! server` `[time] servers`, and `add ns ip` of the type SNIP (which it is where none is said) `[network] source_addresses`. With `[network]` VIPs are put on
//! interfaces ([`network`](super::network)); write `vips = false` there where a copy is only to be looked at. The
//! addresses of the management, VLANs and routes name or need an interface, and nothing says which of this machine's is
//! meant: write them in `[network.interface]`.
//!
//! ## GSLB and DNS
//!
//! | lines | become |
//! |---|---|
//! | `gslb site` | `[datacenter.NAME]`; the LOCAL one (or the one whose address is the box's own) is `[appliance] site` |
//! | `gslb service` at another site, or with monitors | `[service.NAME]` with its monitors; without any the one that a service has by itself, for sites tell each other nothing here |
//! | `gslb service` whose address is a vserver's of the file | `[check.NAME]` that follows the vserver: its own services (`considerEffectiveState NONE`), or its backups too (`STATE_ONLY`) |
//! | `gslb vserver` with a domain | a steered RRset, [`records`](super::records): a record for each service, left out while the service is not UP; `gslb_vserver` keeps the name |
//! | `-backupVServer` | a DR set and a scenario of the backup's name: active while all members of the vserver before it are down. `disablePrimaryOnDown` is `mode = "off"` of the way back |
//! | `-publicIP`, `-weight`, `-TTL` | the record's `data`, `weight`, the RRset's `ttl` (3600 s where none is said) |
//! | `-lbMethod ROUNDROBIN`, `SOURCEIPHASH`, `-persistenceType SOURCEIP` | `round_robin` (`weighted` where weights differ), `hash`. Methods by load, round trips or places are left out, and told: members answer in turn |
//! | `-MIR`, `-EDR`, `-backupIP`, `-ECS` | `answers = "all"` (else one), `on_empty = "nodata"`, `on_empty = { static = [...] }`, `[dns] ecs` |
//! | `service … ADNS 53` | `[dns] listen` |
//! | `dns soaRec`, `nsRec`, `addRec`, `aaaaRec`, `cnameRec`, `mxRec`, `txtRec`, `srvRec`, `ptrRec`, `dns zone -proxyMode NO` | `soa` and `static` of the longest zone that the file names |
//!
//! A name that no zone of the file holds becomes a zone of its own, and a note says so: NetScaler answers for the domains
//! that it knows and for nothing beside them, while a zone of the parent domain would deny names that are served
//! elsewhere. A CNAME, a PTR record and names such as `_sip._tcp.example.com` stand in a zone of the domain above them.
//!
//! What is of a service at this site (drains, monitors, persistence) is of the vserver that it follows. Not carried over:
//! exchange between sites, site persistence and its cookies, views and policies of DNS, GSLB service groups, places,
//! spillover between sites, a second service with the same public address in one vserver.
//!
//! Addresses of sites, names of services that are aliases (`-cnameEntry`), and services and vservers that nothing uses stand
//! in `[gslb] lines`, as lines of an ns.conf. Nothing is done with them: NITRO and the shell find them there.
//!
//! ## There and back
//!
//! `show ns runningConfig` writes what both can say as lines of an ns.conf, which import again: load balancing, content
//! switching, policies, TLS, GSLB and DNS come back as they were. Of GSLB that is what such lines became, and what NITRO
//! and the shell made: RRsets with a `gslb_vserver` whose records, scenarios, checks and services are as the table above
//! says, and nothing beside. What somebody wrote otherwise (another condition, a `degraded_ttl`, `geo`) NetScaler has no words
//! for, as for rules and criteria: such things are comments. Of a zone its SOA and the types of the table are lines, one line
//! of its text each; other types, zones in files and zones by transfer are comments, and so is a `ttl` of a zone without a SOA
//! that is not 3600 s. `[dns] listen` are services of type ADNS. The second line counts them and the comments at the end name them; `show ns runningConfig -toml` has
//! everything, so keep that. Where the file has two servers with one address, which NetScaler has not, the first stands for
//! the others, and a comment tells so. What people have disabled says `-state DISABLED` at the end of its line, as it does there; what
//! has no line of its own, such as a check, stands in a comment at the top.
//!
//! What a shell prints beside the lines (`Done`, `Warning: …`) is of no meaning in a file.
