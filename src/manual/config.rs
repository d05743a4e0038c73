//! # The configuration
//!
//! TOML. A table's key is the object's name, so a name defined twice is an error and the order of tables means nothing;
//! lists keep their order and mean it. Definitions carry no prefix; references to anything but a plain check or
//! criterion do (`vs:` `svc:` `sc:` `dc:` `tw:` `sw:`). Durations are `500ms`, `30s`, `15m`, `2h`, `400d`; a bare number
//! is seconds.
//!
//! `bascule check FILE` loads it exactly as `run` would and prints *all* problems at once, each with file, line and the
//! nearest known spelling, then warnings:
//!
//! ```text
//! box.toml:12: unknown key `prot` in service.a; did you mean `port`?
//! box.toml:31: scenario.dr.activate.when: no check or criterion `api-b`; did you mean `api-a`?
//! ```
//!
//! `include = ["apps/*.toml"]` adds files, relative to the including file. `[defaults.monitor]`, `[defaults.service]`,
//! `[defaults.check]`, `[defaults.scenario]` say once what holds for all. `profiles/example.toml` shows every table;
//! the other profiles show one idea each and come with an event script that tests it.
