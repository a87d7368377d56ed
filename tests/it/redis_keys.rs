//! What the Redis store keeps in its keys, and what it does when the server misbehaves. These look at raw keys.

pub(crate) mod blocks;
mod blocks_among_others;
mod by_hand;
mod duplicates;
mod faults;
mod held;
mod keys;
mod limits;
mod order;
mod settings;
mod watch;
