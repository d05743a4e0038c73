//! Zones as other programs see them: signatures before validators, transfers to and from name servers.

#[path = "dns_zones/corpus.rs"]
mod corpus;
#[path = "dns_zones/dnssec.rs"]
mod dnssec;
#[path = "dns_zones/encrypted.rs"]
mod encrypted;
#[path = "dns_zones/transfer.rs"]
mod transfer;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bascule::config::{self, Source};
use bascule::dataplane::dns::DnsServer;
use bascule::files::DiskFiles;
use bascule::model::Model;
use bascule::model::state::StateView;
use bascule::snapshot::Cell;
use bascule::snapshot::build::{Parts, build};
use bascule::snapshot::live::Registry;
use bascule::snapshot::zones::ZoneIndex;
use base64::Engine;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair};
use tokio::process::Command;

/// `example.test` with a steered name of each kind; `dr` flips them. `KEYS` stands for what the test signs with.
pub const CONFIG: &str = r#"
[dns]
listen = ["127.0.0.1:0"]
[switch.s]
[scenario.dr.activate]
when = [["sw:s"]]
[zone."example.test"]
ttl = "30s"
soa = { mname = "ns1", rname = "hostmaster", serial = 7, minimum = "5s" }
static = """
@            NS     ns1
ns1          A      127.0.0.1
web          A      192.0.2.80
Mixed        MX     10 Mail.Example.TEST.
mail         A      192.0.2.25
alias        CNAME  www
*.w          TXT    "a wildcard"
*.w          A      192.0.2.99
host.inner   A      192.0.2.77
sub          NS     ns.sub
ns.sub       A      192.0.2.53
safe         NS     ns.safe
ns.safe      A      192.0.2.54
safe         DS     60485 13 2 D4B7D520E7BB5F0F67674A0CCEB1E3E0614B93C4F9E99B8383F6A1E4469DA50A
old          DNAME  w
odd          TYPE65400 \\# 3 010203
"""
[zone."example.test".rrset."www A"]
records = [{ data = "192.0.2.10" }, { data = "192.0.2.11" }, { data = "198.51.100.10", drCond = "dr" }]
select = { method = "weighted", answers = 1 }
[zone."example.test".rrset."gone AAAA"]
records = [{ data = "2001:db8::1", cond = "dr" }]
on_empty = "nodata"
[zone."example.test".rrset."turns A"]
records = [{ data = "192.0.2.30" }, { data = "elsewhere.example.net.", type = "CNAME", drCond = "dr" }]
"#;

/// An appliance's DNS service with a configuration, and a scenario that the test flips.
pub struct Served {
    pub folder: tempfile::TempDir,
    pub model: Arc<Model>,
    zones: Arc<ZoneIndex>,
    registry: Registry,
    pub cell: Arc<Cell>,
    server: Option<DnsServer>,
}

impl Served {
    /// `write` puts files beside the configuration.
    pub async fn start(config: &str, write: impl FnOnce(&Path)) -> Served {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path());
        let model = load(folder.path(), config);
        let zones = Arc::new(ZoneIndex::build(&model));
        let mut registry = Registry::default();
        let first = build(parts(1, &model, &zones, &mut registry, false, None));
        let cell = Cell::new(first);
        let server = DnsServer::start(Arc::clone(&cell)).await;
        Served { folder, model, zones, registry, cell, server: Some(server) }
    }

    /// Takes another configuration, with the files as they are now.
    pub async fn reload(&mut self, config: &str) {
        self.model = load(self.folder.path(), config);
        self.zones = Arc::new(ZoneIndex::build(&self.model));
        self.flip(false).await;
    }

    /// The scenario is active or not from now on.
    pub async fn flip(&mut self, active: bool) {
        let generation = self.cell.load().generation + 1;
        let previous = self.cell.load_full();
        let next = build(parts(generation, &self.model, &self.zones, &mut self.registry, active, Some(&previous)));
        self.cell.publish(next);
        let mut reconciled = self.server.as_ref().unwrap().reconciled();
        reconciled.wait_for(|g| *g >= generation).await.unwrap();
    }

    pub fn address(&self) -> SocketAddr {
        self.cell.load().dns.addresses()[0]
    }

    pub async fn stop(mut self) {
        self.server.take().unwrap().stop(Duration::from_secs(2)).await;
    }
}

fn load(folder: &Path, config: &str) -> Arc<Model> {
    let source = Source { path: "bascule.toml".into(), text: config.into() };
    let files = DiskFiles::beside(&folder.join("bascule.toml"));
    config::load(source, &[], &files).unwrap_or_else(|problems| panic!("{problems:#?}")).model
}

fn parts<'a>(
    generation: u64,
    model: &'a Arc<Model>,
    zones: &'a Arc<ZoneIndex>,
    registry: &'a mut Registry,
    active: bool,
    previous: Option<&'a bascule::snapshot::Snapshot>,
) -> Parts<'a> {
    static NAMES: std::sync::OnceLock<bascule::model::lookup::KnownNames> = std::sync::OnceLock::new();
    static VIEW: std::sync::OnceLock<StateView> = std::sync::OnceLock::new();
    Parts {
        generation,
        model,
        view: VIEW.get_or_init(StateView::default),
        registry,
        zones,
        resolved: NAMES.get_or_init(Default::default),
        previous,
        scenario_active: vec![active],
        ready: true,
    }
}

/// A new key in PEM form.
pub fn pem(ecdsa: bool) -> String {
    let random = SystemRandom::new();
    let der = match ecdsa {
        true => EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap(),
        false => Ed25519KeyPair::generate_pkcs8(&random).unwrap(),
    };
    let text = base64::engine::general_purpose::STANDARD.encode(der.as_ref());
    format!("-----BEGIN PRIVATE KEY-----\n{text}\n-----END PRIVATE KEY-----\n")
}

/// Runs a program to its end; what it prints, errors included, and whether it succeeded.
pub async fn run(program: &str, arguments: &[&str]) -> (String, bool) {
    let mut command = Command::new(program);
    command.args(arguments).kill_on_drop(true);
    let output = tokio::time::timeout(Duration::from_secs(30), command.output()).await.expect("it ends");
    let output = output.unwrap_or_else(|error| panic!("{program}: {error}; see scripts/install-prerequisites"));
    let text = [&output.stdout[..], &output.stderr[..]].concat();
    (String::from_utf8_lossy(&text).into_owned(), output.status.success())
}
