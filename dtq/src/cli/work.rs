//! `worker`: set up, work, and leave when told to.

use std::process::ExitCode;
use std::time::Duration;

use super::settings::Settings;
use super::{Failure, SetUp, exit};
use crate::app::App;
use crate::client::Client;
use crate::runtime::{Stopped, Worker};

/// A blocking task cannot be stopped; the exit does not wait for it longer than this.
const LAST_BREATH: Duration = Duration::from_millis(100);

pub(super) fn run(
    settings: Settings,
    set_up: impl for<'a> FnOnce(&'a mut App) -> SetUp<'a>,
) -> Result<ExitCode, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(Failure::work)?;
    let done = runtime.block_on(work(settings, set_up));
    runtime.shutdown_timeout(LAST_BREATH);
    done
}

async fn work(settings: Settings, set_up: impl for<'a> FnOnce(&'a mut App) -> SetUp<'a>) -> Result<ExitCode, Failure> {
    let client = Client::connect(&settings.url).map_err(Failure::usage)?;
    client.make_current();
    let mut app = App::new();
    set_up(&mut app).await.map_err(|error| Failure { code: exit::SET_UP, message: format!("set-up: {error}") })?;
    let mut signals = Signals::listen().map_err(Failure::work)?;
    let worker = Worker::new(client, app, settings.worker).map_err(Failure::usage)?;
    let running = worker.start().await.map_err(Failure::usage)?;
    signals.next().await;
    tokio::select! {
        stopped = running.stop() => Ok(ExitCode::from(match stopped {
            Stopped { drained: true } => 0,
            Stopped { drained: false } => exit::NOT_DRAINED,
        })),
        () = signals.next() => {
            tracing::warn!("second signal: leaving at once; unfinished tasks run again when their leases end");
            Ok(ExitCode::from(exit::INTERRUPTED))
        }
    }
}

#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn listen() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn listen() -> std::io::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) {
        // Without a way to listen there is nothing to wait for.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
