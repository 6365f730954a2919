//! All tests of pictures and films in one program.

mod films;
mod pictures;
