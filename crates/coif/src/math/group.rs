//! Grouping of values by key: a counting sort, distributed over threads by key.
//!
//! Every thread iterates over all values and writes those of its own keys, so that no two threads write to the same
//! place, and the order within a key is that of the values for any number of threads.

/// A source that yields the same values in the same order in every call.
pub(crate) trait Keyed: Sync {
    /// Calls `take` with every key and value, in order.
    fn each(&self, take: impl FnMut(u32, u32));
}

/// Smallest number of values per thread: for fewer, another pass over all values costs more than it saves.
const MIN_PER_THREAD: usize = 1 << 16;

/// Groups `count` values: those of key k are `values[first[k]..first[k + 1]]`, in order. All keys are
/// below `keys`.
pub(crate) fn group(
    from: &impl Keyed,
    keys: usize,
    count: usize,
    first: &mut Vec<u32>,
    values: &mut Vec<u32>,
) {
    let threads = rayon::current_num_threads().min(count / MIN_PER_THREAD).max(1);
    first.clear();
    first.resize(keys + 2, 0);
    // Count key k at index k + 2: after the prefix sum, index k + 1 is the start of k, and after filling its end.
    in_pieces(&mut first[2..], 0, threads, &|counts, from_key| {
        from.each(|key, _| {
            if let Some(count) = counts.get_mut((key as usize).wrapping_sub(from_key)) {
                *count += 1;
            }
        });
    });
    for k in 2..first.len() {
        first[k] += first[k - 1];
    }
    values.clear();
    make_room(values, count);
    values.resize(count, 0);
    fill(from, &mut first[1..=keys], 0, values, threads);
    first.truncate(keys + 1);
}

/// Smallest spare capacity (elements) of a list whose length changes from step to step. A few dozen such lists take
/// some megabytes; lists of a few hundred strands never grow beyond it.
const MIN_ROOM: usize = 4096;

/// Smallest spare capacity (elements) of a list of a task of about a thousand points. A full head of
/// hair has thousands of tasks, for which [`MIN_ROOM`] would take gigabytes.
const MIN_TASK_ROOM: usize = 256;

/// Length from which a list gets an eighth of its length as spare capacity instead of all of it: doubling lists of
/// millions costs too much memory.
const LARGE: usize = 1 << 20;

/// Reserves capacity for `length` elements. A list that has to grow, or has no capacity yet, gets twice as much plus
/// [`MIN_ROOM`], so that it allocates again only when it exceeds that.
pub(crate) fn make_room<T>(list: &mut Vec<T>, length: usize) {
    if list.capacity() < length || list.capacity() == 0 {
        let spare = if length < LARGE { length + MIN_ROOM } else { length / 8 };
        list.reserve_exact(length + spare - list.len());
    }
}

/// [`make_room`] for a list of a task that has been filled element by element, where `before` is its capacity before that.
pub(crate) fn make_room_after<T>(list: &mut Vec<T>, before: usize) {
    if list.capacity() != before || before == 0 {
        let spare = if list.len() < LARGE { list.len() + MIN_TASK_ROOM } else { 0 };
        list.reserve_exact(spare);
    }
}

/// Divides the keys among threads.
fn in_pieces(
    counts: &mut [u32],
    from_key: usize,
    threads: usize,
    work: &(impl Fn(&mut [u32], usize) + Sync),
) {
    if threads <= 1 || counts.len() <= 1 {
        work(counts, from_key);
        return;
    }
    let half = counts.len() / 2;
    let (low, high) = counts.split_at_mut(half);
    let (a, b) = (threads / 2, threads - threads / 2);
    rayon::join(|| in_pieces(low, from_key, a, work), || in_pieces(high, from_key + half, b, work));
}

/// Writes values to their places; `next` holds the next free place of each key.
fn fill(from: &impl Keyed, next: &mut [u32], from_key: usize, values: &mut [u32], threads: usize) {
    if threads <= 1 || next.len() <= 1 {
        let base = next.first().copied().unwrap_or(0);
        from.each(|key, value| {
            if let Some(at) = next.get_mut((key as usize).wrapping_sub(from_key)) {
                if let Some(to) = values.get_mut((*at - base) as usize) {
                    *to = value;
                }
                *at += 1;
            }
        });
        return;
    }
    let half = next.len() / 2;
    let (low, high) = next.split_at_mut(half);
    let (low_values, high_values) = values.split_at_mut((high[0] - low[0]) as usize);
    let (a, b) = (threads / 2, threads - threads / 2);
    rayon::join(
        || fill(from, low, from_key, low_values, a),
        || fill(from, high, from_key + half, high_values, b),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Numbers(Vec<(u32, u32)>);

    impl Keyed for Numbers {
        fn each(&self, mut take: impl FnMut(u32, u32)) {
            self.0.iter().for_each(|&(key, value)| take(key, value));
        }
    }

    /// Groups are those of a stable sort, for any number of threads.
    #[test]
    fn groups_are_those_of_a_stable_sort() {
        for (count, keys) in [(0, 3), (10, 1), (300_000, 1000), (200_000, 7)] {
            let numbers = (0..count as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 7, i));
            let numbers = numbers.map(|(hash, i)| (hash % keys as u32, i)).collect();
            let mut sorted: Vec<(u32, u32)> = Vec::clone(&numbers);
            sorted.sort_by_key(|&(key, _)| key);
            let from = Numbers(numbers);
            for threads in [1, 3] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let (mut first, mut values) = (Vec::new(), Vec::new());
                pool.install(|| group(&from, keys, count, &mut first, &mut values));
                assert_eq!(first.len(), keys + 1);
                let found: Vec<(u32, u32)> = (0..keys)
                    .flat_map(|k| {
                        let range = first[k] as usize..first[k + 1] as usize;
                        values[range].iter().map(move |&v| (k as u32, v)).collect::<Vec<_>>()
                    })
                    .collect();
                assert_eq!(found, sorted, "{count} values, {keys} keys, {threads} threads");
            }
        }
    }
}
