use super::*;

#[test]
fn a_delivery_keeps_how_its_newest_attempts_went_until_it_is_replayed() {
    let mut w = World::new();
    let id = w.commit("a", 1, "page");
    for _ in 0..2 {
        assert_eq!(w.due(), [id]);
        w.wait(3);
        w.end(id, failure(false));
        w.wait(60);
    }
    assert_eq!(w.due(), [id]);
    w.wait(1);
    w.end(id, Ok(()));
    let tries = w.outbox.book().deliveries[&id].tries.clone();
    let told: Vec<_> = tries.iter().map(|t| (&*t.outcome, t.took.as_secs())).collect();
    assert_eq!(told, [("503", 3), ("503", 3), ("delivered", 1)]);
    assert!(tries.windows(2).all(|two| two[0].at < two[1].at));

    let many = (0..50).fold(w.outbox.book().deliveries[&id].clone(), |delivery, n| {
        let tried = Tried { at: w.now.wall, took: Duration::ZERO, outcome: n.to_string().into() };
        Delivery { tries: delivery.tries_and(tried), ..delivery }
    });
    assert_eq!((many.tries.len(), &*many.tries[0].outcome), (Tried::MOST, "30"));
}
