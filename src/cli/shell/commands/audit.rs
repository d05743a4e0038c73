//! What happened, and where it is shipped to.

use super::{Arguments, Command, Explained, Request};
use crate::cli::journal::{newest, with_query};

/// Entries of the journal that are shown where nobody says how many.
const ENTRIES: u32 = 100;

pub(super) const SHOW_JOURNAL: Command = Command {
    words: &["show", "journal"],
    least: 0,
    most: 0,
    options: &["since", "until", "scenario", "actor", "kind", "limit"],
    usage: "show journal [-since <time>] [-until <time>] [-scenario <name>] [-actor <actor>] [-kind <kind>] \
            [-limit <number>]",
    names: None,
    build: show_journal,
};

pub(super) const SHOW_SHIPPING: Command = Command {
    words: &["show", "journal", "shipping"],
    least: 0,
    most: 0,
    options: &[],
    usage: "show journal shipping",
    names: None,
    build: |_| Ok(Request::Explain { what: Explained::Shipping, path: "/api/v1/journal/shipping".into(), body: None }),
};

fn show_journal(arguments: &Arguments) -> Result<Request, String> {
    let mut query = Vec::new();
    for name in ["since", "until", "scenario", "actor", "kind"] {
        query.push((name, arguments.value(name)?.map(str::to_owned)));
    }
    let most = match arguments.value("limit")? {
        None => ENTRIES,
        Some(text) => text.parse().map_err(|_| format!("Invalid value: -limit is a number, not {text}"))?,
    };
    query.extend(newest(most));
    Ok(Request::Explain { what: Explained::Journal { most }, path: with_query("/api/v1/journal", &query), body: None })
}

#[cfg(test)]
mod tests {
    use super::super::super::request as parse;
    use super::*;

    #[test]
    fn the_journal_is_asked_for_by_time_scenario_and_actor() {
        let asked = |what, path: &str| Ok(Some(Request::Explain { what, path: path.into(), body: None }));
        assert_eq!(
            parse("show journal -since 2h -scenario dr -actor admin:ops"),
            asked(
                Explained::Journal { most: 100 },
                "/api/v1/journal?since=2h&scenario=dr&actor=admin%3Aops&limit=101&newest_first=true"
            )
        );
        let last = "/api/v1/journal?limit=6&newest_first=true";
        assert_eq!(parse("show journal -limit 5"), asked(Explained::Journal { most: 5 }, last));
        assert!(parse("show journal -limit few").is_err());
        assert_eq!(parse("show journal shipping"), asked(Explained::Shipping, "/api/v1/journal/shipping"));
    }
}
