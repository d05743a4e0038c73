//! An imported GSLB configuration as a process: what resolvers are told while vservers and servers come and go.

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use super::box_under_test::{Backend, Box, free_port, http, within};

const SOON: Duration = Duration::from_secs(20);

/// Two sites: a vserver of this box and a server elsewhere answer together, a third stands behind both.
fn saved(here: &Backend, there: &Backend, spare: &Backend) -> String {
    let port = |backend: &Backend| backend.address.port();
    format!(
        "enable ns feature LB GSLB\n\
         add service adns 127.0.0.1 ADNS {}\n\
         add lb monitor quick HTTP -respCode 200 -httpRequest \"GET /health\" -interval 1000 MSEC -resptimeout 950 MSEC -retries 2 -downTime 1\n\
         add service svc-here 127.0.0.1 HTTP {}\n\
         bind service svc-here -monitorName quick\n\
         add lb vserver lb-here HTTP 127.0.0.1 {vip}\n\
         bind lb vserver lb-here svc-here\n\
         add gslb site site-a LOCAL 127.0.0.1\n\
         add gslb site site-b REMOTE 127.0.0.2\n\
         add gslb service gs-here 127.0.0.1 HTTP {vip} -publicIP 192.0.2.1 -siteName site-a\n\
         add gslb service gs-there 127.0.0.1 HTTP {} -publicIP 198.51.100.1 -siteName site-b\n\
         add gslb service gs-spare 127.0.0.1 HTTP {} -publicIP 203.0.113.1 -siteName site-b\n\
         bind gslb service gs-there -monitorName quick\n\
         bind gslb service gs-spare -monitorName quick\n\
         add gslb vserver gv HTTP -lbMethod ROUNDROBIN -MIR ENABLED\n\
         add gslb vserver gv-dr HTTP -lbMethod ROUNDROBIN\n\
         set gslb vserver gv -backupVServer gv-dr\n\
         bind gslb vserver gv -serviceName gs-here\n\
         bind gslb vserver gv -serviceName gs-there\n\
         bind gslb vserver gv-dr -serviceName gs-spare\n\
         bind gslb vserver gv -domainName www.gslb.example.test -TTL 5\n\
         add dns soaRec gslb.example.test -originServer ns1.gslb.example.test -contact admin.example.test\n\
         add dns nsRec gslb.example.test ns1.gslb.example.test\n\
         add dns addRec ns1.gslb.example.test 127.0.0.1\n",
        free_port(),
        port(here),
        port(there),
        port(spare),
        vip = free_port(),
    )
}

/// By the command.
fn imported(saved: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bascule"));
    let command = command.args(["import", "-", "--strict"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().expect("it starts");
    child.stdin.take().expect("a pipe").write_all(saved.as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

fn answers(box_: &Box) -> Vec<String> {
    let mut answers = box_.resolve("www.gslb.example.test");
    answers.sort();
    answers
}

#[test]
fn an_imported_gslb_configuration_answers_takes_out_what_is_down_and_falls_back_to_the_backup() {
    let (mut here, mut there, spare) = (Backend::start("here"), Backend::start("there"), Backend::start("spare"));
    let box_ = Box::start(&imported(&saved(&here, &there, &spare)));
    within(SOON, "both sites answer", || answers(&box_) == ["192.0.2.1", "198.51.100.1"]);
    assert_eq!(box_.resolve("ns1.gslb.example.test"), ["127.0.0.1"]);
    here.kill();
    within(SOON, "the vserver of this box is out", || answers(&box_) == ["198.51.100.1"]);
    there.kill();
    within(SOON, "the backup answers", || answers(&box_) == ["203.0.113.1"]);
    assert_eq!(box_.get("/scenarios/gv-dr")["state"], "active");
    here.start_again();
    within(SOON, "this site answers again", || answers(&box_) == ["192.0.2.1"]);
    // NetScaler's own command takes a service out, as a person does.
    there.start_again();
    within(SOON, "both sites answer again", || answers(&box_) == ["192.0.2.1", "198.51.100.1"]);
    box_.act("POST", "/services/gs-there/disable", "{}");
    assert_eq!(answers(&box_), ["192.0.2.1"]);
}

fn nitro(box_: &Box, method: &str, path: &str, body: &str) -> (u16, Value) {
    let answer = http(box_.admin, method, &format!("/nitro/v1/{path}"), body, &[]).expect("an answer");
    (answer.status, serde_json::from_str(&answer.body).unwrap_or_else(|_| panic!("{}", answer.body)))
}

#[test]
fn netscalers_words_tell_what_gslb_does_and_switch_it() {
    let (here, there, spare) = (Backend::start("here"), Backend::start("there"), Backend::start("spare"));
    let box_ = Box::start(&imported(&saved(&here, &there, &spare)));
    within(SOON, "all are up", || answers(&box_) == ["192.0.2.1", "198.51.100.1"]);
    box_.expect_service("gs-spare", "UP", SOON);
    let one = |path: &str, resource: &str| nitro(&box_, "GET", path, "").1[resource][0].clone();
    within(SOON, "the member here is known", || one("config/gslbservice/gs-here", "gslbservice")["svrstate"] == "UP");
    let vserver = one("config/gslbvserver/gv", "gslbvserver");
    let told =
        ["servicetype", "dnsrecordtype", "lbmethod", "mir", "edr", "curstate", "backupvserver", "activeservices"];
    assert_eq!(
        told.map(|key| vserver[key].as_str().unwrap_or_default().to_owned()),
        ["HTTP", "A", "ROUNDROBIN", "ENABLED", "DISABLED", "UP", "gv-dr", "2"]
    );
    let names = |path: &str, resource: &str, key: &str| {
        let (_, answer) = nitro(&box_, "GET", path, "");
        let list = answer[resource].as_array().cloned().unwrap_or_default();
        list.iter().map(|one| one[key].as_str().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names("config/gslbvserver", "gslbvserver", "name"), ["gv", "gv-dr"]);
    assert_eq!(names("config/gslbsite", "gslbsite", "sitetype"), ["LOCAL", "REMOTE"]);
    assert_eq!(names("config/gslbservice", "gslbservice", "servicename"), ["gs-here", "gs-spare", "gs-there"]);
    let members = "gslbvserver_gslbservice_binding";
    assert_eq!(names(&format!("config/{members}/gv"), members, "servicename"), ["gs-here", "gs-there"]);
    assert_eq!(names(&format!("config/{members}/gv-dr"), members, "curstate"), ["UP"]);
    let domain = one("config/gslbvserver_domain_binding/gv", "gslbvserver_domain_binding");
    assert_eq!((&domain["domainname"], &domain["ttl"]), (&json!("www.gslb.example.test"), &json!("5")));
    let (status, none) = nitro(&box_, "GET", "config/gslbvserver_domain_binding/gv-dr", "");
    assert_eq!((status, none["errorcode"].as_u64(), none.get("gslbvserver_domain_binding")), (200, Some(0), None));
    assert_eq!(nitro(&box_, "GET", "config/gslbvserver_domain_binding/none", "").0, 404);
    for (name, status) in [("gv", 200), ("none", 404)] {
        let (got, _) = nitro(&box_, "GET", &format!("config/gslbvserver_spilloverpolicy_binding/{name}"), "");
        assert_eq!(got, status, "nothing of this kind is bound to {name}");
    }
    assert_eq!(
        names("config/gslbservice?args=sitename:site-b", "gslbservice", "servicename"),
        ["gs-spare", "gs-there"]
    );
    let monitor = one("config/gslbservice_lbmonitor_binding/gs-there", "gslbservice_lbmonitor_binding");
    assert_eq!((&monitor["monitor_name"], &monitor["monitor_state"]), (&json!("quick"), &json!("UP")));
    let record = one("config/dnsaddrec/ns1.gslb.example.test", "dnsaddrec");
    assert_eq!((&record["ipaddress"], &record["ttl"]), (&json!("127.0.0.1"), &json!("3600")));
    assert_eq!(one("config/dnssoarec", "dnssoarec")["originserver"], "ns1.gslb.example.test");
    let counted = one("stat/gslbvserver/gv", "gslbvserver");
    assert!(counted["tothits"].as_str().is_some_and(|hits| hits != "0"), "{counted}");
    assert_eq!(one("stat/gslbservice/gs-there", "gslbservice")["state"], "UP");

    let (status, refused) = nitro(&box_, "POST", "config/gslbsite", r#"{"gslbsite":{"sitename":"c"}}"#);
    assert_eq!((status, refused["errorcode"].as_u64()), (400, Some(1095)));
    let switch = |name: &str, action: &str| {
        let body = json!({"gslbservice": {"servicename": name}}).to_string();
        let (_, answer) = nitro(&box_, "POST", &format!("config/gslbservice?action={action}"), &body);
        answer["errorcode"].as_u64()
    };
    // The vserver of this site is what is to be disabled.
    assert_eq!(switch("gs-here", "disable"), Some(1858));
    assert_eq!(switch("none", "disable"), Some(258));
    assert_eq!(switch("gs-there", "disable"), Some(0));
    assert_eq!(answers(&box_), ["192.0.2.1"]);
    let out = one("config/gslbservice/gs-there", "gslbservice");
    assert_eq!((&out["svrstate"], &out["state"]), (&json!("OUT OF SERVICE"), &json!("DISABLED")));

    let state = box_.path("state").display().to_string();
    let shell = |lines: &[&str]| {
        let mut arguments = vec!["shell", "--state", &state[..]];
        arguments.extend(lines.iter().flat_map(|line| ["-c", *line]));
        box_.run(&arguments)
    };
    let (code, shown) = shell(&["show gslb vserver gv", "sh gslb serv", "stat gslb vserver"]);
    assert_eq!(code, 0, "{shown}");
    for line in [
        "\tgv - HTTP\tState: UP\n\tConfigured Method: ROUNDROBIN\tBackupMethod: ROUNDROBIN\n",
        "\tNo. of Bound Services : 2 (Total) 1 (Active)\tHealth: 50%\n\tBackup: gv-dr\n",
        "1)\tDomain Name : www.gslb.example.test\tTTL : 5 secs\n",
        "\tState: OUT OF SERVICE\tSite: site-b\n\tPublic IP: 198.51.100.1\t",
        "2)\tgv-dr\tType: HTTP\tState: UP\tHealth: 100%\t",
    ] {
        assert!(shown.contains(line), "{line:?} is not in\n{shown}");
    }
    let (code, shown) = shell(&["show gslb vserver none"]);
    assert!(code == 1 && shown.contains("No such resource [name, none]"), "{shown}");
    assert_eq!(switch("gs-there", "enable"), Some(0));
    within(SOON, "both answer again", || answers(&box_) == ["192.0.2.1", "198.51.100.1"]);
}
