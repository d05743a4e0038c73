//! Asks DNS for the names of servers, beside the reactor: a name server that does not answer delays nothing but the
//! name. When to ask is decided elsewhere ([`machine::names`](crate::machine::names)); nothing is cached here. Every
//! question is answered, with an error in words where nothing came.
//!
//! Without name servers of the configuration's own those of the system are asked, by its rules (`/etc/resolv.conf` with
//! its search list, `/etc/hosts`); these files are read again for every round of questions. With some, names are
//! absolute and the system's files are not looked at.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{ConnectionConfig, NameServerConfig, ResolveHosts, ResolverConfig, ResolverOpts};
use hickory_resolver::lookup::Lookup;
use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::proto::rr::{RData, RecordType};
use tokio::sync::{Semaphore, mpsc};

use super::core::Lookups;
use crate::model::id::Name;
use crate::model::lookup::{Answer, Found, Query, Question, Srv};

/// Everything about one question.
const PATIENCE: Duration = Duration::from_secs(6);
/// One name server, once; each is tried twice.
const TRY: Duration = Duration::from_secs(2);
/// Questions at once.
const AT_ONCE: usize = 16;
/// Targets of SRV records that are looked up, the first in the order of RFC 2782's priorities; and addresses in all.
const TARGETS_MOST: usize = 64;
const FOUND_MOST: usize = 1_024;

/// Asks, and sends what comes.
pub struct Resolver {
    name_servers: parking_lot::Mutex<Arc<[SocketAddr]>>,
    permits: Arc<Semaphore>,
    results: mpsc::Sender<Lookups>,
}

// === impl Resolver ===

impl Resolver {
    pub fn new(results: mpsc::Sender<Lookups>) -> Resolver {
        Resolver {
            name_servers: parking_lot::Mutex::new(Arc::new([])),
            permits: Arc::new(Semaphore::new(AT_ONCE)),
            results,
        }
    }

    pub fn set_name_servers(&self, servers: Vec<SocketAddr>) {
        *self.name_servers.lock() = servers.into();
    }

    /// To be called on a runtime with I/O and time.
    pub fn ask(&self, questions: Vec<Question>) {
        let (permits, results) = (Arc::clone(&self.permits), self.results.clone());
        let resolver = client(&self.name_servers.lock()).map(Arc::new);
        tokio::spawn(async move {
            for question in questions {
                // The semaphore is never closed.
                let Ok(permit) = Arc::clone(&permits).acquire_owned().await else { return };
                let (resolver, results) = (resolver.clone(), results.clone());
                tokio::spawn(async move {
                    let answer = match resolver {
                        Ok(resolver) => tokio::time::timeout(PATIENCE, look_up(&resolver, &question))
                            .await
                            .unwrap_or_else(|_| Err(format!("no answer within {} s", PATIENCE.as_secs()).into())),
                        Err(error) => Err(error),
                    };
                    drop(permit);
                    // Nobody listens any more: the process is ending.
                    let _ = results.send(vec![(question, answer)]).await;
                });
            }
        });
    }
}

fn client(servers: &[SocketAddr]) -> Result<TokioResolver, Arc<str>> {
    let provider = TokioRuntimeProvider::default();
    let own = !servers.is_empty();
    let mut builder = if own {
        TokioResolver::builder_with_config(ResolverConfig::from_name_servers(name_servers(servers)), provider)
    } else {
        let unreadable = |error: NetError| Arc::from(format!("the system's resolver configuration: {error}"));
        TokioResolver::builder(provider).map_err(unreadable)?
    };
    let options: &mut ResolverOpts = builder.options_mut();
    options.timeout = TRY;
    options.attempts = 1;
    options.cache_size = 0;
    options.edns0 = true;
    options.use_hosts_file = if own { ResolveHosts::Never } else { ResolveHosts::Auto };
    builder.build().map_err(|error| Arc::from(error.to_string()))
}

fn name_servers(servers: &[SocketAddr]) -> Vec<NameServerConfig> {
    let at = |server: &SocketAddr| {
        let ported = |mut connection: ConnectionConfig| {
            connection.port = server.port();
            connection
        };
        let connections = vec![ported(ConnectionConfig::udp()), ported(ConnectionConfig::tcp())];
        NameServerConfig::new(server.ip(), true, connections)
    };
    servers.iter().map(at).collect()
}

async fn look_up(resolver: &TokioResolver, question: &Question) -> Result<Answer, Arc<str>> {
    let mut answer = match question.query {
        Query::A => addresses(resolver, &question.name, RecordType::A).await,
        Query::Aaaa => addresses(resolver, &question.name, RecordType::AAAA).await,
        Query::Either => either(resolver, &question.name).await,
        Query::Srv => Ok(services(resolver, &question.name).await?),
    }
    .map_err(|error| Arc::from(words(&error, &question.name)))?;
    answer.found.truncate(FOUND_MOST);
    Ok(answer)
}

async fn either(resolver: &TokioResolver, name: &str) -> Result<Answer, NetError> {
    match addresses(resolver, name, RecordType::A).await {
        Err(error) if error.is_no_records_found() && !error.is_nx_domain() => {
            addresses(resolver, name, RecordType::AAAA).await
        }
        other => other,
    }
}

async fn addresses(resolver: &TokioResolver, name: &str, rtype: RecordType) -> Result<Answer, NetError> {
    let lookup = resolver.lookup(name, rtype).await?;
    let found = lookup.answers().iter().filter_map(|record| {
        let address = match &record.data {
            RData::A(a) => IpAddr::V4(a.0),
            RData::AAAA(aaaa) => IpAddr::V6(aaaa.0),
            _ => return None,
        };
        Some(Found { address, srv: None })
    });
    let mut answer = Answer { found: found.collect(), ttl: ttl(&lookup) };
    let mut seen = std::collections::HashSet::new();
    answer.found.retain(|found| seen.insert(found.address));
    Ok(answer)
}

/// RFC 2782. A target that does not exist has no members; one that nobody answers for makes the whole answer unknown, so
/// that its members stay.
async fn services(resolver: &TokioResolver, name: &str) -> Result<Answer, Arc<str>> {
    let lookup = resolver.lookup(name, RecordType::SRV).await.map_err(|error| Arc::from(words(&error, name)))?;
    let records = lookup.answers().iter().filter_map(|record| match &record.data {
        // "." says that the service is not to be had.
        RData::SRV(srv) if !srv.target.is_root() => Some(srv),
        _ => None,
    });
    let mut records: Vec<Srv> = records
        .map(|srv| Srv {
            target: srv.target.to_ascii().trim_end_matches('.').to_ascii_lowercase().into(),
            port: srv.port,
            priority: srv.priority,
            weight: srv.weight,
        })
        .filter(|srv| srv.port > 0)
        .collect();
    records.sort_by_key(|srv| (srv.priority, Name::clone(&srv.target), srv.port));
    records.dedup();
    records.truncate(TARGETS_MOST);
    let mut answer = Answer { found: Vec::new(), ttl: ttl(&lookup) };
    for srv in records {
        let absolute = format!("{}.", srv.target);
        match either(resolver, &absolute).await {
            Ok(of_target) => {
                answer.ttl = answer.ttl.min(of_target.ttl);
                answer.found.extend(of_target.found.into_iter().map(|f| Found { srv: Some(srv.clone()), ..f }));
            }
            Err(error) if error.is_no_records_found() => {}
            Err(error) => return Err(words(&error, &srv.target).into()),
        }
    }
    Ok(answer)
}

/// The least of the records; of a file of hosts: as long as it may be.
fn ttl(lookup: &Lookup) -> Duration {
    let least = lookup.answers().iter().map(|record| record.ttl).min().unwrap_or(0);
    Duration::from_secs(least.into())
}

fn words(error: &NetError, name: &str) -> String {
    if error.is_nx_domain() {
        format!("{name} does not exist (NXDOMAIN)")
    } else if error.is_no_records_found() {
        format!("{name} has no such records")
    } else {
        format!("{name}: {error}")
    }
}
