use dtq::prelude::*;

struct Order;

#[dtq::subscriber(list("orders"))]
async fn not_deserialize(_: Json<Order>) {}

#[dtq::subscriber(stream("orders").group("billing"))]
async fn not_deserialize_inside(_: Json<Vec<Order>>) {}

fn main() {}
