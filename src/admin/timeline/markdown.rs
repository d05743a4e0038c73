//! As Markdown (CommonMark, with tables as most renderers know them).

use super::TimelineDto;
use crate::model::id::turns_text;

pub(in crate::admin) fn markdown(timeline: &TimelineDto) -> String {
    let mut out =
        format!("# {}: {} to {}\n\n", escaped(&timeline.appliance), escaped(&timeline.since), escaped(&timeline.until));
    if timeline.truncated {
        out += "**Not all: there is more in this span than was read. Narrow it.**\n\n";
    }
    if timeline.summary.is_empty() {
        out += "No scenario moved.\n\n";
    }
    for line in &timeline.summary {
        out += &format!("- {}\n", escaped(line));
    }
    out += "\n| time | after | what | who | entry |\n|---|---|---|---|---|\n";
    for event in &timeline.events {
        let details: String = event.details.iter().map(|detail| format!("<br>{}", escaped(detail))).collect();
        out += &format!(
            "| {} | {} | {}{details} | {} | {} `{}` |\n",
            event.at,
            event.offset,
            escaped(&event.text),
            escaped(event.actor.as_deref().unwrap_or("")),
            event.entry,
            event.hash.get(..12).unwrap_or(&event.hash),
        );
    }
    out
}

/// Text that means itself: whatever has a meaning in Markdown or in HTML within it is escaped, line ends become spaces.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '(' | ')' | '#' | '+' | '!' | '|' | '~' | '$' => {
                out.push('\\');
                out.push(c);
            }
            c if c.is_control() || turns_text(c) => out.push(' '),
            c => out.push(c),
        }
    }
    // A bare address would become a link.
    out.replace("://", ":\u{200b}//")
}
