//! `cfg` by test: two versions of one task, and a function that is a task only sometimes.
#![deny(warnings)]
use dtq::prelude::*;

#[cfg(test)]
#[dtq::task(queue = "tests")]
async fn conditional_charge() {}
#[cfg(not(test))]
#[dtq::task(queue = "real")]
async fn conditional_charge() {}

#[cfg_attr(test, dtq::task(name = "conditional.only_in_tests"))]
async fn only_a_task_in_tests() {}

#[test]
fn works() {
    assert_eq!(conditional_charge::DEF.queue, "tests");
    drop((only_a_task_in_tests::call(), only_a_task_in_tests()));
}
