//! `nstrace`: a capture of packets is begun, ended, and told of, in NetScaler's words.

use std::time::Duration;

use axum::response::{IntoResponse, Response};
use serde_json::Value;

use super::answer::{Answer, Fault, Object};
use super::live::{double, put};
use super::stat::Found;
use super::target::printable;
use super::{Call, entry};
use crate::admin::App;
use crate::admin::auth::Access;
use crate::admin::rest::tools::{SIZE, SIZE_MOST, SNAP_MOST, TIME, TIME_MOST};
use crate::admin::tools::Wanted;
use crate::netscaler::capture::Filter;

pub(super) const RESOURCE: &str = "nstrace";

/// What NetScaler takes and what is so here in any case.
const FIXED: &[(&str, &[&str])] = &[
    ("nf", &["1"]),
    ("traceformat", &["PCAP"]),
    ("mode", &["TXB", "NEW_RX"]),
    ("merge", &["ONSTOP"]),
    ("link", &["DISABLED"]),
    ("doruntimecleanup", &["ENABLED"]),
    ("skiprpc", &["DISABLED"]),
    ("skiplocalssh", &["DISABLED"]),
    ("inmemorytrace", &["DISABLED"]),
    ("capsslkeys", &["DISABLED"]),
    ("capdroppkt", &["DISABLED"]),
];

/// The one object: what is captured, or was last.
pub(super) fn read(app: &App) -> Found {
    let mut object = Object::new();
    let trace = app.traces().into_iter().find(|trace| trace.running);
    put(&mut object, "state", if trace.is_some() { "RUNNING" } else { "STOPPED" });
    put(&mut object, "scope", "LOCAL");
    app.0.tools.last(|last| {
        put(&mut object, "filename", &*last.name);
        put(&mut object, "time", double(last.wanted.time.as_secs()));
        put(&mut object, "size", double(last.wanted.snap));
        put(&mut object, "filesize", double(last.wanted.size));
    });
    put(&mut object, "traceformat", "PCAP");
    Found { objects: vec![object], single: true }
}

impl Call<'_> {
    pub(super) async fn start_trace(&self, object: Option<&Object>) -> Result<Response, Fault> {
        entry::allow(&self.caller, Access::Operate)?;
        let wanted = wanted(object)?;
        self.app.start_trace(&self.caller, wanted).await.map_err(Fault::from)?;
        Ok(Answer::ok().into_response())
    }

    pub(super) async fn stop_trace(&self, object: Option<&Object>) -> Result<Response, Fault> {
        entry::allow(&self.caller, Access::Operate)?;
        if let Some(key) = object.and_then(|object| object.keys().next()) {
            return Err(Fault::new(1090, printable(key)));
        }
        self.app.stop_trace(&self.caller).await.map_err(Fault::from)?;
        Ok(Answer::ok().into_response())
    }
}

fn wanted(object: Option<&Object>) -> Result<Wanted, Fault> {
    let mut wanted = Wanted { time: TIME, size: SIZE, ..Wanted::default() };
    for (key, value) in object.into_iter().flatten() {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            _ => return Err(Fault::new(1097, printable(key))),
        };
        let number = |least: u64, most: u64| {
            let number = text.parse().ok().filter(|number| (least..=most).contains(number));
            number.ok_or_else(|| Fault::new(1097, format!("{}, {least} to {most} here", printable(key))))
        };
        match &*key.to_ascii_lowercase() {
            "time" => wanted.time = Duration::from_secs(number(1, TIME_MOST.as_secs())?),
            "size" => wanted.snap = number(0, SNAP_MOST)?,
            "filesize" => wanted.size = number(1, SIZE_MOST)?,
            "filter" => {
                let filter = Filter::parse(&text).map_err(|why| Fault::new(1097, format!("filter, {why}")))?;
                (wanted.vservers, wanted.services) = (filter.vservers, filter.services);
                (wanted.addresses, wanted.ports) = (filter.addresses, filter.ports);
            }
            fixed => match FIXED.iter().find(|(known, _)| *known == fixed) {
                Some((_, values)) if values.iter().any(|known| known.eq_ignore_ascii_case(&text)) => {}
                Some((_, values)) => {
                    return Err(Fault::new(1097, format!("{}, {} here", printable(key), values.join(" or "))));
                }
                None => return Err(Fault::new(1090, printable(key))),
            },
        }
    }
    Ok(wanted)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(value: Value) -> Result<Wanted, Fault> {
        wanted(value.as_object())
    }

    #[test]
    fn what_netscaler_calls_size_is_of_a_packet_and_filesize_of_the_file() {
        let told =
            of(json!({ "size": "0", "time": 30, "filesize": 10, "nf": "1", "filter": "CONNECTION.PORT.EQ(443)" }));
        let told = told.unwrap();
        assert_eq!((told.snap, told.time, told.size, &told.ports[..]), (0, Duration::from_secs(30), 10, &[443][..]));
    }

    #[test]
    fn what_would_be_another_capture_is_refused_by_name() {
        for wrong in
            [json!({ "nf": "24" }), json!({ "capsslkeys": "ENABLED" }), json!({ "time": 86_400 }), json!({ "x": 1 })]
        {
            assert!(of(wrong.clone()).is_err(), "{wrong}");
        }
    }
}
