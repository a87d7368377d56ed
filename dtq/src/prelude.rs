//! What most files of a program with tasks want: `use dtq::prelude::*;`.

#[cfg(feature = "sqlite")]
pub use crate::testing::TestApp;
pub use crate::types::{QueueName, TaskId};
pub use crate::{
    App, Call, Client, Context, EnqueueError, Fields, Handle, Json, Later, Message, Outcome, ResultExt, Task,
    TaskError, TaskOutput,
};
