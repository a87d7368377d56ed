//! Names that end up in keys, rows and terminals: checked once, at the door.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// The longest queue or task name, in bytes.
const MAX_LEN: usize = 64;

/// Why a queue or task name was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} name {name:?} is not usable: {rule}")]
pub struct NameError {
    what: &'static str,
    name: String,
    rule: &'static str,
}

/// The name of a queue: 1 to 64 characters of `a-z A-Z 0-9 _ - .`, the first one a letter or a digit.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueueName(Arc<str>);

impl QueueName {
    /// The queue of tasks that name none.
    pub const DEFAULT: &'static str = "default";

    /// Checks and takes a name.
    ///
    /// # Errors
    /// When the name breaks the rule of [`QueueName`].
    pub fn new(name: &str) -> Result<Self, NameError> {
        check("queue", name)?;
        Ok(Self(name.into()))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for QueueName {
    fn default() -> Self {
        Self(Self::DEFAULT.into())
    }
}

impl fmt::Display for QueueName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for QueueName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl FromStr for QueueName {
    type Err = NameError;
    fn from_str(name: &str) -> Result<Self, NameError> {
        Self::new(name)
    }
}

/// Checks a task name: the same rule as [`QueueName`], and `:` is allowed inside, so that names can be paths.
///
/// # Errors
/// When the name breaks the rule.
pub fn check_task_name(name: &str) -> Result<(), NameError> {
    check("task", name)
}

/// Checks the name of a schedule: the same rule as [`check_task_name`].
///
/// # Errors
/// When the name breaks the rule.
pub fn check_schedule_name(name: &str) -> Result<(), NameError> {
    check("schedule", name)
}

fn check(what: &'static str, name: &str) -> Result<(), NameError> {
    let refuse = |rule| Err(NameError { what, name: name.chars().take(MAX_LEN + 1).collect(), rule });
    let Some(first) = name.bytes().next() else {
        return refuse("it is empty; give it a name such as \"default\"");
    };
    if name.len() > MAX_LEN {
        return refuse("it is longer than 64 bytes");
    }
    let path = what != "queue";
    let may_begin = first.is_ascii_alphanumeric() || (path && first == b'_');
    if !may_begin {
        return refuse("it must begin with a letter or a digit");
    }
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b"_-.".contains(&b) || (path && b == b':');
    if !name.bytes().all(allowed) {
        return refuse("only letters, digits, '_', '-' and '.' may stand in it (and ':' in a task name)");
    }
    Ok(())
}

/// A priority from 0 (last) to 9 (first); 5 unless said otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Priority(u8);

/// A priority outside 0..=9.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("priority {0} is out of range: priorities go from 0 (last) to 9 (first)")]
pub struct PriorityError(pub u8);

impl Priority {
    /// Taken before every other.
    pub const HIGHEST: Self = Self(9);
    /// Taken when nothing else is ready.
    pub const LOWEST: Self = Self(0);

    /// Checks and takes a level.
    ///
    /// # Errors
    /// When the level is above 9.
    pub const fn new(level: u8) -> Result<Self, PriorityError> {
        if level > 9 { Err(PriorityError(level)) } else { Ok(Self(level)) }
    }

    /// The level as a number.
    pub const fn level(self) -> u8 {
        self.0
    }
}

impl Default for Priority {
    fn default() -> Self {
        Self(5)
    }
}

impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_would_break_a_key_are_refused() {
        for bad in ["", "a:b", "a{b}", "a b", "é", "-a", "a\n", &"x".repeat(65)] {
            assert!(QueueName::new(bad).is_err(), "{bad:?}");
        }
        assert!(QueueName::new("high.eu-1_a").is_ok());
        assert!(check_task_name("billing::charge").is_ok());
        assert!(check_task_name("_task").is_ok());
    }

    #[test]
    fn priorities_end_at_nine() {
        assert_eq!(Priority::new(10), Err(PriorityError(10)));
        assert_eq!(Priority::new(9), Ok(Priority::HIGHEST));
    }
}
