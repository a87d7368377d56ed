use dtq::prelude::*;

#[derive(serde::Deserialize)]
struct Order {}

#[dtq::subscriber(stream("orders").group("billing"))]
async fn bare_type(_: u64) {}

#[dtq::subscriber(stream("orders").group("billing"))]
async fn two(_: Json<Order>, _: String) {}

#[dtq::subscriber(stream("orders").group("billing"))]
async fn borrowed(_: &str, _ctx: &Context, _meta: Message, #[arg(default)] _other: &mut Message) {}

#[dtq::subscriber(stream("orders").group("billing"))]
async fn state_by_value(#[state] _db: Order, _: String) {}

#[dtq::subscriber(stream("orders").group("billing"))]
async fn of_json(_: &Json<Order>, _other: &Order) {}

#[dtq::subscriber(stream("orders").group("billing"))]
async fn impl_trait(_: impl ToString) {}

#[dtq::subscriber(stream("orders").group("billing"))]
async fn another_name(_: String, _meta: &Delivery) {}

struct Delivery;

fn main() {}
