//! PostgreSQL, by its extended protocol: one statement, parameters as text of whatever type the server gives them, and
//! no more than the first row.

use std::error::Error;

use bytes::BytesMut;
use futures_util::TryStreamExt as _;
use tokio_postgres::config::SslMode;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{Format, FromSql, IsNull, ToSql, Type, to_sql_checked};
use tokio_postgres::{Client, Config, NoTls};

use super::{Access, Clock, Credentials, Failed, Peer, Said, Trouble, tame, words};
use crate::model::sql::Text;
use crate::probe::dialogue::postgresql::{Bounded, open};

pub(super) async fn ask(
    peer: Peer<'_>,
    login: &Credentials,
    database: &str,
    text: &Text<'_>,
    access: Access,
    clock: Clock,
) -> Result<Said, Failed> {
    let connecting = async {
        let (wire, address) = open(peer, false).await.map_err(|miss| (Trouble::Connect, words(miss)))?;
        let mut config = Config::new();
        config.user(&*login.user).password(&*login.password).dbname(database);
        config.application_name("bascule").ssl_mode(SslMode::Disable);
        let connected = config.connect_raw(Bounded::new(wire), NoTls).await;
        connected.map_err(|error| (Trouble::Connect, format!("{address} refused: {}", in_words(&error).1)))
    };
    let (client, driver) = clock.connecting(Box::pin(connecting)).await??;
    let session = async {
        // The client goes at the end of the statement, and with it the session ends in order.
        match tokio::join!(transaction(client, text, access, clock), driver) {
            (Err((Trouble::Database, _)), Err(why)) => Err(in_words(&why)),
            (said, _) => said,
        }
    };
    clock.asking(Box::pin(session)).await?
}

async fn transaction(mut client: Client, text: &Text<'_>, access: Access, clock: Clock) -> Result<Said, Failed> {
    let failed = |error: tokio_postgres::Error| in_words(&error);
    let transaction = client.build_transaction().read_only(access == Access::Read).start().await.map_err(failed)?;
    // The server ends by itself what we would no longer wait for.
    let bound = format!("SET LOCAL statement_timeout = {}", clock.statement_millis());
    transaction.batch_execute(&bound).await.map_err(failed)?;
    let statement = transaction.prepare(&text.sql).await.map_err(failed)?;
    let values: Vec<Value<'_>> = text.values.iter().map(|(_, value)| Value(value)).collect();
    let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|value| value as _).collect();
    let said = if statement.columns().is_empty() {
        Said::Count(transaction.execute(&statement, &values).await.map_err(failed)?)
    } else {
        let portal = transaction.bind(&statement, &values).await.map_err(failed)?;
        let rows = transaction.query_portal_raw(&portal, 1).await.map_err(failed)?;
        let first = std::pin::pin!(rows).try_next().await.map_err(failed)?;
        match first {
            None => Said::NoRow,
            Some(row) => match row.try_get::<_, Option<Shown>>(0) {
                Ok(value) => Said::Value(value.map(|Shown(text)| text)),
                Err(error) => {
                    let why = error.source().map_or_else(|| error.to_string(), ToString::to_string);
                    return Err((Trouble::Shape, why));
                }
            },
        }
    };
    match access {
        Access::Act => transaction.commit().await.map_err(failed)?,
        Access::Read => transaction.rollback().await.map_err(failed)?,
    }
    Ok(said)
}

/// What an error means, and the server's words.
fn in_words(error: &tokio_postgres::Error) -> Failed {
    let Some(said) = error.as_db_error() else {
        let source = error.source().map_or_else(String::new, |why| format!(": {why}"));
        return (Trouble::Database, tame(&format!("{error}{source}")));
    };
    let trouble = match *said.code() {
        SqlState::QUERY_CANCELED => Trouble::TimedOut,
        _ => Trouble::Database,
    };
    (trouble, format!("{} {}", said.code().code(), tame(said.message())))
}

/// A parameter: text, which the server reads as the type it wants.
#[derive(Debug)]
struct Value<'a>(&'a str);

/// A value of a type that has one obvious text.
struct Shown(String);

// === impl Value ===

impl ToSql for Value<'_> {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        out.extend_from_slice(self.0.as_bytes());
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    fn encode_format(&self, _: &Type) -> Format {
        Format::Text
    }

    to_sql_checked!();
}

// === impl Shown ===

impl<'a> FromSql<'a> for Shown {
    fn from_sql(kind: &Type, raw: &'a [u8]) -> Result<Shown, Box<dyn Error + Sync + Send>> {
        Ok(Shown(match *kind {
            Type::BOOL => bool::from_sql(kind, raw)?.to_string(),
            Type::INT2 => i16::from_sql(kind, raw)?.to_string(),
            Type::INT4 => i32::from_sql(kind, raw)?.to_string(),
            Type::INT8 => i64::from_sql(kind, raw)?.to_string(),
            Type::OID => u32::from_sql(kind, raw)?.to_string(),
            Type::FLOAT4 => f32::from_sql(kind, raw)?.to_string(),
            Type::FLOAT8 => f64::from_sql(kind, raw)?.to_string(),
            Type::NUMERIC => numeric(raw).ok_or("a numeric that cannot be read")?,
            ref text if <&str as FromSql>::accepts(text) => <&str>::from_sql(text, raw)?.to_owned(),
            ref other => return Err(format!("gave a value of type {other}; cast it to text or a number").into()),
        }))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

/// A number in digits of base 10 000, as the server packs it: their count, the weight of the first, sign, scale.
fn numeric(raw: &[u8]) -> Option<String> {
    let mut words = raw.chunks(2).map(|pair| Some(u16::from_be_bytes(pair.try_into().ok()?)));
    let count = words.next()??;
    let weight = i32::from(words.next()??.cast_signed());
    let sign = words.next()??;
    let scale = usize::from(words.next()??);
    let digits: Vec<u16> = words.collect::<Option<_>>()?;
    if digits.len() != usize::from(count) || digits.iter().any(|&digit| digit > 9_999) || weight.abs() > 32_767 {
        return None;
    }
    let sign = match sign {
        0 => "",
        0x4000 => "-",
        0xc000 => return Some("NaN".to_owned()),
        _ => return None,
    };
    let digit = |at: i32| usize::try_from(at).ok().and_then(|at| digits.get(at)).copied().unwrap_or(0);
    let whole: String =
        (0..=weight.max(0)).map(|at| format!("{:04}", if weight < 0 { 0 } else { digit(at) })).collect();
    let whole = whole.trim_start_matches('0');
    let part: String = (0..scale.div_ceil(4)).map(|at| format!("{:04}", digit(weight + 1 + at as i32))).collect();
    let dot = if scale > 0 { "." } else { "" };
    Some(format!("{sign}{}{dot}{}", if whole.is_empty() { "0" } else { whole }, &part[..scale]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(words: &[u16]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_be_bytes()).collect()
    }

    #[test]
    fn numbers_of_any_size_are_unpacked() {
        for (words, expected) in [
            (&[0, 0, 0, 0][..], "0"),
            (&[1, 0, 0, 0, 42], "42"),
            (&[2, 1, 0x4000, 0, 1, 2], "-10002"),
            (&[1, 1, 0, 0, 5], "50000"),
            (&[2, 0, 0, 2, 30, 5000], "30.50"),
            (&[1, 0xffff, 0, 3, 50], "0.005"),
            (&[1, 0xfffe, 0, 8, 1], "0.00000001"),
            (&[0, 0, 0xc000, 0], "NaN"),
        ] {
            assert_eq!(numeric(&packed(words)).as_deref(), Some(expected), "{words:?}");
        }
        for broken in [&[][..], &[1, 0, 0, 0], &[0, 0, 7, 0], &[1, 0, 0, 0, 10_000]] {
            assert_eq!(numeric(&packed(broken)), None, "{broken:?}");
        }
        assert_eq!(numeric(&[0, 0, 0]), None);
    }
}
