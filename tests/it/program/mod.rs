//! Whole programs: processes that are started, signalled, killed and asked, as users and supervisors do.

mod by_hand;
mod chaos;
mod cli;
mod crash;
mod enqueue;
mod examples;
mod fencing;
mod poison;
mod process;
mod settings;
mod signals;
mod takeover;
mod ticks;
mod words;

use std::time::Duration;

use dtq::store::EventQuery;
use dtq::types::{EventCursor, EventKind, NewTask, TaskId};
use dtq::{Client, Handle};
use dtq_tests::{TempDir, World, eventually, task};

pub(crate) use crate::worker::on_both_stores;
pub(crate) use process::{Ended, Program, run};

/// How long a result is waited for.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// What a test of a program has: a store's URL, a client of it, and a folder that tasks tell things in.
pub(crate) struct Desk {
    pub(crate) url: String,
    pub(crate) client: Client,
    pub(crate) folder: TempDir,
}

impl Desk {
    /// On a world's data, but by the machine's clock, as the program under test.
    pub(crate) fn new(w: &World) -> Self {
        let place = w.place();
        Self::at(if place.contains("://") { place } else { format!("sqlite:{place}") })
    }

    /// On the store that a URL names.
    pub(crate) fn at(url: String) -> Self {
        Self { client: Client::connect(&url).unwrap(), url, folder: TempDir::new() }
    }

    /// Starts a worker with these arguments, and waits until it listens to signals.
    pub(crate) async fn worker(&self, arguments: &[&str]) -> Program {
        let program = Program::start(Program::command(arguments).env("DTQ_URL", &self.url));
        program.logs("worker starts", 1).await;
        program
    }

    /// Enqueues a task that takes this desk's folder.
    pub(crate) async fn enqueue<T>(&self, name: &str) -> Handle<T> {
        self.enqueue_with(name, 5).await
    }

    /// Enqueues a task that takes this desk's folder and may run so often.
    pub(crate) async fn enqueue_with<T>(&self, name: &str, max_attempts: u32) -> Handle<T> {
        let payload = serde_json::json!({ "folder": self.folder.path() }).to_string();
        self.send(task(name).payload(payload).max_attempts(max_attempts).build()).await
    }

    /// Enqueues a task that acts as it is told to, in this desk's folder.
    pub(crate) async fn acts(&self, how: &str) -> Handle<u32> {
        let payload = serde_json::json!({ "folder": self.folder.path(), "how": how }).to_string();
        self.send(task("acts").payload(payload).build()).await
    }

    /// Enqueues a task that ends at once.
    pub(crate) async fn quick(&self, n: u64) -> Handle<u64> {
        self.send(task("quick").payload(serde_json::json!({ "n": n }).to_string()).build()).await
    }

    /// The same where the store may be away.
    pub(crate) async fn try_quick(&self, n: u64) -> Option<Handle<u64>> {
        let task = task("quick").payload(serde_json::json!({ "n": n }).to_string()).build();
        let id = self.client.enqueue_raw(vec![task]).await.ok()?[0].id().clone();
        Some(self.client.handle(id))
    }

    /// Enqueues tasks that run for so long each, with the numbers from `first` on.
    pub(crate) async fn naps(&self, first: u64, count: u64, millis: u64) -> Vec<Handle<u64>> {
        let payload = |n| serde_json::json!({ "folder": self.folder.path(), "n": n, "millis": millis }).to_string();
        let tasks = (first..first + count).map(|n| task("nap").payload(payload(n)).build()).collect();
        let handles = self.client.enqueue_raw(tasks).await.unwrap();
        handles.iter().map(|handle| self.client.handle(handle.id().clone())).collect()
    }

    /// How often a task told this.
    pub(crate) fn count(&self, line: &str) -> usize {
        self.told().iter().filter(|told| *told == line).count()
    }

    pub(crate) async fn send<T>(&self, task: NewTask) -> Handle<T> {
        let id: TaskId = self.client.enqueue_raw(vec![task]).await.unwrap()[0].id().clone();
        self.client.handle(id)
    }

    /// Waits until a worker has run a task that became due this much later.
    pub(crate) async fn passes(&self, time: Duration) {
        let late = task("quick").payload(r#"{"n":7}"#).delay(time).build();
        assert_eq!(self.send::<u64>(late).await.result(PATIENCE).await.unwrap(), 7);
    }

    /// What happened to a task, in order.
    pub(crate) async fn events(&self, id: &TaskId) -> Vec<EventKind> {
        let (queues, after) = (vec![id.queue().clone()], EventCursor::start());
        let page = self.client.events(EventQuery { queues, after, limit: 500, wait: Duration::ZERO }).await.unwrap();
        page.events.into_iter().filter(|event| event.task.as_ref() == Some(id)).map(|event| event.kind).collect()
    }

    /// What tasks told.
    pub(crate) fn told(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.folder.path().join("told")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Waits until a task told this.
    pub(crate) async fn tells(&self, line: &str) {
        let told = || async { self.told().iter().any(|told| told == line).then_some(()) };
        eventually(&format!("a task tells {line:?}"), told).await;
    }

    /// Lets slow tasks end.
    pub(crate) fn release(&self) {
        std::fs::write(self.folder.path().join("release"), "").unwrap();
    }
}
