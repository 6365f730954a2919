//! Scene files and built-in heads, hairstyles and motions for Coif.
