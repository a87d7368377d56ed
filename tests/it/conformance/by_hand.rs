//! Many at a time: what a client does with all that match, in bounded steps.

use std::time::Duration;

use dtq::store::{AuditQuery, BATCH, RequeueFrom, Settlement, Steer, Steered, Verdict};
use dtq::types::{AuditAction, AuditEntry, ErrorKind, Failure, Status, TaskId};
use dtq::{BulkReport, Client, RequeueError};
use dtq_tests::{DEFAULT, World, queue, task, want};

fn client(w: &World) -> Client {
    Client::with_store(w.store()).acting_as("ann")
}

async fn log(w: &World) -> Vec<AuditEntry> {
    w.store().audit(AuditQuery { queue: queue(DEFAULT), before: None, limit: 1000 }).await.expect("audit")
}

/// Makes dead letters of one task, which failed with these words and their number.
async fn die(w: &World, count: usize, name: &str, words: &str) -> Vec<TaskId> {
    let ids = w.enqueue_many(count, || task(name)).await;
    let mut number = 0;
    while number < count {
        let held = w.claim(BATCH).await;
        let settlements = held.into_iter().map(|delivery| {
            number += 1;
            let failure = Failure::new(ErrorKind::Error, format!("{words} {number}"));
            Settlement { delivery, verdict: Verdict::Failed { failure } }
        });
        let settlements = settlements.collect();
        w.store().settle(settlements).await.expect("settle");
    }
    ids
}

pub(crate) async fn all_that_match_are_requeued(w: &World) {
    let wanted = die(w, 300, "charge", "timed out after").await;
    die(w, 50, "charge", "refused").await;
    die(w, 50, "send", "timed out after").await;
    let letters = client(w).dead_letters(&queue(DEFAULT)).task("charge").saying("timed out");
    let report = letters.requeue("deployed the fix").await.expect("requeue");
    assert_eq!(report, BulkReport { done: 300, ..BulkReport::default() });
    assert_eq!((w.dead_letters().await.len(), w.stats().await.queued), (100, 300));
    let again = w.drain(want(BATCH)).await;
    let mut got: Vec<_> = again.into_iter().map(|held| held.lease.task).collect();
    let mut wanted = wanted;
    got.sort();
    wanted.sort();
    assert_eq!(got, wanted);
    assert_eq!(letters.requeue("once more").await.expect("requeue"), BulkReport::default());
}

pub(crate) async fn an_action_is_audited_by_its_filter_and_what_it_reached(w: &World) {
    die(w, 300, "charge", "timed out after").await;
    let letters = client(w).dead_letters(&queue(DEFAULT)).task("charge").older_than(Duration::from_secs(60));
    assert_eq!(letters.discard("too young").await.expect("discard"), BulkReport::default());
    assert!(log(w).await.is_empty(), "what changed nothing is not kept");
    w.advance(Duration::from_secs(61));
    letters.discard("known").await.expect("discard");
    let entries = log(w).await;
    assert_eq!(entries.iter().map(|entry| entry.tasks).sum::<u64>(), 300);
    for entry in &entries {
        assert!(entry.tasks <= BATCH as u64, "a step is bounded");
        assert_eq!((entry.action, entry.target.as_str()), (AuditAction::Discard, "dead letters of task charge, older than 1m"));
        assert_eq!((entry.by.actor.as_str(), entry.by.reason.as_str()), ("ann", "known"));
    }
}

pub(crate) async fn an_action_on_one_task_is_audited_by_its_id(w: &World) {
    let ids = die(w, 3, "t", "x").await;
    let client = client(w);
    assert_eq!(client.retry(&ids[0], "again").await.expect("retry"), Steered::Done);
    assert_eq!(client.discard(&ids[1], "known").await.expect("discard"), Steered::Done);
    assert_eq!(client.purge_dead_letter(&ids[2], "old").await.expect("purge"), Steered::Done);
    assert_eq!(client.retry(&ids[2], "gone").await.expect("retry"), Steered::NotFound);
    let seen: Vec<_> = log(w).await.into_iter().map(|entry| (entry.action, entry.target, entry.tasks)).collect();
    let entry = |action, id: &TaskId| (action, id.to_string(), 1);
    let expected = [
        entry(AuditAction::PurgeDeadLetters, &ids[2]),
        entry(AuditAction::Discard, &ids[1]),
        entry(AuditAction::Requeue, &ids[0]),
    ];
    assert_eq!(seen, expected);
}

pub(crate) async fn ten_thousand_are_purged_in_bounded_steps(w: &World) {
    let ids = die(w, 10_000, "t", "x").await;
    let report = client(w).dead_letters(&queue(DEFAULT)).purge("a clean sweep").await.expect("purge");
    assert_eq!(report, BulkReport { done: 10_000, ..BulkReport::default() });
    assert_eq!(w.dead_letters().await, []);
    assert_eq!((w.get(&ids[0]).await, w.get(&ids[9_999]).await), (None, None));
    let steps = log(w).await;
    assert!(steps.len() >= 10_000_usize.div_ceil(BATCH), "{} steps", steps.len());
}

pub(crate) async fn what_dies_again_meanwhile_is_left_for_the_next_time(w: &World) {
    die(w, 600, "t", "x").await;
    let client = client(w);
    let letters = client.dead_letters(&queue(DEFAULT));
    // A worker that lets every task fail at once, as long as there are any.
    let (busy, stop) = (w.store(), std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false)));
    let stopped = stop.clone();
    let worker = tokio::spawn(async move {
        while !stopped.load(std::sync::atomic::Ordering::Relaxed) {
            let held = busy.claim(want(BATCH)).await.expect("claim").deliveries;
            let fail = |delivery| Settlement { delivery, verdict: Verdict::Failed { failure: dtq_tests::failure("again") } };
            busy.settle(held.into_iter().map(fail).collect()).await.expect("settle");
            tokio::task::yield_now().await;
        }
    });
    w.advance(Duration::from_secs(1));
    let report = dtq_tests::promptly("it ends", letters.requeue("round")).await.expect("requeue");
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    worker.await.expect("it stops");
    assert!(report.done >= 600 && report.left_alone == 0, "{report:?}");
}

pub(crate) async fn ids_of_several_queues_are_answered_in_order(w: &World) {
    let mut ids = Vec::new();
    for n in 0..300 {
        let held = w.running(task("t").queue(["a", "b", "c"][n % 3])).await;
        w.fail(&held).await;
        ids.push(held.lease.task);
    }
    ids.insert(1, TaskId::generate(queue("never")));
    ids.push(ids[0].clone());
    let told = client(w).requeue(ids).send("again").await.expect("requeue");
    assert_eq!((told[1], told[301]), (Steered::NotFound, Steered::Unfit(Status::Queued)));
    assert_eq!(told.iter().filter(|&&it| it == Steered::Done).count(), 300);
    for name in ["a", "b", "c"] {
        assert_eq!(w.stats_of(name).await.queued, 100);
    }
}

pub(crate) async fn arguments_that_are_not_json_are_refused_before_anything_is_done(w: &World) {
    let ids = die(w, 2, "t", "x").await;
    let client = client(w);
    for wrong in ["", "{", "{} {}", "\u{feff}{}", "{\"a\":\u{1}}", "nul\0"] {
        let told = client.requeue(ids.clone()).arguments(wrong).send("edited").await;
        assert!(matches!(told, Err(RequeueError::NotJson(_))), "{wrong:?}: {told:?}");
        let told = client.dead_letters(&queue(DEFAULT)).requeue_with(wrong, "edited").await;
        assert!(matches!(told, Err(RequeueError::NotJson(_))), "{wrong:?}: {told:?}");
    }
    let limit = client.limits().max_payload;
    let told = client.requeue(ids.clone()).arguments(format!("\"{}\"", "x".repeat(limit))).send("edited").await;
    assert!(matches!(told, Err(RequeueError::TooLarge { .. })), "{told:?}");
    assert_eq!(w.dead_letters().await.len(), 2);
    let exact = "{\"n\": 18446744073709551616.0e1, \"s\": \"\\u0000\u{2028}\"}";
    client.dead_letters(&queue(DEFAULT)).requeue_with(exact, "edited").await.expect("it is JSON");
    assert_eq!(w.record(&ids[1]).await.payload, exact);
}

pub(crate) async fn a_succeeded_task_runs_again_only_when_that_is_insisted_on(w: &World) {
    let id = w.bring_to(Status::Succeeded).await.id;
    let client = client(w);
    assert_eq!(client.retry(&id, "why").await.expect("retry"), Steered::Unfit(Status::Succeeded));
    assert_eq!(client.requeue([id.clone()]).even_succeeded().send("yes").await.expect("requeue"), [Steered::Done]);
    assert_eq!(w.status(&id).await, Status::Queued);
}

pub(crate) async fn letters_are_grouped_by_what_they_share(w: &World) {
    let old = die(w, 3, "charge", "timed out after").await;
    w.advance(Duration::from_secs(60));
    let new = die(w, 4, "charge", "timed out after").await;
    die(w, 2, "send", "timed out after").await;
    die(w, 1, "charge", "refused").await;
    let client = client(w);
    let found = client.dead_letters(&queue(DEFAULT)).groups().await.expect("groups");
    let seen: Vec<_> = found.groups.iter().map(|it| (it.task.as_str(), it.message.as_str(), it.count)).collect();
    assert_eq!(seen, [("charge", "timed out after #", 7), ("send", "timed out after #", 2), ("charge", "refused #", 1)]);
    assert_eq!(found.others, 0);
    let first = &found.groups[0];
    assert_eq!((first.kind, &first.example), (ErrorKind::Error, &new[3]));
    assert_eq!(Some(first.first_at), w.record(&old[0]).await.finished_at);
    assert_eq!(Some(first.last_at), w.record(&new[3]).await.finished_at);
    let one = client.dead_letters(&queue(DEFAULT)).task("send").groups().await.expect("groups");
    assert_eq!(one.groups.len(), 1);
}

pub(crate) async fn groups_take_a_bounded_place(w: &World) {
    let surplus = 30;
    let ids = w.enqueue_many(dtq::DeadLetters::GROUPS + surplus, || task("t")).await;
    let mut n = 0;
    while n < ids.len() {
        let held = w.claim(BATCH).await;
        let fail = |delivery| {
            n += 1;
            // Letters, since numbers are alike.
            let name: String = n.to_string().bytes().map(|digit| char::from(digit - b'0' + b'g')).collect();
            Settlement { delivery, verdict: Verdict::Failed { failure: dtq_tests::failure(&name) } }
        };
        let settlements = held.into_iter().map(fail).collect();
        w.store().settle(settlements).await.expect("settle");
    }
    let found = client(w).dead_letters(&queue(DEFAULT)).groups().await.expect("groups");
    assert_eq!((found.groups.len(), found.others), (dtq::DeadLetters::GROUPS, surplus as u64));
}

pub(crate) async fn a_step_of_all_kinds_of_targets_tells_each(w: &World) {
    let dead = die(w, 2, "t", "x").await;
    w.steer_one(&dead[1], Steer::Discard).await;
    let queued = w.enqueue(task("t")).await;
    let unknown = TaskId::generate(queue(DEFAULT));
    let targets = [&queued, &dead[0], &unknown, &dead[1]].map(|id| id.clone().into()).to_vec();
    let told = w.steer(targets, Steer::Requeue { from: RequeueFrom::DeadLetters, payload: None }).await;
    assert_eq!(told, [Steered::Unfit(Status::Queued), Steered::Done, Steered::NotFound, Steered::Discarded]);
    assert_eq!(log(w).await[0].tasks, 1);
}

checks! { by_hand:
    all_that_match_are_requeued,
    an_action_is_audited_by_its_filter_and_what_it_reached,
    an_action_on_one_task_is_audited_by_its_id,
    ten_thousand_are_purged_in_bounded_steps,
    what_dies_again_meanwhile_is_left_for_the_next_time,
    ids_of_several_queues_are_answered_in_order,
    arguments_that_are_not_json_are_refused_before_anything_is_done,
    a_succeeded_task_runs_again_only_when_that_is_insisted_on,
    letters_are_grouped_by_what_they_share,
    groups_take_a_bounded_place,
    a_step_of_all_kinds_of_targets_tells_each,
}
