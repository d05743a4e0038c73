//! One session: packets, the rounds before the login, calls.

use std::collections::HashMap;
use std::io::Result;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::calls::Cursor;
use super::login::{self, Login, Pairs};
use super::wire::{self, Reader, Writer, broken};
use super::{Fault, Generation, Manner, PASSWORD, SERVICE, USER};

pub(super) mod packet {
    pub const CONNECT: u8 = 1;
    pub const ACCEPT: u8 = 2;
    pub const REFUSE: u8 = 4;
    pub const REDIRECT: u8 = 5;
    pub const DATA: u8 = 6;
    pub const MARKER: u8 = 12;
}

/// Kinds of markers.
pub(super) const BREAK: u8 = 1;
pub(super) const RESET: u8 = 2;

pub(super) const CANCELLED: (u32, &str) = (1013, "ORA-01013: user requested cancel of current operation");

pub struct Session {
    stream: TcpStream,
    manner: Manner,
    happened: Arc<Mutex<Vec<String>>>,
    /// Packets have long headers.
    is_wide: bool,
    sent: usize,
    /// The version of fields in calls that both know.
    pub(super) fields: u8,
    login: Option<Login>,
    is_in: bool,
    pub(super) cursors: HashMap<u64, Cursor>,
}

// === impl Session ===

impl Session {
    pub fn new(stream: TcpStream, manner: Manner, happened: Arc<Mutex<Vec<String>>>) -> Session {
        let fields = if manner.generation == Generation::Nineteen { 12 } else { 24 };
        let (login, cursors) = (None, HashMap::new());
        Session { stream, manner, happened, is_wide: false, sent: 0, fields, login, is_in: false, cursors }
    }

    pub async fn run(mut self) -> Result<()> {
        if !self.connect().await? {
            return Ok(());
        }
        loop {
            let (kind, body) = self.packet().await?;
            match kind {
                // A break that came when its call was over already.
                packet::MARKER if body.get(2) == Some(&RESET) => {
                    self.send(packet::MARKER, &[1, 0, RESET]).await?;
                    let said = self.end(CANCELLED.0, CANCELLED.1, 0, 0);
                    self.answer(said).await?;
                }
                packet::MARKER => self.send(packet::MARKER, &[1, 0, BREAK]).await?,
                packet::DATA if body.get(1).is_some_and(|flags| flags & 0x40 != 0) => return Ok(()),
                packet::DATA => {
                    let mut message = Reader(body.get(2..).unwrap_or_default());
                    while !message.0.is_empty() {
                        self.message(&mut message).await?;
                    }
                }
                _ => return Err(broken("a kind of packet")),
            }
        }
    }

    pub(super) fn note(&self, what: impl Into<String>) {
        self.happened.lock().unwrap().push(what.into());
    }

    pub(super) async fn packet(&mut self) -> Result<(u8, Vec<u8>)> {
        let mut header = [0; 8];
        self.stream.read_exact(&mut header).await?;
        let mut body = vec![0; wire::length(header, self.is_wide)?];
        self.stream.read_exact(&mut body).await?;
        Ok((header[4], body))
    }

    /// Sends a packet, or what this server does instead.
    pub(super) async fn send(&mut self, kind: u8, body: &[u8]) -> Result<()> {
        tokio::time::sleep(self.manner.delay).await;
        let mut bytes = wire::header(kind, body.len(), self.is_wide);
        let fault = self.manner.fault.filter(|(from, _)| self.sent >= *from);
        self.sent += 1;
        match fault.map(|(_, fault)| fault) {
            None => bytes.extend_from_slice(body),
            Some(Fault::Silent) => return std::future::pending().await,
            Some(Fault::CutOff) => {
                bytes.extend_from_slice(body);
                bytes.truncate(bytes.len() / 2);
                self.stream.write_all(&bytes).await?;
                return Err(broken("nothing; the connection was cut off"));
            }
            Some(Fault::Garbage) => bytes = (0..bytes.len() + body.len()).map(|i| (i * 151 + 89) as u8).collect(),
            Some(Fault::Nonsense) => bytes.extend((0..body.len()).map(|i| (i * 37 + 250) as u8)),
            Some(Fault::Lying) => {
                let wide = if self.is_wide { [0x7f, 0xff, 0xff, 0xff] } else { [0xff, 0xff, 0, 0] };
                bytes[..4].copy_from_slice(&wide);
                bytes.extend_from_slice(body);
            }
        }
        self.stream.write_all(&bytes).await
    }

    /// An answer to a call, in as many packets as it needs.
    async fn answer(&mut self, mut said: Writer) -> Result<()> {
        let marks_end = self.manner.generation == Generation::TwentyThree;
        if marks_end {
            said = said.raw(&[29]);
        }
        let parts: Vec<&[u8]> = said.0.chunks(8_000).collect();
        for (at, part) in parts.iter().enumerate() {
            let flags = if marks_end && at + 1 == parts.len() { 0x20 } else { 0 };
            self.send(packet::DATA, &[&[flags, 0], *part].concat()).await?;
        }
        Ok(())
    }

    /// The listener: accept, refuse, send elsewhere. Whether a session follows.
    async fn connect(&mut self) -> Result<bool> {
        let (kind, body) = self.packet().await?;
        let two = |at: usize| body.get(at..at + 2).map_or(0, |two| usize::from(u16::from_be_bytes([two[0], two[1]])));
        if kind != packet::CONNECT {
            return Err(broken("CONNECT"));
        }
        let (length, from) = (two(16), two(18).saturating_sub(8));
        let mut data = body.get(from..).unwrap_or_default().to_vec();
        if data.len() < length {
            data = self.packet().await?.1.get(2..).unwrap_or_default().to_vec();
        }
        let data = String::from_utf8_lossy(&data).into_owned();
        self.note("connect");
        if let Some(to) = self.manner.redirect {
            self.redirect(to, &data).await?;
            return Ok(false);
        }
        if !data.to_lowercase().contains(&format!("service_name={SERVICE})")) {
            let why = b"(DESCRIPTION=(TMP=)(VSNNUM=0)(ERR=12514)(ERROR_STACK=(ERROR=(CODE=12514)(EMFI=4))))";
            let length = why.len() as u16;
            self.send(packet::REFUSE, &[&[0x22, 0][..], &length.to_be_bytes(), why].concat()).await?;
            return Ok(false);
        }
        let (version, flags): (u16, u32) = match self.manner.generation {
            Generation::Nineteen => (318, 0),
            Generation::TwentyThree => (319, 0x1200_0000),
        };
        let mut accept = Vec::new();
        for word in [version, 1, 8_192, u16::MAX, 0x0100, 0, 45] {
            accept.extend(word.to_be_bytes());
        }
        accept.extend([4, 4]);
        accept.extend([0; 8]);
        accept.extend(8_192_u32.to_be_bytes());
        accept.extend(65_535_u32.to_be_bytes());
        accept.push(0);
        accept.extend(flags.to_be_bytes());
        self.send(packet::ACCEPT, &accept).await?;
        self.is_wide = true;
        Ok(true)
    }

    async fn redirect(&mut self, to: SocketAddr, data: &str) -> Result<()> {
        let (host, port) = (to.ip(), to.port());
        let to = format!("(ADDRESS=(PROTOCOL=tcp)(HOST={host})(PORT={port}))\0{data}");
        self.send(packet::REDIRECT, &(to.len() as u16).to_be_bytes()).await?;
        self.send(packet::DATA, &[&[0, 0], to.as_bytes()].concat()).await
    }

    async fn message(&mut self, message: &mut Reader<'_>) -> Result<()> {
        match message.byte()? {
            // Protocol.
            1 => {
                message.take(2)?;
                message.ended()?;
                let said = self.protocol();
                self.answer(said).await
            }
            // Types.
            2 => {
                let said = self.types(message)?;
                self.answer(said).await
            }
            // All of it at once.
            34 => {
                message.take(6)?;
                message.ended()?;
                message.take(5)?;
                let fields = message.byte()?;
                let protocol = self.protocol();
                message.take(1)?;
                let types = self.types(message)?;
                message.take(1)?;
                let call = message.byte()?;
                // This call's head is of the version that it said, whatever has been agreed by now.
                let agreed = std::mem::replace(&mut self.fields, fields);
                self.head(message)?;
                self.fields = agreed;
                let login = self.logs_in(call, message)?;
                self.answer(protocol.raw(&types.0).raw(&login.0)).await
            }
            // Beside the next call: closed cursors, a name for the session. Only the first is read.
            17 => {
                if message.byte()? == 105 {
                    self.head(message)?;
                    message.take(1)?;
                    for _ in 0..message.number()? {
                        let id = message.number()?;
                        self.cursors.remove(&id);
                    }
                } else {
                    let call = message.0.windows(2).position(|two| two == [3, 94]);
                    message.take(call.unwrap_or(message.0.len()))?;
                }
                Ok(())
            }
            3 => {
                let call = message.byte()?;
                self.head(message)?;
                self.call(call, message).await
            }
            _ => Err(broken("a kind of message")),
        }
    }

    fn head(&self, message: &mut Reader<'_>) -> Result<()> {
        message.take(1)?;
        if self.fields >= 18 { message.numbers(1) } else { Ok(()) }
    }

    fn protocol(&self) -> Writer {
        let mut compiled = [0; 55];
        for (at, value) in [(0, 6), (4, 0x29), (7, self.fields), (8, 1), (17, 3), (18, 7), (21, 1), (23, 0x4f), (27, 1)]
        {
            compiled[at] = value;
        }
        let mut running = [0; 11];
        (running[0], running[6]) = (2, 4);
        let charsets = [&[0; 9][..], &2_000_u16.to_be_bytes()].concat();
        Writer::default()
            .raw(&[1, 6, 0])
            .raw(b"test server\0")
            .raw(&873_u16.to_le_bytes())
            .raw(&[1, 0, 0])
            .raw(&(charsets.len() as u16).to_be_bytes())
            .raw(&charsets)
            .bytes(&compiled)
            .bytes(&running)
    }

    fn types(&mut self, message: &mut Reader<'_>) -> Result<Writer> {
        message.take(5)?;
        let compiled = message.bytes()?;
        self.fields = self.fields.min(compiled.get(7).copied().unwrap_or(0));
        let running = message.bytes()?;
        if running.get(1).is_some_and(|flags| flags & 1 != 0) {
            // The client's time zone.
            message.take(11)?;
        }
        let mut said = Writer::default().raw(&[2]);
        loop {
            let kind = message.two()?;
            if kind == 0 {
                return Ok(said.raw(&[0, 0]));
            }
            said = said.raw(&kind.to_be_bytes());
            let converted = message.two()?;
            said = said.raw(&converted.to_be_bytes());
            if converted != 0 {
                let form = message.two()?;
                message.two()?;
                said = said.raw(&form.to_be_bytes()).raw(&[0, 0]);
            }
        }
    }

    fn logs_in(&mut self, call: u8, message: &mut Reader<'_>) -> Result<Writer> {
        let has_user = message.byte()? != 0;
        message.numbers(2)?;
        message.take(1)?;
        let count = message.number()?;
        message.take(2)?;
        let user = if has_user { message.text()? } else { String::new() };
        let mut said = HashMap::new();
        for _ in 0..count {
            let key = message.counted()?;
            said.insert(key.trim_end_matches('\0').to_owned(), message.counted()?);
            message.numbers(1)?;
        }
        if call == 118 {
            let login = Login::begin(self.manner.verifier, PASSWORD);
            let challenge = pairs(login.challenge());
            self.login = Some(login);
            return Ok(challenge.raw(&self.end(0, "", 0, 0).0));
        }
        let said = |key: &str| said.get(key).map_or("", String::as_str);
        let key = self.login.as_ref().and_then(|login| login.key(said("AUTH_SESSKEY")));
        let password = key.as_ref().and_then(|key| login::password(key, said("AUTH_PASSWORD")));
        let (Some(key), Some(PASSWORD), true) = (key, password.as_deref(), user.eq_ignore_ascii_case(USER)) else {
            self.note(format!("denied {user}"));
            return Ok(self.end(1017, "ORA-01017: invalid credential or not authorized; logon denied", 0, 0));
        };
        if self.manner.is_locked {
            return Ok(self.end(28_000, "ORA-28000: The account is locked.", 0, 0));
        }
        self.is_in = true;
        self.note(format!("login {}", user.to_lowercase()));
        let version: u32 = if self.manner.generation == Generation::Nineteen { 0x1315_0000 } else { 0x1706_0000 };
        let facts = [
            ("AUTH_VERSION_NO", &*version.to_string()),
            ("AUTH_VERSION_STRING", "- Test"),
            ("AUTH_SESSION_ID", "101"),
            ("AUTH_SERIAL_NUM", "7"),
            ("AUTH_SC_DBUNIQUE_NAME", "TEST"),
            ("AUTH_SC_REAL_DBUNIQUE_NAME", "TEST"),
            ("AUTH_SC_SERVICE_NAME", SERVICE),
            ("AUTH_INSTANCENAME", "test"),
            ("AUTH_MAX_OPEN_CURSORS", "300"),
            ("AUTH_MAX_IDEN_LENGTH", "128"),
        ];
        let mut list = vec![("AUTH_SVR_RESPONSE", login::proof(&key), 0)];
        list.extend(facts.map(|(key, value)| (key, value.to_owned(), 0)));
        Ok(pairs(list).raw(&self.end(0, "", 0, 0).0))
    }

    async fn call(&mut self, call: u8, message: &mut Reader<'_>) -> Result<()> {
        if !self.is_in && !matches!(call, 118 | 115) {
            return Err(broken("a call before the login"));
        }
        let said = match call {
            118 | 115 => self.logs_in(call, message)?,
            94 => self.execute(message).await?,
            // Once more, and the next rows.
            78 => {
                let (id, count) = (message.number()?, message.number()?);
                message.numbers(2)?;
                if let Some(cursor) = self.cursors.get_mut(&id) {
                    cursor.at = 0;
                }
                self.rows(id, count)?
            }
            5 => {
                let (id, count) = (message.number()?, message.number()?);
                self.rows(id, count)?
            }
            9 | 14 | 15 | 147 => {
                let names = [(9, "logoff"), (14, "commit"), (15, "rollback"), (147, "ping")];
                self.note(names.into_iter().find(|(number, _)| *number == call).map_or("", |(_, name)| name));
                Writer::default().raw(&[9]).number(1).number(0)
            }
            _ => return Err(broken("a call")),
        };
        self.answer(said).await
    }
}

fn pairs(list: Pairs) -> Writer {
    let said = Writer::default().raw(&[8]).number(list.len() as u64);
    list.into_iter()
        .fold(said, |said, (key, value, flags)| said.counted(key.as_bytes()).counted(value.as_bytes()).number(flags))
}
