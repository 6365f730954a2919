//! Ctrl-C: the first press asks the command to stop after the frame or within the picture at hand, so that unfinished
//! files are removed and a cache keeps a checkpoint; the second press stops at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

/// How often the flag is looked at while work goes on that does not look at it.
const POLL: Duration = Duration::from_millis(20);

static ASKED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Lets a long command stop in good order. Commands that do not call this die at once.
pub(crate) fn listen() {
    // Without a handler Ctrl-C still stops the program, only less tidily.
    let _ = ctrlc::set_handler(|| {
        if ASKED.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
    });
}

/// The flag itself, for those who look at it while they work.
pub(crate) fn flag() -> Arc<AtomicBool> {
    ASKED.clone()
}

/// Whether the user wants the program to stop.
pub(crate) fn asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}

/// Does work that does not look at the flag on a thread of its own. `None` if the user wants the program to stop: the
/// work then ends with the program, so it must leave nothing behind.
pub(crate) fn unless_asked<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> coif::Result<Option<T>> {
    let threads = rayon::current_num_threads();
    let (send, receive) = channel();
    let worker = std::thread::Builder::new().spawn(move || {
        // Nobody listens any more once the program is to stop.
        let _ = send.send(coif::with_threads(threads, work));
    });
    let worker = worker.map_err(|e| coif::Error::Threads { threads: 1, reason: e.to_string() })?;
    loop {
        match receive.recv_timeout(POLL) {
            Ok(done) => return done.map(Some),
            Err(RecvTimeoutError::Timeout) if asked() => return Ok(None),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => match worker.join() {
                Err(panic) => std::panic::resume_unwind(panic),
                Ok(()) => return Ok(None),
            },
        }
    }
}
