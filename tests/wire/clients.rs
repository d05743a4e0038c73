//! Clients and servers that people have, through the data plane: curl, h2load, gRPC and WebSocket in Python, nginx.

#[path = "clients/scripts.rs"]
mod scripts;

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use bascule::model::service::Protocol::{Http, Ssl};

use crate::tls::pki::Authority;
use crate::world::{PATIENT, Plan, Server, World};

/// Debian's own, which has Debian's modules.
const PYTHON: &str = "/usr/bin/python3";

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Runs a program to its end, away from the runtime that serves it.
async fn run(program: &str, arguments: &[String]) -> String {
    let mut command = tokio::process::Command::new(program);
    command.args(arguments).stdin(Stdio::null()).kill_on_drop(true);
    let ended = tokio::time::timeout(PATIENT * 3, command.output()).await;
    let output = ended.unwrap_or_else(|_| panic!("{program} has no end")).unwrap_or_else(|error| {
        panic!("{program}: {error}; run scripts/install-prerequisites");
    });
    let said = text(&output);
    assert!(output.status.success(), "{program} {arguments:?}: {said}");
    said
}

macro_rules! run {
    ($program:expr, $($argument:expr),+ $(,)?) => {
        run($program, &[$($argument.to_string()),+]).await
    };
}

/// A program that serves until it is dropped.
struct Running(std::process::Child);

impl Running {
    /// Waits until it listens.
    async fn start(program: &str, arguments: &[&str], at: SocketAddr) -> Running {
        let child = Command::new(program).args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).spawn();
        let running = Running(child.unwrap_or_else(|error| panic!("{program}: {error}")));
        let listening = async {
            while tokio::net::TcpStream::connect(at).await.is_err() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(PATIENT, listening).await.unwrap_or_else(|_| panic!("{program} does not listen"));
        running
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn free_port() -> SocketAddr {
    ([127, 0, 0, 1], crate::ports::free_port()).into()
}

fn script(dir: &Path, name: &str, text: &str) -> String {
    let path = dir.join(name);
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

/// An nginx that speaks HTTP/2 with prior knowledge, and HTTP/1.1 on another port.
async fn nginx(dir: &Path) -> (Running, SocketAddr, SocketAddr) {
    let (http2, http1) = (free_port(), free_port());
    let configuration = format!(
        "daemon off; master_process off; pid {0}/pid; error_log {0}/error.log;\nevents {{}}\nhttp {{\n\
         access_log off; client_body_temp_path {0}/body;\n\
         server {{ listen {http2} http2; listen {http1};\n\
         location / {{ return 200 \"$server_protocol $request_method $http_host\\n\"; }}\n\
         location /file {{ alias {0}/file; }}\n}}\n}}\n",
        dir.display()
    );
    std::fs::write(dir.join("file"), "x".repeat(1 << 20)).unwrap();
    let path = script(dir, "nginx.conf", &configuration);
    let arguments = ["-p", &dir.display().to_string(), "-c", &path, "-e", "stderr"];
    (Running::start("/usr/sbin/nginx", &arguments, http2).await, http2, http1)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn curl_speaks_every_version_of_http_to_an_nginx_of_either() {
    let dir = tempfile::tempdir().unwrap();
    let (_nginx, http2, http1) = nginx(dir.path()).await;
    for (server, speaks_http2, protocol) in [(http2, true, "HTTP/2.0"), (http1, false, "HTTP/1.1")] {
        let plan = Plan::default().service("a", Http, server).with_service(|s| s.settings.http2 = speaks_http2);
        let world = World::start(plan.vserver("web", Http, &["a"]).with(|v| v.http2 = true)).await;
        let url = |path: &str| format!("http://{}{path}", world.vip("web"));
        for (flag, version) in [("--http1.0", "1.0"), ("--http1.1", "1.1"), ("--http2-prior-knowledge", "2")] {
            let said = run!("curl", "-sS", flag, "-w", "%{http_version}", url("/a?b"));
            assert!(said.starts_with(&format!("{protocol} GET 127.0.0.1:")), "{flag}: {said}");
            assert!(said.ends_with(&format!("\n{version}")) || said.ends_with("\n1.1"), "{flag}: {said}");
            let posted = run!("curl", "-sS", flag, "-d", "a=1", url("/"));
            assert!(posted.starts_with(&format!("{protocol} POST ")), "{flag}: {posted}");
            let length = run!("curl", "-sS", flag, "-o", "/dev/null", "-w", "%{size_download}", url("/file"));
            assert_eq!(length, (1 << 20).to_string(), "{flag}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn curl_agrees_on_http_2_by_alpn() {
    let dir = tempfile::tempdir().unwrap();
    let (ca, server) = (Authority::new("ca"), Server::http("a").await);
    let ca_file = script(dir.path(), "ca.pem", &ca.pem);
    let mut model = Plan::default().service("a", Http, server.at).vserver("web", Ssl, &["a"]).model();
    model.certificates.push(ca.issue("www", &["www.test"]).certificate());
    let bound = model.certificate_id("www").unwrap();
    model.vservers[0].tls.as_mut().unwrap().certificates = vec![bound];
    let mut world = World::of(model).await;
    let port = world.vip("web").port();
    let (resolve, url) = (format!("www.test:{port}:127.0.0.1"), format!("https://www.test:{port}/"));
    let said = run!("curl", "-sS", "--cacert", ca_file, "--resolve", resolve, "-w", " %{http_version}", "--http2", url);
    assert_eq!(said, "a 2");
    world.vserver("web").http2 = false;
    world.publish().await;
    let said = run!("curl", "-sS", "--cacert", ca_file, "--resolve", resolve, "-w", " %{http_version}", "--http2", url);
    assert_eq!(said, "a 1.1");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h2load_loses_no_request() {
    let dir = tempfile::tempdir().unwrap();
    let (_nginx, http2, _) = nginx(dir.path()).await;
    let one = Server::http("a").await;
    for (server, speaks_http2) in [(http2, true), (one.at, false)] {
        let plan = Plan::default().service("a", Http, server).with_service(|s| s.settings.http2 = speaks_http2);
        let world = World::start(plan.vserver("web", Http, &["a"]).with(|v| v.http2 = true)).await;
        let said = run!("h2load", "-n", "2000", "-c", "10", "-m", "20", format!("http://{}/", world.vip("web")));
        assert!(said.contains("2000 total, 2000 started, 2000 done, 2000 succeeded, 0 failed, 0 errored"), "{said}");
        assert!(said.contains("status codes: 2000 2xx"), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn grpc_calls_of_every_kind_pass_and_a_missing_member_is_unavailable() {
    let dir = tempfile::tempdir().unwrap();
    let at = free_port();
    let server = script(dir.path(), "server.py", scripts::GRPC_SERVER);
    let client = script(dir.path(), "client.py", scripts::GRPC_CLIENT);
    let _server = Running::start(PYTHON, &[&server, &at.to_string()], at).await;
    let plan = Plan::default().service("a", Http, at).with_service(|s| s.settings.http2 = true);
    let mut world = World::start(plan.vserver("web", Http, &["a"]).with(|v| v.http2 = true)).await;
    let vip = world.vip("web");
    let said = run!(PYTHON, client, vip);
    let expected = "unary hello\nserver stream 0 1 2 3 4\nclient stream 10\nboth ways a! b! c!\n\
                    error INVALID_ARGUMENT no such thing\ndeadline DEADLINE_EXCEEDED Deadline Exceeded\nmetadata there\n";
    assert_eq!(said, expected);
    world.state("a", bascule::model::state::ServiceState::Down).await;
    assert_eq!(run!(PYTHON, client, vip, "down"), "down UNAVAILABLE 503 Service Unavailable\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_websocket_client_talks_to_a_websocket_server_in_the_clear_and_through_tls() {
    let dir = tempfile::tempdir().unwrap();
    let at = free_port();
    let server = script(dir.path(), "server.py", scripts::WEBSOCKET_SERVER);
    let client = script(dir.path(), "client.py", scripts::WEBSOCKET_CLIENT);
    let _server = Running::start(PYTHON, &[&server, &at.port().to_string()], at).await;
    let ca = Authority::new("ca");
    let ca_file = script(dir.path(), "ca.pem", &ca.pem);
    let plan = Plan::default().service("a", Http, at).vserver("plain", Http, &["a"]).vserver("secure", Ssl, &["a"]);
    let mut model = plan.model();
    model.certificates.push(ca.issue("www", &["www.test"]).certificate());
    let bound = model.certificate_id("www").unwrap();
    let secure = model.vserver_id("secure").unwrap();
    model.vservers[secure.index()].tls.as_mut().unwrap().certificates = vec![bound];
    let world = World::of(model).await;
    assert_eq!(run!(PYTHON, client, world.vip("plain").port()), "small large binary ping closed 1000\n");
    assert_eq!(run!(PYTHON, client, world.vip("secure").port(), ca_file), "small large binary ping closed 1000\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn curl_waits_for_100_continue_and_gets_it() {
    let dir = tempfile::tempdir().unwrap();
    let (_nginx, _, http1) = nginx(dir.path()).await;
    let world = World::start(Plan::default().service("a", Http, http1).vserver("web", Http, &["a"])).await;
    let body = script(dir.path(), "upload", &"x".repeat(100_000));
    let url = format!("http://{}/", world.vip("web"));
    let said = run!(
        "curl",
        "-sS",
        "-v",
        "-H",
        "Expect: 100-continue",
        "--expect100-timeout",
        "30",
        "-m",
        "20",
        "-d",
        format!("@{body}"),
        url
    );
    assert!(said.contains("HTTP/1.1 100 Continue") || said.contains("HTTP/1.1 200 OK"), "{said}");
    assert!(said.contains("HTTP/1.1 POST"), "{said}");
}
