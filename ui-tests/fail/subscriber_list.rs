use dtq::prelude::*;

#[dtq::subscriber(list("jobs").min_idle("60s"))]
async fn idle(_: String) {}

#[dtq::subscriber(reliable_list("jobs"))]
async fn no_idle_time(_: String) {}

#[dtq::subscriber(list("jobs"))]
async fn asks_for_a_retry(_: String) -> Outcome {
    Outcome::Retry
}

#[dtq::subscriber(list("jobs"))]
async fn asks_in_a_result(_: String) -> Result<Outcome, TaskError> {
    Ok(Outcome::Retry)
}

fn main() {}
