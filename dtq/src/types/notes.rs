//! What a running task tells of itself.

use std::fmt;

use super::timestamp::Timestamp;

/// How far a task is, in its own words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// The share that is done.
    pub done: Share,
    /// What it is at; [`Progress::MAX_MESSAGE`] bytes at most, the rest is cut.
    pub message: String,
    /// The attempt that told it.
    pub attempt: u32,
    /// When the store was told.
    pub at: Timestamp,
}

impl Progress {
    /// The longest message that is kept, in bytes.
    pub const MAX_MESSAGE: usize = 256;
}

/// A share of a whole, kept in millionths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Share(u32);

impl Share {
    const WHOLE: u32 = 1_000_000;

    /// The share of a number from 0.0 to 1.0. What is less, more, or no number is taken as 0.0, 1.0, and 0.0.
    pub fn of(fraction: f64) -> Self {
        // The cast of a number that is not one gives 0.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded in this line")]
        Self((fraction.clamp(0.0, 1.0) * f64::from(Self::WHOLE)).round() as u32)
    }

    /// So many millionths, a million at most.
    #[cfg(any(feature = "redis", feature = "sqlite"))]
    pub(crate) fn from_millionths(millionths: u32) -> Self {
        Self(millionths.min(Self::WHOLE))
    }

    #[cfg(any(feature = "redis", feature = "sqlite"))]
    pub(crate) fn millionths(self) -> u32 {
        self.0
    }

    /// A number from 0.0 to 1.0.
    pub fn fraction(self) -> f64 {
        f64::from(self.0) / f64::from(Self::WHOLE)
    }
}

/// In percent, with one decimal.
impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} %", self.fraction() * 100.0)
    }
}

/// One line that a task wrote to its log. Stores keep the latest [`LogLine::KEPT`] of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// When the store got it: lines that were sent together have one instant.
    pub at: Timestamp,
    /// The attempt that wrote it.
    pub attempt: u32,
    /// The text; [`LogLine::MAX_TEXT`] bytes at most, the rest is cut with a mark.
    pub text: String,
}

impl LogLine {
    /// The longest text that is kept, in bytes.
    pub const MAX_TEXT: usize = 512;
    /// How many lines of a task are kept: the latest ones.
    pub const KEPT: usize = 100;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_bounded_and_survives() {
        for (given, kept) in [(0.4, 0.4), (-1.0, 0.0), (7.0, 1.0), (f64::NAN, 0.0), (f64::INFINITY, 1.0)] {
            assert_eq!(Share::of(given).fraction().to_bits(), f64::to_bits(kept), "{given}");
        }
        assert_eq!(Share::of(0.123).to_string(), "12.3 %");
    }
}
