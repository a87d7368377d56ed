use dtq::prelude::*;

#[dtq::task(queu = "high")]
async fn misspelt(order: u64) -> Result<String, TaskError> {
    Ok(order.to_string())
}

#[dtq::task]
async fn borrows(ctx: &Context, order: u64, note: &str) -> Result<String, TaskError> {
    Ok(format!("{order} {note} {}", ctx.attempt()))
}

async fn place() -> Result<String, Box<dyn std::error::Error>> {
    let second = std::time::Duration::from_secs(1);
    let first: Handle<String> = misspelt::enqueue(1).priority(3).await?;
    let second_one: Handle<String> = borrows::enqueue(1, "x").await?;
    borrows::enqueue_many([(1, "x")]).await?;
    let later: Call<borrows> = borrows::call(2, "y");
    let _ = (misspelt { order: 17 }.order, later, first.result(second).await?);
    let mut app = App::new();
    app.register::<misspelt>().register::<borrows>();
    let _ = borrows(&Context::detached(), 1, "x").await;
    Ok(second_one.result(second).await?)
}

fn main() {
    drop(place());
}
