//! The one place that reads the clocks.
