//! Runs on the threads there are.
//!
//! Models: nothing.
//! Rule: results come back in the order of the jobs, whoever made them.
//! Leaves out: the page, which has workers instead (this module is not part of its build).

use std::sync::atomic::{AtomicUsize, Ordering};

/// Applies `f` to every job, in parallel.
pub fn map<J: Sync, R: Send>(jobs: &[J], f: impl Fn(&J) -> R + Sync) -> Vec<R> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(jobs.len().max(1));
    let next = AtomicUsize::new(0);
    let mut done: Vec<(usize, R)> = std::thread::scope(|scope| {
        let worker = || {
            let mut mine = Vec::new();
            loop {
                let i = next.fetch_add(1, Ordering::Relaxed);
                let Some(job) = jobs.get(i) else { return mine };
                mine.push((i, f(job)));
            }
        };
        let handles: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        handles.into_iter().flat_map(|h| h.join().expect("a job does not panic")).collect()
    });
    done.sort_by_key(|(i, _)| *i);
    done.into_iter().map(|(_, r)| r).collect()
}
