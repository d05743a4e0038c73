use serde_json::{Value, json};

use super::*;

fn one(line: &str) -> (Verb, &'static str, Value) {
    match parse(line) {
        Ok(Parsed::Statements(statements)) => {
            let [statement] = &statements[..] else { panic!("{line}: {statements:?}") };
            (statement.verb, statement.resource.nitro, Value::Object(statement.arguments.clone()))
        }
        other => panic!("{line}: {other:?}"),
    }
}

fn code(line: &str) -> u32 {
    parse(line).expect_err(line).code
}

#[test]
fn arguments_stand_in_order_and_keywords_anywhere() {
    assert_eq!(
        one("add lb vserver web HTTP 203.0.113.1 80 -persistenceType COOKIEINSERT -timeout 5"),
        (
            Verb::Add,
            "lbvserver",
            json!({"name": "web", "servicetype": "HTTP", "ipv46": "203.0.113.1", "port": "80",
                   "persistencetype": "COOKIEINSERT", "timeout": "5"})
        )
    );
    assert_eq!(one("add lb vserver v HTTP"), (Verb::Add, "lbvserver", json!({"name": "v", "servicetype": "HTTP"})));
    let on_address = json!({"name": "s", "ip": "192.0.2.1", "servicetype": "TCP", "port": "5432"});
    assert_eq!(one("add service s 192.0.2.1 TCP 5432"), (Verb::Add, "service", on_address));
    let on_server = json!({"name": "s", "servername": "app1", "servicetype": "HTTP", "port": "80"});
    assert_eq!(one("add service s app1 HTTP 80"), (Verb::Add, "service", on_server));
    assert_eq!(
        one("add server a www.example.test"),
        (Verb::Add, "server", json!({"name": "a", "domain": "www.example.test"}))
    );
}

#[test]
fn everything_may_be_shortened_as_long_as_it_is_unambiguous() {
    let expected = (Verb::Set, "lbvserver", json!({"name": "web", "healththreshold": "50"}));
    assert_eq!(one("SET lb VS web -healthT 50"), expected);
    assert_eq!(one("unb lb vs web web1").1, "lbvserver_service_binding");
    assert_eq!(one("add serviceG g HTTP").1, "servicegroup");
    assert_eq!(code("un lb vs web"), 1089, "unset and unbind");
    assert_eq!(code("add serv s"), 1089);
    assert_eq!(code("set lb vserver web -so 5"), 1099);
    // As NetScaler takes it, although `-persistMask` begins so too.
    let persistence = json!({"name": "web", "persistencetype": "NONE"});
    assert_eq!(one("set lb vserver web -persist NONE"), (Verb::Set, "lbvserver", persistence));
    assert_eq!(code("set lb vserver web -persistence NONE"), 1099);
    let cleared = json!({"force": true, "level": "basic"});
    assert_eq!(one("clear ns config -force basic"), (Verb::Remove, "nsconfig", cleared));
    assert_eq!(one("clear conf basic -f"), (Verb::Remove, "nsconfig", json!({"level": "basic", "force": true})));
    assert!(matches!(parse("clear lb persistentSessions"), Ok(Parsed::Other(_))));
    let member = json!({"servicegroupname": "g", "ip": "192.0.2.1", "port": "80", "weight": "3"});
    let binding = "servicegroup_servicegroupmember_binding";
    assert_eq!(one("set serviceGroup g 192.0.2.1 80 -weight 3"), (Verb::Set, binding, member));
    assert_eq!(one("set serviceGroup g -maxClient 3").1, "servicegroup");
    assert_eq!(code("set lb vserver web -colour red"), 1090);
    assert_eq!(code("add lb thing x"), 1088);
    assert_eq!(one("add gslb vserver x HTTP").1, "gslbvserver");
    assert_eq!(code("add gslb group x"), 1088);
    assert_eq!(code("add"), 1088);
}

#[test]
fn the_irregular_commands_are_read() {
    assert_eq!(
        one("add service s app1 HTTP 80 -cip ENABLED X-Real-IP -maxClient 5").2,
        json!({"name": "s", "servername": "app1", "servicetype": "HTTP", "port": "80", "cip": "ENABLED",
               "cipheader": "X-Real-IP", "maxclient": "5"})
    );
    assert_eq!(
        one("add lb monitor m HTTP -respCode 200-204 301 -interval 2 MIN -resptimeout 900 MSEC").2,
        json!({"monitorname": "m", "type": "HTTP", "respcode": ["200-204", "301"], "interval": "2", "units3": "MIN",
               "resptimeout": "900", "units4": "MSEC"})
    );
    assert_eq!(one("rm lb monitor m HTTP"), (Verb::Remove, "lbmonitor", json!({"monitorname": "m"})));
    assert_eq!(
        one("set lb vserver web -weight 3 svc1").2,
        json!({"name": "web", "weight": "3", "servicename": "svc1"})
    );
    assert_eq!(
        one("unset lb vserver web -backupVServer -comment"),
        (Verb::Unset, "lbvserver", json!({"name": "web", "backupvserver": true, "comment": true}))
    );
    assert_eq!(one("rename service a b").2, json!({"name": "a", "newname": "b"}));
    assert_eq!(
        one("bind lb monitor m s"),
        (Verb::Bind, "service_lbmonitor_binding", json!({"monitor_name": "m", "name": "s"}))
    );
    assert_eq!(one("enable ns feature LB CS"), (Verb::Set, "nsfeature", json!({"feature": ["LB", "CS"]})));
    assert_eq!(one("disable ns feature GSLB").0, Verb::Unset);
    assert_eq!(one("add server a 192.0.2.1 -devno 12").2, json!({"name": "a", "ipaddress": "192.0.2.1"}));
}

#[test]
fn a_binding_is_told_by_what_it_names() {
    let binding = |line: &str| one(line).1;
    assert_eq!(binding("bind lb vserver web web1 -weight 3"), "lbvserver_service_binding");
    assert_eq!(binding("bind service s -monitorName m -passive"), "service_lbmonitor_binding");
    assert_eq!(binding("bind serviceGroup g app1 80 -weight 2"), "servicegroup_servicegroupmember_binding");
    assert_eq!(binding("bind serviceGroup g -monitorName m"), "servicegroup_lbmonitor_binding");
    assert_eq!(binding("bind cs vserver c -lbvserver web"), "csvserver_lbvserver_binding");
    assert_eq!(binding("bind lb group g web"), "lbgroup_lbvserver_binding");
    assert_eq!(binding("bind ssl vserver v -certkeyName c -CA -ocspCheck Optional"), "sslvserver_sslcertkey_binding");
    assert_eq!(one("bind service s -monitorName m -passive").2["passive"], json!(true));
    assert_eq!(code("bind lb vserver web"), 1095);
    assert_eq!(code("bind lb vserver web web1 -weight"), 1091);
}

#[test]
fn ranges_go_side_by_side() {
    let Ok(Parsed::Statements(all)) = parse("add server s[1-3] 10.102.27.[53-55]") else { panic!("no statements") };
    let told: Vec<Value> = all.into_iter().map(|s| Value::Object(s.arguments)).collect();
    assert_eq!(
        json!(told),
        json!([
            {"name": "s1", "ipaddress": "10.102.27.53"},
            {"name": "s2", "ipaddress": "10.102.27.54"},
            {"name": "s3", "ipaddress": "10.102.27.55"},
        ])
    );
    let Ok(Parsed::Statements(all)) = parse("bind lb vserver web svc[08-10]") else { panic!("no statements") };
    assert_eq!(all[2].arguments["servicename"], json!("svc10"));
    assert_eq!(code("add server s[1-3] 10.102.27.[53-54]"), 278);
    assert_eq!(code("bind lb vserver web svc[1-99999]"), 1097);
}

#[test]
fn quotes_keep_what_they_hold() {
    let rule = one("set lb vserver v -rule q/HTTP.REQ.HEADER(\"a b\")/").2["rule"].clone();
    assert_eq!(rule, json!("HTTP.REQ.HEADER(\"a b\")"));
    assert_eq!(one("add lb monitor m TCP-ECV -send \"-x\\r\\n\"").2["send"], json!("-x\r\n"));
    assert_eq!(code("add server \"a"), 278);
}

#[test]
fn what_is_no_configuration_is_handed_back() {
    for line in
        ["show lb vserver", "disable service web1 30", "save ns config", "enable lb vserver web", "explain dns x"]
    {
        assert!(matches!(parse(line), Ok(Parsed::Other(_))), "{line}");
    }
    for line in ["", "  ", "# Last modified by `save config`"] {
        assert!(matches!(parse(line), Ok(Parsed::Nothing)), "{line}");
    }
}

proptest::proptest! {
    #[test]
    fn no_line_makes_the_reader_panic(line in "(add|set|bind|rm|unset|rename) (lb|service|server|ssl)?[ -~]{0,60}") {
        let _ = parse(&line);
    }
}
