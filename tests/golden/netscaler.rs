//! The table of NetScaler's parameters says what a configuration may say: no more and no less.

use bascule::config::schema::{Kind, ROOT, Schema};

struct Row {
    section: String,
    parameter: String,
    status: String,
    /// What stands in `code` in the third column.
    here: Vec<String>,
    remark: String,
}

fn rows() -> Vec<Row> {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/src/manual/netscaler.rs");
    let text = std::fs::read_to_string(page).expect("the page");
    let mut section = String::new();
    let mut rows = Vec::new();
    for line in text.lines().filter_map(|line| line.strip_prefix("//! ")) {
        if let Some(title) = line.strip_prefix("## ") {
            section = title.to_owned();
        }
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let is_row = line.starts_with("| ") && cells.len() >= 3 && !["parameter", "---"].contains(&cells[0]);
        if is_row {
            let here = cells[2].split('`').skip(1).step_by(2).map(str::to_owned).collect();
            let (parameter, status) = (cells[0].to_owned(), cells[1].to_owned());
            let remark = cells.get(3).unwrap_or(&"").to_string();
            rows.push(Row { section: section.clone(), parameter, status, here, remark });
        }
    }
    assert!(rows.len() > 50, "{}", rows.len());
    rows
}

/// The tables of the configuration that a section is about.
fn schemas(section: &str) -> Vec<&'static Schema> {
    let path: &[&[&str]] = match section {
        "lb monitor" => &[&["monitor"]],
        "server" => &[&["server"]],
        "lb vserver" => &[&["vserver"]],
        "service" => &[&["service"]],
        "serviceGroup" => &[&["service_group"], &["service_group", "member"]],
        other => panic!("what is {other}?"),
    };
    path.iter().map(|path| path.iter().fold(&ROOT, |schema, key| table(schema, key))).collect()
}

fn table(schema: &'static Schema, key: &str) -> &'static Schema {
    match schema.key(key).expect("a section").kind {
        Kind::Table(schema) => schema,
        Kind::Map(Kind::Table(schema)) => schema,
        other => panic!("{key} is {other:?}"),
    }
}

#[test]
fn every_supported_parameter_has_its_key_and_every_refused_one_is_refused() {
    for row in rows() {
        let schemas = schemas(&row.section);
        let is_key = |key: &str| schemas.iter().any(|schema| schema.key(key).is_some());
        let is_refused = |key: &str| schemas.iter().any(|schema| schema.later.contains(&key));
        let what = format!("{} {}", row.section, row.parameter);
        assert!(!row.here.is_empty(), "{what}: nothing stands in the third column");
        for here in &row.here {
            // A section, or a command of the shell, is no key.
            let is_word = here.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
            match &*row.status {
                "supported" | "stored" => assert!(!is_word || is_key(here), "{what}: there is no key `{here}`"),
                "refused" => {
                    assert!(is_refused(here) && !is_key(here), "{what}: `{here}` is not refused by name");
                    assert!(!row.remark.is_empty(), "{what}: refused without a reason");
                }
                other => panic!("{what}: `{other}` is neither supported, stored nor refused"),
            }
        }
    }
}

#[test]
fn everything_that_is_refused_by_name_stands_in_the_table() {
    let rows = rows();
    let mut sections: Vec<&str> = rows.iter().map(|row| &*row.section).collect();
    sections.dedup();
    for section in sections {
        let listed =
            |key: &str| rows.iter().any(|row| row.section == section && row.here.iter().any(|here| here == key));
        for schema in schemas(section) {
            let absent: Vec<&&str> = schema.later.iter().filter(|key| !listed(key)).collect();
            assert!(absent.is_empty(), "{section}: refused and not in the table: {absent:?}");
        }
    }
}
