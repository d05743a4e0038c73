use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::netscaler::line::{self, Parsed};

/// Carries out every line of a file.
fn imported(text: &str) -> Document {
    let mut document = Document::default();
    for line in text.lines() {
        match line::parse(line) {
            Ok(Parsed::Statements(statements)) => {
                for statement in &statements {
                    document.execute(statement).unwrap_or_else(|error| panic!("{line}: {error}"));
                }
            }
            Ok(_) => {}
            Err(error) => panic!("{line}: {error}"),
        }
    }
    document
}

#[test]
fn a_configuration_is_told_line_by_line_and_what_is_left_is_named() {
    let document = Document::from_json(json!({
        "features": {"gslb": false},
        "server": {"app1": {"address": "192.0.2.1"}},
        "monitor": {"web-ok": {"type": "HTTP", "request": "GET /health", "interval": "2m", "response_codes": ["200-204"],
                               "down_time": "500ms"}},
        "service": {"web1": {"type": "HTTP", "server": "app1", "port": 80, "monitors": {"web-ok": 2}, "cip_header": "X-IP",
                             "passive": {"server_errors": 5}}},
        "service_group": {"g": {"type": "HTTP", "member": {"one": {"address": "192.0.2.9:81", "weight": 5}}}},
        "vserver": {
            "web": {"type": "HTTP", "address": "203.0.113.1:80", "services": ["web1"], "groups": ["g"], "backup": "spare",
                    "persistence": {"type": "COOKIEINSERT", "timeout": "10m"}, "svr_timeout": 1,
                    "spillover": {"method": "BANDWIDTH", "threshold": "10Mbit/s"}, "surge": {"max": 5}},
            "spare": {"type": "HTTP", "comment": "say \"sorry\""},
        },
        "zone": {"example.test": {"ttl": "30s"}},
    }))
    .unwrap();
    assert_eq!(
        lines(&document, "0.0"),
        "#Bascule 0.0\n\
         # Not in these lines, but named in comments at the end: [zone] 1, keys of objects 3\n\
         enable ns feature LB CS SSL\n\
         disable ns feature GSLB\n\
         add server app1 192.0.2.1\n\
         add lb monitor web-ok HTTP -interval 2 MIN -downTime 500 MSEC -respCode 200-204 -httpRequest \"GET /health\"\n\
         add service web1 app1 HTTP 80 -cip ENABLED X-IP\n\
         add serviceGroup g HTTP\n\
         add lb vserver spare HTTP -comment \"say \\\"sorry\\\"\"\n\
         add lb vserver web HTTP 203.0.113.1 80 -backupVServer spare -persistenceType COOKIEINSERT -timeout 10 \
         -soMethod BANDWIDTH -soThreshold 10000\n\
         bind serviceGroup g 192.0.2.9 81 -weight 5\n\
         bind service web1 -monitorName web-ok -weight 2\n\
         bind lb vserver web web1\n\
         bind lb vserver web g\n\
         add dns zone example.test -proxyMode NO\n\
         # NetScaler has no words for what follows; `show ns runningConfig -toml` shows it:\n\
         # [service.web1] passive.server_errors = 5\n\
         # [service_group.g.member.one] is called 192.0.2.9:81 there\n\
         # [vserver.web] surge.max = 5\n\
         # [zone.\"example.test\"] ttl\n"
    );
}

#[test]
fn what_is_disabled_is_said_on_its_line_or_at_the_top() {
    let document = Document::from_json(json!({
        "server": {"app1": {"address": "192.0.2.1"}},
        "service": {"web1": {"type": "HTTP", "server": "app1", "port": 80},
                    "web2": {"type": "HTTP", "address": "192.0.2.2:80"}},
        "service_group": {"g": {"type": "HTTP", "member": {"one": {"address": "192.0.2.9:81"},
                                                          "two": {"address": "192.0.2.9:82"}}}},
        "vserver": {"web": {"type": "HTTP"}},
    }))
    .unwrap();
    let disabled = ["server app1", "service web2", "service g/one", "vserver web", "check x", "service_group g"];
    let disabled = disabled.iter().filter_map(|text| text.split_once(' '));
    let disabled: Disabled = disabled.map(|(kind, name)| (kind.to_owned(), name.to_owned())).collect();
    let text = lines_of_running(&document, "0.0", &disabled);
    let said: Vec<&str> = text.lines().filter(|line| line.ends_with(" -state DISABLED")).collect();
    assert_eq!(
        said,
        [
            "add server app1 192.0.2.1 -state DISABLED",
            "add service web2 192.0.2.2 HTTP 80 -state DISABLED",
            "add serviceGroup g HTTP -state DISABLED",
            "add lb vserver web HTTP -state DISABLED",
            "bind serviceGroup g 192.0.2.9 81 -state DISABLED",
        ]
    );
    assert!(text.contains("# Disabled now, and no line says it: check x\n"), "{text}");
    assert!(!lines(&document, "0.0").contains("isabled now"));
    imported(&text);
}

#[test]
fn policies_bring_their_features_and_a_priority_each_and_hsts_is_no_word_that_is_left() {
    let document = Document::from_json(json!({
        "certificate": {"c": {"cert": "c.pem", "key": "c.key"}},
        "responder_policy": {"a": {"rule": "true", "action": "RESET"}, "b": {"rule": "true", "action": "RESET"}},
        "rewrite_action": {"x": {"type": "delete_http_header", "target": "X"}},
        "rewrite_policy": {"r": {"rule": "true", "action": "x"}},
        "vserver": {"web": {"type": "SSL", "address": "203.0.113.1:443", "certificates": ["c"],
                            "tls": {"hsts": {"max_age": "1d"}},
                            "responder_policies": {"a": {}, "b": 25}, "rewrite_policies": {"r": {}}}},
    }))
    .unwrap();
    let text = lines(&document, "0.0");
    for line in [
        "enable ns feature LB GSLB CS SSL REWRITE RESPONDER\n",
        "bind lb vserver web -policyName a -priority 30",
        "bind lb vserver web -policyName b -priority 25",
        "bind lb vserver web -policyName r -priority 10",
        "-HSTS ENABLED",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    assert!(!text.contains("tls.hsts") && !text.contains("# Not in these lines"), "{text}");
    imported(&text);
}

#[test]
fn a_host_name_becomes_a_server_once_and_reads_back() {
    let document = Document::from_json(json!({
        "service": {"a": {"type": "HTTP", "address": "app.example.test:80"}},
        "service_group": {"g": {"type": "HTTP", "member": {"m": {"address": "app.example.test:81"}}}},
    }))
    .unwrap();
    let text = lines(&document, "0.0");
    assert_eq!(text.matches("add server app.example.test app.example.test\n").count(), 1, "{text}");
    let back = imported(&text).to_json();
    assert_eq!(back["service"]["a"], json!({"type": "HTTP", "server": "app.example.test", "port": 80}));
}

#[test]
fn an_odd_value_is_quoted_so_that_it_reads_back() {
    for text in [
        "",
        "a b",
        "-x",
        "#",
        "q/x/",
        "a\\b\"c'",
        "svc[1-3]",
        "(x",
        "\r\n\t",
        "plain",
        "q",
        "quick",
        "ü",
        "\u{1b}\0\u{9b}\u{202e}",
        r"\u{1b}",
    ] {
        let tokens = line::tokens(&format!("add {}", quoted(text))).unwrap();
        assert_eq!(tokens[1].text, text);
        assert!(!quoted(text).contains(crate::model::visible::is_hidden));
    }
}

/// Of configurations that NetScaler can say.
fn configurations() -> impl Strategy<Value = serde_json::Value> {
    let name = |prefix: &'static str, at: usize| format!("{prefix}{at}");
    let service = (0usize..3, 1u16..9000, 0u32..50, any::<bool>(), 0usize..3, 1u32..100).prop_map(
        |(server, port, max, flush, monitors, weight)| {
            let mut service = json!({"type": "HTTP", "server": format!("srv{server}"), "port": port});
            if max > 0 {
                service["max_client"] = max.into();
            }
            if !flush {
                service["down_state_flush"] = false.into();
            }
            if monitors > 0 {
                let bound = (0..monitors).map(|at| (format!("mon{at}"), json!(weight.max(2))));
                service["monitors"] = serde_json::Value::Object(bound.collect());
            }
            service
        },
    );
    let vserver = (
        any::<bool>(),
        prop::collection::vec(0usize..4, 0..4),
        prop::option::of((0usize..3, 2u32..60)),
        prop::option::of((0usize..3, 1u32..100)),
        prop::option::of("[ -~]{1,12}"),
        0u8..100,
    );
    let monitors = prop::collection::vec((3u32..90, any::<bool>(), prop::option::of(200u16..300)), 3);
    (prop::collection::vec(service, 4), prop::collection::vec(vserver, 3), monitors).prop_map(
        move |(services, vservers, monitors)| {
            let mut root = json!({"server": {}, "monitor": {}, "service": {}, "vserver": {}});
            for at in 0..3 {
                root["server"][name("srv", at)] = json!({"address": format!("192.0.2.{}", at + 1)});
            }
            for (at, (interval, reverse, code)) in monitors.into_iter().enumerate() {
                let mut monitor = json!({"type": "HTTP", "interval": format!("{}ms", interval * 1000 + 1)});
                if reverse {
                    monitor["reverse"] = true.into();
                }
                if let Some(code) = code {
                    monitor["response_codes"] = json!([code.to_string()]);
                }
                root["monitor"][name("mon", at)] = monitor;
            }
            for (at, service) in services.into_iter().enumerate() {
                root["service"][name("svc", at)] = service;
            }
            for (at, (listens, bound, persistence, spillover, comment, health)) in vservers.into_iter().enumerate() {
                let mut vserver = json!({"type": "HTTP"});
                if listens {
                    vserver["address"] = format!("203.0.113.{at}:80").into();
                }
                if at > 0 {
                    vserver["backup"] = name("vs", at - 1).into();
                }
                if !bound.is_empty() {
                    let weights = bound.iter().map(|at| (format!("svc{at}"), json!(at + 2)));
                    vserver["services"] = serde_json::Value::Object(weights.collect());
                }
                if let Some((kind, minutes)) = persistence {
                    let word = ["COOKIEINSERT", "SOURCEIP", "DESTIP"][kind];
                    vserver["persistence"] = json!({"type": word, "timeout": format!("{}m", minutes + 1)});
                }
                if let Some((kind, threshold)) = spillover {
                    let word = ["HEALTH", "CONNECTION", "BANDWIDTH"][kind];
                    let threshold = if kind == 2 { format!("{threshold}Mbit/s").into() } else { json!(threshold) };
                    vserver["spillover"] = json!({"method": word, "threshold": threshold});
                }
                if let Some(comment) = comment {
                    vserver["comment"] = comment.into();
                }
                if health > 0 {
                    vserver["health_threshold"] = health.into();
                }
                root["vserver"][name("vs", at)] = vserver;
            }
            root
        },
    )
}

struct NoFiles;

impl crate::config::Files for NoFiles {
    fn glob(&self, _: &str) -> Result<Vec<String>, String> {
        Ok(Vec::new())
    }

    fn read(&self, path: &str) -> Result<String, String> {
        Err(format!("no file {path}"))
    }
}

fn hash(document: &Document) -> String {
    let text = document.to_toml().unwrap();
    let root = crate::config::Source { path: "x.toml".into(), text: text.clone().into() };
    match crate::config::load(root, &[], &NoFiles) {
        Ok(loaded) => loaded.hash.to_string(),
        Err(problems) => panic!("{problems:#?}\n{text}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn lines_read_back_give_the_same_configuration(json in configurations()) {
        let document = Document::from_json(json).unwrap();
        let text = lines(&document, "0.0");
        prop_assert!(!text.contains("no words"), "{}", text);
        prop_assert_eq!(hash(&imported(&text)), hash(&document), "{}", text);
    }
}

#[test]
fn of_services_that_a_netscaler_takes_once_the_second_is_told() {
    let service = |kind: &str| json!({"type": kind, "server": "app1", "port": 80});
    let document = Document::from_json(json!({
        "server": {"app1": {"address": "192.0.2.1"}},
        "service": {"a": service("HTTP"), "b": {"type": "HTTP", "address": "192.0.2.1:80"}, "c": service("TCP")},
    }))
    .unwrap();
    let told = lines(&document, "0.0");
    let comment =
        "# service b has the type, address and port of a: one service has them there, and the next line is refused\n";
    assert_eq!(told.matches("# service ").count(), 1, "{told}");
    assert!(told.contains(&format!("{comment}add service b 192.0.2.1 HTTP 80\n")), "{told}");
}
