//! Ctrl-C: the first press requests the command to stop after the current frame or within the current picture, so that
//! unfinished files are removed and a cache keeps a checkpoint; the second press stops at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

/// Interval at which the flag is polled during work that does not poll it.
const POLL: Duration = Duration::from_millis(20);

static REQUESTED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Installs the handler that lets a command stop in order. Commands that do not call this stop at once.
pub(crate) fn listen() {
    // Without a handler Ctrl-C still stops the program, but unfinished files remain.
    let _ = ctrlc::set_handler(|| {
        if REQUESTED.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
    });
}

/// The flag, for code that polls it.
pub(crate) fn flag() -> Arc<AtomicBool> {
    REQUESTED.clone()
}

/// Whether the user has requested a stop.
pub(crate) fn requested() -> bool {
    REQUESTED.load(Ordering::SeqCst)
}

/// Runs work that does not poll the flag on a thread of its own. `None` if the user has requested a stop: the work then
/// ends with the program, so it must leave nothing behind.
pub(crate) fn run_interruptible<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> coif::Result<Option<T>> {
    let threads = rayon::current_num_threads();
    let (send, receive) = channel();
    let worker = std::thread::Builder::new().spawn(move || {
        // Sending fails if a stop has been requested.
        let _ = send.send(coif::with_threads(threads, work));
    });
    let worker = worker.map_err(|e| coif::Error::Threads { threads: 1, reason: e.to_string() })?;
    loop {
        match receive.recv_timeout(POLL) {
            Ok(done) => return done.map(Some),
            Err(RecvTimeoutError::Timeout) if requested() => return Ok(None),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => match worker.join() {
                Err(panic) => std::panic::resume_unwind(panic),
                Ok(()) => return Ok(None),
            },
        }
    }
}
