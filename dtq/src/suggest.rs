//! "Did you mean": the nearest known word by edit distance.

/// The candidate nearest to `word`, when it is near enough to be what was meant.
pub(crate) fn nearest<'a>(word: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let (slips, best) = candidates.iter().map(|known| (slips(word, known), *known)).min()?;
    // One slip in three letters is a typo; more is another word.
    (slips <= (word.chars().count().max(best.chars().count()) / 3).max(1)).then_some(best)
}

/// Words as a message lists them.
pub(crate) fn list(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// Letters to insert, remove, replace, or swap with their neighbour until one word is the other.
fn slips(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for (i, letter) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, other) in b.iter().enumerate() {
            let replaced = rows[i][j] + usize::from(letter != other);
            let least = replaced.min(rows[i][j + 1] + 1).min(row[j] + 1);
            let swapped = i > 0 && j > 0 && *letter == b[j - 1] && a[i - 1] == *other;
            row.push(if swapped { least.min(rows[i - 1][j - 1] + 1) } else { least });
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_finds_its_word_and_another_word_finds_none() {
        let known = ["order", "cents", "n"];
        for (word, meant) in
            [("ordr", Some("order")), ("odrer", Some("order")), ("cent", Some("cents")), ("colour", None)]
        {
            assert_eq!(nearest(word, &known), meant, "{word}");
        }
        assert_eq!(nearest("x", &[]), None);
        assert_eq!(slips("", "abc"), 3);
        assert_eq!(slips("abc", "acb"), 1);
    }
}
