//! Every kind of return type, by alias and by path, on async and plain functions.
use dtq::prelude::*;
use serde::{Deserialize, Serialize};
use std::fmt;

#[derive(Debug)]
struct ChargeError;
impl fmt::Display for ChargeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("declined")
    }
}
impl std::error::Error for ChargeError {}

#[derive(Serialize, Deserialize)]
struct Receipt {
    id: u64,
}

type Answer<T> = Result<T, ChargeError>;

#[dtq::task]
async fn unit() {}
#[dtq::task]
async fn explicit_unit() -> () {}
#[dtq::task]
async fn bare() -> u64 {
    1
}
#[dtq::task]
async fn text() -> String {
    String::new()
}
#[dtq::task]
async fn own_error(order: u64) -> Result<Receipt, ChargeError> {
    Ok(Receipt { id: order })
}
#[dtq::task]
async fn aliased() -> Answer<Receipt> {
    Err(ChargeError)
}
#[dtq::task]
async fn task_error() -> Result<(), TaskError> {
    Err(ChargeError)?
}
#[dtq::task]
async fn boxed() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    Err("no".into())
}
#[dtq::task]
async fn anyhow_error() -> anyhow::Result<Receipt> {
    anyhow::bail!("no")
}
#[dtq::task]
async fn outcome() -> Outcome<Receipt> {
    Outcome::Retry
}
#[dtq::task]
async fn outcome_of_nothing() -> Outcome {
    Outcome::Drop
}
#[dtq::task]
fn plain() -> Result<Option<u8>, std::io::Error> {
    Ok(None)
}
#[dtq::task]
fn plain_unit() {}

#[test]
fn works() {
    fn output<T: Task<Output = O>, O>() {}
    output::<unit, ()>();
    output::<bare, u64>();
    output::<own_error, Receipt>();
    output::<aliased, Receipt>();
    output::<anyhow_error, Receipt>();
    output::<outcome, Receipt>();
    output::<plain, Option<u8>>();
}
