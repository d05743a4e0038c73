//! The program on a real terminal: what is pasted and typed ahead, keys, and the terminal left as it was.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use nix::pty::{Winsize, openpty};
use nix::sys::signal::{Signal, kill};
use nix::sys::termios::{Termios, tcgetattr};
use nix::unistd::Pid;

use super::appliance::Appliance;

/// A terminal with the program on it.
pub struct Console {
    child: Child,
    keyboard: File,
    /// Kept, so that the terminal outlives the program.
    line: OwnedFd,
    before: Termios,
    screen: Receiver<Vec<u8>>,
    /// Everything so far, without carriage returns.
    seen: String,
    home: tempfile::TempDir,
}

// === impl Console ===

impl Console {
    pub fn open(appliance: &Appliance, arguments: &[&str]) -> Console {
        let state = appliance.state.path().to_str().unwrap();
        Console::start(&[arguments, &["--state", state]].concat())
    }

    fn start(arguments: &[&str]) -> Console {
        let size = Winsize { ws_row: 30, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 };
        let pty = openpty(&size, None).unwrap();
        let before = tcgetattr(&pty.slave).unwrap();
        let end = || Stdio::from(pty.slave.try_clone().unwrap());
        let home = tempfile::tempdir().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_bascule"));
        command.args(arguments).env_remove("BASCULE_URL");
        command.env("HOME", home.path()).env("TERM", "xterm").stdin(end()).stdout(end()).stderr(end());
        let child = command.spawn().unwrap();
        let keyboard = File::from(pty.master);
        let mut output = keyboard.try_clone().unwrap();
        let (send, screen) = channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(read @ 1..) = output.read(&mut buffer) {
                if send.send(buffer[..read].to_vec()).is_err() {
                    break;
                }
            }
        });
        Console { child, keyboard, line: pty.slave, before, screen, seen: String::new(), home }
    }

    pub fn press(&mut self, text: &str) {
        self.keyboard.write_all(text.as_bytes()).unwrap();
    }

    /// What came up to `text`, which must come; it is not looked at again.
    pub fn waits_for(&mut self, text: &str) -> String {
        let deadline = Instant::now() + Duration::from_secs(90);
        loop {
            if let Some(at) = self.seen.find(text) {
                let rest = self.seen.split_off(at + text.len());
                return std::mem::replace(&mut self.seen, rest);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self.screen.recv_timeout(left) {
                Ok(bytes) => self.seen += &String::from_utf8_lossy(&bytes).replace('\r', ""),
                Err(_) => panic!("{text:?} did not come:\n{}", self.seen),
            }
        }
    }

    /// Whether keys are echoed and lines are kept together, as before.
    fn is_as_before(&self) -> bool {
        tcgetattr(&self.line).unwrap().local_flags == self.before.local_flags
    }

    /// Waits for the end by a signal, or with what a shell says of it.
    fn ends_by(mut self, signal: Signal) {
        let ended = self.child.wait().unwrap().code().unwrap_or(128 + signal as i32);
        assert!(self.is_as_before(), "the terminal is as it was");
        assert_eq!(ended, 128 + signal as i32, "{}", self.seen);
    }

    /// Waits for the end, with this exit code; -1: by a signal. What it left in its home.
    pub fn ends(mut self, code: i32) -> tempfile::TempDir {
        let ended = self.child.wait().unwrap().code();
        assert!(self.is_as_before(), "the terminal is as it was");
        assert_eq!(ended.unwrap_or(-1), code, "{}", self.seen);
        self.home
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_line_of_a_paste_is_carried_out_and_a_summary_tells_which_failed() {
    let appliance = Appliance::start();
    let mut console = Console::open(&appliance, &["shell"]);
    console.waits_for("> ");
    console.press(
        "\x1b[200~add server p1 192.0.2.1\r\nadd service s1 p1 HTTP 80\r\nadd server p1 192.0.2.9\r\n\
         # a comment\r\nadd lb vserver pasted HTTP\r\nbind lb vserver pasted nobody\r\nbind lb vserver pasted s1\x1b[201~",
    );
    console.press("\r");
    let told = console.waits_for("2 of 6 commands failed:\n");
    assert!(told.contains("> add server p1 192.0.2.1\n Done\n> add service s1 p1 HTTP 80\n"), "{told}");
    console.waits_for("\tline 3: add server p1 192.0.2.9\n\t\tERROR: Server already exists");
    console.waits_for("\tline 6: bind lb vserver pasted nobody\n");
    console.waits_for("> ");
    let members = appliance.get("/api/v1/vservers/pasted").await["members"].clone();
    assert_eq!(members[0]["service"], "s1", "{members}");
    console.press("set system user nobody s3cret-of-nobody\r");
    console.waits_for("ERROR: ");
    console.press("show switch drill\rquit\r");
    console.waits_for("drill\tValue: false\n Done\n");
    let home = console.ends(0);
    let history = std::fs::read_to_string(home.path().join(".bascule_history")).unwrap();
    assert!(!history.contains("s3cret"), "{history}");
    assert!(history.contains("add server p1 192.0.2.1\nadd service s1 p1 HTTP 80\n"), "{history}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn lines_that_are_typed_ahead_are_carried_out_in_order_and_none_is_lost() {
    let appliance = Appliance::start();
    let mut console = Console::open(&appliance, &["shell"]);
    console.waits_for("> ");
    // More than is read at once.
    let mut lines: Vec<String> =
        (1..=39).map(|at| format!("add server ahead{at:02} 192.0.2.{at} -state ENABLED\r")).collect();
    lines.insert(20, "add server app1 192.0.2.200\r".into());
    console.press(&lines.concat());
    console.waits_for("1 of 40 commands failed:\n\tline 21: add server app1 192.0.2.200\n");
    let servers = appliance.get("/api/v1/servers").await["items"].clone();
    let names = servers.as_array().unwrap().iter().filter_map(|server| server["name"].as_str());
    assert_eq!(names.filter(|name| name.starts_with("ahead")).count(), 39);
    // The end of the input is typed ahead as well.
    console.press("show switch drill\r\x04");
    console.waits_for("drill\tValue: false\n Done\n");
    console.ends(0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_is_bound_is_completed_with_tab_and_members_of_groups_are_not_offered() {
    let appliance = Appliance::start();
    let mut console = Console::open(&appliance, &["shell"]);
    console.waits_for("> ");
    console.press("add responder policy secure TRUE RESET\r");
    console.waits_for(" Done\n");
    console.press("bind lb vserver web -policyName \t-priority 5\r");
    console.waits_for("-policyName secure ");
    console.waits_for(" Done\n");
    console.press("unbind lb vserver web sp\t\r");
    // The group alone begins so; its members do not take part.
    console.waits_for("unbind lb vserver web spare ");
    console.press("quit\r");
    console.waits_for("quit");
    console.ends(0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn words_of_enumerations_and_names_are_completed_with_tab() {
    let appliance = Appliance::start();
    let mut console = Console::open(&appliance, &["shell"]);
    console.waits_for("> ");
    console.press("set lb vserver web -persistenceT\tCOOK\t-timeout 5\r");
    console.waits_for("-persistenceType COOKIEINSERT ");
    console.waits_for(" Done\n");
    assert_eq!(appliance.get("/api/v1/vservers/web").await["persistence"], "COOKIEINSERT");
    console.press("show switch dr\t\r");
    console.waits_for("drill\tValue: false\n Done\n");
    console.press("quit\r");
    console.ends(0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_shell_that_is_ended_by_a_signal_leaves_the_terminal_as_it_was() {
    let appliance = Appliance::start();
    let mut console = Console::open(&appliance, &["shell"]);
    console.waits_for("> ");
    assert!(!console.is_as_before());
    kill(Pid::from_raw(console.child.id().cast_signed()), Signal::SIGTERM).unwrap();
    console.ends(-1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_service_is_drained_and_enabled_by_the_keys_of_top() {
    let appliance = Appliance::start();
    let mut console = Console::open(&appliance, &["top", "--every", "500ms"]);
    console.waits_for("q quit");
    console.press("/web1\r");
    console.waits_for("/ filter (web1)");
    console.press("d");
    console.waits_for("drain web1: seconds");
    console.press("300\r");
    console.waits_for("TROFS (");
    console.waits_for("s left)");
    assert_eq!(appliance.get("/api/v1/services/web1").await["state"], "TROFS");
    console.press("e");
    console.waits_for("enable web1: done");
    assert_eq!(appliance.get("/api/v1/services/web1").await["state"], "UP");
    console.press("q");
    console.waits_for("\x1b[?25h\x1b[?1049l");
    console.ends(0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_top_that_is_ended_by_a_signal_leaves_the_terminal_as_it_was() {
    let appliance = Appliance::start();
    let mut console = Console::open(&appliance, &["top"]);
    console.waits_for("q quit");
    // Who runs the tests may ignore SIGINT, and then so do we until it comes.
    kill(Pid::from_raw(console.child.id().cast_signed()), Signal::SIGINT).unwrap();
    console.waits_for("\x1b[?25h\x1b[?1049l");
    console.ends_by(Signal::SIGINT);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_top_that_waits_for_a_box_that_says_nothing_tells_so_and_ends_with_q() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let mut console = Console::start(&["top", "--url", &url]);
    console.waits_for(&format!("asking {url}"));
    console.waits_for("no answer since ");
    console.press("q");
    console.waits_for("\x1b[?25h\x1b[?1049l");
    console.ends(0);
}
