//! Parameters under conditions: the argument is there, or is not; a mark holds, or does not.
#![deny(warnings)]
use dtq::prelude::*;

#[dtq::task]
async fn charge(
    order: u64,
    #[cfg(not(any()))] kept: u8,
    #[cfg(any())] gone: Missing,
    #[cfg_attr(all(), arg(default))] may_lack: u8,
    #[cfg_attr(any(), state)] payload: u8,
    #[cfg_attr(all(), allow(unused_variables), arg(alias = "old"))] aliased: u8,
    #[cfg(not(any()))] ctx: &Context,
) -> u8 {
    let _ = (order, kept, may_lack, payload, ctx.attempt());
    #[cfg(any())]
    drop(gone);
    kept
}

#[test]
fn works() {
    assert_eq!(charge::DEF.arguments, ["order", "kept", "may_lack", "payload", "aliased"]);
    drop((charge::call(1, 2, 3, 4, 5), charge(1, 2, 3, 4, 5, &Context::detached())));
    drop(charge::enqueue_many([(1, 2, 3, 4, 5)]));
    let stored: charge = crate::read(r#"{"order":1,"kept":2,"payload":4,"old":5}"#).unwrap();
    assert_eq!((stored.may_lack, stored.aliased), (0, 5));
}
