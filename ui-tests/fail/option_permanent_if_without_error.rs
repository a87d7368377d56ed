fn is_final(error: &std::io::Error) -> bool {
    error.raw_os_error().is_some()
}

#[dtq::task(permanent_if = is_final)]
async fn nothing() {}

#[dtq::task(permanent_if = is_final)]
async fn number() -> u64 {
    1
}

fn main() {}
