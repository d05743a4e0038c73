//! Who is left of a drain that somebody waits for.

use super::Core;
use crate::control::apply::endless_cookies;
use crate::model::id::{Name, ServiceId};

/// Addresses that are named at most; how many more there are is said.
const NAMED_MOST: usize = 5;

// === impl Core ===

impl Core {
    /// A line for each service that is not out yet: how much is open, whose it is, and what would never end by itself.
    pub(super) fn still_draining(&mut self, services: &[Name]) -> Vec<String> {
        let mut lines = Vec::new();
        for name in services {
            let Some(id) = self.engine.model().service_id(name) else { continue };
            let state = self.engine.view().services[id.index()].state;
            if state.is_draining() {
                let clients = self.cell.load().connections.clients_of(name);
                let active = self.active(id);
                let mut line = format!("{name}: {} with {active} open", state.word());
                line += &told(&clients);
                line += &self.endless(id);
                lines.push(line);
            }
        }
        lines
    }

    fn endless(&self, service: ServiceId) -> String {
        let services = [service];
        let vservers = endless_cookies(self.engine.model(), &services);
        vservers.map(|name| format!("; session cookies of vserver {name} never end by themselves")).collect()
    }
}

/// `, of 7 clients: 192.0.2.7 (3), 192.0.2.8 and 5 more`
fn told(clients: &[(std::net::IpAddr, usize)]) -> String {
    let of = match clients.len() {
        0 => return String::new(),
        1 => "1 client".to_owned(),
        count => format!("{count} clients"),
    };
    let one = |&(ip, count): &(std::net::IpAddr, usize)| match count {
        1 => ip.to_string(),
        count => format!("{ip} ({count})"),
    };
    let named: Vec<String> = clients.iter().take(NAMED_MOST).map(one).collect();
    let more = match clients.len().saturating_sub(NAMED_MOST) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(", of {of}: {}{more}", named.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_are_counted_and_the_busiest_are_named() {
        assert_eq!(told(&[]), "");
        let client = |n: u8, count| (std::net::IpAddr::from([192, 0, 2, n]), count);
        assert_eq!(told(&[client(1, 1)]), ", of 1 client: 192.0.2.1");
        let many: Vec<_> = (1..=7).map(|n| client(n, usize::from(8 - n))).collect();
        assert_eq!(
            told(&many),
            ", of 7 clients: 192.0.2.1 (7), 192.0.2.2 (6), 192.0.2.3 (5), 192.0.2.4 (4), 192.0.2.5 (3) and 2 more"
        );
    }
}
