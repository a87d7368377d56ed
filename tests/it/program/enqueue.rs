//! `enqueue` in a user's program: what is stored, what is answered, and what is refused before anything is stored.

use std::time::Duration;

use dtq::types::{QueueName, Status, TaskId, Timestamp};
use dtq_tests::World;
use serde_json::Value;

use super::{Desk, Ended, PATIENCE, Program, on_both_stores, run};

impl Desk {
    /// Runs the program's `enqueue` on this desk's store.
    fn enqueues(&self, arguments: &[&str]) -> Ended {
        run(Program::command(&[&["enqueue"], arguments].concat()).env("DTQ_URL", &self.url))
    }

    async fn total(&self, queue: &str) -> u64 {
        let stats = self.client.stats(&QueueName::new(queue).unwrap()).await.unwrap();
        stats.pending + stats.queued + stats.running
    }
}

async fn what_is_enqueued_by_hand_runs(w: &World) {
    let desk = Desk::new(w);
    let ended = desk.enqueues(&["quick", r#"{"n": 17}"#]);
    assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""), "{ended:?}");
    // Nothing but the id, for scripts.
    let id: TaskId = ended.out.strip_suffix('\n').unwrap().parse().unwrap();
    let _worker = desk.worker(&[]).await;
    assert_eq!(desk.client.handle::<u64>(id).result(PATIENCE).await.unwrap(), 17);
}

async fn options_given_by_hand_are_the_tasks(w: &World) {
    let desk = Desk::new(w);
    let options = ["--queue", "by-hand", "--priority", "9", "--delay", "1h", "--max-attempts", "2", "--json"];
    let ended = desk.enqueues(&[&["quick", r#"{"n":1}"#], options.as_slice()].concat());
    let answer: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(
        (&answer["task"], &answer["queue"], &answer["created"]),
        (&"quick".into(), &"by-hand".into(), &true.into())
    );
    let id: TaskId = answer["id"].as_str().unwrap().parse().unwrap();
    let record = desk.client.get(&id).await.unwrap().unwrap();
    assert_eq!((record.status, record.priority.level(), record.policy.max_attempts), (Status::Pending, 9, 2));
    assert_eq!(record.payload, r#"{"n":1}"#);
    let wait = record.due_at.unwrap().as_millis() - record.enqueued_at.as_millis();
    assert_eq!(Duration::from_millis(wait.try_into().unwrap()), Duration::from_secs(3600));
}

async fn a_time_and_a_time_to_live_can_be_given_by_hand(w: &World) {
    let desk = Desk::new(w);
    let record = async |options: &[&str]| {
        let ended = desk.enqueues(&[&["quick", r#"{"n":1}"#], options].concat());
        let id: TaskId = ended.out.trim().parse().unwrap_or_else(|_| panic!("{ended:?}"));
        desk.client.get(&id).await.unwrap().unwrap()
    };
    // Within the longest delay, whenever this runs.
    let soon = Timestamp::from(std::time::SystemTime::now() + Duration::from_secs(86_400));
    let at = soon.to_string();
    let later = record(&["--at", &at]).await;
    assert_eq!((later.status, later.due_at, later.policy.ttl), (Status::Pending, Some(soon), None));
    let now = record(&["--at", "2026-05-01T08:00:00Z", "--ttl", "1h"]).await;
    assert_eq!((now.status, now.policy.ttl), (Status::Queued, Some(Duration::from_secs(3600))));
}

async fn the_same_id_enqueued_twice_by_hand_is_one_task(w: &World) {
    let desk = Desk::new(w);
    let id = TaskId::generate(QueueName::new("ids").unwrap()).to_string();
    let created = |ended: Ended| serde_json::from_str::<Value>(&ended.out).unwrap()["created"].as_bool().unwrap();
    let arguments = ["quick", r#"{"n":1}"#, "--json", "--id", &id];
    assert!(created(desk.enqueues(&arguments)));
    assert!(!created(desk.enqueues(&arguments)));
    assert_eq!(desk.total("ids").await, 1, "the id's queue, and once");
    let ended = desk.enqueues(&[&arguments[..], &["--queue", "other"]].concat());
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.err.contains("is not of the queue \"other\""), "{ended:?}");
}

async fn a_tasks_own_keys_hold_by_hand_too(w: &World) {
    let desk = Desk::new(w);
    let (first, other) = (desk.enqueues(&["keyed", r#"{"n":1}"#]), desk.enqueues(&["keyed", r#"{"n":2}"#]));
    assert_eq!((first.code, other.code), (Some(0), Some(0)), "{first:?} {other:?}");
    let again = desk.enqueues(&["keyed", r#"{"n":1}"#]);
    assert_eq!((again.code, again.out.as_str()), (Some(1), ""), "{again:?}");
    assert!(again.err.contains("\"n-1\" is in use: its task") && again.err.contains(first.out.trim()), "{again:?}");
    let id: TaskId = first.out.trim().parse().unwrap();
    let _worker = desk.worker(&[]).await;
    assert_eq!(desk.client.handle::<u64>(id).result(PATIENCE).await.unwrap(), 1);
    let finished = desk.enqueues(&["keyed", r#"{"n":1}"#, "--json"]);
    let answer: Value = serde_json::from_str(&finished.out).unwrap();
    assert_eq!((&answer["id"], &answer["created"]), (&first.out.trim().into(), &false.into()));
}

async fn what_does_not_fit_is_refused_and_not_stored(w: &World) {
    let desk = Desk::new(w);
    for (arguments, words) in [
        (vec!["quik", "{}"], vec!["no task is named \"quik\"", "did you mean \"quick\"?", "`tasks`"]),
        (vec!["nothing-like-it"], vec!["no task is named \"nothing-like-it\""]),
        (vec!["quick"], vec!["task \"quick\"", "the argument `n` is missing"]),
        (vec!["nap", r#"{"n":1,"milis":1}"#], vec!["unknown argument `milis`: did you mean `millis`?"]),
        (vec!["quick", r#"{"n":"1"}"#], vec!["the argument `n`: invalid type: string \"1\", expected u64"]),
        (vec!["quick", r#"{"n":1"#], vec!["not a JSON object such as {\"n\": ..}", "EOF"]),
        (vec!["quick", "7"], vec!["not a JSON object such as {\"n\": ..}"]),
        (vec!["quick", r#"{"n":1}"#, "--priority", "10"], vec!["task \"quick\"", "priority 10 is out of range"]),
        (vec!["quick", r#"{"n":1}"#, "--max-attempts", "0"], vec!["max_attempts", "at least 1"]),
        (vec!["quick", r#"{"n":1}"#, "--delay", "soon"], vec!["--delay", "soon"]),
        (vec!["quick", r#"{"n":1}"#, "--delay", "10000d"], vec!["a delay of", "longer than the limit"]),
        (vec!["quick", r#"{"n":1}"#, "--at", "noon"], vec!["--at", "noon", "write a time in UTC"]),
        (vec!["quick", r#"{"n":1}"#, "--at", "2026-05-01T08:00:00Z", "--delay", "1h"], vec!["--at", "--delay"]),
        (vec!["quick", r#"{"n":1}"#, "--queue", "no queue"], vec!["\"no queue\" is not usable"]),
        (vec!["quick", r#"{"n":1}"#, "--id", "17"], vec!["--id", "is not a task id"]),
    ] {
        let ended = desk.enqueues(&arguments);
        assert_eq!((ended.code, ended.out.as_str()), (Some(2), ""), "{arguments:?}: {ended:?}");
        for word in words {
            assert!(ended.err.contains(word), "{arguments:?}: {word:?} is not in {}", ended.err);
        }
    }
    assert!(desk.client.queues().await.unwrap().is_empty(), "nothing was stored");
}

on_both_stores!(
    what_is_enqueued_by_hand_runs,
    options_given_by_hand_are_the_tasks,
    a_time_and_a_time_to_live_can_be_given_by_hand,
    the_same_id_enqueued_twice_by_hand_is_one_task,
    a_tasks_own_keys_hold_by_hand_too,
    what_does_not_fit_is_refused_and_not_stored,
);

#[test]
fn a_store_that_is_away_is_a_failure_at_work() {
    let url = [("DTQ_URL", "redis://:hunter2@127.0.0.1:1/")];
    let ended = run(Program::command(&["enqueue", "quick", r#"{"n":1}"#]).envs(url));
    assert_eq!((ended.code, ended.out.as_str()), (Some(1), ""), "{ended:?}");
    assert!(ended.err.contains("127.0.0.1:1") && !ended.err.contains("hunter2"), "{ended:?}");
    let ended = run(Program::command(&["enqueue", "quick", r#"{"n":1}"#]).env("DTQ_URL", "amqp://host"));
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.err.contains("url (from DTQ_URL)"), "{ended:?}");
}

#[test]
fn set_up_does_not_run_for_a_task_that_was_linked() {
    let ended = run(Program::command(&["tasks"]).env("E2E_SET_UP", "it ran"));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for arguments in [&["tasks", "--set-up"][..], &["enqueue", "by-hand-only"]] {
        let ended = run(Program::command(arguments).env("E2E_SET_UP", "it ran"));
        assert_eq!((ended.code, ended.err.as_str()), (Some(3), "e2e_worker: set-up: it ran\n"), "{arguments:?}");
    }
}
