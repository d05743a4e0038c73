//! TLS on the management address: with the program's own client, with the one of everybody, and with none.

use std::process::Command;
use std::sync::Arc;

use bascule::admin::{Doors, TlsDoor};
use bascule::model::Role;
use bascule::model::access::AdminTls;
use bascule::model::id::CertificateId;
use bascule::model::tls::{Certificate, Pem};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::appliance::{Appliance, model};
use super::users::user;

fn appliance() -> Appliance {
    let mut model = model();
    model.admin.users = vec![user("oper", Role::Operator)];
    model.admin.tls = Some(AdminTls::Generated);
    Appliance::with(model)
}

fn address(appliance: &Appliance) -> &str {
    appliance.base.strip_prefix("http://").unwrap()
}

/// Over the socket, where no TLS is.
async fn status(appliance: &Appliance) -> Value {
    let socket = appliance.state.path().join("bascule.sock");
    let local = reqwest::Client::builder().no_proxy().unix_socket(socket).build().unwrap();
    local.get("http://localhost/api/v1/status").send().await.unwrap().json().await.unwrap()
}

/// The program's shell against the appliance; what it says, and whether it liked it.
async fn shell(appliance: &Appliance, arguments: &[&str]) -> (bool, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bascule"));
    command.args(["shell", "-c", "show service web1", "--url", &format!("https://{}", address(appliance))]);
    command.args(arguments).env("BASCULE_USER", "oper").env("BASCULE_PASSWORD", "oper");
    let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&said).into_owned())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_knows_the_fingerprint_is_served_and_others_are_told_what_to_do() {
    let appliance = appliance();
    let management = status(&appliance).await["management"].clone();
    assert_eq!(management["tls"], true);
    let fingerprint = management["fingerprint"].as_str().unwrap();
    let (good, said) = shell(&appliance, &["--fingerprint", fingerprint]).await;
    assert!(good && said.contains("web1"), "{said}");
    let (good, said) = shell(&appliance, &[]).await;
    assert!(!good && said.contains("--fingerprint"), "{said}");
    let (good, said) = shell(&appliance, &["--fingerprint", &"00".repeat(32)]).await;
    assert!(!good && said.contains(fingerprint) && said.contains("not the one"), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn plain_text_on_the_port_of_tls_is_sent_on_or_refused_and_never_served() {
    let appliance = appliance();
    let http = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).build().unwrap();
    let read = http.get(format!("{}/api/v1/status?x=y", appliance.base)).send().await.unwrap();
    let to = format!("https://{}/api/v1/status?x=y", address(&appliance));
    assert_eq!((read.status().as_u16(), read.headers()["location"].to_str().unwrap()), (308, &*to));
    let act = http.post(format!("{}/api/v1/login", appliance.base)).json(&json!({ "username": "oper" }));
    let refused = act.send().await.unwrap();
    assert_eq!(refused.status(), 400);
    assert!(refused.json::<Value>().await.unwrap()["detail"].as_str().unwrap().contains("TLS only"));
    // Neither of the two protocols.
    let mut stream = tokio::net::TcpStream::connect(address(&appliance)).await.unwrap();
    stream.write_all(b"\x16nonsense\r\n\r\n").await.unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    assert!(!answer.starts_with(b"HTTP"), "{answer:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_cookie_of_a_session_over_tls_is_for_tls_alone() {
    let appliance = appliance();
    let http = reqwest::Client::builder().no_proxy().tls_danger_accept_invalid_certs(true).build().unwrap();
    let login = http.post(format!("https://{}/api/v1/login", address(&appliance)));
    let response = login.json(&json!({ "username": "oper", "password": "oper" })).send().await.unwrap();
    assert_eq!(response.status(), 200);
    assert!(response.headers()["set-cookie"].to_str().unwrap().ends_with("; Secure"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_login_of_nitro_gives_is_for_tls_and_for_nitro_alone() {
    let appliance = appliance();
    let http = reqwest::Client::builder().no_proxy().tls_danger_accept_invalid_certs(true).build().unwrap();
    let base = format!("https://{}", address(&appliance));
    let login = http.post(format!("{base}/nitro/v1/config/login"));
    let response = login.json(&json!({"login": {"username": "oper", "password": "oper"}})).send().await.unwrap();
    assert_eq!(response.status(), 201);
    let cookie = response.headers()["set-cookie"].to_str().unwrap().to_owned();
    assert!(cookie.ends_with("; Secure"), "{cookie}");
    let token = cookie.split(';').next().and_then(|pair| pair.split_once('=')).unwrap().1.to_owned();
    let get = async |path: &str, cookie: String| {
        http.get(format!("{base}{path}")).header("cookie", cookie).send().await.unwrap().status().as_u16()
    };
    assert_eq!(get("/nitro/v1/config/lbvserver", format!("NITRO_AUTH_TOKEN={token}")).await, 200);
    assert_eq!(get("/api/v1/whoami", format!("bascule_session={token}")).await, 401, "no session of REST");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_says_the_beginning_of_a_handshake_and_waits_holds_nobody_up() {
    let appliance = appliance();
    let mut waiting = Vec::new();
    for _ in 0..64 {
        let mut stream = tokio::net::TcpStream::connect(address(&appliance)).await.unwrap();
        stream.write_all(b"\x16").await.unwrap();
        waiting.push(stream);
    }
    let http = reqwest::Client::builder().no_proxy().tls_danger_accept_invalid_certs(true).build().unwrap();
    let asked = http.get(format!("https://{}/healthz", address(&appliance))).send();
    // They are let go after ten seconds; nobody may have to wait for that.
    let answer = tokio::time::timeout(std::time::Duration::from_secs(8), asked).await.expect("an answer");
    assert_eq!(answer.unwrap().status(), 200);
}

#[test]
fn a_certificate_that_is_replaced_is_shown_from_the_next_connection_on() {
    bascule::app::install_crypto();
    let certificate = |name: &str| {
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        let pem = |text: String| Pem { file: "f".into(), text: text.into() };
        Certificate { name: name.into(), chain: pem(made.cert.pem()), key: Some(pem(made.signing_key.serialize_pem())) }
    };
    let door = Arc::new(TlsDoor::new(None));
    let mut model = model();
    model.certificates = vec![certificate("box")];
    model.admin.tls = Some(AdminTls::Certificate(CertificateId::from_index(0)));
    let shown = |model: &bascule::model::Model| door.current(model).unwrap().unwrap().fingerprint.clone();
    let first = shown(&model);
    assert_eq!(shown(&model), first);
    model.certificates = vec![certificate("box")];
    assert_ne!(shown(&model), first);
    let _doors =
        Doors { tcp: None, unix: None, tls: door, state: None, first_boot: None, people: false, program: None };
}
