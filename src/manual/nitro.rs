//! # NITRO
//!
//! NetScaler's interface over HTTP, at the management address under `/nitro/v1/config/…` and `/nitro/v1/stat/…`.
//! Clients that speak NITRO (check-netscaler, the Ansible collection `netscaler.adc`, Terraform's provider, exporters,
//! scripts) find the calls, the status lines, the numbers of errors and the types of values that they look for. Behind
//! it stand the same configuration, the same acts and the same journal as behind REST and the shell.
//!
//! ```text
//! curl -H 'X-NITRO-USER: nsroot' -H 'X-NITRO-PASS: …' http://127.0.0.1:9080/nitro/v1/config/lbvserver/web
//! curl -d '{"service":{"name":"web1","delay":300,"graceful":"YES"}}' \
//!      'http://127.0.0.1:9080/nitro/v1/config/service?action=disable'
//! ```
//!
//! ## Who may
//!
//! As over REST. Without users a caller on this machine is the superuser, whatever name and password it sends: there is
//! nothing to compare them with. A login then answers with a session all the same, because clients want one. With
//! users, every request needs one of these, and what is sent must be right:
//!
//! - the headers `X-NITRO-USER` and `X-NITRO-PASS`, per call. An API token stands in place of a password, under the
//!   token's own name; a login takes it too, since many clients have no other place for it;
//! - a session: `POST config/login` answers 201 with `sessionid` and the cookie `NITRO_AUTH_TOKEN`. The token is read
//!   from the cookies `NITRO_AUTH_TOKEN` and `sessionid`, and from a request header named `Set-Cookie`, as some SDKs send
//!   it. Over TLS the cookie is `Secure`; the token is NITRO's alone, and no session of REST;
//! - what REST takes: HTTP Basic, or an API token as bearer.
//!
//! A session ends after lying idle for 900 s, or for the `timeout` of the login (up to 86400), and at the latest when
//! `[admin.sessions]` says, or when its user, the role or the password changes. Wrong passwords lock as everywhere: 429
//! with the number 354. Role `read-only` may GET, `operator` may enable and disable, `superuser` may configure; else
//! 403 with 2138. The journal tells the door, `NITRO tcp 192.0.2.1:4711`.
//!
//! ## Calls
//!
//! | call | does |
//! |---|---|
//! | `GET config/R[/name]` | configuration with the state laid over it |
//! | `POST config/R` | adds: 201. `?idempotent=yes` sets what is there already |
//! | `PUT config/R[/name]` | updates: 200 |
//! | `DELETE config/R/name?args=…` | removes: 200 |
//! | `POST` or `PUT config/A_B_binding`, `DELETE …/name?args=…` | binds: 201, unbinds: 200 |
//! | `POST config/R?action=unset`, `rename` | back to the default, a new name |
//! | `POST config/R?action=enable`, `disable` | the act; `delay` and `graceful` for services, groups, members and servers |
//! | `POST config/nsconfig?action=save`, `clear` | writes FILE; clears what runs |
//! | `GET stat/R[/name]` | statistics; `statbindings=yes` nests the members of a group, and what is bound to an lbvserver. `args=clearstats:full` (or `basic`) tells them once more and they begin at 0 again, for the role that operates |
//! | `POST config/nsstats?action=clear` | the same of the appliance (`cleanuplevel` `global`) or of everything (`all`) |
//!
//! A GET takes `args`, `attrs`, `filter` (`/…/` is a pattern), `count=yes`, `pagesize`, `pageno` and `view=summary`.
//! `args` are `type` of monitors, `all` and `internal` of services, `internal`, `ipaddress` and `domain` of servers,
//! `includemembers` of service groups, whatever names an object, and the attributes of bindings; under `stat` `detail`
//! and `fullvalues`, which change nothing because everything is shown. Any other is 1090.
//!
//! A list without entries is not there; of an object that is there this holds for every binding that NetScaler knows,
//! also for those that there can be none of here. Of an object that is not there it is 258. Cipher suites and curves of
//! what speaks TLS are shown; they cannot be chosen.
//!
//! Several objects in an array are one edit: `X-NITRO-ONERROR` says `exit` (the default: what came before the failing
//! one stays), `continue`, or `rollback`. A failure answers `207 Multi Status` with 1243 and an entry for each; what was
//! taken back says 1243 as well. Acts are not taken back: with `rollback` all names are looked at first, and nothing is
//! done where one is missing. With `?warning=yes`, the field `X-NITRO-WARNING: yes` or `"params": {"warning": "yes"}` a
//! warning answers `209 X-NITRO-WARNING`.
//!
//! A change is in the running configuration at once; `nsconfig.configchanged` is true until it is saved. `clear` needs
//! `force`, and at the levels `basic` and `extended` removes everything but the appliance itself: the address of the
//! management, users, peers, the journal's settings and `[dns]`; `basic` keeps features, log, resolver and defaults
//! too. `full` is refused. `clear ns config -force LEVEL` in the shell is the same command.
//!
//! ## What is there
//!
//! `server`, `service`, `servicegroup` and its members, `lbmonitor`, `lbvserver`, `csvserver`, `lbgroup`, `sslcertkey`,
//! `sslvserver`, their bindings and the collections `<x>_binding`, `svcbindings`, `servicegroupbindings`,
//! `lbparameter`, `nsfeature`, `nsmode`, `nsversion`, `nslicense` (there are no licences: everything is on, and never
//! expires in the lifetime of a check), `nshardware`, `nsconfig`, `hanode` (a box on its own), `interface`, `ntpsync`,
//! `nsrunningconfig` and `nssavedconfig` (as lines of an `ns.conf`, for those who may configure),
//! `systemfile`, `nshostname`; `nsip`, `nsip6` (source addresses can be added; those that are listened on are told),
//! `route`, `route6`, `vlan` and its bindings `vlan_interface_binding`, `vlan_nsip_binding`, `dnsnameserver`, `ntpserver`
//! ([`network`](super::network)),
//! `systemuser` and `systemuser_systemcmdpolicy_binding`: the policies `read-only`, `operator` and `superuser` are the
//! roles, a new user may look, and a password is kept as its hash alone. The first user where nobody could log in becomes a
//! superuser, so that somebody can go on (a warning says so), and the last superuser is neither removed nor given another
//! role here (257); policies of content switching, the responder and
//! rewriting with their actions, pattern sets and bindings ([`policies`](super::policies)). `bascule manual netscaler` has
//! each parameter. What else NetScaler has and clients look at lists as empty, so that they go on.
//!
//! ## GSLB and DNS
//!
//! `gslbsite`, `gslbservice`, `gslbvserver`, `gslbvserver_gslbservice_binding`, `gslbvserver_domain_binding`,
//! `gslbservice_lbmonitor_binding`, the collections of both, and in `stat` `gslbvserver` and `gslbservice`. A GSLB vserver is a steered RRset ([`records`](super::records)), called as its `gslb_vserver` says or else by
//! its domain; a DR set is its backup vserver, called as the scenario; a GSLB service is what a record's check looks at; a
//! site is a data centre. `gslbservice?action=disable` disables the service behind it, and answers 1858 where the state is
//! that of a vserver or check; `stat gslbservice` counts 0 of traffic there, for no service of this box carries it.
//! `dnszone`, `dnssoarec`, `dnsaddrec`, `dnsaaaarec`, `dnscnamerec`, `dnsnsrec`, `dnsmxrec`, `dnstxtrec`, `dnssrvrec` and
//! `dnsptrrec` tell of zone text.
//!
//! They are made, changed and removed one by one, in any order, and become what an import of the same lines becomes
//! ([`import`](super::import)). A vserver answers once it has a service and a domain. Until then it, and services that no such
//! vserver has, stand in `[gslb] lines` as they were made: a vserver there is DOWN, a service UNKNOWN, for nobody probes it. There
//! are also addresses of sites, and names of services that are aliases. Without a type a site is REMOTE; one is LOCAL.
//! Without a method a vserver has ROUNDROBIN. `add` of a record writes a line into the text of its zone, `rm` takes it out;
//! without data all of its type and name go. A name without a zone gets one, as in an import, which goes with its last record;
//! `rm dns soaRec` leaves the zone, which `rm dns zone` takes once it is empty.
//!
//! Refused by name, each with its reason: methods by load, round trips or places and `persistenceType` (SOURCEIPHASH keeps a
//! client's answer), spillover, order, dynamic weights, NAPTR, site persistence, views, what a service says of its traffic
//! (`maxClient`, `cip`, time-outs), exchange between sites, another public port than the port, `state DISABLED` (disable it once
//! it is used), comments; records of other types; zones in files and by transfer; GSLB service groups. 257 is answered for a
//! vserver that somebody wrote with more than NetScaler has words for, for a domain without `gslb_vserver`, for a
//! service that a vserver of this box balances as well, and for records that stand on several lines: change them in the
//! configuration.
//!
//! ## Beyond
//!
//! What is not there answers 1088 (a resource), 1090 (an attribute) or 1097 with the reason (a value): nothing is taken
//! and ignored. `GET /api/v1/nitro/missing` and the dashboard's page *Asked in vain* list what clients asked for in vain
//! since the start.
//!
//! `systemfile` keeps certificates and keys in the folder `ssl` of the state directory, under the name `/nsconfig/ssl`;
//! `sslcertkey` finds them there by their plain names. Private keys go in and do not come out.
//!
//! ## Types
//!
//! What NetScaler's reference calls `<Double>` is text (`"weight": "3"`), `<Integer>` a number, `<Boolean>` true or
//! false. On input each may be either. Statistics: totals and gauges are text, rates numbers, percentages floats; what
//! is not counted here is 0. Times are UTC.
//!
//! Decided where NetScaler's documentation is silent: enabling and disabling what is so already answers 200, and so does an update that says nothing but the name; `status`
//! of an lbvserver is 2 while a member is UP, else 1; a group is PARTIAL-UP while some of its members in service are
//! UP, PARTIAL-DOWN while none is and some drain; statistics say the long words (`OUT OF SERVICE`) as the configuration
//! does.
