//! What goes over the wire: heads of HTTP/1.1, and reports as JSON. Everything has a bound, and what is beyond one, or of
//! the wrong shape, is refused whole.

use serde::{Deserialize, Serialize};

use crate::model::condition::{Signal, Truth};
use crate::model::id::Name;
use crate::model::peer::{NAME_MOST, Report, ReportedPair, ReportedScenario, SCENARIOS_MOST, SITES_MOST};
use crate::model::scenario::Mode;
use crate::model::time::Wall;

/// Of a head.
pub(super) const HEAD_MOST: usize = 8 << 10;
pub(super) const FIELDS_MOST: usize = 32;
/// Where a report is.
pub(super) const PATH: &str = "/peer/v1/report";
/// Who asks.
pub(super) const CLUSTER: &str = "bascule-cluster";
/// The shape of a report; another one is not read.
const PROTOCOL: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Wire {
    protocol: u32,
    appliance: String,
    site: Option<String>,
    cluster: String,
    version: String,
    /// Microseconds since 1970.
    now_us: i64,
    config: Config,
    witness: bool,
    pairs: Vec<Pair>,
    datacenters: Vec<Datacenter>,
    scenarios: Vec<Scenario>,
}

#[derive(Serialize, Deserialize)]
struct Config {
    hash: String,
    /// Hashes of the tables that boxes have in common.
    tables: Vec<Table>,
}

#[derive(Serialize, Deserialize)]
struct Table {
    name: String,
    hash: String,
}

#[derive(Serialize, Deserialize)]
struct Pair {
    name: String,
    active: String,
    backup: String,
}

#[derive(Serialize, Deserialize)]
struct Datacenter {
    name: String,
    wan: String,
    lan: String,
    access: String,
    internet: String,
    maintenance: String,
}

#[derive(Serialize, Deserialize)]
struct Scenario {
    name: String,
    active: bool,
    seq: u64,
    activate: String,
    deactivate: String,
}

pub(super) fn encode(report: &Report) -> Vec<u8> {
    let text = |name: &Name| name.to_string();
    let datacenter = |(name, signals): &(Name, [Truth; 5])| {
        let word = |signal: Signal| signals[signal as usize].word().to_owned();
        Datacenter {
            name: text(name),
            wan: word(Signal::Wan),
            lan: word(Signal::Lan),
            access: word(Signal::Access),
            internet: word(Signal::Internet),
            maintenance: word(Signal::Maintenance),
        }
    };
    let wire = Wire {
        protocol: PROTOCOL,
        appliance: text(&report.appliance),
        site: report.site.as_ref().map(text),
        cluster: text(&report.cluster),
        version: text(&report.version),
        now_us: report.now.0,
        config: Config {
            hash: text(&report.config_hash),
            tables: report.tables.iter().map(|(name, hash)| Table { name: text(name), hash: text(hash) }).collect(),
        },
        witness: report.witness,
        pairs: report
            .pairs
            .iter()
            .map(|p| Pair { name: text(&p.name), active: text(&p.active), backup: text(&p.backup) })
            .collect(),
        datacenters: report.datacenters.iter().map(datacenter).collect(),
        scenarios: report
            .scenarios
            .iter()
            .map(|s| Scenario {
                name: text(&s.name),
                active: s.active,
                seq: s.seq,
                activate: s.modes[0].word().to_owned(),
                deactivate: s.modes[1].word().to_owned(),
            })
            .collect(),
    };
    serde_json::to_vec(&wire).unwrap_or_default()
}

/// Errors: in words, about the box that sent it.
pub(super) fn decode(body: &[u8]) -> Result<Report, String> {
    #[derive(Deserialize)]
    struct Spoken {
        protocol: u32,
    }
    let garbled = |_| "what it answers is no report: `url` leads to another service, or the box is broken".to_owned();
    let Spoken { protocol } = serde_json::from_slice(body).map_err(garbled)?;
    if protocol != PROTOCOL {
        return Err(format!(
            "it speaks version {protocol} of the link, this box {PROTOCOL}: update the older of the two"
        ));
    }
    let wire: Wire = serde_json::from_slice(body).map_err(garbled)?;
    let bounded = [
        ("pairs", wire.pairs.len(), SITES_MOST),
        ("data centres", wire.datacenters.len(), SITES_MOST),
        ("scenarios", wire.scenarios.len(), SCENARIOS_MOST),
        ("tables", wire.config.tables.len(), SITES_MOST),
    ];
    if let Some((what, count, most)) = bounded.into_iter().find(|(_, count, most)| count > most) {
        return Err(format!("its report has {count} {what}, more than {most}: it is not taken"));
    }
    let pair = |p: Pair| {
        Ok::<_, String>(ReportedPair { name: name(p.name)?, active: name(p.active)?, backup: name(p.backup)? })
    };
    let tables: Result<Vec<_>, String> =
        wire.config.tables.into_iter().map(|table| Ok((name(table.name)?, name(table.hash)?))).collect();
    Ok(Report {
        appliance: name(wire.appliance)?,
        site: wire.site.map(name).transpose()?,
        cluster: name(wire.cluster)?,
        version: name(wire.version)?,
        now: Wall(wire.now_us),
        config_hash: name(wire.config.hash)?,
        tables: tables?,
        witness: wire.witness,
        pairs: wire.pairs.into_iter().map(pair).collect::<Result<_, _>>()?,
        datacenters: wire.datacenters.into_iter().map(datacenter).collect::<Result<_, _>>()?,
        scenarios: wire.scenarios.into_iter().map(scenario).collect::<Result<_, _>>()?,
    })
}

fn name(text: String) -> Result<Name, String> {
    if text.len() > NAME_MOST || text.contains(char::is_control) {
        return Err(format!("its report has a name that is longer than {NAME_MOST} bytes, or not on one line"));
    }
    Ok(text.into())
}

fn datacenter(seen: Datacenter) -> Result<(Name, [Truth; 5]), String> {
    let signals = [&seen.wan, &seen.lan, &seen.access, &seen.internet, &seen.maintenance];
    let mut values = [Truth::Unknown; 5];
    for (value, word) in values.iter_mut().zip(signals) {
        *value = Truth::parse(word).ok_or("its report has a signal that is neither true, false nor unknown")?;
    }
    Ok((name(seen.name)?, values))
}

fn scenario(stands: Scenario) -> Result<ReportedScenario, String> {
    let mode = |word: &str| Mode::parse(word).ok_or("its report has a mode that is neither auto, on nor off");
    let modes = [mode(&stands.activate)?, mode(&stands.deactivate)?];
    Ok(ReportedScenario { name: name(stands.name)?, active: stands.active, seq: stands.seq, modes })
}

/// Where the head ends, once it is there.
pub(super) fn head_end(read: &[u8]) -> Option<usize> {
    read.windows(4).position(|four| four == b"\r\n\r\n").map(|at| at + 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        Report {
            appliance: "box-a".into(),
            site: Some("dc-a".into()),
            cluster: "prod".into(),
            version: "0.1.0".into(),
            now: Wall(1_700_000_000_000_123),
            config_hash: "ab".into(),
            tables: vec![("zone".into(), "cd".into())],
            witness: false,
            pairs: vec![ReportedPair { name: "main".into(), active: "dc-a".into(), backup: "dc-b".into() }],
            datacenters: vec![("dc-a".into(), [Truth::True, Truth::False, Truth::True, Truth::Unknown, Truth::False])],
            scenarios: vec![ReportedScenario {
                name: "main/to-backup".into(),
                active: true,
                seq: 7,
                modes: [Mode::Auto, Mode::Off],
            }],
        }
    }

    #[test]
    fn a_report_comes_through_as_it_was() {
        assert_eq!(decode(&encode(&report())), Ok(report()));
    }

    #[test]
    fn what_is_no_report_is_refused_whole() {
        let text = String::from_utf8(encode(&report())).unwrap();
        for (from, to, said) in [
            ("{", "[", "no report"),
            ("\"protocol\":1", "\"protocol\":2", "version 2 of the link"),
            ("\"wan\":\"true\"", "\"wan\":\"maybe\"", "neither true"),
            ("\"activate\":\"auto\"", "\"activate\":\"x\"", "neither auto"),
            ("box-a", "box\\na", "not on one line"),
            ("\"seq\":7", "\"seq\":-7", "no report"),
        ] {
            let why = decode(text.replacen(from, to, 1).as_bytes()).unwrap_err();
            assert!(why.contains(said), "{from} -> {to}: {why}");
        }
        assert!(decode(b"<html>").is_err());
        assert!(decode(&[]).is_err());
        let long = Report { cluster: "x".repeat(NAME_MOST + 1).into(), ..report() };
        assert!(decode(&encode(&long)).is_err());
        let pair = ReportedPair { name: "p".into(), active: "a".into(), backup: "b".into() };
        let many = Report { pairs: vec![pair; SITES_MOST + 1], ..report() };
        assert!(decode(&encode(&many)).unwrap_err().contains("501 pairs"));
    }

    #[test]
    fn the_largest_report_that_a_box_makes_is_one_that_its_peers_take() {
        let name: Name = "n".repeat(NAME_MOST).into();
        let of = report();
        let datacenter = (Name::clone(&name), of.datacenters[0].1);
        let scenario = ReportedScenario { name: Name::clone(&name), ..of.scenarios[0].clone() };
        let pair = ReportedPair { name: Name::clone(&name), active: Name::clone(&name), backup: name };
        let largest = Report {
            pairs: vec![pair; SITES_MOST],
            datacenters: vec![datacenter; SITES_MOST],
            scenarios: vec![scenario; SCENARIOS_MOST],
            ..of
        };
        let bytes = encode(&largest);
        assert!(bytes.len() <= crate::model::peer::REPORT_BYTES_MOST, "{}", bytes.len());
        assert!(decode(&bytes).is_ok());
    }
}
