//! Subnet addresses, name servers and time servers.

use std::fmt::Write as _;
use std::net::{IpAddr, Ipv4Addr};

use serde_json::Value;

use crate::netscaler::document::Document;

/// `add ns ip 10.0.1.20 255.255.255.0 -type SNIP`; what has no line there is a comment.
pub(super) fn lines(document: &Document) -> String {
    let mut out = String::new();
    for source in texts(document, "network", "source_addresses") {
        let Some((ip, prefix)) = source.split_once('/') else { continue };
        match (ip.parse::<IpAddr>(), prefix.parse::<u32>()) {
            (Ok(IpAddr::V4(ip)), Ok(prefix @ 1..=32)) => {
                let mask = Ipv4Addr::from(u32::MAX << (32 - prefix));
                let _ = writeln!(out, "add ns ip {ip} {mask} -type SNIP");
            }
            (Ok(IpAddr::V6(ip)), Ok(prefix)) => {
                let _ = writeln!(out, "add ns ip6 {ip}/{prefix} -type SNIP");
            }
            _ => {}
        }
    }
    for server in texts(document, "resolver", "name_servers") {
        let _ = match server.parse::<IpAddr>() {
            Ok(ip) => writeln!(out, "add dns nameServer {ip}"),
            Err(_) => writeln!(out, "# [resolver] name_servers {server}"),
        };
    }
    for server in texts(document, "time", "servers") {
        let _ = writeln!(out, "add ntp server {server}");
    }
    out
}

fn texts<'d>(document: &'d Document, section: &str, key: &str) -> impl Iterator<Item = &'d str> {
    let list = document.root().get(section).and_then(|table| table.get(key)).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str)
}
