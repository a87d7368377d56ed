//! Shared state of many kinds: generic with concrete arguments, trait objects in an `Arc`, locks, functions, tuples.
#![deny(warnings)]
use dtq::prelude::*;
use std::collections::HashMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, RwLock};

trait Mailer: Send + Sync {}
struct Pool<T>(T);
type Db = Pool<Arc<str>>;

#[dtq::task]
async fn charge(
    #[state] db: &Db,
    #[state] mailer: &Arc<dyn Mailer>,
    #[state] cache: &RwLock<HashMap<String, u64>>,
    #[state] count: &AtomicU64,
    #[state] clock: &fn() -> u64,
    #[state] pair: &(u8, Mutex<u8>),
    #[state] boxed: &Box<dyn for<'a> Fn(&'a str) -> usize + Send + Sync>,
    order: u64,
) -> usize {
    let _ = (&db.0, mailer, cache, count, clock(), pair, order);
    boxed("x")
}

#[test]
fn works() {
    assert_eq!(charge::STATE.len(), 7);
    drop(charge::call(1));
}
