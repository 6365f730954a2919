//! Ctrl-C: the first press asks the command to stop after the frame at hand, so that unfinished
//! files are removed and a cache keeps a checkpoint; the second press stops at once.

use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);

/// Lets a long command stop in good order. Commands that do not call this die at once.
pub(crate) fn listen() {
    // Without a handler Ctrl-C still stops the program, only less tidily.
    let _ = ctrlc::set_handler(|| {
        if ASKED.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
    });
}

/// Whether the user wants the program to stop.
pub(crate) fn asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}
