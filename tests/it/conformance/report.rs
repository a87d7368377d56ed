//! What running tasks tell of themselves: progress, lines of a log, checkpoints.

use std::time::Duration;

use bytes::Bytes;
use dtq::store::{Report, Verdict};
use dtq::types::{Delivery, Lease, LogLine, Policy, Share, Status};
use dtq_tests::{LEASE, RETENTION, World, failure, task, worker};

const MINUTE: Duration = Duration::from_secs(60);

fn silent(of: &Delivery) -> Report {
    Report { lease: of.lease.clone(), progress: None, lines: Vec::new(), first_line: 0, checkpoint: None }
}

fn progress(of: &Delivery, done: f64, message: &str) -> Report {
    Report { progress: Some((Share::of(done), message.to_owned())), ..silent(of) }
}

fn lines(of: &Delivery, first_line: u64, lines: &[&str]) -> Report {
    Report { lines: lines.iter().map(ToString::to_string).collect(), first_line, ..silent(of) }
}

fn checkpoint(of: &Delivery, state: &'static str) -> Report {
    Report { checkpoint: Some(Bytes::from_static(state.as_bytes())), ..silent(of) }
}

async fn tell(w: &World, reports: Vec<Report>) -> Vec<bool> {
    w.store().report(reports).await.unwrap()
}

fn texts(log: &[LogLine]) -> Vec<(u32, &str)> {
    log.iter().map(|line| (line.attempt, line.text.as_str())).collect()
}

async fn assert_tells_all(w: &World, of: &Delivery) {
    let record = w.record(&of.lease.task).await;
    let told = record.progress.unwrap_or_else(|| panic!("no progress of a task that is {}", record.status));
    assert_eq!((told.done, told.message.as_str(), told.attempt), (Share::of(0.5), "half", 1), "{}", record.status);
    assert_eq!(texts(&record.log), [(1, "a line")], "{}", record.status);
    assert_eq!(record.checkpoint.as_deref(), Some(&b"[7]"[..]), "{}", record.status);
}

pub(crate) async fn what_a_running_task_tells_is_in_its_record(w: &World) {
    let held = w.running(task("a")).await;
    let before = w.record(&held.lease.task).await;
    assert_eq!((before.progress, before.log, before.checkpoint), (None, vec![], None));
    w.advance(MINUTE);
    w.tell_all(&held).await;
    assert_tells_all(w, &held).await;
    let record = w.record(&held.lease.task).await;
    w.assert_passed(record.progress.unwrap().at.since(record.enqueued_at), MINUTE);
    w.assert_passed(record.log[0].at.since(record.enqueued_at), MINUTE);
    assert_eq!(record.status, Status::Running);
}

pub(crate) async fn a_later_word_takes_the_place_of_an_earlier_one(w: &World) {
    let held = w.running(task("a")).await;
    tell(w, vec![progress(&held, 0.1, "first"), checkpoint(&held, "1")]).await;
    tell(w, vec![progress(&held, 0.2, "second")]).await;
    let record = w.record(&held.lease.task).await;
    let told = record.progress.unwrap();
    assert_eq!((told.done, told.message.as_str()), (Share::of(0.2), "second"));
    assert_eq!(record.checkpoint.as_deref(), Some(&b"1"[..]), "not touched by a report without one");
    tell(w, vec![checkpoint(&held, "2"), checkpoint(&held, "")]).await;
    assert_eq!(w.record(&held.lease.task).await.checkpoint.as_deref(), Some(&b""[..]), "an empty one is one");
}

pub(crate) async fn any_text_survives(w: &World) {
    let held = w.running(task("a")).await;
    let nasty = ["", " ", "a\nb\r\n", "nul \0 in it", "é \u{1F600} \u{2028}", "h5:x p9:", "\\n"];
    for (n, text) in nasty.iter().enumerate() {
        let all = Report { progress: Some((Share::of(1.0), text.to_string())), ..lines(&held, n as u64, &[text]) };
        tell(w, vec![all]).await;
        assert_eq!(w.record(&held.lease.task).await.progress.unwrap().message, *text);
    }
    let log = w.record(&held.lease.task).await.log;
    assert_eq!(log.iter().map(|line| line.text.as_str()).collect::<Vec<_>>(), nasty);
    let bytes: Vec<u8> = (0..=255).collect();
    tell(w, vec![Report { checkpoint: Some(bytes.clone().into()), ..silent(&held) }]).await;
    assert_eq!(w.record(&held.lease.task).await.checkpoint.as_deref(), Some(&bytes[..]));
    w.succeed(&held).await;
}

pub(crate) async fn only_the_latest_lines_are_kept(w: &World) {
    let held = w.running(task("a")).await;
    for n in 0..25_u64 {
        let texts: Vec<_> = (0..10).map(|m| format!("line {}", n * 10 + m)).collect();
        tell(w, vec![Report { lines: texts, first_line: n * 10, ..silent(&held) }]).await;
    }
    let log = w.record(&held.lease.task).await.log;
    assert_eq!(log.len(), LogLine::KEPT);
    assert_eq!((log[0].text.as_str(), log[99].text.as_str()), ("line 150", "line 249"));
}

pub(crate) async fn a_report_sent_twice_writes_no_line_twice(w: &World) {
    let held = w.running(task("a")).await;
    for _ in 0..2 {
        assert_eq!(tell(w, vec![lines(&held, 0, &["one", "two"])]).await, [true]);
    }
    // A part of it was written before, and some were left out because there were too many.
    tell(w, vec![lines(&held, 1, &["two", "three"]), lines(&held, 9, &["ten"])]).await;
    tell(w, vec![lines(&held, 9, &["ten"])]).await;
    let record = w.record(&held.lease.task).await;
    assert_eq!(texts(&record.log), [(1, "one"), (1, "two"), (1, "three"), (1, "ten")]);
}

pub(crate) async fn what_was_told_stays_through_every_move(w: &World) {
    let ways: [(&str, Verdict); 3] = [
        ("retry", Verdict::Retry { delay: MINUTE, failure: failure("x") }),
        ("snooze", Verdict::Snooze { delay: MINUTE }),
        ("release", Verdict::Release),
    ];
    for (queue, verdict) in ways {
        let held = w.running(task("a").queue(queue)).await;
        assert!(!held.resumes);
        w.tell_all(&held).await;
        w.settle(&held, verdict).await;
        assert_tells_all(w, &held).await;
        w.advance(MINUTE);
        let next = w.claim_one_of(queue).await;
        assert!(next.resumes, "{queue}: the next attempt is told that there is a checkpoint");
        assert_tells_all(w, &held).await;
        w.renew(&[&next.lease]).await;
        w.cancel(&held.lease.task).await;
        assert_tells_all(w, &held).await;
        w.succeed(&next).await;
        assert_tells_all(w, &held).await;
    }
}

pub(crate) async fn a_taken_over_task_has_what_the_lost_worker_told(w: &World) {
    let lost = w.running(task("a")).await;
    w.tell_all(&lost).await;
    w.advance(LEASE * 2);
    let next = w.sweep(1).await.remove(0);
    assert!(next.resumes && next.reclaimed);
    assert_tells_all(w, &lost).await;
    let late = Report { lines: vec!["late".into()], checkpoint: Some("[8]".into()), ..progress(&lost, 0.9, "late") };
    assert_eq!(tell(w, vec![late, progress(&next, 0.6, "goes on"), lines(&next, 0, &["on"])]).await, [false, true, true]);
    let record = w.record(&lost.lease.task).await;
    let told = record.progress.unwrap();
    assert_eq!((told.attempt, told.message.as_str()), (2, "goes on"));
    assert_eq!(texts(&record.log), [(1, "a line"), (2, "on")]);
    assert_eq!(record.checkpoint.as_deref(), Some(&b"[7]"[..]));
}

pub(crate) async fn a_task_handed_out_again_unheard_has_its_checkpoint(w: &World) {
    let held = w.running(task("a")).await;
    w.tell_all(&held).await;
    let claim = dtq::store::Claim { holding: Some(vec![]), ..dtq_tests::want(1) };
    let again = w.claim_with(claim).await.deliveries.remove(0);
    assert!(again.resumes);
    w.succeed(&again).await;
}

pub(crate) async fn a_stranger_writes_nothing(w: &World) {
    let held = w.running(task("a")).await;
    let id = held.lease.task.clone();
    let strangers = [
        Lease { attempt: 2, ..held.lease.clone() },
        Lease { token: "made up".into(), ..held.lease.clone() },
        Lease { task: dtq::types::TaskId::generate(id.queue().clone()), ..held.lease.clone() },
        Lease { task: dtq::types::TaskId::generate(dtq_tests::queue("never")), ..held.lease.clone() },
    ];
    for lease in strangers {
        let told = Report { lease, checkpoint: Some("1".into()), ..lines(&held, 0, &["x"]) };
        assert_eq!(tell(w, vec![told]).await, [false]);
    }
    let ended = w.running(task("b").queue("ended")).await;
    w.succeed(&ended).await;
    let before = (w.snapshot(&id).await, w.snapshot(&ended.lease.task).await);
    assert_eq!(tell(w, vec![progress(&ended, 0.1, "late")]).await, [false]);
    assert_eq!((w.snapshot(&id).await, w.snapshot(&ended.lease.task).await), before);
    assert_eq!(before.0.record.unwrap().progress, None);
    assert_eq!(w.store().report(vec![]).await.unwrap(), [false; 0]);
}

pub(crate) async fn reports_of_many_tasks_and_queues_are_answered_in_order(w: &World) {
    let mut held = Vec::new();
    for n in 0..150 {
        held.push(w.running(task("a").queue(["x", "y", "z"][n % 3])).await);
    }
    w.succeed(&held[77]).await;
    let reports = held.iter().enumerate().map(|(n, it)| progress(it, 0.5, &n.to_string())).collect();
    let answers = tell(w, reports).await;
    assert_eq!(answers.iter().enumerate().filter(|(_, kept)| !**kept).map(|(n, _)| n).collect::<Vec<_>>(), [77]);
    for (n, it) in held.iter().enumerate().filter(|(n, _)| *n != 77) {
        assert_eq!(w.record(&it.lease.task).await.progress.unwrap().message, n.to_string());
    }
}

pub(crate) async fn what_was_told_goes_with_the_record(w: &World) {
    for status in Status::ALL.into_iter().filter(|status| status.is_terminal()) {
        let held = w.running(match status {
            Status::Failed => task("a").no_dead_letter(),
            Status::Expired => task("a").ttl(MINUTE),
            _ => task("a"),
        });
        let held = held.await;
        w.tell_all(&held).await;
        match status {
            Status::Succeeded => w.succeed(&held).await,
            Status::Cancelled => w.drop_task(&held).await,
            Status::Expired => {
                w.snooze(&held, MINUTE * 2).await;
                w.advance(MINUTE * 2);
                assert!(w.claim(1).await.is_empty());
            }
            _ => w.fail(&held).await,
        }
        assert_eq!(w.status(&held.lease.task).await, status);
        assert_tells_all(w, &held).await;
        let kept = if status == Status::DeadLettered { Policy::DEAD_LETTER_RETENTION } else { RETENTION };
        w.advance(kept + MINUTE);
        assert_eq!(w.get(&held.lease.task).await, None, "{status}");
        // The same id again, and nothing of the former task.
        let again = w.enqueue(task("a").id(&held.lease.task)).await;
        let record = w.record(&again).await;
        assert_eq!((record.progress, record.log, record.checkpoint), (None, vec![], None), "{status}");
        let next = w.claim_with(dtq::store::Claim { worker: worker("w3"), ..dtq_tests::want(1) }).await;
        assert!(!next.deliveries[0].resumes, "{status}");
        w.succeed(&next.deliveries[0]).await;
    }
}

checks! {
    report:
    what_a_running_task_tells_is_in_its_record,
    a_later_word_takes_the_place_of_an_earlier_one,
    any_text_survives,
    only_the_latest_lines_are_kept,
    a_report_sent_twice_writes_no_line_twice,
    what_was_told_stays_through_every_move,
    a_taken_over_task_has_what_the_lost_worker_told,
    a_task_handed_out_again_unheard_has_its_checkpoint,
    a_stranger_writes_nothing,
    reports_of_many_tasks_and_queues_are_answered_in_order,
    what_was_told_goes_with_the_record,
}
