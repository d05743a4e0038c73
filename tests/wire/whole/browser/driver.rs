//! A client of the WebDriver protocol, as far as the tests of the dashboard need it: one headless Chromium behind
//! chromedriver, each on ports and in folders of their own.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

pub const ENTER: &str = "\u{e007}";
pub const ESCAPE: &str = "\u{e00c}";
pub const TAB: &str = "\u{e004}";

/// How long a page may take to show something.
const PATIENCE: Duration = Duration::from_secs(30);

/// A browser; it ends when dropped.
pub struct Browser {
    driver: Child,
    address: SocketAddr,
    session: String,
    _profile: tempfile::TempDir,
}

/// One request to chromedriver, which keeps connections open whatever it is told: the length says where an answer ends.
fn exchange(to: SocketAddr, method: &str, path: &str, body: &str) -> std::io::Result<(u16, String)> {
    let mut stream = TcpStream::connect(to)?;
    stream.set_read_timeout(Some(Duration::from_secs(60)))?;
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())?;
    let mut answer = BufReader::new(stream);
    let (mut status, mut length) = (0, 0);
    loop {
        let mut line = String::new();
        answer.read_line(&mut line)?;
        let line = line.trim_end().to_ascii_lowercase();
        if let Some(rest) = line.strip_prefix("http/1.1 ") {
            status = rest.split(' ').next().and_then(|code| code.parse().ok()).unwrap_or(0);
        } else if let Some(rest) = line.strip_prefix("content-length:") {
            length = rest.trim().parse().unwrap_or(0);
        } else if line.is_empty() {
            break;
        }
    }
    let mut text = vec![0; length];
    answer.read_exact(&mut text)?;
    Ok((status, String::from_utf8_lossy(&text).into_owned()))
}

/// The driver and the port that it listens on; `None`: it ended before it listened.
fn start_driver() -> Option<(Child, u16)> {
    let mut driver = Command::new("/usr/bin/chromedriver")
        .arg("--port=0")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap_or_else(|error| panic!("chromedriver: {error}; run scripts/install-prerequisites"));
    let mut lines = BufReader::new(driver.stdout.take().expect("its output")).lines();
    let port = lines.by_ref().map_while(Result::ok).find_map(|line| {
        let (_, port) = line.split_once("started successfully on port ")?;
        port.trim_end_matches('.').parse::<u16>().ok()
    });
    // It goes on talking.
    std::thread::spawn(move || lines.for_each(drop));
    match port {
        Some(port) => Some((driver, port)),
        None => {
            let _ = driver.kill();
            let _ = driver.wait();
            None
        }
    }
}

// === impl Browser ===

impl Browser {
    pub fn start() -> Browser {
        // The port that it takes for free may be taken by another test before it listens; then it ends.
        let (driver, port) = (0..5).find_map(|_| start_driver()).expect("chromedriver says its port");
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let profile = tempfile::tempdir().expect("a folder");
        let mut browser = Browser { driver, address, session: String::new(), _profile: profile };
        let folder = browser._profile.path().display().to_string();
        let arguments = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-background-networking",
            "--disable-component-update",
            "--no-first-run",
            "--window-size=1440,900",
            &format!("--user-data-dir={folder}"),
        ];
        let wanted = json!({ "capabilities": { "alwaysMatch": {
            "browserName": "chrome",
            "goog:loggingPrefs": { "browser": "ALL", "performance": "ALL" },
            "goog:chromeOptions": { "binary": "/usr/bin/chromium", "args": arguments },
        }}});
        let opened = browser.ask("POST", "/session", &wanted);
        browser.session = opened["sessionId"].as_str().expect("a session").to_owned();
        browser
    }

    fn ask(&self, method: &str, path: &str, body: &Value) -> Value {
        let text = if method == "POST" { body.to_string() } else { String::new() };
        let (status, answer) = exchange(self.address, method, path, &text).expect("chromedriver answers");
        let value: Value = serde_json::from_str(&answer).expect("JSON");
        assert_eq!(status, 200, "{path} {body}: {value}");
        value["value"].clone()
    }

    fn in_session(&self, path: &str, body: &Value) -> Value {
        self.ask("POST", &format!("/session/{}{path}", self.session), body)
    }

    pub fn go(&self, url: &str) {
        self.in_session("/url", &json!({ "url": url }));
    }

    /// What the body of a function gives.
    pub fn run(&self, script: &str) -> Value {
        self.in_session("/execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// Waits until an expression is true, and answers its value.
    pub fn until(&self, expression: &str) -> Value {
        self.until_within(PATIENCE, expression)
    }

    pub fn until_within(&self, limit: Duration, expression: &str) -> Value {
        let start = Instant::now();
        loop {
            let value = self.run(&format!("return ({expression})"));
            if !matches!(value, Value::Null | Value::Bool(false)) && value != json!("") {
                return value;
            }
            assert!(start.elapsed() < limit, "not within {limit:?}: {expression}; the page says:\n{}", self.text());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// What a person can read on the page.
    pub fn text(&self) -> String {
        self.run("return document.body.innerText").as_str().unwrap_or_default().to_owned()
    }

    /// Waits until the page holds a text.
    pub fn reads(&self, text: &str) {
        self.until(&format!("document.body.innerText.includes({})", json!(text)));
    }

    /// Presses keys, one after the other.
    pub fn press(&self, keys: &str) {
        let strokes: Vec<Value> = keys
            .chars()
            .flat_map(|key| ["keyDown", "keyUp"].map(|kind| json!({ "type": kind, "value": key.to_string() })))
            .collect();
        self.in_session("/actions", &json!({ "actions": [{ "type": "key", "id": "keys", "actions": strokes }] }));
    }

    /// Goes on with the Tab key until what has the focus says this.
    pub fn tab_to(&self, text: &str) {
        for _ in 0..150 {
            let says = self.run("return document.activeElement.innerText || document.activeElement.id");
            if says.as_str().is_some_and(|says| says.trim() == text) {
                return;
            }
            self.press(TAB);
        }
        panic!("no way by Tab to `{text}`:\n{}", self.text());
    }

    /// Clicks the first element of a selector whose text begins so.
    pub fn click(&self, selector: &str, text: &str) {
        let find = format!(
            "[...document.querySelectorAll({})].find(x => x.innerText.trim().startsWith({}))",
            json!(selector),
            json!(text)
        );
        self.until(&format!("Boolean({find})"));
        self.run(&format!("const found = {find}; found.focus(); found.click();"));
    }

    /// Types into a field, in place of what it holds.
    pub fn fill(&self, id: &str, text: &str) {
        self.until(&format!("Boolean(document.getElementById({}))", json!(id)));
        self.run(&format!(
            "const field = document.getElementById({}); field.focus(); field.value = {}; \
             field.dispatchEvent(new Event('input', {{ bubbles: true }}));",
            json!(id),
            json!(text)
        ));
    }

    pub fn size(&self, width: u32, height: u32) {
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.command("Emulation.setDeviceMetricsOverride", &metrics);
    }

    /// A command of the protocol for developers.
    pub fn command(&self, name: &str, params: &Value) -> Value {
        self.in_session("/goog/cdp/execute", &json!({ "cmd": name, "params": params }))
    }

    /// The entries of a log since it was last read.
    fn log(&self, kind: &str) -> Vec<Value> {
        let entries = self.in_session("/se/log", &json!({ "type": kind }));
        entries.as_array().cloned().unwrap_or_default()
    }

    /// What scripts and the policy complained about.
    pub fn complaints(&self) -> Vec<String> {
        let said = self.log("browser").into_iter().map(|entry| entry["message"].as_str().unwrap_or("?").to_owned());
        // An answer that is no success is said there too; the page itself says what it makes of it.
        said.filter(|message| !message.contains("Failed to load resource")).collect()
    }

    /// Everything that was asked for since the last look.
    pub fn requests(&self) -> Vec<String> {
        let of = |entry: Value| {
            let message: Value = serde_json::from_str(entry["message"].as_str()?).ok()?;
            let message = &message["message"];
            (message["method"] == "Network.requestWillBeSent").then_some(())?;
            message["params"]["request"]["url"].as_str().map(str::to_owned)
        };
        self.log("performance").into_iter().filter_map(of).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() {
            let _ = exchange(self.address, "DELETE", &format!("/session/{}", self.session), "");
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
