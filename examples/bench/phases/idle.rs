//! What an idle worker costs.

use std::time::Duration;

use super::{QUIET, Span, worker};
use crate::ledger::Ledger;
use crate::options::Args;
use crate::report::Line;
use crate::setting::Setting;

const SPAN: Duration = Duration::from_secs(20);

pub(super) async fn run(args: &Args, setting: &Setting) -> anyhow::Result<Vec<Line>> {
    let worker = worker(setting, args.concurrency, &Ledger::new(0)).await?;
    // What a start costs is not asked.
    tokio::time::sleep(QUIET).await;
    let span = Span::begin(setting)?;
    tokio::time::sleep(SPAN).await;
    let spent = span.end(setting)?;
    worker.stop().await;
    let seconds = spent.time.as_secs_f64();
    let a_second = |value: Option<f64>| value.map(|value| value / seconds);
    Ok(vec![
        Line::new("idle", args, 0, spent.time)
            .with("commands_sent_per_second", a_second(spent.sent))
            .with("commands_called_per_second", a_second(spent.called))
            .with("server_us_per_second", a_second(spent.cpu_us))
            .with("worker_us_per_second", spent.process_us / seconds),
    ])
}
