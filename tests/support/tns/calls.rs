//! Calls of a session that is logged in: statements, their rows, how a call ends.

use std::io::Result;

use super::session::{BREAK, CANCELLED, RESET, Session, packet};
use super::wire::{self, Reader, Writer, broken};
use super::{Answer, Column, answer};

pub struct Cursor {
    pub sql: String,
    columns: Columns,
    rows: Rows,
    pub at: usize,
}

/// What the statement that sleeps gives.
const SLEPT: (Columns, Rows) = (&[("SLEEP", Column::Number)], &[&[Some("1")]]);

type Columns = &'static [(&'static str, Column)];
type Rows = &'static [&'static [Option<&'static str>]];

// === impl Session ===

impl Session {
    pub(super) async fn execute(&mut self, message: &mut Reader<'_>) -> Result<Writer> {
        let options = message.number()?;
        let id = message.number()?;
        message.take(1)?;
        let has_sql = message.number()? > 0;
        message.take(1)?;
        message.numbers(1)?;
        message.take(2)?;
        message.numbers(1)?;
        let count = message.number()?;
        message.numbers(1)?;
        // The binds, and pointers to what these clients do not send.
        for part in [1, 0, 5, 1, 0, 0, 3, 0, 1, 0, 0, 1, 0, 1] {
            if part == 0 { message.numbers(1)? } else { message.take(part).map(|_| ())? }
        }
        if self.fields >= 8 {
            message.take(1)?;
            message.numbers(1)?;
            message.take(1)?;
            message.numbers(1)?;
            message.take(1)?;
        }
        if self.fields >= 9 {
            message.take(1)?;
            message.numbers(1)?;
        }
        let sql = match (has_sql, self.cursors.get(&id)) {
            (true, _) => message.text()?,
            (false, Some(cursor)) => cursor.sql.clone(),
            (false, None) => return Err(broken("a cursor")),
        };
        // Values that are bound stand in what is left, in an order that does not matter here.
        let rest = String::from_utf8_lossy(message.take(message.0.len())?).into_owned();
        self.note(format!("execute {sql}"));
        self.note(format!("with {rest}"));
        let (columns, rows) = match answer(&sql) {
            Answer::Error(code, why) => return Ok(self.end(code, why, 0, 0)),
            Answer::Changed(count) => return Ok(self.end(0, "", 1, count)),
            Answer::Sleep(time) => match tokio::time::timeout(time, self.packet()).await {
                Err(_) => (SLEPT.0, SLEPT.1),
                Ok(packet) => return self.broken_off(packet?).await,
            },
            Answer::Rows(columns, rows) => (columns, rows),
        };
        let is_new = id == 0;
        let id = if is_new { self.cursors.len() as u64 + 1 } else { id };
        self.cursors.insert(id, Cursor { sql, columns, rows, at: 0 });
        let described = if is_new { self.describe(columns) } else { Writer::default() };
        let rows = if options & 0x40 != 0 { self.rows(id, count)? } else { self.end(0, "", id, 0) };
        Ok(described.raw(&rows.0))
    }

    /// A break: both sides say so, both reset, and the call ends in an error.
    async fn broken_off(&mut self, (kind, _): (u8, Vec<u8>)) -> Result<Writer> {
        if kind != packet::MARKER {
            return Err(broken("a call within a call"));
        }
        self.note("break");
        self.send(packet::MARKER, &[1, 0, BREAK]).await?;
        self.send(packet::MARKER, &[1, 0, RESET]).await?;
        self.packet().await?;
        Ok(self.end(CANCELLED.0, CANCELLED.1, 0, 0))
    }

    fn describe(&self, columns: &[(&str, Column)]) -> Writer {
        let mut said = Writer::default().raw(&[16, 0]).number(100).number(columns.len() as u64).raw(&[1]);
        for (at, (name, column)) in columns.iter().enumerate() {
            let (kind, scale, size, charset, form) = match column {
                Column::Text => (1, 0, 4_000, 873, 1),
                Column::Number => (2, 0x81, 22, 0, 0),
            };
            said = said.raw(&[kind, 0, 0, scale]).number(size).zeros(4).number(charset).raw(&[form]);
            said = said.number(if *column == Column::Text { size } else { 0 });
            said = said.zeros(usize::from(self.fields >= 8));
            said = said.raw(&[1, name.len() as u8]).counted(name.as_bytes()).zeros(2).number(at as u64 + 1).zeros(1);
            said = said.zeros(if self.fields >= 17 { 2 } else { 0 });
            said = said.zeros(usize::from(self.fields >= 20));
            said = said.zeros(if self.fields >= 24 { 3 } else { 0 });
        }
        said.counted(&[120, 126, 11, 29, 21, 1, 1]).zeros(5)
    }

    pub(super) fn rows(&mut self, id: u64, count: u64) -> Result<Writer> {
        let cursor = self.cursors.get_mut(&id).ok_or_else(|| broken("a cursor"))?;
        let left = &cursor.rows[cursor.at..];
        let part = &left[..left.len().min(count as usize)];
        cursor.at += part.len();
        let mut said = Writer::default();
        if !part.is_empty() {
            said = said.raw(&[6, 0]).number(1).number(0).number(part.len() as u64).zeros(3);
        }
        for row in part {
            said = said.raw(&[7]);
            for (value, (_, column)) in row.iter().zip(cursor.columns) {
                said = match (value, column) {
                    (None, _) => said.bytes(b""),
                    (Some(text), Column::Text) => said.bytes(text.as_bytes()),
                    (Some(text), Column::Number) => said.bytes(&wire::number(text)),
                };
            }
        }
        let (at, is_done) = (cursor.at as u64, (part.len() as u64) < count);
        let end = match is_done {
            true => self.end(1403, "ORA-01403: no data found", id, at),
            false => self.end(0, "", id, at),
        };
        Ok(said.raw(&end.0))
    }

    /// The end of a call: an error, or that there is none.
    pub(super) fn end(&self, code: u32, why: &str, cursor: u64, rows: u64) -> Writer {
        let code = u64::from(code);
        let said = Writer::default().raw(&[4]).number(1).number(1).number(rows).number(code & 0xffff);
        let said = said.zeros(2).number(cursor).zeros(1 + 6 + 5 + 1 + 2 + 6).number(code).number(rows);
        let said = said.zeros(if self.fields >= 14 { 2 } else { 0 });
        if code == 0 { said } else { said.bytes(format!("{why}\n").as_bytes()) }
    }
}
