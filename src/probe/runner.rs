//! Takes samples when they are due.
