//! Clients that people have: openssl and curl.

use std::net::SocketAddr;
use std::process::{Command, Output, Stdio};

use bascule::model::service::Protocol::Ssl;
use bascule::model::tls::ClientAuth;

use super::{authority, handshakes, tls, world};
use crate::world::Server;

/// `openssl s_client`, whose input is one request.
fn s_client(to: SocketAddr, arguments: &[&str]) -> String {
    let mut child = Command::new("openssl")
        .args(["s_client", "-connect", &to.to_string()])
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("openssl is installed");
    std::io::Write::write_all(
        &mut child.stdin.take().unwrap(),
        b"GET / HTTP/1.1\r\nHost: www.test\r\nConnection: close\r\n\r\n",
    )
    .unwrap();
    text(child.wait_with_output().unwrap())
}

fn text(output: Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn openssl_and_curl_are_served() {
    let (ca, server) = (authority(), Server::http("hello of a").await);
    let issued = ca.issue("www", &["www.test"]);
    let mut world = world(Ssl, &server, &[&issued], |_| ()).await;
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let (ca_file, session) = (file("ca.pem", &ca.pem), dir.path().join("session").display().to_string());
    let vip = world.vip("web");
    let verify = ["-CAfile", &ca_file, "-verify_return_error", "-servername", "www.test", "-ign_eof"];
    let openssl = |more: &[&str]| s_client(vip, &[&verify[..], more].concat());

    for (flag, version) in [("-tls1_2", "TLSv1.2"), ("-tls1_3", "TLSv1.3")] {
        let said = openssl(&[flag]);
        assert!(said.contains("hello of a") && said.contains(version), "{said}");
        let said = openssl(&[flag, "-sess_out", &session]);
        assert!(said.contains("hello of a"), "{said}");
        let said = openssl(&[flag, "-sess_in", &session]);
        assert!(said.contains("Reused, TLSv1") && said.contains("hello of a"), "{said}");
    }
    let said = openssl(&["-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0"]);
    assert!(!said.contains("hello of a") && said.contains("alert"), "{said}");
    let said = openssl(&["-alpn", "http/1.1,http/1.0"]);
    assert!(said.contains("ALPN protocol: http/1.1"), "{said}");
    let said = openssl(&["-alpn", "spdy/1"]);
    assert!(said.contains("no application protocol"), "{said}");
    assert_eq!(handshakes(&world), (5, 2, 2));

    let curl = |more: &[&str]| {
        let resolve = format!("www.test:{}:127.0.0.1", vip.port());
        let url = format!("https://www.test:{}/", vip.port());
        let fixed = ["-sS", "--http1.1", "--cacert", &ca_file, "--resolve", &resolve, &url];
        text(Command::new("curl").args(fixed).args(more).output().expect("curl is installed"))
    };
    assert_eq!(curl(&[]), "hello of a");

    world.model.certificates.push(ca.certificate("zz-clients"));
    let authority = world.model.certificate_id("zz-clients").unwrap();
    tls(world.vserver("web")).client_auth = ClientAuth::Required { authority };
    world.publish().await;
    let own = ca.issue("client", &["client.test"]);
    let (cert, key) = (file("client.pem", &own.chain), file("client.key", &own.key));
    assert_eq!(curl(&["--cert", &cert, "--key", &key]), "hello of a");
    assert!(!curl(&[]).contains("hello of a"));
    let said = openssl(&["-cert", &cert, "-key", &key]);
    assert!(said.contains("hello of a"), "{said}");
}
