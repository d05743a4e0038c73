//! L7: HTTP/1.1 through pingora behind our own listeners.
