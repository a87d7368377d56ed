//! Messages that dtq did not write: what each outcome becomes on each form, seen in what a real server executed.
//!
//! Names of tests begin with the form and say the outcome. What depends on the server runs on each kind of server.

mod bench;
mod channels;
mod claiming;
mod delayed;
mod given_up;
mod kills;
mod limits;
mod list;
mod order;
mod outage;
mod publish;
mod python;
mod recovery;
mod reliable_list;
mod start;
mod stream;

pub(crate) use bench::{Bench, GROUP, KEY, on_every_server};
