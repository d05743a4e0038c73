//! Every page at the width of a desktop and of a phone, in light and in dark: nothing is wider than the screen, nothing
//! complains, and there is a picture of each in `target/tmp/dashboard` for a person to look at.

use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use super::Stage;
use super::driver::Browser;

const PAGES: [&str; 27] = [
    "",
    "scenarios",
    "scenarios/dr",
    "vservers",
    "vservers/web",
    "vservers/odd",
    "services",
    "services/web1",
    "checks",
    "checks/web1:ok",
    "timeline",
    "timeline/dr/1",
    "datacenters",
    "dns",
    "dns/example.test",
    "outbox",
    "journal",
    "missing",
    "policies",
    "monitors",
    "monitors/ok",
    "people",
    "more",
    "dns?name=www.example.test&type=A&client=127.0.0.1&to=why",
    "certificates",
    "config",
    "states",
];
/// The narrow ones are a small phone and a desktop at 200 %; of them no picture is kept.
const WIDTHS: [(&str, u32, u32); 4] =
    [("desktop", 1440, 900), ("phone", 390, 844), ("narrow", 320, 640), ("zoomed", 720, 450)];

pub(super) fn every_page_fits_and_is_there_to_be_looked_at(stage: &Stage) {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("dashboard");
    std::fs::create_dir_all(&folder).expect("a folder");
    stage.appliance.act("POST", "/services/web2/disable", r#"{"delay": "10m", "reason": "new kernel"}"#);
    stage.appliance.act("PUT", "/services/solo/force", r#"{"state": "down", "reason": "its disk is being replaced"}"#);
    let mut wrong = Vec::new();
    for (width, across, down) in WIDTHS {
        for page in PAGES {
            let browser = stage.open(page);
            browser.size(across, down);
            browser.until("!document.querySelector('main').innerText.includes('Reading…')");
            for theme in ["light", "dark"].into_iter().filter(|_| matches!(width, "desktop" | "phone")) {
                browser.run(&format!("document.documentElement.dataset.theme = '{theme}'"));
                let name =
                    if page.is_empty() { "overview".to_owned() } else { page.replace(['/', ':', '?', '&', '='], "-") };
                save(browser, &folder.join(format!("{name}-{width}-{theme}.png")));
            }
            let wide = browser.run("return document.documentElement.scrollWidth - innerWidth");
            if wide.as_i64() > Some(0) {
                let who = browser.run(
                    "return [...document.querySelectorAll('main *')].filter(x => x.getBoundingClientRect().right > innerWidth + 1 \
                     && !x.closest('.scroll, pre, svg')).slice(0, 3).map(x => x.outerHTML.slice(0, 120))",
                );
                wrong.push(format!("#/{page} is {wide} px too wide on a {width}: {who}"));
            }
            let top = browser.run("return document.querySelector('main h1').getBoundingClientRect().top + scrollY");
            if top.as_f64() > Some(200.0) {
                wrong.push(format!("#/{page} begins at {top} px on a {width}"));
            }
            wrong.extend(browser.complaints().into_iter().map(|said| format!("#/{page} on a {width}: {said}")));
            if browser.text().contains("could not be drawn") {
                wrong.push(format!("#/{page} could not be drawn on a {width}"));
            }
        }
    }
    stage.browser.size(1440, 900);
    stage.appliance.act("PUT", "/services/solo/force", r#"{"state": "none", "reason": "over"}"#);
    stage.appliance.act("POST", "/services/web2/enable", r#"{"reason": "over"}"#);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Wrong, forced and draining differ in shape and word; where the system chooses the colours, every badge has an edge;
/// where less motion is asked for, nothing moves.
pub(super) fn states_stay_apart(stage: &Stage) {
    stage.appliance.act("POST", "/services/web2/disable", r#"{"delay": "10m", "reason": "new kernel"}"#);
    stage.appliance.act("PUT", "/services/solo/force", r#"{"state": "down", "reason": "its disk is being replaced"}"#);
    let browser = stage.open("");
    browser.until("document.querySelector('#draining li') && document.querySelector('#forced li')");
    let shapes = browser.run(
        "return ['wrong', 'forced', 'draining'].map(id => document.querySelector(`#${id} h2 use`).getAttribute('href'))",
    );
    assert_eq!(shapes, json!(["#i-bad", "#i-hand", "#i-drain"]));
    let words = "return [...document.querySelectorAll('.tri li .b')].every(b => b.innerText.trim())";
    assert_eq!(browser.run(words), json!(true), "no badge says by colour alone what it means");

    let media = |name: &str, value: &str| {
        let features = json!({ "features": [{ "name": name, "value": value }] });
        browser.command("Emulation.setEmulatedMedia", &features);
    };
    media("forced-colors", "active");
    let edged =
        "[...document.querySelectorAll('.b, .tally a, .bar')].every(b => getComputedStyle(b).borderTopWidth !== '0px')";
    browser.until(&format!("document.querySelector('.b') && {edged}"));
    media("prefers-reduced-motion", "reduce");
    stage.appliance.act("PUT", "/switches/drill", r#"{"value": true, "reason": "drill"}"#);
    browser.until("document.querySelector('#forced').innerText.includes('drill')");
    assert_eq!(browser.run("return document.getAnimations().length"), json!(0));
    browser.command("Emulation.setEmulatedMedia", &json!({ "features": [] }));
    stage.appliance.act("PUT", "/switches/drill", r#"{"value": false, "reason": "over"}"#);
    super::claims::set_back(stage);
    stage.appliance.act("PUT", "/services/solo/force", r#"{"state": "none", "reason": "over"}"#);
    stage.appliance.act("POST", "/services/web2/enable", r#"{"reason": "over"}"#);
}

/// All of the page, not only what is on the screen.
fn save(browser: &Browser, path: &std::path::Path) {
    let asked = json!({ "format": "png", "captureBeyondViewport": true });
    let picture = browser.command("Page.captureScreenshot", &asked);
    let picture = STANDARD.decode(picture["data"].as_str().expect("a picture")).expect("base64");
    std::fs::write(path, picture).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}
