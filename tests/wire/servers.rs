//! Real servers as private instances: each in a folder of its own, on a port of its own, gone with its value. The packages
//! come with `scripts/install-prerequisites`.
#![allow(dead_code, reason = "shared by tests of probes and of vservers")]

#[path = "servers/databases.rs"]
mod databases;
#[path = "servers/names.rs"]
mod names;
#[path = "servers/others.rs"]
mod others;

use std::fs;
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::ports::free_port;

pub use databases::{mariadb, postgresql, redis};
pub use names::{knot_with, nsd_with};
pub use others::{dovecot, freeradius, mosquitto, nginx, slapd, vsftpd};

/// Users and passwords at all of them.
pub const USER: &str = "probe";
pub const PASSWORD: &str = "s3cret word";

/// How long a server may take to begin, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server that runs as long as this value.
pub struct Server {
    child: Child,
    pub at: SocketAddr,
    folder: tempfile::TempDir,
}

// === impl Server ===

impl Server {
    /// Starts `command`, whose files are in `folder`, and waits until it takes connections.
    fn start(folder: tempfile::TempDir, port: u16, command: &mut Command) -> Server {
        let log = fs::File::create(folder.path().join("log")).unwrap();
        let child = command
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            // One group, so that what it forks goes with it.
            .process_group(0)
            .spawn()
            .unwrap_or_else(|error| panic!("{command:?}: {error}; run scripts/install-prerequisites"));
        let mut server = Server { child, at: SocketAddr::from(([127, 0, 0, 1], port)), folder };
        let begun = Instant::now();
        while TcpStream::connect_timeout(&server.at, Duration::from_secs(1)).is_err() {
            let ended = server.child.try_wait().unwrap();
            if ended.is_some() || begun.elapsed() > PATIENCE {
                panic!("{command:?} does not listen ({ended:?}):\n{}", server.log());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        server
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// What it wrote.
    pub fn log(&self) -> String {
        String::from_utf8_lossy(&fs::read(self.folder.path().join("log")).unwrap_or_default()).into_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let group = nix::unistd::Pid::from_raw(self.child.id() as i32);
        let _ = nix::sys::signal::killpg(group, nix::sys::signal::Signal::SIGKILL);
        let _ = self.child.wait();
    }
}

/// A folder that every user may enter.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

/// Runs to its end, which must be a good one.
fn run(command: &mut Command) {
    let output = command.stdin(Stdio::null()).output();
    let output = output.unwrap_or_else(|error| panic!("{command:?}: {error}; run scripts/install-prerequisites"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Numbers of a user, where we are root and may become it; servers that refuse to be root run as theirs.
fn ids_of(user: &str) -> Option<(u32, u32)> {
    if !is_root() {
        return None;
    }
    let users = fs::read_to_string("/etc/passwd").unwrap();
    let line = users.lines().find(|line| line.split(':').next() == Some(user));
    let line = line.unwrap_or_else(|| panic!("there is no user {user}; run scripts/install-prerequisites"));
    let mut numbers = line.split(':').skip(2).map(|number| number.parse().unwrap());
    Some((numbers.next().unwrap(), numbers.next().unwrap()))
}

/// Whether servers can be started that must be root.
pub fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|about| std::os::unix::fs::MetadataExt::uid(&about) == 0)
}

/// `command`, as `user` where we are root.
fn as_user(program: impl AsRef<std::ffi::OsStr>, user: &str) -> Command {
    let mut command = Command::new(program);
    if let Some((uid, gid)) = ids_of(user) {
        command.uid(uid).gid(gid);
    }
    command
}

fn give_to(path: &Path, user: &str) {
    if let Some((uid, gid)) = ids_of(user) {
        chown(path, Some(uid), Some(gid)).unwrap();
    }
}

/// A certificate for 127.0.0.1 and its key, as files that belong to `user`.
fn certificate(folder: &Path, user: &str) -> (PathBuf, PathBuf) {
    let issued = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap();
    let (cert, key) = (folder.join("cert.pem"), folder.join("key.pem"));
    fs::write(&cert, issued.cert.pem()).unwrap();
    fs::write(&key, issued.signing_key.serialize_pem()).unwrap();
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    give_to(&cert, user);
    give_to(&key, user);
    (cert, key)
}
