//! What was done by hand, by whom, and why.

use std::time::Duration;

use dtq::store::{AuditQuery, CancelOutcome, CancelRequest};
use dtq::types::{AuditAction, AuditEntry, By, TaskId};
use dtq_tests::{DEFAULT, World, queue, task};
use futures_util::future::join_all;

async fn log(w: &World, before: Option<String>, limit: usize) -> Vec<AuditEntry> {
    w.store().audit(AuditQuery { queue: queue(DEFAULT), before, limit }).await.expect("audit")
}

async fn cancel(w: &World, id: &TaskId, by: By) -> CancelOutcome {
    w.store().cancel(CancelRequest { id: id.clone(), by }).await.expect("cancel")
}

pub(crate) async fn an_action_is_kept_with_who_and_why(w: &World) {
    let by = By::new("ann\n\0é", "no longer\nneeded \\ \0");
    let waiting = w.enqueue(task("t")).await;
    cancel(w, &waiting, by.clone()).await;
    let entries = log(w, None, 10).await;
    let [entry] = &entries[..] else { panic!("{entries:?}") };
    assert_eq!((entry.action, &entry.target, entry.tasks), (AuditAction::Cancel, &waiting.to_string(), 1));
    assert_eq!(entry.by, by);
    let finished = w.record(&waiting).await.finished_at.expect("it is cancelled");
    w.assert_same_step(entry.at, finished);
}

pub(crate) async fn what_changed_nothing_is_not_kept(w: &World) {
    let held = w.running(task("t")).await;
    let id = &held.lease.task;
    assert_eq!(cancel(w, id, By::new("ann", "first")).await, CancelOutcome::Requested);
    assert_eq!(cancel(w, id, By::new("bob", "second")).await, CancelOutcome::Requested);
    w.drop_task(&held).await;
    cancel(w, id, By::new("eve", "too late")).await;
    cancel(w, &TaskId::generate(queue(DEFAULT)), By::new("eve", "unknown")).await;
    let actors: Vec<_> = log(w, None, 10).await.into_iter().map(|entry| entry.by.actor).collect();
    assert_eq!(actors, ["ann"]);
}

pub(crate) async fn the_log_is_read_backwards_page_by_page(w: &World) {
    for number in 0..7 {
        let id = w.enqueue(task("t")).await;
        cancel(w, &id, By::new("ann", number.to_string())).await;
    }
    let (mut seen, mut before) = (Vec::new(), None);
    loop {
        let page = log(w, before.clone(), 3).await;
        let Some(last) = page.last() else { break };
        before = Some(last.position.clone());
        seen.extend(page.into_iter().map(|entry| entry.by.reason));
    }
    assert_eq!(seen, ["6", "5", "4", "3", "2", "1", "0"]);
}

pub(crate) async fn each_queue_has_its_own(w: &World) {
    let id = w.enqueue(task("t").queue("other")).await;
    cancel(w, &id, By::new("ann", "elsewhere")).await;
    assert!(log(w, None, 10).await.is_empty());
    let query = AuditQuery { queue: queue("other"), before: None, limit: 10 };
    assert_eq!(w.store().audit(query).await.expect("audit").len(), 1);
}

pub(crate) async fn a_position_of_no_log_is_refused(w: &World) {
    let query = AuditQuery { queue: queue(DEFAULT), before: Some("nonsense".into()), limit: 10 };
    let error = w.store().audit(query).await.expect_err("not a position");
    assert!(error.to_string().contains("\"nonsense\" is not a position"), "{error}");
}

pub(crate) async fn the_log_keeps_the_latest(w: &World) {
    let surplus = 500;
    let ids = w.enqueue_many(AuditEntry::KEPT + surplus, || task("t").delay(Duration::from_secs(60))).await;
    for some in ids.chunks(500) {
        join_all(some.iter().map(|id| cancel(w, id, By::new("ann", "all")))).await;
    }
    let entries = log(w, None, usize::MAX).await;
    assert!((AuditEntry::KEPT..AuditEntry::KEPT + surplus).contains(&entries.len()), "{}", entries.len());
    assert!(ids[ids.len() - 500..].contains(&entries[0].target.parse().expect("an id")));
}

checks! { audit:
    an_action_is_kept_with_who_and_why,
    what_changed_nothing_is_not_kept,
    the_log_is_read_backwards_page_by_page,
    each_queue_has_its_own,
    a_position_of_no_log_is_refused,
    the_log_keeps_the_latest,
}
