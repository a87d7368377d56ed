//! The encoded arguments of many calls, side by side in few buffers.

use bytes::Bytes;

use crate::task::Task;
use crate::types::NewTask;

/// A buffer that has so many bytes takes no more arguments: one payload that lives on keeps the others of its buffer.
const ENOUGH: usize = 16 * 1024;

/// Arguments that were encoded and not handed out yet.
#[derive(Default)]
pub(super) struct Payloads {
    buffer: Vec<u8>,
    /// Where each ends.
    ends: Vec<usize>,
    /// How long the buffer before was: this one will not be much longer.
    expected: usize,
}

impl Payloads {
    /// Encodes the next arguments.
    pub(super) fn add<T: Task>(&mut self, args: &T) -> Result<(), String> {
        if self.buffer.is_empty() {
            self.buffer.reserve_exact(self.expected);
        }
        self.buffer = args.append_payload(std::mem::take(&mut self.buffer))?;
        self.ends.push(self.buffer.len());
        Ok(())
    }

    /// True when it is time to hand out.
    pub(super) fn fill_a_buffer(&self) -> bool {
        self.buffer.len() >= ENOUGH
    }

    /// Gives each of the last tasks its own: the latest one that was added is that of the last task.
    pub(super) fn hand_out(&mut self, tasks: &mut [NewTask]) {
        self.expected = self.buffer.len();
        let shared = Bytes::from(std::mem::take(&mut self.buffer));
        let first = tasks.len().saturating_sub(self.ends.len());
        let mut begin = 0;
        for (task, end) in tasks[first..].iter_mut().zip(self.ends.drain(..)) {
            task.payload = shared.slice(begin..end);
            begin = end;
        }
    }
}
