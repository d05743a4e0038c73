use super::*;
use crate::model::zone::{DnsName, RecordType};

fn name(text: &str) -> DnsName {
    DnsName::parse(text, &DnsName::root()).unwrap()
}

fn query(text: &str) -> (Query, Vec<u8>) {
    let mut message = vec![0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    message.extend_from_slice(&name(text).0);
    message.extend_from_slice(&[0, 1, 0, 1]);
    (parse(&message).unwrap(), message)
}

#[test]
fn names_are_written_once() {
    let (query, message) = query("www.example.test.");
    let mut out = Vec::new();
    let mut writer = Writer::new(&mut out, &query, &message, 512, 0);
    let target = name("mail.example.test.").0;
    let mx = [b"\x00\x0a".as_slice(), &target].concat();
    writer.record(Section::Answer, &name("www.example.test.").0, RecordType::MX, 1, &mx).unwrap();
    writer.record(Section::Additional, &target, RecordType::A, 1, &[1, 2, 3, 4]).unwrap();
    writer.finish(0, None);
    let question = 12 + 18 + 4;
    // Owner as a pointer, type to length, preference, one label and a pointer.
    assert_eq!(
        out[question..question + 21],
        [0xc0, 12, 0, 15, 0, 1, 0, 0, 0, 1, 0, 9, 0, 10, 4, b'm', b'a', b'i', b'l', 0xc0, 16]
    );
    assert_eq!(out[question + 21..question + 23], [0xc0, (question + 14) as u8]);
}

#[test]
fn a_record_that_does_not_fit_leaves_no_trace() {
    let (query, message) = query("www.example.test.");
    let mut out = Vec::new();
    let mut writer = Writer::new(&mut out, &query, &message, 12 + 18 + 4 + 16, 0);
    let owner = name("www.example.test.").0;
    assert_eq!(writer.record(Section::Answer, &owner, RecordType(99), 1, &[7; 5]), Err(Full));
    assert_eq!(writer.record(Section::Answer, &owner, RecordType::A, 1, &[1, 2, 3, 4]), Ok(()));
    writer.finish(0, None);
    assert_eq!((out.len(), out[7]), (12 + 18 + 4 + 16, 1));
}

#[test]
fn names_in_rdata_of_later_types_stay_whole() {
    let (query, message) = query("a.test.");
    let mut out = Vec::new();
    let mut writer = Writer::new(&mut out, &query, &message, 512, 0);
    let srv = [b"\x00\x01\x00\x01\x00\x01".as_slice(), &name("a.test.").0].concat();
    writer.record(Section::Answer, &name("a.test.").0, RecordType::SRV, 1, &srv).unwrap();
    writer.finish(0, None);
    assert!(out.ends_with(&srv));
}

#[test]
fn the_root_is_a_name() {
    let (query, message) = query(".");
    let mut out = Vec::new();
    let mut writer = Writer::new(&mut out, &query, &message, 512, 0);
    writer.record(Section::Answer, &[0], RecordType::NS, 1, &[0]).unwrap();
    writer.finish(0, None);
    assert_eq!(out[17..], [0, 0, 2, 0, 1, 0, 0, 0, 1, 0, 1, 0]);
}
