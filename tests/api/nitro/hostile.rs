//! What clients must not be able to do: every case answers the right number and changes nothing.

use serde_json::json;

use super::rig::{CONFIG, Rig, hash};

fn with_users() -> Rig {
    let user = |name: &str, role: &str| {
        format!("[admin.user.{name}]\nrole = \"{role}\"\npassword_hash = \"{}\"\n", hash(name.as_bytes()))
    };
    let users = user("nsroot", "superuser") + &user("oper", "operator") + &user("guest", "read-only");
    Rig::start(&format!("{CONFIG}{users}"))
}

fn as_user(name: &str) -> Vec<String> {
    vec![format!("X-NITRO-USER: {name}"), format!("X-NITRO-PASS: {name}")]
}

#[test]
fn a_body_that_cannot_be_meant_is_refused_and_changes_nothing() {
    let rig = Rig::start(CONFIG);
    let before = rig.running();
    let deep = format!("{{\"lbvserver\":{}1{}}}", "[".repeat(5_000), "]".repeat(5_000));
    for body in [
        "",
        "{",
        "[]",
        "null",
        "\"lbvserver\"",
        "{\"lbvserver\":1}",
        "{\"lbvserver\":[1]}",
        "{\"lbvserver\":{\"name\":\"x\",\"name\":\"y\",\"servicetype\":\"HTTP\"}}",
        "{\"lbvserver\":{\"name\":{\"a\":1},\"servicetype\":\"HTTP\"}}",
        "{\"lbvserver\":{\"name\":[[\"x\"]],\"servicetype\":\"HTTP\"}}",
        "{\"lbvserver\":{\"name\":\"\",\"servicetype\":\"HTTP\"}}",
        "{\"lbvserver\":{\"name\":\"x\\r\\ny\",\"servicetype\":\"HTTP\"}}",
        "{\"lbvserver\":{\"name\":\"x\",\"servicetype\":true}}",
        "{\"lbvserver\":{\"name\":\"x\",\"servicetype\":\"HTTP\",\"port\":70000,\"ipv46\":\"127.0.0.1\"}}",
        "{\"lbvserver\":{\"name\":\"x\",\"servicetype\":\"HTTP\",\"port\":-1,\"ipv46\":\"127.0.0.1\"}}",
        "{\"lbvserver\":{\"name\":\"x\",\"servicetype\":\"HTTP\",\"ipv46\":\"not an address\",\"port\":80}}",
        "{\"lbvserver\":{\"name\":\"x\",\"servicetype\":\"HTTP\",\"timeout\":\"99999999999999999999\"}}",
        "{\"lbvserver\":{\"name\":\"x\",\"servicetype\":\"HTTP\"},\"service\":{\"name\":\"y\"}}",
        "{\"params\":3,\"lbvserver\":{\"name\":\"x\",\"servicetype\":\"HTTP\"}}",
        "object=%7B",
        "name=x&servicetype=HTTP",
        &deep,
    ] {
        let answer = rig.ask("POST /nitro/v1/config/lbvserver", &[], body);
        assert!(answer.line.starts_with("400") || answer.line.starts_with("599"), "{body:.80}: {answer:?}");
        let code = answer.json()["errorcode"].as_u64().unwrap();
        assert!(code > 0 && code != 1043, "{body:.80}: {code}");
    }
    assert_eq!(rig.running(), before);
}

#[test]
fn a_body_that_is_too_long_is_not_read() {
    let rig = Rig::start(CONFIG);
    let before = rig.running();
    let long = format!("{{\"lbvserver\":{{\"name\":\"{}\"}}}}", "x".repeat(5 << 20));
    let answer = rig.ask("POST /nitro/v1/config/lbvserver", &[], &long);
    assert!(answer.line.is_empty() || answer.line.starts_with("413"), "{}", answer.line);
    // Somebody who is not known is heard for less.
    let rig_with_users = with_users();
    let long = format!("{{\"login\":{{\"username\":\"{}\"}}}}", "x".repeat(20 << 10));
    let answer = rig_with_users.ask("POST /nitro/v1/config/login", &[], &long);
    assert!(answer.line.starts_with("413"), "{}", answer.line);
    assert_eq!(rig.running(), before);
}

#[test]
fn no_path_and_no_name_leads_out_or_begins_a_header() {
    let rig = Rig::start(CONFIG);
    for path in [
        "config/systemfile/..%2f..%2fetc%2fpasswd",
        "config/systemfile/%252e%252e%252fbascule.toml",
        "config/systemfile/x?args=filelocation:%2Fetc",
        "config/systemfile?args=filelocation:%2Fnsconfig%2Fssl%2F..%2F..",
        "config/lbvserver/x%0d%0aSet-Cookie:%20a=b",
        "config/lbvserver/%250d%250aSet-Cookie:%20a=b",
        "config/lbvserver?filter=name:%0d%0ax",
        "config/../../api/v1/config",
        "stat/%2e%2e",
    ] {
        let answer = rig.ask(&format!("GET /nitro/v1/{path}"), &[], "");
        assert!(answer.line.starts_with('4'), "{path}: {}", answer.line);
        assert!(!answer.head.contains("a=b") && !answer.body.contains("root:"), "{path}: {answer:?}");
    }
    for (name, location) in
        [("../x", "/nsconfig/ssl"), ("x", "/nsconfig/ssl/../.."), ("x", "/etc"), (".x", "/nsconfig/ssl")]
    {
        let file = json!({"systemfile": {"filename": name, "filelocation": location, "filecontent": "eA=="}});
        assert_ne!(rig.call("POST", "config/systemfile", &file).1, 0, "{name} {location}");
    }
    assert!(!rig.dir.path().join("x").exists() && !rig.dir.path().join("ssl/x").exists());
}

#[test]
fn guesses_close_the_door_for_a_while_by_whichever_way_they_come() {
    let rig = with_users();
    let login = |password: &str| {
        let body = json!({"login": {"username": "nsroot", "password": password}}).to_string();
        rig.ask("POST /nitro/v1/config/login", &[], &body)
    };
    // The tenth closes the door.
    for at in 0..9 {
        let answer = if at % 2 == 0 {
            login("wrong")
        } else {
            let fields = vec!["X-NITRO-USER: nsroot".to_owned(), "X-NITRO-PASS: wrong".to_owned()];
            rig.ask("GET /nitro/v1/config/lbvserver", &fields, "")
        };
        assert_eq!((&answer.line[..3], answer.json()["errorcode"].as_u64()), ("401", Some(354)), "{at}");
    }
    assert_eq!(login("wrong").json()["errorcode"].as_u64(), Some(354));
    let answer = login("nsroot");
    assert_eq!((&answer.line[..3], answer.json()["errorcode"].as_u64()), ("429", Some(354)), "{answer:?}");
    assert!(answer.field("retry-after").parse::<u64>().is_ok());
    assert!(rig.ask("GET /nitro/v1/config/lbvserver", &as_user("oper"), "").line.starts_with("200"));
}

#[test]
fn a_page_of_another_site_and_a_foreign_name_of_the_host_are_refused() {
    let rig = Rig::start(CONFIG);
    let before = rig.running();
    let body = json!({"lbvserver": {"name": "x", "servicetype": "HTTP"}}).to_string();
    for field in ["Origin: https://evil.example", "Origin: null", "Sec-Fetch-Site: cross-site"] {
        let answer = rig.ask("POST /nitro/v1/config/lbvserver", &[field.to_owned()], &body);
        assert_eq!((&answer.line[..3], answer.json()["errorcode"].as_u64()), ("403", Some(257)), "{field}");
        let cleared = rig.ask("GET /nitro/v1/stat/lbvserver?args=clearstats:full", &[field.to_owned()], "");
        assert_eq!(&cleared.line[..3], "403", "what is got and changes something: {field}");
    }
    let login = json!({"login": {"username": "a", "password": "b"}}).to_string();
    let answer = rig.ask("POST /nitro/v1/config/login", &["Origin: https://evil.example".to_owned()], &login);
    assert_eq!(&answer.line[..3], "403");
    let answer = rig.raw("GET /nitro/v1/config/lbvserver HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n");
    assert_eq!((&answer.line[..3], answer.json()["errorcode"].as_u64()), ("403", Some(257)));
    assert_eq!(rig.running(), before);
}

#[test]
fn a_cookie_that_another_site_sends_along_is_not_enough() {
    let rig = with_users();
    let login = json!({"login": {"username": "nsroot", "password": "nsroot"}}).to_string();
    let answer = rig.ask("POST /nitro/v1/config/login", &[], &login);
    assert!(answer.field("set-cookie").contains("SameSite=Strict") && answer.field("set-cookie").contains("HttpOnly"));
    let cookie = format!("Cookie: NITRO_AUTH_TOKEN={}", answer.json()["sessionid"].as_str().unwrap());
    let body = json!({"lbvserver": {"name": "web"}}).to_string();
    let foreign = vec![cookie.clone(), "Origin: https://evil.example".to_owned()];
    let disable = "POST /nitro/v1/config/lbvserver?action=disable";
    assert_eq!(&rig.ask(disable, &foreign, &body).line[..3], "403");
    assert_eq!(&rig.ask(disable, &[cookie], &body).line[..3], "200");
}

#[test]
fn every_role_may_do_what_it_may() {
    let rig = with_users();
    let act = json!({"service": {"name": "web1"}}).to_string();
    let add = json!({"server": {"name": "s9", "ipaddress": "127.0.0.9"}}).to_string();
    let feature = json!({"nsfeature": {"feature": ["LB"]}}).to_string();
    for (user, request, body, code) in [
        ("guest", "GET /nitro/v1/config/lbvserver", "", 0),
        ("guest", "GET /nitro/v1/stat/lbvserver", "", 0),
        ("guest", "POST /nitro/v1/config/service?action=disable", &act[..], 2138),
        ("guest", "POST /nitro/v1/config/server", &add, 2138),
        ("guest", "DELETE /nitro/v1/config/service/web1", "", 2138),
        ("oper", "POST /nitro/v1/config/service?action=disable", &act, 0),
        ("oper", "POST /nitro/v1/config/service?action=enable", &act, 0),
        ("oper", "POST /nitro/v1/config/server", &add, 2138),
        ("oper", "POST /nitro/v1/config/nsfeature?action=disable", &feature, 2138),
        ("oper", "POST /nitro/v1/config/nsconfig?action=save", "{\"nsconfig\":{}}", 2138),
        ("oper", "POST /nitro/v1/config/systemfile", "{\"systemfile\":{\"filename\":\"x\"}}", 2138),
        ("oper", "POST /nitro/v1/config/nsconfig?action=clear", "{\"nsconfig\":{\"level\":\"basic\"}}", 2138),
        ("nsroot", "POST /nitro/v1/config/server", &add, 0),
    ] {
        let answer = rig.ask(request, &as_user(user), body);
        assert_eq!(answer.json()["errorcode"].as_u64(), Some(code), "{user} {request}: {answer:?}");
        assert_eq!(answer.line.starts_with("403"), code == 2138, "{user} {request}");
    }
    // Where tokens stand, only those look who may set them.
    let monitor =
        json!({"lbmonitor": {"monitorname": "m9", "type": "HTTP", "customheaders": "X-Key: told-to-few\\r\\n"}});
    assert_eq!(&rig.ask("POST /nitro/v1/config/lbmonitor", &as_user("nsroot"), &monitor.to_string()).line[..3], "201");
    for (user, sees) in [("guest", false), ("oper", false), ("nsroot", true)] {
        for path in ["lbmonitor", "lbmonitor/m9"] {
            let answer = rig.ask(&format!("GET /nitro/v1/config/{path}"), &as_user(user), "");
            assert_eq!(answer.body.contains("told-to-few"), sees, "{user} {path}: {answer:?}");
        }
    }
    // The journal tells who, and that it was NITRO.
    let journal = rig.ask("GET /api/v1/journal?kind=act", &["Authorization: Basic bnNyb290Om5zcm9vdA==".into()], "");
    let entry = journal.json()["items"].as_array().unwrap().last().cloned().unwrap();
    assert!(entry.to_string().contains("NITRO tcp 127.0.0.1") && entry["actor"] == "admin:oper", "{entry}");
}

#[test]
fn a_session_dies_with_the_users_role() {
    let rig = with_users();
    let login = json!({"login": {"username": "oper", "password": "oper"}}).to_string();
    let answer = rig.ask("POST /nitro/v1/config/login", &[], &login);
    let cookie = vec![format!("Cookie: NITRO_AUTH_TOKEN={}", answer.json()["sessionid"].as_str().unwrap())];
    assert!(rig.ask("GET /nitro/v1/config/lbvserver", &cookie, "").line.starts_with("200"));
    let basic = "Authorization: Basic bnNyb290Om5zcm9vdA==".to_owned();
    let toml = rig.ask("GET /api/v1/config", std::slice::from_ref(&basic), "").body;
    let changed = toml.replace("role = \"operator\"", "role = \"read-only\"");
    assert_ne!(changed, toml);
    let put = rig.ask("PUT /api/v1/config", &[basic, "Content-Type: application/toml".to_owned()], &changed);
    assert!(put.line.starts_with("200"), "{put:?}");
    let answer = rig.ask("GET /nitro/v1/config/lbvserver", &cookie, "");
    assert_eq!((&answer.line[..3], answer.json()["errorcode"].as_u64()), ("401", Some(444)));
}
