//! `event: rates`: each second what was counted of the objects that a stream asks for.

use serde_json::{Value, json};

use super::super::body::Params;
use super::super::dto::StatsDto;
use super::super::problem::Problem;
use crate::control::World;
use crate::model::id::{ServiceId, VserverId};
use crate::snapshot::live::Stats;

/// Objects that one stream may ask for.
const MOST: usize = 50;

const KINDS: [&str; 2] = ["vserver", "service"];

/// An object whose rates are wanted.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Wanted {
    kind: &'static str,
    name: String,
}

/// `?rates=vserver/web,service/spare%2Fspare1`: what stands before the first slash is the kind.
///
/// Errors: 400, no such kind, or too many.
pub(super) fn wanted(params: &Params) -> Result<Vec<Wanted>, Problem> {
    let asked = params.get("rates").unwrap_or_default().split(',').map(str::trim).filter(|text| !text.is_empty());
    let wanted = asked.map(|text| {
        let (kind, name) = text.split_once('/').unwrap_or((text, ""));
        let known = KINDS.into_iter().find(|known| *known == kind).filter(|_| !name.is_empty());
        known.map(|kind| Wanted { kind, name: name.to_owned() }).ok_or_else(|| {
            Problem::bad_request(format!("`rates` names objects as vserver/NAME or service/NAME, not `{text}`"))
        })
    });
    let wanted: Vec<Wanted> = wanted.collect::<Result<_, _>>()?;
    if wanted.len() > MOST {
        return Err(Problem::bad_request(format!("`rates` names at most {MOST} objects, not {}", wanted.len())));
    }
    Ok(wanted)
}

/// The data of one event; objects that are not there (any more) are left out.
pub(super) fn of(world: &World<'_>, wanted: &[Wanted]) -> Value {
    let (model, snapshot, tick) = (world.model, world.snapshot, world.now.tick);
    let shown = wanted.iter().filter_map(|wanted| {
        let stats = match wanted.kind {
            "vserver" => {
                let id: VserverId = model.vserver_id(&wanted.name)?;
                snapshot.vservers.get(id.index())?;
                Stats::of_vserver(snapshot, id, tick)
            }
            _ => {
                let id: ServiceId = model.service_id(&wanted.name)?;
                snapshot.services.get(id.index())?;
                Stats::of_service(snapshot, id, tick)
            }
        };
        let mut shown = serde_json::to_value(StatsDto::of(&wanted.name, &stats)).ok()?;
        shown["kind"] = wanted.kind.into();
        Some(shown)
    });
    json!({ "now": world.now.wall.to_string(), "items": shown.collect::<Vec<_>>() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_named_by_kind_and_name() {
        let parse = |query: &str| wanted(&Params::parse(query).unwrap());
        assert_eq!(parse("").unwrap(), []);
        let names: Vec<String> = parse("rates=vserver/web,service/spare%2Fs1")
            .unwrap()
            .into_iter()
            .map(|w| format!("{} {}", w.kind, w.name))
            .collect();
        assert_eq!(names, ["vserver web", "service spare/s1"]);
        for wrong in ["rates=web", "rates=service/", "rates=check/a"] {
            assert_eq!(parse(wrong).unwrap_err().status, 400, "{wrong}");
        }
        let many = vec!["service/a"; MOST + 1].join(",");
        assert_eq!(parse(&format!("rates={many}")).unwrap_err().status, 400);
    }
}
