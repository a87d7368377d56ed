//! The fencing token: `<row>.<grant>.<worker>`, opaque outside the store.

use std::fmt;
use std::str::FromStr;

use crate::types::WorkerId;

/// A parsed token. Grants are numbered per queue and numbers are never given out twice, in whatever process; the row
/// saves a look-up by uuid; the worker's digest tells whose lease it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) row: i64,
    pub(super) grant: i64,
    worker: u64,
}

impl Token {
    pub(super) fn new(row: i64, grant: i64, worker: &WorkerId) -> Self {
        Self { row, grant, worker: digest(worker) }
    }

    /// True when the lease was granted to this worker.
    pub(super) fn belongs_to(&self, worker: &WorkerId) -> bool {
        self.worker == digest(worker)
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{:x}", self.row, self.grant, self.worker)
    }
}

impl FromStr for Token {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        let mut parts = text.split('.');
        let mut part = || parts.next().ok_or(());
        let row = part()?.parse().map_err(|_| ())?;
        let grant = part()?.parse().map_err(|_| ())?;
        let worker = u64::from_str_radix(part()?, 16).map_err(|_| ())?;
        Ok(Self { row, grant, worker })
    }
}

/// FNV-1a: the same in every process and version, unlike the standard library's hasher.
fn digest(worker: &WorkerId) -> u64 {
    const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    worker.as_str().bytes().fold(BASIS, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_survives_its_text() {
        let worker = WorkerId::named("w");
        let token = Token::new(7, 1 << 31, &worker);
        assert_eq!(token.to_string().parse(), Ok(token));
        assert!(token.belongs_to(&worker));
        assert!(!token.belongs_to(&WorkerId::named("v")));
        assert!("bogus".parse::<Token>().is_err());
    }
}
