//! A worker of the fleet, in a process of its own.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use dtq::store::Store;
use dtq::store::redis::{RedisOptions, RedisStore};
use dtq::store::sqlite::{SqliteOptions, SqliteStore, Synchronous};
use dtq::types::QueueName;
use dtq::{App, Client, Worker, WorkerConfig};
use tokio::signal::unix::{SignalKind, signal};

use crate::args::{PlaceArgs, WorkerArgs};
use crate::ledger::{Entry, Ledger, SECOND, now};
use crate::plan::QUEUES;

pub(crate) const LEASE: Duration = Duration::from_secs(2);
/// How long a call of a member waits for Redis: shorter than most black holes, so that answers get lost.
pub(crate) const RESPONSE_TIMEOUT: Duration = Duration::from_secs(2);

pub(crate) async fn run(args: &WorkerArgs) -> anyhow::Result<()> {
    end_with_parent();
    let mut terminate = signal(SignalKind::terminate())?;
    let client = connect(&args.place).await;
    let ledger = args.place.open_ledger()?;
    watch_for_pauses(args.place.open_ledger()?)?;
    let mut app = App::new();
    app.state(ledger);
    let running = Worker::new(client, app, config()?)?.start().await?;
    terminate.recv().await;
    running.stop().await;
    Ok(())
}

fn config() -> anyhow::Result<WorkerConfig> {
    let queues = QUEUES.iter().map(|name| QueueName::new(name)).collect::<Result<Vec<_>, _>>()?;
    let config = WorkerConfig::new().weighted_queues(queues.into_iter().map(|queue| (queue, 1)));
    let mut config = config.concurrency(16).lease(LEASE).drain_timeout(Duration::from_millis(100));
    config.cancel_grace = Duration::from_millis(500);
    config.heartbeat = Duration::from_millis(500);
    Ok(config)
}

impl PlaceArgs {
    pub(crate) fn open_ledger(&self) -> anyhow::Result<Ledger> {
        Ledger::open(&self.ledger, &self.name)
    }
}

/// A client; a store that cannot be opened now is waited for.
pub(crate) async fn connect(place: &PlaceArgs) -> Client {
    loop {
        match open(&place.url, place.normal) {
            Ok(client) => return client,
            Err(error) => eprintln!("{error}"),
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Opens the store of a run. Its event log is large: the oracle reads along, and must not fall behind.
pub(crate) fn open(url: &str, normal: bool) -> anyhow::Result<Client> {
    let store: Arc<dyn Store> = match url.strip_prefix("sqlite:") {
        Some(path) => {
            let synchronous = if normal { Synchronous::Normal } else { Synchronous::Full };
            let options = SqliteOptions { synchronous, event_log: 10_000_000, ..SqliteOptions::default() };
            Arc::new(SqliteStore::open(Path::new(path), options)?)
        }
        None => {
            let (response_timeout, connect_timeout) = (RESPONSE_TIMEOUT, RESPONSE_TIMEOUT);
            let options =
                RedisOptions { response_timeout, connect_timeout, event_log: 1 << 17, ..RedisOptions::default() };
            Arc::new(RedisStore::connect(url, options)?)
        }
    };
    Ok(Client::with_store(store))
}

/// Ends this process when the one that started it is gone: its standard input is a pipe that nobody writes to.
pub(crate) fn end_with_parent() {
    std::thread::spawn(|| {
        // Whatever it gives, nobody is there any more.
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        std::process::exit(1);
    });
}

/// Notes when this process could not run for a quarter of a lease: stopped, or starved by a busy machine.
fn watch_for_pauses(ledger: Ledger) -> std::io::Result<()> {
    let watch = move || {
        let mut last = now();
        loop {
            std::thread::sleep(Duration::from_millis(100));
            let this = now();
            if this - last > SECOND / 2 {
                ledger.write(&Entry::Paused { from: last, to: this });
            }
            last = this;
        }
    };
    std::thread::Builder::new().name("pauses".into()).spawn(watch).map(drop)
}
