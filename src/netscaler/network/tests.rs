use super::*;
use crate::netscaler::export;
use crate::netscaler::import::import;
use crate::netscaler::line::{Parsed, parse};

/// Carries out a line; why not.
fn run(document: &mut Document, line: &str) -> Result<(), String> {
    let parsed = parse(line).map_err(|error| error.message)?;
    let Parsed::Statements(statements) = parsed else { return Err("no statement".to_owned()) };
    statements.iter().try_for_each(|one| document.execute(one).map(drop).map_err(|error| error.message))
}

fn all(document: &mut Document, lines: &[&str]) {
    lines.iter().for_each(|line| assert_eq!(run(document, line), Ok(()), "{line}"));
}

/// `id=200 aliasname=servers`, of attributes that say something of their own.
fn shown(document: &Document, nitro: &str) -> Vec<String> {
    let resource = Resource::find(nitro).unwrap();
    let of = |row: Row| {
        let own = resource.attributes().filter(|one| !matches!(one.place, Place::Only(_)) && one.nitro != "type");
        let words = own.filter_map(|one| Some(format!("{}={}", one.nitro, text_of(row.get(one.nitro)?))));
        words.collect::<Vec<_>>().join(" ")
    };
    document.objects(resource).into_iter().map(of).collect()
}

#[test]
fn addresses_routes_and_servers_are_entries_of_lists() {
    let mut document = Document::default();
    all(
        &mut document,
        &[
            "add ns ip 10.0.1.20 255.255.255.0 -type SNIP -mgmtAccess DISABLED",
            "add ns ip 10.0.2.20 255.255.255.0",
            "add ns ip6 2001:db8::20/64 -scope global",
            "set ns ip 10.0.2.20 -netmask 255.255.0.0",
            "add route 0.0.0.0 0.0.0.0 10.0.0.1",
            "add route 172.16.0.0 255.240.0.0 10.0.1.1 -cost 20",
            "add route6 ::/0 2001:db8::1",
            "add dns nameServer 10.0.0.53",
            "add ntp server ntp.example.com",
            "add ntp server 192.0.2.123",
        ],
    );
    let expected = json!({
        "network": {
            "source_addresses": ["10.0.1.20/24", "10.0.2.20/16", "2001:db8::20/64"],
            "routes": [
                { "to": "0.0.0.0/0", "via": "10.0.0.1" },
                { "to": "172.16.0.0/12", "via": "10.0.1.1", "metric": 20 },
                { "to": "::/0", "via": "2001:db8::1" },
            ],
        },
        "resolver": { "name_servers": ["10.0.0.53"] },
        "time": { "servers": ["ntp.example.com", "192.0.2.123"] },
    });
    assert_eq!(document.to_json(), expected);
    assert_eq!(
        shown(&document, "nsip"),
        ["ipaddress=10.0.1.20 netmask=255.255.255.0", "ipaddress=10.0.2.20 netmask=255.255.0.0"]
    );
    assert_eq!(shown(&document, "nsip6"), ["ipv6address=2001:db8::20/64"]);
    assert_eq!(
        shown(&document, "route"),
        [
            "network=0.0.0.0 netmask=0.0.0.0 gateway=10.0.0.1",
            "network=172.16.0.0 netmask=255.240.0.0 gateway=10.0.1.1 cost=20"
        ]
    );
    assert_eq!(shown(&document, "route6"), ["network=::/0 gateway=2001:db8::1"]);
    assert_eq!(shown(&document, "ntpserver"), ["servername=ntp.example.com", "serverip=192.0.2.123"]);
    for (nitro, name) in [("nsip6", "2001:db8::20"), ("route", "172.16.0.0"), ("ntpserver", "192.0.2.123")] {
        assert!(document.has(Resource::find(nitro).unwrap(), name), "{nitro} {name}");
    }
    all(
        &mut document,
        &[
            "rm ns ip 10.0.1.20",
            "rm ns ip 10.0.2.20",
            "rm ns ip6 2001:db8::20",
            "rm route 0.0.0.0 0.0.0.0 10.0.0.1",
            "rm route 172.16.0.0 255.240.0.0 10.0.1.1",
            "rm route6 ::/0",
            "rm dns nameServer 10.0.0.53",
            "rm ntp server NTP.example.com",
            "rm ntp server 192.0.2.123",
        ],
    );
    assert_eq!(document.to_json(), json!({ "network": {} }), "VIPs are looked after yet");
}

#[test]
fn a_vlan_is_there_before_an_interface_carries_it() {
    let mut document = Document::from_json(json!({ "network": { "interface": { "eth1": {} } } })).unwrap();
    all(&mut document, &["add vlan 200 -aliasName servers", "add vlan 300"]);
    assert_eq!(shown(&document, "vlan"), ["id=200 aliasname=servers", "id=300 aliasname=vlan300"]);
    all(
        &mut document,
        &[
            "bind vlan 200 -ifnum eth1 -tagged",
            "bind vlan 200 -IPAddress 10.0.2.5 255.255.255.0",
            "bind vlan 200 -IPAddress 2001:db8:2::5/64",
        ],
    );
    let vlan = document.root()["network"]["interface"]["servers"].clone();
    let addresses = ["10.0.2.5/24", "2001:db8:2::5/64"];
    assert_eq!(vlan, json!({ "vlan": { "id": 200, "on": "eth1" }, "addresses": addresses }));
    assert_eq!(shown(&document, "vlan_interface_binding"), ["id=200 ifnum=eth1 tagged=true"]);
    let bound = ["id=200 ipaddress=10.0.2.5 netmask=255.255.255.0", "id=200 ipaddress=2001:db8:2::5/64"];
    assert_eq!(shown(&document, "vlan_nsip_binding"), bound);
    for (line, why) in [
        ("bind vlan 300 -ifnum eth1", "not available in this build: say `-tagged`"),
        ("bind vlan 300 -ifnum 1/1 -tagged", "No such resource [ifnum, 1/1]"),
        ("bind vlan 200 -ifnum eth1 -tagged", "Resource already exists [ifnum, eth1]"),
        ("bind vlan 400 -ifnum eth1 -tagged", "No such resource [id, 400]"),
        ("add vlan 200", "Resource already exists [id, 200]"),
        ("add vlan 5000", "Invalid argument value [id, 5000]"),
        ("unbind vlan 200 -IPAddress 10.0.2.6", "No such resource [IPAddress, 10.0.2.6]"),
        ("set vlan 200 -mtu 9000", "[mtu, 9000]"),
    ] {
        let told = run(&mut document, line).unwrap_err();
        assert!(told.contains(why), "{line}: {told}");
    }
    all(
        &mut document,
        &[
            "unbind vlan 200 -IPAddress 2001:db8:2::5",
            "unbind vlan 200 -IPAddress 10.0.2.5 255.255.255.0",
            "unbind vlan 200 -ifnum eth1",
        ],
    );
    assert_eq!(document.root()["network"]["interface"]["servers"], json!({ "vlan": { "id": 200 } }));
    all(&mut document, &["rm vlan 200", "rm vlan 300"]);
    assert_eq!(document.to_json(), json!({ "network": { "interface": { "eth1": {} } } }));
}

#[test]
fn what_has_no_meaning_is_refused_by_name_and_nothing_changes() {
    let mut document = Document::default();
    all(&mut document, &["add ns ip 10.0.1.20 255.255.255.0"]);
    let before = document.clone();
    for (line, why) in [
        ("add ns ip 10.0.0.80 255.255.255.255 -type VIP", "a VIP comes with the vserver that has it"),
        ("add ns ip 10.0.0.5 255.255.255.0 -type NSIP", "`[network.interface.NAME] addresses`"),
        ("add ns ip 10.0.0.5 255.255.255.0 -type GSLBsiteIP", "no meaning here"),
        ("add ns ip 10.0.1.20 255.255.255.0", "Resource already exists [IPAddress, 10.0.1.20]"),
        ("add ns ip 10.0.3.20", "Required argument missing [netmask]"),
        ("add ns ip 10.0.3.20 255.0.255.0", "[netmask, 255.0.255.0]"),
        ("add ns ip 10.0.3.20 255.255.255.0 -mgmtAccess ENABLED", "`[admin] listen`"),
        ("add ns ip 10.0.3.20 255.255.255.0 -vrID 7", "[vrID, 7]"),
        ("rm ns ip 10.0.9.9", "No such resource [IPAddress, 10.0.9.9]"),
        ("add route 10.0.0.0 255.0.0.0", "Required argument missing [gateway]"),
        ("add route 10.0.0.0 255.0.0.0 null", "[gateway, null]"),
        ("add route 10.0.0.0 255.0.0.0 10.0.0.1 -distance 5", "[distance, 5]"),
        ("add dns nameServer resolvers", "[IP, resolvers]"),
        ("add dns nameServer 10.0.0.53 -local", "[local, true]"),
        ("add ntp server x -minpoll 6", "[minpoll, 6]"),
        ("set route 10.0.0.0 -gateway 10.0.0.2", "No such command [set route]"),
    ] {
        let told = run(&mut document, line).unwrap_err();
        assert!(told.contains(why), "{line}: {told}");
        assert_eq!(document, before, "{line}");
    }
}

#[test]
fn addresses_and_servers_are_written_as_lines_that_read_back() {
    let mut document = Document::from_json(json!({ "schema": 1 })).unwrap();
    all(
        &mut document,
        &[
            "add ns ip 10.0.1.20 255.255.255.0",
            "add ns ip6 2001:db8::20/64",
            "add dns nameServer 10.0.0.53",
            "add ntp server ntp.example.com",
        ],
    );
    let text = export::lines(&document, "1.0");
    let back = import(&text).unwrap();
    for section in ["network", "resolver", "time"] {
        assert_eq!(back.document.root().get(section), document.root().get(section), "{text}");
    }
    assert!(!text.contains("# ["), "everything is said: {text}");
}
