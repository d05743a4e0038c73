//! The bytes of an exchange, and who they count for.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use super::Exchange;
use crate::snapshot::live::VserverLive;

impl Exchange {
    /// The vserver that serves it, where that is not the one that was addressed.
    pub(super) fn elsewhere(&self) -> Option<&VserverLive> {
        let serving = &self.member.as_ref()?.serving;
        (!Arc::ptr_eq(serving, &self.conn.entry.live)).then_some(&**serving)
    }

    /// Bytes that came from the client and went to the server, in one read.
    pub fn moved_in(&self, bytes: u64) {
        self.moved(bytes, 1, 0, 0);
    }

    /// Bytes that came from the server and went to the client, in one read.
    pub fn moved_out(&self, bytes: u64) {
        self.moved(0, 0, bytes, 1);
    }

    /// Bytes of a body of our own that went to the client.
    pub fn told(&self, bytes: u64) {
        let entry = &*self.conn.entry;
        add([&self.bytes_out, &entry.bytes_out, &entry.live.bytes_out_total].into_iter(), bytes);
    }

    /// The same, of an answer that nothing of was counted as it went: not a server's.
    pub fn told_alone(&self, bytes: u64) {
        if self.bytes_out.load(Relaxed) == 0 {
            self.told(bytes);
        }
    }

    /// The same for both directions and for many reads at once.
    pub fn moved(&self, bytes_in: u64, packets_in: u64, bytes_out: u64, packets_out: u64) {
        let entry = &*self.conn.entry;
        let (vserver, service) = (&*entry.live, self.member.as_ref().map(|member| &*member.live));
        let elsewhere = self.elsewhere();
        if packets_in > 0 {
            let bytes = [&self.bytes_in, &entry.bytes_in, &vserver.bytes_in_total];
            let bytes = bytes.into_iter().chain(elsewhere.map(|v| &v.bytes_in_total));
            add(bytes.chain(service.map(|s| &s.bytes_in_total)), bytes_in);
            let packets = std::iter::once(&vserver.packets_in_total).chain(elsewhere.map(|v| &v.packets_in_total));
            add(packets.chain(service.map(|s| &s.packets_in_total)), packets_in);
        }
        if packets_out > 0 {
            let bytes = [&self.bytes_out, &entry.bytes_out, &vserver.bytes_out_total];
            let bytes = bytes.into_iter().chain(elsewhere.map(|v| &v.bytes_out_total));
            add(bytes.chain(service.map(|s| &s.bytes_out_total)), bytes_out);
            let packets = std::iter::once(&vserver.packets_out_total).chain(elsewhere.map(|v| &v.packets_out_total));
            add(packets.chain(service.map(|s| &s.packets_out_total)), packets_out);
        }
    }
}

fn add<'a>(totals: impl Iterator<Item = &'a AtomicU64>, by: u64) {
    totals.for_each(|total| _ = total.fetch_add(by, Relaxed));
}
