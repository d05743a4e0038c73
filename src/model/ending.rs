//! How work ended: *who* brought it about, in which *phase*, for what *reason*. One closed list for the log, metrics,
//! response headers and `explain`; the manual prints it, and each reason is produced by a test on real sockets.

use std::fmt;

/// Who brought the end about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Who {
    Client,
    Appliance,
    Server,
}

/// What was under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// The connection was taken, its PROXY protocol header read.
    Accept,
    /// The handshake with the client.
    Tls,
    /// The request head was read.
    Head,
    /// Rules and limits were asked.
    Rule,
    /// A member was looked for or waited for.
    Queue,
    /// The member was connected to, its handshake included.
    Connect,
    /// The request went out.
    Send,
    /// The answer's head was waited for.
    Wait,
    /// The answer's body, or bytes both ways.
    Body,
}

/// One way for work to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ending {
    pub who: Who,
    pub phase: Phase,
    pub reason: Reason,
}

macro_rules! reasons {
    ($($(#[$doc:meta])* $reason:ident = $word:literal),+ $(,)?) => {
        /// Why. Closed: at most 40.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Reason {
            $($(#[$doc])* $reason),+
        }

        impl Reason {
            pub const ALL: &'static [Reason] = &[$(Reason::$reason),+];

            /// As log, metrics and headers write it.
            pub fn word(self) -> &'static str {
                match self {
                    $(Reason::$reason => $word),+
                }
            }
        }
    };
}

reasons! {
    /// Both sides had what they wanted.
    Done = "done",
    /// A rule answered.
    Responded = "responded",
    /// A rule redirected, or `redirect_url` did.
    Redirected = "redirected",
    /// A rule refused.
    Rejected = "rejected",
    /// A client limit was reached: 429.
    ClientLimit = "client_limit",
    /// So many were connected, or in their handshakes, at once that this one, which was idle or silent, gave way to another.
    TooManyConnections = "too_many_connections",
    /// No certificate, version or cipher in common, or a certificate that was not accepted.
    TlsFailed = "tls_failed",
    /// The PROXY protocol header was missing or malformed.
    BadProxyHeader = "bad_proxy_header",
    /// The request could be read in more than one way, or not at all: 400.
    BadRequest = "bad_request",
    /// Head, target or number of fields over the bound: 414, 431.
    TooLarge = "too_large",
    /// Something that is not offered: 405, 417, 501, 505.
    NotSupported = "not_supported",
    /// The client did not finish its head in time: 408.
    HeadTimeout = "head_timeout",
    /// Neither side sent anything for the idle time-out.
    IdleTimeout = "idle_timeout",
    /// The client sent no further request on a kept-alive connection in time.
    KeepAliveTimeout = "keep_alive_timeout",
    /// The client went away.
    ClientGone = "client_gone",
    /// The client did not take the answer in time.
    ClientSlow = "client_slow",
    /// No member is UP, and nothing of the backup chain is.
    NoMemberUp = "no_member_up",
    /// Members are there, but all of them drain.
    AllDraining = "all_draining",
    /// The surge queue was full.
    QueueFull = "queue_full",
    /// The surge queue took too long.
    QueueTimeout = "queue_timeout",
    /// Spillover refused it (`backup_action = DROP`).
    Spilled = "spilled",
    /// The server refused the connection, or was not reachable.
    ConnectFailed = "connect_failed",
    /// The server did not answer the connection in time.
    ConnectTimeout = "connect_timeout",
    /// The handshake with the server failed, its certificate included.
    ServerTlsFailed = "server_tls_failed",
    /// No source port or address left towards the server.
    NoSourcePort = "no_source_port",
    /// No file descriptor left.
    NoDescriptor = "no_descriptor",
    /// The server closed or reset before its answer began.
    ResetBeforeHead = "reset_before_head",
    /// The server did not begin its answer in time.
    AnswerTimeout = "answer_timeout",
    /// The server's answer is not HTTP, or could be read in more than one way.
    BadAnswer = "bad_answer",
    /// The server closed or reset within its answer.
    ResetInBody = "reset_in_body",
    /// The service went down or out, under `downStateFlush`.
    Flushed = "flushed",
    /// The time of a drain was over.
    DrainedFlush = "drained_flush",
    /// An administrator ended it.
    Kicked = "kicked",
    /// The process ended.
    Shutdown = "shutdown",
    /// The configuration no longer has the vserver.
    Removed = "removed",
    /// A fault of our own: 500.
    Internal = "internal",
}

// === impl Ending ===

impl Ending {
    pub const fn new(who: Who, phase: Phase, reason: Reason) -> Ending {
        Ending { who, phase, reason }
    }
}

/// `server/wait/answer_timeout`
impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.who.word(), self.phase.word(), self.reason.word())
    }
}

// === impl Who ===

impl Who {
    pub const ALL: [Who; 3] = [Who::Client, Who::Appliance, Who::Server];

    pub fn word(self) -> &'static str {
        match self {
            Who::Client => "client",
            Who::Appliance => "appliance",
            Who::Server => "server",
        }
    }
}

// === impl Phase ===

impl Phase {
    pub const ALL: [Phase; 9] = [
        Phase::Accept,
        Phase::Tls,
        Phase::Head,
        Phase::Rule,
        Phase::Queue,
        Phase::Connect,
        Phase::Send,
        Phase::Wait,
        Phase::Body,
    ];

    pub fn word(self) -> &'static str {
        match self {
            Phase::Accept => "accept",
            Phase::Tls => "tls",
            Phase::Head => "head",
            Phase::Rule => "rule",
            Phase::Queue => "queue",
            Phase::Connect => "connect",
            Phase::Send => "send",
            Phase::Wait => "wait",
            Phase::Body => "body",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_reasons_is_closed_and_its_words_differ() {
        let words: std::collections::BTreeSet<&str> = Reason::ALL.iter().map(|r| r.word()).collect();
        assert_eq!(words.len(), Reason::ALL.len());
        assert!(Reason::ALL.len() <= 40);
        assert_eq!(
            Ending::new(Who::Server, Phase::Wait, Reason::AnswerTimeout).to_string(),
            "server/wait/answer_timeout"
        );
    }
}
