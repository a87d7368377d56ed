//! Results: collections, nested options, maps, tuples, units in `Result`, values of one's own bare and not.
#![deny(warnings)]
use dtq::prelude::*;
use std::collections::{BTreeMap, HashMap};

#[derive(serde::Serialize, serde::Deserialize)]
struct Summary {
    lines: u64,
}
impl dtq::TaskOutput for Summary {}

#[dtq::task]
async fn bare() -> Summary {
    Summary { lines: 1 }
}
#[dtq::task]
async fn bare_inside() -> Option<Vec<Summary>> {
    None
}
#[dtq::task]
async fn map() -> HashMap<String, BTreeMap<u8, f64>> {
    HashMap::new()
}
#[dtq::task]
async fn tuple() -> (u8, String, Option<()>) {
    (1, String::new(), None)
}
#[dtq::task]
async fn json() -> serde_json::Value {
    serde_json::Value::Null
}
#[dtq::task]
async fn nested() -> Result<Result<u8, String>, TaskError> {
    Ok(Err("an error that is a result".into()))
}
#[dtq::task]
async fn outcome() -> Outcome<Summary> {
    Outcome::Ack(Summary { lines: 2 })
}
#[dtq::task]
async fn static_text() -> Result<&'static str, TaskError> {
    Ok("x")
}

#[test]
fn works() {
    fn output<T: Task<Output = O>, O>() {}
    output::<bare, Summary>();
    output::<bare_inside, Option<Vec<Summary>>>();
    output::<nested, Result<u8, String>>();
    output::<outcome, Summary>();
    drop((map::call(), tuple::call(), json::call(), static_text::call()));
    let _ = Summary { lines: 1 }.lines;
}
