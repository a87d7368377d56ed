//! Bodies with inner functions, closures, macros, recursion, and calls of tasks.
#![deny(warnings)]
use dtq::prelude::*;

#[dtq::task]
async fn count(depth: u8) -> u64 {
    fn go(depth: u8) -> std::pin::Pin<Box<dyn Future<Output = u64> + Send>> {
        Box::pin(async move { if depth == 0 { 1 } else { go(depth - 1).await + go(depth - 1).await } })
    }
    let squares = (0..3u64).map(|n| n * n).filter(|n| n % 2 == 0);
    let text = format!("{}", squares.sum::<u64>());
    go(depth).await + text.len() as u64
}

#[dtq::task]
async fn chains(n: u8) -> Result<(), TaskError> {
    if n > 0 {
        chains::enqueue(n - 1).await?;
        count::enqueue(n).priority(1).await?;
    }
    Ok(())
}

#[test]
fn works() {
    drop((count::call(3), chains::call(3)));
}
