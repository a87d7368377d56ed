//! Names of the keys that stand beside a user's stream or list. The user's own key is the hash tag, so that they share its
//! slot. `{orders}` stands for a stream or list `orders`; where its name holds a tag of its own, that one is kept.
//!
//! | key | type | holds | bound | written by | drained by |
//! |---|---|---|---|---|---|
//! | `{orders}:delayed:<group>` (stream), `{orders}:delayed` (list) | zset | copies that wait for a retry, as netstrings: a random id, then the entry's names and values, or the value; by due time (ms) | delayed copies; the `ttl` of `delayed_retry`, if one is set | settling | reading |
//! | `{orders}:processing:<consumer>` | list | what that consumer works on (reliable list) | its concurrency | reading | settling, recovery |
//! | `{orders}:consumers` | zset | consumers of a reliable list by their latest sign of life (ms) | live consumers | reading, renewal | recovery, leaving |

use crate::types::WorkerId;

/// What the name of every consumer of dtq begins with. Consumers of others are left alone.
pub(super) const CONSUMER: &str = "dtq-";

/// A worker's name as a consumer.
pub(super) fn consumer(worker: &WorkerId) -> String {
    format!("{CONSUMER}{worker}")
}

/// The delayed copies of a stream's group.
pub(super) fn delayed_of_group(stream: &str, group: &str) -> String {
    beside(stream, &format!("delayed:{group}"))
}

/// The delayed copies of a list.
pub(super) fn delayed(list: &str) -> String {
    beside(list, "delayed")
}

/// What the names of a list's processing lists begin with.
pub(super) fn processing_of(list: &str) -> String {
    beside(list, "processing:")
}

/// The consumers of a list.
pub(super) fn consumers(list: &str) -> String {
    beside(list, "consumers")
}

fn beside(key: &str, what: &str) -> String {
    if has_tag(key) { format!("{key}:{what}") } else { format!("{{{key}}}:{what}") }
}

/// True when a cluster takes the slot from a part of the key.
fn has_tag(key: &str) -> bool {
    key.split_once('{').and_then(|(_, rest)| rest.split_once('}')).is_some_and(|(tag, _)| !tag.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_share_the_slot_of_the_key_they_stand_beside() {
        assert_eq!(delayed_of_group("orders", "billing"), "{orders}:delayed:billing");
        assert_eq!(delayed("jobs"), "{jobs}:delayed");
        assert_eq!(processing_of("eu{jobs}x"), "eu{jobs}x:processing:");
        // An empty tag is none: the whole key decides.
        assert_eq!(consumers("a{}b"), "{a{}b}:consumers");
    }
}
