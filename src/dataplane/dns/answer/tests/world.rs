//! One example world: the zone `example.test.`, scenarios by name, and a client who asks.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use domain::base::Name;
use domain::base::iana::Class;
use domain::base::rdata::ComposeRecordData;
use domain::zonefile::inplace::{Entry, Zonefile};
use hickory_proto::op::{Message, ResponseCode};

use crate::dataplane::dns::answer::{Outcome, Transport, answer};
use crate::model::Model;
use crate::model::condition::{Condition, Subject, Term, Truth};
use crate::model::id::{CheckId, ScenarioId, WatchedId};
use crate::model::scenario::{DirectionRules, Mode, Oscillation, Scenario};
use crate::model::state::StateView;
use crate::model::zone::{
    DnsName, OnEmpty, Record, RecordType, Rrset, Select, SelectMethod, Soa, StaticData, StaticRecord, Zone,
};
use crate::snapshot::Snapshot;
use crate::snapshot::build::{Parts, build};
use crate::snapshot::live::Registry;
use crate::snapshot::zones::ZoneIndex;

pub struct World {
    pub model: Model,
    pub active: Vec<bool>,
    pub watched: Vec<Truth>,
    pub ready: bool,
}

pub const EXAMPLE: &str = "
@         NS     ns1
@         NS     ns2.example.test.
@         MX     10 mail
@         TXT    \"one\" \"two words\"
ns1       A      192.0.2.53
ns1       AAAA   2001:db8::53
ns2       A      192.0.2.54
mail      A      192.0.2.25
alias     CNAME  web
web       A      192.0.2.80
outside   CNAME  www.example.org.
dangling  CNAME  nothing
to-cut    CNAME  host.sub
loop1     CNAME  loop2
loop2     CNAME  loop1
*.wild    TXT    \"from the wildcard\"
a.wild    A      192.0.2.1
b.c.deep  A      192.0.2.2
sub       NS     ns.sub
sub       NS     ns1
sub       DS     1 13 2 00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff
ns.sub    A      192.0.2.153
old       DNAME  new
x.new     A      192.0.2.9
short     DNAME  a-much-longer-name-than-its-owner.new
_sip._udp SRV    1 2 5060 web
odd       TYPE65400 \\# 3 010203
to-www    CNAME  www
";

impl World {
    /// `example.test.` with [`EXAMPLE`] and no steering.
    pub fn example() -> World {
        let mut world = World { model: Model::empty(), active: Vec::new(), watched: Vec::new(), ready: true };
        world.model.dns.listen = Vec::new();
        world.zone("example.test.", EXAMPLE);
        world
    }

    pub fn zone(&mut self, origin: &str, text: &str) -> &mut World {
        let origin = name(origin);
        let zone = Zone {
            name: origin.to_string().trim_end_matches('.').into(),
            ttl: Duration::from_secs(30),
            degraded_ttl: None,
            soa: Soa {
                mname: DnsName::parse("ns1", &origin).unwrap(),
                rname: DnsName::parse("hostmaster", &origin).unwrap(),
                serial: 7,
                refresh: Duration::from_secs(3600),
                retry: Duration::from_secs(600),
                expire: Duration::from_secs(86_400),
                minimum: Duration::from_secs(5),
            },
            dnssec: None,
            transfer: Default::default(),
            text: None,
            records: records(text, &origin),
            rrsets: Vec::new(),
            origin,
        };
        self.model.zones.push(zone);
        self
    }

    /// A scenario; its id is its position.
    pub fn scenario(&mut self, name: &str, active: bool) -> ScenarioId {
        let direction = || DirectionRules {
            base_mode: Mode::Auto,
            when: Condition::default(),
            gate: None,
            guard: None,
            triggers: Vec::new(),
        };
        self.model.scenarios.push(Scenario {
            name: name.into(),
            about: "".into(),
            initially_active: false,
            directions: [direction(), direction()],
            oscillation: Oscillation { commits: 10, within: Duration::from_secs(600) },
            min_dwell: Duration::ZERO,
            renamed_from: None,
            pair: None,
        });
        self.active.push(active);
        ScenarioId::from_index(self.active.len() - 1)
    }

    /// A term that records can name as `check`.
    pub fn term(&mut self, text: &str, value: Truth) -> WatchedId {
        let subject = Subject::Check(CheckId(0));
        self.model.watched.push(Term { text: text.into(), subject, negated: false, measure: None, hold: None });
        self.watched.push(value);
        WatchedId::from_index(self.watched.len() - 1)
    }

    /// A steered RRset of the first zone: `rrset("www A", vec![record("192.0.2.10")])`.
    pub fn rrset(&mut self, key: &str, records: Vec<Record>) -> &mut Rrset {
        let zone = &mut self.model.zones[0];
        let (owner, rtype) = key.split_once(' ').unwrap();
        zone.rrsets.push(Rrset {
            key: key.into(),
            owner: DnsName::parse(owner, &zone.origin).unwrap(),
            rtype: RecordType::parse(rtype).unwrap(),
            ttl: 30,
            own_ttl: false,
            degraded_ttl: None,
            own_degraded_ttl: false,
            gslb_vserver: None,
            records,
            on_empty: OnEmpty::ServeAll,
            select: Select { topology: false, geo: false, method: SelectMethod::Ordered, answers: None },
            datacenter: None,
        });
        zone.rrsets.last_mut().unwrap()
    }

    pub fn snapshot(&self) -> Snapshot {
        let model = Arc::new(self.model.clone());
        let mut snapshot = build(Parts {
            generation: 1,
            model: &model,
            view: &StateView::default(),
            registry: &mut Registry::default(),
            zones: &Arc::new(ZoneIndex::build(&model)),
            resolved: &Default::default(),
            previous: None,
            scenario_active: self.active.clone(),
            ready: self.ready,
        });
        snapshot.watched = self.watched.clone();
        snapshot
    }

    /// The answer over UDP with EDNS.
    pub fn ask(&self, owner: &str, rtype: &str) -> Reply {
        self.ask_with(&Asked::new(owner, rtype))
    }

    pub fn ask_with(&self, asked: &Asked) -> Reply {
        Reply::to(&self.snapshot(), asked)
    }
}

/// A question and how it is asked.
pub struct Asked {
    pub name: Vec<u8>,
    pub rtype: RecordType,
    pub class: u16,
    /// UDP payload of the OPT record; `None`: no EDNS.
    pub edns: Option<u16>,
    pub transport: Transport,
    pub client: IpAddr,
    pub entropy: u64,
}

impl Asked {
    pub fn new(owner: &str, rtype: &str) -> Asked {
        Asked {
            name: name(owner).0.to_vec(),
            rtype: RecordType::parse(rtype).unwrap(),
            class: 1,
            edns: Some(1232),
            transport: Transport::Udp,
            client: "203.0.113.9".parse().unwrap(),
            entropy: 1,
        }
    }

    pub fn wire(&self) -> Vec<u8> {
        let mut query = vec![0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, u8::from(self.edns.is_some())];
        query.extend_from_slice(&self.name);
        query.extend_from_slice(&self.rtype.0.to_be_bytes());
        query.extend_from_slice(&self.class.to_be_bytes());
        if let Some(size) = self.edns {
            query.extend_from_slice(&[0, 0, 41]);
            query.extend_from_slice(&size.to_be_bytes());
            query.extend_from_slice(&[0; 6]);
        }
        query
    }
}

/// An answer, its bytes and what an independent decoder makes of them.
pub struct Reply {
    pub outcome: Outcome,
    pub bytes: Vec<u8>,
    pub message: Message,
}

impl Reply {
    pub fn to(snapshot: &Snapshot, asked: &Asked) -> Reply {
        let mut bytes = Vec::new();
        let outcome = answer(snapshot, &asked.wire(), asked.client, asked.transport, asked.entropy, &mut bytes);
        let message = Message::from_vec(&bytes).expect("every answer can be decoded");
        assert_eq!(message.metadata.id, 0x1234);
        assert!(!message.metadata.recursion_available, "recursion is not offered");
        assert!(message.metadata.recursion_desired, "RD is copied");
        Reply { outcome, bytes, message }
    }

    pub fn rcode(&self) -> ResponseCode {
        self.message.metadata.response_code
    }

    pub fn is_authoritative(&self) -> bool {
        self.message.metadata.authoritative
    }

    /// `web.example.test. A 192.0.2.80`, in the order of the message.
    pub fn answers(&self) -> Vec<String> {
        lines(&self.message.answers)
    }

    pub fn authority(&self) -> Vec<String> {
        lines(&self.message.authorities)
    }

    pub fn additional(&self) -> Vec<String> {
        lines(&self.message.additionals)
    }

    /// The data of the answers alone.
    pub fn data(&self) -> Vec<String> {
        self.message.answers.iter().map(|r| r.data.to_string()).collect()
    }

    /// Whether it is NODATA with the SOA of the zone.
    pub fn is_nodata(&self) -> bool {
        self.rcode() == ResponseCode::NoError && self.answers().is_empty() && self.has_soa()
    }

    pub fn has_soa(&self) -> bool {
        let records = &self.message.authorities;
        records.len() == 1 && records[0].record_type().to_string() == "SOA" && records[0].ttl == 5
    }

    /// Code and text of the extended error.
    pub fn extended_error(&self) -> Option<(u16, String)> {
        let at = self.bytes.windows(2).rposition(|w| w == [0, 15])?;
        let length = usize::from(u16::from_be_bytes([self.bytes[at + 2], self.bytes[at + 3]]));
        let option = self.bytes.get(at + 4..at + 4 + length)?;
        Some((u16::from_be_bytes([option[0], option[1]]), String::from_utf8(option[2..].to_vec()).ok()?))
    }
}

fn lines(records: &[hickory_proto::rr::Record]) -> Vec<String> {
    records.iter().map(|r| format!("{} {} {}", r.name, r.record_type(), r.data)).collect()
}

pub fn name(text: &str) -> DnsName {
    DnsName::parse(text, &DnsName::root()).unwrap()
}

/// An address or, where it is none, a CNAME to an absolute name.
pub fn record(data: &str) -> Record {
    let (rtype, rdata) = match data.parse() {
        Ok(IpAddr::V4(v4)) => (RecordType::A, Arc::from(v4.octets().as_slice())),
        Ok(IpAddr::V6(v6)) => (RecordType::AAAA, Arc::from(v6.octets().as_slice())),
        Err(_) => (RecordType::CNAME, name(data).0),
    };
    Record {
        data: data.into(),
        rtype,
        rdata,
        cond: None,
        dr_cond: None,
        check: None,
        enabled: true,
        weight: 1,
        datacenter: None,
        geo: Vec::new(),
    }
}

pub fn cond(scenario: ScenarioId, data: &str) -> Record {
    Record { cond: Some((scenario, false)), ..record(data) }
}

pub fn dr(scenario: ScenarioId, data: &str) -> Record {
    Record { dr_cond: Some(scenario), ..record(data) }
}

pub fn static_data(data: &str) -> OnEmpty {
    OnEmpty::Static(vec![StaticData { data: data.into(), rdata: record(data).rdata }])
}

fn records(text: &str, origin: &DnsName) -> Vec<StaticRecord> {
    let text = format!("$TTL 30\n{text}\n");
    let mut file = Zonefile::from(&text[..]);
    file.set_origin(Name::from_octets(bytes::Bytes::copy_from_slice(&origin.0)).unwrap());
    file.set_default_class(Class::IN);
    let mut records = Vec::new();
    while let Some(entry) = file.next_entry().expect("a good zone file") {
        let Entry::Record(record) = entry else { continue };
        let mut rdata = Vec::new();
        record.data().compose_rdata(&mut rdata).unwrap();
        let owner: Name<Vec<u8>> = domain::base::ToName::to_name(record.owner());
        records.push(StaticRecord {
            owner: DnsName::from_wire(owner.as_slice()).unwrap(),
            rtype: RecordType(record.rtype().to_int()),
            ttl: record.ttl().as_secs(),
            rdata: rdata.into(),
        });
    }
    records
}
