//! Which addresses stand on the machine by this program's hand, in a file of the state directory: a process that starts
//! without `[network]` knows by it what an earlier one of the same directory has left.

use std::collections::BTreeSet;
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::model::time::Tick;
use crate::network::machine::Machine;

/// In the state directory: one address in a line, missing where there is none.
const FILE: &str = "addresses";
/// Far more than any machine has. Bytes.
const FILE_MOST: u64 = 1 << 20;
/// At a handover the process before this one looks after its addresses for a moment still: what it adds again is ours
/// to remove for so long.
const BOTH: Duration = Duration::from_secs(60);

pub(super) struct Put {
    /// `None`: there is no state directory, and nothing is left to another process.
    file: Option<PathBuf>,
    /// What the file says.
    written: BTreeSet<IpAddr>,
    /// Without `[network]`: the only ones that are this program's to remove. What bears the mark beside them is another
    /// instance's on this machine.
    only: Option<BTreeSet<IpAddr>>,
}

// === impl Put ===

impl Put {
    /// What an earlier process of the directory has left; nothing where the file cannot be read.
    pub fn read(state: Option<&Path>) -> Put {
        let file = state.map(|state| state.join(FILE));
        let text = file.as_deref().map_or_else(String::new, |file| {
            read(file).unwrap_or_else(|error| {
                tracing::warn!(%error, "{} cannot be read: addresses that are left over stay", file.display());
                String::new()
            })
        });
        let written: BTreeSet<IpAddr> = text.lines().filter_map(|line| line.trim().parse().ok()).collect();
        Put { file, only: Some(written.clone()), written }
    }

    pub fn is_empty(&self) -> bool {
        self.written.is_empty()
    }

    /// A configuration is followed that has a `[network]` (everything with the mark is this program's) or has none.
    /// True where the machine is to be looked at again.
    pub fn follow(&mut self, with_network: bool, machine: &Machine) -> bool {
        match (with_network, &self.only) {
            (true, only) => {
                let looks = only.is_some();
                self.only = None;
                looks
            }
            (false, Some(_)) => false,
            (false, None) => {
                self.only = Some(machine.addresses.iter().filter(|a| a.ours).map(|a| a.address.ip).collect());
                false
            }
        }
    }

    /// Tells what is another instance's from what is ours. What has gone is nobody's any more.
    /// `now`: since the start of the process.
    pub fn tell_apart(&mut self, now: Tick, machine: &mut Machine) {
        let Some(only) = &mut self.only else { return };
        if now.since(Tick::ZERO) >= BOTH {
            only.retain(|ip| machine.places(*ip).any(|a| a.ours));
        }
        machine.addresses.iter_mut().for_each(|a| a.ours &= only.contains(&a.address.ip));
    }

    /// To be called before one is added, and after one is gone. Where it cannot be written it is said, and tried with
    /// the next change.
    pub async fn write(&mut self, now: BTreeSet<IpAddr>) {
        let Some(file) = self.file.clone().filter(|_| now != self.written) else { return };
        self.written.clone_from(&now);
        let path = file.clone();
        // What else can be wrong than the disk is a task that is no longer wanted.
        if let Ok(Err(error)) = tokio::task::spawn_blocking(move || write(&path, &now)).await {
            tracing::warn!(%error, "{} cannot be written: what a kill leaves may stay on interfaces", file.display());
        }
    }
}

fn read(file: &Path) -> io::Result<String> {
    let text = match std::fs::metadata(file) {
        Ok(about) if about.len() > FILE_MOST => Err(io::Error::other("it is too long")),
        Ok(_) => std::fs::read_to_string(file),
        Err(error) => Err(error),
    };
    text.or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(String::new()) } else { Err(error) })
}

/// Whole or not at all; not synced, as no address outlives the machine.
fn write(file: &Path, addresses: &BTreeSet<IpAddr>) -> io::Result<()> {
    if addresses.is_empty() {
        return match std::fs::remove_file(file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        };
    }
    let text: String = addresses.iter().map(|ip| format!("{ip}\n")).collect();
    let new = file.with_extension("new");
    std::fs::write(&new, text)?;
    std::fs::rename(new, file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::machine::Assigned;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn machine(addresses: &[&str]) -> Machine {
        let ours = |text: &&str| Assigned {
            link: 2,
            address: text.parse().unwrap(),
            ours: true,
            tentative: false,
            duplicate: false,
        };
        Machine { addresses: addresses.iter().map(ours).collect(), ..Machine::default() }
    }

    fn ours(machine: &Machine) -> Vec<String> {
        machine.addresses.iter().filter(|a| a.ours).map(|a| a.address.ip.to_string()).collect()
    }

    #[tokio::test]
    async fn without_a_network_only_what_the_same_directory_has_put_there_is_ours() {
        let state = tempfile::tempdir().unwrap();
        let mut before = Put::read(Some(state.path()));
        assert!(before.is_empty());
        before.write([ip("192.0.2.10"), ip("2001:db8::10")].into()).await;
        let mut after = Put::read(Some(state.path()));
        assert!(!after.is_empty());
        let mut seen = machine(&["192.0.2.10/32", "192.0.2.11/32"]);
        after.tell_apart(Tick::ZERO, &mut seen);
        assert_eq!(ours(&seen), ["192.0.2.10"], "the other one is another instance's");
        // The process that hands over adds it once more.
        after.tell_apart(Tick::ZERO, &mut machine(&[]));
        let mut seen = machine(&["192.0.2.10/32"]);
        after.tell_apart(Tick::ZERO, &mut seen);
        assert_eq!(ours(&seen), ["192.0.2.10"]);
        // It is gone for good, and another instance has it.
        let later = Tick::ZERO + BOTH;
        after.tell_apart(later, &mut machine(&[]));
        let mut seen = machine(&["192.0.2.10/32"]);
        after.tell_apart(later, &mut seen);
        assert_eq!(ours(&seen), [""; 0]);
        after.write(BTreeSet::new()).await;
        assert!(!state.path().join(FILE).exists());
    }

    #[test]
    fn with_a_network_everything_that_bears_the_mark_is_ours_and_nothing_without_a_directory() {
        let mut put = Put::read(None);
        let mut seen = machine(&["192.0.2.10/32"]);
        put.tell_apart(Tick::ZERO, &mut seen);
        assert_eq!(ours(&seen), [""; 0]);
        assert!(put.follow(true, &seen), "it is looked at anew");
        let mut seen = machine(&["192.0.2.10/32"]);
        put.tell_apart(Tick::ZERO, &mut seen);
        assert_eq!(ours(&seen), ["192.0.2.10"]);
        // Removed while it runs: what was there is its own still, and nothing that comes later.
        assert!(!put.follow(false, &seen));
        let mut seen = machine(&["192.0.2.10/32", "192.0.2.11/32"]);
        put.tell_apart(Tick::ZERO, &mut seen);
        assert_eq!(ours(&seen), ["192.0.2.10"]);
    }
}
