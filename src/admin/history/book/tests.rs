use super::*;

/// A whole hour.
const START: i64 = 1_767_607_200;

fn at(second: i64) -> Wall {
    Wall((START + second) * 1_000_000)
}

fn row(requests: u64) -> Row {
    Row { requests, bytes_out: requests * 1_000, connections: 4, p50: 2_000, p99: 9_000, ..Row::default() }
}

fn asked(from: i64, to: i64, step: i64) -> Asked {
    Asked { object: "vserver:web".into(), from: at(from), to: at(to), step }
}

/// 100 requests every 10 s, for so many seconds.
fn busy(book: &mut Book, seconds: i64) -> Vec<Finished> {
    let mut finished = Vec::new();
    for end in (FINE_S..=seconds).step_by(FINE_S as usize) {
        book.push("vserver:web", at(end), row(100));
        finished.extend(book.finish(at(end)));
    }
    finished
}

#[test]
fn ten_seconds_are_kept_for_an_hour_and_minutes_for_two_days() {
    let mut book = Book::default();
    busy(&mut book, 2 * 3_600);
    let fine = book.curve(&asked(3_600, 7_200, 10)).unwrap();
    assert_eq!((fine.step, fine.t.len(), fine.t[0]), (10, 360, START + 3_600));
    assert!(fine.series[0].iter().all(|v| *v == Some(10.0)), "10 requests a second");
    assert_eq!((fine.series[5][0], fine.series[6][0]), (Some(2.0), Some(9.0)));
    let minutes = book.curve(&asked(0, 7_200, 10)).unwrap();
    assert_eq!((minutes.step, minutes.t.len()), (60, 120), "the fine rows do not reach back so far");
    assert!(minutes.series[0].iter().all(|v| *v == Some(10.0)));
    assert_eq!(book.peak("vserver:web", at(7_200)), Some(10));
}

#[test]
fn what_was_not_measured_is_a_gap_and_not_a_zero() {
    let mut book = Book::default();
    busy(&mut book, 60);
    book.push("vserver:web", at(190), row(100));
    let curve = book.curve(&asked(0, 190, 10)).unwrap();
    let known: Vec<bool> = curve.series[0].iter().map(Option::is_some).collect();
    assert_eq!(known.iter().filter(|known| **known).count(), 7);
    assert!(!known[10] && known[18], "{known:?}");
    book.push("vserver:web", at(200), Row::default());
    assert_eq!(book.curve(&asked(190, 200, 10)).unwrap().series[0], [Some(0.0)]);
}

#[test]
fn a_longer_step_keeps_rates_and_the_greatest_latency() {
    let mut book = Book::default();
    for end in [10, 20, 30, 40, 50, 60] {
        let p99 = if end == 30 { 500_000 } else { 9_000 };
        book.push("vserver:web", at(end), Row { p99, ..row(if end > 30 { 200 } else { 100 }) });
    }
    let curve = book.curve(&asked(0, 60, 30)).unwrap();
    assert_eq!(curve.series[0], [Some(10.0), Some(20.0)]);
    let p99 = curve.series[6][0].unwrap();
    assert!((499.7..=500.0).contains(&p99), "{p99}");
}

#[test]
fn a_start_finds_what_was_written_before() {
    let mut book = Book::default();
    let finished = busy(&mut book, 1_800);
    assert_eq!(finished.len(), 30, "a row a minute");
    let mut next = Book::default();
    finished.into_iter().for_each(|row| next.restore(row));
    let curve = next.curve(&asked(0, 1_800, 60)).unwrap();
    assert_eq!(curve.series, book.curve(&asked(0, 1_800, 60)).unwrap().series);
}

#[test]
fn what_is_kept_is_bounded_and_idle_objects_cost_nothing() {
    let mut book = Book::default();
    for n in 0..OBJECTS_MOST + 100 {
        book.push(&format!("service:s{n}"), at(10), row(1));
        book.push(&format!("service:idle{n}"), at(10), Row::default());
    }
    assert_eq!((book.objects.len(), book.whole), (OBJECTS_MOST, WHOLE_MOST));
    let rows = |ring: &Option<Ring>| ring.as_ref().map_or(0, |ring| ring.rows.len());
    let all: usize = book.objects.values().map(|k| rows(&k.fine) + rows(&k.minute) + rows(&k.coarse)).sum();
    assert!(all * std::mem::size_of::<Packed>() < 100 << 20, "{all} rows");
    let coarse = book.objects.values().filter(|kept| kept.coarse.is_some()).count();
    assert_eq!(coarse, OBJECTS_MOST - WHOLE_MOST);
    assert!(book.finish(at(KEPT_S + 600)).len() <= OBJECTS_MOST);
    assert_eq!((book.objects.len(), book.whole), (0, 0), "nothing had traffic for 48 h");
}

#[test]
fn an_answer_has_few_points_however_much_is_asked_for() {
    let mut book = Book::default();
    busy(&mut book, 600);
    let curve = book.curve(&asked(-10 * KEPT_S, 600, 1)).unwrap();
    assert!(curve.t.len() as i64 <= POINTS_MOST + 1, "{}", curve.t.len());
    // The whole of time costs no more than what is kept of it.
    let all = Asked { object: "vserver:web".into(), from: Wall(i64::MIN), to: Wall(i64::MAX), step: 60 };
    if let Some(object) = book.objects.keys().next().cloned() {
        let curve = book.curve(&Asked { object, ..all }).unwrap();
        assert!(curve.t.len() as i64 <= POINTS_MOST + 1 && curve.step <= 600, "{} {}", curve.t.len(), curve.step);
    }
    assert_eq!(book.curve(&Asked { object: "vserver:none".into(), ..asked(0, 10, 10) }), None);
}
