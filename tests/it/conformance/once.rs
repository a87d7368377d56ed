//! Work that is done at most once per key.

use std::time::Duration;

use bytes::Bytes;
use dtq::store::{OnceEnd, OnceRequest, OnceState};
use dtq::types::{Delivery, Lease};
use dtq_tests::{LEASE, World, task};

const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(3600);
const RUN: u64 = u64::MAX;

async fn begin(w: &World, held: &Delivery, key: &str) -> OnceState {
    let request = OnceRequest { lease: held.lease.clone(), key: key.to_owned(), run: RUN };
    w.store().begin_once(request).await.unwrap()
}

async fn end(w: &World, held: &Delivery, key: &str, done: Option<(&str, Duration)>) -> bool {
    let done = done.map(|(result, ttl)| (Bytes::copy_from_slice(result.as_bytes()), ttl));
    w.store().end_once(OnceEnd { lease: held.lease.clone(), key: key.to_owned(), run: RUN, done }).await.unwrap()
}

fn done(result: &str) -> OnceState {
    OnceState::Done(Bytes::copy_from_slice(result.as_bytes()))
}

pub(crate) async fn a_result_is_given_to_all_who_ask_while_it_is_remembered(w: &World) {
    let (first, second) = (w.running(task("a")).await, w.running(task("b")).await);
    assert_eq!(begin(w, &first, "k").await, OnceState::Begun);
    assert!(end(w, &first, "k", Some(("\"r\"", HOUR))).await);
    assert_eq!(begin(w, &first, "k").await, done("\"r\""));
    assert_eq!(begin(w, &second, "k").await, done("\"r\""));
}

pub(crate) async fn it_is_remembered_for_its_time_and_no_longer(w: &World) {
    let held = w.running(task("a")).await;
    begin(w, &held, "k").await;
    end(w, &held, "k", Some(("1", HOUR))).await;
    w.advance(HOUR - w.slack() - SECOND);
    w.renew(&[&held.lease]).await;
    assert_eq!(begin(w, &held, "k").await, done("1"));
    w.advance(w.slack() + 2 * SECOND);
    assert_eq!(begin(w, &held, "k").await, OnceState::Begun);
}

pub(crate) async fn others_wait_while_an_attempt_is_at_it(w: &World) {
    let (first, second) = (w.running(task("a")).await, w.running(task("b")).await);
    begin(w, &first, "k").await;
    assert_eq!(begin(w, &second, "k").await, OnceState::Busy);
    assert!(!end(w, &second, "k", Some(("1", HOUR))).await, "it is not the second one's to end");
    assert!(!end(w, &second, "k", None).await);
    assert_eq!(begin(w, &second, "other").await, OnceState::Begun, "another key is other work");
}

pub(crate) async fn it_may_be_remembered_for_ever_or_not_at_all(w: &World) {
    let held = w.running(task("a")).await;
    begin(w, &held, "always").await;
    assert!(end(w, &held, "always", Some(("1", Duration::MAX))).await);
    begin(w, &held, "never").await;
    assert!(end(w, &held, "never", Some(("1", Duration::ZERO))).await);
    w.advance(SECOND);
    assert_eq!(begin(w, &held, "always").await, done("1"));
    assert_eq!(begin(w, &held, "never").await, OnceState::Begun);
}

pub(crate) async fn what_failed_begins_anew(w: &World) {
    let (first, second) = (w.running(task("a")).await, w.running(task("b")).await);
    begin(w, &first, "k").await;
    assert!(end(w, &first, "k", None).await);
    assert_eq!(begin(w, &second, "k").await, OnceState::Begun);
    assert_eq!(begin(w, &first, "k").await, OnceState::Busy);
}

pub(crate) async fn the_same_attempt_may_ask_again(w: &World) {
    let held = w.running(task("a")).await;
    begin(w, &held, "k").await;
    assert_eq!(begin(w, &held, "k").await, OnceState::Begun, "the answer may have been lost, or the work dropped");
}

pub(crate) async fn a_run_that_was_dropped_ends_nothing_once_the_same_attempt_asked_anew(w: &World) {
    let held = w.running(task("a")).await;
    let lease = held.lease.clone();
    let request = |run| OnceRequest { lease: lease.clone(), key: "k".to_owned(), run };
    let finish = |run, result: &'static str| {
        let done = Some((Bytes::from_static(result.as_bytes()), HOUR));
        OnceEnd { lease: lease.clone(), key: "k".to_owned(), run, done }
    };
    for run in [1, 2] {
        assert_eq!(w.store().begin_once(request(run)).await.unwrap(), OnceState::Begun);
    }
    // It was on its way when the run was dropped.
    assert!(!w.store().end_once(finish(1, "late")).await.unwrap());
    assert!(w.store().end_once(finish(2, "2")).await.unwrap());
    assert_eq!(begin(w, &held, "k").await, done("2"));
}

pub(crate) async fn an_end_that_is_sent_twice_is_one(w: &World) {
    let held = w.running(task("a")).await;
    begin(w, &held, "k").await;
    assert!(end(w, &held, "k", Some(("1", HOUR))).await);
    assert!(end(w, &held, "k", Some(("2", HOUR))).await);
    assert_eq!(begin(w, &held, "k").await, done("1"), "the first copy stands");
    assert!(!end(w, &held, "k", None).await, "what was done cannot fail any more");
    assert_eq!(begin(w, &held, "k").await, done("1"));
}

pub(crate) async fn the_next_attempt_takes_it_from_one_that_lost_its_lease(w: &World) {
    let lost = w.running(task("a")).await;
    begin(w, &lost, "k").await;
    w.advance(LEASE + SECOND);
    let next = w.sweep(1).await.remove(0);
    let other = w.running(task("b")).await;
    assert_eq!(begin(w, &lost, "k").await, OnceState::Lost);
    assert_eq!(begin(w, &other, "k").await, OnceState::Begun, "whoever asks first");
    assert_eq!(begin(w, &next, "k").await, OnceState::Busy);
    assert!(!end(w, &lost, "k", Some(("late", HOUR))).await);
    assert!(end(w, &other, "k", Some(("1", HOUR))).await);
    assert_eq!(begin(w, &next, "k").await, done("1"));
}

pub(crate) async fn an_attempt_that_lost_its_lease_ends_nothing_even_if_nobody_took_over(w: &World) {
    let lost = w.running(task("a")).await;
    begin(w, &lost, "k").await;
    w.advance(LEASE + SECOND);
    w.sweep(1).await;
    assert!(!end(w, &lost, "k", Some(("late", HOUR))).await);
    let other = w.running(task("b")).await;
    assert_eq!(begin(w, &other, "k").await, OnceState::Begun);
}

pub(crate) async fn an_attempt_that_was_settled_is_at_nothing(w: &World) {
    let (first, second) = (w.running(task("a")).await, w.running(task("b")).await);
    begin(w, &first, "k").await;
    w.retry(&first, HOUR).await;
    assert_eq!(begin(w, &first, "k").await, OnceState::Lost);
    assert_eq!(begin(w, &second, "k").await, OnceState::Begun);
}

pub(crate) async fn a_snoozed_attempt_that_goes_on_is_another_holder(w: &World) {
    let first = w.running(task("a")).await;
    begin(w, &first, "k").await;
    w.snooze(&first, Duration::ZERO).await;
    let again = w.claim_one().await;
    assert_eq!(again.lease.attempt, first.lease.attempt);
    assert_eq!(begin(w, &again, "k").await, OnceState::Begun);
    assert_eq!(begin(w, &first, "k").await, OnceState::Lost);
    assert!(!end(w, &first, "k", Some(("late", HOUR))).await);
}

pub(crate) async fn keys_belong_to_a_queue(w: &World) {
    let here = w.running(task("a")).await;
    let there = w.running(task("a").queue("other")).await;
    begin(w, &here, "k").await;
    assert_eq!(begin(w, &there, "k").await, OnceState::Begun);
    end(w, &here, "k", Some(("1", HOUR))).await;
    end(w, &there, "k", Some(("2", HOUR))).await;
    assert_eq!((begin(w, &here, "k").await, begin(w, &there, "k").await), (done("1"), done("2")));
}

pub(crate) async fn odd_keys_and_results_are_kept_exactly(w: &World) {
    let held = w.running(task("a")).await;
    for (key, result) in [("a b", ""), ("line\nbreak", "x\ny\0z"), ("nul\0", "\u{1F980}"), ("{}:*", "d1 r2"), ("é", "\n")] {
        assert_eq!(begin(w, &held, key).await, OnceState::Begun, "{key:?}");
        assert!(end(w, &held, key, Some((result, HOUR))).await, "{key:?}");
        assert_eq!(begin(w, &held, key).await, done(result), "{key:?}");
    }
}

pub(crate) async fn a_stranger_is_told_that_it_holds_nothing(w: &World) {
    let held = w.running(task("a")).await;
    let made_up = Lease { token: "nonsense".into(), ..held.lease.clone() };
    let stranger = Delivery { lease: made_up, ..held };
    assert_eq!(begin(w, &stranger, "k").await, OnceState::Lost);
    assert!(!end(w, &stranger, "k", None).await);
}

pub(crate) async fn many_who_ask_at_once_begin_it_once(w: &World) {
    w.enqueue_many(64, || task("a")).await;
    let held = w.claim(64).await;
    let store = w.store();
    let asks = held.iter().map(|one| {
        let request = OnceRequest { lease: one.lease.clone(), key: "k".to_owned(), run: RUN };
        let store = store.clone();
        tokio::spawn(async move { store.begin_once(request).await.unwrap() })
    });
    let mut begun = 0;
    for ask in asks.collect::<Vec<_>>() {
        begun += usize::from(ask.await.unwrap() == OnceState::Begun);
    }
    assert_eq!(begun, 1);
}

checks! {
    once:
    a_result_is_given_to_all_who_ask_while_it_is_remembered,
    it_is_remembered_for_its_time_and_no_longer,
    others_wait_while_an_attempt_is_at_it,
    it_may_be_remembered_for_ever_or_not_at_all,
    what_failed_begins_anew,
    the_same_attempt_may_ask_again,
    a_run_that_was_dropped_ends_nothing_once_the_same_attempt_asked_anew,
    an_end_that_is_sent_twice_is_one,
    the_next_attempt_takes_it_from_one_that_lost_its_lease,
    an_attempt_that_lost_its_lease_ends_nothing_even_if_nobody_took_over,
    an_attempt_that_was_settled_is_at_nothing,
    a_snoozed_attempt_that_goes_on_is_another_holder,
    keys_belong_to_a_queue,
    odd_keys_and_results_are_kept_exactly,
    a_stranger_is_told_that_it_holds_nothing,
    many_who_ask_at_once_begin_it_once,
}
