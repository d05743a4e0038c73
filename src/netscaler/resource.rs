//! The tables: resources, their attributes, and where each stands in the TOML.

use super::table;

/// How NITRO writes a value. The reference's `<Double>` goes as text, `<Integer>` as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Double,
    Integer,
    Boolean,
    Text,
    /// Of texts.
    List,
}

/// One attribute.
#[derive(Debug)]
pub struct Attribute {
    /// As NITRO spells it: `lbmethod`.
    pub nitro: &'static str,
    /// As the command line spells it: `lbMethod`.
    pub cli: &'static str,
    pub kind: Kind,
    pub place: Place,
    /// What NetScaler has where nothing is said, as text; empty: nothing, or it hangs on the type.
    pub default: &'static str,
}

/// Where an attribute stands.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// It names the object, or the first object of a binding.
    Name,
    /// It names the second object of a binding.
    Other,
    /// At this path below the object's table (or the binding's), written so.
    At(&'static [&'static str], Form),
    /// It means something together with others alone.
    With(Joint),
    /// `ENABLED` changes nothing; `DISABLED` is an act that follows the statement, for state is no configuration.
    State,
    /// Read by those who know what it means: GSLB's own reader, which makes zones, records and scenarios of it; the
    /// network's.
    Line,
    /// Taken with these values alone, which change nothing here; the first is shown.
    Only(&'static [&'static str]),
    /// Refused by name: why.
    Refused(&'static str),
}

/// How a value is written on either side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Text,
    /// A word of the configuration's own list, in any case, shortened as long as it is unambiguous.
    Word,
    Number,
    /// `ENABLED`, `DISABLED` for true and false.
    Enabled,
    /// `YES`, `NO`
    YesNo,
    /// `ON`, `OFF`
    OnOff,
    /// A number of seconds for a duration.
    Seconds,
    /// A number of minutes for a duration.
    Minutes,
    /// A number of kbit/s for a rate.
    Kilobits,
    /// `200-204 301` for a list of status codes.
    Codes,
    /// A list of words, separated by spaces or commas.
    Items,
    /// Bytes with `\xHH`.
    Bytes,
    /// `255.255.255.0` for the length of a prefix.
    Mask,
    /// `env:NAME` or `file:PATH` for where a secret is found.
    Secret,
    /// An expression that takes a value of a request (`HTTP.REQ.HEADER("X")`) for where it stands.
    Extract,
    /// `Name: value` lines for header fields.
    Headers,
}

/// Attributes that mean something together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joint {
    /// `ipv46`, `port` → `address`
    Vip,
    /// `ip` (or `ipaddress`), `servername`, `port` → `server`, `address`, `port`
    Host,
    /// `ipaddress`, `domain` → `address`
    ServerAddress,
    /// `persistencetype`, `timeout`, … → `persistence`
    Persistence,
    /// `somethod`, `sothreshold`, … → `spillover`
    Spillover,
    /// A number and its unit → a duration: `interval` and `units3`.
    Time,
    /// `respcode` of a monitor: `response_codes`, of RADIUS `rad_codes`.
    Codes,
    /// `lbmethod`'s expression and that of persistence: `token`, `persistence.request`
    Rule,
    /// `serverauth`, `clientauth`, `clientcert`, `tls12`, `tls13` → `tls`
    Tls,
    /// `weight` with `servicename` (or `monitor_name_svc`): a change of a binding.
    Rebind,
}

/// What a resource is.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// `[section.NAME]`
    Object { section: &'static str },
    /// A part of another resource's object: `sslvserver` of a vserver.
    Part { of: &'static str },
    /// Of GSLB and DNS: no table of its own; zones, records, scenarios and data centres say it.
    Lines,
    /// Of the machine's network: an entry of a list of `[network]`, `[resolver]` or `[time]`, or an interface.
    Network,
    /// One for the whole appliance; `section` is empty where nothing can be set.
    Single { section: &'static str },
    /// Between the object of `owner` and another; `to` is the resource of the other.
    Binding { owner: &'static str, to: &'static str },
}

/// A resource of NITRO, and what the command line calls it.
#[derive(Debug)]
pub struct Resource {
    /// `lbvserver`
    pub nitro: &'static str,
    /// `lb vserver`; of a binding those of its owner.
    pub words: &'static [&'static str],
    pub shape: Shape,
    /// NITRO's name of the attribute that names the object; empty for one that has none.
    pub key: &'static str,
    /// Lists of attributes, shared between resources.
    pub lists: &'static [&'static [Attribute]],
    /// What stands in a line without a keyword, in order, as NITRO spells it; `ip|servername`: the first where it is an
    /// address.
    pub positional: &'static [&'static str],
    /// Must be there in `add` or `bind`, beside the key; `a|b`: one of them.
    pub required: &'static [&'static str],
}

// === impl Resource ===

impl Resource {
    /// By NITRO's name, in any case.
    pub fn find(nitro: &str) -> Option<&'static Resource> {
        table::RESOURCES.iter().copied().find(|resource| resource.nitro.eq_ignore_ascii_case(nitro))
    }

    /// By the words of the command line in full, in any case: `["lb", "vserver"]`. Never a binding.
    pub fn by_words(words: &[&str]) -> Option<&'static Resource> {
        let same = |resource: &&Resource| {
            resource.words.len() == words.len()
                && resource.words.iter().zip(words).all(|(ours, theirs)| ours.eq_ignore_ascii_case(theirs))
        };
        Resource::all().filter(|resource| !resource.is_binding()).find(same)
    }

    pub fn all() -> impl Iterator<Item = &'static Resource> {
        table::RESOURCES.iter().copied()
    }

    /// The bindings of this resource's objects.
    pub fn bindings(&self) -> impl Iterator<Item = &'static Resource> {
        let nitro = self.nitro;
        Resource::all().filter(move |r| matches!(r.shape, Shape::Binding { owner, .. } if owner == nitro))
    }

    pub fn is_binding(&self) -> bool {
        matches!(self.shape, Shape::Binding { .. })
    }

    /// The resource whose objects carry the binding.
    pub fn owner(&self) -> Option<&'static Resource> {
        match self.shape {
            Shape::Binding { owner, .. } => Resource::find(owner),
            Shape::Part { of } => Resource::find(of),
            _ => None,
        }
    }

    /// The table of the TOML in which the objects stand.
    pub fn section(&self) -> &'static str {
        match self.shape {
            Shape::Object { section } | Shape::Single { section } => section,
            _ => self.owner().map_or("", Resource::section),
        }
    }

    pub fn attributes(&self) -> impl Iterator<Item = &'static Attribute> {
        self.lists.iter().flat_map(|list| list.iter())
    }

    /// By NITRO's name, in any case.
    pub fn attribute(&self, nitro: &str) -> Option<&'static Attribute> {
        self.attributes().find(|attribute| attribute.nitro.eq_ignore_ascii_case(nitro))
    }

    /// Whether zones, records, scenarios and data centres say it: sites, services, vservers, their bindings, DNS.
    pub fn is_of_gslb(&self) -> bool {
        matches!(self.words, ["gslb" | "dns", _]) && !self.is_of_network()
    }

    /// Whether `[network]`, `[resolver]` and `[time]` say it.
    pub fn is_of_network(&self) -> bool {
        matches!(
            self.words,
            ["ns", "ip" | "ip6"] | ["route" | "route6" | "vlan"] | ["dns", "nameServer"] | ["ntp", "server"]
        )
    }

    /// `lb vserver`
    pub fn said(&self) -> String {
        self.words.join(" ")
    }
}

impl Eq for Resource {}

impl PartialEq for Resource {
    fn eq(&self, other: &Resource) -> bool {
        self.nitro == other.nitro
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resource_is_found_by_either_name() {
        let vserver = Resource::find("LBvserver").unwrap();
        assert_eq!(Resource::by_words(&["LB", "vserver"]).unwrap(), vserver);
        assert_eq!(vserver.attribute("lbMethod").unwrap().cli, "lbMethod");
        assert!(vserver.bindings().any(|b| b.nitro == "lbvserver_service_binding"));
        assert_eq!(Resource::find("lbvserver_service_binding").unwrap().section(), "vserver");
        assert!(Resource::find("vpnvserver").is_none());
    }

    #[test]
    fn no_attribute_stands_twice_and_every_name_is_told_apart_from_its_keywords() {
        for resource in Resource::all() {
            let mut seen = std::collections::HashSet::new();
            for attribute in resource.attributes() {
                assert!(seen.insert(attribute.nitro), "{} {}", resource.nitro, attribute.nitro);
                assert_eq!(attribute.nitro, attribute.nitro.to_ascii_lowercase());
            }
            for argument in resource.positional.iter().chain(resource.required).flat_map(|one| one.split('|')) {
                assert!(resource.attribute(argument).is_some(), "{} {argument}", resource.nitro);
            }
            assert!(resource.key.is_empty() || resource.attribute(resource.key).is_some(), "{}", resource.nitro);
        }
    }
}
