//! Addresses on the machine's interfaces: what of them is written down.

use std::net::IpAddr;

use super::Core;
use crate::model::event::Record;
use crate::model::id::Name;
use crate::model::network::AddressState;
use crate::model::time::Now;

impl Core {
    pub(super) fn address_news(&mut self, now: Now, vserver: Option<Name>, ip: IpAddr, state: &AddressState) {
        // One that the configuration no longer has is nobody's concern.
        if vserver.as_ref().is_some_and(|name| self.engine.model().vserver_id(name).is_none()) {
            return;
        }
        let well = || match state.interface() {
            Some(interface) => format!("on {interface}"),
            None => "nobody looks after it".to_owned(),
        };
        let detail = state.trouble().unwrap_or_else(well).into();
        let (address, what) = (ip.to_string().into(), state.word().into());
        self.record(now, now, Record::Address { vserver, address, what, detail });
    }
}
