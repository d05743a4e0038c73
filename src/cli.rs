//! L5: the command line.
