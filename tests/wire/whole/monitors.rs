//! Monitors in the running program: scripts beside the configuration, loads, user traffic, and what people disable.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use super::box_under_test::{Box, http, within};

const SECOND: Duration = Duration::from_secs(1);

/// A server that answers probes with 200, `/load` with a number, and users with 500.
fn back_end() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || serve(stream));
        }
    });
    address
}

fn serve(mut stream: TcpStream) {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte) {
            Ok(1) => head.push(byte[0]),
            _ => return,
        }
    }
    let (status, body) = match &head {
        head if head.starts_with(b"GET /load ") => ("200 OK", "{\"load\": 37}"),
        head if head.starts_with(b"GET /probe ") => ("200 OK", ""),
        _ => ("500 Broken", ""),
    };
    let length = body.len();
    let _ = write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}");
}

fn config(back_end: SocketAddr) -> String {
    format!(
        r#"
        [monitors]
        scripts = "scripts"
        [defaults.monitor]
        interval = "200ms"
        response_timeout = "150ms"
        down_time = "30s"
        [monitor.script]
        type = "USER"
        script_name = "check"
        script_args = ["deep"]
        retries = 1
        [monitor.load]
        type = "LOAD"
        request = "GET /load"
        json_pointer = "/load"
        [monitor.users]
        type = "HTTP-INLINE"
        request = "GET /probe"
        retries = 2
        [defaults.service]
        type = "HTTP"
        [service.scripted]
        address = "{back_end}"
        monitors = {{ script = 1, load = {{ passive = true }} }}
        [service.inline]
        address = "{back_end}"
        monitors = ["users"]
        [service_group.group]
        type = "HTTP"
        monitors = ["script"]
        member.one = {{ address = "{back_end}" }}
        member.two = {{ address = "{back_end}" }}
        [vserver.scripted]
        type = "HTTP"
        address = "127.0.0.1:0"
        services = ["scripted"]
        groups = ["group"]
        [vserver.inline]
        type = "HTTP"
        address = "127.0.0.1:0"
        services = ["inline"]
        "#
    )
}

fn write_script(appliance: &Box, text: &str) {
    let folder = appliance.path("scripts");
    std::fs::create_dir_all(&folder).expect("a folder");
    // Written aside and moved, so that no probe finds half of it.
    let (aside, script) = (folder.join("aside"), folder.join("check"));
    std::fs::write(&aside, text).expect("a script");
    std::fs::set_permissions(&aside, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    std::fs::rename(aside, script).expect("a script");
}

fn shell(appliance: &Box, line: &str) -> (i32, String) {
    let state = appliance.path("state");
    appliance.run(&["shell", "--state", state.to_str().expect("a path"), "-c", line])
}

fn monitor(appliance: &Box, service: &str, name: &str) -> serde_json::Value {
    let shown = appliance.get(&format!("/services/{service}"));
    let monitors = shown["monitors"].as_array().expect("a list");
    monitors.iter().find(|m| m["name"] == name).expect("it is bound").clone()
}

#[test]
fn a_script_beside_the_configuration_decides_and_a_person_can_take_it_out_of_the_decision() {
    let back_end = back_end();
    let appliance = Box::start(&config(back_end));
    assert_eq!(appliance.service_state("scripted"), "UNKNOWN", "there is no script yet, which says nothing");
    write_script(&appliance, "#!/bin/sh\n[ \"$3\" = deep ] && echo \"all is well at $1:$2\"\n");
    appliance.expect_service("scripted", "UP", SECOND * 10);
    let said = monitor(&appliance, "scripted", "script")["last_response"].as_str().unwrap_or_default().to_owned();
    assert!(said.contains(&format!("all is well at {back_end}")), "{said}");
    within(SECOND * 10, "the load is heard", || monitor(&appliance, "scripted", "load")["load"] == 37);
    assert_eq!(monitor(&appliance, "scripted", "load")["passive"], true);

    write_script(&appliance, "#!/bin/sh\necho broken\nexit 1\n");
    for service in ["scripted", "group%2Fone", "group%2Ftwo"] {
        within(SECOND * 10, "the script takes it down", || {
            appliance.get(&format!("/services/{service}"))["state"] == "DOWN"
        });
    }
    let (code, out) = shell(&appliance, "disable lb monitor scripted script -reason test");
    assert_eq!(code, 0, "{out}");
    appliance.expect_service("scripted", "UP", SECOND);
    let shown = monitor(&appliance, "scripted", "script");
    assert_eq!((&shown["admin"], &shown["disabled_by"]["reason"]), (&"DISABLED".into(), &"test".into()), "{shown}");
    let (_, out) = shell(&appliance, "show service scripted");
    assert!(out.contains("State: DISABLED\tWeight: 1\tPassive: 0") && out.contains("Load: 37"), "{out}");

    // Of all members of a group at once.
    let (code, out) = shell(&appliance, "disable lb monitor group");
    assert_eq!(code, 0, "{out}");
    for member in ["one", "two"] {
        let path = format!("/services/group%2F{member}");
        within(SECOND, "nothing decides any more", || appliance.get(&path)["state"] == "UP");
    }
    let (code, out) = shell(&appliance, "enable lb monitor scripted script");
    assert_eq!(code, 0, "{out}");
    appliance.expect_service("scripted", "DOWN", SECOND * 10);
    let (code, out) = shell(&appliance, "disable lb monitor scripted nobody");
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("[monitorName, nobody]: it is not bound to scripted"), "{out}");
    let (status, _) = appliance.send("POST", "/checks/scripted:script/disable", r#"{"reason": "again"}"#);
    assert_eq!(status, 200);
}

#[test]
fn what_users_get_takes_a_service_down_that_answers_every_probe() {
    let back_end = back_end();
    let appliance = Box::start(&config(back_end));
    appliance.expect_service("inline", "UP", SECOND * 10);
    // Without users a request of our own is the sample.
    within(SECOND * 10, "it is probed", || monitor(&appliance, "inline", "users")["samples_total"].as_u64() > Some(3));
    assert_eq!(monitor(&appliance, "inline", "users")["failed_total"], 0);
    let vip = appliance.vip("inline");
    within(SECOND * 10, "users take it down", || {
        let _ = http(vip, "GET", "/", "", &[]);
        appliance.service_state("inline") == "DOWN"
    });
    let said = monitor(&appliance, "inline", "users")["last_error"].as_str().unwrap_or_default().to_owned();
    assert!(said.contains("answers to users were not accepted, the last was 500"), "{said}");
}
