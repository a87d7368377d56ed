//! Values at the edges of their types, and texts that a store did not write.

use std::time::Duration;

use dtq::store::{Claim, DeadLetterQuery, EventQuery, Renewal, Renewed, Verdict, Wait};
use dtq::types::{By, EventCursor, Status, Timestamp, WorkerInfo};
use dtq_tests::{World, failure, promptly, queue, task, want, worker};

fn info(name: &str) -> WorkerInfo {
    WorkerInfo {
        id: worker(name),
        queues: vec![],
        tasks: Vec::new(),
        concurrency: u32::MAX,
        running: u32::MAX,
        started_at: Timestamp::default(),
        seen_at: Timestamp::default(),
    }
}

pub(crate) async fn a_policy_without_ends_is_kept_and_obeyed(w: &World) {
    let endless = task("a").ttl(Duration::MAX).timeout(Duration::MAX).retention(Duration::MAX).max_attempts(u32::MAX);
    for verdict in [Verdict::Succeeded { result: Some("1".into()) }, Verdict::Failed { failure: failure("x") }] {
        let delivery = w.running(endless.clone().uuid(uuid::Uuid::new_v4())).await;
        let status = verdict.target(true);
        w.settle_to(&delivery, verdict, status).await;
        w.advance(Duration::from_secs(86_400));
        assert_eq!(w.status(&delivery.lease.task).await, status);
    }
    let id = w.enqueue(endless.clone()).await;
    w.cancel(&id).await;
    assert_eq!(w.status(&id).await, Status::Cancelled);
}

pub(crate) async fn an_endless_retry_or_snooze_waits(w: &World) {
    let (one, two) = (w.running(task("a")).await, w.running(task("b")).await);
    w.retry(&one, Duration::MAX).await;
    w.snooze(&two, Duration::MAX).await;
    w.advance(Duration::from_secs(86_400));
    assert!(w.sweep(10).await.is_empty());
    assert_eq!((w.stats().await.retrying, w.stats().await.pending), (1, 1));
}

pub(crate) async fn an_endless_lease_is_held_and_renewed(w: &World) {
    let id = w.enqueue(task("a")).await;
    let claim = Claim { lease: Duration::MAX, sweep: true, ..want(1) };
    let held = w.claim_with(claim.clone()).await.deliveries.remove(0);
    w.advance(Duration::from_secs(86_400));
    assert!(w.claim_with(claim).await.deliveries.is_empty());
    let renewal = Renewal { worker: worker("w1"), leases: vec![held.lease.clone()], lease: Duration::MAX };
    assert_eq!(w.store().renew(renewal).await.unwrap(), [Renewed::Held]);
    w.succeed(&held).await;
    assert_eq!(w.status(&id).await, Status::Succeeded);
}

pub(crate) async fn a_claim_may_want_everything(w: &World) {
    w.enqueue_many(3, || task("a")).await;
    assert_eq!(w.claim(usize::MAX).await.len(), 3);
}

pub(crate) async fn a_page_may_be_of_any_size(w: &World) {
    let delivery = w.running(task("a")).await;
    w.fail(&delivery).await;
    let letters = DeadLetterQuery::first(queue("default"), usize::MAX);
    assert_eq!(w.store().dead_letters(letters).await.unwrap().letters.len(), 1);
    let events = EventQuery {
        queues: vec![queue("default")],
        after: EventCursor::start(),
        limit: usize::MAX,
        wait: Duration::ZERO,
    };
    assert_eq!(w.store().events(events).await.unwrap().events.len(), 3);
}

pub(crate) async fn a_page_of_none_is_empty(w: &World) {
    let delivery = w.running(task("a")).await;
    w.fail(&delivery).await;
    let letters = DeadLetterQuery::first(queue("default"), 0);
    assert_eq!(w.store().dead_letters(letters).await.unwrap().letters, []);
}

pub(crate) async fn an_endless_wait_ends_with_a_task(w: &World) {
    let wait = |timeout| Wait { queues: vec![queue("default")], timeout };
    for timeout in [Duration::MAX, Duration::from_secs(u64::from(u32::MAX)), Duration::from_secs(1 << 55)] {
        let store = w.store();
        let waiter = tokio::spawn(async move { store.wait(wait(timeout)).await });
        // While this short one runs, the endless one begins.
        w.store().wait(wait(Duration::from_millis(30))).await.unwrap();
        w.enqueue(task("a")).await;
        promptly("the wait ends", waiter).await.unwrap().unwrap();
        w.claim_one().await;
    }
}

pub(crate) async fn a_wait_of_no_time_returns(w: &World) {
    for timeout in [Duration::ZERO, Duration::from_nanos(1), Duration::from_micros(999)] {
        let wait = Wait { queues: vec![queue("default")], timeout };
        promptly("the wait ends", w.store().wait(wait)).await.unwrap();
    }
}

pub(crate) async fn many_queues_can_be_watched_and_one_of_them_twice(w: &World) {
    let mut queues: Vec<_> = (0..50).map(|n| queue(&format!("q{n}"))).collect();
    queues.push(queue("q49"));
    w.enqueue(task("a").queue("q49")).await;
    let wait = Wait { queues, timeout: Duration::from_secs(60) };
    promptly("the wait ends", w.store().wait(wait)).await.unwrap();
    assert_eq!(w.stats_of("q49").await.queued, 1);
}

pub(crate) async fn an_endless_wait_for_events_ends_with_one(w: &World) {
    w.enqueue(task("a")).await;
    let query = EventQuery {
        queues: vec![queue("default")],
        after: EventCursor::start(),
        limit: 10,
        wait: Duration::MAX,
    };
    let page = promptly("the wait ends", w.store().events(query)).await.unwrap();
    assert_eq!(page.events.len(), 1);
}

pub(crate) async fn a_position_that_no_store_gave_is_no_panic(w: &World) {
    let delivery = w.running(task("a")).await;
    w.fail(&delivery).await;
    for text in ["garbage", "-1", "1-", "\0", "99999999999999999999999", "é", " ", "0-0 0-0", "{}"] {
        let letters = DeadLetterQuery { after: Some(text.into()), ..DeadLetterQuery::first(queue("default"), 10) };
        // An answer, or an error that says so; but no hope that trying again helps.
        if let Err(error) = w.store().dead_letters(letters).await {
            assert!(!error.is_transient(), "dead letters after {text:?}: {error:?}");
        }
        let events = EventQuery {
            queues: vec![queue("default")],
            after: EventCursor::from_text(text),
            limit: 10,
            wait: Duration::ZERO,
        };
        if let Err(error) = w.store().events(events).await {
            assert!(!error.is_transient(), "events after {text:?}: {error:?}");
        }
    }
    assert_eq!(w.dead_letters().await.len(), 1);
}

pub(crate) async fn odd_worker_names_work_like_any(w: &World) {
    for name in ["with space", "line\nbreak\r\n", "nul\0", "é🦀", "a,b:c{d}", "\\n", "-", "$"] {
        w.beat(info(name), Duration::from_secs(60)).await;
        let listed = w.store().workers().await.unwrap();
        assert!(listed.iter().any(|info| info.id == worker(name)), "{name:?} is not among {listed:?}");
        w.enqueue(task("a")).await;
        let claim = Claim { worker: worker(name), ..want(1) };
        let held = w.claim_with(claim).await.deliveries.remove(0);
        assert_eq!(w.renew_as(name, &[&held.lease]).await, [Renewed::Held], "{name:?}");
        w.advance(dtq_tests::LEASE * 2);
        let taken = w.sweep(1).await.remove(0);
        assert_eq!(w.record(&held.lease.task).await.attempts.len(), 1, "{name:?}");
        w.succeed(&taken).await;
        w.store().farewell(&worker(name)).await.unwrap();
    }
    assert_eq!(w.store().workers().await.unwrap(), []);
}

pub(crate) async fn a_worker_of_no_queue_and_of_many_survives(w: &World) {
    w.beat(info("none"), Duration::MAX).await;
    let many = WorkerInfo { queues: (0..300).map(|n| queue(&format!("q{n}"))).collect(), ..info("many") };
    w.advance(Duration::from_secs(1));
    w.beat(many.clone(), Duration::MAX).await;
    w.advance(Duration::from_secs(86_400));
    let listed = w.store().workers().await.unwrap();
    assert_eq!(listed.len(), 2);
    assert_eq!((&listed[0].queues, listed[0].concurrency, listed[0].running), (&vec![], u32::MAX, u32::MAX));
    assert_eq!(listed[1].queues, many.queues);
}

pub(crate) async fn a_long_reason_and_a_long_result_are_kept_whole(w: &World) {
    let held = w.running(task("a")).await;
    let reason = "because ".repeat(500);
    let request = dtq::store::CancelRequest { id: held.lease.task.clone(), by: By::new("tests", reason.clone()) };
    w.store().cancel(request).await.unwrap();
    assert_eq!(w.renew(&[&held.lease]).await, [Renewed::CancelRequested(reason)]);
    let result = bytes::Bytes::from(vec![b'1'; 3_000_000]);
    w.settle_to(&held, Verdict::Succeeded { result: Some(result.clone()) }, Status::Succeeded).await;
    assert_eq!(w.record(&held.lease.task).await.result, Some(result));
}

pub(crate) async fn a_large_batch_of_large_payloads_is_accepted_and_handed_out(w: &World) {
    let batch: Vec<_> = (0..130).map(|_| task("a").payload(vec![7_u8; 100_000]).build()).collect();
    assert!(w.enqueue_all(batch).await.iter().all(|accepted| accepted.created));
    let got = w.drain(want(128)).await;
    assert_eq!(got.len(), 130);
    assert!(got.iter().all(|delivery| delivery.payload.len() == 100_000));
}

checks! {
    extremes:
    a_policy_without_ends_is_kept_and_obeyed,
    an_endless_retry_or_snooze_waits,
    an_endless_lease_is_held_and_renewed,
    a_claim_may_want_everything,
    a_page_may_be_of_any_size,
    a_page_of_none_is_empty,
    an_endless_wait_ends_with_a_task,
    a_wait_of_no_time_returns,
    many_queues_can_be_watched_and_one_of_them_twice,
    an_endless_wait_for_events_ends_with_one,
    a_position_that_no_store_gave_is_no_panic,
    odd_worker_names_work_like_any,
    a_worker_of_no_queue_and_of_many_survives,
    a_long_reason_and_a_long_result_are_kept_whole,
    a_large_batch_of_large_payloads_is_accepted_and_handed_out,
}
