//! A program with set-up.
use dtq::prelude::*;

struct Db;

/// The program.
#[dtq::main]
async fn main(app: &mut App) -> anyhow::Result<()> {
    if std::env::args().count() < 9 {
        std::process::exit(0);
    }
    app.state(Db);
    Ok(())
}
