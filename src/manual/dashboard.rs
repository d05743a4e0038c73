//! # The dashboard
//!
//! Open the address of `[admin].listen` in a browser: `http://127.0.0.1:9080/`. The page is part of the program; it loads
//! nothing from another machine and sends nothing to one. Without configured users it is there for callers on the same
//! machine alone; with users it asks for a name and a password and opens a session.
//!
//! ## Reading it
//!
//! The overview begins with a sentence: where traffic goes, and who has the next move. Under it stands where the steered
//! names go, those that go the same way for the same reason together. Below stand three columns: what
//! is wrong, what people have forced, what is leaving. Then comes where every steered name goes and why, the pair of
//! data centres, scenarios that are not at rest, and vservers. The bar at the top counts the three columns on every page.
//!
//! - **Colour is spent on exceptions.** Red is a fault, amber is leaving or limited in time, violet was done by a
//!   person. A healthy object is ink with a small green dot. Shape and word say the same as the colour.
//! - **Truth is not health.** Terms of conditions are drawn in ink: filled is true, hollow is false, part-filled is a
//!   hold that counts, `?` is unknown.
//! - **A force that hides what a probe says shows both**: `Forced up` beside `probe down`.
//! - Times are UTC by the clock of the appliance; the time of the browser's zone is in the tip.
//!
//! `Live` at the top means that the appliance was heard within the last six seconds. `Not live` means that it was not:
//! what you see is old, clocks and countdowns stand still, and nothing can be sent. DNS and the proxy do not need the
//! page; they go on. It comes back by itself, without a reload.
//!
//! ## The pages
//!
//! | page | shows |
//! |---|---|
//! | Scenarios | what is not at rest, what happens next; one scenario: both directions beside each other, every group and term live, the guard, what DNS would answer, every transition; switches |
//! | Data centres | pairs: what is seen, the situation, who should answer and who does; signals with their targets; maintenance; other boxes |
//! | DNS and zones | what each steered name answers, and the step that decided each record; why, for any name, client and moment |
//! | Timeline | moves of scenarios that belong together: phases, a picture by layer, a replay, what DNS answered at the moment looked at; as Markdown or JSON |
//! | Vservers | one vserver: where new clients go now, requests, latency and connections, its members, who is still on one that drains, the policies bound to it in the order in which they are asked, why a request goes where it goes |
//! | Services, Checks | the same rows across vservers, problems first, filtered on the appliance; one service: why it gets new clients or none, its last 48 hours, its monitors; one check: its last samples |
//! | Monitors | each with its interval, what it probes, how many of these fail; the failing ones first |
//! | Policies | responder, rewriting and content switching: when, what they do, where they are bound, how often they acted; rules of the configuration, pattern sets, named expressions |
//! | Users and tokens | users with their role, last login, open sessions and locks; tokens with their ends; logins and refusals. Superusers add and remove users, set passwords and roles, lift locks, make and revoke tokens |
//! | Outbox | deliveries that wait and that were given up, triggers with their breakers, queries of guards |
//! | Journal | what happened, by object, person, kind and time; each row leads to its moment |
//! | Asked in vain | what clients of NITRO asked for and this build does not have |
//! | Configuration | the running configuration: checked as you type, what it would change, applied all or nothing; running and saved apart; its warnings in a line that opens |
//! | Certificates | the first to expire first |
//!
//! ## Acting
//!
//! Every act opens a dialog that says what it would do, computed by the appliance a moment ago: answers before and
//! after, what moves, who is told, who carries the load. How much it asks for is decided by the appliance too:
//!
//! | level | acts | asks for |
//! |---|---|---|
//! | 1 | enable, a drain while others stay up, the end of a force | a reason |
//! | 2 | modes, switches, forces, out of service at once, kicks, configuration | also when it ends, where it can end by itself |
//! | 3 | the last member of a vserver, a return against a group that is true, a force that hides a failing probe, … | also the name of the object, typed |
//!
//! A preview older than ten seconds is made again before anything is sent; where it has changed, nothing is sent and the
//! page says so. The same holds where somebody else was faster. A record of what was done stays at the lower edge until it
//! is dismissed, with the way back. Roles that may not act see the buttons and which role they need.
//!
//! A token is made in the browser and shown once; the appliance is told its hash alone. Where the page came over plain HTTP
//! from another machine a browser cannot make one: use `bascule token create`. Users and tokens are part of the
//! configuration: a change is in force at once, and gone with the next restart unless it is saved.
//!
//! ## Keys
//!
//! `/` finds an object, or explains: `why www.example.test A 10.1.2.3`. `?` lists the keys. `g` and then `o`, `s`, `v` or
//! `t` goes to the overview, scenarios, vservers, the timeline. On a row of a service `d` drains, `e` enables, `f`
//! forces, `x` ends what runs on it; each opens its dialog. Single keys can be switched off under `?`. Everything can be
//! done without a pointer.
//!
//! ## Where it ends
//!
//! A list shows a hundred items a page and asks the appliance for the next ones. Shares of new clients and the lines of
//! charts begin when the page is opened where the appliance keeps no history of them; the chart then says from when on.
