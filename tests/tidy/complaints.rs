//! The page of what operators miss elsewhere names tests that are there.

use super::source;

#[test]
fn every_test_that_the_page_of_complaints_names_exists() {
    let page = std::fs::read_to_string(source::root().join("src/manual/complaints.rs")).expect("the page");
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("//! | ")).skip(1).collect();
    assert!(rows.len() > 15, "the table is there: {}", rows.len());
    let sources = source::rust_files(&["src", "tests"]);
    let exists = |name: &str| {
        let is_test = format!("fn {name}()");
        sources.iter().any(|source| source.code.contains(&is_test))
    };
    let mut missing = Vec::new();
    for row in rows {
        let tests = row.trim_end_matches(" |").rsplit(" | ").next().unwrap_or_default();
        let names: Vec<&str> = tests.split('`').skip(1).step_by(2).collect();
        assert!(!names.is_empty(), "no test: {row}");
        missing.extend(names.into_iter().filter(|name| !exists(name)));
    }
    assert!(missing.is_empty(), "tests that are named and not there:\n{}", missing.join("\n"));
}
