use serde_json::{Value, json};

use super::*;

fn imported(text: &str) -> Imported {
    import(text).unwrap()
}

fn at<'a>(imported: &'a Imported, section: &str, name: &str) -> &'a Value {
    &imported.document.root()[section][name]
}

fn fate(imported: &Imported, begin: &str) -> Fate {
    imported.lines.iter().find(|line| line.text.starts_with(begin)).map(|line| line.fate.clone()).unwrap()
}

const SMALL: &str = r#"#NS13.1 Build 37.29
# Last modified by `save config`, Fri Feb  3 14:33:41 2023
set ns config -IPAddress 10.0.0.5 -netmask 255.255.255.0
enable ns feature LB CS RESPONDER REWRITE
add lb vserver vs-web HTTP 192.0.2.10 80 -persistenceType NONE -cltTimeout 180 -backupVServer vs-spare
add lb vserver vs-spare HTTP 0.0.0.0 0 -persistenceType NONE -cltTimeout 180
bind lb vserver vs-web svc-1
bind lb vserver vs-spare svc-2
add service svc-1 srv-1 HTTP 8080 -gslb NONE -maxClient 0 -maxReq 0 -cip DISABLED -usip NO -useproxyport YES -sp OFF -cltTimeout 180 -svrTimeout 360 -CKA NO -TCPB NO -CMP NO -tcpProfileName fast
add service svc-2 srv-2 HTTP 8080 -maxClient 0 -maxReq 0
add server srv-1 10.1.0.1
add server srv-2 10.1.0.2
"#;

#[test]
fn lines_may_stand_in_any_order_and_each_has_a_fate() {
    let imported = imported(SMALL);
    assert_eq!(at(&imported, "vserver", "vs-web")["backup"], "vs-spare");
    assert_eq!(at(&imported, "service", "svc-1")["server"], "srv-1");
    assert!(matches!(fate(&imported, "set ns config"), Fate::Irrelevant(_)));
    let Fate::Missing { what, whole, traffic } = fate(&imported, "add service svc-1") else { panic!() };
    assert!(!whole && !traffic && what[0].contains("tcpProfileName"), "{what:?}");
    let coverage = imported.coverage();
    assert_eq!(
        (coverage.lines, coverage.irrelevant, coverage.partly, coverage.missing),
        (10, 1, 1, 0),
        "{:?}",
        imported.lines
    );
    assert!(!imported.changes_traffic());
}

#[test]
fn what_is_never_brought_is_missing_with_its_number() {
    let imported = imported("bind lb vserver vs-web svc-1\nadd appfw profile p\nadd nothing at all\nadd server s 'x\n");
    for begin in ["bind lb", "add appfw", "add nothing", "add server"] {
        assert!(matches!(fate(&imported, begin), Fate::Missing { whole: true, traffic: true, .. }), "{begin}");
    }
    assert!(imported.changes_traffic());
    let numbers: Vec<usize> = imported.lines.iter().map(|line| line.number).collect();
    assert_eq!(numbers, [1, 2, 3, 4]);
}

const POLICIES: &str = r#"
add server s 10.1.0.1
add service svc s HTTP 80
add lb vserver lb-a HTTP
add lb vserver lb-b HTTP
bind lb vserver lb-a svc
bind lb vserver lb-b svc
add cs vserver front HTTP 192.0.2.20 80
add policy patset hosts
bind policy patset hosts a.example.test -index 1
bind policy patset hosts b.example.test -index 2
add policy expression is-api "HTTP.REQ.URL.PATH.STARTSWITH(\"/api/\")"
add cs action to-b -targetLBVserver lb-b
add cs policy cs-hosts -rule "HTTP.REQ.HOSTNAME.EQUALS_ANY(\"hosts\") && is-api" -action to-b
add cs policy cs-old -url "/images/*"
add responder action moved redirect "\"https://\" + HTTP.REQ.HOSTNAME.HTTP_URL_SAFE + HTTP.REQ.URL.PATH_AND_QUERY.HTTP_URL_SAFE" -responseStatusCode 301
add responder action sorry respondwith q{"HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nno"}
add responder action never redirect "\"/x\""
add responder policy rp-moved "!CLIENT.IP.SRC.IN_SUBNET(10.0.0.0/8)" moved
add responder policy rp-sorry HTTP.REQ.METHOD.EQ(TRACE) sorry
add responder policy rp-drop "HTTP.REQ.URL.CONTAINS(\"..\")" DROP
add responder policy rp-unused true RESET
add rewrite action ra-add insert_http_header X-Client CLIENT.IP.SRC
add rewrite action ra-del delete_http_header Server
add rewrite action ra-body replace_all "HTTP.RES.BODY(1000)" "\"x\""
add rewrite action ra-unused replace_all "HTTP.RES.BODY(1000)" "\"x\""
add rewrite policy rw-unused true ra-unused
add rewrite policy rw-api is-api ra-add
add rewrite policy rw-all true ra-add
add rewrite policy rw-srv true ra-del
add rewrite policy rw-body true ra-body
bind cs vserver front -policyName cs-hosts -priority 100
bind cs vserver front -policyName cs-old -targetLBVserver lb-b -priority 110
bind cs vserver front -lbvserver lb-a
bind lb vserver lb-a -policyName rp-moved -priority 100 -gotoPriorityExpression END -type REQUEST
bind lb vserver lb-a -policyName rp-sorry -priority 90 -gotoPriorityExpression END -type REQUEST
bind lb vserver lb-a -policyName rp-drop -priority 120 -gotoPriorityExpression END -type REQUEST
bind lb vserver lb-b -policyName rw-api -priority 10 -gotoPriorityExpression END -type REQUEST
bind lb vserver lb-b -policyName rw-all -priority 20 -gotoPriorityExpression NEXT -type REQUEST
bind lb vserver lb-b -policyName rw-srv -priority 10 -gotoPriorityExpression END -type RESPONSE
bind lb vserver lb-b -policyName rw-body -priority 20 -gotoPriorityExpression END -type RESPONSE
bind lb vserver lb-a -policyName rp-unused -priority 200 -gotoPriorityExpression END -type REQUEST
bind lb vserver lb-a -policyName rp-label -priority 210 -gotoPriorityExpression END -type REQUEST -invoke policylabel other
add rewrite policy rw-status "HTTP.RES.STATUS.EQ(500)" ra-add
bind lb vserver lb-a -policyName rw-status -priority 10 -gotoPriorityExpression END -type REQUEST
"#;

#[test]
fn policies_are_carried_as_they_are_written_and_what_cannot_be_is_told() {
    let imported = imported(POLICIES);
    let expression = r#"HTTP.REQ.HOSTNAME.EQUALS_ANY("hosts") && is-api"#;
    assert_eq!(at(&imported, "cs_policy", "cs-hosts"), &json!({"rule": expression, "action": "to-b"}));
    assert_eq!(at(&imported, "policy_patset", "hosts"), &json!({"patterns": ["a.example.test", "b.example.test"]}));
    assert_eq!(
        at(&imported, "cs_vserver", "front")["cs_policies"],
        json!({"cs-hosts": 100, "cs-old": {"priority": 110, "target": "lb-b"}})
    );
    assert_eq!(
        at(&imported, "vserver", "lb-b")["rewrite_policies"],
        json!({
            "rw-api": 10,
            "rw-all": {"priority": 20, "goto": "NEXT"},
            "rw-srv": {"priority": 10, "type": "RESPONSE"},
        })
    );
    assert_eq!(at(&imported, "cs_vserver", "front")["default"], "lb-a");
    assert_eq!(fate(&imported, "add responder policy rp-unused"), Fate::Carried);
    for missing in [
        "add rewrite action ra-body",
        "add rewrite policy rw-body",
        "bind lb vserver lb-b -policyName rw-body",
        "bind lb vserver lb-a -policyName rp-label",
        "bind lb vserver lb-a -policyName rw-status",
    ] {
        assert!(matches!(fate(&imported, missing), Fate::Missing { whole: true, .. }), "{missing}");
    }
    for carried in [
        "add policy patset",
        "bind policy patset",
        "add policy expression",
        "add cs action",
        "add rewrite action ra-add",
    ] {
        assert_eq!(fate(&imported, carried), Fate::Carried, "{carried}");
    }
    let Fate::Missing { traffic, .. } = fate(&imported, "add rewrite action ra-unused") else { panic!() };
    assert!(!traffic, "nothing binds what names it");
    let Fate::Missing { traffic, .. } = fate(&imported, "add rewrite action ra-body") else { panic!() };
    assert!(traffic);
    let notes: Vec<&str> = imported.lines.iter().flat_map(|line| &line.notes).map(|note| &note[..]).collect();
    assert_eq!(notes, ["the connection is reset where DROP lets the client wait"]);
    loads(&imported);
}

pub(in crate::netscaler) fn loads(imported: &Imported) {
    struct NoFiles;
    impl crate::config::Files for NoFiles {
        fn glob(&self, _: &str) -> Result<Vec<String>, String> {
            Ok(Vec::new())
        }

        fn read(&self, path: &str) -> Result<String, String> {
            Err(format!("no file `{path}` here"))
        }
    }
    let text = imported.document.to_toml().unwrap();
    let root = crate::config::Source { path: "imported.toml".into(), text: text.clone().into() };
    let problems = crate::config::load(root, &[], &NoFiles).err().unwrap_or_default();
    assert!(problems.is_empty(), "{problems:#?}\n{text}");
}

proptest::proptest! {
    #[test]
    fn no_file_makes_the_import_panic(
        lines in proptest::collection::vec("(add|bind|set|rm|enable) (lb vserver|cs policy|responder action|policy patset|service|rewrite policy|gslb x) (\\PC|[-\"' ]|-policyName |-rule ){0,30}", 0..8),
    ) {
        let imported = import(&lines.join("\n")).unwrap();
        let coverage = imported.coverage();
        proptest::prop_assert_eq!(coverage.lines, coverage.carried + coverage.irrelevant + coverage.partly + coverage.missing);
    }
}

#[test]
fn policies_that_are_bound_globally_hold_for_every_vserver_and_the_toml_loads() {
    let text = format!(
        "{POLICIES}bind responder global rp-drop 10 END -type REQ_OVERRIDE\nbind responder global rp-sorry 20\n\
         bind rewrite global rw-srv 100 NEXT -type RES_DEFAULT\nbind rewrite global rw-status 110 NEXT -type REQ_DEFAULT\n\
         bind responder global rp-moved 30 END -type OTHERTCP_REQ_DEFAULT\nbind responder global nope 40\n\
         bind rewrite global rw-api 50 NEXT -type REQ_DEFAULT -invoke policylabel x\n"
    );
    let imported = imported(&text);
    assert_eq!(
        imported.document.root()["policy_global"],
        json!({
            "responder_policies": {"rp-drop": {"priority": 10, "type": "REQ_OVERRIDE"}, "rp-sorry": 20},
            "rewrite_policies": {"rw-srv": {"priority": 100, "goto": "NEXT", "type": "RES_DEFAULT"}},
        })
    );
    for (line, told) in [
        ("bind rewrite global rw-status", "it looks at the answer"),
        ("bind responder global rp-moved", "-type OTHERTCP_REQ_DEFAULT"),
        ("bind responder global nope", "nope"),
        ("bind rewrite global rw-api", "policy labels"),
    ] {
        let Fate::Missing { what, whole: true, traffic: true } = fate(&imported, line) else { panic!("{line}") };
        assert!(what[0].contains(told), "{what:?}");
    }
    assert_eq!(fate(&imported, "bind responder global rp-drop"), Fate::Carried);
    loads(&imported);
}

#[test]
fn what_a_script_of_a_monitor_still_needs_is_told_and_the_toml_loads() {
    let imported = imported(
        "add lb monitor m-own USER -scriptName nsown.pl -scriptArgs \"a=1\" -dispatcherIP 127.0.0.1 -dispatcherPort 3013\n\
         add lb monitor m-http HTTP -respCode 200\nadd service s 10.0.0.1 HTTP 80\nbind service s -monitorName m-own\n",
    );
    let Fate::Missing { what, whole: false, traffic: true } = fate(&imported, "add lb monitor m-own") else { panic!() };
    assert!(what.last().is_some_and(|told| told.contains("-scriptName nsown.pl: put a program")), "{what:?}");
    assert_eq!(fate(&imported, "add lb monitor m-http"), Fate::Carried);
    assert_eq!(at(&imported, "monitors", "scripts"), "/etc/bascule/scripts");
    assert_eq!(at(&imported, "monitor", "m-own")["script_name"], "nsown.pl");
    loads(&imported);
    assert!(super::import("add lb monitor m TCP\n").unwrap().document.root().get("monitors").is_none());
}

#[test]
fn the_output_of_a_session_is_read_past_what_the_shell_says() {
    let imported = imported("add server s 10.0.0.1\nWarning: it isn't saved: `save ns config` writes it\n Done\n");
    let coverage = imported.coverage();
    assert_eq!((coverage.lines, coverage.carried, coverage.irrelevant), (3, 1, 2), "{:?}", imported.lines);
}

#[test]
fn a_member_that_is_bound_disabled_is_told_by_the_command_that_disables_it_alone() {
    let imported = imported(
        "add server a 10.0.0.1\nadd serviceGroup sg HTTP\nbind serviceGroup sg a 8001 -state DISABLED\n\
         bind serviceGroup sg 2001:db8::1 8002 -state DISABLED\n",
    );
    for (line, command) in [
        ("bind serviceGroup sg a", "`disable serviceGroup sg a 8001`"),
        ("bind serviceGroup sg 2001", "`disable serviceGroup sg 2001:db8::1 8002`"),
    ] {
        let Fate::Missing { what, whole: false, .. } = fate(&imported, line) else { panic!("{line}") };
        assert!(what[0].contains(command), "{what:?}");
    }
}

#[test]
fn ciphers_and_labels_are_told_for_what_they_are() {
    let text = "add server s 10.1.0.1\nadd service svc s HTTP 80\nadd lb vserver v HTTP\nadd ssl certKey c -cert c.pem\n\
                add responder policy p true RESET\nadd cs policy c -rule true\n\
                unbind ssl vserver v -cipherName DEFAULT\nbind ssl vserver v -cipherName ALL\n\
                bind ssl service svc -cipherName MINE\nbind lb vserver v -policyName p -priority 1 -invoke policylabel x\n\
                bind lb vserver v -policyName c -priority 2\n";
    let imported = imported(text);
    for irrelevant in ["unbind ssl", "bind ssl vserver v"] {
        assert!(matches!(fate(&imported, irrelevant), Fate::Irrelevant(_)), "{irrelevant}");
    }
    for (line, why, changes) in [
        ("bind ssl service", "ciphers are not configured", false),
        ("bind lb vserver v -policyName p", "there are no policy labels", true),
        ("bind lb vserver v -policyName c", "it is a cs policy", true),
    ] {
        let Fate::Missing { what, whole: true, traffic } = fate(&imported, line) else { panic!("{line}") };
        assert!(what[0].contains(why) && traffic == changes, "{line}: {what:?}");
    }
}

#[test]
fn no_secret_of_a_line_is_told_with_what_became_of_it() {
    let lines = [
        "add ssl certKey w -cert w.pem -key w.key -passcrypt \"s3cret one\"",
        "add lb monitor m MYSQL -userName u -password s3cret2 -database d",
        "add authentication ldapAction l -serverIP 10.0.0.1 -ldapBindDnPassword s3cret3 -encrypted",
        "set system user nsroot s3cret4 -encrypted",
        "add snmp community s3cret5 ALL",
        "add lb monitor r RADIUS -userName u -password s3cret6 -radKey s3cret7",
        "set ns rpcNode 10.0.0.1 -password s3cret8 -encrypted -srcIP *",
    ];
    let imported = imported(&lines.join("\n"));
    assert_eq!(imported.lines.len(), lines.len());
    for line in &imported.lines {
        let told = format!("{line:?}");
        assert!(!told.contains("s3cret"), "{told}");
        assert!(line.text.contains("(hidden)"), "{told}");
    }
    assert_eq!(imported.lines[3].text, "set system user nsroot (hidden) -encrypted");
}

#[test]
fn a_policy_without_a_priority_is_given_one_behind_all_others() {
    let text = "add lb vserver v HTTP\nadd responder policy p true RESET\nadd responder policy q true RESET\n\
                bind lb vserver v -policyName p -type REQUEST\nbind lb vserver v -policyName q -priority 10\n";
    let imported = imported(text);
    assert_eq!(at(&imported, "vserver", "v")["responder_policies"], json!({"q": 10, "p": 20}));
    assert_eq!(fate(&imported, "bind lb vserver v -policyName p"), Fate::Carried);
    let line = imported.lines.iter().find(|line| line.text.contains("-policyName p")).unwrap();
    assert_eq!(line.notes, ["it has no priority: 20, behind all others, is given to it"]);
}
