use dtq::prelude::*;

#[derive(serde::Serialize)]
struct Receipt;

#[dtq::task]
async fn number() -> u64 {
    1
}

#[dtq::task]
async fn receipt() -> Result<Receipt, TaskError> {
    Ok(Receipt)
}

async fn wait() -> Option<()> {
    let second = std::time::Duration::from_secs(1);
    let _: String = number::enqueue().await.ok()?.result(second).await.ok()?;
    let _ = receipt::enqueue().await.ok()?.result(second).await;
    None
}

fn main() {
    drop(wait());
}
