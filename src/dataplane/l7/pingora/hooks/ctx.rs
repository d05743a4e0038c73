//! What is known of a request while pingora carries it, and who serves it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pingora_core::upstreams::peer::HttpPeer;
use pingora_error::{Error, ErrorType, Result};
use pingora_proxy::Session;

use crate::balance::persistence::cookie;
use crate::dataplane::l7::link::Link;
use crate::dataplane::l7::pingora::upgrade::Upgrade;
use crate::dataplane::member::{Choice, Serving, Wanted, acquire};
use crate::model::id::Name;
use crate::snapshot::Snapshot;

/// Time that all tries of one request may take together before the next one is not begun.
const TRIES_BUDGET: Duration = Duration::from_secs(30);
/// Idle connections to servers are closed after this, or after the service's time-out where that is shorter.
const POOLED_MAX: Duration = Duration::from_secs(60);

pub(in crate::dataplane::l7::pingora) struct Ctx {
    /// Set by the first hook.
    pub link: Option<Arc<Link>>,
    began: Instant,
    pub chosen: Option<Chosen>,
    /// The chosen one has a connection for this request, and did not go down while it was made.
    pub reached: bool,
    /// Services that could not be reached, or failed.
    pub tried: Vec<Name>,
    /// Failures after the request was sent.
    pub resends: u32,
    /// Interim answers (1xx) of the server so far.
    pub interim: u32,
    pub upgrade: bool,
}

/// Who serves it, on which snapshot.
pub(in crate::dataplane::l7::pingora) struct Chosen {
    pub snapshot: Arc<Snapshot>,
    pub choice: Choice,
    pub serving: Serving,
}

// === impl Ctx ===

impl Ctx {
    pub fn new() -> Ctx {
        Ctx {
            link: None,
            began: Instant::now(),
            chosen: None,
            reached: false,
            tried: Vec::new(),
            resends: 0,
            interim: 0,
            upgrade: false,
        }
    }

    /// Without one this is no connection of ours.
    pub fn link(&self) -> Result<Arc<Link>> {
        self.link.clone().ok_or_else(|| Error::explain(ErrorType::InternalError, "a connection without a link"))
    }

    /// Chooses a member. `false`: none is usable.
    pub fn choose(&mut self, link: &Link, snapshot: Arc<Snapshot>, session: &Session) -> bool {
        // The work on a member that was tried before ends here.
        self.release();
        self.reached = false;
        let cookies: Vec<&str> =
            session.req_header().headers.get_all("cookie").iter().filter_map(|v| v.to_str().ok()).collect();
        let value_of = |name: &str| cookies.iter().find_map(|field| cookie::find(field, name)).map(str::to_owned);
        let wanted = Wanted {
            client: link.client.ip(),
            cookie: &value_of,
            tried: &self.tried,
            now: link.shared.now(),
            dry: false,
        };
        let Some((snapshot, choice, serving)) = acquire(&link.shared.plane, snapshot, &link.vserver, &wanted) else {
            return false;
        };
        self.chosen = Some(Chosen { snapshot, choice, serving });
        true
    }

    /// The member is reached: from here on its flush ends the request. One that came while it was being reached does
    /// not, as nothing was sent yet. `false`: it came; another member is to be tried.
    pub fn reached(&mut self) -> bool {
        let (Some(link), Some(chosen)) = (&self.link, &self.chosen) else { return false };
        if chosen.serving.is_flushed() {
            return false;
        }
        link.serve(chosen.serving.flushed());
        self.reached = true;
        true
    }

    /// The member's work is done.
    pub fn release(&mut self) {
        if self.chosen.take().is_some()
            && let Some(link) = &self.link
        {
            link.served();
        }
    }

    pub fn pass_over(&mut self) {
        if let Some(chosen) = &self.chosen {
            self.tried.push(Arc::clone(chosen.serving.service()));
        }
    }

    pub fn may_try_again(&self) -> bool {
        self.began.elapsed() < TRIES_BUDGET
    }
}

// === impl Chosen ===

impl Chosen {
    pub fn peer(&self, upgrade: bool) -> HttpPeer {
        let settings = &self.snapshot.model.service(self.choice.service).settings;
        // An address, never a name: this cannot fail or block.
        let mut peer = HttpPeer::new(self.choice.address, false, String::new());
        let options = &mut peer.options;
        options.connection_timeout = Some(settings.connect_timeout);
        options.total_connection_timeout = Some(settings.connect_timeout);
        let idle = settings.server_idle();
        options.read_timeout = idle;
        options.write_timeout = idle;
        options.idle_timeout = Some(idle.unwrap_or(POOLED_MAX).min(POOLED_MAX));
        if upgrade {
            options.custom_l4 = Some(Upgrade { connect_timeout: settings.connect_timeout }.connector());
            options.idle_timeout = Some(Duration::from_secs(1));
        }
        peer.group_key = self.group_key(upgrade);
        peer
    }

    /// Pooled connections are shared by requests with the same key only: the same service, and no flush in between.
    fn group_key(&self, upgrade: bool) -> u64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        self.serving.service().hash(&mut hasher);
        self.serving.live().flush.borrow().hash(&mut hasher);
        upgrade.hash(&mut hasher);
        hasher.finish()
    }
}
