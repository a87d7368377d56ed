//! What a subscriber's function may take, and that it is still an ordinary function.

use dtq::prelude::*;

#[derive(serde::Deserialize)]
struct Order {
    id: u64,
}

struct Db(u64);

/// Payload, message and state, in any order; patterns are fine.
#[dtq::subscriber(stream("orders").group("billing"))]
async fn everything(#[state] db: &Db, meta: &Message, Json(order): Json<Order>) -> Outcome {
    if order.id == db.0 && meta.attempt() == 1 && !meta.is_cancelled() { Outcome::Ack(()) } else { Outcome::Drop }
}

#[dtq::subscriber(stream("orders").group("billing"))]
async fn no_payload(meta: &Message) {
    assert_eq!(meta.fields().count(), 0);
}

#[dtq::subscriber(stream("orders").group("billing"))]
fn plain(mut fields: Fields) -> Result<(), std::io::Error> {
    if fields.is_empty() {
        fields = [("a", "b")].into_iter().collect();
    }
    fields.text("a").map(drop).ok_or_else(|| std::io::Error::other("no field a"))
}

/// How long a payload is.
fn bytes_of(payload: &impl AsRef<[u8]>) -> usize {
    payload.as_ref().len()
}

#[dtq::subscriber(claiming("orders").group("billing").min_idle("60s"))]
pub async fn message_by_path(order: Json<Vec<u64>>, meta: &dtq::Message) -> Result<Outcome, TaskError> {
    assert_eq!(meta.payload().map(bytes_of), Some(order.iter().len()));
    Ok(Outcome::Ack(()))
}

#[tokio::test]
async fn it_is_called_as_it_was_written() {
    let meta = Message::detached("{\"id\":7}");
    assert_eq!(everything(&Db(7), &meta, Json(Order { id: 7 })).await, Outcome::Ack(()));
    no_payload(&meta).await;
    assert!(plain(Fields::default()).is_ok());
    assert!(message_by_path(Json(vec![0; 8]), &meta).await.is_ok());
    assert!(meta.ack().await.is_ok(), "a detached message is acknowledged, and nothing happens");
}

#[test]
fn an_app_takes_it_by_hand_too() {
    let mut app = App::new();
    app.subscribe::<everything>();
    app.subscribe_with::<plain>(|def| def.max_attempts(3));
}
