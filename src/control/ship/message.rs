//! Entries of the journal as they travel.

use serde_json::json;

use crate::control::journal::chain::Entry;
use crate::control::journal::codec::wall_text;
use crate::model::id::Name;

/// Facility *log audit* (RFC 5424, table 1).
const LOG_AUDIT: u8 = 13;
/// RFC 5424 §6.2.4.
const HOST_NAME_MOST: usize = 255;

/// One entry as a line of JSON without a line end: all that its hash is made of, the body as it was hashed.
pub fn line(appliance: &Name, entry: &Entry) -> String {
    let head = json!({
        "appliance": appliance, "number": entry.number, "at": wall_text(entry.at), "tick_us": entry.tick.0,
        "kind": entry.kind, "object": entry.object, "actor": entry.actor, "prev": entry.prev, "hash": entry.hash,
    });
    let head = head.to_string();
    format!("{},\"body\":{}}}", head.trim_end_matches('}'), entry.body)
}

/// One entry as a message of RFC 5424, framed by its length (RFC 6587 §3.4.1).
pub fn frame(appliance: &Name, pid: u32, entry: &Entry) -> String {
    // 1..=2147483647, beginning anew after it (RFC 5424 §7.3.1).
    let sequence = (entry.number - 1) % 0x7fff_ffff + 1;
    let message = format!(
        "<{}>1 {} {} bascule {pid} {} [meta sequenceId=\"{sequence}\"] {}",
        LOG_AUDIT * 8 + severity(&entry.kind),
        wall_text(entry.at),
        host_name(appliance),
        entry.kind,
        line(appliance, entry),
    );
    format!("{} {message}", message.len())
}

fn severity(kind: &str) -> u8 {
    match kind {
        "warning" | "alert" => 4,
        "transition" | "act" | "config" | "start" | "stop" | "handover" | "attempt" | "access" => 5,
        _ => 6,
    }
}

/// Printable ASCII without spaces; `-` where nothing of it is left.
fn host_name(appliance: &str) -> String {
    let name: String = appliance.chars().filter(char::is_ascii_graphic).take(HOST_NAME_MOST).collect();
    if name.is_empty() { "-".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::journal::chain::Head;
    use crate::control::store::Draft;
    use crate::model::time::{Tick, Wall};

    fn entry() -> Entry {
        let draft = Draft {
            at: Wall(1_795_992_617_123_456),
            tick: Tick(5),
            kind: "transition",
            object: "scenario dr".into(),
            actor: "auto".into(),
            body: json!({ "scenario": "dr", "reason": "a } in \"quotes\"" }),
        };
        Entry::append(&Head::genesis(), &draft)
    }

    #[test]
    fn a_line_holds_all_that_the_hash_is_made_of() {
        let line = line(&"box-a".into(), &entry());
        let read: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(read["number"], 1);
        assert_eq!(read["body"]["scenario"], "dr");
        let again = Entry { body: read["body"].to_string(), ..entry() };
        assert_eq!(again.computed_hash(), read["hash"]);
        assert!(!line.contains('\n'));
    }

    #[test]
    fn a_message_has_the_header_of_rfc_5424_and_its_own_length_before_it() {
        let frame = frame(&"box a\u{e9}".into(), 42, &entry());
        let (length, message) = frame.split_once(' ').unwrap();
        assert_eq!(length.parse::<usize>().unwrap(), message.len());
        let begins = "<109>1 2026-11-29T22:50:17.123456Z boxa bascule 42 transition [meta sequenceId=\"1\"] {\"";
        assert!(message.starts_with(begins), "{message}");
    }
}
