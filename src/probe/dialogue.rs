//! Application protocols, each spoken as its client: as little as shows that the server works, and a farewell where the
//! protocol has one, so that no server logs a broken session for every sample.

mod expected;
mod ldap;
mod lines;
mod mqtt;
pub(super) mod mysql;
pub(super) mod postgresql;
mod radius;
mod redis;

use std::net::SocketAddr;

use super::connect::Connection;
use super::surroundings::Surroundings;
use super::wire::Wire;
use super::{Answer, Deadline, Found, Miss, To, connect, h2, sql, tls};
use crate::model::check::{Target, TlsProbe};
use crate::model::dialogue::{Dialogue, Login};

/// Where a dialogue goes, and with what.
#[derive(Clone, Copy)]
pub(super) struct Peer<'a> {
    pub target: &'a Target,
    pub addresses: &'a [SocketAddr],
    pub tls: Option<&'a TlsProbe>,
    pub around: &'a Surroundings,
    pub deadline: Deadline,
}

/// A login with its password at hand.
pub(super) struct Credentials {
    pub user: String,
    pub password: String,
}

pub(super) async fn probe(peer: Peer<'_>, dialogue: &Dialogue) -> Found {
    match dialogue {
        Dialogue::Ftp { login, file } => {
            let login = peer.credentials(login.as_ref()).await?;
            lines::ftp(&mut peer.wire().await?, login.as_ref(), file.as_deref()).await
        }
        Dialogue::Smtp => lines::smtp(&mut peer.wire().await?).await,
        Dialogue::Pop3 { login } => {
            let login = peer.credentials(login.as_ref()).await?;
            lines::pop3(&mut peer.wire().await?, login.as_ref()).await
        }
        Dialogue::Nntp { group } => lines::nntp(&mut peer.wire().await?, group.as_deref()).await,
        Dialogue::Ldap { login, search } => {
            let login = peer.credentials(login.as_ref()).await?;
            ldap::probe(&mut peer.wire().await?, login.as_ref(), search.as_ref()).await
        }
        Dialogue::Radius { login, secret, nas_ip, codes } => {
            let secret = peer.around.secret(secret).await?;
            let login = peer.login(login).await?;
            radius::access(peer, &login, &secret, *nas_ip, codes).await
        }
        Dialogue::RadiusAccounting { user, secret, nas_ip } => {
            let secret = peer.around.secret(secret).await?;
            radius::accounting(peer, user.as_deref(), &secret, *nas_ip).await
        }
        Dialogue::Mysql { login, database, query } => {
            let login = peer.credentials(login.as_ref()).await?;
            mysql::probe(peer, login.as_ref(), database.as_deref(), query.as_ref()).await
        }
        Dialogue::Postgresql { login, database, query } => {
            let login = peer.credentials(login.as_ref()).await?;
            postgresql::probe(peer, login.as_ref(), database.as_deref(), query.as_ref()).await
        }
        Dialogue::Oracle { login, database, query } => {
            let said = sql::check(&peer, login, database, query.as_ref().map(|query| &*query.sql)).await?;
            expected::judge(
                said.as_deref().map(str::as_bytes),
                query.as_ref().and_then(|query| query.expect.as_deref()),
            )
            .map(|said| Answer::pass(format!("{} {said}", peer.addresses[0])))
        }
        Dialogue::Redis { login } => {
            let login = peer.credentials(login.as_ref()).await?;
            redis::probe(&mut peer.wire().await?, login.as_ref()).await
        }
        Dialogue::Mqtt { login, client_id } => {
            let login = peer.credentials(login.as_ref()).await?;
            mqtt::probe(&mut peer.wire().await?, login.as_ref(), client_id.as_deref()).await
        }
        Dialogue::Grpc { service } => {
            let to = To { target: peer.target, addresses: peer.addresses, tls: peer.tls, deadline: peer.deadline };
            h2::grpc(to, service).await
        }
    }
}

// === impl Peer ===

impl Peer<'_> {
    /// A new connection; TLS from the first byte where it is asked for.
    async fn wire(&self) -> Result<Wire, Miss> {
        let (connection, address) = connect::open(self.target, self.addresses, self.tls, self.deadline).await?;
        Ok(Wire::new(connection, address, self.deadline))
    }

    /// A new connection, plain at first whatever is asked for.
    pub(super) async fn plain(&self) -> Result<Wire, Miss> {
        let (stream, address) = connect::tcp(self.addresses, self.target.source, self.deadline).await?;
        Ok(Wire::new(Connection::Plain(stream), address, self.deadline))
    }

    /// TLS from here on, for protocols that agree on it in the clear first.
    pub(super) async fn encrypt(&self, wire: Wire, tls: &TlsProbe) -> Result<Wire, Miss> {
        let address = wire.address();
        let Connection::Plain(stream) = wire.into_connection() else {
            return Err(Miss::Fail("TLS within TLS is not spoken".to_owned()));
        };
        let stream = tls::handshake(stream, address, &self.target.host, tls, &[], self.deadline).await?;
        Ok(Wire::new(Connection::Tls(Box::new(stream)), address, self.deadline))
    }

    async fn credentials(&self, login: Option<&Login>) -> Result<Option<Credentials>, Miss> {
        match login {
            Some(login) => self.login(login).await.map(Some),
            None => Ok(None),
        }
    }

    async fn login(&self, login: &Login) -> Result<Credentials, Miss> {
        let password = match &login.password {
            Some(secret) => self.around.secret(secret).await?,
            None => String::new(),
        };
        Ok(Credentials { user: login.user.to_string(), password })
    }
}
