//! One attempt of a trigger over syslog: a message of RFC 5424. What nobody confirms (UDP, a local socket) counts as
//! delivered once it is handed over and nobody has refused it; over TCP, once the receiver has closed after the
//! message: the kernel takes bytes for one that has hung, or never accepts, so that silence is no sign of anything.

use std::io;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UdpSocket, UnixDatagram};

use super::failure;
use crate::model::delivery::{Delivery, Failure};
use crate::model::id::Name;
use crate::model::syslog::{Destination, Message, Severity, Syslog};
use crate::model::template;

/// How long a host may take to say that nobody listens.
const REFUSAL_WAIT: Duration = Duration::from_millis(100);

pub(super) async fn deliver(
    delivery: &Delivery,
    syslog: &Syslog,
    body: Option<&Name>,
    timeout: Duration,
) -> Result<(), Failure> {
    let message = message(delivery, syslog, body);
    let sent = async {
        match &syslog.to {
            Destination::Udp(to) => datagram(to, message.as_bytes()).await,
            Destination::Tcp(to) => stream(to, message.as_bytes()).await,
            Destination::Unix(path) => UnixDatagram::unbound()?.send_to(message.as_bytes(), &**path).await.map(drop),
        }
    };
    match tokio::time::timeout(timeout, sent).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(failure(&format!("{}: {error}", syslog.to), true)),
        Err(_) => {
            let tcp = matches!(syslog.to, Destination::Tcp(_));
            let why = if tcp { "not taken, or the connection not closed after it," } else { "not taken" };
            Err(failure(&format!("{}: {why} within {timeout:?}", syslog.to), true))
        }
    }
}

async fn datagram(to: &str, message: &[u8]) -> io::Result<()> {
    let address = tokio::net::lookup_host(to).await?.next();
    let address = address.ok_or_else(|| io::Error::other("the name has no address"))?;
    let any: std::net::IpAddr =
        if address.is_ipv4() { std::net::Ipv4Addr::UNSPECIFIED.into() } else { std::net::Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind((any, 0)).await?;
    socket.connect(address).await?;
    socket.send(message).await?;
    // A host without a listener says so with ICMP, which stands as an error on the socket.
    match tokio::time::timeout(REFUSAL_WAIT, socket.recv(&mut [0; 1])).await {
        Ok(Err(error)) => Err(error),
        Ok(Ok(_)) | Err(_) => Ok(()),
    }
}

async fn stream(to: &str, message: &[u8]) -> io::Result<()> {
    let mut stream = TcpStream::connect(to).await?;
    let mut framed = format!("{} ", message.len()).into_bytes();
    framed.extend_from_slice(message);
    stream.write_all(&framed).await?;
    stream.shutdown().await?;
    // Whoever has read to our end closes its own.
    while stream.read(&mut [0; 256]).await? > 0 {}
    Ok(())
}

fn message(delivery: &Delivery, syslog: &Syslog, body: Option<&Name>) -> String {
    let payload: Value = serde_json::from_str(&delivery.payload).unwrap_or_default();
    let said = |member: &str| payload[member].as_str().unwrap_or_default();
    let text = match body {
        Some(template) => template::fill(template, &delivery.payload, false),
        None => line(&payload, &delivery.key),
    };
    let kind = said("type");
    let severity = severity(kind, said("severity"));
    let message = Message { severity, at: said("committed_at"), host: said("appliance"), kind, text: &text };
    syslog.line(&message, std::process::id())
}

/// What happened, for people.
fn line(payload: &Value, key: &str) -> String {
    let said = |member: &str| payload[member].as_str().unwrap_or_default();
    let about = Some(said("about")).filter(|about| !about.is_empty()).map(|about| format!(" ({about})"));
    let about = about.unwrap_or_default();
    match said("type").split_once('.') {
        Some(("scenario", did)) => {
            let (seq, cause) = (&payload["seq"], said("cause"));
            let group = payload["group"].as_str().map(|group| format!(", group \"{group}\"")).unwrap_or_default();
            format!("scenario {} {did}, seq {seq}, by {cause}{group}{about}; key {key}", said("scenario"))
        }
        Some(("alert", did)) => {
            let (alert, kind, object) = (said("alert"), said("kind"), said("object"));
            format!("alert {alert} {did}: {kind}: {object}: {}{about}; key {key}", said("text"))
        }
        _ => format!("a test of trigger {} by {}; nothing has changed; key {key}", said("trigger"), said("actor")),
    }
}

fn severity(kind: &str, severity: &str) -> Severity {
    match (kind, severity) {
        ("alert.raised" | "alert.repeated", "error") => Severity::Error,
        ("alert.raised" | "alert.repeated", "warning") => Severity::Warning,
        ("alert.raised" | "alert.repeated", _) => Severity::Informational,
        _ => Severity::Notice,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::delivery::DeliveryStatus;
    use crate::model::scenario::Direction;
    use crate::model::syslog::Facility;
    use crate::model::time::Wall;

    fn syslog(to: &str) -> Syslog {
        let to = Destination::parse(to).unwrap();
        Syslog { to, facility: Facility::parse("local4").unwrap(), app_name: "bascule".into() }
    }

    fn delivery(payload: &Value) -> Delivery {
        Delivery {
            id: 1,
            key: "k1".into(),
            trigger: "noc".into(),
            scenario: "dr".into(),
            seq: 3,
            direction: Direction::Activate,
            alert: None,
            test: false,
            since: Wall(0),
            payload: payload.to_string().into(),
            attempts: 0,
            last_error: None,
            tries: Default::default(),
            status: DeliveryStatus::Pending { next: Wall(0) },
            changed: Wall(0),
        }
    }

    fn commit() -> Value {
        serde_json::json!({
            "type": "scenario.activated", "appliance": "box b", "committed_at": "2026-11-29T22:50:17.000Z",
            "scenario": "dr", "about": "runbook\n17", "seq": 3, "cause": "condition", "group": "api!",
        })
    }

    #[tokio::test]
    async fn over_tcp_a_message_counts_once_the_receiver_has_read_it_and_closed() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let to = syslog(&format!("tcp:{}", listener.local_addr().unwrap()));
        let reads = async {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut read = Vec::new();
            stream.read_to_end(&mut read).await.unwrap();
            read
        };
        let delivery = delivery(&commit());
        let (sent, read) = tokio::join!(deliver(&delivery, &to, None, Duration::from_secs(60)), reads);
        assert!(sent.is_ok() && String::from_utf8_lossy(&read).contains("scenario dr activated"));
        // The kernel accepts for a listener that does not, and takes what is written.
        let failure = deliver(&delivery, &to, None, Duration::from_millis(50)).await.unwrap_err();
        assert!(failure.endpoint && failure.why.contains("not closed"), "{failure:?}");
        let (failure, _held) =
            tokio::join!(deliver(&delivery, &to, None, Duration::from_millis(50)), listener.accept());
        assert!(failure.is_err(), "accepted, and never read");
    }

    #[test]
    fn a_message_is_one_line_with_the_header_of_rfc_5424() {
        let text = message(&delivery(&commit()), &syslog("udp:a:514"), None);
        let pid = std::process::id();
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(
            text,
            format!(
                "<165>1 2026-11-29T22:50:17.000Z box_b bascule {pid} scenario.activated \
                 [origin software=\"bascule\" swVersion=\"{version}\"] \
                 scenario dr activated, seq 3, by condition, group \"api!\" (runbook 17); key k1"
            )
        );
    }

    #[test]
    fn a_body_of_ones_own_stands_in_its_place_and_is_cut_between_characters() {
        let body: Name = "${scenario} ü${about}".into();
        let text = message(&delivery(&commit()), &syslog("udp:a:514"), Some(&body));
        assert!(text.ends_with("] \u{feff}dr ürunbook 17"), "{text}");
        let long: Name = "ü".repeat(5_000).as_str().into();
        let text = message(&delivery(&commit()), &syslog("udp:a:514"), Some(&long));
        assert!((2_047..=2_048).contains(&text.len()));
    }

    #[test]
    fn what_an_alert_says_decides_its_severity() {
        let of = |kind, severity| super::severity(kind, severity);
        assert_eq!(of("alert.raised", "error"), Severity::Error);
        assert_eq!(of("alert.repeated", "warning"), Severity::Warning);
        assert_eq!(of("alert.raised", "info"), Severity::Informational);
        assert_eq!(of("alert.resolved", "error"), Severity::Notice);
        assert_eq!(of("scenario.activated", ""), Severity::Notice);
    }
}
