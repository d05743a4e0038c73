//! Authoritative DNS: `wire` (parse and write messages), `answer` (pure: query + snapshot → reply), `serve` (sockets).
