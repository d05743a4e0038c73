//! An imported GSLB configuration as a process: what resolvers are told while vservers and servers come and go.

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::box_under_test::{Backend, Box, free_port, within};

const SOON: Duration = Duration::from_secs(20);

/// Two sites: a vserver of this box and a server elsewhere answer together, a third stands behind both.
fn saved(here: &Backend, there: &Backend, spare: &Backend) -> String {
    let port = |backend: &Backend| backend.address.port();
    format!(
        "enable ns feature LB GSLB\n\
         add service adns 127.0.0.1 ADNS {}\n\
         add lb monitor quick HTTP -respCode 200 -httpRequest \"GET /health\" -interval 300 MSEC -resptimeout 250 MSEC -retries 2 -downTime 1\n\
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
