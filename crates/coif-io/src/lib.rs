//! File formats of Coif, one file per format.
