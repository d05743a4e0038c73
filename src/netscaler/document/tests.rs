use serde_json::json;

use super::*;
use crate::netscaler::resource::Resource;

fn run(document: &mut Document, verb: Verb, nitro: &str, arguments: Value) -> Result<(), (u32, String)> {
    let resource = Resource::find(nitro).unwrap_or_else(|| panic!("{nitro}"));
    let Value::Object(arguments) = arguments else { panic!("no object") };
    let before = document.clone();
    let statement = Statement { verb, resource, arguments };
    match document.execute(&statement) {
        Ok(_) => Ok(()),
        Err(error) => {
            assert_eq!(*document, before, "an error changed something");
            Err((error.code, error.message))
        }
    }
}

fn add(document: &mut Document, nitro: &str, arguments: Value) {
    run(document, Verb::Add, nitro, arguments).unwrap();
}

/// A server, a service on it, and two vservers.
fn world() -> Document {
    let mut document = Document::default();
    add(&mut document, "server", json!({"name": "app1", "ipaddress": "192.0.2.1"}));
    add(&mut document, "service", json!({"name": "web1", "servername": "app1", "servicetype": "HTTP", "port": 80}));
    add(&mut document, "lbvserver", json!({"name": "spare", "servicetype": "HTTP"}));
    let web =
        json!({"name": "web", "servicetype": "http", "ipv46": "203.0.113.1", "port": "80", "backupvserver": "spare"});
    add(&mut document, "lbvserver", web);
    document
}

#[test]
fn an_added_object_stands_in_the_toml_and_is_told_in_netscalers_words() {
    let mut document = world();
    run(
        &mut document,
        Verb::Bind,
        "lbvserver_service_binding",
        json!({"name": "web", "servicename": "web1", "weight": 3}),
    )
    .unwrap();
    assert_eq!(
        document.to_toml().unwrap(),
        "[server.app1]\naddress = \"192.0.2.1\"\n\n[service.web1]\ntype = \"HTTP\"\nserver = \"app1\"\nport = 80\n\n\
         [vserver.spare]\ntype = \"HTTP\"\n\n[vserver.web]\ntype = \"HTTP\"\nbackup = \"spare\"\n\
         address = \"203.0.113.1:80\"\n\n[vserver.web.services]\nweb1 = 3\n"
    );
    let web = document.object(Resource::find("lbvserver").unwrap(), "web").unwrap();
    let told = |name: &str| web.get(name).cloned().unwrap_or_default();
    assert_eq!(told("ipv46"), json!("203.0.113.1"));
    assert_eq!(told("port"), json!(80), "an Integer is a number");
    assert_eq!(told("timeout"), json!("2"), "a Double is a text");
    assert_eq!(told("clttimeout"), json!("180"));
    assert_eq!(told("lbmethod"), json!("LEASTCONNECTION"));
    assert_eq!(told("backupvserver"), json!("spare"));
    let bound = document.bindings(Resource::find("lbvserver_service_binding").unwrap(), "web");
    assert_eq!(
        bound,
        [json!({"name": "web", "servicename": "web1", "weight": "3", "order": "1"}).as_object().unwrap().clone()]
    );
}

#[test]
fn what_netscaler_has_anyway_is_not_written() {
    let mut document = world();
    let before = document.clone();
    let defaults = json!({
        "name": "web", "lbmethod": "LEASTCONNECTION", "td": 0, "m": "IP", "cacheable": "NO", "timeout": 2.0,
        "downstateflush": "ENABLED", "healththreshold": "0", "sopersistence": "DISABLED", "comment": "",
    });
    run(&mut document, Verb::Set, "lbvserver", defaults).unwrap();
    assert_eq!(document, before);
    let (code, message) =
        run(&mut document, Verb::Set, "lbvserver", json!({"name": "web", "m": "TUNNEL"})).unwrap_err();
    assert_eq!(code, 1097, "{message}");
    let (code, message) =
        run(&mut document, Verb::Set, "lbvserver", json!({"name": "web", "tcpprofilename": "p"})).unwrap_err();
    assert_eq!((code, message.contains("the kernel's settings")), (1097, true), "{message}");
}

#[test]
fn defaults_of_the_configuration_count_as_said() {
    let text = "[defaults.service]\ntype = \"HTTP\"\nmonitors = [\"web-ok\"]\ndown_state_flush = false\n\n\
                [monitor.web-ok]\ntype = \"HTTP\"\n\n[service.a]\naddress = \"192.0.2.1:80\"\n";
    let mut document = Document::from_toml(text).unwrap();
    let service = Resource::find("service").unwrap();
    let a = document.object(service, "a").unwrap();
    assert_eq!(
        (&a["servicetype"], &a["downstateflush"], &a["ipaddress"]),
        (&json!("HTTP"), &json!("DISABLED"), &json!("192.0.2.1"))
    );
    run(&mut document, Verb::Set, "service", json!({"name": "a", "downstateflush": "ENABLED"})).unwrap();
    assert_eq!(document.object(service, "a").unwrap()["downstateflush"], json!("ENABLED"));
    run(&mut document, Verb::Bind, "service_lbmonitor_binding", json!({"name": "a", "monitor_name": "tcp"})).unwrap();
    let bound = document.bindings(Resource::find("service_lbmonitor_binding").unwrap(), "a");
    let names: Vec<&Value> = bound.iter().map(|row| &row["monitor_name"]).collect();
    assert_eq!(names, ["web-ok", "tcp"], "what the defaults bind stays bound");
}

#[test]
fn errors_have_netscalers_numbers() {
    let cases: &[(Verb, &str, Value, u32)] = &[
        (Verb::Add, "lbvserver", json!({"name": "web", "servicetype": "HTTP"}), 273),
        (Verb::Add, "server", json!({"name": "app1", "ipaddress": "192.0.2.9"}), 1335),
        (Verb::Add, "server", json!({"name": "app9", "ipaddress": "192.0.2.1"}), 1335),
        (Verb::Add, "server", json!({"name": "app9"}), 1095),
        (Verb::Add, "server", json!({"name": "app9", "ipaddress": "192.0.2.9", "domain": "a.test"}), 1092),
        (Verb::Add, "server", json!({"name": "-x", "ipaddress": "192.0.2.9"}), 1075),
        (Verb::Add, "server", json!({"name": "x", "ipaddress": "192.0.2"}), 1097),
        (Verb::Add, "lbvserver", json!({"name": "x"}), 1095),
        (Verb::Add, "lbvserver", json!({"name": "x", "servicetype": "TCPX"}), 1097),
        (Verb::Add, "lbvserver", json!({"name": "x", "servicetype": "S"}), 1099),
        (Verb::Add, "lbvserver", json!({"name": "x", "servicetype": "MYSQL"}), 1097),
        (Verb::Add, "lbvserver", json!({"name": "x", "servicetype": "HTTP", "ipv46": "203.0.113.2"}), 1095),
        (Verb::Add, "lbvserver", json!({"name": "x", "servicetype": "HTTP", "port": 80}), 1093),
        (Verb::Add, "lbvserver", json!({"name": "x", "servicetype": "HTTP", "ipv46": "203.0.113.1", "port": 80}), 304),
        (Verb::Set, "lbvserver", json!({"name": "none", "timeout": 3}), 258),
        (Verb::Set, "lbvserver", json!({"name": "web"}), 431),
        (Verb::Set, "lbvserver", json!({"name": "web", "colour": "red"}), 1090),
        (Verb::Set, "lbvserver", json!({"name": "web", "servicetype": "TCP"}), 257),
        (Verb::Set, "lbvserver", json!({"name": "web", "timeout": 5}), 1093),
        (Verb::Set, "lbvserver", json!({"name": "web", "persistencetype": "SOURCEIP", "timeout": 0}), 1097),
        (Verb::Set, "lbvserver", json!({"name": "web", "persistencetype": "SOURCEIP", "timeout": 1441}), 1097),
        (Verb::Set, "lbvserver", json!({"name": "web", "persistencetype": "SOURCEIP", "cookiename": "c"}), 1381),
        (
            Verb::Set,
            "lbvserver",
            json!({"name": "web", "persistencetype": "SOURCEIP", "persistencebackup": "SOURCEIP"}),
            2307,
        ),
        (Verb::Set, "lbvserver", json!({"name": "web", "persistencetype": "RULE"}), 1093),
        (Verb::Set, "lbvserver", json!({"name": "web", "backupvserver": "nobody"}), 430),
        (Verb::Set, "lbvserver", json!({"name": "spare", "backupvserver": "web"}), 2144),
        (Verb::Set, "lbvserver", json!({"name": "web", "backupvserver": "web"}), 2144),
        (Verb::Set, "lbvserver", json!({"name": "spare", "disableprimaryondown": "ENABLED"}), 1911),
        (Verb::Unset, "lbvserver", json!({"name": "spare", "backupvserver": true}), 470),
        (Verb::Unset, "lbvserver", json!({"name": "spare", "servicetype": true}), 257),
        (Verb::Set, "lbvserver", json!({"name": "web", "somethod": "DYNAMICCONNECTION", "sothreshold": 5}), 1291),
        (Verb::Set, "lbvserver", json!({"name": "web", "somethod": "CONNECTION", "sothreshold": 0}), 1288),
        (Verb::Set, "lbvserver", json!({"name": "web", "somethod": "CONNECTION"}), 1093),
        (Verb::Set, "lbvserver", json!({"name": "web", "sothreshold": 5}), 1093),
        (Verb::Set, "lbvserver", json!({"name": "web", "somethod": "HEALTH", "sothreshold": 101}), 1097),
        (Verb::Remove, "server", json!({"name": "app1"}), 315),
        (Verb::Remove, "lbvserver", json!({"name": "spare"}), 315),
        (Verb::Remove, "lbmonitor", json!({"monitorname": "tcp-default"}), 2139),
        (Verb::Remove, "lbmonitor", json!({"monitorname": "nothing"}), 258),
        (Verb::Add, "lbmonitor", json!({"monitorname": "m", "type": "HTTP", "interval": 2}), 2128),
        (Verb::Add, "lbmonitor", json!({"monitorname": "m", "type": "TCP", "failureretries": 3}), 2196),
        (Verb::Add, "lbmonitor", json!({"monitorname": "m", "type": "PING", "httprequest": "GET /"}), 1090),
        (Verb::Add, "lbmonitor", json!({"monitorname": "m", "type": "LDAP", "password": "secret"}), 1097),
        (Verb::Bind, "service_lbmonitor_binding", json!({"name": "web1", "monitor_name": "tcp-default"}), 2165),
        (Verb::Bind, "service_lbmonitor_binding", json!({"name": "web1", "monitor_name": "nothing"}), 2171),
        (Verb::Unbind, "service_lbmonitor_binding", json!({"name": "web1", "monitor_name": "tcp-default"}), 2164),
        (Verb::Unbind, "service_lbmonitor_binding", json!({"name": "web1", "monitor_name": "tcp"}), 2170),
        (Verb::Bind, "lbvserver_service_binding", json!({"name": "web", "servicename": "nothing"}), 462),
        (Verb::Bind, "lbvserver_service_binding", json!({"name": "web"}), 1095),
        (Verb::Unbind, "lbvserver_service_binding", json!({"name": "web", "servicename": "web1"}), 1303),
        (Verb::Bind, "lbvserver_service_binding", json!({"name": "web", "servicename": "web1", "weight": 101}), 1097),
        (Verb::Add, "service", json!({"name": "s", "servername": "nobody", "servicetype": "HTTP", "port": 80}), 351),
        (
            Verb::Add,
            "service",
            json!({"name": "s", "servername": "app1", "ip": "192.0.2.1", "servicetype": "HTTP", "port": 80}),
            1092,
        ),
        (Verb::Add, "csvserver", json!({"name": "cs", "servicetype": "HTTP", "lbvserver": "nobody"}), 461),
        (Verb::Rename, "lbmonitor", json!({"monitorname": "m", "newname": "n"}), 1088),
        (Verb::Rename, "lbvserver", json!({"name": "web", "newname": "spare"}), 273),
        (Verb::Set, "nsfeature", json!({"feature": ["APPFW"]}), 1097),
        (Verb::Bind, "sslvserver_sslcertkey_binding", json!({"vservername": "web", "certkeyname": "c"}), 1540),
    ];
    for (verb, nitro, arguments, code) in cases {
        let mut document = world();
        let told = run(&mut document, *verb, nitro, arguments.clone());
        assert_eq!(told.as_ref().map_err(|(code, _)| *code), Err(*code), "{verb:?} {nitro} {arguments}: {told:?}");
    }
}

#[test]
fn a_chain_of_backups_has_at_most_ten() {
    let mut document = Document::default();
    for at in 0..12 {
        add(&mut document, "lbvserver", json!({"name": format!("v{at}"), "servicetype": "HTTP"}));
    }
    for at in 0..10 {
        let arguments = json!({"name": format!("v{at}"), "backupvserver": format!("v{}", at + 1)});
        run(&mut document, Verb::Set, "lbvserver", arguments).unwrap();
    }
    let longer = json!({"name": "v10", "backupvserver": "v11"});
    assert_eq!(run(&mut document, Verb::Set, "lbvserver", longer).unwrap_err().0, 350);
}

#[test]
fn a_new_name_is_told_to_everybody() {
    let mut document = world();
    run(&mut document, Verb::Bind, "lbvserver_service_binding", json!({"name": "web", "servicename": "web1"})).unwrap();
    run(&mut document, Verb::Rename, "service", json!({"name": "web1", "newname": "shop1"})).unwrap();
    run(&mut document, Verb::Rename, "server", json!({"name": "app1", "newname": "host1"})).unwrap();
    run(&mut document, Verb::Rename, "lbvserver", json!({"name": "spare", "newname": "sorry"})).unwrap();
    let json = document.to_json();
    assert_eq!(json["vserver"]["web"]["services"], json!(["shop1"]));
    assert_eq!(json["vserver"]["web"]["backup"], json!("sorry"));
    assert_eq!(json["service"]["shop1"]["server"], json!("host1"));
    let text = "[scenario.s]\n[scenario.s.activate]\nwhen = [[\"vs:web!{for:5s}\", \"vs:web2\"]]\n[vserver.web]\ntype = \"HTTP\"\n";
    let mut document = Document::from_toml(text).unwrap();
    let web = Resource::find("lbvserver").unwrap();
    assert_eq!(document.is_referenced(web, "web").as_deref(), Some("scenario s"));
    run(&mut document, Verb::Rename, "lbvserver", json!({"name": "web", "newname": "shop"})).unwrap();
    assert_eq!(document.to_json()["scenario"]["s"]["activate"]["when"], json!([["vs:shop!{for:5s}", "vs:web2"]]));
}

#[test]
fn members_are_told_apart_by_server_and_port() {
    let mut document = world();
    add(&mut document, "servicegroup", json!({"servicegroupname": "g", "servicetype": "HTTP"}));
    let member = "servicegroup_servicegroupmember_binding";
    for (arguments, code) in [
        (json!({"servicegroupname": "g", "servername": "app1", "port": 81}), None),
        (json!({"servicegroupname": "g", "ip": "192.0.2.1", "port": 81}), Some(273)),
        (json!({"servicegroupname": "g", "ip": "192.0.2.7", "port": "81", "weight": "5", "state": "DISABLED"}), None),
        (json!({"servicegroupname": "g", "ip": "192.0.2.8"}), Some(1095)),
    ] {
        assert_eq!(run(&mut document, Verb::Bind, member, arguments).err().map(|(code, _)| code), code);
    }
    let rows = document.bindings(Resource::find(member).unwrap(), "g");
    assert_eq!(
        json!(rows),
        json!([
            {"servicegroupname": "g", "ip": "192.0.2.1", "servername": "app1", "port": 81, "weight": "1", "order": "1"},
            {"servicegroupname": "g", "ip": "192.0.2.7", "servername": "192.0.2.7", "port": 81, "weight": "5", "order": "1"},
        ])
    );
    let act = document.take_acts();
    assert_eq!((act.len(), act[0].member.as_deref(), act[0].enable), (1, Some("192.0.2.7:81"), false));
    run(&mut document, Verb::Unbind, member, json!({"servicegroupname": "g", "servername": "app1", "port": 81}))
        .unwrap();
    assert_eq!(document.bindings(Resource::find(member).unwrap(), "g").len(), 1);
}

#[test]
fn short_forms_are_read_and_touched_only_where_something_changes() {
    let text = "[vserver.web]\ntype = \"HTTP\"\nservices = [\"a\", \"b\"]\nbackup_vserver = \"spare\"\n[service.a]\n\
                type = \"HTTP\"\naddress = \"192.0.2.1:80\"\n[service.b]\ntype = \"HTTP\"\naddress = \"192.0.2.2:80\"\n\
                [vserver.spare]\ntype = \"HTTP\"\n";
    let mut document = Document::from_toml(text).unwrap();
    run(&mut document, Verb::Set, "lbvserver", json!({"name": "web", "weight": 5, "servicename": "a"})).unwrap();
    assert_eq!(document.to_json()["vserver"]["web"]["services"], json!({"a": 5, "b": 1}));
    assert_eq!(document.object(Resource::find("lbvserver").unwrap(), "web").unwrap()["backupvserver"], json!("spare"));
    run(&mut document, Verb::Unbind, "lbvserver_service_binding", json!({"name": "web", "servicename": "a"})).unwrap();
    assert_eq!(document.to_json()["vserver"]["web"]["services"], json!(["b"]));
    run(&mut document, Verb::Unset, "lbvserver", json!({"name": "web", "backupvserver": true})).unwrap();
    assert_eq!(document.to_json()["vserver"]["web"], json!({"type": "HTTP", "services": ["b"]}));
}

#[test]
fn units_of_monitors_are_durations() {
    let mut document = Document::default();
    let monitor = json!({
        "monitorname": "m", "type": "HTTP", "interval": 2, "units3": "MIN", "resptimeout": 1500, "units4": "MSEC",
        "respcode": ["200-204", "301"], "httprequest": "GET /health", "secure": "NO", "lrtm": "DISABLED",
    });
    add(&mut document, "lbmonitor", monitor);
    assert_eq!(
        document.to_json()["monitor"]["m"],
        json!({"type": "HTTP", "request": "GET /health", "interval": "2m", "response_timeout": "1500ms",
               "response_codes": ["200-204", "301"]})
    );
    let told = document.object(Resource::find("lbmonitor").unwrap(), "m").unwrap();
    assert_eq!((&told["interval"], &told["units3"]), (&json!(2), &json!("MIN")));
    assert_eq!((&told["resptimeout"], &told["units4"]), (&json!(1500), &json!("MSEC")));
    assert_eq!((&told["downtime"], &told["units2"], &told["deviation"]), (&json!(30), &json!("SEC"), &json!("0")));
    assert_eq!(told["respcode"], json!(["200-204", "301"]));
}

#[test]
fn a_set_whose_numbers_no_list_would_count_is_numbered_by_its_user() {
    let set = Resource::find("policypatset").unwrap();
    let told = |patterns: Value| {
        let document = Document::from_json(json!({"policy_patset": {"p": {"patterns": patterns}}})).unwrap();
        document.object(set, "p").unwrap()["indextype"].clone()
    };
    assert_eq!(told(json!({"a": 5, "b": 9})), "User-defined");
    assert_eq!(told(json!(["a", "b"])), "Auto-generated");
}

#[test]
fn a_policy_that_edits_or_answers_is_bound_with_a_priority() {
    let mut document = world();
    add(&mut document, "lbvserver", json!({"name": "edge", "servicetype": "HTTP"}));
    add(&mut document, "responderpolicy", json!({"name": "p", "rule": "true", "action": "RESET"}));
    let nitro = "lbvserver_responderpolicy_binding";
    let bound = |more: Value| {
        let mut binding = json!({"name": "edge", "policyname": "p", "bindpoint": "REQUEST"});
        binding.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        binding
    };
    let missing = Err((1095, "Required argument missing [priority]".to_owned()));
    assert_eq!(run(&mut document, Verb::Bind, nitro, bound(json!({}))), missing);
    assert_eq!(run(&mut document, Verb::Bind, nitro, bound(json!({"priority": 10}))), Ok(()));
}
