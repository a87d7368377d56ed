//! Error types: enums, boxed, `anyhow`, dtq's own, marked with `?`, standard ones, and `Infallible`.
#![deny(warnings)]
use dtq::prelude::*;

#[derive(Debug)]
enum ChargeError {
    Declined { code: u16 },
    Io(std::io::Error),
}
impl std::fmt::Display for ChargeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Declined { code } => write!(f, "declined: {code}"),
            Self::Io(error) => write!(f, "io: {error}"),
        }
    }
}
impl std::error::Error for ChargeError {}
impl From<std::io::Error> for ChargeError {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}

#[dtq::task]
async fn own(path: String) -> Result<usize, ChargeError> {
    let text = std::fs::read(path)?;
    if text.is_empty() { Err(ChargeError::Declined { code: 1 }) } else { Ok(text.len()) }
}
#[dtq::task]
async fn marked(text: String) -> Result<u8, TaskError> {
    Ok(text.parse::<u8>().permanent()?)
}
#[dtq::task]
async fn boxed() -> Result<(), dtq::BoxError> {
    Err("no".into())
}
#[dtq::task]
async fn through_anyhow() -> Result<(), anyhow::Error> {
    Ok("7".parse::<u8>().map(drop)?)
}
#[dtq::task]
async fn never_fails() -> Result<u8, std::convert::Infallible> {
    Ok(1)
}
#[dtq::task]
async fn standard() -> std::io::Result<()> {
    Ok(())
}
#[dtq::task]
async fn boxed_own() -> Result<(), Box<ChargeError>> {
    Ok(())
}

#[test]
fn works() {
    drop((own::call("x".into()), marked::call("x".into()), boxed::call(), through_anyhow::call()));
    drop((never_fails::call(), standard::call(), boxed_own::call()));
}
