//! Bytes and texts that come out as they went in.

use std::time::Duration;

use bytes::Bytes;
use dtq::store::{CancelRequest, Verdict};
use dtq::types::{By, ErrorKind, Failure, Record, Status};
use dtq_tests::{World, task};

/// Texts that have broken task queues before.
const ODD: [&str; 9] = [
    "a\0b",
    "\0",
    "line\r\nline\r\n",
    "$5\r\nhello\r\n*1\r\n",
    "emoji 🦀👩‍👩‍👧, עברית, e\u{301}",
    "\u{2028}\u{feff}\u{202e}\u{10ffff}",
    "'; DROP TABLE tasks; -- \" ` \\ %s {} ?1 :a @b $c",
    "\u{1b}[31mred\u{7}\u{8}\u{7f}",
    "",
];

fn every_byte() -> Bytes {
    (0..=255_u8).cycle().take(1024).collect::<Vec<_>>().into()
}

async fn round_trip(w: &World, payload: Bytes) {
    let id = w.enqueue(task("a").payload(payload.clone())).await;
    assert_eq!(w.record(&id).await.payload, payload);
    let first = w.claim_one().await;
    assert_eq!(first.payload, payload);
    w.retry(&first, Duration::ZERO).await;
    let second = w.claim_one().await;
    assert_eq!(second.payload, payload, "after a retry");
    w.snooze(&second, Duration::ZERO).await;
    let third = w.claim_one().await;
    assert_eq!(third.payload, payload, "after a snooze");
    w.release(&third).await;
    let fourth = w.claim_one().await;
    assert_eq!(fourth.payload, payload, "after a release");
    w.advance(dtq_tests::LEASE * 2);
    let fifth = w.sweep(1).await.remove(0);
    assert_eq!(fifth.payload, payload, "after a takeover");
    w.settle_to(&fifth, Verdict::Succeeded { result: Some(payload.clone()) }, Status::Succeeded).await;
    let Record { result, payload: kept, .. } = w.record(&id).await;
    assert_eq!(kept, payload);
    if !payload.is_empty() {
        assert_eq!(result, Some(payload), "as a result");
    }
}

pub(crate) async fn odd_texts_come_through_a_whole_life(w: &World) {
    for text in ODD {
        round_trip(w, Bytes::from_static(text.as_bytes())).await;
    }
}

pub(crate) async fn any_bytes_come_through_a_whole_life(w: &World) {
    round_trip(w, every_byte()).await;
    round_trip(w, Bytes::from_static(b"\xff\xfe\xc3\x28\xed\xa0\x80")).await;
}

pub(crate) async fn a_megabyte_comes_through_a_whole_life(w: &World) {
    let bytes: Vec<u8> = (0..1_048_576_u32).map(|n| u8::try_from(n.wrapping_mul(2_654_435_761) >> 24).unwrap()).collect();
    round_trip(w, bytes.into()).await;
}

pub(crate) async fn numbers_and_empty_containers_are_not_touched(w: &World) {
    let json = r#"{"a":9007199254740993,"b":18446744073709551615,"c":-0.0,"d":1e-320,"e":[],"f":{},"g":null,"h":1.0}"#;
    round_trip(w, Bytes::from_static(json.as_bytes())).await;
}

pub(crate) async fn a_delayed_payload_comes_through(w: &World) {
    let id = w.enqueue(task("a").payload(every_byte()).delay(Duration::from_secs(60))).await;
    assert_eq!(w.record(&id).await.payload, every_byte());
    w.advance(Duration::from_secs(60));
    assert_eq!(w.claim_one().await.payload, every_byte());
}

pub(crate) async fn odd_error_texts_never_block_a_retry(w: &World) {
    for text in ODD {
        let delivery = w.running(task("a")).await;
        let failure = Failure::new(ErrorKind::Panic, text);
        let verdict = Verdict::Retry { delay: Duration::from_secs(3600), failure: failure.clone() };
        w.settle_to(&delivery, verdict, Status::Retrying).await;
        assert_eq!(w.record(&delivery.lease.task).await.last_failure(), Some(&failure));
    }
}

pub(crate) async fn odd_error_texts_never_block_a_dead_letter(w: &World) {
    for text in ODD {
        let delivery = w.running(task("a")).await;
        let failure = Failure::new(ErrorKind::Error, text);
        w.settle_to(&delivery, Verdict::Failed { failure: failure.clone() }, Status::DeadLettered).await;
        assert_eq!(w.dead_letters().await.last().unwrap().failure, failure);
        assert_eq!(w.record(&delivery.lease.task).await.last_failure(), Some(&failure));
    }
}

pub(crate) async fn the_longest_error_text_is_kept_whole(w: &World) {
    let delivery = w.running(task("a")).await;
    let failure = Failure::new(ErrorKind::Error, "é".repeat(4000));
    w.settle(&delivery, Verdict::Failed { failure: failure.clone() }).await;
    assert_eq!(w.record(&delivery.lease.task).await.last_failure(), Some(&failure));
    assert_eq!(w.dead_letters().await[0].failure, failure);
}

pub(crate) async fn odd_reasons_never_block_a_cancellation(w: &World) {
    for text in ODD {
        let held = w.running(task("a")).await;
        let request = CancelRequest { id: held.lease.task.clone(), by: By::new("tests", text) };
        w.store().cancel(request).await.unwrap();
        let told = w.renew(&[&held.lease]).await.remove(0);
        assert_eq!(told, dtq::store::Renewed::CancelRequested(text.into()));
        w.settle_to(&held, Verdict::Cancelled { reason: text.into() }, Status::Cancelled).await;
        assert_eq!(w.record(&held.lease.task).await.last_failure().unwrap().message, text);
    }
}

pub(crate) async fn the_longest_names_come_through(w: &World) {
    let (task_name, queue_name) = (format!("_{}", "a:".repeat(31)), "Q".repeat(64));
    let id = w.enqueue(task(&task_name).queue(&queue_name)).await;
    assert_eq!(w.record(&id).await.task, task_name);
    assert_eq!(w.claim_one_of(&queue_name).await.task, task_name);
    assert_eq!(w.store().queues().await.unwrap(), [dtq_tests::queue(&queue_name)]);
}

pub(crate) async fn many_payloads_in_one_batch_keep_their_places(w: &World) {
    let payload = |n: usize| Bytes::from(vec![u8::try_from(n).unwrap(); n * 37]);
    let batch = (0..100).map(|n| task("a").payload(payload(n)).build()).collect();
    w.enqueue_all(batch).await;
    for (n, delivery) in w.claim(100).await.into_iter().enumerate() {
        assert_eq!(delivery.payload, payload(n));
    }
}

checks! {
    payload:
    odd_texts_come_through_a_whole_life,
    any_bytes_come_through_a_whole_life,
    a_megabyte_comes_through_a_whole_life,
    numbers_and_empty_containers_are_not_touched,
    a_delayed_payload_comes_through,
    odd_error_texts_never_block_a_retry,
    odd_error_texts_never_block_a_dead_letter,
    the_longest_error_text_is_kept_whole,
    odd_reasons_never_block_a_cancellation,
    the_longest_names_come_through,
    many_payloads_in_one_batch_keep_their_places,
}
