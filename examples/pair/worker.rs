//! A worker as a program of its own. Run it beside `producer`, once or many times:
//!
//! `cargo run --example worker` and `cargo run --example producer -- 100`

mod tasks;

#[dtq::main]
async fn main(app: &mut dtq::App) -> anyhow::Result<()> {
    app.state(tasks::Salutation(std::env::var("SALUTATION").unwrap_or_else(|_| "Hello".into())));
    Ok(())
}
