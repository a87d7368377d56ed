//! Empty lists, trailing commas, braces, brackets, raw keys.
use dtq::prelude::*;

#[dtq::task()]
async fn empty() {}
#[dtq::task(queue = "a", priority = 3)]
async fn trailing() {}
#[dtq::task { queue = "b" }]
async fn braces() {}
#[dtq::task[queue = "c"]]
async fn brackets() {}
#[dtq::task(r#queue = "d")]
async fn raw() {}
#[dtq::task(
    // A comment.
    queue = "e", /* another */ priority = 1
)]
async fn comments() {}

#[test]
fn works() {
    let queues = [empty::DEF, trailing::DEF, braces::DEF, brackets::DEF, raw::DEF, comments::DEF].map(|def| def.queue);
    assert_eq!(queues, ["default", "a", "b", "c", "d", "e"]);
}
