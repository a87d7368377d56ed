//! Ids of many calls. A single one asks the operating system for its random bytes, which costs as much as a large part of
//! all else that is done for a task; here many share one question.

use std::time::{SystemTime, UNIX_EPOCH};

use uuid::{Builder, Uuid};

/// Ids whose random bytes are fetched together.
const BLOCK: usize = 128;
/// Random bytes of an id.
const RANDOM: usize = 7;
/// Ids of one millisecond.
const NUMBERS: u32 = 1 << 18;

/// UUIDv7 with a counter of its own (RFC 9562, 6.2, method 1): the time, an 18-bit number that rises from a random one, and
/// 56 random bits. Each is greater than the one before. For one call: kept longer, a process that is forked would go on
/// with the same ones in both.
pub(super) struct Ids {
    /// Those of a block, and behind them those that a millisecond's numbers begin with.
    random: [u8; BLOCK * RANDOM + 4],
    used: usize,
    millis: u64,
    number: u32,
}

impl Ids {
    pub(super) fn new() -> Self {
        Self { random: [0; BLOCK * RANDOM + 4], used: BLOCK, millis: 0, number: 0 }
    }

    pub(super) fn next(&mut self) -> Uuid {
        if self.used == BLOCK {
            if getrandom::fill(&mut self.random).is_err() {
                // It says why by a panic, as it does for a single call.
                return Uuid::now_v7();
            }
            self.used = 0;
            self.look_at_clock();
        }
        let mut bytes = [(self.number >> 14) as u8, (self.number >> 6) as u8, self.number as u8, 0, 0, 0, 0, 0, 0, 0];
        bytes[3..].copy_from_slice(&self.random[self.used * RANDOM..][..RANDOM]);
        let id = Builder::from_unix_timestamp_millis(self.millis, &bytes).into_uuid();
        self.used += 1;
        self.number += 1;
        if self.number == NUMBERS {
            (self.millis, self.number) = (self.millis + 1, 0);
        }
        id
    }

    fn look_at_clock(&mut self) {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let millis = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        if millis > self.millis {
            self.millis = millis;
            let [.., a, b, c, d] = self.random;
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
        let before = Uuid::now_v7();
        let mut ids = Ids::new();
        let made: Vec<_> = (0..10 * BLOCK).map(|_| ids.next()).collect();
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
        let mut ids = Ids::new();
        ids.next();
        (ids.millis, ids.number) = (u64::MAX >> 17, NUMBERS - 1);
        let (last, first) = (ids.next(), ids.next());
        assert!(last < first);
        assert_eq!((ids.millis, ids.number), ((u64::MAX >> 17) + 1, 1));
    }
}
