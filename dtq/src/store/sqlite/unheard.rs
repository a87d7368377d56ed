//! Handing out again what a worker was given and never heard of.

use std::collections::HashSet;

use rusqlite::params;

use super::claim::{Hand, tasks};
use super::errors::Outcome;
use super::row::{Body, Head, head_and_body, status_code};
use super::token::Token;
use super::txn::Step;
use crate::types::Status;

/// Gives the worker what it holds by the store's books and not by its own, as far as there is room.
pub(super) fn run(step: &mut Step<'_>, hand: &mut Hand<'_>) -> Outcome<()> {
    let Some(holding) = &hand.claim.holding else { return Ok(()) };
    let tokens = holding.iter().filter_map(|lease| lease.token.parse::<Token>().ok());
    let known: HashSet<_> = tokens.map(|token| (token.row, token.grant)).collect();
    for (head, body) in of_worker(step, hand)? {
        if known.contains(&(head.seq, head.token)) {
            continue;
        }
        if hand.room() == 0 {
            hand.more = true;
            break;
        }
        hand.grant(step, &head, body, false)?;
    }
    Ok(())
}

/// All that the worker holds in this queue. It reads as many rows as there are running tasks, which is why nobody asks for
/// this but after a lost answer.
fn of_worker(step: &Step<'_>, hand: &Hand<'_>) -> Outcome<Vec<(Head, Body)>> {
    let sql = concat!(
        "SELECT ",
        head_and_body!(),
        " FROM tasks WHERE queue = ?1 AND status = ?2
          AND worker = (SELECT seq FROM workers WHERE id = ?3) ORDER BY key"
    );
    let params = params![step.queue.id, status_code(Status::Running), hand.claim.worker.as_str()];
    tasks(step, sql, params)
}
