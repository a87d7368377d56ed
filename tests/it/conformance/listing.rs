//! Listing tasks, page by page.

use std::collections::BTreeSet;
use std::time::Duration;

use dtq::store::{Claim, LOOKED_AT, TaskQuery};
use dtq::types::{ListOrder, Status, TaskFilter, TaskId, TaskSummary};
use dtq_tests::{DEFAULT, World, queue, task, want};

const HOUR: Duration = Duration::from_secs(3600);

fn all(name: &str, statuses: &[Status]) -> TaskQuery {
    TaskQuery {
        queue: queue(name),
        statuses: statuses.to_vec(),
        filter: TaskFilter::default(),
        order: ListOrder::OldestFirst,
        after: None,
        limit: 100,
    }
}

fn ids(tasks: &[TaskSummary]) -> Vec<TaskId> {
    tasks.iter().map(|task| task.id.clone()).collect()
}

/// The same tasks listed in all ways: forwards and backwards, in pages of several sizes.
async fn in_all_ways(w: &World, query: &TaskQuery) -> Vec<TaskId> {
    let whole = ids(&w.list(TaskQuery { limit: 1000, ..query.clone() }).await);
    for limit in [1, 3, 7] {
        assert_eq!(ids(&w.list(TaskQuery { limit, ..query.clone() }).await), whole, "pages of {limit}");
    }
    let mut back = ids(&w.list(TaskQuery { limit: 2, order: ListOrder::NewestFirst, ..query.clone() }).await);
    back.reverse();
    assert_eq!(back, whole, "newest first");
    whole
}

pub(crate) async fn a_summary_tells_what_the_record_tells(w: &World) {
    for status in Status::ALL {
        let name = format!("of-{status}");
        let id = w.bring(status, task("brought").queue(&name).priority(7).payload("{\"large\":1}")).await.id;
        let listed = w.list(all(&name, &[status])).await;
        assert_eq!(listed, [TaskSummary::from(&w.record(&id).await)], "{status}");
        assert_eq!(listed[0].status, status);
    }
}

pub(crate) async fn what_happened_before_is_told_too(w: &World) {
    let first = w.running(task("a").max_attempts(3)).await;
    w.fail(&first).await;
    w.requeue(&first.lease.task).await;
    let check = async |status: Status| {
        let listed = w.list(all(DEFAULT, &[status])).await;
        assert_eq!(listed, [TaskSummary::from(&w.record(&first.lease.task).await)], "{status}");
        assert_eq!((listed[0].requeues, listed[0].failure.is_some()), (1, true), "{status}");
    };
    check(Status::Queued).await;
    let held = w.claim_one().await;
    w.cancel(&first.lease.task).await;
    check(Status::Running).await;
    assert!(w.list(all(DEFAULT, &[Status::Running])).await[0].cancel_requested);
    w.drop_task(&held).await;
    check(Status::Cancelled).await;
    w.requeue(&first.lease.task).await;
    let held = w.claim_one().await;
    assert_eq!(w.record(&first.lease.task).await.requeued.expect("lives").times, 2);
    w.retry(&held, HOUR).await;
    let listed = w.list(all(DEFAULT, &[Status::Retrying])).await;
    assert_eq!(listed, [TaskSummary::from(&w.record(&first.lease.task).await)]);
}

pub(crate) async fn queued_tasks_stand_in_the_order_in_which_they_are_handed_out(w: &World) {
    for n in 0..30 {
        w.enqueue(task("a").priority([5, 9, 0, 7, 5][n % 5])).await;
    }
    let listed = in_all_ways(w, &all(DEFAULT, &[Status::Queued])).await;
    let claimed = w.claim(10).await;
    let rest = in_all_ways(w, &all(DEFAULT, &[Status::Queued])).await;
    assert_eq!(rest, listed[10..]);
    let running = in_all_ways(w, &all(DEFAULT, &[Status::Running])).await;
    let running: BTreeSet<_> = running.into_iter().collect();
    assert_eq!(running, claimed.iter().map(|held| held.lease.task.clone()).collect());
    let handed: Vec<_> = claimed.into_iter().chain(w.claim(30).await).map(|held| held.lease.task).collect();
    assert_eq!(handed, listed);
    assert_eq!(w.list(all(DEFAULT, &[Status::Queued])).await, []);
}

pub(crate) async fn waiting_tasks_stand_in_the_order_in_which_they_come_due(w: &World) {
    let mut expected = Vec::new();
    for n in [5_u32, 1, 4, 2, 3] {
        expected.push((n, w.enqueue(task("a").delay(HOUR * n)).await));
        let held = w.running(task("b")).await;
        w.retry(&held, HOUR * n).await;
    }
    expected.sort();
    let expected: Vec<_> = expected.into_iter().map(|(_, id)| id).collect();
    assert_eq!(in_all_ways(w, &all(DEFAULT, &[Status::Pending])).await, expected);
    assert_eq!(in_all_ways(w, &all(DEFAULT, &[Status::Retrying])).await.len(), 5);
}

pub(crate) async fn tasks_that_come_due_at_once_are_paged_too(w: &World) {
    let at = w.now().plus(HOUR);
    let tasks = (0..300).map(|_| task("a").at(at).build()).collect();
    let mut expected: Vec<_> = w.enqueue_all(tasks).await.into_iter().map(|it| it.id).collect();
    let mut query = TaskQuery { limit: 40, ..all(DEFAULT, &[Status::Pending]) };
    let mut seen = Vec::new();
    loop {
        let page = w.store().list(query.clone()).await.expect("list");
        seen.extend(ids(&page.tasks));
        let Some(next) = page.next else { break };
        // The place itself goes away.
        w.cancel(seen.last().expect("a task")).await;
        query.after = Some(next);
    }
    seen.sort();
    expected.sort();
    assert_eq!(seen, expected);
}

pub(crate) async fn finished_tasks_stand_in_the_order_of_their_end(w: &World) {
    for status in [Status::Succeeded, Status::Failed, Status::Cancelled, Status::DeadLettered] {
        let name = format!("end-{status}");
        let mut expected = Vec::new();
        for _ in 0..9 {
            expected.push(w.bring(status, task("a").queue(&name)).await.id);
            w.advance(Duration::from_secs(5));
        }
        assert_eq!(in_all_ways(w, &all(&name, &[status])).await, expected, "{status}");
        w.advance(40 * 24 * HOUR);
        assert_eq!(w.list(all(&name, &[status])).await, [], "{status}: forgotten");
    }
    let mut expected = Vec::new();
    for n in 1..6 {
        expected.push(w.enqueue(task("x").ttl(Duration::from_secs(n))).await);
    }
    w.advance(HOUR);
    w.claim(9).await;
    let listed = in_all_ways(w, &all(DEFAULT, &[Status::Expired])).await;
    assert_eq!(listed.iter().collect::<BTreeSet<_>>(), expected.iter().collect());
}

pub(crate) async fn discarded_letters_are_left_out(w: &World) {
    let kept = w.bring(Status::DeadLettered, task("a")).await.id;
    let gone = w.bring(Status::DeadLettered, task("a")).await.id;
    w.steer_one(&gone, dtq::store::Steer::Discard).await;
    assert_eq!(ids(&w.list(all(DEFAULT, &[Status::DeadLettered])).await), vec![kept.clone()]);
    assert_eq!(ids(&w.list(all(DEFAULT, &[])).await), [kept]);
}

pub(crate) async fn all_statuses_are_listed_one_after_the_other(w: &World) {
    for status in Status::ALL {
        // What is handed out or promoted on the way must not be this queue's.
        let id = w.bring(status, task("a").queue(&format!("q-{status}"))).await.id;
        assert_eq!(ids(&w.list(all(&format!("q-{status}"), &[])).await), vec![id.clone()], "{status}");
        for limit in [1, 100] {
            let query = TaskQuery { limit, ..all(&format!("q-{status}"), &Status::ALL) };
            assert_eq!(ids(&w.list(query).await), vec![id.clone()], "{status}");
        }
        let others: Vec<_> = Status::ALL.into_iter().filter(|&other| other != status).collect();
        assert_eq!(w.list(all(&format!("q-{status}"), &others)).await, [], "{status}");
    }
    for n in 0..6 {
        w.enqueue(task("a").delay(if n % 2 == 0 { HOUR } else { Duration::ZERO })).await;
    }
    w.claim(1).await;
    let order = [Status::Running, Status::Queued, Status::Pending, Status::Queued];
    for limit in [1, 2, 100] {
        let listed = w.list(TaskQuery { limit, ..all(DEFAULT, &order) }).await;
        let statuses: Vec<_> = listed.iter().map(|task| task.status).collect();
        let [running, queued, pending, _] = order;
        assert_eq!(statuses, [running, queued, queued, pending, pending, pending], "a status is listed once");
    }
    assert_eq!(w.list(all("never", &[])).await, []);
}

pub(crate) async fn each_condition_of_a_filter_counts(w: &World) {
    let old = w.bring(Status::Succeeded, task("a")).await.id;
    w.advance(HOUR / 4);
    let middle = w.now();
    w.advance(Duration::from_secs(1));
    let new = w.bring(Status::Succeeded, task("b")).await.id;
    let waiting = w.enqueue(task("a")).await;
    let record = w.record(&new).await;
    let (accepted, ended) = (record.enqueued_at, record.finished_at.expect("an end"));
    let after = |at: dtq::types::Timestamp| at.plus(Duration::from_millis(1));
    let any = TaskFilter::default;
    let (old, new, waiting) = (&old, &new, &waiting);
    let cases: [(TaskFilter, &[&TaskId]); 11] = [
        (any(), &[waiting, old, new]),
        (TaskFilter { task: Some("a".into()), ..any() }, &[waiting, old]),
        (TaskFilter { enqueued_from: Some(middle), ..any() }, &[waiting, new]),
        (TaskFilter { enqueued_before: Some(middle), ..any() }, &[old]),
        (TaskFilter { enqueued_from: Some(accepted), enqueued_before: Some(after(accepted)), ..any() }, &[new]),
        (TaskFilter { finished_from: Some(ended), ..any() }, &[new]),
        (TaskFilter { finished_from: Some(after(ended)), ..any() }, &[]),
        (TaskFilter { finished_before: Some(ended), ..any() }, &[old]),
        (TaskFilter { finished_before: Some(after(ended)), ..any() }, &[old, new]),
        (TaskFilter { older_than: Some(HOUR / 8), ..any() }, &[old]),
        (TaskFilter { older_than: Some(Duration::MAX), ..any() }, &[]),
    ];
    for (filter, expected) in cases {
        let words = filter.to_string();
        // Apart by more than real time takes here: what was accepted in the same instant on a clock that stands still.
        let same = filter.enqueued_from == Some(accepted) && w.record(waiting).await.enqueued_at == accepted;
        let listed = ids(&w.list(TaskQuery { filter, limit: 2, ..all(DEFAULT, &[]) }).await);
        let mut expected: Vec<_> = expected.iter().map(|&id| id.clone()).collect();
        if same {
            expected.insert(0, waiting.clone());
        }
        assert_eq!(listed, expected, "{words}");
    }
}

pub(crate) async fn a_task_whose_status_stays_is_listed_once_while_others_come_and_go(w: &World) {
    let still: Vec<_> = w.enqueue_many(150, || task("still").queue("churn").priority(4)).await;
    let passing = || task("passing").queue("churn").priority(6);
    w.enqueue_many(100, passing).await;
    let mut seen = Vec::new();
    let mut query = TaskQuery { limit: 9, ..all("churn", &[Status::Queued, Status::Running, Status::Pending]) };
    loop {
        let page = w.store().list(query.clone()).await.expect("list");
        seen.extend(ids(&page.tasks));
        query.after = page.next;
        if query.after.is_none() {
            break;
        }
        w.enqueue_many(2, passing).await;
        let churn = Claim { queue: queue("churn"), ..want(3) };
        for (n, held) in w.claim_with(churn).await.deliveries.into_iter().enumerate() {
            match n {
                0 => w.succeed(&held).await,
                1 => w.snooze(&held, HOUR).await,
                _ => drop(w.renew(&[&held.lease]).await),
            }
        }
    }
    seen.retain(|id| still.contains(id));
    assert_eq!(seen, still);
}

pub(crate) async fn running_tasks_are_listed_once_while_their_leases_are_renewed(w: &World) {
    let mut running = w.enqueue_many(60, || task("a")).await;
    let held = w.claim(60).await;
    let mut seen = Vec::new();
    let mut query = TaskQuery { limit: 7, ..all(DEFAULT, &[Status::Running]) };
    for _ in 0.. {
        let page = w.store().list(query.clone()).await.expect("list");
        seen.extend(ids(&page.tasks));
        query.after = page.next;
        if query.after.is_none() {
            break;
        }
        w.advance(Duration::from_secs(1));
        let some: Vec<_> = held.iter().step_by(3).map(|held| &held.lease).collect();
        w.renew(&some).await;
    }
    seen.sort();
    running.sort();
    assert_eq!(seen, running);
}

pub(crate) async fn one_call_looks_at_a_bounded_number(w: &World) {
    w.enqueue_many(LOOKED_AT + 200, || task("a")).await;
    let filter = TaskFilter { task: Some("none".into()), ..TaskFilter::default() };
    let query = TaskQuery { filter, ..all(DEFAULT, &[Status::Queued]) };
    let page = w.store().list(query.clone()).await.expect("list");
    assert_eq!(page.tasks, []);
    let page = w.store().list(TaskQuery { after: page.next, ..query.clone() }).await.expect("list");
    assert_eq!((page.tasks, page.next), (vec![], None));
    let page = w.store().list(TaskQuery { limit: usize::MAX, ..all(DEFAULT, &[]) }).await.expect("list");
    assert_eq!(page.tasks.len(), LOOKED_AT);
    let rest = TaskQuery { limit: usize::MAX, after: page.next, ..all(DEFAULT, &[]) };
    assert_eq!(w.list(rest).await.len(), 200);
    let none = w.store().list(TaskQuery { limit: 0, ..all(DEFAULT, &[]) }).await.expect("list");
    assert!(none.tasks.is_empty() && none.next.is_some());
}

pub(crate) async fn a_place_that_no_store_told_is_no_panic(w: &World) {
    for status in Status::ALL {
        w.bring(status, task("a").queue(&format!("q-{status}"))).await;
        for text in ["", "garbage", "/", "queued", "queued/x", "1:1-1", "-1 -1", "5:99999999999999999999-1", "é/é", "0 0"] {
            for after in [text.to_owned(), format!("{status}/{text}")] {
                let query = TaskQuery { after: Some(after.clone()), ..all(&format!("q-{status}"), &[status]) };
                if let Err(error) = w.store().list(query).await {
                    assert!(!error.is_transient(), "after {after:?}: {error:?}");
                    assert!(error.to_string().contains("not a place"), "after {after:?}: {error}");
                }
            }
        }
    }
}

checks! { listing:
    a_summary_tells_what_the_record_tells,
    what_happened_before_is_told_too,
    queued_tasks_stand_in_the_order_in_which_they_are_handed_out,
    waiting_tasks_stand_in_the_order_in_which_they_come_due,
    tasks_that_come_due_at_once_are_paged_too,
    finished_tasks_stand_in_the_order_of_their_end,
    discarded_letters_are_left_out,
    all_statuses_are_listed_one_after_the_other,
    each_condition_of_a_filter_counts,
    a_task_whose_status_stays_is_listed_once_while_others_come_and_go,
    running_tasks_are_listed_once_while_their_leases_are_renewed,
    one_call_looks_at_a_bounded_number,
    a_place_that_no_store_told_is_no_panic,
}
