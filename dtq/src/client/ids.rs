//! Ids of many calls. A single one asks the operating system for its random bytes, which costs as much as a large part of
//! all else that is done for a task; here many share one question.

use uuid::{Builder, NoContext, Timestamp, Uuid};

/// Ids whose random bytes are fetched together, at most.
const BLOCK: usize = 128;
/// Random bytes of an id.
const RANDOM: usize = 7;
/// Random bytes that a millisecond's numbers begin with.
const BEGIN: usize = 4;
/// Ids of one millisecond.
const NUMBERS: u32 = 1 << 18;

/// UUIDv7 with a counter of its own (RFC 9562, 6.2, method 1): the time, an 18-bit number that rises from a random one, and
/// 56 random bits. Each is greater than the one before. For one call: kept longer, a process that is forked would go on
/// with the same ones in both.
pub(super) struct Ids {
    /// Those that a millisecond's numbers begin with, and behind them those of a block.
    random: [u8; BEGIN + BLOCK * RANDOM],
    block: usize,
    used: usize,
    millis: u64,
    number: u32,
}

impl Ids {
    /// For so many at most, as far as that is known.
    pub(super) fn new(most: usize) -> Self {
        let block = most.clamp(1, BLOCK);
        Self { random: [0; BEGIN + BLOCK * RANDOM], block, used: block, millis: 0, number: 0 }
    }

    pub(super) fn next(&mut self) -> Uuid {
        if self.used == self.block {
            if getrandom::fill(&mut self.random[..BEGIN + self.block * RANDOM]).is_err() {
                // It says why by a panic, as it does for a single call.
                return Uuid::now_v7();
            }
            self.used = 0;
            self.look_at_clock();
        }
        let mut bytes = [(self.number >> 14) as u8, (self.number >> 6) as u8, self.number as u8, 0, 0, 0, 0, 0, 0, 0];
        bytes[3..].copy_from_slice(&self.random[BEGIN + self.used * RANDOM..][..RANDOM]);
        let id = Builder::from_unix_timestamp_millis(self.millis, &bytes).into_uuid();
        self.used += 1;
        self.number += 1;
        if self.number == NUMBERS {
            (self.millis, self.number) = (self.millis + 1, 0);
        }
        id
    }

    fn look_at_clock(&mut self) {
        // As a single id takes it: it orders listings, and decides nothing.
        let (seconds, nanos) = Timestamp::now(NoContext).to_unix();
        let millis = seconds * 1000 + u64::from(nanos / 1_000_000);
        if millis > self.millis {
            self.millis = millis;
            let [a, b, c, d, ..] = self.random;
            // In the lower half, so that there is room to rise.
            self.number = u32::from_be_bytes([a, b, c, d]) % (NUMBERS / 2);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn ids_are_of_now_and_rise() {
        for most in [0, 1, 7, BLOCK, usize::MAX] {
            are_of_now_and_rise(&mut Ids::new(most));
        }
    }

    fn are_of_now_and_rise(ids: &mut Ids) {
        let before = Uuid::now_v7();
        let made: Vec<_> = (0..5 * BLOCK).map(|_| ids.next()).collect();
        assert!(made.is_sorted_by(|a, b| a < b));
        let seconds = |id: &Uuid| id.get_timestamp().map(|time| time.to_unix().0);
        for id in &made {
            assert_eq!((id.get_version_num(), id.get_variant()), (7, uuid::Variant::RFC4122));
            assert!(seconds(id) >= seconds(&before) && seconds(id) <= seconds(&Uuid::now_v7()));
        }
        let tails: HashSet<_> = made.iter().map(|id| id.as_u64_pair().1 << 8).collect();
        assert_eq!(tails.len(), made.len(), "each has random bits of its own");
    }

    #[test]
    fn a_millisecond_that_is_full_is_followed_by_the_next() {
        let mut ids = Ids::new(BLOCK);
        ids.next();
        (ids.millis, ids.number) = (u64::MAX >> 17, NUMBERS - 1);
        let (last, first) = (ids.next(), ids.next());
        assert!(last < first);
        assert_eq!((ids.millis, ids.number), ((u64::MAX >> 17) + 1, 1));
    }
}
