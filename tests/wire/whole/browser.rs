//! The dashboard in a real browser, before a real appliance with real back ends. One browser walks all of it, as each
//! takes a second to start and half a core; every claim that fails is told.

#[path = "browser/claims.rs"]
mod claims;
#[path = "browser/driver.rs"]
mod driver;
#[path = "browser/looks.rs"]
mod looks;
#[path = "browser/people.rs"]
mod people;

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::box_under_test::{Backend, Box};
use driver::Browser;

/// A name that is markup, one that is read from the right, which moves what stands beside it, and one as long as names may
/// be.
const MARKUP: &str = "<img src=x onerror=window.hacked=1>";
const TURNED: &str = "ab\u{5d0}\u{5d1}-12";

/// What the claims are about.
struct Stage {
    browser: Browser,
    appliance: Box,
    /// One for each service, in order.
    backends: Vec<Backend>,
}

// === impl Stage ===

impl Stage {
    fn start() -> Stage {
        let backends: Vec<Backend> = ["web1", "web2", "solo"].iter().map(|name| Backend::start(name)).collect();
        let appliance = Box::start(&configuration(&backends));
        Stage { browser: Browser::start(), appliance, backends }
    }

    fn base(&self) -> String {
        format!("http://{}", self.appliance.admin)
    }

    /// Opens a page of the dashboard.
    fn open(&self, page: &str) -> &Browser {
        self.browser.go(&format!("{}/#/{page}", self.base()));
        self.browser
            .until("document.querySelector('main h1') && document.querySelector('.live')?.innerText === 'Live'");
        &self.browser
    }
}

fn long() -> String {
    "n".repeat(127)
}

/// As `bascule passwd` gives it.
fn hashed(password: &str) -> String {
    use std::io::Write as _;
    let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_bascule"));
    program.arg("passwd").stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut child = program.spawn().expect("the program starts");
    child.stdin.take().expect("its input").write_all(format!("{password}\n").as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    String::from_utf8(output.stdout).expect("text").trim().to_owned()
}

/// `1m5s`, `28s`: whole seconds.
fn seconds(text: &str) -> i64 {
    let (mut all, mut number) = (0, 0);
    for c in text.chars() {
        match c {
            '0'..='9' => number = number * 10 + i64::from(c as u8 - b'0'),
            'h' | 'm' | 's' => {
                all += number
                    * match c {
                        'h' => 3600,
                        'm' => 60,
                        _ => 1,
                    };
                number = 0;
            }
            _ => {}
        }
    }
    all
}

fn configuration(backends: &[Backend]) -> String {
    let [web1, web2, solo] = [0, 1, 2].map(|at| backends[at].address);
    let long = long();
    let owner = format!("{}.{}", "a".repeat(60), "b".repeat(60));
    format!(
        r#"
        schema = 1
        [appliance]
        name = "box-b"
        site = "dc-b"
        [admin]
        listen = "127.0.0.1:0"
        [monitor.ok]
        type = "HTTP"
        request = "GET /health"
        interval = "1s"
        response_timeout = "500ms"
        [defaults.service]
        type = "HTTP"
        monitors = ["ok"]
        [service.web1]
        address = "{web1}"
        [service.web2]
        address = "{web2}"
        [service.solo]
        address = "{solo}"
        [service."{MARKUP}"]
        address = "{web1}"
        [service."{TURNED}"]
        address = "{web1}"
        [service.{long}]
        address = "{web1}"
        [vserver.web]
        type = "HTTP"
        address = "127.0.0.1:0"
        services = {{ web1 = 3, web2 = 1 }}
        responder_policies = {{ old = 10 }}
        [responder_action.away]
        type = "redirect"
        target = '"/new"'
        [responder_policy.old]
        rule = 'HTTP.REQ.URL.EQ("/old")'
        action = "away"
        comment = "is the path of old"
        [vserver.alone]
        type = "HTTP"
        address = "127.0.0.1:0"
        services = ["solo"]
        [vserver.odd]
        type = "HTTP"
        services = ["{MARKUP}", "{TURNED}", "{long}"]
        [switch.drill]
        [scenario.dr]
        about = "B answers for A <script>window.hacked=1</script>"
        [scenario.dr.activate]
        when = [["sw:drill"]]
        [scenario.dr.deactivate]
        mode = "off"
        when = [["sw:drill!"]]
        [datacenter.dc-a]
        [datacenter.dc-b]
        [dns]
        listen = ["127.0.0.1:0"]
        [zone."example.test"]
        ttl = "30s"
        soa = {{ mname = "ns1.example.test.", rname = "hostmaster.example.test.", minimum = "30s" }}
        static = """
@ NS ns1
ns1 A 127.0.0.1
"""
        [zone."example.test".rrset."www A"]
        records = [
          {{ data = "192.0.2.10", datacenter = "dc-a" }},
          {{ data = "198.51.100.10", drCond = "dr", datacenter = "dc-b" }},
        ]
        [zone."example.test".rrset."{owner} A"]
        records = [{{ data = "192.0.2.11" }}, {{ data = "198.51.100.11", drCond = "dr" }}]
        "#
    )
}

#[test]
fn the_dashboard_keeps_its_promises_in_a_real_browser() {
    let stage = Stage::start();
    let mut broken = Vec::new();
    for (claim, holds) in claims::ALL {
        if let Err(why) = catch_unwind(AssertUnwindSafe(|| holds(&stage))) {
            let why =
                why.downcast_ref::<String>().cloned().or_else(|| why.downcast_ref::<&str>().map(ToString::to_string));
            broken.push(format!("{claim}: {}", why.unwrap_or_default()));
        }
        // What stands there may not go on into the next one.
        stage.browser.go("about:blank");
    }
    assert!(broken.is_empty(), "{} claims do not hold:\n{}", broken.len(), broken.join("\n"));
}
