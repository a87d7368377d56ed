#[dtq::task]
async fn charge(
    #[cfg(not(windows))] a: u8,
    #[cfg(unix)] b: u8,
    #[cfg(not(target_os = "ios"))] c: u8,
    #[cfg(not(target_os = "none"))] d: u8,
    #[cfg(not(target_os = "wasi"))] e: u8,
) {
    let _ = (a, b, c, d, e);
}

fn main() {}
