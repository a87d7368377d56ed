//! Finished tasks that somebody puts back into their queue.

use std::time::Duration;

use bytes::Bytes;
use dtq::store::{RequeueFrom, Settled, Steer, Steered, Target, Verdict, Wait};
use dtq::types::{EventKind, Priority, Record, Status, TaskId};
use dtq_tests::{DEFAULT, World, failure, promptly, queue, task};

const DAY: Duration = Duration::from_secs(24 * 3600);

fn from(from: RequeueFrom) -> Steer {
    Steer::Requeue { from, payload: None }
}

fn finished() -> impl Iterator<Item = Status> {
    Status::ALL.into_iter().filter(|status| status.is_terminal())
}

pub(crate) async fn any_finished_task_can_be(w: &World) {
    for status in finished() {
        let id = w.bring_to(status).await.id;
        let before = w.record(&id).await;
        assert_eq!(w.steer_one(&id, from(RequeueFrom::Finished)).await, Steered::Done, "{status}");
        let after = w.record(&id).await;
        assert_eq!((after.status, after.attempt), (Status::Queued, 1), "{status}");
        let requeued = after.requeued.expect("it says so");
        assert_eq!((requeued.times, requeued.attempts), (1, before.attempt), "{status}");
        let kept = Record { status, finished_at: before.finished_at, result: before.result.clone(), ..after.clone() };
        assert_eq!(kept, Record { requeued: Some(requeued), ..before }, "{status}");
        assert_eq!((after.finished_at, after.result, after.due_at), (None, None, None), "{status}");
        assert_eq!(w.dead_letters_of(id.queue()).await, [], "{status}");
        assert_eq!(w.stats_of(id.queue().as_str()).await.queued, 1, "{status}");
        assert!(dtq::state::BY_HAND.iter().any(|&(a, b, _)| (a, b) == (status, Status::Queued)));
    }
}

pub(crate) async fn it_runs_as_any_other_then(w: &World) {
    for status in finished() {
        let id = w.bring_to(status).await.id;
        w.steer_one(&id, from(RequeueFrom::Finished)).await;
        let again = w.claim_one_of(id.queue().as_str()).await;
        assert_eq!((&again.lease.task, again.lease.attempt, again.reclaimed), (&id, 1, false), "{status}");
        w.succeed(&again).await;
        let record = w.record(&id).await;
        assert_eq!((record.status, record.result.as_deref()), (Status::Succeeded, Some(&b"\"done\""[..])), "{status}");
        let events = w.events_of(&id).await;
        let end = [EventKind::Requeued, EventKind::Started, EventKind::Succeeded];
        assert!(events.ends_with(&end), "{status}: {events:?}");
    }
}

pub(crate) async fn what_is_not_finished_is_left_alone(w: &World) {
    for status in Status::ALL.into_iter().filter(|status| !status.is_terminal()) {
        let id = w.bring_to(status).await.id;
        let before = w.snapshot(&id).await;
        for action in [from(RequeueFrom::Finished), Steer::Discard, Steer::Purge] {
            assert_eq!(w.steer_one(&id, action).await, Steered::Unfit(status));
        }
        assert_eq!(w.snapshot(&id).await, before, "{status}");
    }
}

pub(crate) async fn which_finished_tasks_may_be_is_the_callers_choice(w: &World) {
    for status in finished() {
        let id = w.bring_to(status).await.id;
        if status != Status::DeadLettered {
            let told = w.steer_one(&id, from(RequeueFrom::DeadLetters)).await;
            assert_eq!(told, Steered::Unfit(status), "only dead letters were meant");
        }
        let told = w.steer_one(&id, from(RequeueFrom::Unsuccessful)).await;
        let expected = if status == Status::Succeeded { Steered::Unfit(status) } else { Steered::Done };
        assert_eq!(told, expected, "{status}");
    }
}

pub(crate) async fn what_is_unknown_or_forgotten_is_not_found(w: &World) {
    let never = TaskId::generate(queue("never"));
    assert_eq!(w.steer_one(&never, from(RequeueFrom::Finished)).await, Steered::NotFound);
    let unkept = w.running(task("a").no_dead_letter().retention(Duration::ZERO)).await;
    w.fail(&unkept).await;
    assert_eq!(w.steer_one(&unkept.lease.task, from(RequeueFrom::Finished)).await, Steered::NotFound);
    let old = w.running(task("a")).await;
    w.fail(&old).await;
    w.advance(31 * DAY);
    for action in [from(RequeueFrom::Finished), Steer::Discard, Steer::Purge] {
        assert_eq!(w.steer_one(&old.lease.task, action).await, Steered::NotFound);
    }
}

pub(crate) async fn it_goes_to_the_end_of_its_band(w: &World) {
    let dead = w.running(task("a").priority(7)).await;
    w.fail(&dead).await;
    let low = w.enqueue(task("a").priority(3)).await;
    let high = w.enqueue(task("a").priority(9)).await;
    let same = w.enqueue(task("a").priority(7)).await;
    w.requeue(&dead.lease.task).await;
    let order: Vec<_> = w.claim(9).await.into_iter().map(|it| (it.priority.level(), it.lease.task)).collect();
    assert_eq!(order, [(9, high), (7, same), (7, dead.lease.task), (3, low)]);
    assert_eq!(dead.priority, Priority::new(7).expect("a priority"));
}

pub(crate) async fn a_waiting_worker_is_woken(w: &World) {
    let dead = w.running(task("a")).await;
    w.fail(&dead).await;
    assert!(w.claim(1).await.is_empty());
    let store = w.store();
    let wait = Wait { queues: vec![queue(DEFAULT)], timeout: Duration::from_secs(600) };
    let waiter = tokio::spawn(async move { store.wait(wait).await });
    w.requeue(&dead.lease.task).await;
    promptly("it is woken", waiter).await.expect("it ends").expect("wait");
}

pub(crate) async fn new_arguments_are_kept_byte_for_byte(w: &World) {
    let payloads: [&[u8]; 8] = [
        br#"{"n":18446744073709551616,"f":1e400,"d":0.1000000000000000055511151231257827}"#,
        "{\"line\":\"a\u{2028}b\u{2029}c\",\"rtl\":\"\u{202e}\u{1F600}\"}".as_bytes(),
        br#"{"nul":"\u0000","escaped":"\\n\n"}"#,
        b"{\"raw\":\"\0\x01\x7f\r\n\"}",
        b"",
        b"{}",
        b"\xff\xfe not text",
        b"p1:x\nQ1 5 1-0",
    ];
    for payload in payloads {
        let dead = w.running(task("a")).await;
        w.fail(&dead).await;
        let action = Steer::Requeue { from: RequeueFrom::DeadLetters, payload: Some(Bytes::from_static(payload)) };
        assert_eq!(w.steer_one(&dead.lease.task, action).await, Steered::Done);
        assert_eq!(w.record(&dead.lease.task).await.payload, payload);
        let again = w.claim_one().await;
        assert_eq!(again.payload, payload);
        w.retry(&again, Duration::ZERO).await;
        w.advance(Duration::from_secs(1));
        let third = w.claim_one().await;
        assert_eq!((third.lease.attempt, &third.payload[..]), (2, payload));
        w.fail(&third).await;
        assert_eq!(w.record(&dead.lease.task).await.payload, payload);
        w.requeue(&dead.lease.task).await;
        let fourth = w.claim_one().await;
        assert_eq!(fourth.payload, payload, "the edited arguments stay");
        w.succeed(&fourth).await;
    }
}

pub(crate) async fn the_old_leases_are_worth_nothing(w: &World) {
    let old = w.running(task("a")).await;
    w.fail(&old).await;
    w.requeue(&old.lease.task).await;
    let settled = |verdict| async { w.settle(&old, verdict).await };
    assert_eq!(settled(Verdict::Failed { failure: failure("no way") }).await, Settled::Stale, "a late second copy");
    assert_eq!(settled(Verdict::Succeeded { result: None }).await, Settled::Stale);
    let now = w.claim_one().await;
    assert_eq!(now.lease.attempt, old.lease.attempt);
    assert_ne!(now.lease.token, old.lease.token);
    assert_eq!(settled(Verdict::Succeeded { result: None }).await, Settled::Stale);
    assert_eq!(w.renew(&[&old.lease]).await, [dtq::store::Renewed::Lost]);
    w.succeed(&now).await;
}

pub(crate) async fn a_request_to_stop_ends_with_the_life_that_it_was_for(w: &World) {
    let held = w.running(task("a")).await;
    w.cancel(&held.lease.task).await;
    w.drop_task(&held).await;
    w.requeue(&held.lease.task).await;
    let again = w.claim_one().await;
    assert_eq!(w.renew(&[&again.lease]).await, [dtq::store::Renewed::Held]);
    assert!(!w.record(&held.lease.task).await.cancel_requested);
    w.retry(&again, Duration::ZERO).await;
}

pub(crate) async fn an_old_result_is_forgotten(w: &World) {
    let done = w.bring_to(Status::Succeeded).await.id;
    assert!(w.record(&done).await.result.is_some());
    w.steer_one(&done, from(RequeueFrom::Finished)).await;
    let again = w.claim_one_of(done.queue().as_str()).await;
    w.settle_to(&again, Verdict::Succeeded { result: None }, Status::Succeeded).await;
    assert_eq!(w.record(&done).await.result, None);
}

pub(crate) async fn a_task_that_finished_again_since_it_was_seen_is_left_alone(w: &World) {
    let first = w.running(task("a").max_attempts(1)).await;
    let id = first.lease.task.clone();
    w.fail(&first).await;
    let seen = w.record(&id).await.finished_at;
    w.advance(Duration::from_secs(1));
    w.requeue(&id).await;
    let second = w.claim_one().await;
    w.fail(&second).await;
    let before = w.snapshot(&id).await;
    for action in [from(RequeueFrom::DeadLetters), Steer::Discard, Steer::Purge] {
        let target = Target { id: id.clone(), finished_at: seen };
        assert_eq!(w.steer(vec![target], action).await, [Steered::Changed]);
    }
    assert_eq!(w.snapshot(&id).await, before);
    let target = Target { id: id.clone(), finished_at: w.record(&id).await.finished_at };
    assert_eq!(w.steer(vec![target], from(RequeueFrom::DeadLetters)).await, [Steered::Done]);
}

pub(crate) async fn twice_in_one_step_is_once(w: &World) {
    let dead = w.running(task("a")).await;
    w.fail(&dead).await;
    let target = || Target::from(dead.lease.task.clone());
    let told = w.steer(vec![target(), target()], from(RequeueFrom::DeadLetters)).await;
    assert_eq!(told, [Steered::Done, Steered::Unfit(Status::Queued)]);
    assert_eq!(w.claim(9).await.len(), 1);
}

checks! { requeue:
    any_finished_task_can_be,
    it_runs_as_any_other_then,
    what_is_not_finished_is_left_alone,
    which_finished_tasks_may_be_is_the_callers_choice,
    what_is_unknown_or_forgotten_is_not_found,
    it_goes_to_the_end_of_its_band,
    a_waiting_worker_is_woken,
    new_arguments_are_kept_byte_for_byte,
    the_old_leases_are_worth_nothing,
    a_request_to_stop_ends_with_the_life_that_it_was_for,
    an_old_result_is_forgotten,
    a_task_that_finished_again_since_it_was_seen_is_left_alone,
    twice_in_one_step_is_once,
}
