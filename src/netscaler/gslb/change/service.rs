//! Services of GSLB.

use std::net::IpAddr;

use super::super::said::Object;
use super::super::zones;
use super::{Change, free_of};
use crate::config::condition::parse_term;
use crate::netscaler::document::check_name;
use crate::netscaler::error::NsError;
use crate::netscaler::resource::Place;
use crate::netscaler::value::is_true;

// === impl Change ===

impl Change<'_> {
    pub(super) fn add_service(&mut self) -> Result<(), NsError> {
        check_name(self.name)?;
        free_of(self.name, "serviceName", "!,")?;
        let is_id = parse_term(self.name).is_ok() && parse_term(&format!("svc:{}", self.name)).is_ok();
        if !is_id {
            let why = "conditions cannot name it: a letter, digit or one of _ - . : / @";
            return Err(NsError::unsupported("serviceName", self.name, why));
        }
        let is_taken = |section: &str| self.book.rest.table(section, self.name).is_some();
        if self.books.services.get(self.name).is_some() || is_taken("service") || is_taken("check") {
            return Err(NsError::exists("serviceName", self.name));
        }
        let site = self.value("sitename").unwrap_or_default();
        if self.books.sites.get(site).is_none() {
            return Err(NsError::no_such_resource("siteName", site));
        }
        let host = self.value("ip").or_else(|| self.value("servername"));
        let words = match (host, self.value("servicetype"), self.value("port")) {
            (None, _, _) if self.value("cnameentry").is_some() => Vec::new(),
            (None, ..) => return Err(NsError::missing("IP")),
            (_, None, _) => return Err(NsError::missing("serviceType")),
            (.., None) => return Err(NsError::missing("port")),
            (Some(host), Some(kind), Some(port)) => {
                if host.parse::<IpAddr>().is_err() && self.document.table("server", host).is_none() {
                    return Err(NsError::no_such_resource("serverName", host));
                }
                let kind = self.kind(kind)?;
                if port.parse::<u16>().is_err() {
                    return Err(NsError::bad_value("port", port));
                }
                vec![host.to_owned(), kind, port.to_owned()]
            }
        };
        let mut service = Object::new(self.name, words);
        self.write_service(&mut service)?;
        self.books.services.put(service);
        Ok(())
    }

    pub(super) fn set_service(&mut self) -> Result<(), NsError> {
        let Some(mut service) = self.books.services.get(self.name).cloned() else { return Err(self.unknown()) };
        for (place, keys) in [(0, ["ip", "servername"]), (1, ["servicetype", ""]), (2, ["port", ""])] {
            for (attribute, said) in self.given.iter().filter(|(attribute, _)| keys.contains(&attribute.nitro)) {
                let is_same = said
                    .as_deref()
                    .is_some_and(|said| service.words.get(place).is_some_and(|word| word.eq_ignore_ascii_case(said)));
                if !is_same {
                    return Err(NsError::with(257, &[attribute.cli]));
                }
            }
        }
        if let Some(address) = self.value("ipaddress") {
            address.parse::<IpAddr>().map_err(|_| NsError::bad_value("IPAddress", address))?;
            match service.words.first_mut() {
                Some(host) => address.clone_into(host),
                None => return Err(NsError::with(257, &["IPAddress"])),
            }
        }
        self.write_service(&mut service)?;
        self.books.services.put(service);
        Ok(())
    }

    fn write_service(&self, service: &mut Object) -> Result<(), NsError> {
        for (attribute, said) in self.given {
            let text = said.as_deref().unwrap_or_default();
            let bad = || Err(NsError::bad_value(attribute.cli, text));
            match attribute.nitro {
                "sitename" if said.is_none() => return Err(NsError::with(257, &["siteName"])),
                "sitename" if self.books.sites.get(text).is_none() => {
                    return Err(NsError::no_such_resource("siteName", text));
                }
                "cnameentry" if said.is_none() => return Err(NsError::with(257, &["cnameEntry"])),
                "cnameentry" if zones::host(text).is_err() => return bad(),
                "publicip" if said.is_some() && text.parse::<IpAddr>().is_err() => return bad(),
                "publicport" => {
                    if said.is_some() && text != "*" && service.words.get(2).is_some_and(|port| port != text) {
                        return Err(NsError::unsupported("publicPort", text, "a record has no port"));
                    }
                    continue;
                }
                "monthreshold" if said.is_some() && text.parse::<u16>().is_err() => return bad(),
                "healthmonitor" if said.is_some() && is_true(text).is_none() => return bad(),
                "ip" | "servername" | "ipaddress" | "servicetype" | "port" => continue,
                _ if !matches!(attribute.place, Place::Line) => continue,
                _ => {}
            }
            let own = service.words.first().map(String::as_str) == Some(text);
            let is_default = match attribute.nitro {
                "healthmonitor" => is_true(text) == Some(true),
                "monthreshold" => text == "0",
                "publicip" => own || text == "0.0.0.0",
                _ => false,
            };
            match said {
                Some(_) if !is_default && attribute.nitro == "healthmonitor" => service.set(attribute.cli, "NO"),
                Some(text) if !is_default => service.set(attribute.cli, text.clone()),
                _ => drop(service.take(attribute.cli)),
            }
        }
        Ok(())
    }

    pub(super) fn remove_service(&mut self) -> Result<(), NsError> {
        if self.books.services.get(self.name).is_none() {
            return Err(self.unknown());
        }
        self.books.services.remove(self.name);
        for vserver in self.books.vservers.iter_mut() {
            vserver.unbind("serviceName", self.name);
        }
        Ok(())
    }
}
