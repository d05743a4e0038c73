//! What a request asked for, kept where somebody will read it.

use super::Exchange;

/// What is told of a request when its head is there.
pub(crate) struct Asked<'a> {
    pub method: &'a str,
    pub host: &'a str,
    /// The query may stand behind it; it is not kept.
    pub target: &'a str,
    /// `HTTP/1.1`
    pub protocol: &'static str,
    /// The field of a name, in any case, before which so many of them stand.
    pub field: &'a dyn Fn(&str, usize) -> Option<&'a [u8]>,
}

/// What a request asked for, without its query: that may hold secrets.
#[derive(Debug)]
pub(super) struct Text {
    pub method: String,
    pub host: String,
    pub path: String,
    pub protocol: &'static str,
    /// Without its query, for the same reason; empty where nobody asks for it.
    pub referer: Box<[u8]>,
    /// Empty where nobody asks for it.
    pub agent: Box<[u8]>,
}

impl Exchange {
    /// Whether somebody may want to know what is asked for.
    pub fn is_asked_about(&self) -> bool {
        self.is_told() || self.conn.shared.traces.is_on()
    }

    /// Whether somebody will read what is asked for in a log.
    fn is_told(&self) -> bool {
        self.conn.shared.log.is_on() || tracing::enabled!(tracing::Level::DEBUG)
    }

    /// What is asked for, and which trace it belongs to. Kept only where somebody will read it.
    pub fn describe(&mut self, asked: &Asked<'_>) {
        self.begin_trace(asked);
        if !self.is_told() && !self.is_sampled() {
            return;
        }
        let combined = self.conn.shared.log.is_combined();
        let field = |name| if combined { (asked.field)(name, 0).unwrap_or_default() } else { &[] };
        self.text = Some(Box::new(Text {
            method: asked.method.into(),
            host: asked.host.into(),
            path: asked.target.split_once('?').map_or(asked.target, |(path, _)| path).into(),
            protocol: asked.protocol,
            referer: field("referer").split(|&b| b == b'?').next().unwrap_or_default().into(),
            agent: field("user-agent").into(),
        }));
    }
}
