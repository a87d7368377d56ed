//! Tasks that were passed over, since no more of their kind may run, meet the other features: keys, schedules, listings, reports,
//! and what is done by hand.

use std::time::Duration;

use dtq::Client;
use dtq::store::{Accepted, Claim, Fired, Refusal, Steer, Steered, TaskQuery};
use dtq::types::{Delivery, EventKind, LimitChanges, ListOrder, OnConflict, Status, TaskFilter, TaskId, Unique, Until};
use dtq_tests::{DEFAULT, LEASE, NIGHTLY, TaskBuilder, World, every, firing, queue, task, want, worker};

const MINUTE: Duration = Duration::from_secs(60);
const LONG: Duration = Duration::from_secs(LEASE.as_secs() * 2);

/// A task that runs, and others of its kind that were passed over, since only one may run.
async fn held_back<const N: usize>(w: &World, others: [TaskBuilder; N]) -> (Delivery, [TaskId; N]) {
    w.set_limits(LimitChanges::new().task("a", 1)).await;
    let held = w.running(task("a")).await;
    let ids = w.enqueue_all(others.map(TaskBuilder::build).to_vec()).await.into_iter().map(|answer| answer.id);
    let ids = ids.collect::<Vec<_>>().try_into().expect("as many answers as tasks");
    assert!(w.claim(10).await.is_empty());
    assert_eq!(counts(w).await, (1, N as u64));
    (held, ids)
}

/// Of the one limited kind: how many run, and how many were passed over.
async fn counts(w: &World) -> (u64, u64) {
    let limits = w.limits().await;
    let [kind] = &limits.tasks[..] else { panic!("{limits:?}") };
    (kind.running, kind.held_back)
}

/// What is left of the kind comes one by one, in this order, and with it every slot is used.
async fn assert_goes_on(w: &World, held: &Delivery, rest: &[&TaskId]) {
    let mut held = held.clone();
    for id in rest {
        w.succeed(&held).await;
        held = w.claim_one().await;
        assert_eq!(&&held.lease.task, id);
        assert!(w.claim(10).await.is_empty());
    }
    w.succeed(&held).await;
    assert!(w.claim(10).await.is_empty());
    assert_eq!((counts(w).await, w.stats().await.unfinished()), ((0, 0), 0));
}

pub(crate) async fn a_task_that_was_passed_over_is_cancelled_with_many(w: &World) {
    let (held, [first, second, third]) = held_back(w, [task("a"), task("a"), task("a")]).await;
    let targets = vec![first.clone().into(), third.clone().into(), held.lease.task.clone().into()];
    let told = w.steer(targets, Steer::Cancel { statuses: vec![Status::Queued] }).await;
    assert_eq!(told, [Steered::Done, Steered::Done, Steered::Unfit(Status::Running)]);
    assert_eq!(counts(w).await, (1, 1));
    assert_goes_on(w, &held, &[&second]).await;
    for id in [&first, &third] {
        assert_eq!(w.status(id).await, Status::Cancelled);
        assert_eq!(w.events_of(id).await, [EventKind::Queued, EventKind::Cancelled]);
    }
}

pub(crate) async fn all_that_were_passed_over_are_cancelled_by_a_filter(w: &World) {
    let (held, _) = held_back(w, [task("a"), task("a")]).await;
    let other = w.enqueue(task("b")).await;
    let tasks = Client::with_store(w.store()).tasks(&queue(DEFAULT)).status(Status::Queued).task("a");
    let report = tasks.cancel("moot").await.expect("cancel");
    assert_eq!((report.done, report.requested, report.left_alone), (2, 0, 0));
    assert_eq!(counts(w).await, (1, 0));
    assert_eq!(w.claim_one().await.lease.task, other);
    w.succeed(&held).await;
    assert!(w.claim(10).await.is_empty());
}

/// A task `a` with a unique key.
pub(super) fn unique(on_conflict: OnConflict) -> TaskBuilder {
    task("a").unique(Unique::new("k").on_conflict(on_conflict))
}

/// The answer that names another task.
pub(super) fn answered(holder: &TaskId) -> Accepted {
    Accepted { id: holder.clone(), created: false, refused: None }
}

pub(crate) async fn a_task_that_was_passed_over_gets_new_arguments(w: &World) {
    let (held, [holder, last]) = held_back(w, [unique(OnConflict::Replace).payload("\"old\""), task("a")]).await;
    let again = unique(OnConflict::Replace).payload("\"new\"");
    assert_eq!(w.enqueue_again(again).await, answered(&holder));
    assert_eq!((w.record(&holder).await.payload, counts(w).await), ("\"new\"".into(), (1, 2)));
    w.succeed(&held).await;
    let next = w.claim_one().await;
    assert_eq!((&next.lease.task, &next.payload[..]), (&holder, &b"\"new\""[..]), "it keeps its place");
    assert_goes_on(w, &next, &[&last]).await;
}

pub(crate) async fn a_task_that_was_passed_over_is_put_off(w: &World) {
    let (held, [holder, second]) = held_back(w, [unique(OnConflict::Reschedule), task("a")]).await;
    let again = unique(OnConflict::Reschedule).delay(LONG);
    assert_eq!(w.enqueue_again(again).await, answered(&holder));
    assert_eq!((w.status(&holder).await, counts(w).await), (Status::Pending, (1, 1)));
    w.succeed(&held).await;
    let next = w.claim_one().await;
    assert_eq!(next.lease.task, second);
    w.advance(LONG);
    // It is due, and passed over once more; what ran meanwhile goes on elsewhere.
    let taken = w.sweep(10).await;
    assert_eq!((taken.len(), &taken[0].lease.task), (1, &second));
    assert_eq!((w.status(&holder).await, counts(w).await), (Status::Queued, (1, 1)));
    assert_goes_on(w, &taken[0], &[&holder]).await;
}

pub(crate) async fn a_key_until_the_start_is_held_until_a_passed_over_task_starts(w: &World) {
    let key = || task("a").unique(Unique::new("k").until(Until::Started).on_conflict(OnConflict::Error));
    let (held, [holder]) = held_back(w, [key()]).await;
    assert_eq!(w.enqueue_again(key()).await.refused, Some(Refusal::Unique));
    w.succeed(&held).await;
    let next = w.claim_one().await;
    assert_eq!(next.lease.task, holder);
    let second = w.enqueue(key()).await;
    assert!(w.claim(10).await.is_empty());
    assert_goes_on(w, &next, &[&second]).await;
}

fn listing(status: Status, order: ListOrder, limit: usize) -> TaskQuery {
    let (queue, filter) = (queue(DEFAULT), TaskFilter::default());
    TaskQuery { queue, statuses: vec![status], filter, order, after: None, limit }
}

/// All tasks of a status, which must be the same in pages of every size and backwards.
async fn listed(w: &World, status: Status) -> Vec<TaskId> {
    let ids = async |order, limit| {
        let tasks = w.list(listing(status, order, limit)).await;
        assert!(tasks.iter().all(|task| task.status == status), "{tasks:?}");
        tasks.into_iter().map(|task| task.id).collect::<Vec<_>>()
    };
    let whole = ids(ListOrder::OldestFirst, 100).await;
    for limit in [1, 2, 3] {
        assert_eq!(ids(ListOrder::OldestFirst, limit).await, whole, "pages of {limit}");
        let mut back = ids(ListOrder::NewestFirst, limit).await;
        back.reverse();
        assert_eq!(back, whole, "newest first, pages of {limit}");
    }
    whole
}

pub(crate) async fn a_task_that_was_passed_over_is_listed_at_its_place(w: &World) {
    let (held, [first, second]) = held_back(w, [task("a"), task("a")]).await;
    let running = w.running(task("b")).await;
    let later = w.enqueue_many(2, || task("b")).await;
    let urgent = w.enqueue(task("a").priority(9)).await;
    assert_eq!(listed(w, Status::Queued).await, [&urgent, &first, &second, &later[0], &later[1]].map(Clone::clone));
    assert_eq!(listed(w, Status::Running).await, [held.lease.task, running.lease.task]);
}

pub(crate) async fn a_task_is_listed_once_when_it_is_passed_over_between_pages(w: &World) {
    w.set_limits(LimitChanges::new().task("a", 1)).await;
    let held = w.running(task("a")).await;
    let all = w.enqueue_many(6, || task("a")).await;
    for order in [ListOrder::OldestFirst, ListOrder::NewestFirst] {
        let mut query = listing(Status::Queued, order, 2);
        let mut seen = Vec::new();
        loop {
            let page = w.store().list(query.clone()).await.expect("list");
            seen.extend(page.tasks.into_iter().map(|task| task.id));
            // The first look of a worker passes all of them over.
            assert!(w.claim(10).await.is_empty());
            query.after = page.next;
            if query.after.is_none() {
                break;
            }
        }
        seen.sort();
        let mut expected = all.clone();
        expected.sort();
        assert_eq!(seen, expected);
    }
    w.succeed(&held).await;
}

pub(crate) async fn a_task_that_tells_of_itself_keeps_its_slot_and_frees_it(w: &World) {
    let (first, [second, third]) = held_back(w, [task("a"), task("a")]).await;
    w.tell_all(&first).await;
    assert_eq!((counts(w).await.0, w.claim(10).await.len()), (1, 0));
    // Also when it is asked to stop, tells more, and is taken over.
    w.cancel(&first.lease.task).await;
    w.tell_all(&first).await;
    w.succeed(&first).await;
    let held = w.claim_one().await;
    assert_eq!(held.lease.task, second);
    w.tell_all(&held).await;
    w.advance(LEASE * 2);
    let taken = w.sweep(10).await;
    assert_eq!((taken.len(), &taken[0].lease.task, taken[0].lease.attempt), (1, &second, 2));
    assert_eq!(w.record(&second).await.checkpoint.as_deref(), Some(&b"[7]"[..]));
    w.tell_all(&taken[0]).await;
    assert!(w.claim_with(Claim { worker: worker("w2"), ..want(10) }).await.deliveries.is_empty());
    assert_goes_on(w, &taken[0], &[&third]).await;
}

pub(crate) async fn a_fired_task_may_be_passed_over(w: &World) {
    w.set_limits(LimitChanges::new().task("report", 1)).await;
    w.planned(every(60, NIGHTLY), MINUTE).await;
    w.advance(MINUTE);
    let fire = firing(&w.tick().await, 2, MINUTE);
    let made: Vec<_> = fire.tasks.iter().map(|task| task.id.clone()).collect();
    assert_eq!(w.fire(fire).await, Fired::Applied);
    let held = w.claim_one().await;
    assert!(w.claim(10).await.is_empty());
    assert_eq!((&held.lease.task, counts(w).await), (&made[0], (1, 1)));
    assert_goes_on(w, &held, &[&made[1]]).await;
}

pub(crate) async fn kinds_that_were_passed_over_start_in_their_order(w: &World) {
    w.set_limits(LimitChanges::new().task("a", 0).task("b", 0)).await;
    // Of one step, so that nothing but their places tells the order.
    let kinds = ["b", "a", "a", "b", "a", "b", "b", "a"];
    let ids: Vec<_> = w.enqueue_all(kinds.map(|kind| task(kind).build()).to_vec()).await.into_iter().map(|a| a.id).collect();
    assert!(w.claim(10).await.is_empty());
    w.set_limits(LimitChanges::new().no_task("a").no_task("b")).await;
    let started: Vec<_> = w.drain(want(3)).await.into_iter().map(|held| held.lease.task).collect();
    assert_eq!(started, ids);
}

checks! { passed_over:
    kinds_that_were_passed_over_start_in_their_order,
    a_task_that_was_passed_over_is_cancelled_with_many,
    all_that_were_passed_over_are_cancelled_by_a_filter,
    a_task_that_was_passed_over_gets_new_arguments,
    a_task_that_was_passed_over_is_put_off,
    a_key_until_the_start_is_held_until_a_passed_over_task_starts,
    a_task_that_was_passed_over_is_listed_at_its_place,
    a_task_is_listed_once_when_it_is_passed_over_between_pages,
    a_task_that_tells_of_itself_keeps_its_slot_and_frees_it,
    a_fired_task_may_be_passed_over,
}
