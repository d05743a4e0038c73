//! `bascule nstrace`: the packets of both legs, clients to VIPs and the box to servers, into a file that Wireshark reads.
//!
//! The appliance is asked once for the addresses; the packets come from the kernel (AF_PACKET), on all interfaces, so the
//! command needs CAP_NET_RAW and says so where it has it not. The appliance itself does nothing, and needs no right that it
//! has not. Size and time are bounded. On a box under much load the kernel drops what this process does not take in time,
//! and nobody counts that.

mod packet;
mod pcapng;

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufWriter};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use nix::sys::socket::{LinkAddr, recvfrom};
use nix::sys::statvfs::{Statvfs, statvfs};
use serde_json::Value;
use socket2::{Domain, Protocol, Socket, Type};

use self::packet::Ends;
use super::args::{NstraceArgs, Target};
use super::client::{Client, runtime};
use super::{aside, fail, say};
use crate::model::capture::{BEGUN, KEEP_FREE};

/// Longest packet that is taken whole, with what the kernel joins to one. Bytes.
const PACKET_MOST: usize = 256 << 10;
/// What waits in the kernel while this process writes. Bytes.
const BUFFER: usize = 64 << 20;
/// How long a read waits before the time is looked at.
const LOOK: Duration = Duration::from_millis(200);
/// How the kernel marks what leaves (`PACKET_OUTGOING`).
const OUTGOING: u8 = 4;

/// Which packets are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Wanted {
    /// Either end is one of these; a VIP on all addresses has none. Empty: any.
    ends: BTreeSet<(Option<IpAddr>, u16)>,
    /// And either end has one of these. Empty: any.
    addresses: BTreeSet<IpAddr>,
    ports: BTreeSet<u16>,
}

/// What became of it.
#[derive(Debug, Default)]
struct Taken {
    packets: u64,
    bytes: u64,
    why: Ended,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Ended {
    #[default]
    Time,
    Size,
    Disk,
    Told,
}

/// When to end, beside an error.
struct Bounds<'a> {
    time: Duration,
    /// Of the file, in bytes.
    size: u64,
    /// Of each packet, in bytes.
    snap: usize,
    /// Whether the disk has room left.
    has_room: &'a dyn Fn() -> bool,
    /// Somebody has said that it is enough.
    told: &'a AtomicBool,
}

pub(super) fn run(args: &NstraceArgs) -> ExitCode {
    match traced(args) {
        Ok(taken) => {
            let why = match taken.why {
                Ended::Time => "the time is over",
                Ended::Size => "the file is as large as it may be",
                Ended::Disk => "the disk has little room left",
                Ended::Told => "it was stopped",
            };
            say(&format!("{}: {} packets, {} bytes; {why}", args.file.display(), taken.packets, taken.bytes));
            ExitCode::SUCCESS
        }
        Err(why) => fail(&format!("nstrace: {why}")),
    }
}

fn traced(args: &NstraceArgs) -> Result<Taken, String> {
    // First what may be missing altogether.
    let socket = open().map_err(|error| match error.kind() {
        io::ErrorKind::PermissionDenied => {
            "packets are not to be had without CAP_NET_RAW: run it as root, or with that capability".to_owned()
        }
        _ => format!("packets are not to be had: {error}"),
    })?;
    let wanted = wanted(args)?;
    let out = File::options().write(true).create_new(true).mode(0o600).open(&args.file);
    let out = out.map_err(|error| format!("{}: {error}", args.file.display()))?;
    let enough = Arc::new(AtomicBool::new(false));
    if args.attached {
        end_with_stdin(Arc::clone(&enough));
    }
    aside(&format!("{BEGUN}{:?}, at most {} MiB; what is traced may hold secrets of clients", args.time, args.size));
    let bounds = Bounds {
        time: args.time,
        size: args.size << 20,
        snap: if args.snap == 0 { PACKET_MOST } else { args.snap },
        has_room: &|| !args.attached || statvfs(&args.file).is_ok_and(|disk| free(&disk) >= KEEP_FREE),
        told: &enough,
    };
    take(&socket, &wanted, BufWriter::new(out), &bounds).map_err(|error| told(&args.file, &error))
}

fn free(disk: &Statvfs) -> u64 {
    disk.blocks_available().saturating_mul(disk.fragment_size())
}

/// Whoever started this one says by closing it that it is enough, and cannot help saying so when they are gone.
fn end_with_stdin(enough: Arc<AtomicBool>) {
    std::thread::spawn(move || {
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        enough.store(true, Ordering::Relaxed);
    });
}

fn told(file: &Path, error: &io::Error) -> String {
    format!("{}: {error}; what was written before it is there", file.display())
}

/// Whole IP packets of all interfaces, with what the link says of them.
fn open() -> io::Result<Socket> {
    let all = Protocol::from(i32::from(u16::try_from(libc::ETH_P_ALL).unwrap_or(3).to_be()));
    let socket = Socket::new(Domain::PACKET, Type::DGRAM, Some(all))?;
    let _ = socket.set_recv_buffer_size(BUFFER);
    socket.set_read_timeout(Some(LOOK))?;
    Ok(socket)
}

fn take(socket: &Socket, wanted: &Wanted, out: impl io::Write, bounds: &Bounds<'_>) -> io::Result<Taken> {
    let mut out = pcapng::Writer::new(out)?;
    let (begun, mut taken, mut packet) = (Instant::now(), Taken::default(), vec![0; PACKET_MOST]);
    let mut looked = begun;
    while begun.elapsed() < bounds.time {
        if looked.elapsed() >= LOOK {
            looked = Instant::now();
            // What was taken is there for whoever looks at the file meanwhile.
            out.flush()?;
            if bounds.told.load(Ordering::Relaxed) {
                taken.why = Ended::Told;
                break;
            }
            if !(bounds.has_room)() {
                taken.why = Ended::Disk;
                break;
            }
        }
        let (length, link) = match recvfrom::<LinkAddr>(socket.as_raw_fd(), &mut packet) {
            Ok(received) => received,
            Err(nix::errno::Errno::EAGAIN | nix::errno::Errno::EINTR) => continue,
            Err(error) => return Err(error.into()),
        };
        // What goes over the loopback comes twice: as it leaves, and as it arrives.
        let is_copy = link.is_some_and(|link| link.pkttype() == OUTGOING && link.hatype() == libc::ARPHRD_LOOPBACK);
        let content = &packet[..length.min(PACKET_MOST)];
        if is_copy || !Ends::of(content).is_some_and(|ends| wanted.takes(&ends)) {
            continue;
        }
        let kept = &content[..content.len().min(bounds.snap)];
        if out.written() + kept.len() as u64 + pcapng::OVERHEAD > bounds.size {
            taken.why = Ended::Size;
            break;
        }
        out.packet(jiff::Timestamp::now().as_microsecond(), kept, content.len())?;
        taken.packets += 1;
    }
    taken.bytes = out.written();
    out.end()?.flush()?;
    Ok(taken)
}

/// Asks the appliance where the objects are that were named.
fn wanted(args: &NstraceArgs) -> Result<Wanted, String> {
    let mut wanted = Wanted {
        ends: BTreeSet::new(),
        addresses: args.address.iter().copied().collect(),
        ports: args.port.iter().copied().collect(),
    };
    if args.vserver.is_empty() && args.service.is_empty() {
        return Ok(wanted);
    }
    let (vservers, services) = asked(&args.target)?;
    for name in &args.vserver {
        let vserver = named(&vservers, name).ok_or_else(|| format!("no vserver {name}"))?;
        wanted.end(&vserver["address"]);
        let is_its = |of: &&Value| of["vservers"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
        services.iter().filter(is_its).for_each(|service| wanted.end(&service["address"]));
    }
    for name in &args.service {
        let service = named(&services, name).ok_or_else(|| format!("no service {name}"))?;
        wanted.end(&service["address"]);
    }
    if wanted.ends.is_empty() {
        return Err("what was named has no address, so there is nothing to trace".to_owned());
    }
    Ok(wanted)
}

fn asked(target: &Target) -> Result<(Vec<Value>, Vec<Value>), String> {
    let client = Client::find(target)?;
    let list = |answer: Value| answer["items"].as_array().cloned().unwrap_or_default();
    runtime()?.block_on(async {
        let vservers = client.call(reqwest::Method::GET, "/api/v1/vservers", None).await.map_err(|e| e.to_string())?;
        let services = client.call(reqwest::Method::GET, "/api/v1/services", None).await.map_err(|e| e.to_string())?;
        Ok((list(vservers), list(services)))
    })
}

fn named<'a>(all: &'a [Value], name: &str) -> Option<&'a Value> {
    all.iter().find(|one| one["name"] == name)
}

// === impl Wanted ===

impl Wanted {
    /// Adds where an object is; one whose name does not resolve is nowhere.
    fn end(&mut self, address: &Value) {
        if let Some(at) = address.as_str().and_then(|text| text.parse::<SocketAddr>().ok()) {
            let ip = Some(at.ip()).filter(|ip| !ip.is_unspecified());
            self.ends.insert((ip, at.port()));
        }
    }

    fn takes(&self, ends: &Ends) -> bool {
        let of_object = |at: &(IpAddr, u16)| {
            // Later fragments have no ports: their address speaks for them.
            self.ends
                .iter()
                .any(|(ip, port)| ip.is_none_or(|ip| ip == at.0) && (*port == at.1 || (at.1 == 0 && ip.is_some())))
        };
        let either = |is: &dyn Fn(&(IpAddr, u16)) -> bool| ends.0.iter().any(is);
        (self.ends.is_empty() || either(&of_object))
            && (self.addresses.is_empty() || either(&|at| self.addresses.contains(&at.0)))
            && (self.ports.is_empty() || either(&|at| self.ports.contains(&at.1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(from: &str, to: &str) -> Ends {
        Ends([from, to].map(|at| at.parse::<SocketAddr>().map(|at| (at.ip(), at.port())).unwrap()))
    }

    #[test]
    fn a_packet_of_either_leg_and_direction_is_wanted_and_one_of_another_port_is_not() {
        let mut wanted = Wanted::default();
        wanted.end(&"203.0.113.1:80".into());
        wanted.end(&"192.0.2.1:8080".into());
        wanted.end(&"web1.example:80".into());
        assert_eq!(wanted.ends.len(), 2);
        assert!(wanted.takes(&ends("198.51.100.7:4000", "203.0.113.1:80")));
        assert!(wanted.takes(&ends("203.0.113.1:80", "198.51.100.7:4000")));
        assert!(wanted.takes(&ends("10.0.0.1:5000", "192.0.2.1:8080")));
        assert!(wanted.takes(&ends("198.51.100.7:0", "203.0.113.1:0")), "a later fragment");
        assert!(!wanted.takes(&ends("198.51.100.7:4000", "203.0.113.1:81")));
        wanted.addresses.insert("198.51.100.7".parse().unwrap());
        assert!(!wanted.takes(&ends("10.0.0.1:5000", "192.0.2.1:8080")), "narrowed to a client");
    }

    #[test]
    fn a_vip_on_all_addresses_is_told_by_its_port_and_nothing_named_takes_all() {
        let mut wanted = Wanted::default();
        assert!(wanted.takes(&ends("10.0.0.1:5", "10.0.0.2:6")));
        wanted.end(&"0.0.0.0:443".into());
        assert!(wanted.takes(&ends("198.51.100.7:4000", "203.0.113.1:443")));
        assert!(!wanted.takes(&ends("198.51.100.7:4000", "203.0.113.1:0")));
        assert!(!wanted.takes(&ends("198.51.100.7:4000", "203.0.113.1:80")));
    }
}
