//! What NITRO asks of the box itself: version, licence, features, hardware, interfaces, its place in a pair, the state
//! of its configuration. And the resources that NetScaler has and that there is never one of here.

use serde_json::Value;

use super::answer::Object;
use super::live::{date, double, on_off, put};
use super::people;
use super::stat::Found;
use crate::admin::machine::Machine;
use crate::control::World;
use crate::model::Model;

/// `NSxx.y` that clients may expect the ways of, and this build's own version in place of NetScaler's build.
const RELEASE: &str = "14.1";

/// NetScaler's features as `enable ns feature` names them, and whether the configuration says so. The rest cannot be
/// switched: what is there is on, what is not is off.
pub(super) const FEATURES: &[(&str, Switched)] = &[
    ("WL", Switched::No),
    ("SP", Switched::No),
    ("LB", Switched::Lb),
    ("CS", Switched::Yes),
    ("CR", Switched::No),
    ("CMP", Switched::No),
    ("SSL", Switched::Yes),
    ("GSLB", Switched::Gslb),
    ("HDOSP", Switched::No),
    ("CF", Switched::No),
    ("IC", Switched::No),
    ("SSLVPN", Switched::No),
    ("AAA", Switched::No),
    ("OSPF", Switched::No),
    ("RIP", Switched::No),
    ("BGP", Switched::No),
    ("REWRITE", Switched::Yes),
    ("IPv6PT", Switched::Yes),
    ("AppFw", Switched::No),
    ("RESPONDER", Switched::Yes),
    ("HTMLInjection", Switched::No),
    ("push", Switched::No),
    ("AppFlow", Switched::No),
    ("CloudBridge", Switched::No),
    ("ISIS", Switched::No),
    ("CH", Switched::No),
    ("AppQoE", Switched::No),
    ("ContentAccelerator", Switched::No),
    ("FEO", Switched::No),
    ("LSN", Switched::No),
    ("RDPProxy", Switched::No),
    ("Rep", Switched::No),
    ("URLFiltering", Switched::No),
    ("VideoOptimization", Switched::No),
    ("ForwardProxy", Switched::No),
    ("SSLInterception", Switched::No),
    ("AdaptiveTCP", Switched::No),
    ("CQA", Switched::No),
    ("CI", Switched::No),
    ("Bot", Switched::No),
    ("APIGateway", Switched::No),
];

/// What switches a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Switched {
    /// Always on.
    Yes,
    /// Not in this build.
    No,
    /// `features.lb`
    Lb,
    /// `features.gslb`
    Gslb,
}

/// NetScaler's modes, and whether what they mean holds here. None can be switched.
pub(super) const MODES: &[(&str, bool)] = &[
    ("FR", true),
    ("L2", false),
    ("USIP", false),
    ("CKA", false),
    ("TCPB", false),
    ("MBF", false),
    ("Edge", false),
    ("USNIP", true),
    ("L3", false),
    ("PMTUD", true),
    ("MediaClassification", false),
    ("SRADV", false),
    ("DRADV", false),
    ("IRADV", false),
    ("SRADV6", false),
    ("DRADV6", false),
    ("BridgeBPDUs", false),
    ("ULFD", false),
];

/// Resources of NetScaler that clients list, and that there is none of here.
pub(super) const EMPTY: &[&str] = &[
    "gslbservicegroup",
    "vpnvserver",
    "authenticationvserver",
    "crvserver",
    "aaauser",
    "aaagroup",
    "clusterinstance",
    "clusternode",
    "nspartition",
    "staserver",
    "lbmetrictable",
    "sslprofile",
    "sslcipher",
];

/// One of the box's own resources; `None`: it is not one of them.
pub(super) fn read(world: &World<'_>, machine: impl Fn() -> Machine, resource: &str) -> Option<Found> {
    let single = |object: Object| Some(Found { objects: vec![object], single: true });
    let list = |objects: Vec<Object>| Some(Found { objects, single: false });
    match &resource.to_ascii_lowercase()[..] {
        "nsversion" => single(version()),
        "nsconfig" => single(config(world)),
        "nsfeature" => single(features(world.model)),
        "nsmode" => single(modes()),
        "nslicense" => single(license()),
        "nshardware" => single(hardware(world.model, &machine())),
        "nshostname" => list(vec![named("hostname", &world.model.appliance.name)]),
        "nsip" => list(addresses(world)),
        "systemuser" => list(people::users(world)),
        people::BINDING => list(people::roles(world)),
        "nscapacity" => single(capacity()),
        "hanode" => list(vec![hanode(world)]),
        "interface" => list(interfaces(&machine())),
        "ntpsync" => single(ntp(world)),
        "ntpstatus" => single(named("response", ntp_words(world))),
        "gslbparameter" => single(Object::new()),
        word if EMPTY.contains(&word) => list(Vec::new()),
        _ => None,
    }
}

fn named(key: &str, value: &str) -> Object {
    let mut object = Object::new();
    put(&mut object, key, value);
    object
}

/// `NetScaler NS14.1: Build 0.1.nc, Date: …`: the form that clients read, with the truth in it.
pub(super) fn version_text() -> String {
    let mut parts = env!("CARGO_PKG_VERSION").split('.');
    let (major, minor) = (parts.next().unwrap_or("0"), parts.next().unwrap_or("0"));
    format!(
        "NetScaler NS{RELEASE}: Build {major}.{minor}.nc, Date: Jan 1 2026, 00:00:00   (64-bit) Bascule {}",
        env!("CARGO_PKG_VERSION")
    )
}

fn version() -> Object {
    let mut object = named("version", &version_text());
    put(&mut object, "mode", double(1));
    object
}

fn config(world: &World<'_>) -> Object {
    let mut object = Object::new();
    let listen = world.model.admin.listen;
    put(&mut object, "ipaddress", listen.ip().to_string());
    put(&mut object, "netmask", "255.255.255.255");
    put(&mut object, "httpport", Value::from(vec![listen.port()]));
    put(&mut object, "timezone", "GMT+00:00-GMT-Greenwich");
    put(&mut object, "cookieversion", "0");
    put(&mut object, "securecookie", "ENABLED");
    put(&mut object, "systemtype", "Stand-alone");
    put(&mut object, "primaryip", listen.ip().to_string());
    put(&mut object, "lastconfigchangedtime", date(world.config.loaded_at));
    put(&mut object, "currentsytemtime", date(world.now.wall));
    put(&mut object, "systemtime", double(world.now.wall.0.div_euclid(1_000_000)));
    put(&mut object, "configchanged", world.config.unsaved);
    object
}

/// Where the management and the vservers listen, and where connections to servers leave from, each address once.
fn addresses(world: &World<'_>) -> Vec<Object> {
    let own = world.model.admin.listen.ip();
    let vips = world.model.vservers.iter().filter_map(|vserver| vserver.address).map(|address| address.ip());
    let mut all: Vec<std::net::IpAddr> = vips.filter(|ip| *ip != own).collect();
    let network = world.model.network.iter();
    let sources: Vec<_> = network.flat_map(|network| &network.sources).filter(|source| source.ip.is_ipv4()).collect();
    all.retain(|ip| !sources.iter().any(|source| source.ip == *ip));
    all.sort_unstable();
    all.dedup();
    let mask_of = |ip: std::net::IpAddr| {
        let prefix = sources.iter().find(|source| source.ip == ip).map_or(32, |source| source.prefix);
        std::net::Ipv4Addr::from(u32::MAX.checked_shl(32 - u32::from(prefix)).unwrap_or(0)).to_string()
    };
    let one = |ip: std::net::IpAddr| {
        let mut object = Object::new();
        let is_source = sources.iter().any(|source| source.ip == ip);
        put(&mut object, "ipaddress", ip.to_string());
        put(&mut object, "netmask", mask_of(ip));
        put(
            &mut object,
            "type",
            if ip == own {
                "NSIP"
            } else if is_source {
                "SNIP"
            } else {
                "VIP"
            },
        );
        put(&mut object, "mgmtaccess", on_off(ip == own));
        put(&mut object, "state", on_off(true));
        put(&mut object, "td", double(0));
        object
    };
    let sources = sources.iter().map(|source| source.ip).filter(|ip| *ip != own);
    std::iter::once(own).chain(sources).chain(all).map(one).collect()
}

fn is_on(model: &Model, switched: Switched) -> bool {
    match switched {
        Switched::Yes => true,
        Switched::No => false,
        Switched::Lb => model.features.lb,
        Switched::Gslb => model.features.gslb,
    }
}

fn features(model: &Model) -> Object {
    let on = FEATURES.iter().filter(|(_, switched)| is_on(model, *switched)).map(|(name, _)| Value::from(*name));
    let mut object = Object::new();
    object.insert("feature".into(), on.collect());
    for (name, switched) in FEATURES {
        put(&mut object, &name.to_ascii_lowercase(), is_on(model, *switched));
    }
    object
}

fn modes() -> Object {
    let mut object = Object::new();
    object.insert("mode".into(), MODES.iter().filter(|(_, on)| *on).map(|(name, _)| Value::from(*name)).collect());
    for (name, on) in MODES {
        put(&mut object, &name.to_ascii_lowercase(), *on);
    }
    object
}

/// There are no licences: everything that is there may be used, for ever.
fn license() -> Object {
    let mut object = Object::new();
    for (name, switched) in FEATURES {
        put(&mut object, &name.to_ascii_lowercase(), *switched != Switched::No);
    }
    for (key, value) in [("f_sslvpn_users", "0"), ("f_ica_users", "0"), ("modelid", "0"), ("licensingmode", "Local")] {
        put(&mut object, key, value);
    }
    for (key, value) in
        [("isstandardlic", false), ("isenterpriselic", false), ("isplatinumlic", true), ("issgwylic", false)]
    {
        put(&mut object, key, value);
    }
    put(&mut object, "daystoexpiration", double(36_500));
    object
}

fn hardware(model: &Model, machine: &Machine) -> Object {
    let mut object = Object::new();
    put(&mut object, "hwdescription", format!("Bascule ({})", std::env::consts::ARCH));
    put(&mut object, "sysid", double(0));
    for key in ["manufactureday", "manufacturemonth", "manufactureyear", "hostid"] {
        put(&mut object, key, 0);
    }
    put(&mut object, "cpufrequncy", machine.clock);
    put(&mut object, "host", &*model.appliance.name);
    put(&mut object, "serialno", &*model.appliance.name);
    put(&mut object, "encodedserialno", &*model.appliance.name);
    object
}

fn capacity() -> Object {
    let mut object = Object::new();
    for key in ["bandwidth", "maxbandwidth", "minbandwidth", "instancecount", "vcpucount", "maxvcpucount"] {
        put(&mut object, key, double(0));
    }
    put(&mut object, "actualbandwidth", 0);
    object
}

fn hanode(world: &World<'_>) -> Object {
    let mut object = Object::new();
    put(&mut object, "id", double(0));
    put(&mut object, "name", &*world.model.appliance.name);
    put(&mut object, "ipaddress", world.model.admin.listen.ip().to_string());
    put(&mut object, "hastatus", "UP");
    put(&mut object, "state", "Primary");
    put(&mut object, "hasync", "DISABLED");
    put(&mut object, "haprop", "DISABLED");
    put(&mut object, "hacurstatus", "NO");
    put(&mut object, "hacurstate", "UP");
    put(&mut object, "hacurmasterstate", "Primary");
    put(&mut object, "masterstatetime", double(world.now.wall.since(world.status.started_at).as_secs()));
    object
}

fn interfaces(machine: &Machine) -> Vec<Object> {
    let one = |interface: &crate::admin::machine::Interface| {
        let mut object = Object::new();
        put(&mut object, "id", &*interface.name);
        put(&mut object, "devicename", &*interface.name);
        put(&mut object, "state", on_off(true));
        put(&mut object, "linkstate", u8::from(interface.up));
        put(&mut object, "intfstate", u8::from(interface.up));
        put(&mut object, "actualmtu", interface.mtu);
        put(&mut object, "mtu", interface.mtu);
        put(&mut object, "actspeed", if interface.speed > 0 { interface.speed.to_string() } else { "AUTO".into() });
        put(&mut object, "vlan", 1);
        put(&mut object, "intftype", "Kernel");
        for (key, value) in [
            ("rxbytes", interface.bytes_in),
            ("txbytes", interface.bytes_out),
            ("rxpackets", interface.packets_in),
            ("txpackets", interface.packets_out),
            ("rxerrors", interface.errors_in),
            ("txerrors", interface.errors_out),
            ("rxdrops", interface.dropped_in),
            ("txdrops", interface.dropped_out),
        ] {
            put(&mut object, key, double(value));
        }
        object
    };
    machine.interfaces.iter().map(one).collect()
}

fn ntp(world: &World<'_>) -> Object {
    named("state", on_off(world.status.clock_synced != Some(false)))
}

fn ntp_words(world: &World<'_>) -> &'static str {
    match world.status.clock_synced {
        Some(true) => "the kernel's clock is synchronised",
        Some(false) => "the kernel's clock is not synchronised",
        None => "nobody can tell whether the kernel's clock is synchronised",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_fits_what_the_ansible_collection_looks_for() {
        let pattern = regex::Regex::new(r"NetScaler NS(\d+\.\d+): Build (\d+\.\d+)\.nc, Date: ").unwrap();
        let text = version_text();
        assert!(pattern.is_match(&text), "{text}");
        assert!(text.ends_with(env!("CARGO_PKG_VERSION")));
    }

    #[test]
    fn features_are_a_list_and_a_flag_each() {
        let mut model = Model::empty();
        model.features.lb = false;
        let object = features(&model);
        assert_eq!((&object["lb"], &object["gslb"], &object["cs"]), (&false.into(), &true.into(), &true.into()));
        assert!(!object["feature"].as_array().unwrap().contains(&"LB".into()));
    }
}
