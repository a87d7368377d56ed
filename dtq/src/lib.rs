//! dtq: declarative distributed tasks.

pub mod clock;
pub mod policy;
pub mod state;
pub mod store;
pub mod types;
