//! What is written of each request (HTTP) and connection (L4), and where the log of the process goes.

use super::id::Name;
use super::syslog::Syslog;

/// `[log]`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    pub access: AccessTo,
    pub format: LogFormat,
    /// Where the lines of the process itself go besides to stderr.
    pub syslog: Option<Syslog>,
}

/// Where the lines go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum AccessTo {
    #[default]
    Off,
    Stdout,
    /// Relative to the folder of the configuration.
    File(Name),
}

/// The form of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// `key=value`, one line each.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
    /// The Common Log Format of web servers.
    Common,
    /// The same, and then Referer and User-Agent.
    Combined,
}

// === impl LogFormat ===

impl LogFormat {
    pub const WORDS: [&'static str; 4] = ["text", "json", "common", "combined"];

    pub fn parse(word: &str) -> Option<LogFormat> {
        match word {
            "text" => Some(LogFormat::Text),
            "json" => Some(LogFormat::Json),
            "common" => Some(LogFormat::Common),
            "combined" => Some(LogFormat::Combined),
            _ => None,
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            LogFormat::Text => "text",
            LogFormat::Json => "json",
            LogFormat::Common => "common",
            LogFormat::Combined => "combined",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_read_by_the_word_that_it_is_printed_as() {
        for word in LogFormat::WORDS {
            assert_eq!(LogFormat::parse(word).map(LogFormat::word), Some(word));
        }
        assert_eq!(LogFormat::parse("apache"), None);
    }
}
