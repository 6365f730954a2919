//! The plot of a sweep: a figure over the first key with several values.

use std::collections::BTreeMap;

use coif_lab::validate::Plot;

use super::table;
use super::values::{List, combinations};

/// What is plotted.
pub(super) struct Chart<'a> {
    pub(super) lists: &'a [List],
    /// The rows of all combinations, in order.
    pub(super) rows: &'a [String],
    /// Name of the column.
    pub(super) figure: &'a str,
}

impl Chart<'_> {
    /// The plot as SVG. Values that are not numbers are at 0, 1, 2 and so on.
    pub(super) fn svg(&self, scene: &str) -> String {
        let x_list = self.lists.iter().position(|l| l.values.len() > 1).unwrap_or(0);
        let Some(list) = self.lists.get(x_list) else { return String::new() };
        let numbers: Option<Vec<f64>> = list.values.iter().map(|v| v.parse().ok()).collect();
        let label = match &numbers {
            Some(_) => list.key.clone(),
            None => {
                let named: Vec<String> =
                    list.values.iter().enumerate().map(|(i, v)| format!("{i} {v}")).collect();
                format!("{}: {}", list.key, named.join(", "))
            }
        };
        let x_of = |value: &str| {
            let i = list.values.iter().position(|v| v == value)?;
            Some(numbers.as_ref().map_or(i as f64, |numbers| numbers[i]))
        };
        let column = table::FIGURES.iter().position(|f| *f == self.figure);
        let column = column.map(|i| self.lists.len() + 1 + i).unwrap_or_default();
        // One line per combination of the other values, in the order of the table.
        let mut lines: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
        let mut known = BTreeMap::new();
        for (row, values) in self.rows.iter().zip(combinations(self.lists).unwrap_or_default()) {
            let others = values.iter().enumerate().filter(|(i, _)| *i != x_list);
            let others = others.filter(|(i, _)| self.lists[*i].values.len() > 1);
            let name: Vec<String> = others.map(|(_, value)| (*value).to_owned()).collect();
            let name = if name.is_empty() { self.figure.to_owned() } else { name.join(", ") };
            let line = *known.entry(name.clone()).or_insert_with(|| {
                lines.push((name, Vec::new()));
                lines.len() - 1
            });
            let y = table::cells(row).get(column).and_then(|cell| cell.parse().ok());
            if let (Some(x), Some(y)) = (x_of(values[x_list]), y) {
                lines[line].1.push((x, y));
            }
        }
        let mut plot =
            Plot::new(&format!("{scene}: {}", self.figure), &label, self.figure).marked();
        for (name, mut points) in lines {
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            plot.line(&name, points);
        }
        plot.svg()
    }
}
