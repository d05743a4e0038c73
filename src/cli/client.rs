//! A client of the appliance's REST, over its Unix socket or over TCP.

mod tls;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use reqwest::{Method, StatusCode};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::args::Target;

/// The socket's name in a state directory.
pub const SOCKET_NAME: &str = "bascule.sock";

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Of one call; no command of this program waits for a drain.
const CALL_TIMEOUT: Duration = Duration::from_secs(60);
/// Of a call that waits for a drain: a little longer than the appliance lets anybody wait.
const WAIT_TIMEOUT: Duration = Duration::from_secs(3_660);
/// Of an answer; the largest is a configuration.
const ANSWER_MAX: usize = 256 << 20;

/// One appliance.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    http: reqwest::Client,
    base: String,
    credentials: Option<Credentials>,
    /// For messages.
    place: String,
    /// The appliance runs on this machine: it is asked over its socket, or over a loopback address.
    is_here: bool,
    /// Of one call, where it is not the usual.
    timeout: Option<Duration>,
}

#[derive(Clone)]
enum Credentials {
    Token(String),
    Basic { user: String, password: String },
}

/// Why a call gave nothing.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum Failure {
    #[error("{place}: {what}")]
    Unreachable { place: String, what: String },
    /// The appliance declined; `document` is its problem document.
    #[error("{detail}")]
    Declined { status: StatusCode, detail: String, document: Value },
}

/// A runtime for one command.
pub(crate) fn runtime() -> Result<tokio::runtime::Runtime, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| format!("no runtime: {error}"))
}

// === impl Client ===

impl Client {
    /// The appliance that `target`, the environment and the usual places point to.
    pub fn find(target: &Target) -> Result<Client, String> {
        // What the command line says wins over the environment.
        let from_environment = || std::env::var("BASCULE_URL").ok().filter(|_| target.state.is_none());
        if let Some(url) = target.url.clone().or_else(from_environment).filter(|url| !url.is_empty()) {
            return match url.strip_prefix("unix:") {
                Some(path) => Client::on_socket(Path::new(path)),
                None => Client::on_tcp(&url, target),
            };
        }
        let directories = match &target.state {
            Some(directory) => vec![directory.clone()],
            None => usual_directories(std::env::var("STATE_DIRECTORY").ok().as_deref()),
        };
        let sockets: Vec<PathBuf> = directories.iter().map(|d| d.join(SOCKET_NAME)).collect();
        match sockets.iter().find(|socket| socket.exists()) {
            Some(socket) => Client::on_socket(socket),
            None => {
                let places: Vec<String> = sockets.iter().map(|s| s.display().to_string()).collect();
                Err(format!(
                    "no running appliance is found: there is no {}; name one with --url, BASCULE_URL or --state",
                    places.join(", ")
                ))
            }
        }
    }

    fn on_socket(path: &Path) -> Result<Client, String> {
        let http = builder().unix_socket(path).build().map_err(|e| spoken(&e))?;
        let place = path.display().to_string();
        // Over the socket the kernel says who calls.
        Ok(Client { http, base: "http://localhost".into(), credentials: None, place, is_here: true, timeout: None })
    }

    fn on_tcp(url: &str, target: &Target) -> Result<Client, String> {
        let base = base_of(url)?;
        let var = |name| std::env::var(name).ok().filter(|v: &String| !v.is_empty());
        let credentials = match (var("BASCULE_TOKEN"), var("BASCULE_USER")) {
            (Some(token), _) => Some(Credentials::Token(token)),
            (None, Some(user)) => {
                Some(Credentials::Basic { user, password: var("BASCULE_PASSWORD").unwrap_or_default() })
            }
            (None, None) => None,
        };
        let ca = target.ca.clone().or_else(|| var("BASCULE_CA").map(PathBuf::from));
        let http = match (target.fingerprint.clone().or_else(|| var("BASCULE_FINGERPRINT")), ca) {
            (Some(fingerprint), _) => tls::pinned(builder(), &fingerprint)?,
            (None, Some(file)) => tls::authorities(builder(), &file)?,
            (None, None) => builder(),
        };
        let http = http.build().map_err(|e| spoken(&e))?;
        let is_here = is_loopback(&base);
        Ok(Client { http, place: base.clone(), base, credentials, is_here, timeout: None })
    }

    /// The same, with as much patience for one call and no more.
    pub fn within(&self, timeout: Duration) -> Client {
        Client { timeout: Some(timeout), ..self.clone() }
    }

    /// Where the appliance is, for messages.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// Whether the appliance runs on this machine, and sees the files that this program sees.
    pub fn is_here(&self) -> bool {
        self.is_here
    }

    /// GET, as a structure.
    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Failure> {
        let value = self.call(Method::GET, path, None).await?;
        serde_json::from_value(value)
            .map_err(|error| self.unreachable(format!("an answer of another version: {error}")))
    }

    /// A call with a JSON body, if any; the answer as JSON. Of a collection that comes in pages, all of them as one.
    pub async fn call(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value, Failure> {
        let mut whole = self.call_once(method, path, body).await?;
        while let Some(next) = whole.get("next").and_then(Value::as_str).map(str::to_owned) {
            let mut page = self.call_once(Method::GET, &next, None).await?;
            let Some(more) = page.get_mut("items").and_then(Value::as_array_mut).map(std::mem::take) else { break };
            if let Some(items) = whole.get_mut("items").and_then(Value::as_array_mut) {
                items.extend(more);
            }
            match page.get_mut("next").map(Value::take) {
                Some(next) => whole["next"] = next,
                None => drop(whole.as_object_mut().and_then(|whole| whole.shift_remove("next"))),
            }
        }
        Ok(whole)
    }

    async fn call_once(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value, Failure> {
        let mut request = self.request(method, path);
        if let Some(body) = body {
            request = request.json(body);
            if body.get("wait").is_some() {
                request = request.timeout(WAIT_TIMEOUT);
            }
        }
        let text = self.send(request).await?;
        serde_json::from_str(&text).map_err(|error| self.unreachable(format!("the answer is not JSON: {error}")))
    }

    /// GET, as text of this media type.
    pub async fn text(&self, path: &str, media_type: &str) -> Result<String, Failure> {
        self.send(self.request(Method::GET, path).header("accept", media_type)).await
    }

    /// A TOML text as the body.
    pub async fn send_toml(&self, method: Method, path: &str, toml: String) -> Result<Value, Failure> {
        let request = self.request(method, path).header("content-type", "application/toml").body(toml);
        let text = self.send(request).await?;
        serde_json::from_str(&text).map_err(|error| self.unreachable(format!("the answer is not JSON: {error}")))
    }

    fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        let request = self.http.request(method, format!("{}{path}", self.base));
        let request = match self.timeout {
            Some(timeout) => request.timeout(timeout),
            None => request,
        };
        match &self.credentials {
            None => request,
            Some(Credentials::Token(token)) => request.bearer_auth(token),
            Some(Credentials::Basic { user, password }) => request.basic_auth(user, Some(password)),
        }
    }

    async fn send(&self, request: reqwest::RequestBuilder) -> Result<String, Failure> {
        let mut response = request.send().await.map_err(|e| self.unreachable(spoken(&e)))?;
        let status = response.status();
        if let Some(at) = response.headers().get("x-token-expires").and_then(|at| at.to_str().ok()) {
            static ONCE: std::sync::Once = std::sync::Once::new();
            ONCE.call_once(|| {
                eprintln!(
                    "warning: the token of BASCULE_TOKEN expires at {at}; make another with `bascule token create`"
                )
            });
        }
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|e| self.unreachable(spoken(&e)))? {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > ANSWER_MAX {
                return Err(self.unreachable("the answer is too long".into()));
            }
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if status.is_success() {
            return Ok(text);
        }
        let document: Value = serde_json::from_str(&text).unwrap_or(Value::Null);
        // NITRO says it in a message.
        let said = document.get("detail").or_else(|| document.get("message"));
        let detail = match said.and_then(Value::as_str) {
            Some(detail) => detail.to_owned(),
            None => format!("{} answers {status}", self.place),
        };
        Err(Failure::Declined { status, detail, document })
    }

    pub fn unreachable(&self, what: String) -> Failure {
        Failure::Unreachable { place: self.place.clone(), what }
    }
}

/// A URL without its last slash, or an address as the ready file gives it.
fn base_of(url: &str) -> Result<String, String> {
    match url.trim_end_matches('/') {
        address if address.parse::<SocketAddr>().is_ok() => Ok(format!("http://{address}")),
        base if base.starts_with("http://") || base.starts_with("https://") => Ok(base.to_owned()),
        _ => Err(format!("`{url}` is not a URL; write it like http://127.0.0.1:9080")),
    }
}

fn is_loopback(base: &str) -> bool {
    let url = reqwest::Url::parse(base).ok();
    let host = url.as_ref().and_then(reqwest::Url::host_str).unwrap_or_default();
    let ip = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
    host == "localhost" || ip.is_ok_and(|ip| ip.is_loopback())
}

fn builder() -> reqwest::ClientBuilder {
    reqwest::Client::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .timeout(CALL_TIMEOUT)
        // Somebody types for longer than the appliance keeps a connection on which nothing is asked, and nothing here would
        // hear of its end meanwhile.
        .pool_max_idle_per_host(0)
        // A proxy of the environment is for the Internet, not for the box's own management.
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("bascule/", env!("CARGO_PKG_VERSION")))
}

/// Without `--state`: where an appliance may have its state, in order. systemd gives a list; the first is ours.
/// Where the state of the appliance of this machine is: the first of the usual places that somebody has locked once.
pub fn state_directory() -> PathBuf {
    let mut all = usual_directories(std::env::var("STATE_DIRECTORY").ok().as_deref());
    let used = all.iter().position(|dir| dir.join("bascule.lock").exists());
    all.swap_remove(used.unwrap_or(0))
}

fn usual_directories(from_systemd: Option<&str>) -> Vec<PathBuf> {
    let first = from_systemd.and_then(|list| list.split(':').next()).filter(|first| !first.is_empty());
    first.into_iter().chain(["state", "/var/lib/bascule"]).map(PathBuf::from).collect()
}

/// The innermost reason: `Connection refused (os error 111)` says more than `error sending request`.
fn spoken(error: &reqwest::Error) -> String {
    let mut reason: &(dyn std::error::Error + 'static) = error;
    while let Some(source) = reason.source() {
        reason = source;
    }
    tls::said(reason).unwrap_or_else(|| reason.to_string())
}

// === impl Credentials ===

/// Secrets are never printed.
impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Credentials::Token(_) => f.write_str("Token"),
            Credentials::Basic { user, .. } => write!(f, "Basic({user})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_directory_of_the_environment_comes_first() {
        let found = usual_directories(Some("/run/x:/run/y"));
        assert_eq!(found, [PathBuf::from("/run/x"), "state".into(), "/var/lib/bascule".into()]);
    }

    #[test]
    fn without_a_socket_the_error_names_every_place_and_the_ways_out() {
        let target = Target { state: Some("/nonexistent".into()), ..Target::default() };
        let error = Client::find(&target).unwrap_err();
        assert!(error.contains("/nonexistent/bascule.sock") && error.contains("--url"), "{error}");
    }

    #[test]
    fn an_address_as_the_ready_file_gives_it_is_a_url_too() {
        for url in ["127.0.0.1:9080", "http://127.0.0.1:9080", "http://127.0.0.1:9080/"] {
            assert_eq!(base_of(url), Ok("http://127.0.0.1:9080".into()), "{url}");
        }
        assert!(base_of("box-b").is_err());
    }

    #[test]
    fn an_appliance_behind_a_loopback_address_is_on_this_machine() {
        for (base, is_here) in [
            ("http://127.0.0.1:9080", true),
            ("https://[::1]:9443", true),
            ("http://localhost", true),
            ("http://192.0.2.1:9080", false),
            ("https://localhost.example.net", false),
        ] {
            assert_eq!(is_loopback(base), is_here, "{base}");
        }
    }

    #[test]
    fn credentials_are_never_printed() {
        let secret = Credentials::Basic { user: "ops".into(), password: "s3cret".into() };
        assert_eq!(format!("{secret:?}"), "Basic(ops)");
    }

    #[test]
    fn each_call_has_a_connection_of_its_own_because_a_kept_one_may_be_dead() {
        use std::io::{BufRead as _, Write as _};
        let _ = rustls::crypto::ring::default_provider().install_default();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let server = std::thread::spawn(move || {
            // The first one stays open, and nobody reads it again.
            let answered = |()| {
                let (connection, _) = listener.accept().unwrap();
                let head = std::io::BufReader::new(&connection).lines().map_while(Result::ok);
                head.take_while(|line| !line.is_empty()).for_each(drop);
                (&connection).write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}").unwrap();
                connection
            };
            [(), ()].map(answered)
        });
        let client = Client::find(&Target { url: Some(url), ..Target::default() }).unwrap();
        runtime().unwrap().block_on(async {
            for _ in 0..2 {
                client.call(Method::GET, "/api/v1/status", None).await.unwrap();
            }
        });
        server.join().unwrap();
    }
}
