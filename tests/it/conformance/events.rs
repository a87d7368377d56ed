//! The event log.

use std::time::{Duration, Instant};

use dtq::store::EventQuery;
use dtq::types::{Event, EventCursor, EventKind, EventPage, QueueName, Status, WorkerInfo};
use dtq_tests::{LEASE, World, info, promptly, queue, task, worker};

async fn page(w: &World, queues: &[&str], after: EventCursor, limit: usize) -> EventPage {
    let queues = queues.iter().map(|name| queue(name)).collect();
    w.store().events(EventQuery { queues, after, limit, wait: Duration::ZERO }).await.unwrap()
}

fn kinds(events: &[Event]) -> Vec<EventKind> {
    events.iter().map(|event| event.kind).collect()
}

pub(crate) async fn a_long_life_is_told_in_order(w: &World) {
    use EventKind::{Queued, Reclaimed, Released, Retried, RetryScheduled, Started, Succeeded};
    let delayed = w.enqueue(task("a").delay(Duration::from_secs(1))).await;
    w.advance(Duration::from_secs(1));
    let one = w.claim_one().await;
    w.release(&one).await;
    let two = w.claim_one().await;
    w.snooze(&two, Duration::from_secs(1)).await;
    w.advance(Duration::from_secs(1));
    let three = w.claim_one().await;
    w.retry(&three, Duration::from_secs(1)).await;
    w.advance(Duration::from_secs(1));
    w.claim_one().await;
    w.advance(LEASE + Duration::from_secs(1));
    let five = w.sweep(1).await.remove(0);
    w.succeed(&five).await;
    assert_eq!(
        w.events_of(&delayed).await,
        [
            Queued, Queued, Started, Released, Started, RetryScheduled, Queued, Started, RetryScheduled, Retried,
            Started, Reclaimed, Started, Succeeded
        ]
    );
}

pub(crate) async fn events_are_dated_in_order_by_the_stores_clock(w: &World) {
    let mut deliveries = Vec::new();
    for _ in 0..5 {
        deliveries.push(w.running(task("a")).await);
        w.advance(Duration::from_secs(10));
    }
    for delivery in &deliveries {
        w.succeed(delivery).await;
    }
    let events = w.events(&[queue("default")]).await;
    assert!(events.windows(2).all(|pair| pair[0].at <= pair[1].at));
    w.assert_passed(events.last().unwrap().at.since(events[0].at), Duration::from_secs(50));
}

pub(crate) async fn the_log_can_be_read_page_by_page(w: &World) {
    for _ in 0..10 {
        let delivery = w.running(task("a")).await;
        w.succeed(&delivery).await;
    }
    let whole = page(w, &["default"], EventCursor::start(), 1000).await.events;
    assert_eq!(whole.len(), 30);
    let (mut pieces, mut after) = (Vec::new(), EventCursor::start());
    loop {
        let next = page(w, &["default"], after, 4).await;
        if next.events.is_empty() {
            break;
        }
        pieces.extend(next.events);
        after = next.next;
    }
    assert_eq!(pieces, whole);
}

pub(crate) async fn a_batch_is_read_whole_over_small_pages(w: &World) {
    w.enqueue_many(50, || task("a")).await;
    w.claim(50).await;
    let (mut count, mut after) = (0, EventCursor::start());
    for _ in 0..200 {
        let next = page(w, &["default"], after, 1).await;
        count += next.events.len();
        after = next.next;
    }
    assert_eq!(count, 100);
}

pub(crate) async fn reading_on_brings_only_what_is_new(w: &World) {
    let first = w.enqueue(task("a")).await;
    let page_one = page(w, &["default"], EventCursor::start(), 10).await;
    assert_eq!(page_one.events[0].task.as_ref(), Some(&first));
    let nothing = page(w, &["default"], page_one.next.clone(), 10).await;
    assert_eq!(nothing.events, []);
    let second = w.enqueue(task("a")).await;
    for after in [page_one.next, nothing.next] {
        let page_two = page(w, &["default"], after, 10).await;
        assert_eq!(page_two.events.len(), 1);
        assert_eq!(page_two.events[0].task.as_ref(), Some(&second));
    }
}

pub(crate) async fn a_cursor_survives_as_text_for_another_reader(w: &World) {
    w.enqueue(task("a")).await;
    let text = page(w, &["default"], EventCursor::start(), 10).await.next.as_str().to_owned();
    let id = w.enqueue(task("a")).await;
    let query = EventQuery {
        queues: vec![queue("default")],
        after: EventCursor::from_text(text),
        limit: 10,
        wait: Duration::ZERO,
    };
    let events = w.second_store().await.events(query).await.unwrap().events;
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].task.as_ref(), Some(&id));
}

pub(crate) async fn only_the_wanted_queues_are_told_of(w: &World) {
    for name in ["a", "b", "c"] {
        w.enqueue(task(name).queue(name)).await;
    }
    let events = page(w, &["a", "c"], EventCursor::start(), 10).await.events;
    let mut queues: Vec<_> = events.iter().map(|event| event.task.as_ref().unwrap().queue().to_string()).collect();
    queues.sort();
    assert_eq!(queues, ["a", "c"]);
}

pub(crate) async fn several_queues_can_be_read_on_together(w: &World) {
    let mut after = EventCursor::start();
    let mut seen = Vec::new();
    for round in 0..6 {
        w.enqueue(task("x").queue(["a", "b", "c"][round % 3])).await;
        let next = page(w, &["a", "b", "c"], after, 100).await;
        seen.push(next.events.len());
        after = next.next;
    }
    assert_eq!(seen, [1; 6]);
}

pub(crate) async fn worker_events_come_whatever_the_queues(w: &World) {
    w.beat(WorkerInfo { queues: vec![queue("elsewhere")], ..info("w9") }, LEASE).await;
    w.store().farewell(&worker("w9")).await.unwrap();
    for queues in [&["default"][..], &[]] {
        let events = page(w, queues, EventCursor::start(), 10).await.events;
        assert_eq!(kinds(&events), [EventKind::WorkerStarted, EventKind::WorkerStopped]);
        for event in events {
            assert_eq!((event.worker, event.task), (Some(worker("w9")), None));
        }
    }
}

pub(crate) async fn a_reader_waits_for_the_first_event(w: &World) {
    let (store, id) = (w.store(), task("a").build().id);
    let query = EventQuery {
        queues: vec![queue("default")],
        after: EventCursor::start(),
        limit: 10,
        wait: Duration::from_secs(60),
    };
    let reading = tokio::spawn(async move { store.events(query).await.unwrap().events });
    let enqueue = async {
        tokio::task::yield_now().await;
        w.enqueue(task("a").id(&id)).await;
    };
    let (events, ()) = promptly("the waiting reader is woken", async { tokio::join!(reading, enqueue) }).await;
    assert_eq!(events.unwrap()[0].task.as_ref(), Some(&id));
}

pub(crate) async fn a_reader_waits_no_longer_than_it_said(w: &World) {
    let wait = Duration::from_millis(50);
    let query = EventQuery { queues: vec![queue("default")], after: EventCursor::start(), limit: 10, wait };
    let started = Instant::now();
    let page = promptly("the reader gives up", w.store().events(query)).await.unwrap();
    assert_eq!(page.events, []);
    assert!(started.elapsed() >= wait, "it gave up after {:?}", started.elapsed());
}

pub(crate) async fn a_reader_with_something_to_read_does_not_wait(w: &World) {
    w.enqueue(task("a")).await;
    let wait = Duration::from_secs(60);
    let query = EventQuery { queues: vec![queue("default")], after: EventCursor::start(), limit: 10, wait };
    let page = promptly("the reader answers", w.store().events(query)).await.unwrap();
    assert_eq!(page.events.len(), 1);
}

pub(crate) async fn every_end_is_told_once_and_last(w: &World) {
    for status in Status::ALL.into_iter().filter(|status| status.is_terminal()) {
        let brought = w.bring_to(status).await;
        let kinds = w.events_of(&brought.id).await;
        assert_eq!(kinds.iter().filter(|kind| kind.is_terminal()).count(), 1, "{status}: {kinds:?}");
        assert!(kinds.last().unwrap().is_terminal(), "{status}: {kinds:?}");
    }
}

pub(crate) async fn reads_leave_no_trace(w: &World) {
    let id = w.enqueue(task("a")).await;
    let unknown: QueueName = queue("never");
    for _ in 0..3 {
        w.get(&id).await;
        w.stats().await;
        w.store().stats(&unknown).await.unwrap();
        w.store().queues().await.unwrap();
        w.store().workers().await.unwrap();
        w.dead_letters().await;
    }
    assert_eq!(w.events(&[queue("default"), unknown]).await.len(), 1);
    assert_eq!(w.store().queues().await.unwrap(), [queue("default")]);
}

checks! {
    events:
    a_long_life_is_told_in_order,
    events_are_dated_in_order_by_the_stores_clock,
    the_log_can_be_read_page_by_page,
    a_batch_is_read_whole_over_small_pages,
    reading_on_brings_only_what_is_new,
    a_cursor_survives_as_text_for_another_reader,
    only_the_wanted_queues_are_told_of,
    several_queues_can_be_read_on_together,
    worker_events_come_whatever_the_queues,
    a_reader_waits_for_the_first_event,
    a_reader_waits_no_longer_than_it_said,
    a_reader_with_something_to_read_does_not_wait,
    every_end_is_told_once_and_last,
    reads_leave_no_trace,
}
