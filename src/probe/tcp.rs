//! TCP: a connection is opened and closed. Nothing is sent.

use std::net::{IpAddr, SocketAddr};

use super::{Answer, Deadline, Found, connect};

pub(super) async fn probe(addresses: &[SocketAddr], source: Option<IpAddr>, deadline: Deadline) -> Found {
    let (_, address) = connect::tcp(addresses, source, deadline).await?;
    Ok(Answer::pass(format!("TCP connection to {address} accepted")))
}
