//! TCP: a connection is opened and closed. Nothing is sent.

use std::net::SocketAddr;

use super::{Answer, Deadline, Found, connect};

pub(super) async fn probe(addresses: &[SocketAddr], deadline: Deadline) -> Found {
    let (_, address) = connect::tcp(addresses, deadline).await?;
    Ok(Answer::pass(format!("TCP connection to {address} accepted")))
}
