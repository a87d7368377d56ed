//! What is right, and the ways to get it wrong.

pub(super) const TASKS: usize = 2;
pub(super) const WORKERS: usize = 2;
pub(super) const MAX_ATTEMPTS: u8 = 2;
/// How often the mover may die. A limit is needed, since each death can leave another duplicate entry.
pub(super) const MOVER_DEATHS: u8 = 1;

/// A design of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Design {
    /// A settle writes the record, then acknowledges the entry.
    pub(super) acknowledge_last: bool,
    /// A settle or a renewal is refused unless its lease is the current one.
    pub(super) fencing: bool,
    /// Who moves a due task appends its entry, then removes it from the schedule.
    pub(super) append_first: bool,
    /// A due task becomes queued only if it still waits.
    pub(super) queued_guard: bool,
    /// An entry that the record does not name, or whose task is not queued, is dropped at its claim.
    pub(super) absorb: bool,
}

impl Design {
    /// What the stores do.
    pub(super) const RIGHT: Self =
        Self { acknowledge_last: true, fencing: true, append_first: true, queued_guard: true, absorb: true };
}
