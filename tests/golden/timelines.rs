//! What `bascule simulate` prints for the script of every profile.

use bascule::rehearse::{prepare, timeline_of};

#[test]
fn every_profile_has_the_timeline_that_was_looked_at() {
    insta::glob!("../../profiles", "*.events", |path| {
        let prepared = prepare(path, None).unwrap_or_else(|lines| panic!("{}", lines.join("\n")));
        let (text, is_whole) = timeline_of(&prepared);
        assert!(is_whole);
        insta::with_settings!({ omit_expression => true }, {
            insta::assert_snapshot!(text);
        });
    });
}
