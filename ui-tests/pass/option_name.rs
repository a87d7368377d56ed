//! `name = ..`.
use dtq::prelude::*;

#[dtq::task(name = "billing.charge:v2-b_1")]
async fn charge() {}
#[dtq::task(name = "0")]
async fn shortest() {}
#[dtq::task(name = "a123456789b123456789c123456789d123456789e123456789f123456789g123")]
async fn longest() {}
#[dtq::task(name = "groesse")]
async fn größe() {}
#[dtq::task(name = r"raw")]
async fn in_a_raw_string() {}

#[test]
fn works() {
    assert_eq!(charge::DEF.name, "billing.charge:v2-b_1");
    assert_eq!((shortest::DEF.name, longest::DEF.name.len()), ("0", 64));
    assert_eq!((größe::DEF.name, in_a_raw_string::DEF.name), ("groesse", "raw"));
}
