//! Tasks that failed for good.

use std::time::Duration;

use dtq::store::{DeadLetterQuery, Settled, Verdict};
use dtq::types::{ErrorKind, EventKind, Failure, Policy, Status};
use dtq_tests::{World, queue, task};

const DAY: Duration = Duration::from_secs(86_400);

pub(crate) async fn a_task_that_failed_for_good_is_a_dead_letter(w: &World) {
    let delivery = w.running(task("billing::charge")).await;
    let failure = Failure::new(ErrorKind::Permanent, "no such order");
    let answer = w.settle(&delivery, Verdict::Failed { failure: failure.clone() }).await;
    assert_eq!(answer, Settled::Applied(Status::DeadLettered));
    let record = w.record(&delivery.lease.task).await;
    assert_eq!((record.status, record.last_failure()), (Status::DeadLettered, Some(&failure)));
    let letters = w.dead_letters().await;
    assert_eq!(letters.len(), 1);
    assert_eq!((&letters[0].id, letters[0].task.as_str()), (&delivery.lease.task, "billing::charge"));
    assert_eq!((letters[0].attempt, &letters[0].failure), (1, &failure));
    assert_eq!(Some(letters[0].at), record.finished_at);
}

pub(crate) async fn a_dead_letter_is_told_and_counted(w: &World) {
    let delivery = w.running(task("a")).await;
    w.fail(&delivery).await;
    let events = w.events_of(&delivery.lease.task).await;
    assert_eq!(events, [EventKind::Queued, EventKind::Started, EventKind::DeadLettered]);
    let stats = w.stats().await;
    assert_eq!((stats.dead_lettered, stats.failed, stats.running), (1, 0, 0));
}

pub(crate) async fn without_dead_letters_it_is_failed(w: &World) {
    let delivery = w.running(task("a").no_dead_letter()).await;
    w.fail(&delivery).await;
    assert_eq!(w.status(&delivery.lease.task).await, Status::Failed);
    assert_eq!(w.dead_letters().await, []);
    assert_eq!(w.events_of(&delivery.lease.task).await.last(), Some(&EventKind::Failed));
    let stats = w.stats().await;
    assert_eq!((stats.dead_lettered, stats.failed, stats.running), (0, 1, 0));
}

pub(crate) async fn a_dead_letter_tells_which_attempt_failed_last(w: &World) {
    let first = w.running(task("a")).await;
    w.retry(&first, Duration::ZERO).await;
    let second = w.claim_one().await;
    w.fail(&second).await;
    assert_eq!(w.dead_letters().await[0].attempt, 2);
    assert_eq!(w.record(&first.lease.task).await.attempts.len(), 2);
}

pub(crate) async fn a_failed_task_never_runs_again(w: &World) {
    for new in [task("a"), task("a").no_dead_letter()] {
        let delivery = w.running(new).await;
        w.fail(&delivery).await;
    }
    w.advance(dtq_tests::LEASE * 2);
    assert!(w.sweep(10).await.is_empty());
}

pub(crate) async fn dead_letters_come_oldest_first_and_can_be_paged(w: &World) {
    let mut failed = Vec::new();
    for _ in 0..7 {
        let delivery = w.running(task("a")).await;
        w.fail(&delivery).await;
        failed.push(delivery.lease.task);
    }
    let mut seen = Vec::new();
    let mut after = None;
    for expected in [3, 3, 1, 0] {
        let query = DeadLetterQuery { after: after.clone(), ..DeadLetterQuery::first(queue("default"), 3) };
        let page = w.store().dead_letters(query).await.unwrap().letters;
        assert_eq!(page.len(), expected);
        after = page.last().map(|letter| letter.position.clone()).or(after);
        seen.extend(page.into_iter().map(|letter| letter.id));
    }
    assert_eq!(seen, failed);
}

pub(crate) async fn each_queue_has_its_own_dead_letters(w: &World) {
    for name in ["a", "b"] {
        let delivery = w.running(task(name).queue(name)).await;
        w.fail(&delivery).await;
    }
    let letters = w.dead_letters_of(&queue("a")).await;
    assert_eq!(letters.iter().map(|letter| letter.task.as_str()).collect::<Vec<_>>(), ["a"]);
    assert_eq!(w.dead_letters_of(&queue("never")).await, []);
}

pub(crate) async fn dead_letters_outlive_the_retention_by_far_but_not_for_ever(w: &World) {
    assert_eq!(Policy::DEAD_LETTER_RETENTION, DAY * 30);
    for retention in [Duration::ZERO, Duration::from_secs(60)] {
        let delivery = w.running(task("a").retention(retention)).await;
        w.fail(&delivery).await;
    }
    w.advance(DAY * 29);
    assert_eq!(w.dead_letters().await.len(), 2);
    w.advance(DAY * 2);
    assert_eq!(w.dead_letters().await, []);
}

pub(crate) async fn a_dead_letters_record_can_be_looked_at_as_long_as_it_is_listed(w: &World) {
    let delivery = w.running(task("a").payload("{\"order\":7}").retention(Duration::from_secs(60))).await;
    w.fail(&delivery).await;
    w.advance(DAY * 29);
    let record = w.record(&delivery.lease.task).await;
    assert_eq!((record.status, record.payload.as_ref()), (Status::DeadLettered, &b"{\"order\":7}"[..]));
}

checks! {
    dead_letter:
    a_task_that_failed_for_good_is_a_dead_letter,
    a_dead_letter_is_told_and_counted,
    without_dead_letters_it_is_failed,
    a_dead_letter_tells_which_attempt_failed_last,
    a_failed_task_never_runs_again,
    dead_letters_come_oldest_first_and_can_be_paged,
    each_queue_has_its_own_dead_letters,
    dead_letters_outlive_the_retention_by_far_but_not_for_ever,
    a_dead_letters_record_can_be_looked_at_as_long_as_it_is_listed,
}
