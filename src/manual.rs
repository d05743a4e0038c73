//! The manual: documentation as modules, so that links to types are checked and examples are run.
//!
//! - [`first_steps`]: from nothing to a failover one can watch
//! - [`first_boot`]: how an appliance gets its configuration and its first password; a lost one
//! - [`words`]: what each word means here, once
//! - [`states`]: services, draining, vservers, backup chains, and the traps
//! - [`monitors`]: every type of monitor and check, its keys, defaults and ranges; scripts
//! - [`checks`]: checks of the GTM: several targets, source, history, what is derived, failures that come together
//! - [`netscaler`]: each of NetScaler's parameters: supported, stored or refused, and why
//! - [`commands`]: NetScaler's command line for the configuration, and the numbers of errors
//! - [`shell`]: the command line and the screen on a terminal: pasting, keys, `stat`
//! - [`nitro`]: NetScaler's interface over HTTP: who may, which calls, what is there
//! - [`choices`]: where NetScaler's documentation is silent, and what happens here
//! - [`tls`]: certificates, TLS to clients and to servers, the PROXY protocol
//! - [`persistence`]: who goes back to its member, by what, and how long
//! - [`overload`]: limits of members and clients, the surge queue, spillover
//! - [`http`](mod@http): HTTP/2, gRPC, WebSocket, TLS to servers, retries
//! - [`rules`]: traffic rules: route, edit, answer, mirror; content switching
//! - [`scenarios`]: conditions, modes, holds, guards; what happens after a restart
//! - [`sql`]: statements of guards and triggers against Oracle, PostgreSQL and MySQL
//! - [`triggers`]: who is told of a transition, who is asked before one; the outbox, signatures, approvals
//! - [`alerts`]: what a person should hear of although no scenario has committed; syslog
//! - [`drills`]: a scenario for an hour, to see that it works: what it does, who is told, how it ends, the report
//! - [`pairs`]: two data centres, their signals and their four scenarios
//! - [`peers`]: boxes that hear each other: certificates, what silence means, what is compared
//! - [`records`]: how DNS answers follow scenarios
//! - [`dns`]: the DNS server: cookies, limits, client subnets, errors
//! - [`dnssec`]: signed zones, their keys, rolling them
//! - [`transfers`]: zones to secondaries: AXFR, NOTIFY, TSIG, the serial
//! - [`config`]: the file, reload, save, and what is refused
//! - [`import`]: an `ns.conf` as TOML, and what of it is not carried over
//! - [`rest`]: the configuration object by object over HTTP, lists, certificates, events
//! - [`endings`]: how requests and connections end, times, the access log, who is connected
//! - [`traces`]: traces of requests: W3C Trace Context, sampling, spans over OTLP
//! - [`figures`]: every statistic of NetScaler and where it is read, and the series for Prometheus
//! - [`access`]: who gets in: users, sessions, tokens, a directory, TLS on the management address
//! - [`looking_ahead`]: the first sentence of the status, dry runs of acts and how much care they ask for, histories
//! - [`audit`]: the journal: asking, documents for a review, the past, shipping it
//! - [`windows`]: time windows with zones, holidays and one-off spans; switches
//! - [`complaints`]: what operators of other products miss, what answers it here, and the tests that hold it
//! - [`dashboard`]: the pages in a browser: reading them, acting, keys
//! - [`appliance`]: the Debian package, the tarball, the container image, the bootable disk: installing, seeding, upgrading
//! - [`network`]: VIPs and source addresses on interfaces, conflicts; interfaces, VLANs, routes
//! - [`operations`]: the state directory, the journal, stopping, when the disk fails
//! - [`upkeep`]: upgrades without a lost request, backup and restore, versions of the state, a bundle for support
//! - [`methods`]: how a member is chosen for a client: methods, weights, orders, splits, passive health
//! - [`policies`]: NetScaler's policies: expressions, actions, bindings, and what follows from them
//! - [`members`]: servers by name, and service groups whose members come from DNS
//! - [`keys`]: every key of the configuration: its type, its range, its default
//! - [`limits`]: what this build does not do, and what it says instead

pub mod access;
pub mod alerts;
pub mod appliance;
pub mod audit;
pub mod checks;
pub mod choices;
pub mod commands;
pub mod complaints;
pub mod config;
pub mod dashboard;
pub mod dns;
pub mod dnssec;
pub mod drills;
pub mod endings;
pub mod figures;
pub mod first_boot;
pub mod first_steps;
pub mod http;
pub mod import;
pub mod keys;
pub mod limits;
pub mod looking_ahead;
pub mod members;
pub mod methods;
pub mod monitors;
pub mod netscaler;
pub mod network;
pub mod nitro;
pub mod operations;
pub mod overload;
pub mod pairs;
pub mod peers;
pub mod persistence;
pub mod policies;
pub mod records;
pub mod rest;
pub mod rules;
pub mod scenarios;
pub mod shell;
pub mod sql;
pub mod states;
pub mod tls;
pub mod traces;
pub mod transfers;
pub mod triggers;
pub mod upkeep;
pub mod windows;
pub mod words;
