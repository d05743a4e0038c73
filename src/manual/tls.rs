//! # TLS, certificates and the PROXY protocol
//!
//! ```toml
//! [certificate.www]                  # NetScaler's certKey
//! certificate = "certs/www.pem"      # the certificate to be shown first, then its chain
//! key         = "certs/www.key"
//!
//! [certificate.ours]                 # without a key: authorities
//! certificate = "certs/ca.pem"
//!
//! [service.app]
//! type    = "SSL"                    # TLS to the server as well
//! address = "192.0.2.1:443"
//! tls     = { verify = true, ca = "ours", server_name = "app.example.test" }
//!
//! [service.old]
//! type    = "HTTP"
//! address = "192.0.2.2:80"
//! proxy_protocol = "v2"              # begins each connection with a header that names the client
//!
//! [vserver.web]
//! type         = "SSL"
//! address      = "127.0.0.1:8443"
//! services     = ["app", "old"]      # with TLS and without, side by side
//! certificates = ["www"]             # several: chosen by the name that the client asks for
//! tls          = { min_version = "1.2", client_auth = "optional", client_ca = "ours" }
//! ```
//!
//! | type | to clients | services |
//! |---|---|---|
//! | SSL | TLS ends here; HTTP, balanced per request | HTTP, SSL |
//! | SSL_TCP | TLS ends here; any protocol, balanced per connection | TCP, SSL_TCP |
//! | SSL_BRIDGE | TLS passes through; its ClientHello is read, and must be one | SSL_BRIDGE |
//! | HTTP, TCP | in the clear | HTTP and SSL, TCP and SSL_TCP: TLS begins here |
//!
//! ## Certificates
//!
//! Files are relative to the file that names them, are read when the configuration is loaded, and again at every reload:
//! a certificate is renewed by putting the new files in place and reloading (SIGHUP). The next handshake shows the new
//! one; open connections stay, and sessions are still resumed. What is wrong with a file (not PEM, a key that does not
//! fit, a pass phrase) refuses the whole configuration, and what runs stays as it is. Warnings: expired, or within 14 days;
//! weak; a key that others on the machine can read. The key is read from its file and is nowhere else: not in the state
//! directory, the journal, the API or the log. `show ssl certKey` in the shell, `GET /api/v1/certificates` and
//! `bascule_certificate_expires_seconds` say how long each is good, the first two also who uses it.
//!
//! Which one a client gets: a certificate with exactly the name it asks for (SNI); else one with `*.` in place of the
//! name's first part; else the first of the list. Of several with the same name, the first whose kind of key the client
//! knows, so that RSA and ECDSA can stand side by side. With `strict_sni` a client whose name fits none, or who sends
//! none, is refused (`unrecognized_name`).
//!
//! ## To clients: `tls` of a vserver
//!
//! | key | default | |
//! |---|---|---|
//! | `min_version`, `max_version` | 1.2, 1.3 | older ones are not spoken |
//! | `client_auth` | none | `optional`: verified where sent; `required`: the handshake fails without one |
//! | `client_ca` | | whose client certificates are good: signed by one of these, or one of these itself |
//! | `strict_sni` | false | |
//! | `hsts` | | of a vserver of type SSL: `{ max_age = "8760h", include_subdomains = true, preload = false }` sets the field Strict-Transport-Security in every answer of a server, in place of the server's own; `max_age` 0 makes clients forget it. A rule or a rewrite policy that sets the field wins |
//! | `resumption` | true | tickets, whose keys change by themselves, and session ids; none outlives other rules for client certificates, the certificate that the client showed, or 12 h with one |
//!
//! A handshake has 10 s, and half of the connections that the process may have can be in one. One more always can: the
//! oldest handshake of the client (an address, or a /64 of IPv6) that has most of them under way gives way (`too_many`),
//! so that clients that fall silent in theirs keep nobody out. Application protocols: `h2` and `http/1.1` as `http2` of
//! the vserver says; a client that offers others alone is refused. Counted by vserver:
//! `bascule_vserver_tls_handshakes_total` (`full`, `resumed`) and `bascule_vserver_tls_failures_total` by reason: timeout,
//! client_gone, malformed, nothing_in_common, unknown_name, client_certificate, refused_by_client, too_many, internal.
//!
//! ## To servers: `tls` of a service
//!
//! | key | default | |
//! |---|---|---|
//! | `verify` | false | NetScaler's serverAuth. The chain must be good by the system's roots, or by `ca`, for the name. A certificate that stands in `ca` itself is good too, also one that calls itself an authority (`openssl req -x509`) |
//! | `server_name` | | asked for (SNI) and verified. Without it: the host name of the server, else the Host of the request, else the address, which is verified and not sent |
//! | `certificate` | | shown where the server wants one |
//! | `min_version` | 1.2 | |
//!
//! The connection, its PROXY header and its handshake have `connect_timeout` together. A server that fails in the
//! handshake is passed over like one that refuses connections, and the reason is `server_tls_failed`. Sessions are resumed.
//!
//! Self-signed certificates of servers and clients are thus trusted by putting them into the file of the authority; dates,
//! and of a server the name, are looked at as ever. Certificates of X.509 version 1 are refused: they have no extensions,
//! so nothing says what they are for. A service that is spoken to by HTTP/2, and WebSocket to it, go by paths alone: there
//! `ca` must be an authority that is not the server's own certificate.
//!
//! Why a handshake failed stands in the line of the request (`why`), and in `show service`.
//!
//! ## The PROXY protocol
//!
//! `proxy_protocol = true` on a vserver: every connection must begin with a header, version 1 or 2, complete within 5 s;
//! its addresses are the client's from there on. One without, or with a header that is not exactly right, is reset
//! (`bad_proxy_header`). Use it only where nobody but the proxy can connect: who can, can be anybody. LOCAL and UNKNOWN
//! are the proxy itself. TLS begins behind the header.
//!
//! `proxy_protocol = "v1"` or `"v2"` on a service: every connection to it begins with one. Version 2 also tells the
//! version of TLS and the SNI. Such a connection is used for requests of its client alone.
