//! Plain functions: blocking bodies, values that may not cross an await, context and state.
#![deny(warnings)]
use dtq::prelude::*;
use std::rc::Rc;
use std::sync::Mutex;

#[dtq::task]
fn charge(ctx: &Context, #[state] seen: &Mutex<u64>, order: u64) -> Result<u64, std::io::Error> {
    let shared = Rc::new(order);
    let mut seen = seen.lock().unwrap();
    *seen += *shared;
    Ok(*seen + u64::from(ctx.attempt()))
}
#[dtq::task]
fn early(order: u64) -> u64 {
    if order == 0 {
        return 1;
    }
    order
}

#[test]
fn works() {
    assert_eq!(
        charge(&Context::detached(), &Mutex::new(1), 2).unwrap(),
        4 - 1 + u64::from(Context::detached().attempt())
    );
    assert_eq!(early(0) + early(5), 6);
}
