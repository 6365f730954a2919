//! Multicolour ordering: groups of columns that are not coupled with each other and can be solved together. Also the
//! connected components of the matrix, which are independent systems.

use std::ops::Range;

use super::block_matrix::BlockMatrix;
use super::lanes::LANES;

/// Columns that are solved together.
#[derive(Debug, Clone)]
pub(super) struct Group {
    /// At most one per lane.
    pub(super) columns: Vec<u32>,
    /// One slot per unknown of the longest column, without its first.
    pub(super) slots: Range<usize>,
    /// Per lane: the connected component of its column, or the number of components in an empty lane.
    pub(super) components: [u32; LANES],
}

impl Group {
    /// Number of slots, rounded up to whole groups of levels.
    #[inline(always)]
    pub(super) fn whole(&self) -> usize {
        self.slots.len().next_multiple_of(LANES)
    }
}

/// Unknowns of a column that are not pinned.
#[inline(always)]
pub(super) fn unknowns(starts: &[u32], column: usize) -> Range<usize> {
    starts[column] as usize + 1..starts[column + 1] as usize
}

/// Number of candidate columns for a group. A larger window fills more lanes, but departs farther from the order of the
/// columns, in which a sweep propagates across the grid.
const WINDOW: usize = 4 * LANES;

/// Forms groups of columns that are not coupled, approximately in the order of the columns.
pub(super) fn groups(beside: &[Vec<u32>], starts: &[u32], component: &[u32]) -> Vec<Group> {
    let none = component.iter().map(|&c| c + 1).max().unwrap_or(0);
    let count = beside.len();
    let mut taken = vec![false; count];
    let mut groups: Vec<Group> = Vec::new();
    for first in 0..count {
        if taken[first] {
            continue;
        }
        let mut columns: Vec<u32> = Vec::new();
        let near = (first..count).filter(|&c| !taken[c]).take(WINDOW);
        for column in near {
            let apart = |c: &u32| beside[column].binary_search(c).is_err();
            if columns.len() < LANES && columns.iter().all(apart) {
                columns.push(column as u32);
            }
        }
        columns.iter().for_each(|&c| taken[c as usize] = true);
        let length = |&c: &u32| unknowns(starts, c as usize).len();
        let start = groups.last().map_or(0, |g| g.slots.end);
        let slots = start..start + columns.iter().map(length).max().unwrap_or(0);
        let mut components = [none; LANES];
        for (to, &column) in components.iter_mut().zip(&columns) {
            *to = component[column as usize];
        }
        groups.push(Group { columns, slots, components });
    }
    groups
}

/// The connected component of each column, numbered in the order of their first columns.
pub(super) fn components(beside: &[Vec<u32>]) -> Vec<u32> {
    const NONE: u32 = u32::MAX;
    let mut component = vec![NONE; beside.len()];
    let mut next = 0;
    let mut open = Vec::new();
    for first in 0..beside.len() {
        if component[first] != NONE {
            continue;
        }
        open.push(first as u32);
        component[first] = next;
        while let Some(column) = open.pop() {
            for &other in &beside[column as usize] {
                if component[other as usize] == NONE {
                    component[other as usize] = next;
                    open.push(other);
                }
            }
        }
        next += 1;
    }
    component
}

/// The other columns that each column is coupled to, in ascending order.
pub(super) fn coupled_columns(matrix: &BlockMatrix, starts: &[u32]) -> Vec<Vec<u32>> {
    let count = starts.len() - 1;
    let mut column_of = vec![0u32; matrix.rows()];
    for column in 0..count {
        column_of[starts[column] as usize..starts[column + 1] as usize].fill(column as u32);
    }
    let beside = |column: usize| {
        let rows = starts[column] as usize..starts[column + 1] as usize;
        let mut near: Vec<u32> = rows
            .flat_map(|v| matrix.lower(v).chain(matrix.upper(v)))
            .map(|k| column_of[matrix.columns()[k] as usize])
            .filter(|&other| other as usize != column)
            .collect();
        near.sort_unstable();
        near.dedup();
        near
    };
    (0..count).map(beside).collect()
}

#[cfg(test)]
mod tests {
    use super::super::grid::Grid;
    use super::*;

    /// No two columns that are solved together are coupled, and every column is solved once.
    #[test]
    fn columns_of_a_group_are_not_coupled() {
        let grid = Grid::new([10, 8], |_| 4);
        let beside = coupled_columns(&grid.matrix, &grid.starts);
        let component = components(&beside);
        assert!(component.iter().all(|&c| c == 0), "the grid is connected");
        let mut visits = vec![0; grid.columns()];
        for group in groups(&beside, &grid.starts, &component) {
            for &a in &group.columns {
                visits[a as usize] += 1;
                assert!(group.columns.iter().all(|b| !beside[a as usize].contains(b)));
            }
        }
        assert!(visits.iter().all(|&times| times == 1), "{visits:?}");
    }

    #[test]
    fn components_are_maximal_connected_sets() {
        let beside = [vec![2], vec![], vec![0, 4], vec![5], vec![2], vec![3]];
        assert_eq!(components(&beside), [0, 1, 0, 2, 0, 2]);
    }
}
