//! # The machine's network
//!
//! Without `[network]` Bascule changes nothing about the network of its machine: it listens on the addresses that are
//! there, and on those that are not yet (a vserver says `address_local: false`). With `[network]` it looks after the
//! addresses itself.
//!
//! ```toml
//! [network]
//! source_addresses = ["10.0.1.20/24"]                # SNIP: what servers see
//! name_servers     = ["10.0.0.53"]
//! routes           = [{ to = "0.0.0.0/0", via = "10.0.0.1" }]
//!
//! [network.interface.eth0]                           # management, and where clients come from
//! addresses = ["10.0.0.5/24", "2001:db8::5/64"]
//!
//! [network.interface.eth1]                           # towards the servers
//! addresses = ["10.0.1.5/24"]
//!
//! [network.interface."eth1.200"]
//! vlan = { id = 200, on = "eth1" }
//! dhcp = "ipv4"
//!
//! [service.a]
//! type    = "HTTP"
//! address = "10.0.1.101:80"
//!
//! [vserver.web]
//! type     = "HTTP"
//! address  = "10.0.0.80:80"                          # added to eth0, whose subnet holds it
//! services = ["a"]
//!
//! [vserver.partner]
//! type      = "HTTP"
//! address   = "203.0.113.9:80"
//! interface = "eth1"                                 # no subnet says where
//! services  = ["a"]
//! ```
//!
//! It needs CAP_NET_ADMIN and CAP_NET_RAW. Without them every address says `refused` and which of the two is missing, and
//! everything else works as it does without `[network]`.
//!
//! ## VIPs
//!
//! With `vips = true` (the default) the address of every vserver is added to an interface: to the one that `interface` of
//! the vserver names, else to the one whose subnet holds it (the longest prefix). It is added by itself (/32 or /128), and
//! removed with the last vserver that has it, and when Bascule stops. Addresses of loopback need nobody.
//!
//! - **Only where it is free.** Before an address of IPv4 is added it is asked for by ARP three times in 0.6 s; for IPv6 the
//!   kernel does the same. Where somebody answers it is not added: the vserver shows `address_state: conflict` with the
//!   hardware address of who has it, `/status` has a problem, the journal an entry, `/events` an event of type `address`,
//!   and an alert on `address.conflict` ([`alerts`](super::alerts)) tells whom you like. It is asked for again every three
//!   to four seconds: where the other one leaves, the address moves here. Of two boxes that ask in one moment the one with
//!   the lower hardware address goes on.
//! - **Announced.** An address that was added is announced by gratuitous ARP, or an unsolicited neighbour advertisement,
//!   at once and twice more, a second apart; also when its link comes back. Addresses of IPv6 are added as deprecated, so
//!   that the machine does not choose them for connections of its own.
//! - **Defended.** Somebody who claims an address that is here is answered with an announcement, at most every ten seconds,
//!   and the state is `contested` until it has been quiet for a minute.
//! - **Moved without a gap.** A vserver that is given another `interface` keeps its address on the old one until it is on
//!   the new one.
//! - **Nobody else's.** Addresses that Bascule adds bear its mark (`ip addr` shows `proto 98`; a kernel of 5.18 or later
//!   keeps it). What does not bear it is used where it is, and never removed. A process that follows one that was killed
//!   keeps what is still wanted at once, asks once whether somebody else has it by now (`contested`), and removes the
//!   rest; what the system does not let go of is a problem in `/status`. A handover to another process
//!   ([`upkeep`](super::upkeep)) takes nothing off that is still wanted and adds nothing anew. Two processes with
//!   `[network]` in one network of a machine would take each other's addresses away: run one.
//! - **Nothing is left over.** Where `[network]` is gone, VIPs and source addresses that a process of the same state
//!   directory had put on interfaces are removed: by a reload, by the process that takes over, by the next start
//!   after a kill. They stand in its file `addresses`; what another instance has put there stays. Where the right to
//!   remove them is missing, `/status` says which are left, and where. An `--ephemeral` process has no such file:
//!   what a kill leaves of it is removed by the next one with `[network]`, or by hand (`ip addr del`). A start
//!   without `[network]` does not touch the interfaces' own settings (below), so that nobody is cut off.
//!
//! `check` warns of an address that is the first or the last of a subnet in `[network.interface]` or `source_addresses`
//! (IPv4, up to /30): no host can have it.
//!
//! `address_state` is `present`, `probing`, `waiting` (`address_error` says for what: an interface, its subnet, its link),
//! `conflict`, `contested` or `refused`. UP and DOWN do not depend on it: they tell of servers.
//!
//! Addresses that `[dns]` listens on are added in the same way; trouble with them is a problem in `/status`, an entry of
//! the journal and an event. That of `[admin] listen` is not: give it to an interface.
//!
//! ## Source addresses
//!
//! A connection to a server leaves from the address in `source_addresses` whose subnet holds the server, else from the one
//! whose subnet holds the gateway of the route there (`routes`); of several from the longest prefix, then the first. So do
//! the probes of its monitors, unless they name a source of their own. Where none fits, the system chooses, as it does
//! for everything else that Bascule connects to. The addresses are added like VIPs, where the machine has them not. One
//! that is not there (a conflict, no interface) is told as a problem, and connections leave from elsewhere meanwhile.
//!
//! ## Interfaces, VLANs, routes, name servers
//!
//! `[network.interface.NAME]` is carried out by systemd-networkd where it runs: it is written as
//! `/run/systemd/network/10-bascule-NAME.network` (a VLAN also as `.netdev`), and `networkctl reload` is called. This needs
//! the right to do both, which the appliance's disk gives to the service, and the package on a machine of your own does
//! not; what fails is a problem in `/status`, and tried again. `dhcp` is `no`, `ipv4`, `ipv6` or `both`;
//! `accept_ra = false` refuses what routers tell of IPv6. A route leaves by the interface whose subnet holds its gateway,
//! or by `interface`. `name_servers` are those of the machine (systemd-resolved has to run to use them); whom Bascule asks
//! for the names of servers stands in `[resolver]`. An interface that `[network]` does not name is left to the system.
//!
//! Where systemd-networkd does not run, or with `manager = "netlink"`, Bascule itself sets the interface up and puts its
//! static addresses on it, with the same mark; they stay when it stops. DHCP, VLANs, routes and name servers are then
//! refused with a sentence.
//!
//! An interface's own address is not asked for first, and a mistake in it may cut you off: change it where you can reach
//! the console.
//!
//! ## In NetScaler's words
//!
//! | command | here |
//! |---|---|
//! | `add ns ip 10.0.1.20 255.255.255.0 [-type SNIP]`, `add ns ip6 2001:db8:1::20/64` | `source_addresses`. Makes a `[network]` where there is none, so that VIPs are looked after from then on |
//! | `set ns ip 10.0.1.20 -netmask 255.255.0.0` | its subnet |
//! | `add route 0.0.0.0 0.0.0.0 10.0.0.1 [-cost 20]`, `add route6 ::/0 2001:db8::1` | `routes`, with `metric`; an interface with the subnet of the gateway stands in `[network.interface]` |
//! | `add vlan 200 [-aliasName servers]` | `[network.interface.servers] vlan`, called `vlan200` without an alias; not made before an interface carries it |
//! | `bind vlan 200 -ifnum eth1 -tagged` | `vlan.on`; `[network.interface.eth1]` is there |
//! | `bind vlan 200 -IPAddress 10.0.2.5 255.255.255.0` | its `addresses` |
//! | `add dns nameServer 10.0.0.53` | `[resolver] name_servers`: whom Bascule asks |
//! | `add ntp server ntp1.example.com` | `[time] servers` |
//!
//! `rm` and `unbind` take them away, `show` tells them. `-type VIP` is refused: a VIP comes with its vserver, `add lb vserver`;
//! `-type NSIP` and `set ns config` are too: the management's address is an interface's, and changing it from far away
//! cuts off who does it. So are `-mgmtAccess ENABLED`, `-vrID`, dynamic routing, distances, an interface without a tag.
//! An import carries addresses, name servers and time servers; routes and VLANs need an interface, and NetScaler's
//! (`1/1`) are none of this machine's.
//!
//! ## Time
//!
//! ```toml
//! [time]
//! servers = ["ntp1.example.com", "192.0.2.123"]
//! ```
//!
//! At most eight, by name or address, in place of what the machine's own files name (a lease of DHCP may name more). It
//! does not need `[network]`. systemd-timesyncd asks them: they are written as
//! `/run/systemd/timesyncd.conf.d/10-bascule.conf`, and it is started anew. The appliance's disk has it and gives the
//! service the right; elsewhere what is missing is a problem in `/status`, and tried again. Without `servers` the machine's
//! own settings are left alone.
//!
//! Whether the clock is synchronized is what the kernel says, whichever program sets it: `clock.synced` in `/status`,
//! `show ntp status` in the shell, and the alert `clock.unsynced>1h`, raised where it is not so for an
//! hour ([`alerts`](super::alerts)).
