//! # Words
//!
//! One word, one meaning, in code, messages and manual. Names of the ADC are NetScaler's, names of the GTM are TR7's,
//! terms of DNS and HTTP are those of the RFCs.
//!
//! | word | means | not |
//! |---|---|---|
//! | *check* | the definition of what is asked of a target, how often, and how many answers decide | one attempt |
//! | *monitor* | a check of the ADC: a definition that becomes a check for every service it is bound to | |
//! | *probe*, *sample* | one attempt against a real socket | the definition |
//! | *verdict* | the result of one probe: pass, fail, asks to be drained, or void (no evidence) | the state |
//! | *rise*, *fall* | passed or failed samples in a row that bring a check up or down | |
//! | *board* | one row for each predicate or measure that some condition uses | |
//! | *real* / *forced* state | what the probes say / what a person has set over it; both are kept and shown | |
//! | *TROFS* | going out of service: draining while the probes pass | out of service |
//! | *OFS* | out of service: gets nothing any more | DOWN, which is a fault |
//! | *drain* | the time between disabling and out of service | |
//! | *hold* | the qualifier `for`: how long something must have been true | a delay of the act |
//! | *commit* | a scenario changes its state, with a number (*seq*), durable before anyone sees it | |
//! | *mode* | `auto`, `on` or `off`, of one direction of a scenario | its state |
//! | *spent* | an `on` that has acted: still shown, acts no more | |
//! | *armed* | a group of conditions that may act; after a forced commit it needs fresh evidence first | |
//! | *gate* | decides at the commit whether triggers go off; never stops the commit | guard |
//! | *guard* | runs before the commit and can refuse it | gate |
//! | *override* | anything a person has set on the running box: durable at once, listed in `/status` | configuration |
//! | *adopt* | the engine takes over a new configuration under the running state | |
//! | *publish* | a new snapshot becomes what traffic reads | |
//! | *generation* | the number of a published snapshot; strictly increasing | |
//! | *primary set*, *DR set* | records of a steered RRset without, and with, `drCond` | |
