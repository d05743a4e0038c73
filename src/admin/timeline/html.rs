//! As one page of HTML without anything from elsewhere.

use super::TimelineDto;
use crate::model::id::turns_text;

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem}\
table{border-collapse:collapse;width:100%}td,th{border-bottom:1px solid #8884;padding:.35rem .5rem;text-align:left;\
vertical-align:top}ul{margin:.2rem 0;padding-left:1.2rem}.n{font-variant-numeric:tabular-nums;white-space:nowrap}\
.transition{font-weight:600}.more{font-weight:400}@media(prefers-color-scheme:dark){body{background:#111;color:#ddd}}";

pub(in crate::admin) fn html(timeline: &TimelineDto) -> String {
    let title = escaped(&format!("{}: {} to {}", timeline.appliance, timeline.since, timeline.until));
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\
         <style>{STYLE}</style></head>\n<body><h1>{title}</h1>\n"
    );
    if timeline.truncated {
        out += "<p><strong>Not all: there is more in this span than was read. Narrow it.</strong></p>\n";
    }
    if timeline.summary.is_empty() {
        out += "<p>No scenario moved.</p>\n";
    } else {
        let lines: String = timeline.summary.iter().map(|line| format!("<li>{}</li>", escaped(line))).collect();
        out += &format!("<ul>{lines}</ul>\n");
    }
    out += "<table><thead><tr><th>time</th><th>after</th><th>what</th><th>who</th><th>entry</th></tr></thead><tbody>\n";
    for event in &timeline.events {
        let details: String = event.details.iter().map(|detail| format!("<li>{}</li>", escaped(detail))).collect();
        let details = if details.is_empty() { details } else { format!("<ul class=\"more\">{details}</ul>") };
        let class = if event.kind == "transition" { "transition" } else { "other" };
        out += &format!(
            "<tr><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"{class}\">{}{details}</td><td>{}</td>\
             <td class=\"n\">{} <code>{}</code></td></tr>\n",
            escaped(&event.at),
            escaped(&event.offset),
            escaped(&event.text),
            escaped(event.actor.as_deref().unwrap_or("")),
            event.entry,
            escaped(event.hash.get(..12).unwrap_or(&event.hash)),
        );
    }
    out + "</tbody></table></body></html>\n"
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            c if c.is_control() || turns_text(c) => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
