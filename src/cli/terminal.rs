//! The terminal while a command holds it: keys come one by one and are not echoed. On every way out (the end, a panic, a
//! signal) it is as it was before.

use std::io::Write as _;

use nix::sys::signal::{SigSet, Signal, raise};
use nix::sys::termios::{LocalFlags, SetArg, SpecialCharacterIndices as Index, Termios, tcgetattr, tcsetattr};

/// Put back when it goes.
pub(super) struct Held {
    before: Termios,
    enter: &'static str,
    leave: &'static str,
}

// === impl Held ===

impl Held {
    /// `None` where the standard input is no terminal. `enter` and `leave` are written to it; `signals` end the process as
    /// they would anyway, once the terminal is put back.
    pub fn take(signals: &[Signal], enter: &'static str, leave: &'static str) -> Option<Held> {
        let before = tcgetattr(std::io::stdin()).ok()?;
        let held = Held { before, enter, leave };
        held.watch(signals);
        held.again();
        Some(held)
    }

    /// Once more: somebody who had stopped the process may have left the terminal in another way.
    pub fn again(&self) {
        let mut keys = self.before.clone();
        // What ends or stops the process still does.
        keys.local_flags.remove(LocalFlags::ECHO | LocalFlags::ICANON);
        keys.control_chars[Index::VMIN as usize] = 1;
        keys.control_chars[Index::VTIME as usize] = 0;
        let _ = tcsetattr(std::io::stdin(), SetArg::TCSADRAIN, &keys);
        write(self.enter);
    }

    /// A thread waits for the signals; all others, which come after it, leave them to it.
    fn watch(&self, signals: &[Signal]) {
        let mut set = SigSet::empty();
        signals.iter().for_each(|signal| set.add(*signal));
        if signals.is_empty() || set.thread_block().is_err() {
            return;
        }
        let (before, leave) = (self.before.clone(), self.leave);
        std::thread::spawn(move || {
            if let Ok(signal) = set.wait() {
                put_back(&before, leave);
                let _ = set.thread_unblock().and_then(|()| raise(signal));
                end(signal);
            }
        });
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        put_back(&self.before, self.leave);
    }
}

/// For a process whose parent had it ignore the signal, as a shell does with what it starts behind `&`.
#[expect(clippy::disallowed_methods, reason = "a client: nothing of it has still to be written")]
fn end(signal: Signal) -> ! {
    std::process::exit(128 + signal as i32)
}

fn put_back(before: &Termios, leave: &str) {
    write(leave);
    let _ = tcsetattr(std::io::stdin(), SetArg::TCSADRAIN, before);
}

fn write(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
