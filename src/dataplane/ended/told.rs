//! What is told of an exchange: its line in the log, its id, and the fields of an answer that say how it came about.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use super::line::Line;
use super::{Exchange, REQUEST_ID, common};
use crate::model::LogFormat;
use crate::model::ending::{Ending, Reason, Who};
use crate::model::vserver::Vserver;
use crate::snapshot::live::Interval;

impl Exchange {
    /// The line in the access log; without one, a failure that is not the client's in the log of the process.
    pub(super) fn tell(&self, ending: Ending, status: u16, now: Instant) {
        let log = &self.conn.shared.log;
        if log.is_on() {
            return log.line(|format, out| match format {
                LogFormat::Text => self.line(Line::new(false, out), ending, status, now),
                LogFormat::Json => self.line(Line::new(true, out), ending, status, now),
                LogFormat::Common | LogFormat::Combined => {
                    common::write(out, &self.entry(status), format == LogFormat::Combined);
                }
            });
        }
        if !is_failure(ending, status) && !tracing::enabled!(tracing::Level::DEBUG) {
            return;
        }
        let mut line = Vec::new();
        self.line(Line::new(false, &mut line), ending, status, now);
        let line = String::from_utf8_lossy(&line);
        match is_failure(ending, status).then(|| log.may_tell()).flatten() {
            Some(0) => tracing::warn!("{line}"),
            Some(left_out) => tracing::warn!(left_out, "{line}"),
            None => tracing::debug!("{line}"),
        }
    }

    fn line(&self, mut line: Line<'_>, ending: Ending, status: u16, now: Instant) {
        let entry = &self.conn.entry;
        line.text("time", &jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string());
        line.text("id", &self.id());
        line.text("client", &entry.client().to_string());
        line.text("vserver", &entry.vserver);
        if let Some(member) = &self.member {
            if member.vserver != entry.vserver {
                line.text("by", &member.vserver);
            }
            line.text("service", &member.service);
        }
        if let Some(text) = &self.text {
            line.text("method", &text.method);
            line.text("host", &text.host);
            line.text("path", &text.path);
        }
        if status > 0 {
            line.bare("status", status);
        }
        if self.said > 0 && self.said != status {
            line.bare("server_status", self.said);
        }
        line.bare("bytes_in", self.bytes_in.load(Relaxed));
        line.bare("bytes_out", self.bytes_out.load(Relaxed));
        for (interval, time) in self.times(now) {
            line.bare(&format!("{}_us", interval.word()), time.as_micros());
        }
        line.text("who", ending.who.word());
        line.text("phase", ending.phase.word());
        line.text("reason", ending.reason.word());
        let why = self.why.as_deref().filter(|_| ending.who != Who::Client && ending.reason != Reason::Done);
        line.text("why", why.unwrap_or(""));
        line.text("rule", self.rule.as_deref().unwrap_or(""));
        line.end();
    }

    /// What the formats of web servers have room for.
    fn entry(&self, status: u16) -> common::Entry<'_> {
        let text = self.text.as_deref();
        common::Entry {
            client: self.conn.entry.client().ip().to_canonical(),
            at: jiff::Timestamp::now(),
            asked: text.map(|text| (text.method.as_bytes(), text.path.as_bytes(), text.protocol)),
            status,
            bytes: self.bytes_out.load(Relaxed),
            referer: text.map_or(&[], |text| &text.referer),
            agent: text.map_or(&[], |text| &text.agent),
        }
    }

    /// Finds its line: in the access log, or for a failure in the log of the process.
    pub fn id(&self) -> String {
        self.conn.shared.log.id(self.conn.entry.id, self.nth)
    }

    /// Fields of the answer for clients that are told how it came about. `ending`: where it is known.
    pub fn diagnostics(&self, vserver: &Vserver, ending: Option<Ending>) -> Vec<(&'static str, String)> {
        let client = self.conn.entry.client().ip().to_canonical();
        if !vserver.diagnostics.iter().any(|network| network.contains(client)) {
            return Vec::new();
        }
        let mut fields = vec![(REQUEST_ID, self.id())];
        if let Some(member) = &self.member {
            fields.push(("X-Bascule-Member", member.service.to_string()));
        }
        if let Some(ending) = ending {
            fields.push(("X-Bascule-Ending", ending.to_string()));
        }
        let timing = self.times(Instant::now()).filter(|(interval, _)| *interval != Interval::Transfer);
        let timing = timing.map(|(interval, time)| format!("{};dur={:.3}", interval.word(), time.as_secs_f64() * 1e3));
        fields.push(("Server-Timing", timing.collect::<Vec<_>>().join(", ")));
        fields
    }
}

/// Of the server or our own, and no decision that somebody asked for.
pub(super) fn is_failure(ending: Ending, status: u16) -> bool {
    let failed = status >= 500 || status == 0 && ending.who != Who::Client;
    let wanted = matches!(
        ending.reason,
        Reason::Done
            | Reason::Responded
            | Reason::Redirected
            | Reason::Rejected
            | Reason::ClientLimit
            | Reason::IdleTimeout
            | Reason::KeepAliveTimeout
            | Reason::Flushed
            | Reason::DrainedFlush
            | Reason::Kicked
            | Reason::Shutdown
            | Reason::Removed
    );
    failed && !wanted
}
