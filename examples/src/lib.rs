//! Programs that show dtq at work: `quickstart`, the pair `producer` and `worker`, and the instruments `bench` and `chaos`.
//! What the instruments share with the tests is here.

mod proxy;
mod server;

pub use proxy::{Fault, Proxy};
pub use server::{Appendonly, RedisServer};
