//! Text of strangers on a terminal: what would move the cursor, hide or forge something is shown, not done.

use std::borrow::Cow;

/// The text with every character made visible that a terminal would act on.
pub(in crate::cli) fn escape(text: &str) -> Cow<'_, str> {
    if !text.chars().any(acts) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for char in text.chars() {
        match acts(char) {
            // `\n`, `\t`, `\r` or `\u{1b}`.
            true => shown.extend(char.escape_default()),
            false => shown.push(char),
        }
    }
    Cow::Owned(shown)
}

/// True for what a terminal does not show as a letter: control characters, marks that turn the direction of writing, line
/// and paragraph separators, and letters without any width.
fn acts(char: char) -> bool {
    char.is_control()
        || matches!(char,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_acts_on_is_shown() {
        for (text, shown) in [
            ("clear \u{1b}[2J", r"clear \u{1b}[2J"),
            ("\u{1b}]8;;http://x\u{7}link\u{1b}]8;;\u{7}", r"\u{1b}]8;;http://x\u{7}link\u{1b}]8;;\u{7}"),
            ("\u{9b}2J \u{7f}", r"\u{9b}2J \u{7f}"),
            ("a\rb\nc\td\0", r"a\rb\nc\td\u{0}"),
            ("\u{202e}live\u{2066}\u{200f}", r"\u{202e}live\u{2066}\u{200f}"),
            ("\u{2028}\u{feff}\u{200b}", r"\u{2028}\u{feff}\u{200b}"),
            ("\u{e0041}", r"\u{e0041}"),
        ] {
            assert_eq!(escape(text), shown);
        }
    }

    #[test]
    fn letters_of_all_scripts_stay_as_they_are() {
        for text in ["", "naïve", "日本語", "עברית", "👍", r"C:\new", "e\u{301}"] {
            assert!(matches!(escape(text), Cow::Borrowed(same) if same == text), "{text}");
        }
    }
}
