//! Vservers of DNS in front of a real authoritative server, asked by `dig`.

use std::fmt::Write;
use std::net::SocketAddr;

use bascule::model::service::Protocol::{Dns, DnsTcp};
use tokio::process::Command;

use crate::servers;
use crate::world::{PATIENT, Plan, World};

/// `many` does not fit into a datagram.
fn zone() -> String {
    let mut text = "@ 60 SOA ns hostmaster 7 3600 600 86400 30\n@ 60 NS ns\nns 60 A 192.0.2.1\n".to_owned();
    text += "www 60 A 192.0.2.10\nwww 60 AAAA 2001:db8::10\n*.w 60 TXT \"a wildcard\"\nalias 60 CNAME www\n";
    for n in 0..150 {
        let _ = writeln!(text, "many 60 A 198.51.100.{n}");
    }
    text
}

/// What `dig` prints for these arguments.
async fn dig(server: SocketAddr, arguments: &str) -> String {
    let mut command = Command::new("dig");
    command.arg(format!("@{}", server.ip())).args(["-p", &server.port().to_string(), "+tries=1", "+time=5"]);
    let asked = command.args(arguments.split(' ')).kill_on_drop(true).output();
    let output = tokio::time::timeout(PATIENT, asked).await.expect("dig ends");
    let output = output.unwrap_or_else(|error| panic!("dig: {error}; run scripts/install-prerequisites"));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn dig_gets_from_a_real_server_behind_dns_vservers_what_it_gets_from_itself() {
    let knot = tokio::task::spawn_blocking(|| servers::knot_with(&[("example.test", &zone())])).await.unwrap();
    let plan = Plan::default()
        .service("ns", Dns, knot.at)
        .service("ns-tcp", DnsTcp, knot.at)
        .vserver("dns", Dns, &["ns"])
        // Nobody else has this address, so that its port is free for both.
        .with(|v| v.address = Some("127.53.7.1:0".parse().unwrap()))
        .vserver("dns-tcp", DnsTcp, &["ns-tcp"])
        .with(|v| v.address = None);
    let mut world = World::start(plan).await;
    let vip = world.vip("dns");
    world.vserver("dns-tcp").address = Some(vip);
    world.publish().await;
    assert_eq!(world.vip("dns-tcp"), vip);
    let cases = [
        ("www.example.test A +notcp", "flags: qr aa rd; QUERY: 1, ANSWER: 1", "192.0.2.10"),
        ("www.example.test AAAA +tcp", "flags: qr aa rd; QUERY: 1, ANSWER: 1", "2001:db8::10"),
        ("alias.example.test A +notcp", "ANSWER: 2", "192.0.2.10"),
        ("x.w.example.test TXT +notcp", "status: NOERROR", "\"a wildcard\""),
        ("nothing.example.test A +notcp", "status: NXDOMAIN", "hostmaster.example.test."),
        ("nothing.example.test A +tcp", "status: NXDOMAIN", "hostmaster.example.test."),
        ("example.org A +notcp", "status: REFUSED", ""),
        ("www.example.test A +notcp +noedns", "status: NOERROR", "192.0.2.10"),
        ("many.example.test A +ignore +notcp", "flags: qr aa tc rd", ""),
        // Told that it is cut, `dig` asks again over TCP.
        ("many.example.test A +notcp", "ANSWER: 150", "198.51.100.149"),
        ("example.test AXFR +tcp", "198.51.100.149", "XFR size: 15"),
    ];
    for (arguments, header, body) in cases {
        let (through, itself) = (dig(vip, arguments).await, dig(knot.at, arguments).await);
        assert!(through.contains(header) && through.contains(body), "{arguments}:\n{through}\n{}", knot.log());
        let records = |printed: &str| {
            let mut lines: Vec<String> =
                printed.lines().filter(|line| !line.starts_with(';')).map(str::to_owned).collect();
            lines.sort();
            lines
        };
        assert_eq!(records(&through), records(&itself), "{arguments}");
    }
    let snapshot = world.cell.load_full();
    let total = |name: &str| {
        let id = snapshot.model.vserver_id(name).unwrap();
        snapshot.vservers[id.index()].live.requests_total.load(std::sync::atomic::Ordering::Relaxed)
    };
    assert!(total("dns") >= 8 && total("dns-tcp") >= 4, "{} {}", total("dns"), total("dns-tcp"));
}
