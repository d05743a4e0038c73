//! `bascule support`: what somebody needs who is to find out what is wrong with an appliance that they cannot see, and no
//! secret. A tar, packed with gzip, so that whoever sends it can look first at what they send.
//!
//! Of the running appliance: its configuration with secrets hidden, status, objects with their states, the last entries of
//! the journal, metrics. Of the machine: what `/proc` says of the process, the network, memory and load. No command line
//! and no environment, since secrets stand there; no traffic, and no addresses of clients but those in the journal. What
//! cannot be had is left out and named in `about.json`.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::cli::args::Target;
use crate::cli::{Client, runtime};
use crate::config::edit;

/// Of one piece; what is longer is cut. Bytes.
const PIECE_MOST: usize = 64 << 20;
/// The last so many entries of the journal.
const ENTRIES: u32 = 5_000;

/// What the appliance is asked.
const ASKED: [(&str, &str); 16] = [
    ("status.json", "/api/v1/status"),
    ("vservers.json", "/api/v1/vservers"),
    ("services.json", "/api/v1/services"),
    ("service-groups.json", "/api/v1/service-groups"),
    ("servers.json", "/api/v1/servers"),
    ("checks.json", "/api/v1/checks"),
    ("scenarios.json", "/api/v1/scenarios"),
    ("switches.json", "/api/v1/switches"),
    ("datacenters.json", "/api/v1/datacenters"),
    ("datacenter-pairs.json", "/api/v1/datacenter-pairs"),
    ("peers.json", "/api/v1/peers"),
    ("triggers.json", "/api/v1/triggers"),
    ("rules.json", "/api/v1/rules"),
    ("certificates.json", "/api/v1/certificates"),
    ("alerts.json", "/api/v1/alerts"),
    ("shipping.json", "/api/v1/journal/shipping"),
];

/// Of the machine.
const MACHINE: [&str; 11] = [
    "version",
    "uptime",
    "loadavg",
    "meminfo",
    "stat",
    "pressure/cpu",
    "pressure/memory",
    "pressure/io",
    "sys/fs/file-nr",
    "sys/net/core/somaxconn",
    "sys/net/ipv4/ip_local_port_range",
];

/// Of the process.
const PROCESS: [&str; 10] = [
    "status",
    "limits",
    "stat",
    "io",
    "cgroup",
    "net/sockstat",
    "net/sockstat6",
    "net/snmp",
    "net/netstat",
    "net/softnet_stat",
];

/// Names and contents.
#[derive(Default)]
struct Pieces {
    all: Vec<(String, Vec<u8>)>,
    /// What could not be had.
    missing: Vec<String>,
}

/// Writes `archive`, which must not be there yet. Gives lines for the operator. Errors: in words.
pub fn support(archive: &Path, target: &Target) -> Result<Vec<String>, String> {
    if archive.exists() {
        return Err(format!("{} is there already", archive.display()));
    }
    let mut pieces = Pieces::default();
    match Client::find(target).and_then(|client| Ok((client, runtime()?))) {
        Ok((client, runtime)) => runtime.block_on(pieces.ask(&client)),
        Err(why) => pieces.missing.push(format!("the appliance: {why}")),
    }
    let state = target.state.clone().unwrap_or_else(crate::cli::state_directory);
    pieces.look(&state);
    let about = json!({
        "version": env!("CARGO_PKG_VERSION"), "made_at": jiff::Timestamp::now().to_string(), "missing": pieces.missing,
    });
    pieces.take("about.json", Ok(format!("{about:#}\n")));
    pieces.all.reverse();
    pieces.write(archive).map_err(|error| {
        let _ = fs::remove_file(archive);
        format!("cannot write {}: {error}", archive.display())
    })?;
    let mut told = vec![format!("{}: {} files", archive.display(), pieces.all.len())];
    told.extend(pieces.missing.iter().map(|what| format!("left out: {what}")));
    Ok(told)
}

/// An answer, as it may leave the house.
fn outside(mut answer: Value) -> String {
    edit::value_for_support(&mut answer);
    format!("{answer:#}\n")
}

// === impl Pieces ===

impl Pieces {
    fn take(&mut self, name: &str, content: Result<String, String>) {
        match content {
            Ok(text) => {
                let mut bytes = text.into_bytes();
                bytes.truncate(PIECE_MOST);
                self.all.push((name.to_owned(), bytes));
            }
            Err(why) => self.missing.push(format!("{name}: {why}")),
        }
    }

    async fn ask(&mut self, client: &Client) {
        for (name, path) in ASKED {
            let answer = client.get::<Value>(path).await;
            self.take(name, answer.map(outside).map_err(|e| e.to_string()));
        }
        let journal = client.get::<Value>(&format!("/api/v1/journal?newest_first=true&limit={ENTRIES}")).await;
        self.take("journal.json", journal.map(outside).map_err(|e| e.to_string()));
        self.take("metrics.txt", client.text("/metrics", "text/plain").await.map_err(|e| e.to_string()));
        let config = client.text("/api/v1/config", "application/toml").await.map_err(|e| e.to_string());
        // Whoever asks over the socket is told everything.
        self.take("config.toml", config.map(|text| edit::for_support(&text)));
    }

    fn look(&mut self, state: &Path) {
        for name in MACHINE {
            self.file(&format!("proc/{name}"), &Path::new("/proc").join(name));
        }
        let pid = fs::read_to_string(state.join("bascule.lock")).ok().and_then(|text| text.trim().parse::<u32>().ok());
        match pid {
            Some(pid) => {
                let process = Path::new("/proc").join(pid.to_string());
                for name in PROCESS {
                    self.file(&format!("process/{name}"), &process.join(name));
                }
                let open = fs::read_dir(process.join("fd")).map(|all| format!("{}\n", all.count()));
                self.take("process/open-files", open.map_err(|error| error.to_string()));
            }
            None => self.missing.push(format!("the process: nobody has locked {}", state.display())),
        }
        let sizes = fs::read_dir(state).map(|all| {
            let line = |entry: fs::DirEntry| {
                let bytes = entry.metadata().map_or(0, |about| about.len());
                format!("{bytes:>14} {}\n", entry.file_name().to_string_lossy())
            };
            all.flatten().map(line).collect::<String>()
        });
        self.take("state-sizes.txt", sizes.map_err(|error| error.to_string()));
    }

    fn file(&mut self, name: &str, path: &Path) {
        let text = fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        self.take(name, text.map_err(|error| error.to_string()));
    }

    fn write(&self, archive: &Path) -> io::Result<()> {
        let file = File::options().write(true).create_new(true).mode(0o600).open(archive)?;
        let mut tar = tar::Builder::new(GzEncoder::new(file, Compression::default()));
        for (name, bytes) in &self.all {
            let mut header = tar::Header::new_gnu();
            header.set_size(bytes.len() as u64);
            header.set_mode(0o600);
            header.set_mtime(u64::try_from(jiff::Timestamp::now().as_second()).unwrap_or(0));
            tar.append_data(&mut header, format!("bascule-support/{name}"), bytes.as_slice())?;
        }
        let mut file = tar.into_inner()?.finish()?;
        file.flush()?;
        file.sync_all()
    }
}
