//! # Persistence
//!
//! Who goes back to the member that served it before. `persistence` of a vserver says by what a client is known:
//!
//! | type | a client is known by | kept | vservers |
//! |---|---|---|---|
//! | COOKIEINSERT | a cookie that Bascule sets: `NSC_` and the vserver's name, each letter moved on by one, or `cookie_name` | by the client | HTTP, SSL |
//! | SOURCEIP | its address, cut to `prefix_v4` (32) or `prefix_v6` (128) | in a table | all |
//! | DESTIP | the address that it asked for, cut likewise | in a table | all |
//! | SRCIPDESTIP | both | in a table | all |
//! | SSLSESSION | its TLS session: the id, or the ticket | in a table | SSL, SSL_TCP, SSL_BRIDGE |
//! | RULE | a value of the request (`request`); with `response` also a value that an answer gives out | in a table | HTTP, SSL |
//! | URLPASSIVE | a value of the request that is a member's address and port (`0a000004-0050`, `10.0.0.4-80`, or as the cookie has them) or its `custom_server_id` | by the client | HTTP, SSL |
//! | CUSTOMSERVERID | a value of the request that is a member's `custom_server_id` | by the client | HTTP, SSL |
//!
//! `request` and `response` are `"path"`, `"url"`, `"host"`, `"client_ip"`, `{ header = "X-Id" }`, `{ cookie = "sid" }`,
//! `{ query = "sid" }`, `{ path_segment = 2 }`, or one of these with `regex`, whose first bracket is taken:
//! `{ of = "path", regex = "^/([a-z0-9]+)/" }`. In an answer a cookie is what `Set-Cookie` gives out.
//!
//! ```toml
//! [service.a]
//! type = "HTTP"
//! address = "10.0.0.1"
//! port = 80
//!
//! [vserver.web]
//! type = "HTTP"
//! address = "192.0.2.1:80"
//! services = ["a"]
//! persistence = { type = "COOKIEINSERT", timeout = "10m", encrypted = true, backup = "SOURCEIP" }
//! skip_persistency = "NONE"
//!
//! [vserver.one]
//! type = "HTTP"
//! address = "192.0.2.2:80"
//! services = ["a"]
//!
//! [vserver.two]
//! type = "HTTP"
//! address = "192.0.2.2:8080"
//! services = ["a"]
//!
//! [lb_group.shop]
//! vservers = ["one", "two"]
//! persistence = { type = "SOURCEIP", timeout = "30m", prefix_v4 = 24 }
//! ```
//!
//! - `timeout` counts from the client's last request: 2 min where nothing is said, 24 h at most. 0 is for COOKIEINSERT
//!   alone: a cookie that ends with the browser, and never by itself.
//! - `encrypted = true`: the cookie tells nothing of the servers. It is sealed (AES-256-GCM) with the key `cookie.key` of
//!   the state directory and bound to the vserver, so that a cookie of another vserver, of another box, one that was
//!   changed or one whose time is over is no cookie.
//! - `backup = "SOURCEIP"` with `backup_timeout` (2 min): clients that do not keep the cookie are known by their address.
//! - `[lb_group.NAME]`: several vservers share one persistence: one table, one cookie. Where the vservers have services of
//!   their own, a client goes to the service on the same server.
//! - A table holds 250 000 entries at most; where it is full, one that would end soon makes room. Values of more than 64
//!   bytes are kept as their digest. Tables outlive a reload and not a restart; cookies outlive both.
//!
//! ## What the state of the member does
//!
//! | member | the client |
//! |---|---|
//! | UP | goes back to it |
//! | TROFS | goes back to it where `trofs_persistence` is on (default) |
//! | TROFS_DOWN, DOWN, OFS, UNKNOWN | is balanced again, and remembered with the new member |
//! | UP, and at `max_client` or `max_bandwidth` | by `skip_persistency`: NONE, it waits in the surge queue for this member; BYPASS, it goes elsewhere this once; RELB, it goes elsewhere and stays there |
//! | could not be reached | is balanced again, and remembered with the new member |
//!
//! ## Seeing and clearing it
//!
//! `show lb persistentSessions [<vserver>] [-client <address>]` and GET `/api/v1/persistence` list the entries of tables with
//! the time that is left; `clear lb persistentSessions` and DELETE `/api/v1/persistence` forget them. What is with the
//! client (cookies, names of members in requests) is not listed and cannot be cleared, and the answer says so. A service
//! that drains shows how many clients its tables still lead to it, when the last of them ends, and which cookies never do.
