//! Zones going out: to `dig`, to Knot and to NSD, with and without TSIG, signed and not, over flips.

use super::*;
use tokio::process::Child;

const SECRET: &str = "MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI=";
const WRONG: &str = "MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTM=";

fn with_transfer(transfer: &str) -> String {
    format!(
        "{CONFIG}[dns.tsig.\"xfr.example\"]\nalgorithm = \"hmac-sha256\"\nsecret = {{ file = \"xfr.secret\" }}\n\
         [zone.\"example.test\".transfer]\n{transfer}\n"
    )
}

fn files(folder: &Path) {
    std::fs::write(folder.join("xfr.secret"), format!("{SECRET}\n")).unwrap();
    std::fs::write(folder.join("zone.pem"), pem(true)).unwrap();
}

const SIGNED: &str = "[zone.\"example.test\".dnssec]\nkeys = [\"zone.pem\"]\n";

async fn dig(at: SocketAddr, arguments: &str) -> String {
    let (server, port) = (format!("@{}", at.ip()), at.port().to_string());
    let mut all = vec![&*server, "-p", &port, "+tries=1", "+time=5"];
    all.extend(arguments.split(' '));
    run("dig", &all).await.0
}

fn free_port() -> SocketAddr {
    ([127, 0, 0, 1], crate::ports::free_port()).into()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transfer_needs_the_key_and_an_address_that_may() {
    let served = Served::start(&with_transfer("allow = [\"127.0.0.0/8\"]\nkey = \"xfr.example\""), files).await;
    let good = format!("-y hmac-sha256:xfr.example:{SECRET} example.test AXFR");
    let printed = dig(served.address(), &good).await;
    assert!(printed.contains("XFR size") && printed.contains("192.0.2.80"), "{printed}");
    // Both records of the set, though a query gets one of them.
    assert!(printed.contains("192.0.2.10") && printed.contains("192.0.2.11"), "{printed}");
    assert!(!printed.contains("198.51.100.10"), "a set that is not served: {printed}");
    for (bad, word) in [
        ("example.test AXFR".to_owned(), "Transfer failed"),
        (format!("-y hmac-sha256:xfr.example:{WRONG} example.test AXFR"), "Transfer failed"),
        (format!("-y hmac-sha256:other.example:{SECRET} example.test AXFR"), "Transfer failed"),
        (format!("-y hmac-sha256:xfr.example:{SECRET} web.example.test AXFR"), "Transfer failed"),
        (format!("-y hmac-sha256:xfr.example:{SECRET} example.org AXFR"), "Transfer failed"),
    ] {
        let printed = dig(served.address(), &bad).await;
        assert!(printed.contains(word) && !printed.contains("192.0.2.80"), "dig {bad}\n{printed}");
    }
    served.stop().await;
    let elsewhere = Served::start(&with_transfer("allow = [\"192.0.2.0/24\"]\nkey = \"xfr.example\""), files).await;
    let printed = dig(elsewhere.address(), &good).await;
    assert!(printed.contains("Transfer failed") && !printed.contains("192.0.2.80"), "{printed}");
    elsewhere.stop().await;
}

/// Each message after the first is signed with the MAC of the one before (RFC 8945 §5.3.1); `dig` verifies them all.
#[tokio::test(flavor = "multi_thread")]
async fn a_zone_of_many_messages_is_signed_throughout() {
    let many: String = (0..4000).map(|i| format!("host-{i} TXT \"{}\"\n", "x".repeat(i % 200))).collect();
    let config = with_transfer("key = \"xfr.example\"").replace("web          A", &format!("{many}web          A"));
    let served = Served::start(&config, files).await;
    let asked = format!("-y hmac-sha256:xfr.example:{SECRET} example.test AXFR");
    let printed = dig(served.address(), &asked).await;
    let size = printed.lines().find(|line| line.contains("XFR size")).unwrap_or_else(|| panic!("{printed}"));
    let number = |word: &str| -> usize {
        let before = size.split(word).next().unwrap();
        before.split_whitespace().next_back().unwrap().parse().unwrap_or_else(|_| panic!("{size}"))
    };
    assert_eq!(number(" records"), 4000 + 22, "{size}");
    assert!(size.contains("messages ") && !size.contains("messages 1,"), "{size}");
    assert!(!printed.contains("Couldn't verify") && !printed.contains("BADSIG"), "{printed}");
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_serial_moves_with_each_flip_and_only_with_it() {
    let mut served = Served::start(&with_transfer("allow = [\"127.0.0.1\"]"), files).await;
    let mut before = serial(served.address()).await.unwrap();
    for active in [true, false, true] {
        served.flip(active).await;
        let after = serial(served.address()).await.unwrap();
        assert_eq!(after, before + 1);
        served.flip(active).await;
        assert_eq!(serial(served.address()).await, Some(after), "nothing has changed");
        before = after;
        let incremental = dig(served.address(), &format!("example.test IXFR={after}")).await;
        assert!(incremental.contains("XFR size: 1 records"), "{incremental}");
        let differences = dig(served.address(), &format!("example.test IXFR={}", after - 1)).await;
        assert!(differences.contains("198.51.100.10") && !differences.contains("192.0.2.80"), "{differences}");
        let whole = dig(served.address(), "example.test IXFR=1").await;
        assert!(whole.contains("192.0.2.80"), "nothing is known of that serial: {whole}");
    }
    served.stop().await;
}

/// A signed zone as it is transferred is whole: every signature, the chain, the bitmaps.
#[tokio::test(flavor = "multi_thread")]
async fn a_transferred_signed_zone_verifies_before_and_after_a_flip() {
    let mut served = Served::start(&format!("{}{SIGNED}", with_transfer("allow = [\"127.0.0.1\"]")), files).await;
    for active in [false, true] {
        served.flip(active).await;
        let zone = dig(served.address(), "+onesoa +nocomments +nocmd +nostats example.test AXFR").await;
        let file = served.folder.path().join("example.test.zone");
        std::fs::write(&file, &zone).unwrap();
        let file = file.to_string_lossy().into_owned();
        let (said, good) = run("ldns-verify-zone", &["-V", "2", &file]).await;
        assert!(good, "ldns-verify-zone (dr active: {active}): {said}\n{zone}");
        let (said, good) = run("dnssec-verify", &["-z", "-o", "example.test", &file]).await;
        assert!(good, "dnssec-verify (dr active: {active}): {said}\n{zone}");
    }
    served.stop().await;
}

/// Differences as `dig` prints them: the newest SOA, then for each change the SOA before, what went, the SOA after, what
/// came, and the newest SOA at the end.
#[tokio::test(flavor = "multi_thread")]
async fn the_differences_of_several_changes_follow_each_other_in_one_answer() {
    let mut served = Served::start(&with_transfer("allow = [\"127.0.0.1\"]"), files).await;
    let first = serial(served.address()).await.unwrap();
    served.flip(true).await;
    let config = with_transfer("allow = [\"127.0.0.1\"]").replace("192.0.2.80", "192.0.2.81");
    served.reload(&config).await;
    let printed = dig(served.address(), &format!("+noall +answer example.test IXFR={first}")).await;
    let rows: Vec<Vec<&str>> = printed.lines().map(|line| line.split_whitespace().collect()).collect();
    let rows: Vec<&[&str]> = rows.iter().map(|row| &row[..]).filter(|row| row.len() > 4 && row[0] != ";").collect();
    let soas: Vec<u32> = rows.iter().filter(|row| row[3] == "SOA").map(|row| row[6].parse().unwrap()).collect();
    assert_eq!(soas, [first + 2, first, first + 1, first + 1, first + 2, first + 2], "{printed}");
    let of = |owner: &str, data: &str| rows.iter().filter(|row| row[0] == owner && row[4] == data).count();
    assert_eq!((of("web.example.test.", "192.0.2.80"), of("web.example.test.", "192.0.2.81")), (1, 1), "{printed}");
    assert_eq!(
        of("www.example.test.", "198.51.100.10"),
        2,
        "it came with the flip and went with the reload: {printed}"
    );
    served.stop().await;
}

async fn serial(at: SocketAddr) -> Option<u32> {
    dig(at, "+short example.test SOA").await.split(' ').nth(2)?.parse().ok()
}

/// Waits until the secondary answers with the serial of the primary.
async fn follows(secondary: SocketAddr, served: &Served) {
    let wanted = serial(served.address()).await;
    for _ in 0..150 {
        if wanted.is_some() && serial(secondary).await == wanted {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("the secondary has not followed to {wanted:?}: {:?}", serial(secondary).await);
}

/// A secondary that is told of changes has each of them, signatures included.
async fn walk(secondary: SocketAddr, signed: bool, start: impl AsyncFnOnce(&Served) -> Child) {
    let transfer = format!("allow = [\"127.0.0.1\"]\nkey = \"xfr.example\"\nnotify = [\"{secondary}\"]");
    let signing = if signed { SIGNED } else { "" };
    let mut served = Served::start(&format!("{}{signing}", with_transfer(&transfer)), files).await;
    let mut child = start(&served).await;
    let flips = [false, true, false, true, false];
    for active in flips {
        served.flip(active).await;
        follows(secondary, &served).await;
        let printed = dig(secondary, "+short www.example.test A").await;
        assert_eq!(printed.contains("198.51.100.10"), active, "{printed}");
        let denied = dig(secondary, "+dnssec nothing.example.test A").await;
        assert!(denied.contains("NXDOMAIN") && denied.contains("NSEC") == signed, "{denied}");
        let odd = dig(secondary, "+short odd.example.test TYPE65400").await;
        assert!(odd.contains("010203"), "{odd}");
    }
    let live = Arc::clone(&served.cell.load().zone_live[0]);
    let total = |counter: &std::sync::atomic::AtomicU64| counter.load(std::sync::atomic::Ordering::Relaxed) as usize;
    if !signed {
        let (whole, differences) = (total(&live.axfr_total), total(&live.ixfr_total));
        // One that waits too long on a busy machine asks twice.
        assert!(whole == 1 && differences >= flips.len() - 1, "one whole, then differences: {whole} {differences}");
    }
    child.kill().await.unwrap();
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn knot_follows_every_flip_of_a_signed_zone() {
    knot(true).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn knot_follows_every_flip_by_differences() {
    knot(false).await;
}

async fn knot(signed: bool) {
    let at = free_port();
    walk(at, signed, async |served| {
        let (dir, primary) = (served.folder.path().to_string_lossy().into_owned(), served.address());
        let config = format!(
            "server:\n  rundir: {dir}\n  listen: 127.0.0.1@{}\ndatabase:\n  storage: {dir}\nlog:\n- target: stderr\n  any: info\n\
             key:\n- id: xfr.example\n  algorithm: hmac-sha256\n  secret: {SECRET}\n\
             remote:\n- id: primary\n  address: 127.0.0.1@{}\n  key: xfr.example\n\
             acl:\n- id: told\n  address: 127.0.0.1\n  key: xfr.example\n  action: notify\n\
             zone:\n- domain: example.test\n  storage: {dir}\n  master: primary\n  acl: told\n",
            at.port(),
            primary.port()
        );
        let file = served.folder.path().join("knot.conf");
        std::fs::write(&file, config).unwrap();
        Command::new("knotd").arg("-c").arg(file).kill_on_drop(true).spawn().expect("scripts/install-prerequisites")
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nsd_follows_every_flip_of_a_signed_zone() {
    nsd(true).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nsd_follows_every_flip_by_differences() {
    nsd(false).await;
}

async fn nsd(signed: bool) {
    let at = free_port();
    walk(at, signed, async |served| {
        let (dir, primary) = (served.folder.path().to_string_lossy().into_owned(), served.address());
        let config = format!(
            "server:\n  ip-address: 127.0.0.1@{}\n  username: \"\"\n  chroot: \"\"\n  zonesdir: {dir}\n  database: \"\"\n\
             \x20 zonelistfile: {dir}/zone.list\n  pidfile: {dir}/nsd.pid\n  xfrdfile: {dir}/xfrd.state\n  xfrdir: {dir}\n\
             \x20 logfile: {dir}/nsd.log\nremote-control:\n  control-enable: no\n\
             key:\n  name: xfr.example\n  algorithm: hmac-sha256\n  secret: \"{SECRET}\"\n\
             zone:\n  name: example.test\n  request-xfr: 127.0.0.1@{} xfr.example\n  allow-notify: 127.0.0.1 xfr.example\n",
            at.port(),
            primary.port()
        );
        let file = served.folder.path().join("nsd.conf");
        std::fs::write(&file, config).unwrap();
        Command::new("nsd").arg("-d").arg("-c").arg(file).kill_on_drop(true).spawn().expect("scripts/install-prerequisites")
    })
    .await;
}
