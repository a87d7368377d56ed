//! Fields and functions of the type reach as far as the function does.
#![deny(warnings)]
mod billing {
    #[dtq::task(name = "visibility.charge")]
    pub(crate) async fn charge(order: u64) -> u64 {
        order
    }
    pub(crate) mod inner {
        #[dtq::task(name = "visibility.refund")]
        pub(super) async fn refund(order: u64) -> u64 {
            order
        }
    }
    pub(crate) fn refunded() -> u64 {
        drop(inner::refund::enqueue(1));
        inner::refund { order: 4 }.order
    }
}

#[test]
fn works() {
    use billing::{charge, refunded};
    assert_eq!(charge { order: 3 }.order + refunded(), 7);
}
