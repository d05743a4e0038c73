//! Signed zones before `delv`, which validates every answer from a trust anchor on.

use super::*;

/// `delv` with the keys of the zone as its anchor.
async fn delv(served: &Served, arguments: &str) -> String {
    let zone = served.cell.load();
    let signer = zone.zones.zone(0).signer.as_ref().unwrap();
    let mut anchors = String::from("trust-anchors {\n");
    for ds in signer.ds() {
        let words: Vec<&str> = ds.split(' ').collect();
        anchors += &format!("example.test. static-ds {} {} {} \"{}\";\n", words[3], words[4], words[5], words[6]);
    }
    anchors += "};\n";
    let file = served.folder.path().join("anchors");
    std::fs::write(&file, anchors).unwrap();
    let address = served.address();
    let (server, port) = (format!("@{}", address.ip()), address.port().to_string());
    let file = file.to_string_lossy().into_owned();
    let mut all = vec![&*server, "-p", &port, "-a", &file, "+root=example.test"];
    all.extend(arguments.split(' '));
    run("delv", &all).await.0
}

/// Question; what `delv` says of its validity; what it prints beside.
type Case = (&'static str, &'static str, &'static str);

const ALWAYS: &[Case] = &[
    ("example.test SOA", "; fully validated", "hostmaster.example.test."),
    ("example.test DNSKEY", "; fully validated", "DNSKEY"),
    ("web.example.test A", "; fully validated", "192.0.2.80"),
    ("WeB.ExAmPlE.tEsT A", "; fully validated", "192.0.2.80"),
    ("mixed.example.test MX", "; fully validated", "10 Mail.Example.TEST."),
    ("odd.example.test TYPE65400", "; fully validated", "\\# 3 010203"),
    ("safe.example.test DS", "; fully validated", "60485"),
    ("nothing.example.test A", "; negative response, fully validated", "NXDOMAIN"),
    ("a.b.c.example.test A", "; negative response, fully validated", "NXDOMAIN"),
    ("zzz.example.test A", "; negative response, fully validated", "NXDOMAIN"),
    ("web.example.test AAAA", "; negative response, fully validated", "NXRRSET"),
    ("example.test MX", "; negative response, fully validated", "NXRRSET"),
    ("inner.example.test A", "; negative response, fully validated", "NXRRSET"),
    ("sub.example.test DS", "; negative response, fully validated", "NXRRSET"),
    ("x.w.example.test TXT", "; fully validated", "a wildcard"),
    ("x.y.w.example.test A", "; fully validated", "192.0.2.99"),
    ("x.w.example.test MX", "; negative response, fully validated", "NXRRSET"),
    ("x.old.example.test TXT", "; fully validated", "a wildcard"),
];
const BEFORE: &[Case] = &[
    ("www.example.test A", "; fully validated", "192.0.2.1"),
    ("alias.example.test A", "; fully validated", "192.0.2.1"),
    ("turns.example.test A", "; fully validated", "192.0.2.30"),
    ("gone.example.test AAAA", "; fully validated", "2001:db8::1"),
    ("gone.example.test A", "; negative response, fully validated", "NXRRSET"),
];
const AFTER: &[Case] = &[
    ("www.example.test A", "; fully validated", "198.51.100.10"),
    ("alias.example.test A", "; fully validated", "198.51.100.10"),
    ("turns.example.test CNAME", "; fully validated", "elsewhere.example.net."),
    ("gone.example.test AAAA", "; negative response, fully validated", "NXRRSET"),
    ("gone.example.test A", "; negative response, fully validated", "NXRRSET"),
];

async fn walk(keys: &str, write: impl FnOnce(&Path)) {
    let dnssec = format!("[zone.\"example.test\".dnssec]\nkeys = {keys}\n");
    let mut served = Served::start(&format!("{CONFIG}{dnssec}"), write).await;
    for (active, cases) in [(false, BEFORE), (true, AFTER), (false, BEFORE)] {
        served.flip(active).await;
        for (question, verdict, holds) in ALWAYS.iter().chain(cases) {
            let printed = delv(&served, question).await;
            let holds = holds.to_ascii_lowercase();
            let there = printed.contains(verdict) && printed.to_ascii_lowercase().contains(&holds);
            assert!(there, "delv {question} (dr active: {active})\n{printed}");
        }
    }
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_answer_of_a_signed_zone_validates_before_and_after_a_flip() {
    walk(r#"["zone.pem"]"#, |folder| std::fs::write(folder.join("zone.pem"), pem(true)).unwrap()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_zone_in_the_midst_of_a_roll_over_validates() {
    let keys = r#"[{ file = "ksk.pem", role = "ksk" }, { file = "zsk.pem", role = "zsk" },
        { file = "next.pem", role = "zsk", state = "published" }, { file = "ed.pem" }]"#;
    let files = [("ksk.pem", true), ("zsk.pem", true), ("next.pem", true), ("ed.pem", false)];
    walk(keys, |folder| {
        for (file, ecdsa) in files {
            std::fs::write(folder.join(file), pem(ecdsa)).unwrap();
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn key_files_of_bind_sign_with_the_role_that_their_flags_say() {
    let folder = tempfile::tempdir().unwrap();
    let into = folder.path().to_string_lossy().into_owned();
    let mut names = Vec::new();
    for (algorithm, flags) in [("ECDSAP256SHA256", "KSK"), ("ECDSAP256SHA256", "ZONE"), ("ED25519", "KSK")] {
        let mut arguments = vec!["-q", "-K", &into, "-a", algorithm];
        if flags == "KSK" {
            arguments.extend(["-f", "KSK"]);
        }
        arguments.push("example.test");
        let (name, made) = run("dnssec-keygen", &arguments).await;
        assert!(made, "{name}");
        names.push(name.trim().to_owned());
    }
    let keys: Vec<String> = names.iter().map(|name| format!("\"{name}.private\"")).collect();
    walk(&format!("[{}]", keys.join(", ")), |into| {
        for name in &names {
            for suffix in ["key", "private"] {
                let file = format!("{name}.{suffix}");
                std::fs::copy(folder.path().join(&file), into.join(&file)).unwrap();
            }
        }
    })
    .await;
}
