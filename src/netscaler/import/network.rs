//! Addresses that have no meaning here, told before the tables look at them: a VIP comes with its vserver.

use std::net::IpAddr;

use super::{Fate, Pending};

const VIP: &str = "a VIP is put on an interface with the vserver that has it, where `[network]` stands";
const NSIP: &str = "the address of the management is an interface's: `[network.interface.NAME] addresses`";
const LOOPBACK: &str = "it reaches nobody but this machine";
const OTHER: &str = "addresses of this type have no meaning here";
const VSERVER: &str = "a name server that is a vserver of the same box: name its address in `[resolver]`";

/// Says why not; what is carried is left to the tables.
pub(super) fn set_aside(lines: &mut [Pending]) {
    for line in lines.iter_mut().filter(|line| line.fate.is_none()) {
        let why = match (&*line.word(0), &*line.word(1), &*line.word(2)) {
            ("add" | "set", "ns", "ip" | "ip6") => address(line),
            ("add", "dns", "nameserver") => {
                line.text(3).filter(|text| text.parse::<IpAddr>().is_err()).map(|_| VSERVER)
            }
            _ => None,
        };
        line.fate = why.map(Fate::Irrelevant);
    }
}

fn address(line: &Pending) -> Option<&'static str> {
    let kind = line.value("type").unwrap_or("SNIP").to_ascii_uppercase();
    let ip = line.text(3).and_then(|text| text.split('/').next()?.parse::<IpAddr>().ok());
    match &kind[..] {
        "VIP" => Some(VIP),
        "NSIP" => Some(NSIP),
        "SNIP" if ip.is_some_and(|ip| ip.is_loopback()) => Some(LOOPBACK),
        "SNIP" => None,
        _ => Some(OTHER),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::netscaler::import::import;

    #[test]
    fn subnet_addresses_and_servers_are_carried_and_the_rest_says_where_it_belongs() {
        let text = "\
set ns config -IPAddress 10.0.0.5 -netmask 255.255.255.0
add ns ip 10.0.1.20 255.255.255.0 -type SNIP -vServer ENABLED
add ns ip 10.0.2.20 255.255.255.128 -mgmtAccess ENABLED
add ns ip 10.0.0.80 255.255.255.255 -type VIP
add ns ip 10.0.3.20 255.0.255.0 -type SNIP
add ns ip6 2001:db8:1::20/64 -scope global
add dns nameServer 10.0.0.53
add dns nameServer resolvers
add vlan 100
add ns ip 127.0.0.9 255.0.0.0
add ntp server 192.0.2.123 -minpoll 6
";
        let imported = import(text).unwrap();
        let fates: Vec<String> = imported
            .lines
            .iter()
            .map(|line| match &line.fate {
                Fate::Carried => "carried".to_owned(),
                Fate::Irrelevant(why) => (*why).to_owned(),
                Fate::Missing { what, .. } => what.join(", "),
            })
            .collect();
        let expected = [
            "the network is the machine's own",
            "carried",
            "-mgmtaccess ENABLED: ",
            VIP,
            "[netmask, 255.0.255.0]",
            "carried",
            "carried",
            VSERVER,
            "nothing says which of this machine's interfaces is meant",
            LOOPBACK,
            "-minpoll 6: ",
        ];
        assert_eq!(fates.len(), expected.len());
        for (fate, expected) in fates.iter().zip(expected) {
            assert!(fate.contains(expected), "{expected}: {fate}");
        }
        let root = imported.document.into_root();
        assert_eq!(root["network"]["source_addresses"], json!(["10.0.1.20/24", "10.0.2.20/25", "2001:db8:1::20/64"]));
        assert_eq!(root["resolver"]["name_servers"], json!(["10.0.0.53"]));
        assert_eq!(root["time"]["servers"], json!(["192.0.2.123"]));
    }
}
