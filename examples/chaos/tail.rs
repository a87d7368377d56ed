//! Reads the events along, past all faults but the server's own.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dtq::Client;
use dtq::store::EventQuery;
use dtq::types::{Event, EventCursor, EventKind, QueueName, TaskId};
use tokio::task::JoinHandle;
use tokio::time::sleep;

/// What the events told.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// Duplicate entries and stale settles that were absorbed.
    pub(crate) absorbed: u64,
    /// Attempts that were taken over.
    pub(crate) reclaimed: u64,
    /// How often each task was told to have ended.
    pub(crate) ends: HashMap<TaskId, u32>,
}

/// A reader of events.
pub(crate) struct Tail {
    last: Arc<AtomicBool>,
    reader: JoinHandle<Told>,
}

impl Tail {
    pub(crate) fn start(client: Client, queues: Vec<QueueName>) -> Self {
        let last = Arc::new(AtomicBool::new(false));
        let reader = tokio::spawn(read(client, queues, last.clone()));
        Self { last, reader }
    }

    /// Reads what is left. Nothing may happen any more.
    pub(crate) async fn finish(self) -> anyhow::Result<Told> {
        self.last.store(true, Ordering::Release);
        Ok(tokio::time::timeout(Duration::from_secs(30), self.reader).await??)
    }
}

async fn read(client: Client, queues: Vec<QueueName>, last: Arc<AtomicBool>) -> Told {
    let (mut told, mut after) = (Told::default(), EventCursor::start());
    loop {
        let finish = last.load(Ordering::Acquire);
        let wait = Duration::from_millis(200);
        let query = EventQuery { queues: queues.clone(), after: after.clone(), limit: 1_000, wait };
        match client.events(query).await {
            Ok(page) => {
                if finish && page.events.is_empty() {
                    return told;
                }
                page.events.into_iter().for_each(|event| told.note(event));
                after = page.next;
            }
            Err(_) => sleep(Duration::from_millis(50)).await,
        }
    }
}

impl Told {
    fn note(&mut self, event: Event) {
        match event.kind {
            EventKind::DuplicateAbsorbed => self.absorbed += 1,
            EventKind::Reclaimed => self.reclaimed += 1,
            kind if kind.is_terminal() => {
                if let Some(task) = event.task {
                    *self.ends.entry(task).or_default() += 1;
                }
            }
            _ => {}
        }
    }
}
