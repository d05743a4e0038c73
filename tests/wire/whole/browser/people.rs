//! Users and tokens, made and taken away on their page.

use serde_json::{Value, json};

use super::super::box_under_test::{Box, http};
use super::Stage;
use super::driver::ENTER;

/// The first user makes everybody log in; a token is shown once and works until it is revoked; a lock is lifted.
pub(super) fn users_and_tokens_are_made_and_taken_away(stage: &Stage) {
    let appliance = Box::start("schema = 1\n[appliance]\nname = \"open\"\n[admin]\nlisten = \"127.0.0.1:0\"\n");
    let base = format!("http://{}", appliance.admin);
    let browser = &stage.browser;
    let page = || {
        browser.go("about:blank");
        browser.go(&format!("{base}/#/people"));
        browser.until("document.querySelector('main h1')?.innerText === 'Users and tokens'");
    };
    let log_in = |name: &str, password: &str| {
        browser.until("document.querySelector('h1')?.innerText === 'Log in'");
        browser.fill("user", name);
        browser.fill("password", password);
        browser.run("document.getElementById('password').focus()");
        browser.press(ENTER);
    };
    let choose = |id: &str, value: &str| {
        browser.run(&format!(
            "const s = document.getElementById('{id}'); s.value = '{value}'; \
             s.dispatchEvent(new Event('change', {{ bubbles: true }}));"
        ));
    };
    page();
    browser.reads("Nobody needs to log in.");
    browser.click("button", "Add a user…");
    browser.reads("From then on everybody must log in");
    browser.fill("f-name", "ada");
    browser.reads("Password missing.");
    browser.fill("f-password", "ada-secret");
    assert_eq!(browser.run("return document.getElementById('f-password').type"), "password");
    send(stage);
    log_in("ada", "ada-secret");
    browser.until("document.querySelector('h1')?.innerText !== 'Log in'");

    page();
    browser.until("document.querySelector('main')?.innerText.includes('superuser')");
    browser.click("button", "Add a user…");
    browser.fill("f-name", "bob");
    browser.fill("f-password", "bob-secret");
    choose("f-role", "operator");
    send(stage);
    browser.reads("bob may log in as operator.");
    // Ten wrong passwords lock bob out, and a superuser lets him in again.
    let status = |name: &str, password: &str| {
        let body = json!({ "username": name, "password": password }).to_string();
        let fields = [("Content-Type", "application/json")];
        http(appliance.admin, "POST", "/api/v1/login", &body, &fields).expect("it answers").status
    };
    for _ in 0..10 {
        status("bob", "wrong");
    }
    assert_eq!(status("bob", "bob-secret"), 429);
    browser.reads("is locked out.");
    browser.click("main button", "Lift…");
    send(stage);
    browser.reads("bob may try again.");
    assert_eq!(status("bob", "bob-secret"), 200);

    browser.click("button", "New token…");
    browser.fill("f-name", "ci");
    send(stage);
    let token = browser.until("(/bascule_[\\w-]+/.exec(document.getElementById('acts').innerText) || [])[0]");
    let token = token.as_str().expect("a token").to_owned();
    let by_token = || {
        let fields = [("Authorization", format!("Bearer {token}"))];
        let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, &value[..])).collect();
        http(appliance.admin, "GET", "/api/v1/whoami", "", &fields).expect("it answers")
    };
    let answer = by_token();
    let who: Value = serde_json::from_str(&answer.body).expect("JSON");
    assert_eq!((answer.status, &who["role"]), (200, &json!("read-only")));
    assert!(who["expires"].is_string(), "{who}");
    browser.until("document.querySelector('main')?.innerText.includes('Revoke…')");
    browser.click("main button", "Revoke…");
    send(stage);
    browser.reads("The token ci is revoked.");
    assert_eq!(by_token().status, 401);

    // Nobody is removed without their name.
    browser.run(
        "const row = [...document.querySelectorAll('main tr')].find(row => row.innerText.startsWith('bob')); \
         const button = [...row.querySelectorAll('button')].find(button => button.innerText.startsWith('Remove')); \
         button.focus(); button.click();",
    );
    browser.reads("Name missing.");
    browser.fill("f-typed", "bob");
    send(stage);
    browser.reads("bob may not log in any more.");
    assert_eq!(status("bob", "bob-secret"), 401);
}

fn send(stage: &Stage) {
    stage.browser.until("document.getElementById('go') && !document.getElementById('go').ariaDisabled");
    stage.browser.run("document.getElementById('go').click()");
    stage.browser.until("!document.querySelector('dialog')");
}
