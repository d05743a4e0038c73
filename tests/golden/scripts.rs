//! Event scripts: what their words do, and what is said of one that is wrong.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use bascule::rehearse::{TestOptions, prepare, simulate, test, walk};

const BOX: &str = r#"
[check.p]
type = "TCP"
target = "192.0.2.1:80"
interval = "1s"
timeout = "500ms"
rise = 2
fall = 3
[service.web1]
type = "HTTP"
address = "app.example.test:80"
monitors = []
[vserver.web]
type = "HTTP"
services = ["web1"]
[switch.drill]
[query.safe]
type = "HTTP"
uri = "http://192.0.2.9/"
[scenario.s.activate]
when = [["p!"]]
[scenario.s.deactivate]
when = [["p"]]
[scenario.fast.activate]
when = [["p{latency.last<100ms}"]]
[scenario.guarded.activate]
when = [["sw:drill"]]
guard = { run = ["safe"], on_timeout = "block", deadline = "20s", backoff = "5s" }
[zone."example.test"]
soa = { mname = "ns1.example.test.", rname = "hostmaster.example.test." }
static = "@ NS ns1.example.test.\n@ MX 10 mail.example.test.\n"
[zone."example.test".rrset."www A"]
records = [{ data = "192.0.2.10" }, { data = "198.51.100.10", drCond = "s" }]
"#;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        let folder = Folder(tempfile::tempdir().expect("a folder"));
        folder.write("box.toml", BOX);
        folder
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, text).expect("written");
        path
    }

    /// Every difference and problem of a script, a line each.
    fn differences(&self, script: &str) -> Vec<String> {
        let path = self.write("box.events", script);
        match prepare(&path, None) {
            Err(problems) => problems.iter().map(|p| p.replace(&*path.to_string_lossy(), "box.events")).collect(),
            Ok(prepared) => {
                let walk = walk(&prepared.script, &prepared.model, &|file| prepared.reload(file), false);
                walk.failures().map(|f| format!("{}: {}: {}", f.line, f.expected, f.got)).collect()
            }
        }
    }

    fn holds(&self, script: &str) {
        assert_eq!(self.differences(script), Vec::<String>::new(), "{script}");
    }
}

fn is(code: ExitCode, expected: ExitCode) -> bool {
    format!("{code:?}") == format!("{expected:?}")
}

#[test]
fn a_check_that_fails_goes_on_failing_until_it_passes() {
    let folder = Folder::new();
    folder.holds(
        "expect check p up\n\
         at 10s fail p\n\
         for 1999ms expect check p up\n\
         within 1ms expect check p down\n\
         for 1h expect sc:s active\n\
         pass p\n\
         expect check p down\n\
         after 1s expect check p up\n",
    );
}

#[test]
fn a_check_may_fail_some_samples_and_go_on_as_before() {
    let folder = Folder::new();
    folder.holds("at 10s fail p 2 times\nfor 1m expect check p up\nfail p 3 times\nwithin 2s expect check p down\n");
    folder.holds("at 10s fail p once\nafter 1s fail p once\nafter 1s fail p once\nexpect check p down\n");
    folder.holds("at 10s fail p once\nafter 500ms pass p once\nafter 500ms fail p 2 times\nfor 1m expect check p up\n");
}

#[test]
fn a_latency_lasts_until_another_one() {
    Folder::new().holds(
        "start unknown\npass p latency 300ms\nfor 1m expect sc:fast inactive\npass p\nfor 1m expect sc:fast inactive\n\
         pass p latency 20ms\nexpect sc:fast active\n",
    );
}

#[test]
fn a_start_without_results_waits_for_what_the_script_says() {
    let folder = Folder::new();
    folder.holds(
        "start unknown\nexpect check p unknown\nexpect www A is SERVFAIL\nfor 4s expect www A is SERVFAIL\n\
         after 1s expect www A = 192.0.2.10\nexpect svc:web1 UNKNOWN\npass web1\nexpect svc:web1 UP\n\
         at 1h expect check p unknown\nfail p\nwithin 5s expect check p down\n",
    );
}

#[test]
fn answers_are_asked_by_name_type_and_client() {
    Folder::new().holds(
        "expect www A = 192.0.2.10\nexpect www.example.test. A from 10.1.2.3 = 192.0.2.10\nexpect www AAAA is NODATA\n\
         expect nowhere A is NXDOMAIN\nexpect www.example.org. A is REFUSED\n\
         expect @ MX = \"10 mail.example.test.\"\n",
    );
}

#[test]
fn a_guard_passes_unless_the_script_says_otherwise() {
    let folder = Folder::new();
    folder.holds("switch drill on\nexpect sc:guarded active\n");
    folder.holds(
        "guard guarded cannot-tell\nswitch drill on\nexpect sc:guarded activating\nfor 19s expect sc:guarded activating\n\
         within 2s expect sc:guarded inactive\nexpect journal blocked\n\
         guard guarded pass\nwithin 5s expect sc:guarded active\n",
    );
    folder.holds(
        "guard guarded cannot-tell\nswitch drill on\nafter 1s guard guarded pass\nexpect sc:guarded active\n\
         set scenario guarded deactivate on override\n",
    );
}

#[test]
fn acts_carry_a_reason_and_an_expiry() {
    let folder = Folder::new();
    folder.holds(
        "disable service web1 reason \"new kernel\" expires 10m\nexpect svc:web1 OFS\nfor 9m59s expect svc:web1 OFS\n\
         within 1s expect svc:web1 UP\nforce service web1 down expires 5s\nexpect svc:web1 DOWN\n\
         after 5s expect svc:web1 UP\nforce check p down\nexpect check p down\nforce check p none\nexpect check p up\n\
         disable lb vserver web\nexpect vs:web OFS\nenable vserver web\nexpect vs:web UP\n\
         disable service web1 30 -graceFul YES\nexpect svc:web1 OFS\n",
    );
}

#[test]
fn a_reload_takes_another_configuration_beside_the_script() {
    let folder = Folder::new();
    folder.write("next.toml", &BOX.replace("192.0.2.10", "192.0.2.77"));
    folder.holds("expect www A = 192.0.2.10\nreload next.toml\nexpect www A = 192.0.2.77\nexpect check p up\n");
    folder.write("bad.toml", "[check.p]\ntype = \"TPC\"\n");
    let problems = folder.differences("reload bad.toml\n");
    assert!(problems[0].contains("bad.toml:2"), "{problems:?}");
}

#[test]
fn a_wrong_expectation_says_what_is_so_instead_and_the_walk_goes_on() {
    let folder = Folder::new();
    let differences = folder.differences(
        "expect vs:web DOWN\nat 10s fail p\nexpect sc:s active\nexpect www A = 192.0.2.99\nexpect trigger t once\n",
    );
    assert_eq!(differences, ["box.events:5: no trigger is named `t`"], "names come first");
    let differences = folder.differences(
        "expect vs:web DOWN\nat 10s fail p\nexpect sc:s active\nexpect www A = 192.0.2.99\nat 5s wait 1s\nexpect sc:s active\n",
    );
    assert_eq!(
        differences,
        [
            "1: expect vs:web DOWN: UP, effective UP, new clients own, health 100",
            "3: expect sc:s active: inactive (seq 0); to activate: p! false",
            "4: expect www A = 192.0.2.99: 192.0.2.10",
            "5: wait 1s: it is T+10.000s already: time never runs back",
        ]
    );
}

#[test]
fn every_name_that_nothing_has_is_found_before_anything_happens() {
    let folder = Folder::new();
    let problems = folder.differences("fail q\nexpect sc:t active\nexpect vs:webb UP\nguard s pass\nfail dc:x.wan\n");
    assert_eq!(problems.len(), 5, "{problems:?}");
    assert!(problems[0].starts_with("box.events:1: no check, service, group or server is named `q`"), "{problems:?}");
    assert!(problems[2].contains("did you mean `web`?"), "{problems:?}");
    assert!(problems[3].contains("scenario s has no guard"), "{problems:?}");
}

#[test]
fn the_exit_code_and_the_report_say_how_it_went() {
    let folder = Folder::new();
    let good = folder.write("good.events", "config box.toml\nexpect vs:web UP\n");
    let bad = folder.write("bad.events", "config box.toml\nexpect vs:web UP\nexpect vs:web DOWN\n");
    let junit = folder.0.path().join("report.xml");
    let options = TestOptions { junit: Some(junit.clone()) };
    assert!(is(test(std::slice::from_ref(&good), &options), ExitCode::SUCCESS));
    let report = std::fs::read_to_string(&junit).expect("a report");
    assert!(report.contains("tests=\"1\" failures=\"0\" errors=\"0\""), "{report}");
    assert!(is(test(&[folder.0.path().to_owned()], &options), ExitCode::FAILURE), "a folder: all its scripts");
    let report = std::fs::read_to_string(&junit).expect("a report");
    assert!(report.contains("<testsuites name=\"bascule test\" tests=\"3\" failures=\"1\" errors=\"0\">"), "{report}");
    assert!(report.contains("<failure message=\"UP, effective UP, new clients own, health 100\">"), "{report}");
    let only = folder.write("only.events", "expect vs:web UP\n");
    assert!(is(test(&[only], &options), ExitCode::SUCCESS), "the only configuration in the folder");
    assert!(is(test(&[folder.0.path().join("nothing.events")], &TestOptions::default()), ExitCode::FAILURE));
    assert!(is(simulate(&folder.0.path().join("box.toml"), &bad), ExitCode::SUCCESS), "a timeline judges nothing");
    assert!(is(simulate(Path::new("/nowhere.toml"), &good), ExitCode::FAILURE));
}
