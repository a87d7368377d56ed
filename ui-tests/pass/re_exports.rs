//! Tasks under other names, re-exported, by glob, as type aliases.
#![deny(warnings)]
mod tasks {
    #[dtq::task(name = "re_exports.charge")]
    pub(crate) async fn charge(order: u64) -> u64 {
        order
    }
    pub(crate) mod prelude {
        pub(crate) use super::charge as bill;
    }
}
use tasks::charge as pay;
use tasks::prelude::*;
type Payment = tasks::charge;

#[test]
fn works() {
    drop((pay::call(1), bill::call(2), pay(3), bill(4)));
    let payment: dtq::Call<Payment> = Payment::call(5);
    assert_eq!(payment.args().order, 5);
}
