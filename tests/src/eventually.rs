//! The only places where the suite lets real time pass.

use std::future::Future;
use std::time::{Duration, Instant};

/// How long anything that happens in real time may take before a check fails; generous, since the machine is shared.
const PATIENCE: Duration = Duration::from_secs(20);

/// Asks again and again until `ready` gives an answer.
///
/// # Panics
/// When there is none after 20 seconds.
pub async fn eventually<T, F: Future<Output = Option<T>>>(what: &str, mut ready: impl FnMut() -> F) -> T {
    let started = Instant::now();
    loop {
        if let Some(answer) = ready().await {
            return answer;
        }
        assert!(started.elapsed() < PATIENCE, "{what}: still not so after {PATIENCE:?}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Awaits a future that should end by itself.
///
/// # Panics
/// When it has not ended after 20 seconds.
pub async fn promptly<T>(what: &str, future: impl Future<Output = T>) -> T {
    match tokio::time::timeout(PATIENCE, future).await {
        Ok(value) => value,
        Err(_) => panic!("{what}: not done after {PATIENCE:?}"),
    }
}

/// Lets a fault last for so long: that is the one thing that shows no sign to wait for.
pub async fn lasting(fault: Duration) {
    tokio::time::sleep(fault).await;
}
