//! An order is charged after ten minutes, and a receipt is mailed when it was.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use dtq::prelude::*;

const TIME_TO_CANCEL: Duration = Duration::from_secs(600);
const MONTH: Duration = Duration::from_secs(30 * 86_400);

/// A stand-in for a payment provider: it knows what it was paid for, and refuses some cards.
#[derive(Default)]
pub(crate) struct Gateway {
    paid: Mutex<BTreeSet<String>>,
    refused: BTreeSet<u64>,
}

impl Gateway {
    /// One that refuses these orders.
    #[cfg(test)]
    pub(crate) fn refusing(refused: impl IntoIterator<Item = u64>) -> Self {
        Self { refused: refused.into_iter().collect(), ..Self::default() }
    }

    async fn pay(&self, order: u64, cents: u64) -> Result<String, TaskError> {
        if self.refused.contains(&order) {
            return Err(TaskError::permanent("the card is refused"));
        }
        let receipt = format!("{order}: {cents} cents");
        let new = self.paid.lock().unwrap_or_else(PoisonError::into_inner).insert(receipt.clone());
        if new { Ok(receipt) } else { Err(TaskError::new(format!("{order} was paid twice"))) }
    }
}

/// Takes an order. It is charged later, so that it can be called off.
pub(crate) async fn place(order: u64, cents: u64) -> Result<TaskId, EnqueueError> {
    let charged = charge::enqueue(order, cents).delay(TIME_TO_CANCEL).await?;
    Ok(charged.id().clone())
}

/// Charges an order, and has a receipt mailed.
#[dtq::task(queue = "payments", max_attempts = 3, backoff = exponential(base = "10s", jitter = 0.0))]
pub(crate) async fn charge(
    ctx: &Context,
    #[state] gateway: &Gateway,
    order: u64,
    cents: u64,
) -> Result<String, TaskError> {
    let receipt = ctx.once(format!("charge-{order}"), MONTH, || gateway.pay(order, cents)).await?;
    // It may fail after the payment: the next attempt does not pay again.
    mail::enqueue(order, receipt.clone()).await?;
    if order == 13 && ctx.attempt() == 1 {
        return Err(TaskError::new("the database is away"));
    }
    Ok(receipt)
}

/// Mails a receipt.
#[dtq::task]
pub(crate) async fn mail(order: u64, receipt: String) {
    println!("order {order}: {receipt}");
}
