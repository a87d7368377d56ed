//! A worker program that registers by hand, and leaves aside what the linker gathered.

use dtq::prelude::*;

/// Registered by hand, as it is by the linker: that is once.
#[dtq::task]
async fn by_hand(n: u64) -> u64 {
    n
}

/// Found by the linker alone.
#[dtq::task]
async fn left_aside() {}

#[dtq::main]
async fn main(app: &mut App) {
    app.register::<by_hand>();
    if std::env::var_os("E2E_ONLY_REGISTERED").is_some() {
        app.only_registered();
    }
}
