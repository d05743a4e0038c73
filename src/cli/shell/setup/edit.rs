//! Answers as a change of the configuration's text. Pure; what it does not touch stays as it is written.

use std::net::{IpAddr, Ipv4Addr};
use std::str::FromStr;

use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, Value, value};

use crate::model::network::InterfaceAddress;

/// What a box has whose people have not begun yet.
const BARE: [&str; 3] = ["schema", "admin", "appliance"];

/// What somebody has answered.
#[derive(Clone, Debug)]
pub(super) struct Wishes {
    pub interface: String,
    pub addressing: Addressing,
    /// Of a static address.
    pub gateway: Option<IpAddr>,
    /// Empty: none.
    pub name: String,
    pub name_servers: Vec<IpAddr>,
    /// Whose password.
    pub user: String,
    /// `None`: it stays.
    pub password_hash: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Addressing {
    Dhcp,
    Static(InterfaceAddress),
    /// The netmask has to be asked for.
    WithoutPrefix(IpAddr),
}

/// What is so now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Present {
    /// As somebody would answer it.
    pub addressing: String,
    gateways: Vec<IpAddr>,
    pub name: String,
    pub name_servers: Vec<IpAddr>,
}

// === impl Present ===

impl Present {
    pub fn of(text: &str, interface: &str) -> Result<Present, String> {
        let document = parsed(text)?;
        let network = table(&document, "network");
        let own =
            network.and_then(|network| network.get("interface")?.as_table_like()?.get(interface)?.as_table_like());
        let texts = |item: Option<&Item>| -> Vec<String> {
            let all = item.and_then(Item::as_array).into_iter().flatten();
            all.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let addresses = texts(own.and_then(|own| own.get("addresses")));
        let routes = network.map(routes).unwrap_or_default();
        let gateway = |route: &InlineTable| is_default(route).then(|| route.get("via")?.as_str()?.parse().ok())?;
        let name = table(&document, "appliance").and_then(|all| all.get("name")?.as_str()).unwrap_or_default();
        let servers = texts(network.and_then(|network| network.get("name_servers")));
        Ok(Present {
            addressing: addresses.into_iter().next().unwrap_or_else(|| "dhcp".into()),
            gateways: routes.iter().filter_map(gateway).collect(),
            name: name.to_owned(),
            name_servers: servers.iter().filter_map(|server| server.parse().ok()).collect(),
        })
    }

    /// The one of the same family.
    pub fn gateway(&self, own: IpAddr) -> Option<IpAddr> {
        self.gateways.iter().copied().find(|gateway| gateway.is_ipv4() == own.is_ipv4())
    }
}

/// Whether a configuration says nothing but who may log in.
pub(super) fn is_bare(text: &str) -> bool {
    parsed(text).is_ok_and(|document| document.iter().all(|(key, _)| BARE.contains(&key)))
}

/// Interfaces that a configuration names.
pub(super) fn interfaces(text: &str) -> Vec<String> {
    let Ok(document) = parsed(text) else { return Vec::new() };
    let interfaces = table(&document, "network").and_then(|network| network.get("interface")?.as_table_like());
    interfaces.into_iter().flat_map(|all| all.iter().map(|(name, _)| name.to_owned())).collect()
}

pub(super) fn address(typed: &str) -> Result<Addressing, String> {
    if typed.is_empty() || typed.eq_ignore_ascii_case("dhcp") {
        return Ok(Addressing::Dhcp);
    }
    if let Ok(ip) = typed.parse::<IpAddr>() {
        return usable(ip).map(Addressing::WithoutPrefix);
    }
    let with = InterfaceAddress::from_str(typed).map_err(|error| error.to_string())?;
    usable(with.ip)?;
    Ok(Addressing::Static(with))
}

fn usable(ip: IpAddr) -> Result<IpAddr, String> {
    if ip.is_unspecified() || ip.is_loopback() || ip.is_multicast() {
        return Err(format!("{ip} cannot be the address of a box"));
    }
    Ok(ip)
}

/// `mask`: dotted, or the length of the prefix.
pub(super) fn with_mask(ip: IpAddr, mask: &str) -> Result<InterfaceAddress, String> {
    let mask = mask.trim_start_matches('/');
    let prefix = match mask.parse::<Ipv4Addr>() {
        Ok(dotted) if ip.is_ipv4() && u32::from(dotted).leading_ones() == u32::from(dotted).count_ones() => {
            u32::from(dotted).leading_ones().to_string()
        }
        Ok(_) => return Err("no netmask; one is 255.255.255.0, or 24".into()),
        Err(_) => mask.to_owned(),
    };
    InterfaceAddress::from_str(&format!("{ip}/{prefix}")).map_err(|error| error.to_string())
}

pub(super) fn gateway(own: InterfaceAddress, typed: &str) -> Result<Option<IpAddr>, String> {
    if typed.is_empty() || typed.eq_ignore_ascii_case("none") {
        return Ok(None);
    }
    let gateway: IpAddr = typed.parse().map_err(|_| format!("`{typed}` is no address"))?;
    if gateway == own.ip || !own.reaches(gateway) {
        return Err(format!("{gateway} is no neighbour of {own}"));
    }
    Ok(Some(gateway))
}

/// Divided by commas or spaces.
pub(super) fn list<T: FromStr>(typed: &str) -> Result<Vec<T>, String> {
    if typed.eq_ignore_ascii_case("none") {
        return Ok(Vec::new());
    }
    let all = typed.split([',', ' ']).filter(|one| !one.is_empty());
    all.map(|one| one.parse().map_err(|_| format!("`{one}` is no address"))).collect()
}

/// The text with the answers in it. Errors: what is written there is written in a way that this does not change.
pub(super) fn carried_out(text: &str, wishes: &Wishes) -> Result<String, String> {
    let mut document = parsed(text)?;
    network(&mut document, wishes)?;
    if wishes.name.is_empty() {
        if let Some(appliance) = document.get_mut("appliance").and_then(Item::as_table_like_mut) {
            appliance.remove("name");
        }
    } else {
        under(document.as_table_mut(), "appliance", false)?.insert("name", value(&wishes.name));
    }
    if let Some(hash) = &wishes.password_hash {
        let users = under(under(document.as_table_mut(), "admin", false)?, "user", true)?;
        let user = under(users, &wishes.user, false)?;
        if !user.contains_key("role") {
            user.insert("role", value("superuser"));
        }
        user.insert("password_hash", value(hash));
    }
    Ok(document.to_string())
}

fn network(document: &mut DocumentMut, wishes: &Wishes) -> Result<(), String> {
    let said_before = document.contains_key("network");
    let leaves_all = wishes.addressing == Addressing::Dhcp && wishes.name_servers.is_empty();
    // A box that asks for its address does so without a word.
    if leaves_all && !said_before {
        return Ok(());
    }
    let network = under(document.as_table_mut(), "network", false)?;
    let own = under(under(network, "interface", true)?, &wishes.interface, false)?;
    match wishes.addressing {
        Addressing::Static(address) => {
            own.remove("dhcp");
            // The first is the one that was asked for; others stay.
            let before = own.get("addresses").and_then(Item::as_array).cloned().unwrap_or_default();
            let others = before.iter().skip(1).filter_map(Value::as_str).map(str::to_owned);
            let all = std::iter::once(address.to_string()).chain(others);
            own.insert("addresses", value(all.collect::<Array>()));
            set_gateway(network, address.ip, wishes.gateway)?;
        }
        Addressing::Dhcp => {
            own.remove("addresses");
            if !own.contains_key("dhcp") {
                own.insert("dhcp", value("both"));
            }
            set_gateway(network, Ipv4Addr::UNSPECIFIED.into(), None)?;
        }
        Addressing::WithoutPrefix(_) => return Err("the netmask is missing".into()),
    }
    let servers: Vec<String> = wishes.name_servers.iter().map(ToString::to_string).collect();
    set_list(document.as_table_mut(), "network", "name_servers", &servers)
}

/// Replaces the default route of one family.
fn set_gateway(network: &mut dyn TableLike, own: IpAddr, gateway: Option<IpAddr>) -> Result<(), String> {
    let mut all = routes(network);
    let is_of = |route: &InlineTable| {
        let via = route.get("via").and_then(Value::as_str).and_then(|via| via.parse::<IpAddr>().ok());
        is_default(route) && via.is_some_and(|via| via.is_ipv4() == own.is_ipv4())
    };
    all.retain(|route| !is_of(route));
    if let Some(gateway) = gateway {
        let to = if gateway.is_ipv4() { "0.0.0.0/0" } else { "::/0" };
        let mut route = InlineTable::new();
        route.insert("to", to.into());
        route.insert("via", gateway.to_string().into());
        all.insert(0, route);
    }
    if all.is_empty() {
        network.remove("routes");
    } else {
        // In its place, where it had one.
        network.insert("routes", value(all.into_iter().collect::<Array>()));
    }
    Ok(())
}

fn routes(network: &dyn TableLike) -> Vec<InlineTable> {
    match network.get("routes") {
        Some(Item::Value(Value::Array(all))) => all.iter().filter_map(Value::as_inline_table).cloned().collect(),
        Some(Item::ArrayOfTables(all)) => all.iter().map(|table| table.clone().into_inline_table()).collect(),
        _ => Vec::new(),
    }
}

fn is_default(route: &InlineTable) -> bool {
    matches!(route.get("to").and_then(Value::as_str), Some("0.0.0.0/0" | "::/0"))
}

/// An empty list is not written where there is none.
fn set_list(root: &mut dyn TableLike, section: &str, key: &str, values: &[String]) -> Result<(), String> {
    if values.is_empty() {
        if let Some(table) = root.get_mut(section).and_then(Item::as_table_like_mut) {
            table.remove(key);
        }
        return Ok(());
    }
    under(root, section, false)?.insert(key, value(values.iter().collect::<Array>()));
    Ok(())
}

/// What of it is worth showing: all but the password.
pub(super) fn shown(wishes: &Wishes) -> Vec<String> {
    let without = Wishes { password_hash: None, ..wishes.clone() };
    let mut lines: Vec<String> = match carried_out("", &without) {
        Ok(text) => text.lines().map(str::to_owned).collect(),
        Err(why) => vec![why],
    };
    if wishes.addressing == Addressing::Dhcp {
        lines.push(format!("# {} asks for its address (DHCP)", wishes.interface));
    }
    if wishes.password_hash.is_some() {
        lines.push(format!("# and a new password of {}", wishes.user));
    }
    lines
}

fn parsed(text: &str) -> Result<DocumentMut, String> {
    text.parse().map_err(|error: toml_edit::TomlError| error.message().to_owned())
}

fn table<'a>(document: &'a DocumentMut, name: &str) -> Option<&'a dyn TableLike> {
    document.get(name).and_then(Item::as_table_like)
}

/// The table `name`, made where it is not there. `implicit`: it has no line of its own.
fn under<'a>(parent: &'a mut dyn TableLike, name: &str, implicit: bool) -> Result<&'a mut dyn TableLike, String> {
    let mut new = Table::new();
    new.set_implicit(implicit);
    let item = parent.entry(name).or_insert(Item::Table(new));
    item.as_table_like_mut().ok_or_else(|| format!("`{name}` is no table; change it in the file"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config;
    use crate::files::DiskFiles;

    const BARE_TEXT: &str = "schema = 1\n\n[admin]\nlisten = \"[::]:9443\"\ntls = { generated = true }\n";

    fn wishes(addressing: &str, way: Option<&str>) -> Wishes {
        let addressing = address(addressing).unwrap();
        Wishes {
            interface: "eth0".into(),
            addressing,
            gateway: way.map(|way| way.parse().unwrap()),
            name: "edge-1".into(),
            name_servers: vec!["10.0.0.53".parse().unwrap()],
            user: "nsroot".into(),
            password_hash: None,
        }
    }

    fn loads(text: &str) -> config::Loaded {
        let source = config::Source { path: "FILE".into(), text: text.into() };
        config::load(source, &[], &DiskFiles::beside(Path::new("/nonexistent/FILE"))).unwrap()
    }

    #[test]
    fn a_static_address_becomes_an_interface_a_route_and_name_servers() {
        let text = carried_out(BARE_TEXT, &wishes("10.0.0.5/24", Some("10.0.0.1"))).unwrap();
        let network = loads(&text).model.network.clone().unwrap();
        assert_eq!(network.interfaces[0].addresses[0].to_string(), "10.0.0.5/24");
        assert_eq!(network.routes[0].via.to_string(), "10.0.0.1");
        assert!(text.starts_with(BARE_TEXT), "what was there stays as it was written:\n{text}");
        let present = Present::of(&text, "eth0").unwrap();
        assert_eq!((&*present.addressing, &*present.name), ("10.0.0.5/24", "edge-1"));
        assert_eq!(present.gateway("10.0.0.5".parse().unwrap()).unwrap().to_string(), "10.0.0.1");
        assert_eq!(carried_out(&text, &wishes("10.0.0.5/24", Some("10.0.0.1"))).unwrap(), text, "once more: the same");
    }

    #[test]
    fn another_gateway_replaces_the_default_route_of_its_family_and_no_other_route() {
        let before = format!(
            "{BARE_TEXT}\n[network]\nroutes = [{{ to = \"::/0\", via = \"2001:db8::1\" }}, \
             {{ to = \"0.0.0.0/0\", via = \"10.0.0.1\" }}, {{ to = \"10.9.0.0/16\", via = \"10.0.0.9\" }}]\n\
             [network.interface.eth0]\naddresses = [\"10.0.0.5/24\", \"2001:db8::5/64\"]\n"
        );
        let text = carried_out(&before, &wishes("10.0.0.6/24", Some("10.0.0.2"))).unwrap();
        let network = loads(&text).model.network.clone().unwrap();
        let ways: Vec<String> = network.routes.iter().map(|route| route.via.to_string()).collect();
        assert_eq!(ways, ["10.0.0.2", "2001:db8::1", "10.0.0.9"]);
        let addresses: Vec<String> = network.interfaces[0].addresses.iter().map(ToString::to_string).collect();
        assert_eq!(addresses, ["10.0.0.6/24", "2001:db8::5/64"], "the first is the one that was asked for");
    }

    #[test]
    fn back_to_dhcp_takes_the_address_and_the_gateway_away() {
        let before = carried_out(BARE_TEXT, &wishes("10.0.0.5/24", Some("10.0.0.1"))).unwrap();
        let network = loads(&carried_out(&before, &wishes("dhcp", None)).unwrap()).model.network.clone().unwrap();
        assert!(network.interfaces[0].addresses.is_empty() && network.routes.is_empty());
    }

    #[test]
    fn a_box_that_goes_on_asking_for_its_address_gets_no_network() {
        let text = carried_out(BARE_TEXT, &Wishes { name_servers: Vec::new(), ..wishes("dhcp", None) }).unwrap();
        assert!(loads(&text).model.network.is_none());
        assert!(is_bare(&text) && !is_bare("[vserver.web]\ntype = \"HTTP\"\n"));
    }

    #[test]
    fn a_password_is_kept_as_a_hash_and_never_shown() {
        let hash = crate::cli::hash_password("s3cret").unwrap();
        let with = Wishes { password_hash: Some(hash.clone()), ..wishes("10.0.0.5/24", None) };
        let loaded = loads(&carried_out(BARE_TEXT, &with).unwrap());
        assert_eq!(loaded.model.admin.users[0].role, crate::model::Role::Superuser);
        let shown = shown(&with).join("\n");
        assert!(!shown.contains(&hash) && shown.contains("a new password of nsroot"), "{shown}");
    }

    #[test]
    fn what_is_no_address_mask_or_neighbour_is_said() {
        for wrong in ["10.0.0", "127.0.0.1", "0.0.0.0/0", "10.0.0.5/33", "web"] {
            assert!(address(wrong).is_err(), "{wrong}");
        }
        let ip = "10.0.0.5".parse().unwrap();
        for (mask, prefix) in [("255.255.255.0", 24), ("24", 24), ("/16", 16), ("255.255.255.252", 30)] {
            assert_eq!(with_mask(ip, mask).unwrap().prefix, prefix);
        }
        for wrong in ["255.0.255.0", "33", "x"] {
            assert!(with_mask(ip, wrong).is_err(), "{wrong}");
        }
        let own = with_mask(ip, "24").unwrap();
        assert!(gateway(own, "10.0.1.1").is_err() && gateway(own, "10.0.0.5").is_err());
        assert_eq!(gateway(own, "none").unwrap(), None);
        assert_eq!(list::<IpAddr>("10.0.0.1, 10.0.0.2 ::1").unwrap().len(), 3);
        assert!(list::<IpAddr>("dns").is_err());
    }
}
