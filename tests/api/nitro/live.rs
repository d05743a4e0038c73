//! What takes more than one exchange of a conversation: files, what is saved, many clients at once.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use super::rig::{CONFIG, Rig};

/// A certificate and its key, as PEM.
fn pem() -> (String, String) {
    let key = rcgen::KeyPair::generate().unwrap();
    let parameters = rcgen::CertificateParams::new(vec!["www.test".to_owned()]).unwrap();
    (parameters.self_signed(&key).unwrap().pem(), key.serialize_pem())
}

#[test]
fn an_uploaded_certificate_is_named_bound_shown_and_kept_while_it_is_in_use() {
    let rig = Rig::start(&format!("# stays\n{CONFIG}"));
    let (certificate, key) = pem();
    let upload = |name: &str, text: &str| {
        let content = STANDARD.encode(text);
        let file = json!({"filename": name, "filelocation": "/nsconfig/ssl", "filecontent": content});
        rig.call("POST", "config/systemfile", &json!({"systemfile": file}))
    };
    assert_eq!(upload("web.pem", &certificate), ("201 Created".to_owned(), 0));
    assert_eq!(upload("web.key", &key), ("201 Created".to_owned(), 0));
    assert_eq!(upload("web.pem", &certificate), ("409 Conflict".to_owned(), 273));
    let file = rig.get("config/systemfile/web.pem?args=filelocation:%2Fnsconfig%2Fssl");
    assert_eq!(file["systemfile"][0]["filecontent"], STANDARD.encode(&certificate));
    assert!(rig.get("config/systemfile/web.key")["systemfile"][0].get("filecontent").is_none());

    let pair = json!({"sslcertkey": {"certkey": "web", "cert": "web.pem", "key": "/nsconfig/ssl/web.key"}});
    assert_eq!(rig.call("POST", "config/sslcertkey", &pair), ("201 Created".to_owned(), 0));
    let shown = rig.get("config/sslcertkey/web")["sslcertkey"][0].clone();
    assert_eq!((&shown["cert"], &shown["key"]), (&json!("web.pem"), &json!("web.key")));
    assert!(shown["daystoexpiration"].as_i64().is_some_and(|days| days > 0), "{shown}");
    assert_eq!(shown["status"], "Valid");
    let missing = json!({"sslcertkey": {"certkey": "none", "cert": "nowhere.pem"}});
    assert_ne!(rig.call("POST", "config/sslcertkey", &missing).1, 0);

    // As clients do it: the vserver with its address, then its certificate.
    let secure = json!({"lbvserver": {"name": "secure", "servicetype": "SSL", "ipv46": "127.0.0.1", "port": 8443}});
    assert_eq!(rig.call("POST", "config/lbvserver", &secure), ("201 Created".to_owned(), 0));
    let bound = json!({"sslvserver_sslcertkey_binding": {"vservername": "secure", "certkeyname": "web"}});
    assert_eq!(rig.call("PUT", "config/sslvserver_sslcertkey_binding", &bound), ("201 Created".to_owned(), 0));
    let shown = rig.get("config/sslvserver_sslcertkey_binding/secure");
    assert_eq!(shown["sslvserver_sslcertkey_binding"][0]["certkeyname"], "web");
    assert_eq!(rig.get("stat/sslvserver/secure")["sslvserver"][0]["vservername"], "secure");

    // A configuration that names files keeps its comments like any other.
    assert!(rig.running().starts_with("# stays\n"), "{:.100}", rig.running());

    let nothing = json!({});
    let delete = |path: &str| rig.call("DELETE", path, &nothing).1;
    assert_eq!(delete("config/systemfile/web.pem?args=filelocation:%2Fnsconfig%2Fssl"), 315);
    assert_ne!(delete("config/sslcertkey/web"), 0, "it is bound");
    assert_eq!(delete("config/lbvserver/secure"), 0);
    assert_eq!(delete("config/sslcertkey/web"), 0);
    assert_eq!(delete("config/systemfile/web.pem?args=filelocation:%2Fnsconfig%2Fssl"), 0);
    assert_eq!(delete("config/systemfile/web.pem"), 258);
}

#[test]
fn what_runs_and_what_is_saved_are_told_as_lines_to_who_may_change_them() {
    let rig = Rig::start(CONFIG);
    let told = |of: &str| rig.get(&format!("config/{of}"))[of]["response"].as_str().unwrap().to_owned();
    let add = json!({"lbvserver": {"name": "shop", "servicetype": "HTTP", "ipv46": "127.0.0.1", "port": 8099}});
    assert_eq!(rig.call("POST", "config/lbvserver", &add).1, 0);
    assert_eq!(rig.call("POST", "config/service?action=disable", &json!({"service": {"name": "web2"}})).1, 0);
    let (running, saved) = (told("nsrunningconfig"), told("nssavedconfig"));
    assert!(running.contains("\nadd lb vserver shop HTTP 127.0.0.1 8099\n"), "{running}");
    assert!(
        running.contains("\nadd service web2 127.0.0.1 HTTP 8002 -healthMonitor NO -state DISABLED\n"),
        "{running}"
    );
    assert!(saved.contains("\nbind lb vserver web web1 -weight 3\n") && !saved.contains("shop"), "{saved}");
    assert_eq!(rig.call("POST", "config/nsconfig?action=save", &json!({"nsconfig": {}})).1, 0);
    assert!(told("nssavedconfig").contains("add lb vserver shop"));
    assert_eq!(rig.call("DELETE", "config/nsrunningconfig", &json!({})).1, 257);
    let user = json!({"systemuser": {"username": "root", "password": "s3cret"}});
    assert_eq!(rig.call("POST", "config/systemuser", &user).1, 0);
    let named = |name: &str| vec![format!("X-NITRO-USER: {name}"), "X-NITRO-PASS: s3cret".to_owned()];
    let eve = json!({"systemuser": {"username": "eve", "password": "s3cret"}}).to_string();
    assert_eq!(rig.ask("POST /nitro/v1/config/systemuser", &named("root"), &eve).line, "201 Created");
    for of in ["nsrunningconfig", "NSsavedConfig"] {
        assert_eq!(rig.ask(&format!("GET /nitro/v1/config/{of}"), &named("root"), "").line, "200 OK", "{of}");
        assert_eq!(rig.ask(&format!("GET /nitro/v1/config/{of}"), &named("eve"), "").line, "403 Forbidden", "{of}");
    }
}

#[test]
fn what_is_saved_is_the_file_as_it_was_and_what_was_changed() {
    let text = format!("# ours\n{CONFIG}# the end\n");
    let rig = Rig::start(&text);
    let add = json!({"lbvserver": {"name": "shop", "servicetype": "HTTP", "ipv46": "127.0.0.1", "port": 8099}});
    assert_eq!(rig.call("POST", "config/lbvserver", &add).1, 0);
    assert_eq!(std::fs::read_to_string(rig.file()).unwrap(), text, "not saved yet");
    assert_eq!(rig.call("POST", "config/nsconfig?action=save", &json!({"nsconfig": {}})).1, 0);
    let saved = std::fs::read_to_string(rig.file()).unwrap();
    assert!(saved.starts_with("# ours\n") && saved.contains("[vserver.shop]\n"), "{saved}");
    assert!(saved.contains("services = { web1 = 3, web2 = 1 }\n"), "what was not touched stays as it was: {saved}");
    assert!(rig.dir.path().join("bascule.toml.1").exists());
}

#[test]
fn clients_that_add_at_once_lose_nothing() {
    let rig = Rig::start(CONFIG);
    std::thread::scope(|scope| {
        for client in 0..8 {
            let rig = &rig;
            scope.spawn(move || {
                for at in 0..4 {
                    let ip = format!("127.0.{client}.{}", at + 10);
                    let server = json!({"server": {"name": format!("s{client}-{at}"), "ipaddress": ip}});
                    let (line, code) = rig.call("POST", "config/server", &server);
                    assert_eq!((&line[..], code), ("201 Created", 0));
                }
            });
        }
    });
    assert_eq!(rig.get("config/server?count=yes")["server"][0]["__count"], 33);
}
