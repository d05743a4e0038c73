//! Whether a request that failed is given to another member.
//!
//! | what failed | tried again |
//! |---|---|
//! | the member could not be reached, or went down while it was being reached | whatever the method: nothing was sent |
//! | an idle connection that the server closed as we took it | idempotent requests, on the same member, once; whatever the method where the end was there before we sent |
//! | the server broke off before its answer began | idempotent requests whose body can be sent again |
//! | the server said that it did not begin (GOAWAY, REFUSED_STREAM) | whatever the method, twice, where the body can be sent again |
//! | anything later, or time that ran out | never |
//!
//! At most `retry.max` members after the first, in thirty seconds. A request that was sent to a server before draws on
//! the vserver's budget ([`balance::retry`](crate::balance::retry)); one that reached none does not, as it is no more load.

use pingora_error::{Error, ErrorSource, ErrorType, RetryType};
use pingora_proxy::Session;

use super::ctx::{Ctx, wanted};
use crate::dataplane::l7::policy;
use crate::dataplane::member::Wanted;

/// Times that one request is sent again because a server did not begin it: a second connection may be at its end as well.
const REFUSALS_MAX: u32 = 2;

/// Nothing was sent: whether there is another try. A connection that was found closed is no fault of the member's.
pub(super) fn before_sending(ctx: &mut Ctx) -> bool {
    if std::mem::take(&mut ctx.stale) {
        // Once, as no other that was kept is taken from here on.
        return !std::mem::replace(&mut ctx.fresh, true) && ctx.may_try_again();
    }
    ctx.pass_over();
    on_another(ctx)
}

/// A connection was made or taken, and the exchange on it failed.
pub(super) fn after_connect(session: &mut Session, error: &mut Error, ctx: &mut Ctx, reused: bool) {
    // What the engine knows of HTTP/2: the server did not begin.
    let refused = matches!(error.retry, RetryType::Decided(true));
    let can_be_sent_again =
        !session.as_ref().retry_buffer_truncated() && session.response_written().is_none() && !ctx.upgrade;
    let idempotent = session.req_header().method.is_idempotent();
    let broken = matches!(
        error.etype(),
        ErrorType::ConnectionClosed
            | ErrorType::ReadError
            | ErrorType::WriteError
            | ErrorType::ConnectError
            | ErrorType::H2Error
    ) && *error.esource() == ErrorSource::Upstream;
    if !can_be_sent_again || !(idempotent || refused) {
        error.set_retry(false);
    } else if refused {
        ctx.refusals += 1;
        error.set_retry(ctx.refusals <= REFUSALS_MAX && ctx.may_try_again());
    } else if reused && broken {
        // The server closed an idle connection as we took it: its fault only if a fresh one fails too.
        ctx.fresh = true;
        error.retry.decide_reuse(ctx.may_try_again());
    } else if broken {
        ctx.pass_over();
        ctx.fresh = true;
        error.set_retry(send_again(ctx));
    } else {
        error.set_retry(false);
    }
}

/// Whether another member may be tried, and there is one. Where there is none the status of the last failure is kept.
pub(super) fn on_another(ctx: &Ctx) -> bool {
    let Some(link) = &ctx.link else { return false };
    let snapshot = link.shared.plane.cell.load();
    let most = snapshot.model.vserver_id(&link.vserver).map_or(0, |id| snapshot.model.vserver(id).retry.max);
    ctx.tried.len() <= most as usize && ctx.may_try_again() && is_another(ctx)
}

/// The same for a request that a server has had: asked last, as it spends the budget.
fn send_again(ctx: &Ctx) -> bool {
    let Some(link) = ctx.link.as_ref().filter(|_| on_another(ctx)) else { return false };
    let snapshot = link.shared.plane.cell.load();
    let Some(id) = snapshot.model.vserver_id(&link.vserver) else { return false };
    let live = &snapshot.vservers[id.index()].live;
    live.retry.take(link.shared.now(), snapshot.model.vserver(id).retry.budget_percent)
}

/// Whether there is anybody left to try.
fn is_another(ctx: &Ctx) -> bool {
    let Some(link) = &ctx.link else { return false };
    let snapshot = link.shared.plane.cell.load();
    let wanted = Wanted { dry: true, ..wanted(link, &|_| None, ctx.routed.as_ref(), &ctx.tried) };
    let entry = ctx.routed.as_ref().map_or(&link.vserver, |routed| &routed.vserver);
    snapshot.model.vserver_id(entry).is_some_and(|id| policy::choose(&snapshot, id, &wanted).is_ok())
}
