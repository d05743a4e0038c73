//! Lines about the network that mean the same here: subnet addresses, and name servers.
//!
//! What names NetScaler's interfaces (`1/1`), or needs one, is the machine's own: nothing says which of its interfaces is
//! meant.

use std::net::{IpAddr, Ipv4Addr};

use serde_json::{Value, json};

use super::{Document, Fate, Pending};

const VIP: &str = "a VIP is put on an interface with the vserver that has it, where `[network]` stands";
const NSIP: &str = "the address of the management is an interface's: `[network.interface.NAME] addresses`";
const LOOPBACK: &str = "it reaches nobody but this machine";
const OTHER: &str = "addresses of this type have no meaning here";

/// Carries out what it can and says why not the rest; lines about other things are left for others.
pub(super) fn carry(document: Document, lines: &mut [Pending]) -> Document {
    let (mut sources, mut servers): (Vec<Value>, Vec<Value>) = (Vec::new(), Vec::new());
    for line in lines.iter_mut().filter(|line| line.fate.is_none() && line.word(0) == "add") {
        match (&*line.word(1), &*line.word(2)) {
            ("ns", "ip" | "ip6") => address(line, &mut sources),
            ("dns", "nameserver") => name_server(line, &mut servers),
            _ => {}
        }
    }
    let mut root = document.into_root();
    if !sources.is_empty() {
        root.insert("network".into(), json!({ "source_addresses": sources }));
    }
    if !servers.is_empty() {
        root.insert("resolver".into(), json!({ "name_servers": servers }));
    }
    Document::from_root(root)
}

/// `add ns ip 10.0.1.20 255.255.255.0 -type SNIP`, the type that stands where none is said.
fn address(line: &mut Pending, sources: &mut Vec<Value>) {
    let kind = line.value("type").unwrap_or("SNIP").to_ascii_uppercase();
    line.fate = Some(Fate::Irrelevant(match &kind[..] {
        "VIP" => VIP,
        "NSIP" => NSIP,
        "SNIP" if is_loopback(line.text(3)) => LOOPBACK,
        "SNIP" => {
            match prefixed(line.text(3), line.text(4)) {
                Ok(source) => {
                    let source = Value::String(source);
                    if !sources.contains(&source) {
                        sources.push(source);
                    }
                    line.fate = Some(Fate::Carried);
                }
                Err(why) => line.missing(vec![why]),
            }
            return;
        }
        _ => OTHER,
    }));
}

fn is_loopback(address: Option<&str>) -> bool {
    let ip = address.and_then(|text| text.split('/').next()?.parse::<IpAddr>().ok());
    ip.is_some_and(|ip| ip.is_loopback())
}

/// `10.0.1.20/24`
fn prefixed(ip: Option<&str>, mask: Option<&str>) -> Result<String, String> {
    let ip = ip.unwrap_or_default();
    if let Some((address, prefix)) = ip.split_once('/') {
        let address: IpAddr = address.parse().map_err(|_| format!("`{ip}` is no address"))?;
        return prefix
            .parse::<u8>()
            .map(|prefix| format!("{address}/{prefix}"))
            .map_err(|_| format!("`{ip}`: no prefix"));
    }
    let address: IpAddr = ip.parse().map_err(|_| format!("`{ip}` is no address"))?;
    if address.is_ipv6() {
        return Ok(format!("{address}/64"));
    }
    let mask = mask.unwrap_or_default();
    let bits = u32::from(mask.parse::<Ipv4Addr>().map_err(|_| format!("`{mask}` is no netmask"))?);
    if bits.leading_ones() + bits.trailing_zeros() != 32 {
        return Err(format!("`{mask}` is no netmask"));
    }
    Ok(format!("{address}/{}", bits.leading_ones()))
}

/// `add dns nameServer 10.0.0.53`; one that is a vserver has no meaning here.
fn name_server(line: &mut Pending, servers: &mut Vec<Value>) {
    let Some(ip) = line.text(3).and_then(|text| text.parse::<IpAddr>().ok()) else { return };
    let server = Value::String(ip.to_string());
    if !servers.contains(&server) {
        servers.push(server);
    }
    line.fate = Some(Fate::Carried);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netscaler::import::import;

    #[test]
    fn subnet_addresses_and_name_servers_are_carried_and_the_rest_says_where_it_belongs() {
        let text = "\
set ns config -IPAddress 10.0.0.5 -netmask 255.255.255.0
add ns ip 10.0.1.20 255.255.255.0 -type SNIP -mgmtAccess ENABLED
add ns ip 10.0.2.20 255.255.255.128
add ns ip 10.0.0.80 255.255.255.255 -type VIP
add ns ip 10.0.3.20 255.0.255.0 -type SNIP
add ns ip6 2001:db8:1::20/64 -scope global
add dns nameServer 10.0.0.53
add vlan 100
add ns ip 127.0.0.9 255.0.0.0
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
            "carried",
            VIP,
            "`255.0.255.0` is no netmask",
            "carried",
            "carried",
            "the network is the machine's own",
            LOOPBACK,
        ];
        assert_eq!(fates, expected);
        let root = imported.document.into_root();
        assert_eq!(root["network"]["source_addresses"], json!(["10.0.1.20/24", "10.0.2.20/25", "2001:db8:1::20/64"]));
        assert_eq!(root["resolver"]["name_servers"], json!(["10.0.0.53"]));
    }
}
