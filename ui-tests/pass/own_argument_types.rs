//! Types of one's own: structs, enums, generics with concrete arguments, aliases, with serde's own attributes.
#![deny(warnings)]
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Order {
    order_id: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}
#[derive(Serialize, Deserialize)]
#[serde(tag = "type")]
enum Kind {
    Card { number: String },
    Cash,
}
#[derive(Serialize, Deserialize)]
struct Page<T> {
    items: Vec<T>,
}
type Orders = Page<Order>;

#[dtq::task]
async fn charge(orders: Orders, kind: Kind, nested: Page<Page<u8>>, array: [u8; 3], unit: ()) {
    let _ = (orders.items, nested.items, array, unit);
    if let Kind::Card { number } = kind {
        drop(number);
    }
}

#[test]
fn works() {
    let orders = Page { items: vec![Order { order_id: 1, note: None }] };
    let call = charge { orders, kind: Kind::Cash, nested: Page { items: vec![] }, array: [1, 2, 3], unit: () };
    let json = crate::written(&call).unwrap();
    let expected = r#"{"orders":{"items":[{"orderId":1}]},"kind":{"type":"Cash"},"nested":{"items":[]},"array":[1,2,3],"unit":null}"#;
    assert_eq!(json, expected);
    let back: charge = crate::read(&json).unwrap();
    assert_eq!(back.orders.items[0].order_id, 1);
}
