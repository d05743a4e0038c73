//! What happened, and where it is shipped to.

use super::{Arguments, Command, Explained, Request};
use crate::cli::journal::with_query;

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
    for name in ["since", "until", "scenario", "actor", "kind", "limit"] {
        query.push((name, arguments.value(name)?.map(str::to_owned)));
    }
    Ok(Request::Explain { what: Explained::Journal, path: with_query("/api/v1/journal", &query), body: None })
}

#[cfg(test)]
mod tests {
    use super::super::super::parse;
    use super::*;

    #[test]
    fn the_journal_is_asked_for_by_time_scenario_and_actor() {
        let asked = |what, path: &str| Ok(Some(Request::Explain { what, path: path.into(), body: None }));
        assert_eq!(
            parse("show journal -since 2h -scenario dr -actor admin:ops"),
            asked(Explained::Journal, "/api/v1/journal?since=2h&scenario=dr&actor=admin%3Aops")
        );
        assert_eq!(parse("show journal"), asked(Explained::Journal, "/api/v1/journal"));
        assert_eq!(parse("show journal shipping"), asked(Explained::Shipping, "/api/v1/journal/shipping"));
    }
}
