//! A server, a watch on what it executes, and workers whose one subscriber does what its messages say.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use dtq::__private::SharedState;
use dtq::policy::Ended;
use dtq::registry::HandlerFuture;
use dtq::types::{ErrorKind, Failure, Form, ListForm, StreamForm};
use dtq::{
    AckError, App, Client, Message, MessageCall, RunningWorker, Subscriber, SubscriberDef, SubscriberStats, Worker,
    WorkerConfig,
};
use dtq_tests::{Monitor, RedisServer, ServerKind, eventually};
use tokio::sync::Semaphore;

/// The stream, list or channel of every test.
pub(crate) const KEY: &str = "orders";
/// The consumer group of every test.
pub(crate) const GROUP: &str = "billing";

/// What the handler did, and a gate that it can wait at.
#[derive(Debug, Clone)]
pub(crate) struct Probe(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    notes: Mutex<Vec<String>>,
    gate: Semaphore,
}

impl Probe {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Inner { notes: Mutex::default(), gate: Semaphore::new(0) }))
    }

    pub(crate) fn notes(&self) -> Vec<String> {
        self.0.notes.lock().unwrap().clone()
    }

    fn note(&self, text: String) {
        self.0.notes.lock().unwrap().push(text);
    }

    /// Lets so many messages through.
    pub(crate) fn open(&self, messages: usize) {
        self.0.gate.add_permits(messages);
    }
}

/// The subscriber of these tests: each message says what is to be done with it, and at which attempts.
pub(crate) struct Told;

impl Subscriber for Told {
    const DEF: SubscriberDef = SubscriberDef::new("told", Form::Stream(StreamForm::new(KEY, GROUP)));
    const STATE: &'static [dtq::registry::StateType] = &[Probe::TYPE];

    fn run(call: MessageCall) -> HandlerFuture {
        Box::pin(async move { Probe::of_message(&call.message).clone().handle(&call.message).await })
    }
}

impl Probe {
    /// `ack`, or `retry 2 later`: asks for that until the attempt of that number.
    async fn handle(&self, message: &Message) -> Ended {
        let text = String::from_utf8_lossy(message.payload().map_or(b"none", |payload| payload.as_ref())).into_owned();
        self.note(format!("{text} #{}", message.attempt()));
        let mut words = text.split(' ');
        let what = words.next().unwrap_or_default();
        let until: u32 = words.next().and_then(|word| word.parse().ok()).unwrap_or(u32::MAX);
        let after = words.next().and_then(|word| word.parse().ok()).map(Duration::from_millis);
        let again = |kind| Ended::Again { after, failure: Failure::new(kind, "as it was told") };
        match what {
            _ if message.attempt() > until => Ended::Done(None),
            "retry" => again(ErrorKind::Retry),
            "error" => again(ErrorKind::Error),
            "drop" => Ended::Drop("as it was told".into()),
            "fatal" => Ended::Fatal(Failure::new(ErrorKind::Permanent, "as it was told")),
            "undecodable" => Ended::Fatal(Failure::new(ErrorKind::Undecodable, "as it was told")),
            // By hand: all that can be asked for, and then what the handler returns.
            "hand" => {
                for settled in [message.ack().await, message.retry().await, message.discard().await] {
                    let name = match settled {
                        Ok(()) => "done",
                        Err(AckError::Unsupported { .. }) => "unsupported",
                        Err(AckError::Settled) => "settled",
                        Err(other) => panic!("{other}"),
                    };
                    self.note(format!("hand {name}"));
                }
                Ended::Done(None)
            }
            "again" => {
                message.retry().await.unwrap();
                Ended::Done(None)
            }
            "panic" => panic!("as it was told"),
            "wait" => {
                tokio::select! {
                    permit = self.0.gate.acquire() => permit.unwrap().forget(),
                    () = message.cancellation().cancelled() => self.note(format!("{text} called off")),
                }
                Ended::Done(None)
            }
            _ => Ended::Done(None),
        }
    }
}

/// A server of a test's own.
pub(crate) struct Bench {
    pub(crate) server: RedisServer,
    pub(crate) probe: Probe,
}

impl Bench {
    pub(crate) async fn new() -> Self {
        Self::on(ServerKind::System).await
    }

    pub(crate) async fn on(kind: ServerKind) -> Self {
        Self::of(RedisServer::start_kind(kind, &[]).await)
    }

    pub(crate) fn of(server: RedisServer) -> Self {
        Self { server, probe: Probe::new() }
    }

    /// Starts a worker that reads a form and nothing else.
    pub(crate) async fn worker(&self, form: Form) -> RunningWorker {
        self.worker_with(|def| def.form(form)).await
    }

    /// Starts a worker with these options of its subscriber.
    pub(crate) async fn worker_with(&self, options: impl FnOnce(SubscriberDef) -> SubscriberDef) -> RunningWorker {
        self.worker_of(WorkerConfig::new().concurrency(8), options).await
    }

    pub(crate) async fn worker_of(
        &self,
        mut config: WorkerConfig,
        options: impl FnOnce(SubscriberDef) -> SubscriberDef,
    ) -> RunningWorker {
        config.poll = Duration::from_millis(20);
        let config = config.subscribe_url(self.server.url());
        let mut app = App::new();
        app.only_registered().state(self.probe.clone()).subscribe_with::<Told>(options);
        let client = Client::connect("sqlite::memory:").unwrap();
        let worker = Worker::new(client, app, config).unwrap().start().await.unwrap();
        let ready = worker.readiness();
        eventually("it reads", || async { ready.is_ready().then_some(()) }).await;
        worker
    }

    /// Appends an entry of one field.
    pub(crate) fn append(&self, payload: &str) -> String {
        self.server.command(&["XADD", KEY, "*", "payload", payload])
    }

    /// Pushes a value.
    pub(crate) fn push(&self, value: &str) {
        self.server.command::<()>(&["LPUSH", KEY, value]);
    }

    /// Waits until the handler was given this, with the number of its attempt.
    pub(crate) async fn told(&self, note: &str) {
        self.told_times(note, 1).await;
    }

    pub(crate) async fn told_times(&self, note: &str, times: usize) {
        let seen = || async { (self.count(note) >= times).then_some(()) };
        eventually(&format!("{times} times {note:?} in {:?}", self.probe.notes()), seen).await;
    }

    pub(crate) fn count(&self, note: &str) -> usize {
        self.probe.notes().iter().filter(|seen| *seen == note).count()
    }

    /// Waits until a command answers this.
    pub(crate) async fn answers<T: redis::FromRedisValue + PartialEq>(&self, command: &[&str], expected: T) {
        let asked = || async { (self.server.command::<T>(command) == expected).then_some(()) };
        eventually(&format!("{command:?} answers as expected"), asked).await;
    }

    /// How many entries are pending.
    pub(crate) fn pending(&self) -> i64 {
        let (count, _, _, _): (i64, redis::Value, redis::Value, redis::Value) =
            self.server.command(&["XPENDING", KEY, GROUP]);
        count
    }

    pub(crate) async fn settled(&self) {
        eventually("nothing is pending", || async { (self.pending() == 0).then_some(()) }).await;
    }

    /// Waits until a worker has counted this. It counts when it was answered, so after what its server shows.
    pub(crate) async fn counts(&self, worker: &RunningWorker, what: impl Fn(&SubscriberStats) -> u64, expected: u64) {
        let counted = || async { (what(&worker.subscriber_stats()[0]) == expected).then_some(()) };
        eventually(&format!("{expected} in {:?}", worker.subscriber_stats()), counted).await;
    }

    /// Fields and values of every entry of a stream.
    pub(crate) fn entries(&self, stream: &str) -> Vec<Vec<String>> {
        let entries: Vec<(String, Vec<String>)> = self.server.command(&["XRANGE", stream, "-", "+"]);
        entries.into_iter().map(|(_, fields)| fields).collect()
    }

    pub(crate) fn list(&self, key: &str) -> Vec<String> {
        self.server.command(&["LRANGE", key, "0", "-1"])
    }

    pub(crate) fn monitor(&self) -> Monitor {
        Monitor::start(&self.server)
    }

    /// What was executed that settles, in order: the commands and as many of their first words as tell them apart.
    pub(crate) fn settling(&self, monitor: &mut Monitor) -> Vec<String> {
        let settles = |command: &String| {
            ["XADD", "XACK", "LPUSH", "LREM", "RPUSH", "ZADD", "PUBLISH", "SPUBLISH", "XCLAIM", "ZREM"]
                .iter()
                .any(|name| command.starts_with(&format!("\"{name}\"")))
        };
        let mut seen = monitor.seen(&self.server);
        seen.retain(settles);
        seen.retain(|command| !command.contains(":consumers"));
        seen.into_iter().map(|command| command.replace('"', "")).collect()
    }
}

/// A check for each kind of server: `redis_7`, `valkey_9` and `redis_8`.
macro_rules! on_every_server {
    ($($check:ident),+ $(,)?) => {
        $crate::settlement::bench::on_every_server! { @on redis_7 System $($check)+ }
        $crate::settlement::bench::on_every_server! { @on valkey_9 Valkey9 $($check)+ }
        $crate::settlement::bench::on_every_server! { @on redis_8 Redis8 $($check)+ }
    };
    (@on $name:ident $kind:ident $($check:ident)+) => {
        mod $name {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $check() {
                super::$check(dtq_tests::ServerKind::$kind).await;
            })+
        }
    };
}
pub(crate) use on_every_server;

/// A claiming stream.
pub(crate) fn claiming(idle: Duration) -> Form {
    Form::Claiming(StreamForm::new(KEY, GROUP).min_idle(idle))
}

pub(crate) fn stream() -> Form {
    Form::Stream(StreamForm::new(KEY, GROUP))
}

pub(crate) fn reliable(idle: Duration) -> Form {
    Form::ReliableList(ListForm::new(KEY).min_idle(idle))
}
