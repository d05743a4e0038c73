//! Histograms and endings.

mod telling;

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use super::Page;
use crate::control::World;
use crate::snapshot::live::histogram::Counts;
use crate::snapshot::live::{Interval, Measured};

/// Upper bounds of the buckets, and how they are written. Fixed: what reads them adds up boxes and compares weeks.
const BOUNDS: [(Duration, &str); 16] = [
    (Duration::from_micros(100), "0.0001"),
    (Duration::from_micros(250), "0.00025"),
    (Duration::from_micros(500), "0.0005"),
    (Duration::from_millis(1), "0.001"),
    (Duration::from_micros(2_500), "0.0025"),
    (Duration::from_millis(5), "0.005"),
    (Duration::from_millis(10), "0.01"),
    (Duration::from_millis(25), "0.025"),
    (Duration::from_millis(50), "0.05"),
    (Duration::from_millis(100), "0.1"),
    (Duration::from_millis(250), "0.25"),
    (Duration::from_millis(500), "0.5"),
    (Duration::from_secs(1), "1"),
    (Duration::from_millis(2_500), "2.5"),
    (Duration::from_secs(10), "10"),
    (Duration::from_secs(60), "60"),
];

pub(super) fn write(look: &World<'_>, page: &mut Page) {
    let vservers = look.model.vservers.iter().zip(&look.snapshot.vservers);
    let vservers = vservers.map(|(vserver, entry)| (&*vserver.name, &entry.live.measured));
    let help = "Time of requests (HTTP) and connections (L4) by part; what each part is, the manual says.";
    histograms(page, "bascule_vserver_time_seconds", help, "vserver", vservers);
    let services = look.model.services.iter().zip(&look.snapshot.services);
    let services = services.map(|(service, entry)| (&*service.name, &entry.live.measured));
    histograms(page, "bascule_service_time_seconds", help, "service", services);
    endings(look, page);
    let log = &look.snapshot.log;
    page.counter("bascule_access_log_lines_total", "Lines that the access log took.")
        .sample(&[], log.lines_total.load(Relaxed) as f64);
    page.counter("bascule_access_log_dropped_total", "Lines that were lost: the disk did not keep up, or failed.")
        .sample(&[], log.dropped_total.load(Relaxed) as f64);
    telling::write(look, page);
}

/// Only what was measured at least once: a part that an object never goes through has no series.
fn histograms<'a>(
    page: &mut Page,
    name: &'static str,
    help: &str,
    label: &str,
    objects: impl Iterator<Item = (&'a str, &'a Measured)>,
) {
    let mut family = page.family(name, "histogram", help);
    for (object, measured) in objects {
        for interval in Interval::ALL {
            let Some(counts) = measured.counts(interval) else { continue };
            let labels = [(label, object), ("part", interval.word())];
            histogram(&mut family, &labels, &counts);
        }
    }
}

fn histogram(family: &mut super::Family<'_>, labels: &[(&str, &str); 2], counts: &Counts) {
    let [object, part] = *labels;
    for (bound, le) in BOUNDS {
        family.part("_bucket", &[object, part, ("le", le)], counts.at_most(bound) as f64);
    }
    family.part("_bucket", &[object, part, ("le", "+Inf")], counts.count as f64);
    family.part("_sum", labels, counts.sum.as_secs_f64());
    family.part("_count", labels, counts.count as f64);
}

fn endings(look: &World<'_>, page: &mut Page) {
    let help = "Ended requests (HTTP) and connections (L4) by who brought it about, in which phase, why.";
    let mut family = page.counter("bascule_ended_total", help);
    for (vserver, entry) in look.model.vservers.iter().zip(&look.snapshot.vservers) {
        for (ending, count) in entry.live.endings.counts() {
            let labels = [
                ("vserver", &*vserver.name),
                ("who", ending.who.word()),
                ("phase", ending.phase.word()),
                ("reason", ending.reason.word()),
            ];
            family.sample(&labels, count as f64);
        }
    }
    let mut family = page.counter("bascule_vserver_responses_total", "Answers to clients by class of status.");
    for (vserver, entry) in look.model.vservers.iter().zip(&look.snapshot.vservers) {
        for (class, count) in entry.live.statuses_total.iter().enumerate() {
            let count = count.load(Relaxed);
            if count > 0 {
                family.sample(&[("vserver", &*vserver.name), ("class", &format!("{class}xx"))], count as f64);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_is_cumulative_and_ends_with_everything() {
        let measured = Measured::default();
        for ms in [1, 3, 7, 70_000] {
            measured.record(Interval::Total, Duration::from_millis(ms));
        }
        let mut page = Page::default();
        histograms(&mut page, "t", "Help.", "vserver", [("web", &measured)].into_iter());
        let lines: Vec<&str> = page.0.lines().collect();
        for line in [
            "# TYPE t histogram",
            "t_bucket{vserver=\"web\",part=\"total\",le=\"0.0005\"} 0",
            "t_bucket{vserver=\"web\",part=\"total\",le=\"0.005\"} 2",
            "t_bucket{vserver=\"web\",part=\"total\",le=\"60\"} 3",
            "t_bucket{vserver=\"web\",part=\"total\",le=\"+Inf\"} 4",
            "t_sum{vserver=\"web\",part=\"total\"} 70.011",
            "t_count{vserver=\"web\",part=\"total\"} 4",
        ] {
            assert!(lines.contains(&line), "{line}\n{}", page.0);
        }
    }
}
