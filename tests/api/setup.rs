//! `config ns`: the dialog of the console that gives a box its address, its name and a password.

use super::appliance::Appliance;
use super::terminal::Console;

const BARE: &str = "schema = 1\n\n# Who may manage it.\n[admin]\nlisten = \"127.0.0.1:9080\"\n";

/// The interface is asked for only where the machine has several.
fn begins(console: &mut Console) {
    let all = std::fs::read_dir("/sys/class/net").into_iter().flatten().flatten();
    if all.filter(|one| one.path().join("device").exists()).count() > 1 {
        console.waits_for("Interface [");
        console.press("\r");
    }
    console.waits_for("IP address (10.0.0.5 or 10.0.0.5/24), or dhcp [dhcp]: ");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_bare_box_asks_at_its_console_and_what_is_answered_becomes_its_configuration() {
    let appliance = Appliance::of(BARE);
    let mut console = Console::open(&appliance, &["shell", "--setup"]);
    console.waits_for("Set up its address, name and password now [yes]: ");
    console.press("\r");
    begins(&mut console);
    console.press("10.0.0\r");
    console.waits_for("`10.0.0` has no prefix length");
    console.press("10.0.0.5\r");
    console.waits_for("Netmask [255.255.255.0]: ");
    console.press("255.255.0.0\r");
    console.waits_for("Gateway: ");
    console.press("10.1.0.1\r");
    console.waits_for("10.1.0.1 is no neighbour of 10.0.0.5/16");
    console.press("10.0.0.1\r");
    console.waits_for("Host name: ");
    console.press("edge-1\r");
    console.waits_for("Name servers: ");
    console.press("10.0.0.53, 10.0.0.54\r");
    console.waits_for("New password of nsroot (Enter: as it is): ");
    console.press("a s3cret\r");
    console.waits_for("Again: ");
    console.press("a s3cret\r");
    let shown = console.waits_for("Apply and save it [no]: ");
    assert!(shown.contains("\taddresses = [\"10.0.0.5/16\"]\n"), "{shown}");
    assert!(shown.contains("# and a new password of nsroot"), "{shown}");
    assert!(!shown.contains("s3cret") && !shown.contains("argon2id$v"), "{shown}");
    console.press("yes\r");
    // A box without a FILE cannot save.
    console.waits_for("Warning: it is applied, and not saved: ");
    console.waits_for(" Done\n");
    console.press("show ns runningConfig -toml\r");
    let text = console.waits_for(" Done\n");
    for line in
        ["# Who manages it".replace("manages", "may manage"), "name = \"edge-1\"".into(), "via = \"10.0.0.1\"".into()]
    {
        assert!(text.contains(&line), "{line}: {text}");
    }
    console.press("show journal\r");
    console.waits_for("config");
    console.press("quit\r");
    console.ends(0);
    let again = Console::open(&appliance, &["shell", "--setup"]);
    assert!(!offered(again), "somebody has set it up");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn whoever_breaks_the_dialog_off_changes_nothing() {
    let appliance = Appliance::of(BARE);
    let mut console = Console::open(&appliance, &["shell"]);
    console.waits_for("> ");
    console.press("config ns\r");
    begins(&mut console);
    console.press("10.0.0.5/24\r");
    console.waits_for("Gateway: ");
    console.press("\x03");
    console.waits_for("Nothing is changed.\n Done\n");
    // Neither do answers that say what is so already.
    console.press("config ns\r");
    begins(&mut console);
    console.press("\r");
    for question in ["Host name: ", "Name servers: ", "New password of nsroot (Enter: as it is): "] {
        console.waits_for(question);
        console.press("\r");
    }
    console.waits_for("Nothing of it is new.");
    console.waits_for("Nothing is changed.\n Done\n");
    console.press("quit\r");
    console.ends(0);
    assert_eq!(appliance.get("/api/v1/status").await["config"]["unsaved"], false);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_box_that_does_something_already_offers_nothing() {
    assert!(!offered(Console::open(&Appliance::start(), &["shell", "--setup"])));
}

/// Whether the dialog comes before the prompt.
fn offered(mut console: Console) -> bool {
    console.press("quit\r");
    let seen = console.waits_for("quit");
    let offered = seen.contains("Set up its address");
    console.press("\x03quit\r");
    offered
}
