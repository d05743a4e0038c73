//! No secret leaves: neither in an answer, nor in a log, nor in the journal. A real process, a long session, and a search for
//! every secret that was planted.

use std::io::Read as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use argon2::password_hash::PasswordHasher as _;
use argon2::password_hash::phc::PasswordHash;
use argon2::{Algorithm, Argon2, Params, Version};
use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_secs(60);

struct Process {
    child: Child,
    folder: tempfile::TempDir,
    base: String,
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn hash(password: &str) -> String {
    let cheap = Argon2::new(Algorithm::Argon2id, Version::V0x13, Params::new(8, 1, 1, None).unwrap());
    let hash: PasswordHash = cheap.hash_password(password.as_bytes()).unwrap();
    hash.to_string()
}

fn start(config: &str, files: &[(&str, &str)]) -> Process {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("box.toml"), config).unwrap();
    for (name, text) in files {
        std::fs::write(path(name), text).unwrap();
    }
    let log = std::fs::File::create(path("log")).unwrap();
    let child = Command::new(env!("CARGO_BIN_EXE_bascule"))
        .args(["run", "--config"])
        .arg(path("box.toml"))
        .arg("--ready-file")
        .arg(path("ready"))
        .env("BASCULE_LOG", "debug")
        .stdin(Stdio::null())
        .stdout(log.try_clone().unwrap())
        .stderr(log)
        .spawn()
        .unwrap();
    let begun = Instant::now();
    let mut process = Process { child, folder, base: String::new() };
    loop {
        if let Ok(text) = std::fs::read_to_string(process.folder.path().join("ready"))
            && let Ok(ready) = serde_json::from_str::<Value>(&text)
        {
            process.base = format!("http://{}", ready["admin"].as_str().unwrap());
            return process;
        }
        let ended = process.child.try_wait().unwrap();
        assert!(ended.is_none() && begun.elapsed() < PATIENCE, "not ready: {}", read(&process, "log"));
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn read(process: &Process, name: &str) -> String {
    let mut text = Vec::new();
    if let Ok(mut file) = std::fs::File::open(process.folder.path().join(name)) {
        file.read_to_end(&mut text).unwrap();
    }
    String::from_utf8_lossy(&text).into_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_planted_secret_is_in_any_answer_log_or_journal_of_a_long_session() {
    bascule::app::install_crypto();
    let root = hash("planted-root-password");
    let oper = hash("planted-oper-password");
    let token = "bascule_planted-token-of-the-configuration";
    let config = format!(
        r#"
schema = 1
[admin]
listen = "127.0.0.1:0"
[admin.user.root]
role = "superuser"
password_hash = "{root}"
[admin.user.oper]
role = "operator"
password_hash = "{oper}"
[admin.token.ci]
role = "read-only"
hash = "{}"
[admin.ldap]
url = "ldap://127.0.0.1:1"
base = "dc=example"
bind_dn = "cn=x"
bind_password = {{ file = "bind" }}
roles = {{ ops = "operator" }}
[trigger.page]
type = "HTTP"
uri = "http://127.0.0.1:1/page?key=planted-query"
headers = {{ Authorization = "Bearer planted-header" }}
[monitor.m]
type = "HTTP"
custom_headers = "X-Key: planted-custom-header"
[service.web1]
type = "HTTP"
address = "127.0.0.1:1"
monitors = ["m"]
[vserver.web]
type = "HTTP"
address = "127.0.0.1:0"
services = ["web1"]
responder_policies = {{ web1 = 10 }}
rewrite_policies = {{ web1 = 10 }}
[responder_action.web1]
type = "respondwith"
target = '"HTTP/1.1 401 No\r\nX-Key: planted-answer\r\n\r\nplanted-body"'
[responder_policy.web1]
rule = 'HTTP.REQ.HEADER("Authorization").EQ("planted-compared") || HTTP.REQ.COOKIE.VALUE("a").EQ("planted-cookie")'
action = "web1"
[rewrite_action.web1]
type = "insert_http_header"
target = "Authorization"
value = '"Bearer planted-written"'
[rewrite_policy.web1]
rule = "web1"
action = "web1"
[policy_expression.web1]
value = 'HTTP.REQ.HEADER("authorization").CONTAINS("planted-named")'
[criterion.web1]
header = {{ name = "Authorization", equals = "planted-criterion" }}
[rule.web1]
vserver = "web"
priority = 1
when = [["web1"]]
action = {{ edit = [{{ set = "X-Key", value = "planted-edit" }}] }}
[switch.drill]
"#,
        bascule::model::access::token_hash(token)
    );
    let process = start(&config, &[("bind", "planted-bind-password\n")]);
    let http = reqwest::Client::builder().no_proxy().pool_max_idle_per_host(0).build().unwrap();
    let at = |path: &str| format!("{}{path}", process.base);
    let mut answers: Vec<(String, String)> = Vec::new();

    // Logins that fail, by every way there is.
    for (name, password) in [("root", "planted-wrong-password"), ("planted-name", "x"), ("eve", "planted-ldap-guess")] {
        let body = json!({ "username": name, "password": password });
        let answer = http.post(at("/api/v1/login")).json(&body).send().await.unwrap().text().await.unwrap();
        answers.push((format!("login {name}"), answer));
        let basic = http.get(at("/api/v1/status")).basic_auth(name, Some(password)).send().await.unwrap();
        answers.push((format!("basic {name}"), basic.text().await.unwrap()));
    }
    let unknown = http.get(at("/api/v1/status")).bearer_auth("planted-unknown-token").send().await.unwrap();
    answers.push(("bearer".into(), unknown.text().await.unwrap()));
    let odd = http.post(at("/api/v1/login")).json(&json!({ "username": "root", "password": ["planted-list"] }));
    answers.push(("odd".into(), odd.send().await.unwrap().text().await.unwrap()));
    let malformed = http.post(at("/api/v1/login")).body("{\"username\": \"root\", \"password\": \"planted-broken");
    answers.push(("malformed".into(), malformed.send().await.unwrap().text().await.unwrap()));

    // A session that acts.
    let body = json!({ "username": "oper", "password": "planted-oper-password" });
    let login = http.post(at("/api/v1/login")).json(&body).send().await.unwrap();
    assert_eq!(login.status(), 200);
    let cookie = login.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    let csrf = login.json::<Value>().await.unwrap()["csrf"].as_str().unwrap().to_owned();
    let act = http.put(at("/api/v1/switches/drill")).json(&json!({ "value": true, "reason": "audit" }));
    let act = act.header("cookie", &cookie).header("x-csrf-token", &csrf).send().await.unwrap();
    assert_eq!(act.status(), 200);
    answers.push(("act".into(), act.text().await.unwrap()));

    // A configuration with a secret, and one that does not load.
    let root_auth = |request: reqwest::RequestBuilder| request.basic_auth("root", Some("planted-root-password"));
    let running = root_auth(http.get(at("/api/v1/config"))).send().await.unwrap().text().await.unwrap();
    let changed = running.replace("planted-header", "planted-second-header");
    let put = http.put(at("/api/v1/config")).header("content-type", "application/toml");
    let put = root_auth(put.body(changed)).send().await.unwrap();
    assert_eq!(put.status(), 200);
    answers.push(("put".into(), put.text().await.unwrap()));
    let bad = running.replace("password_hash = ", "password_hash = 1 # ");
    let bad = root_auth(http.put(at("/api/v1/config")).header("content-type", "application/toml").body(bad));
    answers.push(("bad".into(), bad.send().await.unwrap().text().await.unwrap()));

    // Everything that can be read, by an operator and with a token; and by a superuser what is not the configuration.
    let document: Value = root_auth(http.get(at("/api/v1/openapi.json"))).send().await.unwrap().json().await.unwrap();
    for (path, item) in document["paths"].as_object().unwrap() {
        let endless = path.ends_with("/events");
        if item.get("get").is_none() || endless {
            continue;
        }
        let url = path.replace("{name}", "web1").replace("{id}", "1");
        for who in ["oper", "token", "root"] {
            // The configuration tells a superuser everything that is in it.
            let told = ["status", "journal", "timeline", "outbox", "whoami", "metrics", "history", "connections"];
            if who == "root" && !told.iter().any(|word| path.contains(word)) {
                continue;
            }
            let request = http.get(at(&url));
            let request = match who {
                "oper" => request.header("cookie", &cookie),
                "token" => request.bearer_auth(token),
                _ => root_auth(request),
            };
            let text = request.send().await.unwrap().text().await.unwrap();
            // A session is told its own token of acts, and nobody else is.
            let text = if path.ends_with("whoami") && who == "oper" { text.replace(&csrf, "") } else { text };
            answers.push((format!("{who} {path}"), text));
        }
    }
    for path in [
        "responderaction",
        "responderaction/web1?attrs=name,target",
        "responderpolicy",
        "rewriteaction/web1",
        "rewriteaction?filter=stringbuilderexpr:/planted/",
        "rewritepolicy",
        "policyexpression/web1",
        "lbvserver_responderpolicy_binding/web",
        "lbvserver_binding/web",
    ] {
        let request = http.get(at(&format!("/nitro/v1/config/{path}"))).header("X-NITRO-USER", "oper");
        let answer = request.header("X-NITRO-PASS", "planted-oper-password").send().await.unwrap();
        assert_eq!(answer.status(), 200, "{path}");
        answers.push((format!("oper {path}"), answer.text().await.unwrap()));
    }
    let journal = root_auth(http.get(at("/api/v1/journal?limit=10000"))).send().await.unwrap().text().await.unwrap();
    assert!(journal.contains("\"door\":\"session 1 from 127.0.0.1\""), "{journal}");
    answers.push(("journal".into(), journal));
    answers.push(("log".into(), read(&process, "log")));

    let secrets = ["planted-", &cookie["bascule_session=".len()..], &csrf, &root[20..], &oper[20..]];
    for (whence, text) in &answers {
        for secret in secrets {
            let shown = text.find(secret).map(|at| text[..at].chars().rev().take(80).collect::<String>());
            let before = shown.map(|reversed| reversed.chars().rev().collect::<String>());
            assert_eq!(before, None, "`{secret}` in {whence}");
        }
    }
    assert!(answers.len() > 100, "{} answers were searched", answers.len());
}
