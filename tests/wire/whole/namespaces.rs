//! Hosts with networks of their own on one machine: network namespaces, joined by bridges.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::Mutex;

use super::tcpdump::Capture;

/// A front network (10.77.0.0/24, 2001:db8:77::/64) and a back network (10.77.1.0/24), and hosts on them. They go with
/// it.
pub struct Networks {
    prefix: String,
    hosts: Vec<String>,
}

/// A web server that writes down who asks for what.
pub struct Server {
    asked: Arc<Mutex<BTreeMap<String, Vec<IpAddr>>>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Whether this process may make networks of its own. Where it may not, it says so aloud, past the tests' own output;
/// where it may, everything else has to be there, and a test that cannot go on fails.
pub fn can_be_made(test: &str) -> bool {
    let may = || nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWNET).is_ok();
    if nix::unistd::geteuid().is_root() && std::thread::spawn(may).join().is_ok_and(|may| may) {
        return true;
    }
    let _ = writeln!(std::io::stderr(), "\nSKIPPED: {test}: it needs root and network namespaces\n");
    false
}

/// Runs `act` in a namespace: sockets that it opens stay there, wherever they are used.
pub fn within<T: Send>(namespace: &str, act: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let inside = scope.spawn(|| {
            let file = File::open(format!("/run/netns/{namespace}")).expect("the namespace is there");
            nix::sched::setns(file, nix::sched::CloneFlags::CLONE_NEWNET).expect("the namespace can be entered");
            act()
        });
        inside.join().expect("it does not panic")
    })
}

fn ip(arguments: &[&str]) {
    let done = Command::new("ip").args(arguments).output().expect("scripts/install-prerequisites installs ip");
    assert!(done.status.success(), "ip {arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
}

// === impl Networks ===

impl Networks {
    /// Bridges alone.
    pub fn new() -> Networks {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let prefix = format!("bsc-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let mut networks = Networks { prefix, hosts: Vec::new() };
        let switch = networks.namespace("sw");
        for bridge in ["front", "back"] {
            ip(&["-n", &switch, "link", "add", bridge, "type", "bridge", "forward_delay", "0", "mcast_snooping", "0"]);
            ip(&["-n", &switch, "link", "set", bridge, "up"]);
        }
        networks
    }

    fn namespace(&mut self, host: &str) -> String {
        let name = self.name(host);
        ip(&["netns", "add", &name]);
        self.hosts.push(host.to_owned());
        ip(&["-n", &name, "link", "set", "lo", "up"]);
        name
    }

    /// The namespace of a host.
    pub fn name(&self, host: &str) -> String {
        format!("{}-{host}", self.prefix)
    }

    /// Adds a host. `links`: its interfaces with the bridge and the addresses of each.
    pub fn host(&mut self, host: &str, links: &[(&str, &str, &[&str])]) {
        let name = self.namespace(host);
        for (interface, bridge, addresses) in links {
            self.link(host, interface, bridge);
            for address in *addresses {
                let free: &[&str] = if address.contains(':') { &["nodad"] } else { &[] };
                ip(&[&["-n", &name, "addr", "add", address, "dev", interface], free].concat());
            }
        }
    }

    fn link(&self, host: &str, interface: &str, bridge: &str) {
        let (switch, name) = (self.name("sw"), self.name(host));
        let port = format!("{host}-{bridge}");
        ip(&["-n", &switch, "link", "add", &port, "type", "veth", "peer", "name", interface, "netns", &name]);
        ip(&["-n", &switch, "link", "set", &port, "master", bridge]);
        ip(&["-n", &switch, "link", "set", &port, "up"]);
        ip(&["-n", &name, "link", "set", interface, "up"]);
    }

    /// Removes an interface, and makes it again, without addresses.
    pub fn remake(&self, host: &str, interface: &str, bridge: &str) {
        ip(&["-n", &self.name(host), "link", "del", interface]);
        self.link(host, interface, bridge);
    }

    /// Addresses on an interface of a host, with their prefixes, as `ip` prints them.
    pub fn addresses(&self, host: &str, interface: &str) -> Vec<String> {
        let done = Command::new("ip")
            .args(["-n", &self.name(host), "-o", "addr", "show", "dev", interface])
            .output()
            .expect("ip is there");
        let text = String::from_utf8_lossy(&done.stdout).into_owned();
        text.lines().filter_map(|line| line.split_whitespace().nth(3).map(str::to_owned)).collect()
    }

    pub fn mac(&self, host: &str, interface: &str) -> String {
        let path = format!("/sys/class/net/{interface}/address");
        let done = Command::new("ip").args(["netns", "exec", &self.name(host), "cat", &path]).output();
        String::from_utf8_lossy(&done.expect("ip is there").stdout).trim().to_owned()
    }

    /// The body that a host gets from a web server, or why it gets none.
    pub fn fetch(&self, host: &str, from: &str) -> Result<String, String> {
        let from: SocketAddr = from.parse().expect("an address");
        let ask = || {
            let answer = super::box_under_test::http(from, "GET", "/page", "", &[]).map_err(|e| e.to_string())?;
            if answer.status == 200 { Ok(answer.body) } else { Err(answer.status.to_string()) }
        };
        within(&self.name(host), ask)
    }

    /// Reads what passes an interface of a host, until dropped. `filter`: as `tcpdump` takes it.
    pub fn capture(&self, host: &str, interface: &str, filter: &str) -> Capture {
        Capture::start(&self.name(host), interface, filter)
    }

    /// Has a host send to `to` by an interface, without a gateway.
    pub fn route(&self, host: &str, to: &str, interface: &str) {
        ip(&["-n", &self.name(host), "route", "add", to, "dev", interface]);
    }

    /// Carries out `arguments` of `ip` on a host.
    pub fn ip(&self, host: &str, arguments: &[&str]) {
        ip(&[&["-n", &self.name(host)], arguments].concat());
    }

    /// A web server on a host; it answers with the name of the host.
    pub fn serve(&self, host: &str, at: &str) -> Server {
        let listener = within(&self.name(host), || TcpListener::bind(at).expect("it listens"));
        listener.set_nonblocking(true).expect("it does not block");
        let asked = Arc::new(Mutex::new(BTreeMap::new()));
        let stop = Arc::new(AtomicBool::new(false));
        let (into, stopped, name) = (Arc::clone(&asked), Arc::clone(&stop), host.to_owned());
        let thread = std::thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                match listener.accept() {
                    Ok((stream, from)) => answer(stream, from.ip(), &name, &into),
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {
                        std::thread::sleep(Duration::from_millis(2));
                    }
                    Err(_) => return,
                }
            }
        });
        Server { asked, stop, thread: Some(thread) }
    }
}

/// One request on a connection.
fn answer(mut stream: TcpStream, from: IpAddr, name: &str, asked: &Mutex<BTreeMap<String, Vec<IpAddr>>>) {
    let _ = stream.set_nonblocking(false);
    let _ = stream.set_read_timeout(Some(Duration::from_secs(2)));
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|read| read == 1) {
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let Some(path) = head.split(' ').nth(1) else { return };
    asked.lock().entry(path.to_owned()).or_default().push(from);
    let length = name.len();
    let _ = stream.write_all(
        format!("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{name}").as_bytes(),
    );
}

impl Drop for Networks {
    fn drop(&mut self) {
        for host in self.hosts.iter().rev() {
            let _ = Command::new("ip").args(["netns", "del", &self.name(host)]).status();
        }
    }
}

// === impl Server ===

impl Server {
    /// Who has asked for `path` since the last call.
    pub fn take(&self, path: &str) -> Vec<IpAddr> {
        self.asked.lock().remove(path).unwrap_or_default()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().map(JoinHandle::join);
    }
}
