//! Pictures and films of hair without a GPU.
