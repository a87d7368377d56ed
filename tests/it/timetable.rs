//! What the macros check at compile time, held against what the library reads at run time.

use std::time::{Duration, Instant};

use dtq::timetable::Timetable;

#[path = "../../dtq-macros/src/task/cron.rs"]
mod cron;
#[path = "../../dtq-macros/src/task/zones.rs"]
mod zones;

/// Pieces of fields: good ones, odd ones, and such as are good in some fields only.
const PIECES: [&str; 58] = [
    "*",
    "0",
    "1",
    "7",
    "8",
    "12",
    "13",
    "23",
    "24",
    "29",
    "30",
    "31",
    "32",
    "59",
    "60",
    "00",
    "007",
    "1-5",
    "5-1",
    "0-7",
    "6-7",
    "22-24",
    "*/1",
    "*/2",
    "*/6",
    "*/7",
    "*/0",
    "*/11",
    "*/12",
    "*/23",
    "*/24",
    "*/30",
    "*/31",
    "*/59",
    "*/60",
    "1-5/2",
    "1/2",
    "5/0",
    "1-1/1",
    "JAN",
    "feb",
    "Dec-JAN",
    "jan-dec",
    "MON",
    "mon-fri",
    "FRI-MON",
    "sat-sun",
    "SUN-sat",
    "0-sun",
    "sun-0",
    "MONDAY",
    "L",
    "15W",
    "?",
    "-",
    "",
    "+1",
    "99999999999999999999",
];

fn agree(text: &str) {
    let (macros, library) = (cron::check(text), Timetable::cron(text, "UTC"));
    assert_eq!(macros.is_ok(), library.is_ok(), "{text:?}: {macros:?} {library:?}");
}

#[test]
fn macros_and_library_agree_on_every_piece_of_every_field() {
    for piece in PIECES {
        for other in PIECES {
            for place in 0..5 {
                let mut fields = ["*"; 5];
                let list = format!("{piece},{other}");
                fields[place] = &list;
                agree(&fields.join(" "));
                fields[place] = piece;
                // Which day comes in which month depends on two or three of them.
                fields[(place + 1) % 5] = other;
                agree(&fields.join(" "));
            }
        }
    }
}

#[test]
fn macros_and_library_agree_on_random_expressions() {
    let seed = std::env::var("DTQ_TEST_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(4);
    let mut random = Xorshift(seed);
    for _ in 0..40_000 {
        let count = if random.below(20) == 0 { random.below(8) } else { 5 };
        let field = |random: &mut Xorshift| {
            let pieces: Vec<_> = (0..=random.below(3)).map(|_| PIECES[random.below(PIECES.len())]).collect();
            pieces.join(",")
        };
        let fields: Vec<_> =
            (0..count).map(|_| if random.below(2) == 0 { "*".to_owned() } else { field(&mut random) }).collect();
        agree(&fields.join(if random.below(5) == 0 { "  " } else { " " }));
    }
    for text in
        ["", " ", "\u{a0}* * * * *", "*\t*\n* * *", "@daily", "@DAILY ", "@", "@dayly", "* * * * * *", "é * * * *"]
    {
        agree(text);
    }
}

#[test]
fn macros_and_library_agree_on_the_length() {
    for length in [255, 256, 257, 10_000] {
        let text = format!("{}1 * * * *", "1,".repeat(length / 2));
        agree(&text[text.len().saturating_sub(length)..]);
    }
}

#[test]
fn macros_and_library_know_the_same_zones() {
    let library: Vec<_> = Timetable::zones().collect();
    assert_eq!(zones::NAMES.to_vec(), library, "the list in dtq-macros is of another release of the database");
}

#[test]
fn junk_is_refused_at_once_and_what_is_rare_is_found() {
    let began = Instant::now();
    let long = format!("{}1 * * * *", "1,".repeat(5_000));
    let junk = [
        "0 0 30 2 *",
        "0 0 31 4 *",
        "0 0 31 2,4,6 *",
        "*/0 * * * *",
        "1/0 * * * *",
        "60 * * * *",
        "5-1 * * * *",
        "",
        "* * * *",
    ];
    for text in junk.into_iter().chain([long.as_str()]) {
        assert!(Timetable::cron(text, "Europe/Berlin").is_err(), "{text}");
        assert!(cron::check(text).is_err(), "{text}");
    }
    for interval in [Duration::ZERO, Duration::from_nanos(1)] {
        assert!(Timetable::every(interval).is_err());
    }
    // 1 August 2026, and 29 February 2028.
    let from = dtq::types::Timestamp::from_millis(1_785_542_400_000);
    let leap = Timetable::cron("0 0 29 2 *", "Europe/Berlin").unwrap().next_after(from).unwrap();
    assert_eq!(leap.to_string(), "2028-02-28T23:00:00.000Z");
    let sparse = Timetable::cron("0 0 29 2 */6", "America/New_York").unwrap();
    assert!(sparse.next_after(leap).unwrap() > leap);
    assert!(began.elapsed() < Duration::from_millis(100), "{:?}", began.elapsed());
}

/// Numbers that look random, the same for the same seed.
struct Xorshift(u64);

impl Xorshift {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(end).unwrap()).unwrap()
    }
}
