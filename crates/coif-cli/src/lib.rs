//! The program coif.
