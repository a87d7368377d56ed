//! What `enqueue_many` takes: arrays, vectors, iterators, maps of iterators, other `IntoIterator`s.
#![deny(warnings)]
use std::collections::BTreeMap;

#[dtq::task]
async fn one(order: u64) {
    let _ = order;
}
#[dtq::task]
async fn pair(order: u64, cents: u8) {
    let _ = (order, cents);
}

#[test]
fn works() {
    drop((one::enqueue_many([1, 2]), one::enqueue_many(vec![1]), one::enqueue_many(1..9)));
    drop(pair::enqueue_many((1..9).map(|order| (order, 5))));
    drop(pair::enqueue_many(BTreeMap::from([(1, 2)])));
    drop(pair::enqueue_many([1, 2].into_iter().zip([3, 4])));
    drop((one::enqueue_many(Some(1)), one::enqueue_many(std::iter::empty()), one::enqueue_many([])));
}
