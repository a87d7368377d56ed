//! "Did you mean": the nearest known word by edit distance.

/// The candidate nearest to `word`, when it is near enough to be what was meant.
pub(crate) fn nearest<'a>(word: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let word = word.to_lowercase();
    let (distance, best) = candidates.iter().map(|known| (distance(&word, known), *known)).min()?;
    // One slip in three letters is a typo; more is another word. Two letters swapped count as one slip.
    (distance <= (word.chars().count().max(best.len()) / 3).max(1)).then_some(best)
}

/// `known options are `a`, `b`` with a suggestion in front of it, for a message that ends with it.
pub(crate) fn hint(word: &str, candidates: &[&str]) -> String {
    let meant = nearest(word, candidates).map(|best| format!("did you mean `{best}`? ")).unwrap_or_default();
    format!("{meant}known: {}", list(candidates))
}

fn list(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// Edit distance with transpositions (optimal string alignment), keeping three rows.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut row = vec![i + 1];
        for j in 0..b.len() {
            let replaced = last[j] + usize::from(a[i] != b[j]);
            let mut least = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (a, b, expected) in [("", "", 0), ("", "abc", 3), ("queu", "queue", 1), ("qeueu", "queue", 2)] {
            assert_eq!(distance(a, b), expected, "{a} {b}");
            assert_eq!(distance(b, a), expected, "{b} {a}");
        }
        assert_eq!(distance("timeuot", "timeout"), 1, "a swap is one slip");
        assert_eq!(distance("name", "queue"), 4);
    }

    #[test]
    fn a_typo_finds_its_word() {
        let known = ["name", "queue", "timeout", "max_attempts", "ttl"];
        assert_eq!(nearest("queu", &known), Some("queue"));
        assert_eq!(nearest("TimeOut", &known), Some("timeout"));
        assert_eq!(nearest("max_atempt", &known), Some("max_attempts"));
        assert_eq!(nearest("tll", &known), Some("ttl"));
    }

    #[test]
    fn another_word_finds_none() {
        assert_eq!(nearest("colour", &["name", "queue"]), None);
        assert_eq!(nearest("x", &["name", "queue"]), None);
        assert_eq!(nearest("x", &[]), None);
    }

    #[test]
    fn the_hint_lists_what_is_known() {
        assert_eq!(hint("nam", &["name", "ttl"]), "did you mean `name`? known: `name`, `ttl`");
        assert_eq!(hint("colour", &["name"]), "known: `name`");
    }
}
