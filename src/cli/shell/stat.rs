//! `stat`: counters in NetScaler's layout, and what they were at a moment of the last 48 hours.

use reqwest::Method;
use serde_json::{Value, json};

use super::super::client::Client;
use super::super::journal::with_query;
use super::commands::View;
use super::execute::{Answer, Refused, items};
use super::nitro::{self, Space};
use super::show::{self, Counted, Facts};
use crate::admin::dto::{LbMonitorDto, StatsDto, StatusDto, VserverDto, path_segment};

/// What NetScaler has counters of.
pub(super) fn counted(view: View) -> Option<Counted> {
    Some(match view {
        View::LbVserver => Counted::LbVserver,
        View::CsVserver => Counted::CsVserver,
        View::Service => Counted::Service,
        View::Group => Counted::Group,
        View::Monitor => Counted::Monitor,
        _ => return None,
    })
}

/// `detail`: each object of a list as if it were asked for alone.
pub(super) async fn stat(
    client: &Client,
    view: View,
    what: Counted,
    name: Option<&str>,
    detail: bool,
) -> Result<Answer, Refused> {
    if let Some(name) = name {
        let (text, json) = one(client, view, what, name).await?;
        return Ok(Answer { text, json, warnings: Vec::new() });
    }
    let json = client.call(Method::GET, &format!("/api/v1/{}", view.collection()), None).await?;
    let all = match what {
        Counted::Monitor => items::<LbMonitorDto>(&json)?.iter().map(probes).collect(),
        _ => nitro::objects(client, Space::Stat, what.resource(), None).await,
    };
    if !detail {
        return Ok(Answer { text: what.list(&all), json, warnings: Vec::new() });
    }
    let mut text = String::new();
    for facts in &all {
        let key = if what == Counted::Group { "servicegroupname" } else { "name" };
        let name = facts.said(key, &facts.said("monitorname", ""));
        text += &(one(client, view, what, &name).await?.0 + "\n");
    }
    Ok(Answer { text, json, warnings: Vec::new() })
}

async fn one(client: &Client, view: View, what: Counted, name: &str) -> Result<(String, Value), Refused> {
    let segment = path_segment(name);
    // REST says what is not there, and what is nearest to it.
    let shown = client.call(Method::GET, &format!("/api/v1/{}/{segment}", view.collection()), None).await?;
    match what {
        Counted::Monitor => {
            let text = items::<LbMonitorDto>(&shown)?.iter().map(|monitor| what.one(&probes(monitor), &[])).collect();
            return Ok((text, shown));
        }
        Counted::Group => {
            let facts = nitro::object(client, Space::Stat, what.resource(), name).await;
            return Ok((what.one(&facts, &members(client, name).await), shown));
        }
        _ => {}
    }
    if let Some(vserver) = items::<VserverDto>(&shown).ok().and_then(|list| list.into_iter().next()) {
        let role = if what == Counted::CsVserver { "cs" } else { "lb" };
        if what != Counted::Service && vserver.role != role {
            return Err(Refused::of_another_role(name, &vserver.role));
        }
    }
    let json =
        client.call(Method::GET, &format!("/api/v1/stats/{}/{segment}?cleared=true", view.collection()), None).await?;
    let statistics = items::<StatsDto>(&json)?;
    let facts = nitro::objects(client, Space::Stat, what.resource(), Some(name)).await.into_iter().next();
    let Some(facts) = facts else {
        // A member of a group is counted here and has no name there.
        return Ok((statistics.iter().map(show::statistics_of_one).collect(), json));
    };
    let bound = if what == Counted::LbVserver { bound(client, name).await } else { Vec::new() };
    let beside: String = statistics.iter().map(show::beside_statistics).collect();
    Ok((what.one(&facts, &bound) + &beside, json))
}

/// What a monitor's probes have come to, on all that it is bound to.
fn probes(monitor: &LbMonitorDto) -> Facts {
    let sum = |count: fn(&crate::admin::dto::MonitorDto) -> u64| -> u64 {
        monitor.bindings.iter().map(|bound| count(&bound.monitor)).sum()
    };
    let facts = json!({ "lbmonitor": {
        "monitorname": monitor.name, "type": monitor.r#type,
        "totalprobes": sum(|one| one.samples_total), "totalfailedprobes": sum(|one| one.failed_total),
    }});
    Facts::list(&facts, "lbmonitor").into_iter().next().unwrap_or_default()
}

/// Counters of the members of a group.
async fn members(client: &Client, group: &str) -> Vec<Facts> {
    let path = format!("/nitro/v1/stat/servicegroup/{}?statbindings=yes", path_segment(group));
    let answer = client.call(Method::GET, &path, None).await.unwrap_or_default();
    let found = Facts::list(&answer, "servicegroup").into_iter().next().unwrap_or_default();
    found.inner("servicegroupmember")
}

/// Counters of all that a vserver balances over: services, and members of groups.
async fn bound(client: &Client, vserver: &str) -> Vec<Facts> {
    let binding = nitro::object(client, Space::Config, "lbvserver_binding", vserver).await;
    let named = |list: &str, key: &str| -> Vec<String> {
        binding.inner(list).iter().map(|bound| bound.said(key, "")).collect()
    };
    let services = named("lbvserver_service_binding", "servicename");
    let mut counted = Vec::new();
    if !services.is_empty() {
        let all = nitro::objects(client, Space::Stat, "service", None).await;
        counted.extend(services.iter().map(|name| Facts::of(&all, "name", name)).filter(|facts| !facts.0.is_empty()));
    }
    for group in named("lbvserver_servicegroup_binding", "servicegroupname") {
        counted.extend(members(client, &group).await);
    }
    counted
}

/// `stat … NAME -at WHEN`: a time, how long ago, or a time of day, the last that was, in UTC as all times that are shown.
pub(super) async fn moment(client: &Client, view: View, name: &str, at: &str) -> Result<Answer, Refused> {
    let at = match time_of_day(at) {
        None => at.to_owned(),
        Some(time) => {
            let status: StatusDto = client.get("/api/v1/status").await?;
            let last = status.now.parse().ok().and_then(|now| last(time, now));
            last.ok_or_else(|| Refused::Ours(format!("Invalid value: there was no {at} yet")))?.to_string()
        }
    };
    let kind = if view == View::Service { "service" } else { "vserver" };
    let query = [("object", Some(format!("{kind}:{name}"))), ("at", Some(at))];
    let json = client.call(Method::GET, &with_query("/api/v1/history", &query), None).await?;
    Ok(Answer { text: show::past(&json), json, warnings: Vec::new() })
}

/// `14:17`, `14:17:30`
fn time_of_day(text: &str) -> Option<jiff::civil::Time> {
    let digits = |part: &str| (1..=2).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
    let parts: Vec<&str> = text.split(':').collect();
    if !(2..=3).contains(&parts.len()) || !parts.iter().all(|part| digits(part)) {
        return None;
    }
    let part = |at: usize| parts.get(at).map_or(Some(0), |part| part.parse::<i8>().ok());
    jiff::civil::Time::new(part(0)?, part(1)?, part(2)?, 0).ok()
}

/// The last moment that was at `time`, not after `now`.
fn last(time: jiff::civil::Time, now: jiff::Timestamp) -> Option<jiff::Timestamp> {
    let utc = jiff::tz::TimeZone::UTC;
    let today = utc.to_datetime(now).date();
    let of_day = |day: jiff::civil::Date| utc.to_timestamp(day.to_datetime(time)).ok();
    of_day(today).filter(|at| *at <= now).or_else(|| of_day(today.yesterday().ok()?))
}

/// `stat ns` and `stat ssl`.
pub(super) async fn of_the_box(client: &Client, what: Counted) -> Result<(String, Value), Refused> {
    let json = client.call(Method::GET, &format!("/nitro/v1/stat/{}", what.resource()), None).await?;
    let text = Facts::list(&json, what.resource()).iter().map(|facts| what.one(facts, &[])).collect();
    Ok((text, json))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_of_day_is_the_last_that_was() {
        let now = "2026-11-30T14:30:00Z".parse().unwrap();
        let told = |text: &str| last(time_of_day(text).unwrap(), now).unwrap().to_string();
        assert_eq!(told("14:17"), "2026-11-30T14:17:00Z");
        assert_eq!(told("9:05:07"), "2026-11-30T09:05:07Z");
        assert_eq!(told("14:31"), "2026-11-29T14:31:00Z");
        for other in ["2h", "2026-11-29T03:10:00Z", "14", "25:00", "14:1x", "14:17:00:00", "-1:30"] {
            assert_eq!(time_of_day(other), None, "{other}");
        }
    }

    #[test]
    fn groups_and_vservers_are_counted_by_netscalers_names() {
        assert_eq!(counted(View::Group), Some(Counted::Group));
        assert_eq!(counted(View::Rule), None);
    }
}
