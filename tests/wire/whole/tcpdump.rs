//! What passes an interface, as `tcpdump` prints it.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// A `tcpdump` that runs until dropped.
pub struct Capture {
    child: Child,
    lines: Arc<Mutex<Vec<String>>>,
    readers: Vec<JoinHandle<()>>,
}

// === impl Capture ===

impl Capture {
    /// Everything from here on is seen.
    pub fn start(namespace: &str, interface: &str, filter: &str) -> Capture {
        let mut child = Command::new("nsenter")
            .arg(format!("--net=/run/netns/{namespace}"))
            .args(["tcpdump", "-n", "-e", "-l", "--immediate-mode", "-s", "128", "-B", "4096", "-i", interface, filter])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("nsenter is there");
        let lines = Arc::new(Mutex::new(Vec::new()));
        let (output, mut said) =
            (child.stdout.take().expect("a pipe"), BufReader::new(child.stderr.take().expect("a pipe")));
        let mut begun = String::new();
        while !begun.contains("listening on") {
            let read = said.read_line(&mut begun).expect("it speaks");
            assert!(read > 0, "no tcpdump (scripts/install-prerequisites installs it): {begun}");
        }
        let into = Arc::clone(&lines);
        let reading = std::thread::spawn(move || {
            BufReader::new(output).lines().map_while(Result::ok).for_each(|line| into.lock().push(line));
        });
        let rest = std::thread::spawn(move || said.lines().map_while(Result::ok).for_each(drop));
        Capture { child, lines, readers: vec![reading, rest] }
    }

    /// The lines since the last call that `wanted` takes, oldest first.
    pub fn take(&self, wanted: impl Fn(&str) -> bool) -> Vec<String> {
        let mut lines = self.lines.lock();
        let (taken, others) = lines.drain(..).partition(|line: &String| wanted(line));
        *lines = others;
        taken
    }

    /// Hardware addresses that `ip` was announced from since the last call, oldest first.
    pub fn announced(&self, ip: &str) -> Vec<String> {
        let arp = [format!("Request who-has {ip} tell {ip},"), format!("Announcement {ip},")];
        let advertisement = format!("neighbor advertisement, tgt is {ip},");
        let lines = self.take(|line| arp.iter().chain([&advertisement]).any(|said| line.contains(said)));
        lines.iter().filter_map(|line| line.split(' ').nth(1).map(str::to_owned)).collect()
    }

    /// Waits until somebody has announced `ip`; answers from which hardware address the last time.
    pub fn announcer(&self, ip: &str, limit: Duration) -> String {
        let start = Instant::now();
        loop {
            if let Some(last) = self.announced(ip).pop() {
                return last;
            }
            assert!(start.elapsed() < limit, "nobody announced {ip} within {limit:?}: {:?}", self.lines.lock());
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.readers.drain(..).for_each(|reader| drop(reader.join()));
    }
}
