//! Another process of this program: a worker that tells what it runs.
//!
//! It says [`READY`] when it has reached the store, waits for a byte, starts its worker, says `READY` again, and then the
//! number of each task it runs. It stops when its input ends, so it does not outlive whoever started it.

use std::io::{BufReader, BufWriter, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;

use anyhow::Context;
use dtq::{App, Worker, WorkerConfig};
use tokio::sync::mpsc as news;

use crate::ledger::Ledger;
use crate::options::Args;
use crate::phases::Gate;
use crate::process;
use crate::setting::{self, Setting};

/// No task has this number.
const READY: u64 = u64::MAX;

/// Is the other process.
pub(crate) async fn serve(args: &Args, place: &str) -> anyhow::Result<()> {
    let (sender, ran) = mpsc::channel();
    let ledger = Ledger::kept_elsewhere(sender);
    let client = setting::connect(args, place)?;
    client.check().await?;
    let mut app = App::new();
    app.state(ledger.clone()).state(Arc::new(Gate::new()));
    let worker = Worker::new(client, app, WorkerConfig::new().concurrency(args.concurrency))?;
    say(READY)?;
    if !heard().await? {
        return Ok(());
    }
    let worker = worker.start().await?;
    say(READY)?;
    let telling = std::thread::spawn(move || tell(&ran));
    while heard().await? {}
    worker.stop().await;
    ledger.close();
    telling.join().map_err(|_| anyhow::anyhow!("telling what ran failed"))??;
    Ok(())
}

fn say(number: u64) -> anyhow::Result<()> {
    let mut output = std::io::stdout();
    output.write_all(&number.to_le_bytes())?;
    Ok(output.flush()?)
}

/// Waits for a byte; false at the end of the input.
async fn heard() -> anyhow::Result<bool> {
    let read = || std::io::stdin().read(&mut [0]);
    Ok(tokio::task::spawn_blocking(read).await?? > 0)
}

/// Tells all that has gathered at once, and then waits for more.
fn tell(ran: &mpsc::Receiver<Option<usize>>) -> anyhow::Result<()> {
    let mut output = BufWriter::new(std::io::stdout().lock());
    while let Ok(Some(first)) = ran.recv() {
        output.write_all(&(first as u64).to_le_bytes())?;
        loop {
            match ran.try_recv() {
                Ok(Some(number)) => output.write_all(&(number as u64).to_le_bytes())?,
                Ok(None) => return Ok(output.flush()?),
                Err(_) => break,
            }
        }
        output.flush()?;
    }
    Ok(())
}

/// The other process as the one sees it that started it. It is killed when this is dropped early.
pub(crate) struct Part {
    child: Child,
    input: Option<ChildStdin>,
    ready: news::UnboundedReceiver<()>,
    reader: Option<JoinHandle<()>>,
    before_us: f64,
}

impl Part {
    /// Starts one, and waits until it has reached the store. What it runs is marked in `ledger`.
    pub(crate) async fn start(args: &Args, setting: &Setting, ledger: &Arc<Ledger>) -> anyhow::Result<Self> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(["--part", &setting.place(), "--store", args.store.name(), "--persistence", args.persistence.name()])
            .args(["--concurrency", &args.concurrency.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (input, output) = (child.stdin.take(), child.stdout.take().context("a child without an output")?);
        let (sender, ready) = news::unbounded_channel();
        let ledger = ledger.clone();
        let reader = Some(std::thread::spawn(move || listen(output, &ledger, &sender)));
        let mut part = Self { child, input, ready, reader, before_us: 0.0 };
        part.await_ready().await?;
        Ok(part)
    }

    /// Lets it start its worker. Its CPU time counts from here.
    pub(crate) fn go(&mut self) -> anyhow::Result<()> {
        self.before_us = process::cpu_us_of(self.child.id());
        Ok(self.input.as_mut().context("it was stopped")?.write_all(b"g")?)
    }

    /// Waits until it has reached the store, or started its worker.
    pub(crate) async fn await_ready(&mut self) -> anyhow::Result<()> {
        self.ready.recv().await.context("another process of this program ended early")
    }

    /// Stops it when it has settled what it ran, and tells what CPU time that took it, in microseconds.
    pub(crate) async fn stop(mut self) -> anyhow::Result<f64> {
        drop(self.input.take());
        if let Some(reader) = self.reader.take() {
            // Its output ends when it does.
            tokio::task::spawn_blocking(move || reader.join()).await?.ok();
        }
        let after_us = process::cpu_us_of(self.child.id());
        let status = self.child.wait()?;
        anyhow::ensure!(status.success(), "another process of this program failed: {status}");
        Ok(after_us - self.before_us)
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to stop.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn listen(output: ChildStdout, ledger: &Ledger, ready: &news::UnboundedSender<()>) {
    let mut output = BufReader::new(output);
    let mut number = [0; 8];
    while output.read_exact(&mut number).is_ok() {
        match u64::from_le_bytes(number) {
            READY => drop(ready.send(())),
            number => ledger.mark(usize::try_from(number).unwrap_or(usize::MAX)),
        }
    }
}
