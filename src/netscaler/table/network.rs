//! The machine's network: subnet addresses, routes, VLANs, name servers, time servers.

use super::{DISABLED, Kind, NO, Place, ZERO, name, only, refused, row};
use crate::netscaler::resource::{Attribute, Resource, Shape};

const DYNAMIC: &str = "no routing protocol is spoken";
const LISTENS: &str = "the management listens where `[admin] listen` says";
const LOCAL: &str = "zones are answered where `[dns] listen` says; this names whom the appliance asks";
const TIMESYNCD: &str = "systemd-timesyncd asks, as often as it finds right and without keys";

const fn line(nitro: &'static str, cli: &'static str, kind: Kind, default: &'static str) -> Attribute {
    row(nitro, cli, kind, Place::Line, default)
}

/// Of addresses of either family.
static ADDRESS: &[Attribute] = &[
    line("type", "type", Kind::Text, "SNIP"),
    only("mgmtaccess", "mgmtAccess", Kind::Text, DISABLED),
    only("state", "state", Kind::Text, &["ENABLED"]),
    only("icmp", "icmp", Kind::Text, &["ENABLED"]),
    only("vserver", "vServer", Kind::Text, &["ENABLED", "DISABLED"]),
    only("telnet", "telnet", Kind::Text, &["ENABLED", "DISABLED"]),
    only("ssh", "ssh", Kind::Text, &["ENABLED", "DISABLED"]),
    only("gui", "gui", Kind::Text, &["ENABLED", "DISABLED"]),
    only("ftp", "ftp", Kind::Text, &["ENABLED", "DISABLED"]),
    only("snmp", "snmp", Kind::Text, &["ENABLED", "DISABLED"]),
    only("dynamicrouting", "dynamicRouting", Kind::Text, DISABLED),
    only("td", "td", Kind::Double, ZERO),
    refused("restrictaccess", "restrictAccess", LISTENS),
    refused("vrid", "vrID", "addresses are announced with the hardware address of the interface"),
    refused("hostroute", "hostRoute", DYNAMIC),
    refused("ospf", "ospf", DYNAMIC),
    refused("bgp", "bgp", DYNAMIC),
    refused("rip", "rip", DYNAMIC),
    refused("networkroute", "networkRoute", DYNAMIC),
    refused("tag", "tag", DYNAMIC),
];

pub static IP: Resource = Resource {
    nitro: "nsip",
    words: &["ns", "ip"],
    shape: Shape::Network,
    key: "ipaddress",
    lists: &[
        &[
            name("ipaddress", "IPAddress"),
            line("netmask", "netmask", Kind::Text, ""),
            only("arp", "arp", Kind::Text, &["ENABLED"]),
            only("arpresponse", "arpResponse", Kind::Text, &["NONE"]),
            refused("arpowner", "arpOwner", "each box is on its own"),
        ],
        ADDRESS,
    ],
    positional: &["ipaddress", "netmask"],
    required: &["netmask"],
};

pub static IP6: Resource = Resource {
    nitro: "nsip6",
    words: &["ns", "ip6"],
    shape: Shape::Network,
    key: "ipv6address",
    lists: &[
        &[
            name("ipv6address", "IPv6Address"),
            only("scope", "scope", Kind::Text, &["global"]),
            only("nd", "nd", Kind::Text, &["ENABLED"]),
            refused("vlan", "vlan", "the interface whose subnet holds it has it"),
        ],
        ADDRESS,
    ],
    positional: &["ipv6address"],
    required: &[],
};

/// Of routes of either family.
static ROUTE_ANY: &[Attribute] = &[
    line("gateway", "gateway", Kind::Text, ""),
    line("cost", "cost", Kind::Double, ""),
    only("distance", "distance", Kind::Double, &["1"]),
    only("weight", "weight", Kind::Double, &["1"]),
    only("advertise", "advertise", Kind::Text, DISABLED),
    only("msr", "msr", Kind::Text, DISABLED),
    only("td", "td", Kind::Double, ZERO),
    refused("monitor", "monitor", "routes are not watched: they are the kernel's"),
    refused("protocol", "protocol", DYNAMIC),
    refused("ownergroup", "ownerGroup", "each box is on its own"),
];

pub static ROUTE: Resource = Resource {
    nitro: "route",
    words: &["route"],
    shape: Shape::Network,
    key: "network",
    lists: &[&[name("network", "network"), line("netmask", "netmask", Kind::Text, "")], ROUTE_ANY],
    positional: &["network", "netmask", "gateway"],
    required: &["netmask", "gateway"],
};

pub static ROUTE6: Resource = Resource {
    nitro: "route6",
    words: &["route6"],
    shape: Shape::Network,
    key: "network",
    lists: &[
        &[name("network", "network"), refused("vlan", "vlan", "`interface` of the route in the TOML says it")],
        ROUTE_ANY,
    ],
    positional: &["network", "gateway"],
    required: &["gateway"],
};

pub static VLAN: Resource = Resource {
    nitro: "vlan",
    words: &["vlan"],
    shape: Shape::Network,
    key: "id",
    lists: &[&[
        row("id", "id", Kind::Double, Place::Name, ""),
        line("aliasname", "aliasName", Kind::Text, ""),
        only("dynamicrouting", "dynamicRouting", Kind::Text, DISABLED),
        only("ipv6dynamicrouting", "ipv6DynamicRouting", Kind::Text, DISABLED),
        only("sharing", "sharing", Kind::Text, DISABLED),
        refused("mtu", "mtu", "it is that of the interface that carries it"),
    ]],
    positional: &["id"],
    required: &[],
};

pub static VLAN_INTERFACE: Resource = Resource {
    nitro: "vlan_interface_binding",
    words: &["vlan"],
    shape: Shape::Binding { owner: "vlan", to: "interface" },
    key: "id",
    lists: &[&[
        row("id", "id", Kind::Double, Place::Name, ""),
        line("ifnum", "ifnum", Kind::Text, ""),
        line("tagged", "tagged", Kind::Boolean, ""),
    ]],
    positional: &["id"],
    required: &["ifnum"],
};

pub static VLAN_IP: Resource = Resource {
    nitro: "vlan_nsip_binding",
    words: &["vlan"],
    shape: Shape::Binding { owner: "vlan", to: "nsip" },
    key: "id",
    lists: &[&[
        row("id", "id", Kind::Double, Place::Name, ""),
        line("ipaddress", "IPAddress", Kind::Text, ""),
        line("netmask", "netmask", Kind::Text, ""),
        only("td", "td", Kind::Double, ZERO),
        refused("ownergroup", "ownerGroup", "each box is on its own"),
    ]],
    positional: &["id"],
    required: &["ipaddress"],
};

pub static NAME_SERVER: Resource = Resource {
    nitro: "dnsnameserver",
    words: &["dns", "nameServer"],
    shape: Shape::Network,
    key: "ip",
    lists: &[&[
        name("ip", "IP"),
        only("type", "type", Kind::Text, &["UDP", "UDP_TCP"]),
        only("state", "state", Kind::Text, &["ENABLED"]),
        row("local", "local", Kind::Boolean, Place::Refused(LOCAL), ""),
        refused("dnsvservername", "dnsVserverName", "name the address of the vserver"),
        refused("dnsprofilename", "dnsProfileName", "there are no profiles"),
    ]],
    positional: &["ip"],
    required: &[],
};

pub static NTP_SERVER: Resource = Resource {
    nitro: "ntpserver",
    words: &["ntp", "server"],
    shape: Shape::Network,
    key: "servername",
    lists: &[&[
        name("servername", "serverName"),
        line("serverip", "serverIP", Kind::Text, ""),
        only("preferredntpserver", "preferredNtpServer", Kind::Text, NO),
        refused("minpoll", "minpoll", TIMESYNCD),
        refused("maxpoll", "maxpoll", TIMESYNCD),
        refused("autokey", "autokey", TIMESYNCD),
        refused("key", "key", TIMESYNCD),
    ]],
    positional: &["servername"],
    required: &[],
};
