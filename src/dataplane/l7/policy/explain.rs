//! Why a request goes where it goes: the functions that decide, told to say what they see. Nothing is counted, and no
//! cursor, time-out or limit moves.

use std::net::SocketAddr;

use serde::Serialize;

use super::{Decision, Request, Verdict, decide, evaluate};
use crate::balance::extract::{self, Parts};
use crate::dataplane::member::{self, Only, Refused, Wanted, choose};
use crate::model::balancing::Extract;
use crate::model::condition::Truth;
use crate::model::id::{ServiceId, VserverId};
use crate::model::rule::Route;
use crate::model::state::NewClients;
use crate::model::time::Tick;
use crate::snapshot::Snapshot;
use crate::snapshot::pick::Why;

/// What becomes of a request, and how that came about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// The vserver that was addressed.
    pub vserver: String,
    /// Every rule that was asked, in order.
    pub rules: Vec<RuleAsked>,
    /// `respond 403`, `redirect 302 https://…`, `reject`, or `balance`.
    pub verdict: String,
    /// Whose members it is balanced over; another than the one addressed where a rule, or content switching, says so.
    pub balanced_by: String,
    /// Limits on clients that are asked first. They are named and not tried: that would count.
    pub limits: Vec<String>,
    /// Where a new client goes from each vserver that was looked at: itself, then its chain of backups.
    pub chain: Vec<Link>,
    /// The members of the vserver that would serve it, and why each is in or out.
    pub candidates: Vec<Candidate>,
    /// Whoever would serve it; null: nobody.
    pub chosen: Option<Chosen>,
    /// How it would end where nobody serves it: `appliance/queue/no_member_up`.
    pub refused: Option<String>,
    /// Where `redirect_url` sends it; null: nowhere.
    pub redirected_to: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RuleAsked {
    pub rule: String,
    pub vserver: String,
    pub priority: u32,
    /// `true`, `false` or `unknown`.
    pub value: &'static str,
    /// It is true, and something followed from it.
    pub acted: bool,
    /// By group: one group whose terms are all true is enough.
    pub groups: Vec<Vec<TermAsked>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TermAsked {
    pub term: String,
    pub value: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Link {
    pub vserver: String,
    /// `UP`, `DOWN` or `OFS`.
    pub state: &'static str,
    /// Where its new clients go: `own`, `backup NAME`, `redirected` (to its `redirect_url`) or `refused`.
    pub new_clients: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Candidate {
    pub service: String,
    pub weight: u32,
    pub order: u32,
    pub state: &'static str,
    /// Requests in flight (HTTP) or open connections (L4), over all vservers.
    pub active: u32,
    pub why: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Chosen {
    pub service: String,
    pub address: String,
    /// The vserver whose member it is.
    pub by: String,
    /// Asked for by persistence, and honoured.
    pub persistent: bool,
    /// The client spilled before, and goes back to where it went (`spillover.persistence`).
    pub spilled_before: bool,
}

/// What becomes of `request` on `addressed` now.
pub fn explain(
    snapshot: &Snapshot,
    addressed: VserverId,
    request: &Request<'_>,
    ends: (SocketAddr, SocketAddr),
    now: Tick,
) -> Explanation {
    let decision = decide(snapshot, addressed, request);
    let value = |wanted: &Extract| extract::value(&Head(request), wanted);
    let names = named(snapshot, &decision.verdict);
    let wanted = Wanted {
        client: ends.0,
        local: ends.1,
        value: &value,
        tls_session: None,
        only: names.as_ref().map(|(group, name)| if *group { Only::Group(name) } else { Only::Service(name) }),
        tried: &[],
        now,
        dry: true,
    };
    let balances = matches!(decision.verdict, Verdict::Balance { .. });
    let chosen = balances.then(|| choose(snapshot, decision.vserver, &wanted));
    let serving = match &chosen {
        Some(Ok(choice)) => choice.serving,
        _ => decision.vserver,
    };
    let before = member::spilled_before(snapshot, decision.vserver, &wanted);
    let back = chosen.as_ref().and_then(|chosen| chosen.as_ref().ok()).filter(|choice| choice.persistent);
    let back = back.map(|choice| choice.service);
    let refused: Option<&Refused> = chosen.as_ref().and_then(|chosen| chosen.as_ref().err());
    let redirected_to = refused.and_then(|refused| refused.location(request.target));
    let refused = refused.map(|refused| refused.ending.to_string());
    let name = |id: VserverId| snapshot.model.vserver(id).name.to_string();
    Explanation {
        vserver: name(addressed),
        rules: rules(snapshot, addressed, request, &decision),
        verdict: verdict(&decision.verdict),
        balanced_by: name(decision.vserver),
        limits: snapshot.model.vserver(addressed).client_limits.iter().map(|limit| limit.name.to_string()).collect(),
        chain: if balances { chain(snapshot, decision.vserver) } else { Vec::new() },
        candidates: if balances { candidates(snapshot, serving, &wanted, back) } else { Vec::new() },
        chosen: chosen.and_then(Result::ok).map(|choice| Chosen {
            service: snapshot.model.service(choice.service).name.to_string(),
            address: choice.address.to_string(),
            by: name(choice.serving),
            persistent: choice.persistent,
            spilled_before: !choice.persistent && before == Some(choice.serving),
        }),
        refused,
        redirected_to,
    }
}

/// What a rule has left of the members: a group (`true`) or a service, by name.
fn named(snapshot: &Snapshot, verdict: &Verdict) -> Option<(bool, String)> {
    match verdict {
        Verdict::Balance { only: Some(Route::Service(id)) } => {
            Some((false, snapshot.model.service(*id).name.to_string()))
        }
        Verdict::Balance { only: Some(Route::Group(id)) } => {
            Some((true, snapshot.model.groups[id.index()].name.to_string()))
        }
        _ => None,
    }
}

fn rules(snapshot: &Snapshot, addressed: VserverId, request: &Request<'_>, decision: &Decision) -> Vec<RuleAsked> {
    let asked = evaluate(snapshot, addressed, request).into_iter().map(|evaluated| {
        let rule = &snapshot.model.rules[evaluated.rule.index()];
        let groups = rule.when.groups.iter().zip(&evaluated.terms).map(|(group, values)| {
            let terms = group.terms.iter().zip(values);
            terms.map(|(term, value)| TermAsked { term: term.text.to_string(), value: word(*value) }).collect()
        });
        RuleAsked {
            rule: rule.name.to_string(),
            vserver: snapshot.model.vserver(rule.vserver).name.to_string(),
            priority: rule.priority,
            value: word(evaluated.value),
            acted: decision.acted.contains(&evaluated.rule),
            groups: groups.collect(),
        }
    });
    asked.collect()
}

fn verdict(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Respond { status, .. } => format!("respond {status}"),
        Verdict::Redirect { status, location } => format!("redirect {status} {location}"),
        Verdict::Reject => "reject".into(),
        Verdict::Balance { .. } => "balance".into(),
    }
}

fn chain(snapshot: &Snapshot, id: VserverId) -> Vec<Link> {
    let looked_at = std::iter::once(id).chain(snapshot.model.backup_chain(id));
    let link = |id: VserverId| {
        let (entry, vserver) = (&snapshot.vservers[id.index()], snapshot.model.vserver(id));
        Link {
            vserver: vserver.name.to_string(),
            state: entry.state.word(),
            new_clients: match entry.new_clients {
                NewClients::Own => "own".into(),
                NewClients::Backup(backup) => format!("backup {}", snapshot.model.vserver(backup).name),
                NewClients::Refused if vserver.redirect_url.is_some() => "redirected".into(),
                NewClients::Refused => "refused".into(),
            },
        }
    };
    looked_at.map(link).collect()
}

fn candidates(snapshot: &Snapshot, serving: VserverId, wanted: &Wanted<'_>, back: Option<ServiceId>) -> Vec<Candidate> {
    let members = &snapshot.model.vserver(serving).members;
    let considered = member::considered(snapshot, serving, wanted).into_iter().map(|considered| {
        let member = members[considered.position as usize];
        let entry = &snapshot.services[member.service.index()];
        Candidate {
            service: considered.service.to_string(),
            weight: member.weight,
            order: member.order,
            state: entry.state.word(),
            active: entry.live.active.load(std::sync::atomic::Ordering::SeqCst),
            // Where persistence decides, the method is not asked.
            why: match (&considered.why, back) {
                (_, Some(back)) if back == member.service => "chosen by persistence".into(),
                (Why::Chosen { method }, Some(_)) => format!("{} would choose it for a new client", method.word()),
                (why, _) => why.to_string(),
            },
        }
    });
    considered.collect()
}

fn word(truth: Truth) -> &'static str {
    match truth {
        Truth::True => "true",
        Truth::False => "false",
        Truth::Unknown => "unknown",
    }
}

/// A request as extracts see it.
struct Head<'a>(&'a Request<'a>);

impl Parts for Head<'_> {
    fn field(&self, name: &str, nth: usize) -> Option<&str> {
        if name.eq_ignore_ascii_case("host") {
            return Some(self.0.host).filter(|host| nth == 0 && !host.is_empty());
        }
        let mut of_name = self.0.fields.iter().filter(|(field, _)| field.eq_ignore_ascii_case(name));
        of_name.nth(nth).and_then(|(_, value)| std::str::from_utf8(value).ok())
    }

    fn target(&self) -> &str {
        self.0.target
    }

    fn client(&self) -> std::net::IpAddr {
        self.0.client
    }
}
