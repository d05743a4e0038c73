use crate::netscaler::document::Document;
use crate::netscaler::error::NsError;
use crate::netscaler::line::{self, Parsed};

fn execute(document: &mut Document, text: &str) -> Result<(), NsError> {
    let Ok(Parsed::Statements(statements)) = line::parse(text) else { panic!("{text}") };
    statements.iter().try_for_each(|statement| document.execute(statement).map(drop))
}

fn text(document: &Document) -> &str {
    document.table("zone", "odd.test").and_then(|zone| zone.get("static")?.as_str()).unwrap_or_default()
}

#[test]
fn a_record_goes_from_a_text_however_its_lines_hang_together() {
    let mut document = Document::from_toml(
        r#"
        [zone."odd.test"]
        static = """
$TTL 5m
@ NS ns1.example.test.
  NS ns2.example.test.
  ; a comment
  TXT "(in brackets)"
$ORIGIN sub.odd.test.
www A 192.0.2.1
    A 192.0.2.2
mail MX 10 (
  mx.example.test. )
"""
        "#,
    )
    .unwrap();
    let rest = "$ORIGIN sub.odd.test.\nwww A 192.0.2.1\n    A 192.0.2.2\nmail MX 10 (\n  mx.example.test. )\n";
    for (line, left) in [
        ("rm dns nsRec odd.test ns1.example.test", "@  NS ns2.example.test.\n  ; a comment\n  TXT \"(in brackets)\"\n"),
        ("rm dns nsRec odd.test ns2.example.test", "  ; a comment\n@  TXT \"(in brackets)\"\n"),
        ("rm dns txtRec odd.test \"(in brackets)\"", "  ; a comment\n"),
    ] {
        execute(&mut document, line).unwrap();
        assert_eq!(text(&document), format!("$TTL 5m\n{left}{rest}"), "{line}");
    }
    execute(&mut document, "rm dns addRec www.sub.odd.test 192.0.2.1").unwrap();
    assert!(text(&document).contains("test.\nwww    A 192.0.2.2\nmail"), "{}", text(&document));
    let before = document.clone();
    let refused = execute(&mut document, "rm dns mxRec mail.sub.odd.test mx.example.test").unwrap_err();
    assert!(refused.code == 257 && refused.message.contains("on several lines"), "{refused:?}");
    assert_eq!(execute(&mut document, "rm dns addRec www.sub.odd.test 192.0.2.9").unwrap_err().code, 258);
    assert_eq!(document, before);
}
