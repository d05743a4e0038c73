use super::*;

#[test]
fn an_act_reads_as_a_person_would_say_it() {
    let at = Wall(1_795_995_017_000_000);
    let modes = Change::Modes { activate: Some(Mode::Auto), deactivate: Some(Mode::On), override_guard: true };
    let said = [
        Change::Disabled { deadline: None, graceful: false },
        Change::Disabled { deadline: None, graceful: true },
        Change::Disabled { deadline: Some(at), graceful: false },
        Change::Disabled { deadline: Some(at), graceful: true },
        modes,
        Change::Forced(None),
    ]
    .map(|change| change.to_string());
    assert_eq!(
        said,
        [
            "disabled",
            "disabled gracefully",
            "disabled, out at 2026-11-29T23:30:17.000Z",
            "disabled gracefully, out at 2026-11-29T23:30:17.000Z at the latest",
            "activate auto, deactivate on, past the guard",
            "no longer forced",
        ]
    );
}
