//! Word to the service manager (systemd's `sd_notify`): ready, going, and a sign of life.
//!
//! Without `NOTIFY_SOCKET` nothing is sent. The sign of life passes through the one writer and through the runtime that
//! traffic runs on: where either no longer answers, it stays away, and the manager ends the process and starts it anew.

use std::time::Duration;

use parking_lot::Mutex;
use sd_notify::NotifyState;

use crate::control::Handle;

/// Whether this is the process that the manager hears; false once it has named another.
static IS_HEARD: Mutex<bool> = Mutex::new(true);

/// Says that it is ready, once, and what it does in a line for `systemctl status`.
pub(super) fn ready(listeners: usize) {
    let status = format!("{listeners} vservers listen");
    tell(&[NotifyState::Ready, NotifyState::Status(&status)]);
}

/// Says that the end has begun, so that the manager waits for the drain.
pub(super) fn stopping() {
    tell(&[NotifyState::Stopping, NotifyState::Status("draining")]);
}

/// Gives signs of life for as long as the process runs, thrice in each span that the manager allows (`WatchdogSec=`);
/// none where it asks for none.
pub(super) fn watch(handle: Handle) {
    let Some(allowed) = sd_notify::watchdog_enabled() else { return };
    let every = (allowed / 3).max(Duration::from_millis(10));
    tokio::spawn(async move {
        let mut ticks = tokio::time::interval(every);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            // Once the writer has ended, the end of the process is under way, and its own time-out guards that.
            let _ = handle.read(|_| ()).await;
            give_sign();
        }
    });
}

fn give_sign() {
    let is_heard = IS_HEARD.lock();
    if *is_heard {
        tell(&[NotifyState::Watchdog]);
    }
}

/// Tells which process is the main one from now on, before this one ends. No sign of life of this one follows it, not
/// even one that was about to be given.
pub(super) fn name_main_process(pid: u32) {
    let mut is_heard = IS_HEARD.lock();
    tell(&[NotifyState::MainPid(pid)]);
    *is_heard = false;
}

fn tell(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::warn!(%error, "the service manager does not listen");
    }
}
