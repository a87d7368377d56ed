//! A worker program without tasks: it must say so.

#[dtq::main]
async fn main() {}
