//! What the dashboard promises.

use std::time::Duration;

use serde_json::{Value, json};

use super::driver::{ENTER, ESCAPE};
use super::{MARKUP, Stage, TURNED, hashed, long, seconds};

type Claim = (&'static str, fn(&Stage));

/// In the order in which they are walked: what an earlier one changes, it sets back.
pub(super) const ALL: &[Claim] = &[
    ("each page shows live data and nothing complains", each_page_shows_live_data),
    ("names and reasons stay text and do not break the layout", names_and_reasons_stay_text),
    ("every act opens its dialog, and says what it would do", every_act_opens_its_dialog),
    ("a drain is asked for with a reason, and counts down by the clock of the appliance", a_drain_counts_down),
    ("what a mode change is said to do to DNS is what it does", a_mode_change_does_what_was_said),
    ("the last member is not drained without its name", the_last_member_needs_its_name),
    ("all of it goes by keyboard", all_of_it_goes_by_keyboard),
    ("a service that fails is shown at once", a_service_that_fails_is_shown_at_once),
    ("a configuration is checked as it is typed", a_configuration_is_checked_as_it_is_typed),
    ("every page fits a desktop and a phone", super::looks::every_page_fits_and_is_there_to_be_looked_at),
    ("a silent stream is said within six seconds, and is made good", a_silent_stream_is_said),
    ("who is not known logs in, acts in a session, and logs out", who_is_not_known_logs_in),
    ("users and tokens are made and taken away", super::people::users_and_tokens_are_made_and_taken_away),
    ("states stay apart without colour and nothing moves", super::looks::states_stay_apart),
    ("no request leaves the machine", no_request_leaves),
];

fn each_page_shows_live_data(stage: &Stage) {
    for (page, shown) in [
        ("", "Where names go now"),
        ("", "www.example.test goes to"),
        ("", "dr inactive: the primary set"),
        ("scenarios", "dr"),
        ("scenarios/dr", "sw:drill"),
        ("vservers", "alone"),
        ("vservers/web", "Where new clients go now"),
        ("vservers/web", "web1"),
        ("services", "solo"),
        ("services/web1", "Why it gets new clients"),
        ("checks", "web1:ok"),
        ("checks/web1:ok", "The last samples"),
        ("timeline", "Incidents"),
        ("datacenters", "dc-a"),
        ("dns", "Why this answer"),
        ("dns/example.test", "192.0.2.10"),
        ("outbox", "Nothing waits and nothing was given up."),
        ("journal", "What happened"),
        ("policies", "Rules of the configuration"),
        ("policies", "is the path of old"),
        ("vservers/web", "All policies"),
        ("monitors", "that nothing uses"),
        ("monitors/ok", "Where it probes"),
        ("people", "Nobody needs to log in."),
        ("users", "Users and tokens"),
        ("nowhere/at-all", "There is no such page"),
        ("missing", "Clients of NITRO found everything that they asked for."),
        ("config", "[scenario.dr.activate]"),
        ("certificates", "No certificates are defined."),
        ("more", "Journal"),
    ] {
        let browser = stage.open(page);
        if page == "config" {
            browser.until(&format!("document.getElementById('editor').value.includes({})", json!(shown)));
        } else {
            browser.reads(shown);
        }
        let complaints = browser.complaints();
        assert!(complaints.is_empty(), "#/{page}: {complaints:?}");
        assert!(!browser.text().contains("could not be drawn"), "#/{page}");
    }
    // A query that is explained goes through the field of the top bar.
    let browser = stage.open("");
    browser.fill("q", "why www.example.test A 127.0.0.1");
    browser.run("document.getElementById('q').focus()");
    browser.press(ENTER);
    browser.reads("NOERROR");
    browser.reads("192.0.2.10");
}

fn names_and_reasons_stay_text(stage: &Stage) {
    let reason = "<script>window.hacked=1</script>\u{202e}".to_owned() + &"r".repeat(220);
    let act = json!({ "value": true, "reason": reason, "expires": "1h" }).to_string();
    stage.appliance.act("PUT", "/switches/drill", &act);
    for width in [1440, 390] {
        stage.browser.size(width, 900);
        for page in ["", "services", "vservers/odd", "scenarios", "scenarios/dr", "dns", "dns/example.test", "journal"]
        {
            let browser = stage.open(page);
            if page == "services" {
                for name in [MARKUP, TURNED, &long()] {
                    browser.reads(name);
                }
            }
            assert_eq!(browser.run("return window.hacked || null"), Value::Null, "#/{page}");
            assert_eq!(browser.run("return document.querySelectorAll('main img, main script').length"), json!(0));
            let wide = browser.run("return document.documentElement.scrollWidth - innerWidth");
            assert!(wide.as_i64().is_some_and(|wide| wide <= 0), "#/{page} at {width}: {wide} pixels too wide");
        }
    }
    stage.browser.size(1440, 900);
    stage.appliance.act("PUT", "/switches/drill", r#"{"value": false, "reason": "over"}"#);
    set_back(stage);
}

fn every_act_opens_its_dialog(stage: &Stage) {
    let acts = "[...document.querySelectorAll('main button')].filter(b => b.innerText.trim().endsWith('…'))";
    for page in ["services/web1", "vservers/web", "checks/web1:ok", "scenarios", "scenarios/dr", "datacenters"] {
        let browser = stage.open(page);
        browser.until(&format!("{acts}.length > 0"));
        let count = browser.run(&format!("return {acts}.length")).as_u64().unwrap();
        for at in 0..count {
            let name = browser.run(&format!("const b = {acts}[{at}]; b.focus(); b.click(); return b.innerText"));
            browser.until("document.querySelector('dialog h2') && document.activeElement.id === 'dlg-t'");
            browser.until("!document.querySelector('dialog').innerText.includes('Asking what it would do')");
            let said = browser.run("return document.querySelector('dialog').innerText");
            let said = said.as_str().unwrap();
            assert!(!said.contains("cannot say beforehand"), "#/{page} {name}: {said}");
            browser.press(ESCAPE);
            browser.until("!document.querySelector('dialog')");
        }
        let complaints = browser.complaints();
        assert!(complaints.is_empty(), "#/{page}: {complaints:?}");
    }
}

fn a_drain_counts_down(stage: &Stage) {
    let browser = stage.open("vservers/web");
    browser.click("tr[data-name=web2] button", "Drain…");
    browser.reads("Reason missing.");
    // By click or key, nothing is sent without a reason.
    browser.run("document.getElementById('go').click()");
    browser.run("document.getElementById('f-reason').focus()");
    browser.press(ENTER);
    assert_eq!(stage.appliance.service_state("web2"), "UP");
    browser.run("document.getElementById('f-graceful').click()");
    browser.fill("f-reason", "Kernel patch");
    send(stage);
    browser.reads("web2 drains");
    browser.until("document.querySelector('tr[data-name=web2]')?.innerText.includes('Draining')");
    let shown = || {
        let script = "const m = /Draining (\\d+):(\\d\\d)/.exec(document.querySelector('tr[data-name=web2]')?.innerText); \
                      return m ? 60 * m[1] + Number(m[2]) : null";
        browser.run(script).as_i64().expect("a countdown")
    };
    let first = shown();
    let told = stage.appliance.get("/services/web2")["drain"]["remaining"].as_str().map(seconds).expect("it drains");
    // Asked a moment later.
    assert!((-1..=2).contains(&(first - told)), "the page says {first} s, the appliance {told} s");
    browser.until(&format!(
        "(m => m && 60 * m[1] + Number(m[2]) < {first})\
         (/Draining (\\d+):(\\d\\d)/.exec(document.querySelector('tr[data-name=web2]')?.innerText))"
    ));
    // The record has the way back.
    browser.click("#acts button", "Enable…");
    browser.fill("f-reason", "Patched");
    send(stage);
    browser.until("!document.querySelector('tr[data-name=web2]')?.innerText.includes('Draining')");
    assert_eq!(stage.appliance.service_state("web2"), "UP");
}

fn a_mode_change_does_what_was_said(stage: &Stage) {
    assert_eq!(stage.appliance.resolve("www.example.test"), ["192.0.2.10"]);
    let browser = stage.open("scenarios/dr");
    browser.click("button", "Activate dr");
    browser.until("document.querySelector('dialog .ans')");
    let said = browser.run("return document.querySelector('dialog .ans')?.innerText");
    let said = said.as_str().unwrap();
    assert!(said.contains("192.0.2.10") && said.contains("198.51.100.10"), "{said}");
    browser.fill("f-reason", "Drill of the day");
    send(stage);
    browser.until("document.querySelector('.title')?.innerText.includes('active')");
    assert_eq!(stage.appliance.resolve("www.example.test"), ["198.51.100.10"]);
    let last = stage.appliance.get("/scenarios/dr")["last_transition"].clone();
    assert_eq!(last["reason"], "Drill of the day");
    // What moved can be looked at moment by moment.
    let browser = stage.open("timeline/dr/1");
    browser.reads("Drill of the day");
    browser.click("button", "▶ Replay");
    set_back(stage);
}

fn the_last_member_needs_its_name(stage: &Stage) {
    let browser = stage.open("services/solo");
    browser.click("button", "Drain…");
    browser.until("document.getElementById('f-typed')");
    browser.fill("f-reason", "Kernel patch");
    browser.reads("Name missing.");
    for typed in ["", "sol"] {
        browser.fill("f-typed", typed);
        browser.run("document.getElementById('go').click()");
        browser.run("document.getElementById('f-typed').focus()");
        browser.press(ENTER);
        assert_eq!(stage.appliance.service_state("solo"), "UP");
    }
    // The appliance refuses it as well.
    let wrong = json!({ "reason": "x", "confirm": "sol" }).to_string();
    let (status, _) = stage.appliance.send("POST", "/services/solo/disable", &wrong);
    assert_eq!((status, stage.appliance.service_state("solo").as_str()), (422, "UP"));
    browser.fill("f-typed", "solo");
    send(stage);
    browser.reads("solo is out of service.");
    stage.appliance.act("POST", "/services/solo/enable", r#"{"reason": "patched"}"#);
}

fn all_of_it_goes_by_keyboard(stage: &Stage) {
    stage.appliance.act("PUT", "/switches/drill", r#"{"value": true, "reason": "drill"}"#);
    stage.appliance.expect_service("solo", "UP", Duration::from_secs(5));
    let browser = stage.open("");
    // Find, and drain with a reason.
    browser.press("/web2");
    browser.until("document.querySelector('#found li')");
    browser.press(ENTER);
    browser.until("location.hash === '#/services/web2'");
    browser.until("document.querySelector('h1')?.innerText === 'web2'");
    browser.tab_to("Drain…");
    browser.press(ENTER);
    browser.until("document.activeElement.id === 'dlg-t'");
    browser.tab_to("f-reason");
    browser.press("By keys");
    browser.tab_to("Drain web2");
    browser.until("!document.getElementById('go').ariaDisabled");
    browser.press(ENTER);
    browser.reads("web2 is out of service.");
    browser.until("document.activeElement !== document.body");
    // Return against a group that is still true, with the preview and the name.
    browser.press("gs");
    browser.until("location.hash === '#/scenarios' && document.querySelector('h1')?.innerText === 'Scenarios'");
    browser.tab_to("dr");
    browser.press(ENTER);
    browser.until("document.querySelector('h1')?.innerText === 'dr'");
    browser.until("document.querySelector('.title .btns')?.innerText.includes('Return dr')");
    let text = browser.run("return document.getElementById('return').innerText.trim()");
    browser.tab_to(text.as_str().unwrap());
    browser.press(ENTER);
    browser.until("document.getElementById('f-typed') && document.querySelector('dialog .ans')");
    browser.tab_to("f-reason");
    browser.press("By keys");
    browser.tab_to("f-typed");
    browser.press("dr");
    browser.tab_to(browser.run("return document.getElementById('go').innerText.trim()").as_str().unwrap());
    browser.until("!document.getElementById('go').ariaDisabled");
    browser.press(ENTER);
    browser.until("document.querySelector('#acts')?.innerText.includes('dr is inactive')");
    assert_eq!(stage.appliance.resolve("www.example.test"), ["192.0.2.10"]);
    // The dialog is left by Escape, and the focus returns to what opened it.
    browser.tab_to("Change modes…");
    browser.press(ENTER);
    browser.until("document.activeElement.id === 'dlg-t'");
    browser.press(ESCAPE);
    browser.until("!document.querySelector('dialog') && document.activeElement.innerText === 'Change modes…'");
    stage.appliance.act("PUT", "/switches/drill", r#"{"value": false, "reason": "over"}"#);
    stage.appliance.act("POST", "/services/web2/enable", r#"{"reason": "over"}"#);
    set_back(stage);
}

fn a_service_that_fails_is_shown_at_once(stage: &Stage) {
    let browser = stage.open("vservers/web");
    browser.until("document.querySelector('tr[data-name=web2]')?.innerText.includes('UP')");
    // The page itself notes when the row first says so.
    browser.run(
        "window.seen = null; new MutationObserver(() => { \
           if (!window.seen && document.querySelector('tr[data-name=web2]')?.innerText.includes('DOWN')) \
             window.seen = Date.now(); \
         }).observe(document.querySelector('main'), { subtree: true, childList: true, characterData: true });",
    );
    stage.backends[1].fail();
    let seen = browser.until("window.seen").as_i64().expect("milliseconds");
    let since = stage.appliance.get("/services/web2")["since"].as_str().expect("a time").to_owned();
    let began = browser.run(&format!("return Date.parse({})", json!(since))).as_i64().expect("milliseconds");
    // A third of a second, and what a busy machine of a test takes.
    assert!((0..1_500).contains(&(seen - began)), "shown {} ms after it", seen - began);
    stage.backends[1].heal();
    browser.until("document.querySelector('tr[data-name=web2]')?.innerText.includes('UP')");
}

fn a_configuration_is_checked_as_it_is_typed(stage: &Stage) {
    let browser = stage.open("config");
    browser.until("document.getElementById('editor').value.includes('[switch.drill]')");
    let typed = |change: &str| {
        browser.run(&format!(
            "const e = document.getElementById('editor'); e.value = e.value{change}; \
             e.dispatchEvent(new Event('input', {{ bubbles: true }}));"
        ));
    };
    typed(".replace('[switch.drill]', '[switch.drill]\\ninitail = true')");
    browser.reads("initail");
    browser.until("document.getElementById('apply').getAttribute('aria-disabled') === 'true'");
    typed(".replace('initail = true', '[switch.spare]\\n[service.nobody]\\naddress = \"127.0.0.1:9\"')");
    browser.reads("no vserver has it as a member");
    browser.until("document.getElementById('apply').getAttribute('aria-disabled') === null");
    browser.click("button", "Apply…");
    browser.until("document.getElementById('go') && !document.getElementById('go').ariaDisabled");
    browser.run("document.getElementById('go').click()");
    browser.reads("Applied");
    // Warnings of what runs take one line above the editor, which opens.
    browser.until("document.querySelector('#f-running summary')?.innerText.includes('warning')");
    assert_eq!(browser.run("return document.getElementById('f-running').open"), json!(false));
    assert_eq!(stage.appliance.get("/switches/spare")["value"], false);
    browser.reads("What runs is not what is saved.");
}

fn a_silent_stream_is_said(stage: &Stage) {
    let browser = stage.open("");
    stage.appliance.signal("STOP");
    // Six seconds, and what a look through the driver takes.
    let lost = Duration::from_secs(20);
    browser.until_within(lost, "document.querySelector('.live')?.innerText === 'Not live'");
    browser.reads("The box may have moved on");
    let clock = browser.run("return document.querySelector('.clock time')?.innerText");
    std::thread::sleep(Duration::from_millis(1_200));
    assert_eq!(browser.run("return document.querySelector('.clock time')?.innerText"), clock, "the clock stands still");
    stage.appliance.signal("CONT");
    browser.until_within(Duration::from_secs(20), "document.querySelector('.live')?.innerText === 'Live'");
}

fn who_is_not_known_logs_in(stage: &Stage) {
    let user = |name: &str, role: &str| {
        format!("[admin.user.{name}]\nrole = \"{role}\"\npassword_hash = \"{}\"\n", hashed(&format!("{name}-secret")))
    };
    let users = user("ada", "operator") + &user("guest", "read-only");
    let appliance = super::super::box_under_test::Box::start(&format!(
        "schema = 1\n[appliance]\nname = \"locked\"\n[admin]\nlisten = \"127.0.0.1:0\"\n{users}\n[switch.drill]\n"
    ));
    let base = format!("http://{}", appliance.admin);
    let browser = &stage.browser;
    let log_in = |name: &str, password: &str| {
        browser.fill("user", name);
        browser.fill("password", password);
        browser.run("document.getElementById('password').focus()");
        browser.press(ENTER);
    };
    browser.go(&format!("{base}/#/scenarios"));
    browser.until("document.querySelector('h1') && document.querySelector('h1')?.innerText === 'Log in'");
    log_in("ada", "wrong");
    browser.until("document.querySelector('[role=alert] .note')");
    log_in("ada", "ada-secret");
    // Where one wanted to go.
    browser.until("document.querySelector('h1')?.innerText === 'Scenarios'");
    // The session is still there after a reload, and its acts are taken.
    browser.go("about:blank");
    browser.go(&format!("{base}/#/scenarios"));
    browser.click("button", "Turn on…");
    browser.fill("f-reason", "In a session");
    send(stage);
    browser.reads("drill is on.");
    browser.click("button", "ada");
    browser.until("document.querySelector('h1') && document.querySelector('h1')?.innerText === 'Log in'");
    log_in("guest", "guest-secret");
    browser.until("document.querySelector('h1')?.innerText !== 'Log in'");
    browser.go("about:blank");
    browser.go(&format!("{base}/#/scenarios"));
    browser.until("document.querySelector('main button[aria-disabled=true][title=\"needs role operator\"]')");
}

fn no_request_leaves(stage: &Stage) {
    for page in ["", "scenarios/dr", "vservers/web", "config"] {
        stage.open(page);
    }
    // All that was asked for in all of the claims.
    // The browser's own first page comes out of the browser.
    let own = ["http://127.0.0.1:", "about:", "chrome://", "data:"];
    let foreign: Vec<String> =
        stage.browser.requests().into_iter().filter(|url| !own.iter().any(|own| url.starts_with(own))).collect();
    assert!(foreign.is_empty(), "{foreign:?}");
}

/// Sends what the dialog asks about, as soon as it may.
fn send(stage: &Stage) {
    stage.browser.until("document.getElementById('go') && !document.getElementById('go').ariaDisabled");
    stage.browser.run("document.getElementById('go').click()");
    stage.browser.until("!document.querySelector('dialog')");
}

/// The scenario stands inactive, by its base modes.
pub(super) fn set_back(stage: &Stage) {
    let modes = r#"{"activate": "auto", "deactivate": "on", "reason": "set back"}"#;
    stage.appliance.act("PUT", "/scenarios/dr/modes", modes);
    let modes = r#"{"activate": "auto", "deactivate": "off", "reason": "set back"}"#;
    stage.appliance.act("PUT", "/scenarios/dr/modes", modes);
    assert_eq!(stage.appliance.resolve("www.example.test"), ["192.0.2.10"]);
}
