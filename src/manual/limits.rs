//! # What this build does not do
//!
//! What is not there is refused, or says so where it is used; nothing is accepted and ignored.
//!
//! | asked for | what happens |
//! |---|---|
//! | vserver and service types other than HTTP and TCP; methods other than ROUNDROBIN and LEASTCONNECTION; persistence other than COOKIEINSERT and SOURCEIP; spillover other than HEALTH | refused at load, with what is available |
//! | monitors of kinds other than PING, TCP, HTTP, TCP-ECV, HTTP-ECV, UDP-ECV, DNS | accepted and stored; the state is unknown and `last_error` says why |
//! | triggers | accepted; a fired trigger is journalled and shown as `not_delivered`, and nothing is made up later |
//! | guards that run a query or ask a person | accepted; they *cannot tell*, so `on_timeout` decides at the deadline |
//! | the peer link between sites | what another site would report is unknown |
//! | configuration object by object, connections, outbox, request explanation in the REST interface; import of ns.conf; API tokens; NITRO; the dashboard | answered with 501, or a sentence and exit status 1 |
