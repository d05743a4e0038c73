//! Telling at the console: what may stand on the screen and in no log, such as a password.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;

use crate::model::visible::visible;

/// Which consoles the kernel writes to: `tty0 ttyS0`.
const ACTIVE: &str = "/sys/class/tty/console/active";

/// Writes to each of `consoles`; to all that the machine has where none is named. One that is not there or takes nothing is
/// passed over: nobody may be kept from booting by a cable.
pub fn tell(consoles: &[PathBuf], lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    let all = if consoles.is_empty() { active() } else { consoles.to_vec() };
    let mut text = String::from("\r\n");
    for line in lines {
        text.push_str("bascule: ");
        text.push_str(&visible(line));
        text.push_str("\r\n");
    }
    for console in all {
        let opened = OpenOptions::new()
            .append(true)
            .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
            .create(false)
            .open(&console);
        if let Ok(mut console) = opened {
            let _ = console.write_all(text.as_bytes());
        }
    }
}

fn active() -> Vec<PathBuf> {
    let names = std::fs::read_to_string(ACTIVE).unwrap_or_else(|_| "console".into());
    names.split_whitespace().map(|name| PathBuf::from("/dev").join(name)).collect()
}
