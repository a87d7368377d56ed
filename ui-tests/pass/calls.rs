//! The type is the arguments; its functions make calls of them.
use dtq::prelude::*;

#[dtq::task]
async fn nothing() {}
#[dtq::task]
async fn one(order: u64) {
    let _ = order;
}
#[dtq::task]
async fn pair(order: u64, note: String) {
    let _ = (order, note);
}
#[dtq::task]
async fn tuple(pair: (u8, u8)) {
    let _ = pair;
}

async fn enqueue() -> Result<(), TaskError> {
    let _ = nothing::enqueue().await?;
    let handle: Handle<()> = one::enqueue(7).priority(9).await?;
    let _ = handle;
    nothing::enqueue_many([(), ()]).await?;
    one::enqueue_many([1, 2, 3]).await?;
    pair::enqueue_many(vec![(1, "a".to_owned())]).await?;
    tuple::enqueue_many([(1, 2)]).await?;
    Ok(())
}

#[test]
fn works() {
    let later: Call<pair> = pair::call(17, "x".into());
    drop((later, enqueue));
    let arguments = pair { order: 17, note: "x".into() };
    assert!((|a: &pair| a.order == 17)(&arguments));
}
