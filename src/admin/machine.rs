//! The machine as the kernel tells: processors, memory, disk, interfaces. Without `/proc` everything is 0.

use std::fs;
use std::path::Path;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

/// Two readings nearer to one another say nothing.
const APART: Duration = Duration::from_secs(1);

/// One reading.
#[derive(Debug, Clone, Default)]
pub(super) struct Machine {
    /// Percent of all processors together, since the reading before; at first since the machine started.
    pub busy: f64,
    /// The same, one by one.
    pub processors: Vec<f64>,
    /// Bytes.
    pub memory_total: u64,
    pub memory_used: u64,
    /// Of the first processor, MHz; 0: unknown.
    pub clock: u64,
    /// The root file system.
    pub system: Room,
    /// Where the state is.
    pub data: Room,
    pub interfaces: Vec<Interface>,
}

/// Of a file system, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Room {
    pub total: u64,
    /// That anybody may still use.
    pub free: u64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Interface {
    pub name: String,
    pub up: bool,
    pub mtu: u64,
    /// Mbit/s; 0: unknown.
    pub speed: u64,
    pub bytes_in: u64,
    pub bytes_out: u64,
    pub packets_in: u64,
    pub packets_out: u64,
    pub errors_in: u64,
    pub errors_out: u64,
    pub dropped_in: u64,
    pub dropped_out: u64,
}

/// What processors had done at the last reading.
#[derive(Debug, Default)]
pub(super) struct Meter(Mutex<Option<Reading>>);

#[derive(Debug, Clone)]
struct Reading {
    at: Instant,
    ticks: Vec<Ticks>,
    percent: Vec<f64>,
}

/// Of one processor, or of all (the first).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Ticks {
    busy: u64,
    all: u64,
}

// === impl Machine ===

impl Machine {
    /// Reads a dozen small files; `state`: where the state is.
    pub fn read(meter: &Meter, now: Instant, state: Option<&Path>) -> Machine {
        let text = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let percent = meter.percent(now, ticks(&text("/proc/stat")));
        let (memory_total, memory_used) = memory(&text("/proc/meminfo"));
        let system = room(Path::new("/")).unwrap_or_default();
        let (busy, processors) = percent.split_first().map_or((0.0, &[][..]), |(all, each)| (*all, each));
        Machine {
            busy,
            processors: processors.to_vec(),
            memory_total,
            memory_used,
            clock: clock(&text("/proc/cpuinfo")),
            system,
            data: state.and_then(|state| room(state).ok()).unwrap_or(system),
            interfaces: interfaces(Path::new("/sys/class/net")),
        }
    }

    pub fn memory_percent(&self) -> f64 {
        let percent = self.memory_used as f64 * 100.0 / (self.memory_total.max(1)) as f64;
        (percent * 1e3).round() / 1e3
    }
}

// === impl Room ===

impl Room {
    pub fn used(self) -> u64 {
        self.total - self.free
    }

    /// That is used.
    pub fn percent(self) -> u8 {
        u8::try_from((u128::from(self.used()) * 100).checked_div(self.total.into()).unwrap_or(0)).unwrap_or(100)
    }
}

/// Of the file system that a path is on.
pub(super) fn room(path: &Path) -> std::io::Result<Room> {
    let stat = nix::sys::statvfs::statvfs(path)?;
    let (all, free) = (stat.blocks(), stat.blocks_available().min(stat.blocks()));
    let block = stat.fragment_size();
    Ok(Room { total: all.saturating_mul(block), free: free.saturating_mul(block) })
}

/// `cpu MHz` of `/proc/cpuinfo`, where the processor says it.
fn clock(text: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix("cpu MHz"));
    let clock = line.and_then(|line| line.split_once(':')).and_then(|(_, clock)| clock.trim().parse::<f64>().ok());
    clock.filter(|clock| (0.0..1e6).contains(clock)).map_or(0, |clock| clock.round() as u64)
}

/// Lines `cpu`, `cpu0`, … of `/proc/stat`.
fn ticks(text: &str) -> Vec<Ticks> {
    let lines = text.lines().filter(|line| line.starts_with("cpu"));
    lines
        .map(|line| {
            let numbers: Vec<u64> = line.split_whitespace().skip(1).filter_map(|n| n.parse().ok()).collect();
            let all = numbers.iter().take(8).sum();
            // Idle, and waiting for a disk.
            let idle: u64 = numbers.iter().skip(3).take(2).sum();
            Ticks { busy: all - idle.min(all), all }
        })
        .collect()
}

/// Total and used, in bytes.
fn memory(text: &str) -> (u64, u64) {
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse::<u64>().ok()
    };
    let (total, free) = (field("MemTotal:").unwrap_or(0), field("MemAvailable:").unwrap_or(0));
    (total << 10, total.saturating_sub(free) << 10)
}

fn interfaces(folder: &Path) -> Vec<Interface> {
    let names = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = names.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    let read = |path: std::path::PathBuf| fs::read_to_string(path).unwrap_or_default().trim().to_owned();
    let one = |name: String| {
        let folder = folder.join(&name);
        let number = |file: &str| read(folder.join(file)).parse().unwrap_or(0);
        let state = read(folder.join("operstate"));
        Interface {
            // The loopback has no link and says `unknown`.
            up: state == "up" || state == "unknown",
            mtu: number("mtu"),
            speed: number("speed"),
            bytes_in: number("statistics/rx_bytes"),
            bytes_out: number("statistics/tx_bytes"),
            packets_in: number("statistics/rx_packets"),
            packets_out: number("statistics/tx_packets"),
            errors_in: number("statistics/rx_errors"),
            errors_out: number("statistics/tx_errors"),
            dropped_in: number("statistics/rx_dropped"),
            dropped_out: number("statistics/tx_dropped"),
            name,
        }
    };
    names.into_iter().map(one).collect()
}

// === impl Meter ===

impl Meter {
    fn percent(&self, now: Instant, ticks: Vec<Ticks>) -> Vec<f64> {
        let mut last = self.0.lock();
        match &*last {
            Some(reading) if now.saturating_duration_since(reading.at) < APART && !reading.percent.is_empty() => {
                return reading.percent.clone();
            }
            _ => {}
        }
        let nothing = Vec::new();
        let before = last.as_ref().map_or(&nothing, |reading| &reading.ticks);
        let since = |(at, now): (usize, &Ticks)| {
            let before = before.get(at).copied().unwrap_or_default();
            let all = now.all.saturating_sub(before.all);
            let busy = now.busy.saturating_sub(before.busy);
            let percent = busy as f64 * 100.0 / all.max(1) as f64;
            (percent * 1e3).round() / 1e3
        };
        let percent: Vec<f64> = ticks.iter().enumerate().map(since).collect();
        *last = Some(Reading { at: now, ticks, percent: percent.clone() });
        percent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn processors_are_as_busy_as_they_were_since_the_reading_before() {
        let (meter, now) = (Meter::default(), Instant::now());
        let first = ticks("cpu  10 0 10 70 10 0 0 0 0 0\ncpu0 10 0 10 70 10 0 0 0 0 0\nintr 3\n");
        assert_eq!(meter.percent(now, first), [20.0, 20.0]);
        let second = ticks("cpu  60 0 10 120 10 0 0 0 0 0\ncpu0 60 0 10 120 10 0 0 0 0 0\n");
        assert_eq!(meter.percent(now, second.clone()), [20.0, 20.0], "too near");
        assert_eq!(meter.percent(now + APART, second), [50.0, 50.0]);
    }

    #[test]
    fn memory_that_can_be_had_back_is_not_used() {
        let text = "MemTotal:  1000 kB\nMemFree:  1 kB\nMemAvailable:  400 kB\n";
        assert_eq!(memory(text), (1_000 << 10, 600 << 10));
        assert_eq!(memory(""), (0, 0));
        assert_eq!(clock("processor: 0\ncpu MHz\t\t: 2399.998\ncpu MHz\t\t: 1000.0\n"), 2_400);
        assert_eq!(clock("processor: 0\n"), 0);
    }
}
