//! Private types in a private function's arguments and result.
#![deny(warnings)]
#[derive(serde::Serialize, serde::Deserialize)]
struct Order(u64);
#[derive(serde::Serialize, serde::Deserialize)]
struct Receipt(u64);
struct Db;

#[dtq::task]
async fn charge(#[state] db: &Db, order: Order) -> Result<Receipt, std::fmt::Error> {
    let Db = db;
    Ok(Receipt(order.0))
}
pub(crate) mod inner {
    use super::{Order, Receipt};
    #[dtq::task]
    pub(super) async fn refund(order: Order) -> Result<Receipt, std::fmt::Error> {
        Ok(Receipt(order.0))
    }
}

#[test]
fn works() {
    drop((charge::call(Order(1)), inner::refund::call(Order(1))));
}
