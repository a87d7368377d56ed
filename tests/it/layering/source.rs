//! Source text without comments and literals.

/// Replaces comments and the insides of literals by spaces; line breaks stay, so that lines keep their numbers.
pub(super) fn code_of(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        let end = skip(&chars, at);
        if end == at {
            out.push(chars[at]);
            at += 1;
        } else {
            out.extend(chars[at..end].iter().map(|&char| if char == '\n' { '\n' } else { ' ' }));
            at = end;
        }
    }
    out
}

/// The end of the comment or literal that begins at `at`; `at` itself when none does.
fn skip(chars: &[char], at: usize) -> usize {
    let next = |offset: usize| chars.get(at + offset).copied();
    match (chars[at], next(1)) {
        ('/', Some('/')) => (at..chars.len()).find(|&i| chars[i] == '\n').unwrap_or(chars.len()),
        ('/', Some('*')) => block_comment(chars, at),
        ('"', _) => string(chars, at + 1),
        ('r', Some('"' | '#')) if !follows_a_word(chars, at) => raw_string(chars, at),
        ('\'', Some('\\')) => string_until(chars, at + 1, '\''),
        ('\'', Some(_)) if next(2) == Some('\'') => at + 3,
        _ => at,
    }
}

fn follows_a_word(chars: &[char], at: usize) -> bool {
    // `br"…"` is a raw string too.
    at > 0 && (chars[at - 1].is_alphanumeric() || chars[at - 1] == '_') && chars[at - 1] != 'b'
}

fn block_comment(chars: &[char], at: usize) -> usize {
    let (mut depth, mut i) = (0, at);
    while i + 1 < chars.len() {
        match (chars[i], chars[i + 1]) {
            ('/', '*') => (depth, i) = (depth + 1, i + 2),
            ('*', '/') => (depth, i) = (depth - 1, i + 2),
            _ => i += 1,
        }
        if depth == 0 {
            return i;
        }
    }
    chars.len()
}

fn string(chars: &[char], at: usize) -> usize {
    string_until(chars, at, '"')
}

fn string_until(chars: &[char], mut at: usize, end: char) -> usize {
    while at < chars.len() {
        match chars[at] {
            '\\' => at += 2,
            char if char == end => return at + 1,
            _ => at += 1,
        }
    }
    chars.len()
}

fn raw_string(chars: &[char], at: usize) -> usize {
    let hashes = chars[at + 1..].iter().take_while(|&&char| char == '#').count();
    let open = at + 1 + hashes;
    if chars.get(open) != Some(&'"') {
        // A raw identifier.
        return at;
    }
    let closes =
        |i: usize| chars[i] == '"' && chars[i + 1..].iter().take(hashes).filter(|&&c| c == '#').count() == hashes;
    (open + 1..chars.len()).find(|&i| closes(i)).map_or(chars.len(), |i| i + 1 + hashes)
}

#[test]
fn comments_and_literals_are_blank() {
    let text = "a // b\nc /* d /* e */ f */ g \"h \\\" i\" j r#\"k \" l\"# m 'n' o '\\'' p b\"q\" r::<'s> t";
    let code = code_of(text);
    let words: Vec<_> = code.split_whitespace().collect();
    assert_eq!(words, ["a", "c", "g", "j", "m", "o", "p", "b", "r::<'s>", "t"]);
    assert_eq!(code.lines().count(), 2);
}
