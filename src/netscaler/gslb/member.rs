//! GSLB services as what a record's check looks at.
//!
//! NetScaler takes the state of a service at this site from the vserver of its address, and that of one at another site
//! from monitors that are bound to it, else from what the sites tell each other. The first becomes a check that follows
//! the vserver, the others become services with these monitors, or with the one that a service has by itself.

use std::net::{IpAddr, SocketAddr};

use serde_json::{Value, json};

use super::super::resource::Resource;
use super::super::statement::{Statement, Verb};
use super::said::{self, Object};
use super::{Books, Carrying, zones};
use crate::config::condition::parse_term;

/// A service as a record has it.
#[derive(Clone)]
pub(super) struct Member {
    /// The term; `None`: it is always up.
    pub check: Option<String>,
    /// A, AAAA or CNAME.
    pub rtype: &'static str,
    pub data: String,
    pub site: Option<String>,
}

/// Types that services have here.
const TYPES: [&str; 9] = ["HTTP", "SSL", "TCP", "SSL_TCP", "SSL_BRIDGE", "UDP", "DNS", "DNS_TCP", "ANY"];
/// Others that are no streams.
const DATAGRAMS: [&str; 5] = ["SIP_UDP", "RADIUS", "RADIUSLISTENER", "DTLS", "TFTP"];

// === impl Carrying ===

impl Carrying<'_> {
    /// The service of this name, made where it is needed the first time. Errors: why it is not carried.
    pub(super) fn member(&mut self, books: &Books, name: &str, state_only: bool) -> Result<Member, String> {
        if let Some(known) = self.members.get(name) {
            return known.clone();
        }
        let made = match books.services.get(name) {
            Some(service) => {
                let made = self.service(books, service.clone(), state_only);
                if let Err(why) = &made {
                    self.missing(service.line, why.clone());
                    for bound in &service.bound {
                        self.missing(bound.line, format!("GSLB service `{name}` is not carried over"));
                    }
                }
                made.map_err(|_| format!("GSLB service `{name}` is not carried over"))
            }
            None => Err(format!("no GSLB service `{name}` is in the file")),
        };
        self.members.insert(name.to_owned(), made.clone());
        made
    }

    fn service(&mut self, books: &Books, mut service: Object, state_only: bool) -> Result<Member, String> {
        let site = service.take("siteName").map(|option| option.value);
        if let Some(site) = site.as_ref().filter(|site| books.sites.get(site).is_none()) {
            return Err(format!("no GSLB site `{site}` is in the file"));
        }
        if let Some(alias) = service.take("cnameEntry") {
            let data = zones::host(&alias.value)?;
            self.settle(&service, said::SERVICE);
            for bound in &service.bound {
                self.missing(bound.line, "a name is answered whether what stands there is up or not");
            }
            return Ok(Member { check: None, rtype: "CNAME", data, site });
        }
        let term = format!("svc:{}", service.name);
        if parse_term(&term).is_err() || parse_term(&service.name).is_err() {
            return Err(format!("conditions cannot name `{}`: a letter, digit or one of _ - . : / @", service.name));
        }
        let [host, kind, port] = &service.words[..] else {
            return Err("an address, a type and a port belong behind its name".into());
        };
        let (host, kind, port) = (host.clone(), kind.to_ascii_uppercase(), port.clone());
        let ip = self.address_of(&host)?;
        let public = match service.take("publicIP").map(|option| option.value) {
            Some(text) if text != "0.0.0.0" && !text.is_empty() => {
                text.parse::<IpAddr>().map_err(|_| format!("-publicIP {text} is no address"))?
            }
            _ => ip,
        };
        let rtype = if public.is_ipv4() { "A" } else { "AAAA" };
        let here = port.parse().ok().and_then(|port| self.vserver_at(SocketAddr::new(ip, port)));
        let with_monitors = service.bound.iter().any(|b| b.options.iter().any(|o| is(&o.key, "monitorName")));
        let member = |check| Member { check: Some(check), rtype, data: public.to_string(), site: site.clone() };
        if let (Some(vserver), false) = (here, with_monitors) {
            return self.follows(service, &vserver, state_only).map(member);
        }
        self.probed(service, &host, &kind, &port)?;
        Ok(member(term))
    }

    /// Of an address, or of a server by name.
    fn address_of(&self, host: &str) -> Result<IpAddr, String> {
        let server = self.document.table("server", host);
        match server.and_then(|server| server.get("address")).and_then(Value::as_str) {
            Some(address) => address.parse().map_err(|_| format!("records cannot follow the name `{address}`")),
            None => host.parse().map_err(|_| format!("no server `{host}` is carried over")),
        }
    }

    /// The vserver of this box with that address.
    fn vserver_at(&self, address: SocketAddr) -> Option<String> {
        let root = self.document.root();
        let all = ["vserver", "cs_vserver"].into_iter().filter_map(|section| root.get(section)?.as_object());
        let is_there = |table: &Value| table.get("address").and_then(Value::as_str) == Some(&address.to_string()[..]);
        all.flatten().find(|(_, table)| is_there(table)).map(|(name, _)| name.clone())
    }

    /// A check that is what the vserver is.
    fn follows(&mut self, mut service: Object, vserver: &str, state_only: bool) -> Result<String, String> {
        let term = if state_only { format!("vs:{vserver}") } else { format!("vs:{vserver}.primary") };
        if parse_term(&term).is_err() {
            return Err(format!("conditions cannot name `{vserver}`: a letter, digit or one of _ - . : / @"));
        }
        for key in ["healthMonitor", "monThreshold"] {
            service.take(key);
        }
        self.disabled(&mut service);
        let check = json!({ "type": "VSERVER", "term": term, "interval": "1s", "rise": 1, "fall": 1 });
        self.put("check", &service.name, check);
        self.settle(&service, said::SERVICE);
        self.bindings(&service, false);
        Ok(service.name)
    }

    fn disabled(&mut self, service: &mut Object) {
        if let Some(state) = service.take("state").filter(|state| is(&state.value, "DISABLED")) {
            let act = format!("disable service {}", service.name);
            let what = format!("whether it is disabled is state, no configuration: `{act}` once it runs");
            self.leave_out(state.line, what, true);
        }
    }

    /// A service with its monitors.
    fn probed(&mut self, mut service: Object, host: &str, kind: &str, port: &str) -> Result<(), String> {
        let known = TYPES.contains(&kind);
        let of_kind = match kind {
            _ if known => kind,
            _ if DATAGRAMS.contains(&kind) => "UDP",
            _ => "TCP",
        };
        let resource = |name: &str| Resource::find(name).ok_or_else(|| format!("no {name} here"));
        let is_address = host.parse::<IpAddr>().is_ok() && self.document.table("server", host).is_none();
        let mut add = Statement::new(Verb::Add, resource("service")?)
            .with("name", service.name.clone())
            .with(if is_address { "ip" } else { "servername" }, host)
            .with("servicetype", of_kind)
            .with("port", port);
        for (key, attribute) in [("healthMonitor", "healthmonitor"), ("monThreshold", "monthreshold")] {
            if let Some(option) = service.take(key) {
                add = add.with(attribute, option.value);
            }
        }
        self.document.execute(&add).map_err(|error| error.message)?;
        self.disabled(&mut service);
        self.settle(&service, said::SERVICE);
        if !known {
            self.note(service.line, format!("what is of type {kind} is probed as {of_kind} is"));
        }
        if !self.bindings(&service, true) {
            self.note(
                service.line,
                "no monitor is bound to it, and sites tell each other nothing here: the monitor that a service has by \
                 itself says whether it is up",
            );
        }
        Ok(())
    }

    /// What is bound to a service; whether monitors watch it.
    fn bindings(&mut self, service: &Object, takes_monitors: bool) -> bool {
        let mut watched = false;
        for bound in &service.bound {
            let mut options = bound.options.clone();
            let Some(monitor) = said::take(&mut options, "monitorName") else {
                self.missing(bound.line, "all clients are told the same address: views are not carried over");
                continue;
            };
            if !takes_monitors {
                self.missing(bound.line, "the vserver of its address says whether it is up");
                continue;
            }
            let Some(binding) = Resource::find("service_lbmonitor_binding") else { continue };
            let mut bind = Statement::new(Verb::Bind, binding)
                .with("name", service.name.clone())
                .with("monitor_name", monitor.value);
            for (key, attribute) in [("weight", "weight"), ("monState", "monstate"), ("passive", "passive")] {
                if let Some(option) = said::take(&mut options, key) {
                    let value = if option.value.is_empty() { Value::Bool(true) } else { option.value.into() };
                    bind = bind.with(attribute, value);
                }
            }
            match self.document.execute(&bind) {
                Ok(_) => {
                    watched = true;
                    self.carried(bound.line);
                    for option in options {
                        self.leave_out(bound.line, format!("-{}: nothing here does this", option.key), true);
                    }
                }
                Err(error) => self.missing(bound.line, error.message),
            }
        }
        watched
    }
}

fn is(text: &str, word: &str) -> bool {
    text.eq_ignore_ascii_case(word)
}
