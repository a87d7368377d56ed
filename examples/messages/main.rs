//! A worker for messages that other programs write: `producer.py` puts orders on a stream and print jobs on a list, by
//! redis-py and nothing else.
//!
//!     DTQ_SUBSCRIBE_URL=redis://127.0.0.1:6379 cargo run --example messages
//!     python3 examples/messages/producer.py redis://127.0.0.1:6379 10      # pip install redis
//!
//! Its own tasks are in the embedded store, which is the default: `on_order` enqueues one for each order.

use dtq::prelude::*;

/// What producer.py writes as JSON.
#[derive(Debug, serde::Deserialize)]
struct Order {
    id: u64,
    customer: String,
    cents: u64,
}

/// Orders of one customer are taken in the order in which they were written; customers side by side.
#[dtq::subscriber(
    stream("orders").group("billing").min_idle("60s"),
    max_attempts = 5,
    dead_letter = "orders.dead",
    ordered_by = "{customer}"
)]
async fn on_order(order: Json<Order>, meta: &Message) -> Result<Outcome, TaskError> {
    if order.cents == 0 {
        // No retry can mend that: it becomes a dead letter, with the reason.
        return Err(TaskError::permanent(format!("order {} costs nothing", order.id)));
    }
    receipt::enqueue(order.id, order.cents).await?;
    let source = meta.header_text("source").unwrap_or("an unknown program");
    tracing::info!(order = order.id, customer = order.customer, cents = order.cents, source, "order taken");
    Ok(Outcome::Ack(()))
}

/// A value stays on the list's processing list until its job is done.
#[dtq::subscriber(reliable_list("print.jobs").min_idle("60s"), max_attempts = 3, dead_letter = "print.jobs.dead")]
async fn on_print_job(job: String, meta: &Message) -> Outcome {
    if job.contains("jam") && meta.attempt() == 1 {
        return Outcome::RetryAfter(std::time::Duration::from_millis(200));
    }
    tracing::info!(job, attempt = meta.attempt(), "printed");
    Outcome::Ack(())
}

/// A task of dtq's own, stored with everything that belongs to it.
#[dtq::task(queue = "receipts")]
async fn receipt(order: u64, cents: u64) -> String {
    tracing::info!(order, cents, "receipt sent");
    format!("order {order}: {cents} cents")
}

#[dtq::main]
async fn main() {}
