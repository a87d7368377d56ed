//! Tables for people: aligned columns, as wide as the terminal at most.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::escape::escape;

/// Between two columns.
const GAP: &str = "  ";
/// A column is cut no shorter than this.
const SHORTEST: usize = 12;

/// How a cell is painted on a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum Paint {
    Plain,
    Good,
    Busy,
    Bad,
}

impl Paint {
    const fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Good => "\x1b[32m",
            Self::Busy => "\x1b[33m",
            Self::Bad => "\x1b[31m",
        }
    }
}

/// One cell's text, and its colour.
#[derive(Debug, Clone)]
pub(in crate::cli) struct Cell {
    text: String,
    paint: Paint,
}

impl Cell {
    /// A cell of this colour.
    pub(in crate::cli) fn painted(text: impl ToString, paint: Paint) -> Self {
        Self { text: text.to_string(), paint }
    }
}

impl<T: ToString> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::painted(text, Paint::Plain)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Names and ids: always whole, so that they can be copied.
    Word,
    /// To the right.
    Number,
    /// May be cut to fit a terminal.
    Prose,
}

/// One column's heading and kind.
#[derive(Debug, Clone, Copy)]
pub(in crate::cli) struct Column(&'static str, Kind);

/// A column of names or ids.
pub(in crate::cli) const fn word(heading: &'static str) -> Column {
    Column(heading, Kind::Word)
}

/// A column of numbers.
pub(in crate::cli) const fn number(heading: &'static str) -> Column {
    Column(heading, Kind::Number)
}

/// A column of text of any length.
pub(in crate::cli) const fn prose(heading: &'static str) -> Column {
    Column(heading, Kind::Prose)
}

/// Rows under headings.
#[derive(Debug)]
pub(in crate::cli) struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    pub(in crate::cli) fn new(columns: &[Column]) -> Self {
        Self { columns: columns.to_vec(), rows: Vec::new() }
    }

    /// A table without headings: names, and values that are never cut.
    pub(in crate::cli) fn sheet() -> Self {
        Self::new(&[word(""), word("")])
    }

    /// Adds a row: a cell for each column.
    pub(in crate::cli) fn row<const N: usize>(&mut self, cells: [Cell; N]) {
        debug_assert_eq!(N, self.columns.len());
        self.rows.push(cells.map(|cell| Cell { text: escape(&cell.text).into_owned(), paint: cell.paint }).into());
    }

    pub(in crate::cli) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Its lines, none wider than `limit` if columns of prose can be cut for that.
    pub(in crate::cli) fn render(&self, limit: Option<usize>, colours: bool) -> String {
        let widths = self.widths(limit);
        let headings: Vec<Cell> = self.columns.iter().map(|column| column.0.into()).collect();
        std::iter::once(&headings).chain(&self.rows).map(|row| self.line(row, &widths, colours) + "\n").collect()
    }

    /// Its lines without the headings.
    pub(in crate::cli) fn body(&self, colours: bool) -> String {
        let widths = self.widths(None);
        self.rows.iter().map(|row| self.line(row, &widths, colours) + "\n").collect()
    }

    fn widths(&self, limit: Option<usize>) -> Vec<usize> {
        let widest = |place: usize| self.rows.iter().map(|row| row[place].text.width()).max().unwrap_or_default();
        let mut widths: Vec<usize> =
            self.columns.iter().enumerate().map(|(place, column)| column.0.width().max(widest(place))).collect();
        let Some(limit) = limit else { return widths };
        let gaps = GAP.len() * widths.len().saturating_sub(1);
        let mut over = (widths.iter().sum::<usize>() + gaps).saturating_sub(limit);
        // The widest gives way first.
        let mut prose: Vec<usize> = (0..widths.len()).filter(|&place| self.columns[place].1 == Kind::Prose).collect();
        prose.sort_by_key(|&place| std::cmp::Reverse(widths[place]));
        for place in prose {
            let given = over.min(widths[place].saturating_sub(SHORTEST.max(self.columns[place].0.width())));
            widths[place] -= given;
            over -= given;
        }
        widths
    }

    fn line(&self, row: &[Cell], widths: &[usize], colours: bool) -> String {
        let mut line = String::new();
        for (place, (cell, &width)) in row.iter().zip(widths).enumerate() {
            let text = cut(&cell.text, width);
            let blank = " ".repeat(width.saturating_sub(text.width()));
            let text = match colours && cell.paint != Paint::Plain {
                true => format!("{}{text}\x1b[0m", cell.paint.code()),
                false => text,
            };
            line += if place > 0 { GAP } else { "" };
            line += &if self.columns[place].1 == Kind::Number { blank + &text } else { text + &blank };
        }
        line.truncate(line.trim_end_matches(' ').len());
        line
    }
}

/// The text in so many columns of a terminal, with a mark when it was cut.
fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut room = width.saturating_sub(1);
    let fits = |char: &char| match room.checked_sub(char.width().unwrap_or_default()) {
        Some(left) => {
            room = left;
            true
        }
        None => false,
    };
    text.chars().take_while(fits).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(&[word("queue"), number("ready"), prose("error")]);
        table.row(["high".into(), 7.into(), "it failed\nqueue 9 fine \u{1b}[2J".into()]);
        table.row(["default".into(), 1200.into(), Cell::painted("日本語 is wide", Paint::Bad)]);
        table
    }

    #[test]
    fn columns_are_aligned_and_a_cell_stays_in_its_line() {
        assert_eq!(
            table().render(None, false),
            "queue    ready  error\n\
             high         7  it failed\\nqueue 9 fine \\u{1b}[2J\n\
             default   1200  日本語 is wide\n"
        );
    }

    #[test]
    fn prose_is_cut_to_fit_and_words_are_not() {
        assert_eq!(
            table().render(Some(30), false),
            "queue    ready  error\n\
             high         7  it failed\\nqu…\n\
             default   1200  日本語 is wide\n"
        );
        let narrow = table().render(Some(5), false);
        assert!(narrow.contains("default   1200  日本語 is w…\n"), "{narrow}");
    }

    #[test]
    fn colours_take_no_room() {
        let mut table = Table::new(&[word("status"), word("id")]);
        table.row([Cell::painted("failed", Paint::Bad), "a".into()]);
        assert_eq!(table.render(None, true), "status  id\n\x1b[31mfailed\x1b[0m  a\n");
    }
}
