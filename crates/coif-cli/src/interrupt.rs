//! Ctrl-C: the first press asks the command to stop after the frame or within the picture at hand, so that unfinished
//! files are removed and a cache keeps a checkpoint; the second press stops at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

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
