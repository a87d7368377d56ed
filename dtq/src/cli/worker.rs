//! `worker`: set up, work, and leave when told to.

use std::process::ExitCode;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

use super::failure::{Done, Failure, exit};
use super::ready_file::ReadyFile;
use super::set_up::SetUp;
use super::settings::Settings;
use super::signals::Signals;
use crate::app::App;
use crate::client::Client;
use crate::runtime::{RunningWorker, Stopped, Worker};

/// Threads for blocking work beside those of plain functions: what tokio itself offers.
const SPARE_THREADS: usize = 512;

/// Signals that follow each other within this time count as one.
const ONE_WISH: Duration = Duration::from_millis(250);

/// A blocking task cannot be stopped; the exit does not wait for it longer than this.
const LAST_BREATH: Duration = Duration::from_millis(100);

pub(super) fn run(
    settings: Settings,
    client: impl FnOnce() -> Done<Client>,
    set_up: impl for<'a> FnOnce(&'a mut App) -> SetUp<'a>,
) -> Done<ExitCode> {
    // Every task may be a plain function, and each of those holds a thread; the rest is for what they call.
    let blocking = settings.worker.concurrency.saturating_add(SPARE_THREADS);
    let handlers =
        Builder::new_multi_thread().enable_all().max_blocking_threads(blocking).build().map_err(Failure::work)?;
    let done = work(&handlers, settings, client, set_up);
    handlers.shutdown_timeout(LAST_BREATH);
    done
}

fn work(
    handlers: &Runtime,
    settings: Settings,
    client: impl FnOnce() -> Done<Client>,
    set_up: impl for<'a> FnOnce(&'a mut App) -> SetUp<'a>,
) -> Done<ExitCode> {
    // First of all: a file from before a crash must not stand for this worker while it sets up.
    let ready_file = settings.ready_file.as_ref().map(ReadyFile::claim).transpose()?;
    let client = client()?;
    client.make_current();
    let mut app = App::new();
    handlers.block_on(set_up(&mut app)).map_err(Failure::set_up)?;
    // Signals and the time limits of the shutdown are on this thread alone: handlers that block every thread of their
    // runtime must not hold the exit.
    let control = Builder::new_current_thread().enable_all().build().map_err(Failure::work)?;
    let mut signals = control.block_on(async { Signals::listen() }).map_err(Failure::work)?;
    let worker = Worker::new(client, app, settings.worker).map_err(Failure::usage)?;
    let starting = handlers.spawn(worker.start());
    let started = control.block_on(async {
        tokio::select! {
            started = starting => Some(started),
            // Nothing runs yet: there is nothing to wait for.
            () = signals.next() => None,
        }
    });
    let Some(started) = started else { return Ok(ExitCode::SUCCESS) };
    let running = started.map_err(Failure::work)?.map_err(Failure::usage)?;
    let readiness = running.readiness();
    let code = control.block_on(async {
        let follow = async {
            if let Some(file) = &ready_file {
                file.follow(readiness).await;
            }
            std::future::pending().await
        };
        tokio::select! {
            code = until_told(running, signals) => code,
            code = follow => code,
        }
    });
    Ok(ExitCode::from(code))
}

/// Lets the worker work until a signal comes; gives the exit code.
async fn until_told(running: RunningWorker, mut signals: Signals) -> u8 {
    signals.next().await;
    let second = async {
        // What sends a signal to a process and to its group sends it twice: that is one wish.
        tokio::time::sleep(ONE_WISH).await;
        // Listening anew forgets what has come by now.
        Signals::listen().unwrap_or(signals).next().await;
    };
    tokio::select! {
        stopped = running.stop() => match stopped {
            Stopped { drained: true } => 0,
            Stopped { drained: false } => exit::NOT_DRAINED,
        },
        () = second => {
            tracing::warn!("second signal: leaving at once; other workers take unfinished tasks over within about ten seconds");
            exit::INTERRUPTED
        }
    }
}
