//! Who calls, for every front end over HTTP: REST and NITRO ask here, so that a login means the same through both.

use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::sync::Arc;

use axum::http::{StatusCode, header};
use tokio::time::Instant;

use super::App;
use super::auth::{Caller, Counted, Hash, Head, Holder, Opened, Peer, Proof, shown_name};
use super::dto::{FirstBootDto, ManagementDto};
use super::problem::Problem;
use crate::model::access::{Admin, PasswordHash, SessionRules, User};
use crate::model::scenario::Secret;
use crate::model::time::Wall;

/// Whose wrong passwords are counted together at the console: no network is called this.
const CONSOLE: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);

// === impl App ===

impl App {
    /// Lets a request in, or says why not.
    pub(crate) async fn authenticate(&self, peer: Peer, head: Head<'_>) -> Result<Caller, Problem> {
        let snapshot = self.admin().await?;
        let admin = &snapshot.model.admin;
        if let Peer::Tcp { address, .. } = peer
            && !admin.hears(address.ip())
        {
            // The connection is from before the list.
            return Err(Problem::forbidden("callers from this address are not heard (`admin.allow`)"));
        }
        let answer = self.0.keeper.authenticate(peer, head, &snapshot.model).await;
        if let Err(problem) = &answer
            && head.headers.contains_key(header::AUTHORIZATION)
        {
            self.tell_refused(peer, admin, shown_name(head.headers).as_deref(), problem);
        }
        answer
    }

    /// Opens a session. Errors: as HTTP Basic with the same name and password, also 429 `locked`; 409 `no_login` where
    /// there is nothing to log in to (the Unix socket; no users).
    pub(crate) async fn log_in(&self, peer: Peer, name: &str, password: &str) -> Result<(Opened, Caller), Problem> {
        let snapshot = self.admin().await?;
        let admin = &snapshot.model.admin;
        let answer = self.0.keeper.log_in(peer, name, password.as_bytes().to_vec(), &snapshot.model).await;
        match &answer {
            Ok((_, caller)) => self.0.keeper.audit.session(self.handle(), caller, "login"),
            Err(problem) => self.tell_refused(peer, admin, Some(name), problem),
        }
        answer
    }

    /// Whose name and password somebody has typed who logs in to the machine itself. `from`: where their `ssh` runs;
    /// `None`: at the console. `peer`: who asks for them. Errors: as [`App::log_in`].
    pub(crate) async fn judge(
        &self,
        peer: Peer,
        from: Option<IpAddr>,
        name: &str,
        password: &str,
    ) -> Result<Caller, Problem> {
        let snapshot = self.admin().await?;
        let admin = &snapshot.model.admin;
        if !admin.has_logins() {
            let detail = "no users are configured, so nobody can log in; define [admin.user.NAME]";
            return Err(Problem::new(StatusCode::CONFLICT, "no_login", detail));
        }
        let door = from.map_or("console".to_owned(), |from| format!("login from {}", from.to_canonical()));
        let (from, password) = (from.unwrap_or(CONSOLE).to_canonical(), password.as_bytes().to_vec());
        match self.0.keeper.check_password(from, name, password, &snapshot.model).await {
            Ok(holder) => Ok(Caller::new(holder.actor.clone(), holder.role, door, peer, Proof::Password(holder))),
            Err(problem) => {
                self.tell_refused_at(door, admin, Some(name), &problem);
                Err(problem)
            }
        }
    }

    /// Who holds the session of this name, and now counts as having used it. `None`: no such session, or it has ended.
    /// Whoever finds the name by a cookie must see to it that no other site can have sent the request.
    pub(crate) async fn session(&self, id: &Hash, peer: Peer) -> Result<Option<Caller>, Problem> {
        let snapshot = self.admin().await?;
        self.0.keeper.session_of(id, &snapshot.model, peer).await
    }

    /// The number under which somebody who has shown their password may use the Unix socket from now on.
    pub(crate) fn number(&self, caller: &Caller) -> Option<u32> {
        self.0.keeper.number(caller, &self.handle().snapshot().model.admin)
    }

    /// Whether a caller whose answer never ends would be let in still.
    pub(crate) async fn may_stay(&self, caller: &Caller) -> bool {
        match self.admin().await {
            Ok(snapshot) => self.0.keeper.may_stay(caller, &snapshot.model).await,
            Err(_) => false,
        }
    }

    /// Ends the session that a caller came with; `false`: none.
    pub(crate) fn log_out(&self, caller: &Caller) -> bool {
        let ended = caller.session().is_some_and(|id| self.0.keeper.sessions.close(id));
        if ended {
            self.0.keeper.audit.session(self.handle(), caller, "logout");
        }
        ended
    }

    /// Whoever has typed wrong passwords that still count, and whoever has sessions, with how many.
    pub(crate) fn logins(&self, rules: &SessionRules) -> (Vec<Counted>, Vec<(Holder, usize)>) {
        let keeper = &self.0.keeper;
        (keeper.verifier.guesses.counted(), keeper.sessions.held(Instant::now(), rules))
    }

    /// Forgets the wrong passwords of a name; from how many networks it was locked.
    ///
    /// # Errors
    /// The lock is lifted, and the journal could not be told.
    pub(crate) async fn lift_lock(&self, caller: &Caller, name: &str) -> Result<usize, Problem> {
        let networks = self.0.keeper.lift(name);
        self.0.keeper.audit.lifted(self.handle(), caller, name, networks).await?;
        Ok(networks)
    }

    /// Journals a refusal of credentials; one for another reason is nobody's guess.
    fn tell_refused(&self, peer: Peer, admin: &Admin, name: Option<&str>, problem: &Problem) {
        let Peer::Tcp { address, .. } = peer else { return };
        self.tell_refused_at(format!("tcp {}", address.ip().to_canonical()), admin, name, problem);
    }

    fn tell_refused_at(&self, door: String, admin: &Admin, name: Option<&str>, problem: &Problem) {
        if matches!(problem.status, StatusCode::UNAUTHORIZED | StatusCode::TOO_MANY_REQUESTS) {
            self.0.keeper.audit.refused(self.handle(), admin, door, name, &problem.detail);
        }
    }

    /// The token that acts of this session carry.
    pub(crate) fn csrf(&self, token: &str) -> String {
        self.0.keeper.sessions.csrf(token)
    }

    /// What the management address shows.
    pub(crate) fn management(&self) -> ManagementDto {
        let listen = self.0.listens.map(|at| at.to_string());
        match self.0.tls.current(&self.handle().snapshot().model) {
            Ok(Some(identity)) => ManagementDto {
                listen,
                tls: true,
                fingerprint: Some(identity.fingerprint.clone()),
                expires: Some(Wall(identity.not_after.saturating_mul(1_000_000)).to_string()),
            },
            _ => ManagementDto { listen, ..ManagementDto::plain() },
        }
    }

    /// What the appliance was handed at its first boot.
    pub(crate) fn first_boot(&self) -> Option<FirstBootDto> {
        self.0.first_boot.as_ref().map(FirstBootDto::of)
    }

    /// The configuration that says who may call.
    async fn admin(&self) -> Result<Arc<crate::snapshot::Snapshot>, Problem> {
        let snapshot = self.handle().snapshot();
        self.find_folder(&snapshot.model.admin).await?;
        Ok(snapshot)
    }

    /// Files of secrets are named relative to FILE: tells the verifier where that is, once, where there are any.
    async fn find_folder(&self, admin: &Admin) -> Result<(), Problem> {
        let folder = &self.0.keeper.verifier.folder;
        let in_file = |user: &User| matches!(user.password, PasswordHash::From(Secret::File(_)));
        let of_directory = admin.ldap.as_ref().is_some_and(|ldap| matches!(ldap.bind_password, Some(Secret::File(_))));
        if folder.get().is_none() && (of_directory || admin.users.iter().any(in_file)) {
            let path = self.read(|world| world.config.path.clone()).await?;
            let _ = folder.set(path.as_deref().and_then(Path::parent).map(Path::to_owned).unwrap_or_default());
        }
        Ok(())
    }
}
