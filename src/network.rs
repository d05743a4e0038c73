//! L3: the machine's interfaces. VIPs and source addresses are put on them and taken off again, found out to be free
//! first, and announced.
//!
//! ```text
//!  model: vservers, [network] ──▶ wishes ─┐
//!  netlink: links, addresses ─────────────┼─▶ PLAN (pure) ──▶ add · remove · probe · announce ──▶ netlink, ARP, ICMPv6
//!  ARP: who claims what ──────────────────┘      │
//!                                                └─▶ state of each address ──▶ live figures, observations
//! ```
//!
//! # Who does what
//!
//! - **VIPs and source addresses go through netlink, directly**: they come and go with vservers at run time, must be known
//!   to be free, and have to be told from what the system set up. Each is added by itself (/32, /128) and marked with a
//!   protocol number of its own ([`ADDRESS_MARK`](crate::model::network::ADDRESS_MARK)), so that a process that follows
//!   one that was killed knows what to keep and what to remove. What does not bear the mark is never removed.
//! - **Interfaces' own addresses, VLANs, routes, DHCP and name servers are systemd-networkd's**: `[network]` is written as
//!   its files below `/run/systemd/network`, and it is asked to read them. It knows DHCP, router advertisements and
//!   thirty years of network cards better than this program will. Where it does not run, static addresses are put on
//!   interfaces in the same way as VIPs; everything else is refused with a sentence.
//! - **Whom the machine asks for the time** (`[time]`) is written for systemd-timesyncd in the same way.
//!
//! Nothing here runs until a configuration has a `[network]`, or an earlier process of the same state directory has
//! left addresses: a developer's machine is left alone.

mod arp;
mod carry;
mod listen;
mod machine;
mod networkd;
mod plan;
mod run;
mod timesyncd;
mod unit;
mod wish;

pub use run::{Networking, notice};
