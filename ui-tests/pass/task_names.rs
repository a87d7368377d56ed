//! Functions named like types, keywords, methods of calls, and modules beside them.
#![deny(warnings)]
use dtq::prelude::*;

#[dtq::task]
async fn enqueue() {}
#[dtq::task]
async fn call() {}
#[dtq::task]
async fn task() {}
#[dtq::task]
async fn u8_(n: u8) -> u8 {
    n
}
#[dtq::task]
async fn r#async() {}
#[dtq::task]
#[allow(non_snake_case)]
async fn ChargeCard() {}
#[dtq::task]
async fn _quiet() {}

#[test]
fn works() {
    drop((enqueue::enqueue(), call::call(), task::call(), u8_::call(1), r#async::call(), ChargeCard::call()));
    assert_eq!((r#async::DEF.name, ChargeCard::DEF.name, _quiet::DEF.name), ("async", "ChargeCard", "_quiet"));
}
