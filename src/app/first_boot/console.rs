//! Telling at the console: what may stand on the screen and in no log, such as a password.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;

use crate::model::visible::visible;

/// Which consoles the kernel writes to: `tty0 ttyS0`.
const ACTIVE: &str = "/sys/class/tty/console/active";

/// More lines scroll away; the status has them all.
const LINES_MOST: usize = 40;

/// Those of `consoles` that are there; all that the machine has where none is named. One that is not is passed over:
/// nobody may be kept from booting by a cable.
pub fn open(consoles: &[PathBuf]) -> Vec<File> {
    let all = if consoles.is_empty() { active() } else { consoles.to_vec() };
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
    all.iter().filter_map(|path| OpenOptions::new().append(true).custom_flags(flags).open(path).ok()).collect()
}

/// Writes to each of them; how many took all of it.
pub fn tell(consoles: &mut [File], lines: &[String]) -> usize {
    let mut text = String::from("\r\n");
    for line in lines.iter().take(LINES_MOST) {
        text.push_str("bascule: ");
        text.push_str(&visible(line));
        text.push_str("\r\n");
    }
    if lines.len() > LINES_MOST {
        text.push_str("bascule: and more: GET /api/v1/status has all of it\r\n");
    }
    consoles.iter_mut().filter_map(|console| console.write_all(text.as_bytes()).ok()).count()
}

fn active() -> Vec<PathBuf> {
    let names = std::fs::read_to_string(ACTIVE).unwrap_or_else(|_| "console".into());
    names.split_whitespace().map(|name| PathBuf::from("/dev").join(name)).collect()
}
