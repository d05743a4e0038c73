//! Geography: where an address is, by a database in MaxMind's format, and regions as records name them.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use super::id::Name;

/// A database file as it was read when the configuration was loaded; a reload reads it again.
#[derive(Clone)]
pub struct Database {
    /// As configured.
    pub file: Name,
    /// `None`: it is not to be had where the configuration is looked at; every address is unknown then.
    reader: Option<Arc<maxminddb::Reader<Bytes>>>,
    bytes: Bytes,
}

#[derive(Clone, PartialEq, Eq)]
struct Bytes(Arc<[u8]>);

/// Where an address is; empty: unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place<'a> {
    /// `EU`
    pub continent: &'a str,
    /// ISO 3166-1: `TR`
    pub country: &'a str,
    /// ISO 3166-2 without the country: `34`
    pub subdivision: &'a str,
}

/// A region that a record is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Region {
    /// `continent:EU`
    Continent(Name),
    /// `country:TR`
    Country(Name),
    /// `subdivision:TR-34`
    Subdivision { country: Name, part: Name },
}

// === impl Database ===

impl Database {
    /// Errors: in words.
    pub fn open(file: Name, bytes: Vec<u8>) -> Result<Database, String> {
        let bytes = Bytes(bytes.into());
        let reader = maxminddb::Reader::from_source(bytes.clone());
        let reader = reader.map_err(|error| format!("is no database in MaxMind's format: {error}"))?;
        Ok(Database { file, reader: Some(Arc::new(reader)), bytes })
    }

    pub fn absent(file: Name) -> Database {
        Database { file, reader: None, bytes: Bytes(Arc::from([].as_slice())) }
    }

    /// Unknown where the database does not say, or cannot be read there.
    pub fn place(&self, address: IpAddr) -> Place<'_> {
        let found = self.reader.as_ref().and_then(|reader| reader.lookup(address.to_canonical()).ok());
        let Some(found) = found else { return Place::default() };
        Place {
            continent: found.decode_path(&maxminddb::path!["continent", "code"]).ok().flatten().unwrap_or_default(),
            country: found.decode_path(&maxminddb::path!["country", "iso_code"]).ok().flatten().unwrap_or_default(),
            subdivision: found
                .decode_path(&maxminddb::path!["subdivisions", 0, "iso_code"])
                .ok()
                .flatten()
                .unwrap_or_default(),
        }
    }
}

impl PartialEq for Database {
    fn eq(&self, other: &Database) -> bool {
        self.file == other.file && (Arc::ptr_eq(&self.bytes.0, &other.bytes.0) || self.bytes == other.bytes)
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database").field("file", &self.file).field("bytes", &self.bytes.0.len()).finish()
    }
}

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

// === impl Place ===

impl Place<'_> {
    /// 3: in a subdivision of `regions`; 2: in a country; 1: on a continent; 0: in none of them.
    pub fn nearness(&self, regions: &[Region]) -> u8 {
        let near = |region: &Region| match region {
            Region::Subdivision { country, part } => {
                3 * u8::from(**country == *self.country && **part == *self.subdivision)
            }
            Region::Country(country) => 2 * u8::from(**country == *self.country),
            Region::Continent(continent) => u8::from(**continent == *self.continent),
        };
        regions.iter().map(near).max().unwrap_or(0)
    }
}

/// `TR-34 (EU)`, or `unknown`.
impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.country, self.subdivision, self.continent) {
            ("", _, "") => f.write_str("unknown"),
            ("", _, continent) => f.write_str(continent),
            (country, "", continent) => write!(f, "{country} ({continent})"),
            (country, part, continent) => write!(f, "{country}-{part} ({continent})"),
        }
    }
}

// === impl Region ===

impl Region {
    /// Codes are taken in either case. `None`: it is no region.
    pub fn parse(text: &str) -> Option<Region> {
        let (kind, code) = text.split_once(':')?;
        let code = code.trim().to_ascii_uppercase();
        let is_code = |code: &str| code.len() == 2 && code.bytes().all(|byte| byte.is_ascii_alphabetic());
        match kind.trim() {
            "continent" if ["AF", "AN", "AS", "EU", "NA", "OC", "SA"].contains(&&*code) => {
                Some(Region::Continent(code.into()))
            }
            "country" if is_code(&code) => Some(Region::Country(code.into())),
            "subdivision" => {
                let (country, part) = code.split_once('-')?;
                let fits = (1..=3).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
                (is_code(country) && fits).then(|| Region::Subdivision { country: country.into(), part: part.into() })
            }
            _ => None,
        }
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Region::Continent(code) => write!(f, "continent:{code}"),
            Region::Country(code) => write!(f, "country:{code}"),
            Region::Subdivision { country, part } => write!(f, "subdivision:{country}-{part}"),
        }
    }
}
