//! The rules of steps 1 to 3 a second time, as literally as they are written, for comparison.

use super::{Set, Steering};
use crate::model::zone::{OnEmpty, Rrset};

/// Positions served, or `Err` with the word for what is served instead.
pub fn serve(rrset: &Rrset, steering: Steering<'_>, last_good: &[u32]) -> Result<Vec<u32>, &'static str> {
    let enabled: Vec<u32> = (0..rrset.records.len() as u32).filter(|&i| rrset.records[i as usize].enabled).collect();
    let of = |set: Set| -> Vec<u32> {
        enabled.iter().copied().filter(|&i| Set::of(&rrset.records[i as usize]) == set).collect()
    };
    let left = |set: Set| -> Vec<u32> {
        of(set)
            .into_iter()
            .filter(|&i| {
                let record = &rrset.records[i as usize];
                let by_cond = match record.cond {
                    None => true,
                    Some((s, false)) => !steering.scenario_active[s.index()],
                    Some((s, true)) => steering.scenario_active[s.index()],
                };
                by_cond && record.check.is_none_or(|w| !steering.watched[w.index()].is_false())
            })
            .collect()
    };
    let mut active = Vec::new();
    for &i in &enabled {
        if let Some(s) = rrset.records[i as usize].dr_cond
            && steering.scenario_active[s.index()]
            && !active.contains(&s)
        {
            active.push(s);
        }
    }
    let filled = active.iter().copied().find(|&s| !left(Set::Dr(s)).is_empty());
    let base = filled.or(active.first().copied()).map_or(Set::Primary, Set::Dr);
    if !left(base).is_empty() {
        return Ok(left(base));
    }
    let result = match &rrset.on_empty {
        OnEmpty::ServeAll => of(base),
        OnEmpty::OtherSet => {
            let others = [left(Set::Primary), of(Set::Primary), of(base)];
            others.into_iter().find(|o| !o.is_empty()).unwrap_or_default()
        }
        OnEmpty::Static(_) => return Err("static"),
        OnEmpty::LastGood => {
            let kept: Vec<u32> = last_good.iter().copied().filter(|i| enabled.contains(i)).collect();
            if kept.is_empty() { of(base) } else { kept }
        }
        OnEmpty::NoData => return Err("nodata"),
        OnEmpty::ServFail => return Err("servfail"),
    };
    if result.is_empty() { Err("nodata") } else { Ok(result) }
}
