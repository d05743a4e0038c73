//! Sessions with the one writer in virtual time: what was typed, what happened, and when. The whole session is the
//! expectation; its difference is what a release note would say.
//!
//! A transcript holds a configuration between lines `---`, prose after `#`, and one command a line:
//!
//! ```text
//! wait 10s · pass|fail|trofs CHECK · open|close SERVICE · dig NAME TYPE · show KIND NAME · show status
//! disable KIND NAME [delay D] [graceful] [wait D] · enable KIND NAME
//! mode SCENARIO [activate M] [deactivate M] [override] · switch NAME on|off · force KIND NAME up|down|none [expires D]
//! apply OLD => NEW (in the text of the configuration) · disk hangs|full|heals · kill D
//! ```

#[path = "transcripts/print.rs"]
mod print;
#[path = "transcripts/session.rs"]
mod session;

#[test]
fn sessions_go_as_they_are_written_down() {
    insta::glob!("transcripts/*.txt", |path| {
        let text = std::fs::read_to_string(path).unwrap();
        insta::with_settings!({ omit_expression => true }, {
            insta::assert_snapshot!(session::run(&text));
        });
    });
}
