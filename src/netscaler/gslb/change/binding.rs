//! What is bound to services and vservers of GSLB.

use std::net::IpAddr;

use super::super::said::{Bound, value};
use super::super::zones;
use super::Change;
use crate::netscaler::error::NsError;
use crate::netscaler::resource::{Place, Resource};

// === impl Change ===

impl Change<'_> {
    /// The keyword that names what is bound, and its name.
    fn other(&self) -> Result<(&'static str, String), NsError> {
        let other = self.resource.attributes().find(|attribute| matches!(attribute.place, Place::Other));
        let Some(other) = other else { return Err(NsError::new(278)) };
        match self.value(other.nitro) {
            None => Err(NsError::missing(other.cli)),
            Some(name) if other.nitro == "domainname" => match zones::domain(name) {
                Ok(name) => Ok((other.cli, name)),
                Err(_) => Err(NsError::bad_value(other.cli, name)),
            },
            Some(name) => Ok((other.cli, name.to_owned())),
        }
    }

    pub(super) fn bind(&mut self) -> Result<(), NsError> {
        let (by, name) = self.other()?;
        let mut options = vec![(by, name.clone())];
        for (attribute, said) in self.given.iter().filter(|(attribute, _)| matches!(attribute.place, Place::Line)) {
            let Some(text) = said else { continue };
            let fits = match attribute.nitro {
                "weight" => text.parse::<u16>().is_ok_and(|weight| (1..=100).contains(&weight)),
                "ttl" => zones::ttl(text).is_some(),
                "backupip" => text.parse::<IpAddr>().is_ok(),
                _ => ["ENABLED", "DISABLED"].contains(&&text.to_ascii_uppercase()[..]),
            };
            if !fits {
                return Err(NsError::bad_value(attribute.cli, text));
            }
            let is_default = (attribute.nitro == "weight" && text == "1") || text.eq_ignore_ascii_case("ENABLED");
            if !is_default {
                options.push((attribute.cli, text.clone()));
            }
        }
        match by {
            "serviceName" if self.books.services.get(&name).is_none() => {
                return Err(NsError::no_such_resource("serviceName", &name));
            }
            "monitorName" => {
                let monitor = Resource::find("lbmonitor");
                let is_there = monitor.is_some_and(|monitor| self.document.has(monitor, &name));
                if !is_there && !crate::config::builtin_monitors().any(|builtin| builtin == name) {
                    return Err(NsError::with(2171, &["monitorName", &name]));
                }
            }
            "domainName" => {
                let taken =
                    self.books.vservers.iter().find(|vserver| {
                        vserver.name != self.name && vserver.bound(by).any(|(domain, _)| domain == name)
                    });
                if let Some(vserver) = taken {
                    return Err(NsError::in_use(by, &name, &format!("gslb vserver {}", vserver.name)));
                }
                if !options.iter().any(|(key, _)| *key == "TTL") {
                    options.insert(1, ("TTL", zones::TTL.to_string()));
                }
            }
            _ => {}
        }
        let unknown = self.unknown();
        let objects = if by == "monitorName" { &mut self.books.services } else { &mut self.books.vservers };
        let Some(object) = objects.get_mut(self.name) else { return Err(unknown) };
        let options: Vec<(&str, &str)> = options.iter().map(|(key, value)| (*key, &value[..])).collect();
        let bound = Bound::new(&options);
        let known = object.bound.iter().position(|old| value(&old.options, by) == Some(&name[..]));
        match known {
            Some(at) => object.bound[at] = bound,
            // Members before domains, as they are read.
            None if by == "serviceName" => {
                let at = object.bound(by).count();
                object.bound.insert(at, bound);
            }
            None => object.bound.push(bound),
        }
        Ok(())
    }

    pub(super) fn unbind(&mut self) -> Result<(), NsError> {
        let (by, name) = self.other()?;
        let unknown = self.unknown();
        let objects = if by == "monitorName" { &mut self.books.services } else { &mut self.books.vservers };
        let Some(object) = objects.get_mut(self.name) else { return Err(unknown) };
        match (object.unbind(by, &name), by) {
            (true, _) => Ok(()),
            (false, "serviceName") => Err(NsError::with(1303, &[by, &name])),
            (false, "monitorName") => Err(NsError::with(2170, &[by, &name])),
            (false, _) => Err(NsError::no_such_resource(by, &name)),
        }
    }
}
