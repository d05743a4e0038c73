//! What people ask the shell: ranges, again and again, what can follow, and what clients meet meanwhile.

use serde_json::json;

use super::appliance::Appliance;
use super::shell::bascule;

const POLICIES: &str = r#"
[defaults.service]
health_monitor = false
[service.one]
type = "HTTP"
address = "127.0.0.1:1"
[vserver.web]
type = "HTTP"
services = ["one"]
redirect_url = "https://sorry.example.test"
responder_policies = { tls = 7 }
[cs_vserver.front]
type = "HTTP"
default = "web"
cs_policies = { late = 100, early = 9 }
responder_policies = { tls = 5 }
[cs_action.to-web]
target = "web"
[cs_policy.late]
rule = 'HTTP.REQ.URL.EQ("/late")'
action = "to-web"
[cs_policy.early]
rule = 'HTTP.REQ.URL.EQ("/early")'
action = "to-web"
[responder_action.secure]
type = "redirect"
target = '"https://example.test/"'
[responder_policy.tls]
rule = "CLIENT.SSL.IS_SSL.NOT"
action = "secure"
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn statistics_are_told_as_often_as_is_asked() {
    let appliance = Appliance::start();
    let line = "stat lb vserver web -ntimes 2 -interval 1";
    let (out, code) = bascule(&appliance, &["shell", "-c", line], "").await;
    assert_eq!(code, 0, "{out}");
    assert_eq!(out.matches(" Done\n").count(), 2, "{out}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_range_acts_on_each_and_shows_each() {
    let appliance = Appliance::start();
    let lines = ["disable service web[1-2] -reason range", "show service web[1-2]", "enable service web[2-3]"];
    let arguments: Vec<&str> = ["shell"].into_iter().chain(lines.iter().flat_map(|line| ["-c", *line])).collect();
    let (out, code) = bascule(&appliance, &arguments, "").await;
    assert_eq!(code, 1, "{out}");
    assert_eq!(out.matches("State: OUT OF SERVICE").count(), 2, "{out}");
    assert_eq!(out.matches(" Done\n").count(), 2, "one for each line that went well: {out}");
    assert!(out.ends_with("ERROR: No such resource [name, web3]; did you mean `web1`?\n"), "{out}");
    let states = async |name: &str| appliance.get(&format!("/api/v1/services/{name}")).await["admin"].clone();
    assert_eq!((states("web1").await, states("web2").await), (json!("DISABLED"), json!("ENABLED")));
    let (out, _) = bascule(&appliance, &["shell", "--json", "-c", "show service web[1-2]"], "").await;
    let told: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&told[0]["name"], &told[1]["name"]), (&json!("web1"), &json!("web2")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_mark_tells_what_can_follow_and_changes_nothing() {
    let appliance = Appliance::start();
    for (line, told) in [
        ("add lb vserver ?", "\tadd lb vserver <name> "),
        ("add server ?", "\tadd server <name> "),
        ("add lb vserver ? HTTP", "\tadd lb vserver <name> "),
        ("set lb vserver web ?", "\t-timeout <value>\n"),
        ("help set lb vserver", "\t-timeout <value>\n"),
        ("bind cs vserver ?", "\t-policyName <name>\n"),
        ("set responder action ?", "\t-target <value>\n"),
    ] {
        let (out, code) = bascule(&appliance, &["shell", "-c", line], "").await;
        assert_eq!(code, 0, "{line}: {out}");
        assert!(out.contains(told) && out.ends_with(" Done\n"), "{line}: {told:?}: {out}");
    }
    let entries = appliance.get("/api/v1/journal?kind=config").await["items"].clone();
    assert_eq!(entries.as_array().unwrap().len(), 1, "the start alone: {entries}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_vserver_is_shown_with_its_policies_in_the_order_in_which_they_are_asked() {
    let appliance = Appliance::of(POLICIES);
    let (out, code) = bascule(&appliance, &["shell", "-c", "show cs vserver front"], "").await;
    assert_eq!(code, 0, "{out}");
    let at = |text: &str| out.find(text).unwrap_or_else(|| panic!("{text:?}: {out}"));
    assert!(
        at("1)\tResponder Policy: tls\tPriority: 5\tHits: 0\n")
            < at("2)\tContent-Switching Policy: early\tPriority: 9")
    );
    assert!(at("2)\tContent-Switching Policy: early") < at("3)\tContent-Switching Policy: late\tPriority: 100"));
    assert!(at("Type: CONTENT") < at("4)\tweb\tEffective State: UP\n"), "{out}");
    let (out, _) = bascule(&appliance, &["shell", "-c", "show lb vserver web"], "").await;
    assert!(out.contains("1)\tResponder Policy: tls\tPriority: 7\tHits: 0\n"), "{out}");
    let nitro = async |path: &str| {
        let text = appliance.text(&format!("/nitro/v1/config/{path}")).await;
        serde_json::from_str::<serde_json::Value>(&text).unwrap()
    };
    for path in ["csvserver_cspolicy_binding", "csvserver_binding"] {
        let told = nitro(&format!("{path}/front")).await;
        let rows = if path == "csvserver_binding" { &told[path][0]["csvserver_cspolicy_binding"] } else { &told[path] };
        assert_eq!((&rows[0]["policyname"], &rows[1]["policyname"]), (&json!("early"), &json!("late")), "{told}");
        assert_eq!(rows[0]["hits"], "0", "{told}");
    }
    let of_type = async |resource: &str| nitro(resource).await[resource][0]["type"].clone();
    assert_eq!((of_type("csvserver").await, of_type("lbvserver").await), (json!("CONTENT"), json!("ADDRESS")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_that_a_redirect_url_serves_are_told_to_be_redirected() {
    let appliance = Appliance::of(POLICIES);
    let (_, done) = appliance.post("/api/v1/services/one/disable", json!({})).await;
    let warning =
        "this takes the last UP member of vserver web: clients will be redirected to https://sorry.example.test";
    assert_eq!(done["warnings"], json!([warning]));
    let vserver = appliance.get("/api/v1/vservers/web").await;
    assert_eq!((&vserver["state"], &vserver["new_clients"]), (&json!("DOWN"), &json!("redirected")), "{vserver}");
    let problems = appliance.get("/api/v1/status").await["problems"].clone();
    let told = problems.as_array().unwrap().iter().find(|problem| problem["object"] == "web").unwrap();
    assert_eq!(
        (&told["severity"], &told["text"]),
        (&json!("warning"), &json!("down; clients are redirected to https://sorry.example.test"))
    );
    let ask = json!({"vserver": "web", "path": "/x?y", "tls": true});
    let (_, explained) = appliance.post("/api/v1/explain/request", ask).await;
    assert_eq!(explained["chain"][0]["new_clients"], "redirected", "{explained}");
    assert_eq!(explained["redirected_to"], "https://sorry.example.test/x?y", "{explained}");
    let (out, _) = bascule(&appliance, &["shell", "-c", "show lb vserver web"], "").await;
    assert!(out.contains("\tNew Clients: redirected to the Redirect URL\n"), "{out}");
}

const HELD: &str = r#"
[appliance]
site = "dc-b"
[datacenter.dc-a]
wan = { targets = ["tcp:127.0.0.1:1"] }
[datacenter.dc-b]
[scenario.back.activate]
when = [["dc:dc-a.maintenance!{for:15m}", "dc:dc-a.wan{for:5m}"], ["dc:dc-a.wan{for:20m}"]]
[scenario.back.deactivate]
when = [["dc:dc-a.maintenance"]]
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_signal_of_a_data_centre_tells_the_hold_that_a_scenario_has_on_it() {
    let appliance = Appliance::of(HELD);
    let signals = appliance.get("/api/v1/datacenters/dc-a").await["signals"].clone();
    let hold = &signals["maintenance"]["hold"];
    assert_eq!(hold["length"], "15m", "{signals}");
    // It counts from the start on, as groups say it.
    let groups = appliance.get("/api/v1/scenarios/back").await["groups"].clone();
    assert_eq!(*hold, groups["activate"][0]["terms"][0]["hold"], "{groups}");
    assert!(hold["from"].is_string() && hold["ends_at"].is_string(), "{hold}");
    // Nothing is up: of those that do not count it is the longest.
    assert_eq!(signals["wan"]["hold"], json!({"length": "20m", "from": null, "ends_at": null}));
    assert_eq!(signals["lan"]["hold"], json!(null));
}
