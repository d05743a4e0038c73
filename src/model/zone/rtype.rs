//! Record types and their names.

/// A record type by number (RFC 1035, RFC 3597).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordType(pub u16);

// === impl RecordType ===

impl RecordType {
    pub const A: RecordType = RecordType(1);
    pub const NS: RecordType = RecordType(2);
    pub const CNAME: RecordType = RecordType(5);
    pub const SOA: RecordType = RecordType(6);
    pub const PTR: RecordType = RecordType(12);
    pub const MX: RecordType = RecordType(15);
    pub const TXT: RecordType = RecordType(16);
    pub const AAAA: RecordType = RecordType(28);
    pub const LOC: RecordType = RecordType(29);
    pub const SRV: RecordType = RecordType(33);
    pub const CERT: RecordType = RecordType(37);
    pub const DNAME: RecordType = RecordType(39);
    pub const OPT: RecordType = RecordType(41);
    pub const APL: RecordType = RecordType(42);
    pub const DS: RecordType = RecordType(43);
    pub const RRSIG: RecordType = RecordType(46);
    pub const NSEC: RecordType = RecordType(47);
    pub const DNSKEY: RecordType = RecordType(48);
    pub const EUI48: RecordType = RecordType(108);
    pub const EUI64: RecordType = RecordType(109);
    pub const ANY: RecordType = RecordType(255);
    pub const URI: RecordType = RecordType(256);
    pub const CAA: RecordType = RecordType(257);
    /// Addresses of another name served here, as one's own; of private use, and never on the wire. There is no RFC.
    pub const ALIAS: RecordType = RecordType(65_401);

    const NAMES: [(&'static str, u16); 49] = [
        ("A", 1),
        ("NS", 2),
        ("CNAME", 5),
        ("SOA", 6),
        ("PTR", 12),
        ("HINFO", 13),
        ("MX", 15),
        ("TXT", 16),
        ("RP", 17),
        ("AFSDB", 18),
        ("RT", 21),
        ("AAAA", 28),
        ("LOC", 29),
        ("SRV", 33),
        ("NAPTR", 35),
        ("KX", 36),
        ("CERT", 37),
        ("DNAME", 39),
        ("OPT", 41),
        ("APL", 42),
        ("DS", 43),
        ("SSHFP", 44),
        ("IPSECKEY", 45),
        ("RRSIG", 46),
        ("NSEC", 47),
        ("DNSKEY", 48),
        ("DHCID", 49),
        ("NSEC3", 50),
        ("NSEC3PARAM", 51),
        ("TLSA", 52),
        ("SMIMEA", 53),
        ("CDS", 59),
        ("CDNSKEY", 60),
        ("OPENPGPKEY", 61),
        ("CSYNC", 62),
        ("ZONEMD", 63),
        ("SVCB", 64),
        ("HTTPS", 65),
        ("SPF", 99),
        ("LP", 107),
        ("EUI48", 108),
        ("EUI64", 109),
        ("ANY", 255),
        ("URI", 256),
        ("CAA", 257),
        ("AVC", 258),
        ("RESINFO", 261),
        ("WALLET", 262),
        ("ALIAS", 65401),
    ];

    /// `A`, `aaaa`, `TYPE65400` (RFC 3597).
    pub fn parse(text: &str) -> Option<RecordType> {
        let upper = text.to_ascii_uppercase();
        if let Some((_, number)) = RecordType::NAMES.iter().find(|(name, _)| *name == upper) {
            return Some(RecordType(*number));
        }
        upper.strip_prefix("TYPE")?.parse().ok().map(RecordType)
    }
}

impl std::fmt::Display for RecordType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match RecordType::NAMES.iter().find(|(_, number)| *number == self.0) {
            Some((name, _)) => f.write_str(name),
            None => write!(f, "TYPE{}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_names_and_numbers() {
        assert_eq!(RecordType::parse("aaaa"), Some(RecordType::AAAA));
        assert_eq!(RecordType::parse("TYPE65400"), Some(RecordType(65400)));
        assert_eq!(RecordType(65400).to_string(), "TYPE65400");
        assert_eq!(RecordType::parse("TYPE1").unwrap().to_string(), "A");
        assert_eq!(RecordType::parse("NOPE"), None);
    }
}
