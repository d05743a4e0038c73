//! What a service manager hears of the process, and what it may ask of it: systemd's `Type=notify` and `ExecReload=`.

use std::io::IoSliceMut;
use std::mem::MaybeUninit;
use std::os::unix::net::UnixDatagram;
use std::time::Duration;

use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg, sockopt};

use super::box_under_test::Box;

const CONFIG: &str = "[vserver.web]\ntype = \"HTTP\"\naddress = \"127.0.0.1:0\"\n";

/// A manager's socket.
struct Manager {
    _dir: tempfile::TempDir,
    path: String,
    socket: UnixDatagram,
}

// === impl Manager ===

impl Manager {
    fn new() -> Manager {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("notify").display().to_string();
        let socket = UnixDatagram::bind(&path).expect("a socket");
        socket.set_read_timeout(Some(Duration::from_secs(20))).expect("a time-out");
        sockopt::set_socket_passcred(&socket, true).expect("senders are told");
        Manager { _dir: dir, path, socket }
    }

    /// Waits for a message with this line; answers the message.
    fn hears(&self, line: &str) -> String {
        loop {
            let (text, _) = self.next().unwrap_or_else(|error| panic!("no {line}: {error}"));
            if text.lines().any(|found| found == line) {
                return text;
            }
        }
    }

    /// The next message, and which process sent it.
    fn next(&self) -> rustix::io::Result<(String, i32)> {
        let (mut message, mut space) = ([0; 512], [MaybeUninit::uninit(); rustix::cmsg_space!(ScmCredentials(1))]);
        let mut control = RecvAncillaryBuffer::new(&mut space);
        // A signal to this process, of another test's child, ends no wait.
        let heard = rustix::io::retry_on_intr(|| {
            recvmsg(&self.socket, &mut [IoSliceMut::new(&mut message)], &mut control, RecvFlags::empty())
        })?;
        let sender = control.drain().find_map(|control| match control {
            RecvAncillaryMessage::ScmCredentials(sender) => Some(sender.pid.as_raw_nonzero().get()),
            _ => None,
        });
        Ok((String::from_utf8_lossy(&message[..heard.bytes]).into_owned(), sender.expect("the system says who")))
    }
}

#[test]
fn a_service_manager_is_told_of_the_start_of_life_and_of_the_stop() {
    let manager = Manager::new();
    let environment = [("NOTIFY_SOCKET", &*manager.path), ("WATCHDOG_USEC", "300000")];
    let mut box_ = Box::start_with_environment(&environment, CONFIG);
    let told = manager.hears("READY=1");
    assert!(told.contains("STATUS=1 vservers listen"), "{told}");
    // It goes on giving signs of life.
    for _ in 0..3 {
        manager.hears("WATCHDOG=1");
    }
    assert_eq!(box_.stop(), 0);
    manager.hears("STOPPING=1");
}

#[test]
fn a_service_manager_hears_of_the_next_process_before_that_gives_a_sign_of_life_and_only_of_it_from_then_on() {
    for _ in 0..5 {
        let manager = Manager::new();
        // Signs so often that one is about to be given whenever the next process is named.
        let environment = [("NOTIFY_SOCKET", &*manager.path), ("WATCHDOG_USEC", "30000")];
        let mut box_ = Box::start_with_environment(&environment, CONFIG);
        manager.hears("READY=1");
        let state = box_.path("state").display().to_string();
        let before = box_.pid();
        // The socket keeps few messages, and whoever sends more waits.
        let heard = std::thread::scope(|scope| {
            let hearing = scope.spawn(|| {
                let mut all = vec![manager.next().expect("a sign of life")];
                let named = |all: &[(String, i32)]| all.iter().position(|(text, _)| text.starts_with("MAINPID="));
                while named(&all).is_none_or(|at| all.len() < at + 50) {
                    all.push(manager.next().expect("a sign of life"));
                }
                all
            });
            let (status, text) = box_.run(&["handover", "--state", &state]);
            assert_eq!(status, 0, "{text}");
            hearing.join().expect("it hears")
        });
        assert_eq!(box_.handed_over(), 0);
        let at = heard.iter().position(|(text, _)| text.starts_with("MAINPID=")).expect("it is named");
        let heir = i32::try_from(box_.heir()).expect("a number of a process");
        assert_eq!(heard[at].0.trim(), format!("MAINPID={heir}"));
        let (old, new) = (heard[..=at].iter(), heard[at + 1..].iter());
        assert!(old.clone().all(|(_, sender)| i64::from(*sender) == i64::from(before)), "{heard:?}");
        assert!(new.clone().all(|(_, sender)| *sender == heir), "{heard:?}");
        assert!(heard.iter().all(|(text, _)| !text.contains("STOPPING")), "{heard:?}");
    }
}

#[test]
fn a_process_that_stands_still_gives_no_sign_of_life() {
    let manager = Manager::new();
    let environment = [("NOTIFY_SOCKET", &*manager.path), ("WATCHDOG_USEC", "300000")];
    let box_ = Box::start_with_environment(&environment, CONFIG);
    manager.hears("WATCHDOG=1");
    box_.signal("STOP");
    // What was said before; then nothing for longer than the manager allows.
    manager.socket.set_read_timeout(Some(Duration::from_millis(600))).expect("a time-out");
    let before = std::iter::from_fn(|| manager.next().ok()).take(20).count();
    assert!(before < 20, "it goes on");
    box_.signal("CONT");
    manager.hears("WATCHDOG=1");
}

#[test]
fn a_reload_is_over_once_it_carries_traffic_and_fails_with_what_is_wrong() {
    let box_ = Box::start(CONFIG);
    let state = box_.path("state").display().to_string();
    let reload = || box_.run(&["reload", "--state", &state]);
    let more = format!("{CONFIG}[vserver.more]\ntype = \"HTTP\"\naddress = \"127.0.0.1:0\"\n");
    std::fs::write(box_.path("box.toml"), &more).expect("it is written");
    let (code, told) = reload();
    assert_eq!(code, 0, "{told}");
    assert!(told.contains("more"), "it says what has changed: {told}");
    assert_eq!(box_.get("/vservers")["items"].as_array().map(Vec::len), Some(2));

    std::fs::write(box_.path("box.toml"), more.replace("\"HTTP\"", "\"HTPT\"")).expect("it is written");
    let (code, told) = reload();
    assert_eq!(code, 1, "{told}");
    assert!(told.contains("HTPT") && told.contains("nothing is changed"), "{told}");
    assert_eq!(box_.get("/vservers")["items"].as_array().map(Vec::len), Some(2));
}
