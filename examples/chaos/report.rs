//! One JSON line for programs, a summary for people.

use std::collections::BTreeMap;

use dtq::types::Status;
use serde::Serialize;

use crate::args::{Options, Persistence, StoreKind};
use crate::inject::{Cause, Diary, Window};
use crate::reconcile::Balance;
use crate::recovery::Times;
use crate::tail::Told;

/// The result of a run.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    store: &'static str,
    persistence: &'static str,
    power_loss: bool,
    seed: u64,
    seconds: f64,
    pub(crate) accepted: u64,
    executed_once: u64,
    executed_more: u64,
    never_executed: u64,
    absorbed: u64,
    pub(crate) lost: u64,
    /// Of those lost: what an emulated power failure took.
    lost_to_power: u64,
    /// Executed before an emulated power failure took their records.
    forgotten: u64,
    unexplained: usize,
    pub(crate) drained: bool,
    recovery_ms_median: Option<u64>,
    recovery_ms_max: Option<u64>,
    /// Runs that a killed worker had not finished and another one began anew.
    recovered: usize,
    server_recovery_ms_median: Option<u64>,
    server_recovery_ms_max: Option<u64>,
    /// What explains the runs after a task's first one.
    repeated_by: BTreeMap<&'static str, u64>,
    succeeded: u64,
    dead_lettered: u64,
    failed: u64,
    cancelled: u64,
    expired: u64,
    reclaimed: u64,
    unknown_answers: u64,
    refused: u64,
    kills: usize,
    stops: usize,
    deploys: usize,
    cuts: usize,
    restarts: usize,
    stalls: usize,
    dropped_bytes: u64,
}

/// What a report is made of.
pub(crate) struct Findings<'a> {
    pub(crate) options: &'a Options,
    pub(crate) seconds: f64,
    pub(crate) balance: &'a Balance,
    pub(crate) told: &'a Told,
    pub(crate) diary: &'a Diary,
    pub(crate) drained: bool,
    pub(crate) tasks: Times,
    pub(crate) server: Times,
    pub(crate) problems: usize,
}

impl Report {
    pub(crate) fn of(found: &Findings<'_>) -> Self {
        let (balance, options) = (found.balance, found.options);
        let count = |cause| found.diary.windows.iter().filter(|window: &&Window| window.cause == cause).count();
        let ended = |status: Status| balance.statuses.get(status.as_str()).copied().unwrap_or(0);
        Self {
            store: if options.store == StoreKind::Redis { "redis" } else { "sqlite" },
            persistence: name(options.persistence()),
            power_loss: options.power_loss,
            seed: options.seed,
            seconds: (found.seconds * 10.0).round() / 10.0,
            accepted: balance.accepted,
            executed_once: balance.executed_once,
            executed_more: balance.executed_more,
            never_executed: balance.never_executed,
            absorbed: found.told.absorbed,
            lost: balance.lost,
            lost_to_power: balance.lost_to_power,
            forgotten: balance.forgotten,
            unexplained: found.problems,
            drained: found.drained,
            recovery_ms_median: found.tasks.median(),
            recovery_ms_max: found.tasks.max(),
            recovered: found.tasks.count(),
            server_recovery_ms_median: found.server.median(),
            server_recovery_ms_max: found.server.max(),
            repeated_by: balance.reasons.clone(),
            succeeded: ended(Status::Succeeded),
            dead_lettered: ended(Status::DeadLettered),
            failed: ended(Status::Failed),
            cancelled: ended(Status::Cancelled),
            expired: ended(Status::Expired),
            reclaimed: found.told.reclaimed,
            unknown_answers: balance.unknown,
            refused: balance.refused,
            kills: count(Cause::Kill),
            stops: count(Cause::Stop),
            deploys: count(Cause::Deploy),
            cuts: count(Cause::Network),
            restarts: count(Cause::Restart),
            stalls: count(Cause::Stall),
            dropped_bytes: found.diary.dropped,
        }
    }

    /// 0 when the guarantee held; 1 when it did not, or the fleet did not finish; 3 when all that is wrong is what an
    /// emulated power failure took.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self { unexplained: 1.., .. } | Self { drained: false, .. } => 1,
            Self { lost: 0, .. } => 0,
            Self { lost, lost_to_power, .. } if lost == lost_to_power => 3,
            _ => 1,
        }
    }

    pub(crate) fn print(&self) -> anyhow::Result<()> {
        let ms = |time: Option<u64>| time.map_or("-".into(), |time| format!("{time} ms"));
        let repeated: Vec<_> = self.repeated_by.iter().map(|(what, count)| format!("{count} {what}")).collect();
        eprintln!("{} ({}), seed {}, {:.1} s", self.store, self.persistence, self.seed, self.seconds);
        eprintln!(
            "  faults      {} kills, {} stops, {} deploys, {} of the network, {} server restarts; {} stalls of the machine",
            self.kills, self.stops, self.deploys, self.cuts, self.restarts, self.stalls
        );
        eprintln!(
            "  accepted    {} (answers that did not come and were asked for again: {})",
            self.accepted, self.unknown_answers
        );
        eprintln!(
            "  executed    {} once, {} more than once, {} called off or expired before",
            self.executed_once, self.executed_more, self.never_executed
        );
        eprintln!("  repeated by {}", repeated.join(", "));
        eprintln!(
            "  ended as    {} succeeded, {} dead-lettered, {} failed, {} cancelled, {} expired",
            self.succeeded, self.dead_lettered, self.failed, self.cancelled, self.expired
        );
        eprintln!("  absorbed    {}; taken over {}", self.absorbed, self.reclaimed);
        eprintln!(
            "  recovery    median {}, longest {} ({} runs of killed workers)",
            ms(self.recovery_ms_median),
            ms(self.recovery_ms_max),
            self.recovered
        );
        eprintln!(
            "  after the server's return, first success: median {}, longest {}",
            ms(self.server_recovery_ms_median),
            ms(self.server_recovery_ms_max)
        );
        eprintln!(
            "  lost        {} ({} of them to power failures, which also took the records of {} that were done)",
            self.lost, self.lost_to_power, self.forgotten
        );
        eprintln!("  unexplained {}", self.unexplained);
        println!("{}", serde_json::to_string(self)?);
        Ok(())
    }
}

fn name(persistence: Persistence) -> &'static str {
    match persistence {
        Persistence::Always => "always",
        Persistence::Everysec => "everysec",
        Persistence::None => "none",
        Persistence::Full => "full",
        Persistence::Normal => "normal",
    }
}
