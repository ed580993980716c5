//! The output of a race: a Markdown table, followed by the goals.

use std::fmt;

/// A table of figures with a title.
#[derive(Debug)]
pub(crate) struct Table {
    /// The subject of the race.
    pub(crate) title: String,
    /// Names of the columns.
    pub(crate) head: Vec<String>,
    /// The rows, with one cell per column.
    pub(crate) rows: Vec<Vec<String>>,
    /// The goals, and the contestants that could not take part, with the reason.
    pub(crate) notes: Vec<String>,
}

impl Table {
    /// Returns a table without rows.
    pub(crate) fn new(title: impl Into<String>, head: &[&str]) -> Self {
        let head = head.iter().map(|&column| column.into()).collect();
        Self { title: title.into(), head, rows: Vec::new(), notes: Vec::new() }
    }

    /// Adds a note that compares a figure with its goal.
    pub(crate) fn judge(&mut self, what: &str, figure: f64, goal: Goal) {
        self.notes.push(format!("{what}: {}", goal.verdict(figure)));
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = |column: usize| {
            let cells = self.rows.iter().chain([&self.head]).filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or_default()
        };
        let line = |f: &mut fmt::Formatter<'_>, row: &[String]| {
            let mut cells = row.iter().enumerate();
            cells.try_for_each(|(column, cell)| write!(f, "| {cell:<0$} ", width(column)))?;
            writeln!(f, "|")
        };
        writeln!(f, "### {}\n", self.title)?;
        line(f, &self.head)?;
        writeln!(f, "|{}", "---|".repeat(self.head.len()))?;
        self.rows.iter().try_for_each(|row| line(f, row))?;
        writeln!(f)?;
        self.notes.iter().try_for_each(|note| writeln!(f, "- {note}"))
    }
}

/// The goal for a figure.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Goal {
    /// At most this value.
    AtMost(f64),
    /// At least this value.
    AtLeast(f64),
}

impl Goal {
    /// Returns the figure, the goal, and whether the figure meets it.
    pub(crate) fn verdict(self, figure: f64) -> String {
        let (met, sign, limit, broken) = match self {
            Self::AtMost(limit) => (figure <= limit, "<=", limit, ">"),
            Self::AtLeast(limit) => (figure >= limit, ">=", limit, "<"),
        };
        if met {
            format!("met: {figure:.2} {sign} {limit}")
        } else {
            format!("missed: {figure:.2} {broken} {limit}")
        }
    }
}
