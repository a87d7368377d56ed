//! A whole run: start, break, let finish, reconcile.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use dtq::Client;
use dtq::types::{QueueName, Record, TaskId};
use tempfile::TempDir;

use crate::args::{Options, Persistence};
use crate::explain::Explainer;
use crate::faults::faults;
use crate::fleet::Fleet;
use crate::history::{Histories, History};
use crate::inject::{Diary, Injector};
use crate::ledger::{Micros, SECOND};
use crate::place::Place;
use crate::plan::{QUEUES, submissions};
use crate::reconcile::{Balance, Case};
use crate::report::{Findings, Report};
use crate::tail::{Tail, Told};
use crate::{leftovers, recovery, stalls};

/// Problems that are shown in full; the ledgers have the rest.
const SHOWN: usize = 20;

/// Runs, prints the report, and gives the exit code.
pub(crate) async fn run(options: &Options) -> anyhow::Result<u8> {
    let folder = Folder::make(options)?;
    let outcome = Box::pin(run_in(options, folder.path())).await;
    let code = *outcome.as_ref().unwrap_or(&1);
    if !matches!(code, 0 | 3) {
        folder.keep();
    }
    outcome
}

async fn run_in(options: &Options, folder: &Path) -> anyhow::Result<u8> {
    let began = Instant::now();
    let queues = QUEUES.iter().map(|name| QueueName::new(name)).collect::<Result<Vec<_>, _>>()?;
    let place = Place::open(options, folder)?;
    let client = place.client()?;
    let diary = Arc::new(Mutex::new(Diary::default()));
    stalls::watch(&place, folder, &diary)?;
    let tail = Tail::start(client.clone(), queues.clone());
    let fleet = Arc::new(Fleet::start(options, &place, folder).await?);
    let injector = Injector { fleet: fleet.clone(), place: place.clone(), diary: diary.clone() };
    injector.run(faults(options)).await?;

    let drained =
        fleet.producer_ends(options.drain()).await? && leftovers::drained(&client, &queues, options.drain()).await;
    let mut problems: Vec<_> =
        fleet.stop().await?.into_iter().map(|name| format!("{name} did not take its leave in order")).collect();
    let told = tail.finish().await?;
    if drained {
        problems.extend(leftovers::left(&client, &place, &queues).await?);
    }
    let mut diary = std::mem::take(&mut *diary.lock().unwrap_or_else(PoisonError::into_inner));
    problems.append(&mut diary.problems);

    let mut histories = Histories::read(folder, options.power_loss)?;
    diary.add_pauses(std::mem::take(&mut histories.pauses));
    let explainer = Explainer { windows: diary.windows.clone(), forgets: forgets(options) };
    let mut balance = reconcile(options, &client, &histories.tasks, &told, &explainer).await?;
    problems.append(&mut balance.problems);
    problems.iter().take(SHOWN).for_each(|problem| eprintln!("PROBLEM {problem}"));
    let report = Report::of(&Findings {
        options,
        seconds: began.elapsed().as_secs_f64(),
        balance: &balance,
        told: &told,
        diary: &diary,
        drained,
        tasks: recovery::of_tasks(&histories.tasks, &diary.windows),
        server: recovery::of_server(&histories.tasks, &diary.windows),
        problems: problems.len(),
    });
    report.print()?;
    Ok(report.exit_code())
}

/// How far back a restart reaches in what it takes: the emulation takes a second, the rest is for its own slowness.
fn forgets(options: &Options) -> Option<Micros> {
    options.power_loss.then_some(match options.persistence() {
        Persistence::None => Micros::MAX,
        _ => 2 * SECOND,
    })
}

async fn reconcile(
    options: &Options,
    client: &Client,
    histories: &HashMap<TaskId, History>,
    told: &Told,
    explainer: &Explainer,
) -> anyhow::Result<Balance> {
    let mut balance = Balance::default();
    let never = History::default();
    for submission in submissions(options.seed, options.tasks, options.span())? {
        let records = records(client, submission.tasks.iter().map(|task| task.id.clone())).await?;
        for (planned, record) in submission.tasks.iter().zip(&records) {
            let history = histories.get(&planned.id).unwrap_or(&never);
            let ends = told.ends.get(&planned.id).copied().unwrap_or(0);
            balance.add(&Case { planned, history, record: record.as_ref(), ends }, explainer);
        }
    }
    Ok(balance)
}

async fn records(client: &Client, ids: impl Iterator<Item = TaskId>) -> anyhow::Result<Vec<Option<Record>>> {
    let looks: Vec<_> = ids
        .map(|id| {
            let client = client.clone();
            tokio::spawn(async move { client.get(&id).await })
        })
        .collect();
    let mut records = Vec::with_capacity(looks.len());
    for look in looks {
        records.push(look.await??);
    }
    Ok(records)
}

/// Where ledgers, logs and the SQLite file are: removed at the end unless they are wanted.
enum Folder {
    Given(PathBuf),
    Own(TempDir),
}

impl Folder {
    fn make(options: &Options) -> anyhow::Result<Self> {
        let Some(path) = &options.keep else { return Ok(Self::Own(tempfile::tempdir()?)) };
        std::fs::create_dir_all(path)?;
        // Ledgers of another run would be read as this one's.
        anyhow::ensure!(std::fs::read_dir(path)?.next().is_none(), "the folder {} is not empty", path.display());
        Ok(Self::Given(path.clone()))
    }

    fn path(&self) -> &Path {
        match self {
            Self::Given(path) => path,
            Self::Own(folder) => folder.path(),
        }
    }

    fn keep(self) {
        let path = match self {
            Self::Given(path) => path,
            Self::Own(folder) => folder.keep(),
        };
        eprintln!("ledgers and logs: {}", path.display());
    }
}
