//! A program without set-up.
#![deny(warnings, missing_docs)]
mod hidden {
    #[dtq::main]
    pub async fn main() {}
}

fn main() {
    let _ = hidden::main as fn() -> std::process::ExitCode;
}
