//! Tasks within methods, closures, trait functions, test functions, loops and unnamed constants.
#![deny(warnings)]
struct Charger;
impl Charger {
    fn charge(&self) -> usize {
        #[dtq::task(name = "in_methods.charge")]
        async fn charge(order: u64) -> u64 {
            order
        }
        drop(charge::call(1));
        1
    }
}
trait Refunds {
    fn refund(&self) -> usize {
        #[dtq::task(name = "in_methods.refund")]
        fn refund(order: u64) -> u64 {
            order
        }
        usize::from(refund(1) == 1)
    }
}
impl Refunds for Charger {}
mod inner {
    pub(super) mod deeper {
        #[dtq::task(name = "in_methods.deep")]
        pub(in super::super) async fn deep() {}
    }
}

#[test]
fn works() {
    assert_eq!(Charger.charge() + Charger.refund(), 2);
    drop(inner::deeper::deep::call());
    for _ in 0..2 {
        #[dtq::task(name = "in_methods.loop")]
        async fn in_loop() {}
        drop(in_loop::call());
    }
}
