//! Zone text ⇄ records.

use std::sync::Arc;

use crate::model::zone::{DnsName, RecordType, StaticRecord};

/// What is wrong with a zone text, and where; lines and columns start at 1.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ZoneProblem {
    pub line: u32,
    pub column: u32,
    pub what: String,
}

pub fn read(text: &str, origin: &DnsName, default_ttl: u32) -> (Vec<StaticRecord>, Vec<ZoneProblem>) {
    let _ = (text, origin, default_ttl);
    todo!()
}

pub fn rdata(rtype: RecordType, text: &str, origin: &DnsName) -> Result<Arc<[u8]>, String> {
    let _ = (rtype, text, origin);
    todo!()
}

pub fn presentation(rtype: RecordType, rdata: &[u8]) -> String {
    let _ = (rtype, rdata);
    todo!()
}
