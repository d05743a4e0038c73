//! Where messages of syslog go (RFC 5424), and what they look like. Triggers of type SYSLOG send them, and `[log]` does.

use std::fmt;

use super::id::Name;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Syslog {
    pub to: Destination,
    /// Default `daemon`.
    pub facility: Facility,
    /// APP-NAME; default `bascule`. 1 to 48 printable ASCII characters.
    pub app_name: Name,
}

/// As `udp:192.0.2.9:514`, `tcp:log.example:601`, `unix:/dev/log`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// One datagram for each message (RFC 5426): nobody confirms it.
    Udp(Name),
    /// Octet counting (RFC 6587 §3.4.1), a connection for each message.
    Tcp(Name),
    /// The path of a datagram socket.
    Unix(Name),
}

/// A facility by its number (RFC 5424, table 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facility(u8);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    Error = 3,
    Warning = 4,
    Notice = 5,
    Informational = 6,
    Debug = 7,
}

/// What a message says.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    pub severity: Severity,
    /// RFC 3339, six digits of a second at most.
    pub at: &'a str,
    pub host: &'a str,
    /// MSGID.
    pub kind: &'a str,
    pub text: &'a str,
}

/// What every receiver over UDP should take (RFC 5426 §3.2), and what most take otherwise. Bytes.
const DATAGRAM_MOST: usize = 2_048;
const MESSAGE_MOST: usize = 8_192;

// === impl Syslog ===

impl Syslog {
    /// `<27>1 2026-11-29T22:50:17.000Z box-b bascule 17 alert.raised [origin software="bascule"] TEXT`: one line, cut where
    /// a receiver would not take it whole.
    pub fn line(&self, message: &Message<'_>, pid: u32) -> String {
        let Message { severity, at, host, kind, text } = *message;
        let mut line = format!(
            "<{}>1 {} {} {} {pid} {} [origin software=\"bascule\" swVersion=\"{}\"] ",
            self.facility.priority(severity),
            field(at, 64),
            field(host, 255),
            self.app_name,
            field(kind, 32),
            env!("CARGO_PKG_VERSION"),
        );
        if !text.is_ascii() {
            // MSG-UTF8 begins with the mark (RFC 5424 §6.4).
            line.push('\u{feff}');
        }
        // Also where a receiver writes it to a file as it comes.
        line.extend(text.trim_end().chars().map(|c| if c.is_control() { ' ' } else { c }));
        let mut end = line.len().min(self.to.most());
        while !line.is_char_boundary(end) {
            end -= 1;
        }
        line.truncate(end);
        line
    }
}

/// A field of the header: printable ASCII without spaces, `-` where nothing is left (RFC 5424 §6).
fn field(text: &str, most: usize) -> String {
    let kept: String = text.chars().map(|c| if c.is_ascii_graphic() { c } else { '_' }).take(most).collect();
    if kept.is_empty() { "-".to_owned() } else { kept }
}

// === impl Destination ===

impl Destination {
    /// Bytes of a message at most.
    pub fn most(&self) -> usize {
        if matches!(self, Destination::Udp(_)) { DATAGRAM_MOST } else { MESSAGE_MOST }
    }

    /// Errors: in words.
    pub fn parse(text: &str) -> Result<Destination, String> {
        let shape = "an address such as \"udp:192.0.2.9:514\", \"tcp:log.example:601\" or \"unix:/dev/log\"";
        let (transport, rest) = text.split_once(':').ok_or_else(|| format!("`{text}` is not {shape}"))?;
        match transport {
            "unix" if rest.starts_with('/') => Ok(Destination::Unix(rest.into())),
            "unix" => Err(format!("`{rest}` is not the whole path of a socket: it begins with `/`")),
            "udp" | "tcp" => {
                let port = rest.rsplit_once(':').filter(|(host, _)| !host.is_empty()).map(|(_, port)| port.parse());
                if !matches!(port, Some(Ok(1..=u16::MAX))) {
                    return Err(format!("`{rest}` is not a host and a port such as \"192.0.2.9:514\""));
                }
                Ok(if transport == "udp" { Destination::Udp(rest.into()) } else { Destination::Tcp(rest.into()) })
            }
            _ => Err(format!("`{text}` is not {shape}")),
        }
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Destination::Udp(to) => write!(f, "udp:{to}"),
            Destination::Tcp(to) => write!(f, "tcp:{to}"),
            Destination::Unix(path) => write!(f, "unix:{path}"),
        }
    }
}

// === impl Facility ===

impl Facility {
    pub const DAEMON: Facility = Facility(3);

    /// Those that a daemon on a network has use for.
    pub const WORDS: [&'static str; 11] =
        ["user", "daemon", "auth", "local0", "local1", "local2", "local3", "local4", "local5", "local6", "local7"];

    pub fn parse(word: &str) -> Option<Facility> {
        let number = match word {
            "user" => 1,
            "daemon" => 3,
            "auth" => 4,
            local => 16 + local.strip_prefix("local")?.parse::<u8>().ok().filter(|n| *n < 8)?,
        };
        Some(Facility(number))
    }

    pub fn word(self) -> &'static str {
        let is_it = |word: &&&str| Facility::parse(word) == Some(self);
        Facility::WORDS.iter().find(is_it).copied().unwrap_or("daemon")
    }

    /// PRIVAL of a message (RFC 5424 §6.2.1).
    pub fn priority(self, severity: Severity) -> u8 {
        self.0 * 8 + severity as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn destinations_are_read_and_printed_alike_and_what_is_none_is_said() {
        for text in ["udp:192.0.2.9:514", "tcp:log.example:601", "udp:[2001:db8::9]:514", "unix:/dev/log"] {
            assert_eq!(Destination::parse(text).unwrap().to_string(), text);
        }
        for text in
            ["192.0.2.9:514", "udp:192.0.2.9", "tcp::601", "udp:a:0", "udp:a:70000", "unix:log", "tls:a:6514", ""]
        {
            assert!(Destination::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn priorities_are_those_of_rfc_5424() {
        for word in Facility::WORDS {
            assert_eq!(Facility::parse(word).unwrap().word(), word);
        }
        assert_eq!(Facility::parse("local4").unwrap().priority(Severity::Notice), 165);
        assert_eq!(Facility::DAEMON.priority(Severity::Error), 27);
        assert_eq!(Facility::parse("local8"), None);
    }
}
