//! Files of other versions, and of other processes.

use super::*;

/// Makes the file what an older version had left.
fn make_older(dir: &Path) {
    let db = rusqlite::Connection::open(dir.join("bascule.db")).unwrap();
    db.execute_batch("DROP TABLE drills; UPDATE meta SET value = '3' WHERE key = 'schema'").unwrap();
}

fn schema_of(path: &Path) -> String {
    let db = rusqlite::Connection::open(path).unwrap();
    db.query_row("SELECT value FROM meta WHERE key = 'schema'", [], |row| row.get(0)).unwrap()
}

#[test]
fn a_file_of_an_older_schema_is_kept_as_it_was_before_it_is_brought_forward() {
    let dir = tempfile::tempdir().unwrap();
    drop(open(dir.path()).unwrap());
    assert!(!dir.path().join("bascule.db.schema-4").exists());
    make_older(dir.path());
    drop(open(dir.path()).unwrap());
    assert_eq!(schema_of(&dir.path().join("bascule.db")), SCHEMA.to_string());
    assert_eq!(schema_of(&dir.path().join("bascule.db.schema-3")), "3");
}

#[test]
fn a_store_that_waits_reads_what_is_there_and_changes_nothing_before_its_first_commit() {
    let dir = tempfile::tempdir().unwrap();
    let (mut former, _) = open(dir.path()).unwrap();
    former
        .commit(&[&Batch {
            scenarios: vec![scenario("dr", 1)],
            entries: vec![draft(1, "", "start")],
            ..Batch::default()
        }])
        .unwrap();
    let mut reopen = former.reopen().unwrap();
    assert!(open_waiting(dir.path()).is_err(), "held");
    drop(former);
    make_older(dir.path());
    let (next, found) = open_waiting(dir.path()).unwrap();
    assert!(next.waits() && found.waits);
    assert_eq!((found.saved.scenarios, found.journal_head), (vec![scenario("dr", 1)], 1));
    assert_eq!(schema_of(&dir.path().join("bascule.db")), "3", "whoever takes it again can read it");
    drop(next);
    drop(reopen().unwrap());
    let (mut next, _) = open_waiting(dir.path()).unwrap();
    assert_eq!(next.commit(&[&Batch { entries: vec![draft(2, "", "start")], ..Batch::default() }]).unwrap(), 2);
    assert_eq!(schema_of(&dir.path().join("bascule.db")), SCHEMA.to_string());
    assert_eq!(next.reader().verify().unwrap().broken, None);
}

#[test]
fn a_state_that_is_held_or_of_a_newer_version_is_not_looked_at_in_vain() {
    let dir = tempfile::tempdir().unwrap();
    drop(open(dir.path()).unwrap());
    let db = rusqlite::Connection::open(dir.path().join("bascule.db")).unwrap();
    db.execute("UPDATE meta SET value = '99' WHERE key = 'schema'", []).unwrap();
    drop(db);
    let refused = open_waiting(dir.path()).unwrap_err();
    assert!(refused.what.contains("newer version (schema 99"), "{refused}");
}
