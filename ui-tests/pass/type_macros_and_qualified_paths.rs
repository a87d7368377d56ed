//! Types written as associated types, by macros, with a leading `::`.
#![deny(warnings)]
trait Has {
    type Id;
}
struct Order;
impl Has for Order {
    type Id = u64;
}
macro_rules! list {
    ($ty:ty) => { ::std::vec::Vec<$ty> };
}
mod ids {
    pub(super) type Id = u8;
}

#[dtq::task]
async fn charge(
    id: <Order as Has>::Id,
    all: list!(u8),
    one: u8,
    other: self::ids::Id,
    text: ::std::string::String,
) -> <Order as Has>::Id {
    let _ = (all, one, other, text);
    id
}

#[test]
fn works() {
    let _ = Order;
    drop(charge::call(1, vec![], 2, 3, String::new()));
}
