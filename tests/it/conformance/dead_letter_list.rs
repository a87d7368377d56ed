//! The list of dead letters, by filters and pages.

use std::time::Duration;

use dtq::store::{DeadLetterQuery, LOOKED_AT, Settlement, Steer, Verdict};
use dtq::types::{DeadLetterFilter, ErrorKind, Failure, TaskId};
use dtq_tests::{DEFAULT, World, failure, queue, task};

const HOUR: Duration = Duration::from_secs(3600);

async fn dead(w: &World, name: &str, kind: ErrorKind, message: &str) -> TaskId {
    let held = w.running(task(name)).await;
    let verdict = Verdict::Failed { failure: Failure::new(kind, message) };
    w.settle_to(&held, verdict, dtq::types::Status::DeadLettered).await;
    held.lease.task
}

async fn many(w: &World, count: usize) -> Vec<TaskId> {
    let ids = w.enqueue_many(count, || task("many")).await;
    for _ in 0..count.div_ceil(dtq::store::BATCH) {
        let fail = |delivery| Settlement { delivery, verdict: Verdict::Failed { failure: failure("x") } };
        let settlements = w.claim(dtq::store::BATCH).await.into_iter().map(fail).collect();
        w.store().settle(settlements).await.expect("settle");
    }
    ids
}

async fn found(w: &World, filter: DeadLetterFilter) -> Vec<TaskId> {
    let query = DeadLetterQuery { filter, ..DeadLetterQuery::first(queue(DEFAULT), 100) };
    let page = w.store().dead_letters(query).await.expect("dead_letters");
    assert_eq!(page.next, None, "the list is short");
    page.letters.into_iter().map(|letter| letter.id).collect()
}

pub(crate) async fn each_condition_of_a_filter_counts(w: &World) {
    let old = dead(w, "charge", ErrorKind::Error, "Timed out: 50% \\ \"x\"").await;
    let panic = dead(w, "charge", ErrorKind::Panic, "é\0\u{2028}line\ntwo").await;
    w.advance(2 * HOUR);
    let new = dead(w, "send", ErrorKind::Error, "timed out").await;
    let all = DeadLetterFilter::default;
    let [old, panic, new] = [&old, &panic, &new];
    let cases: [(DeadLetterFilter, &[&TaskId]); 16] = [
        (all(), &[old, panic, new]),
        (DeadLetterFilter { task: Some("charge".into()), ..all() }, &[old, panic]),
        (DeadLetterFilter { task: Some("char".into()), ..all() }, &[]),
        (DeadLetterFilter { task: Some("%".into()), ..all() }, &[]),
        (DeadLetterFilter { kind: Some(ErrorKind::Panic), ..all() }, &[panic]),
        (DeadLetterFilter { text: Some("imed out".into()), ..all() }, &[old, new]),
        (DeadLetterFilter { text: Some("timed".into()), ..all() }, &[new]),
        (DeadLetterFilter { text: Some("%".into()), ..all() }, &[old]),
        (DeadLetterFilter { text: Some("\\ \"".into()), ..all() }, &[old]),
        (DeadLetterFilter { text: Some("line\ntwo".into()), ..all() }, &[panic]),
        (DeadLetterFilter { text: Some("\0\u{2028}".into()), ..all() }, &[panic]),
        (DeadLetterFilter { text: Some(String::new()), ..all() }, &[old, panic, new]),
        (DeadLetterFilter { older_than: Some(HOUR), ..all() }, &[old, panic]),
        (DeadLetterFilter { newer_than: Some(HOUR), ..all() }, &[new]),
        (DeadLetterFilter { older_than: Some(Duration::MAX), ..all() }, &[]),
        (DeadLetterFilter { task: Some("charge".into()), kind: Some(ErrorKind::Error), ..all() }, &[old]),
    ];
    for (filter, expected) in cases {
        let words = filter.to_string();
        assert_eq!(found(w, filter).await, expected.iter().map(|&id| id.clone()).collect::<Vec<_>>(), "{words}");
    }
}

pub(crate) async fn pages_are_whole_while_letters_come_and_go(w: &World) {
    let ids = many(w, 200).await;
    let (mut seen, mut after) = (Vec::new(), None);
    for page in 0.. {
        let query = DeadLetterQuery { after, ..DeadLetterQuery::first(queue(DEFAULT), 30) };
        let found = w.store().dead_letters(query).await.expect("dead_letters");
        seen.extend(found.letters.into_iter().map(|letter| letter.id));
        after = found.next;
        if after.is_none() {
            break;
        }
        // One that was seen, the last one of the page, goes; a new one comes; and one that was not seen goes.
        let last = seen.last().expect("a letter").clone();
        let action = if page % 2 == 0 { Steer::Purge } else { Steer::Discard };
        w.steer_one(&last, action.clone()).await;
        w.steer_one(&ids[199 - page], action).await;
        dead(w, "late", ErrorKind::Error, "x").await;
    }
    let mut known = seen.clone();
    known.retain(|id| ids.contains(id));
    let pages = ids.len() - known.len();
    assert!((1..10).contains(&pages), "{pages} went before they were seen");
    assert_eq!(known, ids[..ids.len() - pages], "each is seen once, in order");
}

pub(crate) async fn one_call_looks_at_a_bounded_number(w: &World) {
    let ids = many(w, LOOKED_AT + 200).await;
    let filter = DeadLetterFilter { task: Some("none".into()), ..DeadLetterFilter::default() };
    let query = |after| DeadLetterQuery { filter: filter.clone(), after, ..DeadLetterQuery::first(queue(DEFAULT), 10) };
    let page = w.store().dead_letters(query(None)).await.expect("dead_letters");
    assert_eq!(page.letters, []);
    let page = w.store().dead_letters(query(Some(page.next.expect("there is more")))).await.expect("dead_letters");
    assert_eq!((page.letters, page.next), (vec![], None));
    let all = DeadLetterQuery::first(queue(DEFAULT), usize::MAX);
    let page = w.store().dead_letters(all.clone()).await.expect("dead_letters");
    assert_eq!(page.letters.len(), LOOKED_AT);
    let rest = DeadLetterQuery { after: page.next, ..all };
    let rest = w.store().dead_letters(rest).await.expect("dead_letters");
    assert_eq!((rest.letters.len(), rest.next), (ids.len() - LOOKED_AT, None));
}

pub(crate) async fn a_filter_fills_its_pages_and_goes_on_where_it_was(w: &World) {
    let mut wanted = Vec::new();
    for n in 0..40 {
        let id = dead(w, if n % 4 == 0 { "wanted" } else { "other" }, ErrorKind::Error, "x").await;
        if n % 4 == 0 {
            wanted.push(id);
        }
    }
    let filter = DeadLetterFilter { task: Some("wanted".into()), ..DeadLetterFilter::default() };
    let (mut seen, mut after) = (Vec::new(), None);
    for expected in [4, 4, 2] {
        let query = DeadLetterQuery { queue: queue(DEFAULT), filter: filter.clone(), after, limit: 4 };
        let page = w.store().dead_letters(query).await.expect("dead_letters");
        assert_eq!(page.letters.len(), expected);
        seen.extend(page.letters.into_iter().map(|letter| letter.id));
        after = page.next;
    }
    assert_eq!((seen, after), (wanted, None));
}

checks! { dead_letter_list:
    each_condition_of_a_filter_counts,
    pages_are_whole_while_letters_come_and_go,
    one_call_looks_at_a_bounded_number,
    a_filter_fills_its_pages_and_goes_on_where_it_was,
}
