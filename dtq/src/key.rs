//! Keys made of arguments, by the templates of `#[dtq::task(..)]`.

use std::fmt::{Display, Write};

use crate::registry::Keys;
use crate::task::Task;

/// An argument that can stand in a key.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot stand in a key: it is not `Display`",
    label = "a key is text, and this argument has no text of its own",
    note = "name another argument in the template, such as an id, or implement `std::fmt::Display` for this type"
)]
pub trait KeyPart {
    /// Writes it to the key.
    fn write(&self, key: &mut Key);
}

#[diagnostic::do_not_recommend]
impl<T: Display> KeyPart for T {
    fn write(&self, key: &mut Key) {
        key.failed |= write!(key.text, "{self}").is_err();
    }
}

/// A key on its way.
#[derive(Debug, Default)]
pub struct Key {
    text: String,
    failed: bool,
}

impl Key {
    /// The text between the arguments.
    pub fn text(&mut self, text: &str) {
        self.text.push_str(text);
    }
}

/// The key that `write` makes. Empty, which is refused, when an argument's `Display` failed: a key that is cut short could be
/// that of another call.
pub fn key(write: impl FnOnce(&mut Key)) -> String {
    let mut key = Key::default();
    write(&mut key);
    if key.failed { String::new() } else { key.text }
}

/// The keys of a stored call.
pub(crate) fn of_payload<T: Task>(payload: &[u8]) -> Result<Keys, String> {
    let call = T::from_payload(payload)?;
    Ok((call.idempotency(), call.unique()))
}

#[cfg(test)]
mod tests {
    use std::fmt;

    use super::*;

    struct Fails;

    impl Display for Fails {
        fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
            Err(fmt::Error)
        }
    }

    #[test]
    fn a_key_is_text_and_arguments() {
        let made = key(|key| {
            key.text("order-");
            KeyPart::write(&17_u64, key);
        });
        assert_eq!(made, "order-17");
    }

    #[test]
    fn a_key_with_an_argument_that_has_no_text_is_empty() {
        let made = key(|key| {
            key.text("order-");
            KeyPart::write(&Fails, key);
        });
        assert_eq!(made, "");
    }
}
