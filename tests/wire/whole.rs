//! The program as a process: real back ends that are killed, a real appliance that is killed, real clients.

#[path = "whole/alerts.rs"]
mod alerts;
#[path = "whole/applied.rs"]
mod applied;
#[path = "whole/audit.rs"]
mod audit;
#[path = "whole/box_under_test.rs"]
mod box_under_test;
#[path = "whole/browser.rs"]
mod browser;
#[path = "whole/certificates.rs"]
mod certificates;
#[path = "whole/commands.rs"]
mod commands;
#[path = "whole/complaints.rs"]
mod complaints;
#[path = "whole/disks.rs"]
mod disks;
#[path = "whole/drains.rs"]
mod drains;
#[path = "whole/drills.rs"]
mod drills;
#[path = "whole/ejection.rs"]
mod ejection;
#[path = "whole/failover.rs"]
mod failover;
#[path = "whole/gslb.rs"]
mod gslb;
#[path = "whole/gslb_made.rs"]
mod gslb_made;
#[path = "whole/handover.rs"]
mod handover;
#[path = "whole/handover_attacked.rs"]
mod handover_attacked;
#[path = "whole/handover_file.rs"]
mod handover_file;
#[path = "whole/handover_vips.rs"]
mod handover_vips;
#[path = "whole/imported.rs"]
mod imported;
#[path = "whole/kept.rs"]
mod kept;
#[path = "whole/kills.rs"]
mod kills;
#[path = "whole/limits.rs"]
mod limits;
#[path = "whole/logins.rs"]
mod logins;
#[path = "whole/made_policies.rs"]
mod made_policies;
#[path = "whole/members.rs"]
mod members;
#[path = "whole/monitors.rs"]
mod monitors;
#[path = "whole/namespaces.rs"]
mod namespaces;
#[path = "whole/network.rs"]
mod network;
#[path = "whole/network_odd.rs"]
mod network_odd;
#[path = "whole/operating.rs"]
mod operating;
#[path = "whole/outbox.rs"]
mod outbox;
#[path = "whole/peers.rs"]
mod peers;
#[path = "whole/peers_refused.rs"]
mod peers_refused;
#[path = "whole/policies.rs"]
mod policies;
#[path = "whole/rest.rs"]
mod rest;
#[path = "whole/sql.rs"]
mod sql;
#[path = "whole/steady.rs"]
mod steady;
#[path = "whole/supervised.rs"]
mod supervised;
#[path = "whole/tcpdump.rs"]
mod tcpdump;
#[path = "whole/telling.rs"]
mod telling;
#[path = "whole/transfers.rs"]
mod transfers;
#[path = "whole/trust.rs"]
mod trust;
#[path = "whole/used_up.rs"]
pub mod used_up;
