//! Vservers of GSLB.

use super::super::said::Object;
use super::super::vserver::DEPTH;
use super::{Change, free_of};
use crate::netscaler::document::check_name;
use crate::netscaler::error::NsError;
use crate::netscaler::resource::Place;

// === impl Change ===

impl Change<'_> {
    pub(super) fn add_vserver(&mut self) -> Result<(), NsError> {
        check_name(self.name)?;
        free_of(self.name, "name", "!,")?;
        if self.books.vservers.get(self.name).is_some() {
            return Err(NsError::exists("name", self.name));
        }
        let kind = self.kind(self.value("servicetype").unwrap_or_default())?;
        let mut vserver = Object::new(self.name, vec![kind]);
        vserver.set("lbMethod", "ROUNDROBIN");
        self.write_vserver(&mut vserver)?;
        self.books.vservers.put(vserver);
        Ok(())
    }

    pub(super) fn set_vserver(&mut self) -> Result<(), NsError> {
        let Some(mut vserver) = self.books.vservers.get(self.name).cloned() else { return Err(self.unknown()) };
        if let Some(kind) = self.value("servicetype")
            && vserver.words.first().is_none_or(|word| !word.eq_ignore_ascii_case(kind))
        {
            return Err(NsError::with(257, &["serviceType"]));
        }
        self.write_vserver(&mut vserver)?;
        self.books.vservers.put(vserver);
        Ok(())
    }

    fn write_vserver(&self, vserver: &mut Object) -> Result<(), NsError> {
        for (attribute, said) in self.given.iter().filter(|(attribute, _)| matches!(attribute.place, Place::Line)) {
            let text = said.as_deref().unwrap_or_default();
            let upper = text.to_ascii_uppercase();
            // The first is what NetScaler has where nothing is said.
            let words: &[&str] = match attribute.nitro {
                "servicetype" => continue,
                "backupvserver" => {
                    self.check_backup(text)?;
                    match said {
                        Some(name) => vserver.set(attribute.cli, name.clone()),
                        None if vserver.take(attribute.cli).is_none() => return Err(NsError::new(470)),
                        None => {}
                    }
                    continue;
                }
                "lbmethod" => {
                    let why = match &upper[..] {
                        "" | "ROUNDROBIN" | "SOURCEIPHASH" => "",
                        "STATICPROXIMITY" => "no table of places is kept: see `geo` and `topology` of `select`",
                        "RTT" => "round trips are not measured",
                        _ => "sites do not tell each other their load",
                    };
                    if !why.is_empty() {
                        return Err(NsError::unsupported(attribute.cli, text, why));
                    }
                    vserver.set(attribute.cli, if upper.is_empty() { "ROUNDROBIN".to_owned() } else { upper });
                    continue;
                }
                "dnsrecordtype" => &["A", "AAAA", "CNAME"],
                "considereffectivestate" => &["NONE", "STATE_ONLY"],
                _ => &["DISABLED", "ENABLED"],
            };
            match words.iter().position(|word| *word == upper) {
                None if said.is_some() && upper == "NAPTR" => {
                    return Err(NsError::unsupported(attribute.cli, text, "records of this type are not steered"));
                }
                None if said.is_some() => return Err(NsError::bad_value(attribute.cli, text)),
                None | Some(0) => drop(vserver.take(attribute.cli)),
                Some(_) => vserver.set(attribute.cli, upper),
            }
        }
        Ok(())
    }

    /// Errors: 430 no such vserver, 350 the chain comes back or is too long.
    fn check_backup(&self, backup: &str) -> Result<(), NsError> {
        if backup.is_empty() {
            return Ok(());
        }
        let mut chain = vec![self.name];
        let mut next = Some(backup);
        while let Some(name) = next {
            let Some(vserver) = self.books.vservers.get(name) else {
                return Err(NsError::with(430, &["backupVServer", name]));
            };
            if chain.contains(&name) || chain.len() >= DEPTH {
                return Err(NsError::with(350, &["backupVServer", backup]));
            }
            chain.push(name);
            next = vserver.value("backupVServer");
        }
        Ok(())
    }

    pub(super) fn remove_vserver(&mut self) -> Result<(), NsError> {
        if self.books.vservers.get(self.name).is_none() {
            return Err(self.unknown());
        }
        self.books.vservers.remove(self.name);
        for vserver in self.books.vservers.iter_mut() {
            if vserver.value("backupVServer") == Some(self.name) {
                drop(vserver.take("backupVServer"));
            }
        }
        Ok(())
    }
}
