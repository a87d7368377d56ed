//! Named places at which a test freezes this process, looks at its store, and kills it. Without the feature
//! `failpoints` they compile to nothing.
//!
//! `DTQ_FAIL_POINT=<point>[:<n>][=lose]` arms one point for the n-th time it is reached (the first, unless said). The
//! thread that reaches it says `dtq: fail point <point>` on standard error and then stands still for ever; others go on,
//! lease renewal above all. With `=lose` it goes on as if the connection had broken before the answer came.
//!
//! | point | reached | on |
//! |---|---|---|
//! | `enqueue.before` | before a client sends tasks | both |
//! | `claim.before` | before a worker asks for tasks | both |
//! | `fire.before` | before a worker makes the tasks of a schedule's ticks | both |
//! | `settle.before` | after the handler, before its end is sent | both |
//! | `message.before` | after a subscriber's handler, before its message is settled | Redis |
//! | `message.between` | a message's copy or dead letter is written, and the message not yet acknowledged | Redis |
//! | `enqueue.uncommitted`, `claim.uncommitted`, `settle.uncommitted` | all is written, before `COMMIT` | SQLite |
//! | `enqueue.applied`, `claim.applied`, `settle.applied` | the store has done it, its caller knows nothing yet | both; `=lose` on Redis |
//!
//! The two last rows hold for every other verb, too, such as `renew` and `cancel`.

use std::io::Write;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// True when fail points are compiled in.
pub(crate) const ENABLED: bool = cfg!(feature = "failpoints");

/// The point that the environment arms.
struct Armed {
    name: String,
    /// How often it is still to be reached, this time included.
    left: AtomicU32,
    loses: bool,
}

static ARMED: LazyLock<Option<Armed>> = LazyLock::new(|| Armed::read(&std::env::var("DTQ_FAIL_POINT").ok()?));

impl Armed {
    fn read(text: &str) -> Option<Self> {
        let (place, loses) = text.strip_suffix("=lose").map_or((text, false), |place| (place, true));
        let (name, left) = place.split_once(':').unwrap_or((place, "1"));
        Some(Self { name: name.to_owned(), left: AtomicU32::new(left.parse().ok()?), loses })
    }

    fn is(&self, operation: &str, moment: &str) -> bool {
        self.name.split_once('.') == Some((operation, moment)) && self.left.fetch_sub(1, Ordering::AcqRel) == 1
    }
}

/// Reaches the point `<operation>.<moment>`. True when the answer that is on its way shall be lost.
pub(crate) fn reach(operation: &str, moment: &str) -> bool {
    if !ENABLED {
        return false;
    }
    let Some(armed) = ARMED.as_ref().filter(|armed| armed.is(operation, moment)) else { return false };
    // Nobody may be listening; the point acts all the same.
    let _ = writeln!(std::io::stderr(), "dtq: fail point {}", armed.name);
    if armed.loses {
        return true;
    }
    loop {
        std::thread::park();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_acts_once_at_the_nth_time() {
        let armed = Armed::read("settle.applied:3=lose").unwrap();
        assert!(armed.loses && !armed.is("settle", "before") && !armed.is("claim", "applied"));
        let acts: Vec<_> = (0..5).map(|_| armed.is("settle", "applied")).collect();
        assert_eq!(acts, [false, false, true, false, false]);
    }

    #[test]
    fn without_a_number_it_acts_the_first_time_and_freezes() {
        let armed = Armed::read("claim.before").unwrap();
        assert!(!armed.loses && armed.is("claim", "before"));
        assert!(Armed::read("claim.before:often").is_none());
    }
}
