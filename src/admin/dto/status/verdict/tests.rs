use super::*;

fn at(clock: &str) -> Wall {
    let mut parts = clock.split(':').map(|part| part.parse::<i64>().expect("a number"));
    let mut next = || parts.next().expect("a part");
    // 2026-01-05
    Wall((1_767_571_200 + next() * 3_600 + next() * 60 + next()) * 1_000_000)
}

fn moved(back: Back) -> Moved {
    let why = "dr activated at 03:10:12 because 'WAN of A is gone' was true.".into();
    Moved { what: "dc-b answers for dc-a".into(), why, back }
}

fn waiting(returns: bool) -> Waiting {
    Waiting {
        returns,
        what: "guard log-shipping refuses".into(),
        why: "dr wants to activate since 03:10:14: 45 <= 30 is false.".into(),
        approval: None,
    }
}

/// Everything is odd at once.
fn everything() -> Sight {
    Sight {
        starting: Some((3, 12)),
        nobody: vec!["www".into()],
        refusing: vec!["web".into()],
        both_out: true,
        as_they_are: vec!["erp".into()],
        moved: vec![moved(Back::Itself { at: Some(at("03:34:50")) })],
        waiting: vec![waiting(false)],
        held: vec!["dr".into(), "mail-dr".into()],
        wrong: vec!["service web1: down: connection refused".into(); 3],
        hidden: Vec::new(),
        names: 2,
        vservers: 1,
    }
}

fn text(sight: &Sight) -> String {
    sight.verdict().text
}

#[test]
fn the_first_pattern_that_fits_is_said() {
    let mut sight = everything();
    let mut expect = |sentence: &str, severity: &str, mend: fn(&mut Sight)| {
        let verdict = sight.verdict();
        assert_eq!((&*verdict.text, &*verdict.severity), (sentence, severity));
        mend(&mut sight);
    };
    expect("Waiting for the first probe round, 3 of 12 checks known.", "info", |s| s.starting = None);
    expect("www answers nobody.", "error", |s| s.nobody.clear());
    expect("Both sites are out; answers are given as they are.", "error", |s| s.both_out = false);
    let as_they_are = "erp: no record is left; its answers are given as they are.";
    expect(as_they_are, "error", |s| s.as_they_are.clear());
    expect("web takes no new clients.", "error", |s| s.refusing.clear());
    let moved = "dc-b answers for dc-a. It returns by itself at 03:34:50 if checks hold.";
    expect(moved, "warning", |s| s.moved.clear());
    expect("A failover is waiting: guard log-shipping refuses.", "warning", |s| s.waiting.clear());
    expect("dr and mail-dr are held by people.", "info", |s| s.held.clear());
    expect("3 things are wrong; every name goes where it should.", "warning", |s| s.wrong.truncate(1));
    expect("1 thing is wrong; every name goes where it should.", "warning", |s| s.wrong.clear());
    expect("Every name goes where it should.", "ok", |s| s.names = 0);
    expect("Every vserver takes new clients.", "ok", |s| s.vservers = 0);
    expect("Nothing is configured to be served.", "ok", |_| {});
}

#[test]
fn a_way_back_says_who_takes_it_and_when() {
    let (when, deadline) = (at("03:49:50"), Some(at("03:11:14")));
    let rows = [
        (Back::Person { ready: false, at: Some(when) }, "The way back is up to you.", "person", true),
        (Back::Person { ready: true, at: None }, "It is ready to return; a person returns it.", "person", false),
        (Back::Itself { at: Some(when) }, "It returns by itself at 03:49:50 if checks hold.", "appliance", true),
        (Back::Itself { at: None }, "It returns by itself once its checks pass.", "appliance", false),
        (Back::Drill { at: when }, "A drill: it returns at 03:49:50.", "appliance", true),
    ];
    for (back, sentence, who, timed) in rows {
        let verdict = Sight { moved: vec![moved(back)], names: 1, ..Sight::default() }.verdict();
        assert_eq!(verdict.text, format!("dc-b answers for dc-a. {sentence}"));
        let next = verdict.next.expect("somebody has the next move");
        assert_eq!((&*next.who, next.at.is_some()), (who, timed), "{sentence}");
        assert!(verdict.because.starts_with("dr activated at 03:10:12"), "{}", verdict.because);
    }
    let asked = Waiting { approval: deadline, ..waiting(false) };
    let verdict = Sight { waiting: vec![asked], ..Sight::default() }.verdict();
    let next = verdict.next.expect("a person is asked");
    assert_eq!((&*next.who, next.at), ("person", deadline.map(|at| at.to_string())));
    assert_eq!(text(&Sight { waiting: vec![waiting(true)], ..Sight::default() })[..8], *"A return");
}

#[test]
fn a_force_that_hides_a_failing_probe_is_named_whatever_else_is_said() {
    let hidden = vec!["check erp-a is forced up, and its probe says down.".to_owned()];
    let quiet = Sight { names: 1, hidden: hidden.clone(), ..Sight::default() };
    for sight in [quiet, Sight { hidden: hidden.clone(), starting: None, ..everything() }] {
        assert!(sight.verdict().because.ends_with(&hidden[0]), "{}", sight.verdict().because);
    }
    let many = Sight { hidden: vec!["x.".into(); 5], ..Sight::default() };
    assert_eq!(many.verdict().because, "x. x. x. 2 more forces hide what probes say.");
}

#[test]
fn a_list_stays_short_however_many_there_are() {
    let names: Vec<String> = ["a", "b", "c", "d", "e"].iter().map(ToString::to_string).collect();
    let lists = ["", "a", "a and b", "a, b and c", "a, b, c and 1 more", "a, b, c and 2 more"];
    for (count, list) in lists.iter().enumerate() {
        assert_eq!(listed(&names[..count], "and"), *list);
    }
    let both = Sight { nobody: names[..2].to_vec(), ..Sight::default() };
    assert_eq!(text(&both), "a and b answer nobody.");
}
