//! Values grouped by a key: a counting sort, distributed over threads by key.
//!
//! Every thread iterates over all values and writes those of its own keys, so that nothing is written
//! twice and the order within a key is that of the values, whatever the number of threads.

/// A source of values: the same ones, in the same order, in every call.
pub(crate) trait Keyed: Sync {
    /// Calls `take` with every key and value, in order.
    fn each(&self, take: impl FnMut(u32, u32));
}

/// Minimum number of values per thread: fewer are not worth another pass over all of them.
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
    // Count into the place after the next, so that filling leaves every start where it belongs.
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

/// Smallest spare capacity (elements) of a list whose length changes from step to step: a few dozen such lists take
/// some megabytes, and those of a few hundred strands do not grow again.
const MIN_ROOM: usize = 4096;

/// The same of a list that belongs to a task of about a thousand points: there are thousands of them in a full head of
/// hair, where [`MIN_ROOM`] would take gigabytes.
const MIN_TASK_ROOM: usize = 256;

/// Length from which on a list gets an eighth of it as spare capacity instead of all of it: doubling lists of millions
/// costs too much memory.
const LARGE: usize = 1 << 20;

/// Makes room for `length` elements in all. A list that has to grow, or has no room yet, gets room for twice as many and
/// [`MIN_ROOM`] more: it allocates again only when it gets longer than that.
pub(crate) fn make_room<T>(list: &mut Vec<T>, length: usize) {
    if list.capacity() < length || list.capacity() == 0 {
        let spare = if length < LARGE { length + MIN_ROOM } else { length / 8 };
        list.reserve_exact(length + spare - list.len());
    }
}

/// [`make_room`] for a task's list that was filled element by element, and had room for `before` when that began.
pub(crate) fn make_room_after<T>(list: &mut Vec<T>, before: usize) {
    if list.capacity() != before || before == 0 {
        let spare = if list.len() < LARGE { list.len() + MIN_TASK_ROOM } else { 0 };
        list.reserve_exact(spare);
    }
}

/// Distributes the keys over threads.
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

/// Puts values into their places; `next` holds where the first value of each key goes.
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
