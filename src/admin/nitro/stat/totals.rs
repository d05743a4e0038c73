//! Counters of the whole appliance, and of the machine that it runs on.

use super::super::answer::Object;
use super::super::live::{date, double, put};
use crate::admin::machine::Machine;
use crate::control::World;
use crate::model::id::{ServiceId, VserverId};
use crate::snapshot::live::Stats;

/// Sums over vservers with an address: what one without an address serves has come in through another.
#[derive(Default)]
struct Sums {
    requests: (u64, u64),
    responses: (u64, u64),
    bytes_in: (u64, u64),
    bytes_out: (u64, u64),
    packets_in: u64,
    packets_out: u64,
    clients: u64,
    deferred: u64,
    surge: u64,
    invalid: u64,
    server_work: u64,
    server_pool: u64,
    server_bytes: (u64, u64),
}

// === impl Sums ===

impl Sums {
    fn of(world: &World<'_>, only: impl Fn(&crate::model::vserver::Vserver) -> bool) -> Sums {
        let mut sums = Sums::default();
        let all = world.model.vservers.iter().enumerate().take(world.snapshot.vservers.len());
        for (at, _) in all.filter(|(_, vserver)| vserver.address.is_some() && only(vserver)) {
            let stats = Stats::of_vserver(world.snapshot, VserverId::from_index(at), world.now.tick);
            for (sum, flow) in [
                (&mut sums.requests, stats.requests),
                (&mut sums.responses, stats.responses),
                (&mut sums.bytes_in, stats.bytes_in),
                (&mut sums.bytes_out, stats.bytes_out),
            ] {
                *sum = (sum.0 + flow.total, sum.1 + flow.per_second);
            }
            sums.packets_in += stats.packets_in;
            sums.packets_out += stats.packets_out;
            sums.clients += u64::from(stats.client_connections);
            sums.deferred += stats.deferred.total;
            sums.surge += u64::from(stats.surge_count);
            sums.invalid += stats.invalid;
        }
        for at in 0..world.model.services.len().min(world.snapshot.services.len()) {
            let stats = Stats::of_service(world.snapshot, ServiceId::from_index(at), world.now.tick);
            sums.server_work += u64::from(stats.server_connections);
            sums.server_pool += u64::from(stats.reuse_pool);
            sums.server_bytes.0 += stats.bytes_out.total;
            sums.server_bytes.1 += stats.bytes_out.per_second;
        }
        sums
    }
}

fn flow(object: &mut Object, total: &str, rate: &str, (count, per_second): (u64, u64)) {
    put(object, total, double(count));
    put(object, rate, per_second);
}

fn nothing(object: &mut Object, keys: &[&str]) {
    for key in keys {
        put(object, key, double(0));
    }
}

fn put_processor(object: &mut Object, machine: &Machine) {
    put(object, "cpuusage", double(machine.busy.round()));
    put(object, "rescpuusage", double(machine.busy.round()));
    for key in ["cpuusagepcnt", "rescpuusagepcnt", "pktcpuusagepcnt", "mgmtcpuusagepcnt"] {
        put(object, key, machine.busy);
    }
    put(object, "numcpus", double(machine.processors.len()));
    put(object, "memusagepcnt", machine.memory_percent());
    put(object, "memuseinmb", double(machine.memory_used >> 20));
}

fn put_disk(object: &mut Object, machine: &Machine) {
    for (disk, room) in [("disk0", machine.system), ("disk1", machine.data)] {
        put(object, &format!("{disk}perusage"), double(room.percent()));
        put(object, &format!("{disk}size"), double(room.total >> 20));
        put(object, &format!("{disk}used"), double(room.used() >> 20));
        put(object, &format!("{disk}avail"), double(room.free >> 20));
    }
}

pub(super) fn system(world: &World<'_>, machine: &Machine) -> Object {
    let mut object = Object::new();
    put_processor(&mut object, machine);
    put(&mut object, "mgmtcpu0usagepcnt", machine.busy);
    put(&mut object, "addimgmtcpuusagepcnt", 0.0);
    put(&mut object, "memsizemb", double(machine.memory_total >> 20));
    put_disk(&mut object, machine);
    put(&mut object, "starttime", date(world.status.started_at));
    let up = world.now.wall.since(world.status.started_at).as_secs();
    let (days, hours, minutes) = (up / 86_400, up / 3_600 % 24, up / 60 % 60);
    put(&mut object, "timesincestart", format!("{days:02}:{hours:02}:{minutes:02}:{:02}", up % 60));
    nothing(&mut object, &["cpu0temp", "cpu1temp", "internaltemp", "systemfanspeed", "fan0speed", "fanspeed"]);
    nothing(&mut object, &["voltagev12p", "voltagev5p", "voltagev33main", "voltagevcc0", "slavecpuusage"]);
    object
}

pub(super) fn cpus(machine: &Machine) -> Vec<Object> {
    let one = |(at, busy): (usize, &f64)| {
        let mut object = Object::new();
        put(&mut object, "id", double(at));
        put(&mut object, "percpuuse", double(busy.round()));
        object
    };
    machine.processors.iter().enumerate().map(one).collect()
}

pub(super) fn memory(machine: &Machine) -> Object {
    let mut object = Object::new();
    put(&mut object, "memtotavail", double(machine.memory_total >> 20));
    put(&mut object, "memtotuseinmb", double(machine.memory_used >> 20));
    put(&mut object, "memtotallocpcnt", machine.memory_percent());
    put(&mut object, "memtotallocmb", double(machine.memory_used >> 20));
    nothing(&mut object, &["shmemallocpcnt", "shmemallocinmb", "shmemtotinmb", "shmemerrallocfailed"]);
    object
}

pub(super) fn ns(world: &World<'_>, machine: &Machine) -> Object {
    let sums = Sums::of(world, |_| true);
    let http = Sums::of(world, |vserver| vserver.protocol.is_http());
    let mut object = Object::new();
    put_processor(&mut object, machine);
    put_disk(&mut object, machine);
    put(&mut object, "starttime", date(world.status.started_at));
    put(&mut object, "transtime", date(world.status.started_at));
    put(&mut object, "hacurstate", "UP");
    put(&mut object, "hacurmasterstate", "Primary");
    let megabits = |(total, rate): (u64, u64)| (total * 8 / 1_000_000, rate * 8 / 1_000_000);
    flow(&mut object, "totrxmbits", "rxmbitsrate", megabits(sums.bytes_in));
    flow(&mut object, "tottxmbits", "txmbitsrate", megabits(sums.bytes_out));
    put_connections(&mut object, &sums);
    flow(&mut object, "httptotrequests", "httprequestsrate", http.requests);
    flow(&mut object, "httptotresponses", "httpresponsesrate", http.responses);
    flow(&mut object, "httptotrxrequestbytes", "httprxrequestbytesrate", http.bytes_in);
    flow(&mut object, "httptotrxresponsebytes", "httprxresponsebytesrate", http.bytes_out);
    for (total, rate) in [
        ("ssltottransactions", "ssltransactionsrate"),
        ("ssltotsessionhits", "sslsessionhitsrate"),
        ("cachetothits", "cachehitsrate"),
        ("cachetotmisses", "cachemissesrate"),
        ("appfirewallrequests", "appfirewallrequestsrate"),
        ("appfirewallresponses", "appfirewallresponsesrate"),
        ("appfirewallaborts", "appfirewallabortsrate"),
        ("appfirewallredirects", "appfirewallredirectsrate"),
    ] {
        flow(&mut object, total, rate, (0, 0));
    }
    nothing(&mut object, &["sslcards", "sslnumcardsup", "comptotaldatacompressionratio", "compratio", "delcmpratio"]);
    object
}

fn put_connections(object: &mut Object, sums: &Sums) {
    put(object, "tcpcurclientconn", double(sums.clients));
    put(object, "tcpcurclientconnestablished", double(sums.clients));
    put(object, "tcpcurserverconn", double(sums.server_work + sums.server_pool));
    put(object, "tcpcurserverconnestablished", double(sums.server_work + sums.server_pool));
}

pub(super) fn http(world: &World<'_>) -> Object {
    let sums = Sums::of(world, |vserver| vserver.protocol.is_http());
    let mut object = Object::new();
    flow(&mut object, "httptotrequests", "httprequestsrate", sums.requests);
    flow(&mut object, "httptotresponses", "httpresponsesrate", sums.responses);
    flow(&mut object, "httptotrxrequestbytes", "httprxrequestbytesrate", sums.bytes_in);
    flow(&mut object, "httptottxresponsebytes", "httptxresponsebytesrate", sums.bytes_out);
    flow(&mut object, "httptotrxresponsebytes", "httprxresponsebytesrate", sums.server_bytes);
    flow(&mut object, "httptottxrequestbytes", "httptxrequestbytesrate", sums.bytes_in);
    put(&mut object, "httperrincompleterequests", double(sums.invalid));
    for (total, rate) in [
        ("httptotgets", "httpgetsrate"),
        ("httptotposts", "httppostsrate"),
        ("httptotothers", "httptohersrate"),
        ("httptot10requests", "http10requestsrate"),
        ("httptot11requests", "http11requestsrate"),
        ("httptotclenrequests", "httpclenrequestsrate"),
        ("httptotchunkedrequests", "httpchunkedrequestsrate"),
        ("httptot10responses", "http10responsesrate"),
        ("httptot11responses", "http11responsesrate"),
        ("httptotclenresponses", "httpclenresponsesrate"),
        ("httptotchunkedresponses", "httpchunkedresponsesrate"),
        ("httptotnoclenchunkresponses", "httpnoclenchunkresponsesrate"),
        ("httperrnoreusemultipart", "httperrnoreusemultipartrate"),
        ("httperrincompleteresponses", "httperrincompleteresponsesrate"),
        ("httperrserverbusy", "httperrserverbusyrate"),
        ("spdytotstreams", "spdystreamsrate"),
        ("spdyv2totstreams", "spdyv2streamsrate"),
        ("spdyv3totstreams", "spdyv3streamsrate"),
    ] {
        flow(&mut object, total, rate, (0, 0));
    }
    put(&mut object, "httperrincompleterequestsrate", 0);
    nothing(
        &mut object,
        &["httperrincompleteheaders", "httperrlargecontent", "httperrlargechunk", "httperrlargectlen"],
    );
    object
}

pub(super) fn tcp(world: &World<'_>) -> Object {
    let sums = Sums::of(world, |vserver| vserver.protocol.is_stream());
    let mut object = Object::new();
    put_connections(&mut object, &sums);
    flow(&mut object, "tcptotrxbytes", "tcprxbytesrate", sums.bytes_in);
    flow(&mut object, "tcptottxbytes", "tcptxbytesrate", sums.bytes_out);
    flow(&mut object, "tcptotrxpkts", "tcprxpktsrate", (sums.packets_in, 0));
    flow(&mut object, "tcptottxpkts", "tcptxpktsrate", (sums.packets_out, 0));
    put(&mut object, "tcpsurgequeuelen", double(sums.surge));
    put(&mut object, "tcpspareconn", double(sums.server_pool));
    put(&mut object, "tcpactiveserverconn", double(sums.server_work));
    for (total, rate) in [
        ("tcptotclientconnopened", "tcpclientconnopenedrate"),
        ("tcptotserverconnopened", "tcpserverconnopenedrate"),
        ("tcptotsyn", "tcpsynrate"),
        ("tcptotsynprobe", "tcpsynproberate"),
        ("tcptotsvrfin", "tcpsvrfinrate"),
        ("tcptotcltfin", "tcpcltfinrate"),
        ("tcperrrst", "tcperrrstrate"),
        ("tcperrretransmit", "tcperrretransmitrate"),
        ("tcperrfullretrasmit", "tcperrfullretrasmitrate"),
        ("tcperrbadchecksum", "tcperrbadchecksumrate"),
        ("tcperrsyngiveup", "tcperrsyngiveuprate"),
    ] {
        flow(&mut object, total, rate, (0, 0));
    }
    nothing(&mut object, &["tcpcurclientconnopening", "tcpcurclientconnclosing", "tcpcurserverconnopening"]);
    nothing(&mut object, &["tcpcurserverconnclosing"]);
    object
}

pub(super) fn ip(world: &World<'_>) -> Object {
    let sums = Sums::of(world, |_| true);
    let mut object = Object::new();
    flow(&mut object, "iptotrxpkts", "iprxpktsrate", (sums.packets_in, 0));
    flow(&mut object, "iptottxpkts", "iptxpktsrate", (sums.packets_out, 0));
    flow(&mut object, "iptotrxbytes", "iprxbytesrate", sums.bytes_in);
    flow(&mut object, "iptottxbytes", "iptxbytesrate", sums.bytes_out);
    let megabits = |(total, rate): (u64, u64)| (total * 8 / 1_000_000, rate * 8 / 1_000_000);
    flow(&mut object, "iptotrxmbits", "iprxmbitsrate", megabits(sums.bytes_in));
    flow(&mut object, "iptottxmbits", "iptxmbitsrate", megabits(sums.bytes_out));
    flow(&mut object, "iptotroutedpkts", "iproutedpktsrate", (0, 0));
    flow(&mut object, "iptotroutedmbits", "iproutedmbitsrate", (0, 0));
    nothing(&mut object, &["iptotfragments", "iptotbadchecksums", "iptotttlexpired", "iptottoobig", "iptotmaxclients"]);
    nothing(&mut object, &["iptotunknownsvcs", "iptotlandattacks", "iptottruncatedpackets", "iptotvipdown"]);
    object
}

pub(super) fn ssl(world: &World<'_>) -> Object {
    let sums = Sums::of(world, |vserver| vserver.protocol.is_tls());
    let mut object = Object::new();
    nothing(&mut object, &["sslcards", "sslnumcardsup", "sslcardstatus"]);
    put(&mut object, "sslenginestatus", double(1));
    flow(&mut object, "ssltotsessions", "sslsessionsrate", (0, 0));
    flow(&mut object, "ssltottransactions", "ssltransactionsrate", sums.requests);
    flow(&mut object, "ssltotencbytes", "sslencbytesrate", sums.bytes_out);
    flow(&mut object, "ssltotdecbytes", "ssldecbytesrate", sums.bytes_in);
    for (total, rate) in [
        ("ssltotnewsessions", "sslnewsessionsrate"),
        ("ssltotsessionhits", "sslsessionhitsrate"),
        ("ssltottlsv12transactions", "ssltlsv12transactionsrate"),
        ("ssltottlsv13transactions", "ssltlsv13transactionsrate"),
    ] {
        flow(&mut object, total, rate, (0, 0));
    }
    put(&mut object, "sslcursessions", double(0));
    object
}

pub(super) fn aaa() -> Object {
    let mut object = Object::new();
    for (total, rate) in [
        ("aaaauthsuccess", "aaaauthsuccessrate"),
        ("aaaauthfail", "aaaauthfailrate"),
        ("aaatotsessions", "aaasessionsrate"),
        ("aaatotsessiontimeout", "aaasessiontimeoutrate"),
    ] {
        flow(&mut object, total, rate, (0, 0));
    }
    nothing(&mut object, &["aaacursessions", "aaacuricasessions", "aaacuricaonlyconn", "aaacuricaconn"]);
    object
}

/// A box of its own: not configured for high availability.
pub(super) fn hanode() -> Object {
    let mut object = Object::new();
    put(&mut object, "hacurstatus", "NO");
    put(&mut object, "hacurstate", "UP");
    put(&mut object, "hacurmasterstate", "Primary");
    flow(&mut object, "hatotpktrx", "hapktrxrate", (0, 0));
    flow(&mut object, "hatotpkttx", "hapkttxrate", (0, 0));
    nothing(&mut object, &["haerrproptimeout", "haerrsyncfailure"]);
    object
}

pub(super) fn interfaces(machine: &Machine) -> Vec<Object> {
    let one = |interface: &crate::admin::machine::Interface| {
        let mut object = Object::new();
        put(&mut object, "id", &*interface.name);
        put(&mut object, "interfacealias", &*interface.name);
        put(&mut object, "curintfstate", if interface.up { "UP" } else { "DOWN" });
        put(&mut object, "curlinkstate", if interface.up { "UP" } else { "DOWN" });
        flow(&mut object, "totrxbytes", "rxbytesrate", (interface.bytes_in, 0));
        flow(&mut object, "tottxbytes", "txbytesrate", (interface.bytes_out, 0));
        flow(&mut object, "totrxpkts", "rxpktsrate", (interface.packets_in, 0));
        flow(&mut object, "tottxpkts", "txpktsrate", (interface.packets_out, 0));
        flow(&mut object, "errpktrx", "errpktrxrate", (interface.errors_in, 0));
        flow(&mut object, "errpkttx", "errpkttxrate", (interface.errors_out, 0));
        flow(&mut object, "errdroppedrxpkts", "errdroppedrxpktsrate", (interface.dropped_in, 0));
        flow(&mut object, "errdroppedtxpkts", "errdroppedtxpktsrate", (interface.dropped_out, 0));
        for (total, rate) in [
            ("nictotmulticastpkts", "nicmulticastpktsrate"),
            ("totnetscalerpkts", "netscalerpktsrate"),
            ("errifindiscards", "errifindiscardsrate"),
            ("nicerrifoutdiscards", "nicerrifoutdiscardsrate"),
            ("totmacmoved", "macmovedrate"),
            ("jumbopktsreceived", "jumbopktsreceivedrate"),
            ("jumbopktstransmitted", "jumbopktstransmittedrate"),
            ("trunkpktsreceived", "trunkpktsreceivedrate"),
            ("trunkpktstransmitted", "trunkpktstransmittedrate"),
        ] {
            flow(&mut object, total, rate, (0, 0));
        }
        nothing(&mut object, &["errlinkhangs", "nicstsstalls", "nictxstalls", "nicrxstalls", "nicerrdisables"]);
        nothing(&mut object, &["errduplexmismatch", "linkreinits", "errnicmuted"]);
        object
    };
    machine.interfaces.iter().map(one).collect()
}
