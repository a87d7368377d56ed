//! Traits named like serde's, with methods named like the ones that generated code calls.
#![allow(dead_code)]
trait Serialize {
    fn serialize(&self) {}
    fn write(&self) {}
    fn end(&self) {}
}
trait Deserialize {
    fn deserialize() {}
    fn take() {}
    fn fallback() {}
}
impl<T> Serialize for T {}
impl<T> Deserialize for T {}
mod serde {}
mod serde_json {}
mod inventory {}

#[dtq::task]
async fn charge(order: u64, #[arg(default)] note: String) -> String {
    order.write();
    note
}

#[test]
fn works() {
    drop(charge::call(1, String::new()));
}
