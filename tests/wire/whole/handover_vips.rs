//! Addresses on interfaces while one process gives its sockets to the next: they stay where they are.

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::box_under_test::{Box, within};
use super::handover::hand_over;
use super::namespaces::{self, Networks};

const VIP: &str = "10.77.0.10/32";
const PATIENT: Duration = Duration::from_secs(30);

const CONFIG: &str = r#"
    [network]
    manager = "netlink"
    source_addresses = ["10.77.1.20/24"]
    [service.s1]
    type = "HTTP"
    address = "10.77.1.101:80"
    monitors = []
    [vserver.web]
    type = "HTTP"
    address = "10.77.0.10:80"
    services = ["s1"]
"#;

#[test]
fn a_vip_stays_on_its_interface_and_answers_while_the_process_is_followed_by_another_and_goes_with_a_stop() {
    if !namespaces::can_be_made("VIPs of a process that hands over") {
        return;
    }
    let mut networks = Networks::new();
    networks.host("a", &[("eth0", "front", &["10.77.0.1/24"]), ("eth1", "back", &["10.77.1.1/24"])]);
    networks.host("s1", &[("eth0", "back", &["10.77.1.101/24"])]);
    networks.host("c", &[("eth0", "front", &["10.77.0.200/24"])]);
    let _s1 = networks.serve("s1", "0.0.0.0:80");
    let mut a = Box::start_in(&networks.name("a"), CONFIG);
    let holds = |networks: &Networks| networks.addresses("a", "eth0").iter().any(|address| address == VIP);
    within(PATIENT, "the VIP serves", || networks.fetch("c", "10.77.0.10:80").is_ok());
    let stop = AtomicBool::new(false);
    let (done, failed, gone) = std::thread::scope(|scope| {
        let asking = scope.spawn(|| {
            let (mut done, mut failed) = (0, Vec::new());
            while !stop.load(Ordering::Relaxed) {
                done += 1;
                failed.extend(networks.fetch("c", "10.77.0.10:80").err());
            }
            (done, failed)
        });
        let looking = scope.spawn(|| {
            let mut gone = 0;
            while !stop.load(Ordering::Relaxed) {
                gone += u32::from(!holds(&networks));
            }
            gone
        });
        let (status, text) = hand_over(&a);
        assert_eq!(a.handed_over(), 0, "the old one has ended in peace");
        within(PATIENT, "the new one knows it", || a.get("/vservers/web")["address_state"] == "present");
        stop.store(true, Ordering::Relaxed);
        assert_eq!(status, 0, "{text}");
        let (done, failed) = asking.join().expect("the client lives");
        (done, failed, looking.join().expect("it looks"))
    });
    assert_eq!((failed, gone), (Vec::<String>::new(), 0), "of {done}");
    assert!(done > 10, "{done}");
    let kill = Command::new("kill").arg(a.heir().to_string()).status();
    assert!(kill.expect("kill is there").success());
    within(PATIENT, "a stop takes it off", || !holds(&networks));
}
