//! The examples, as a reader of the README runs them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use dtq::store::EventQuery;
use dtq::types::{EventCursor, EventKind, QueueName, Status, TaskId};
use dtq_tests::{TempDir, World};

use super::{Desk, Program, on_both_stores, run};

/// An example's program.
pub(super) fn example(name: &str) -> String {
    let debug = Path::new(env!("CARGO_BIN_EXE_e2e_worker")).parent().unwrap();
    let path = debug.join("examples").join(name);
    assert!(path.exists(), "{} is missing: run `cargo build -p dtq-examples --examples` first", path.display());
    path.to_str().unwrap().to_owned()
}

/// A folder with files of several kinds.
fn files() -> TempDir {
    let dir = TempDir::new();
    let write = |name: &str, bytes: &[u8]| {
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    };
    write("empty", b"");
    write("one line.txt", b"hello\n");
    write("deep/er/binary", &(0..200_000_u32).flat_map(u32::to_le_bytes).collect::<Vec<_>>());
    write("deep/é.txt", "naïve\nrésumé".as_bytes());
    for n in 0..40 {
        write(&format!("many/{n}"), "x\n".repeat(n * 100).as_bytes());
    }
    dir
}

/// What the command `sha256sum` says.
fn sha256sums(folder: &Path) -> BTreeMap<PathBuf, String> {
    let output =
        Command::new("sh").args(["-c", "find \"$(pwd -P)\" -type f -exec sha256sum {} +"]).current_dir(folder).output();
    let lines = String::from_utf8(output.unwrap().stdout).unwrap();
    let line = |line: &str| line.split_once("  ").map(|(sum, path)| (path.into(), sum.into()));
    lines.lines().filter_map(line).collect()
}

/// What the tasks of the quickstart found, read from the store.
async fn digests(desk: &Desk) -> BTreeMap<PathBuf, String> {
    let mut digests = BTreeMap::new();
    for id in succeeded(desk, "quickstart").await {
        let record = desk.client.get(&id).await.unwrap().unwrap();
        if record.task == "digest" {
            let found: serde_json::Value = serde_json::from_slice(record.result.as_ref().unwrap()).unwrap();
            let text = |key: &str| found[key].as_str().unwrap().to_owned();
            digests.insert(text("path").into(), text("sha256"));
        }
    }
    digests
}

async fn succeeded(desk: &Desk, queue: &str) -> Vec<TaskId> {
    let mut ids = Vec::new();
    let mut after = EventCursor::start();
    loop {
        let queues = vec![QueueName::new(queue).unwrap()];
        let page = desk.client.events(EventQuery { queues, after, limit: 500, wait: std::time::Duration::ZERO });
        let page = page.await.unwrap();
        if page.events.is_empty() {
            return ids;
        }
        let events = page.events.into_iter().filter(|event| event.kind == EventKind::Succeeded);
        ids.extend(events.filter_map(|event| event.task));
        after = page.next;
    }
}

async fn the_quickstart_digests_a_folder_as_sha256sum_does(w: &World) {
    let desk = Desk::new(w);
    let files = files();
    let path = files.path().to_str().unwrap();
    let ended = run(Program::command_of(&example("quickstart"), &[path]).env("DTQ_URL", &desk.url));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.out.contains("\nok: 46 succeeded, 1 dead-lettered, 0 lost\n"), "{}", ended.out);
    assert!(ended.out.contains("the flaky task succeeded in attempt 3"), "{}", ended.out);
    let expected = sha256sums(files.path());
    assert_eq!(expected.len(), 44);
    assert_eq!(digests(&desk).await, expected);
}

async fn the_quickstart_runs_twice_on_one_store(w: &World) {
    let desk = Desk::new(w);
    let files = files();
    for _ in 0..2 {
        let path = files.path().to_str().unwrap();
        let ended = run(Program::command_of(&example("quickstart"), &[path]).env("DTQ_URL", &desk.url));
        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert!(ended.out.contains("\nok: 46 succeeded"), "{}", ended.out);
    }
}

async fn producer_and_worker_work_together(w: &World) {
    let desk = Desk::new(w);
    let mut command = Program::command_of(&example("worker"), &[]);
    let worker = Program::start(command.env("DTQ_URL", &desk.url).env("SALUTATION", "Ahoy"));
    worker.logs("worker starts", 1).await;
    let url = desk.url.clone();
    let producer =
        tokio::task::spawn_blocking(
            move || run(Program::command_of(&example("producer"), &["25"]).env("DTQ_URL", url)),
        );
    let ended = producer.await.unwrap();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.out.starts_with("25 greetings accepted\n"), "{}", ended.out);
    assert_eq!(ended.out.lines().filter(|line| line.contains("Ahoy, number ")).count(), 25, "{}", ended.out);
    let ids = succeeded(&desk, "greetings").await;
    assert_eq!(ids.len(), 25);
    let record = desk.client.get(&ids[0]).await.unwrap().unwrap();
    assert_eq!((record.status, record.attempt), (Status::Succeeded, 1));
    worker.signal("TERM");
    assert_eq!(worker.exits().await.0, Some(0));
}

on_both_stores! {
    the_quickstart_digests_a_folder_as_sha256sum_does,
    the_quickstart_runs_twice_on_one_store,
    producer_and_worker_work_together,
}
