//! `bascule apply FILE` from another folder: files that FILE names are the appliance's, and never silently others.

use std::sync::Arc;

use super::box_under_test::Box;
use super::certificates::{connect, get, install, serial};
use crate::tls::pki::{Authority, BOTH};

#[test]
fn a_certificate_beside_file_that_is_not_the_appliances_is_never_silently_another() {
    let authority = Authority::new("ours");
    let [theirs, ours] = [(); 2].map(|()| authority.issue("www", &["www.test"]));
    let config = r#"
        [service.a]
        type = "HTTP"
        address = "127.0.0.1:1"
        [certificate.www]
        certificate = "www.pem"
        key = "www.key"
        [vserver.web]
        type = "SSL"
        address = "127.0.0.1:0"
        certificates = ["www"]
        services = ["a"]
    "#;
    let folder = tempfile::tempdir().unwrap();
    install(folder.path(), &theirs);
    let b = Box::start_beside(&[("www.pem", &theirs.chain), ("www.key", &theirs.key)], config);
    let shown = || {
        // A session that is resumed shows nothing anew.
        let mut stream = connect(b.vip("web"), &Arc::new(authority.client(BOTH))).unwrap();
        let _ = get(&mut stream);
        serial(&stream)
    };
    let before = shown();
    let file = folder.path().join("new.toml");
    std::fs::write(&file, config.replace(":1\"", ":2\"")).unwrap();
    let url = format!("http://{}", b.admin);
    let run = |command: &str, more: &[&str]| {
        let file = file.display().to_string();
        b.run(&[&[command, &file, "--url", &url][..], more].concat())
    };
    let hash = || b.get("/status")["config"]["hash"].clone();
    let running = hash();

    // Others of the same names.
    install(folder.path(), &ours);
    let (code, said) = run("apply", &[]);
    assert!(code != 0 && said.contains("www.pem: the appliance takes ") && said.contains("--box-files"), "{said}");
    assert_eq!(hash(), running, "nothing is changed");
    let (code, said) = run("diff", &[]);
    assert!(code == 0 && said.contains("their contents differ"), "{said}");
    let (code, said) = run("apply", &["--box-files"]);
    assert!(code == 0 && said.contains("www.key and 1 more file are the appliance's own"), "{said}");
    assert!(hash() != running && shown() == before, "the appliance's is shown as before");

    // None of these names, or the same ones.
    for name in ["www.pem", "www.key"] {
        std::fs::remove_file(folder.path().join(name)).unwrap();
    }
    std::fs::write(&file, config.replace(":1\"", ":3\"")).unwrap();
    let (code, said) = run("apply", &[]);
    assert_eq!(code, 0, "{said}");
    install(folder.path(), &theirs);
    std::fs::write(&file, config.replace(":1\"", ":4\"")).unwrap();
    let (code, said) = run("apply", &[]);
    assert_eq!(code, 0, "{said}");

    // By their whole paths they are the operator's.
    install(folder.path(), &ours);
    let whole = |name: &str| format!("\"{}\"", folder.path().join(name).display());
    let text = config.replace("\"www.pem\"", &whole("www.pem")).replace("\"www.key\"", &whole("www.key"));
    std::fs::write(&file, text).unwrap();
    let (code, said) = run("apply", &[]);
    assert_eq!(code, 0, "{said}");
    assert!(shown() != before, "the one that was named");
}
