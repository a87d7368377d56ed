use dtq::prelude::*;

#[dtq::task]
async fn generic<T: Send, const N: usize>(order: u64, note: &str, list: [T; N]) -> Result<u8, TaskError> {
    let _ = (order, note, list);
    Ok(1)
}

async fn uses() -> Result<(), TaskError> {
    let handle: Handle<u8> = generic::enqueue(1, "note", [1, 2]).await?;
    let _: u8 = handle.result(std::time::Duration::from_secs(1)).await?;
    let _: u64 = generic::call(1, "note", [1, 2]).args().order;
    let _: u8 = generic(1, "note", [1, 2]).await?;
    Ok(())
}

fn main() {
    let _ = uses();
}
