//! The rule for names of tasks and queues: the same as `dtq::types` has at run time.

/// What a name is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Task,
    Queue,
}

const LONGEST: usize = 64;

/// Checks a name.
///
/// # Errors
/// The rule that it breaks, for the user.
pub(crate) fn check(kind: Kind, name: &str) -> Result<(), String> {
    let what = match kind {
        Kind::Task => "task",
        Kind::Queue => "queue",
    };
    let Some(first) = name.chars().next() else {
        return Err(format!("the {what} name is empty: write 1 to {LONGEST} characters"));
    };
    if let Some(odd) = name.chars().find(|c| !allowed(kind, *c)) {
        let also = if kind == Kind::Task { ", `.` and `:`" } else { " and `.`" };
        return Err(format!("a {what} name cannot hold {odd:?}: use ASCII letters, digits, `_`, `-`{also}"));
    }
    if !(first.is_ascii_alphanumeric() || kind == Kind::Task && first == '_') {
        let also = if kind == Kind::Task { ", a digit or `_`" } else { " or a digit" };
        return Err(format!("a {what} name cannot begin with {first:?}: begin it with a letter{also}"));
    }
    if name.len() > LONGEST {
        return Err(format!("the {what} name has {} characters: shorten it to at most {LONGEST}", name.len()));
    }
    Ok(())
}

fn allowed(kind: Kind, c: char) -> bool {
    c.is_ascii_alphanumeric() || "_-.".contains(c) || kind == Kind::Task && c == ':'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_the_rule() {
        for good in ["a", "high.eu-1_a", "0", &"x".repeat(64)] {
            assert_eq!(check(Kind::Queue, good), Ok(()), "{good}");
            assert_eq!(check(Kind::Task, good), Ok(()), "{good}");
        }
        for bad in ["", "a b", "a{b}", "é", "-a", ".a", ":a", "a\0", &"x".repeat(65)] {
            assert!(check(Kind::Queue, bad).is_err(), "{bad:?}");
            assert!(check(Kind::Task, bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn task_names_may_be_paths_and_begin_with_an_underscore() {
        for name in ["billing::charge", "_charge"] {
            assert_eq!(check(Kind::Task, name), Ok(()));
            assert!(check(Kind::Queue, name).is_err());
        }
    }
}
