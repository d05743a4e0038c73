"""Whole data paths against peers: CPU of the server for a unit of work, as a ratio in the same run."""
