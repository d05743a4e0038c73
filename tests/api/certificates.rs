//! Certificates that are uploaded.

use std::os::unix::fs::PermissionsExt as _;

use rcgen::{CertificateParams, KeyPair};
use reqwest::Method;
use serde_json::{Value, json};

use super::appliance::Appliance;

const PATH: &str = "/api/v1/certificates/shop";

/// Chain and key, as PEM.
fn issued(host: &str) -> (String, String) {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(vec![host.to_owned()]).unwrap();
    params.not_after = rcgen::date_time_ymd(2099, 1, 1);
    (params.self_signed(&key).unwrap().pem(), key.serialize_pem())
}

/// The files that are kept, sorted.
fn kept(appliance: &Appliance) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(appliance.state.path().join("certificates")) else { return Vec::new() };
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_certificate_is_uploaded_replaced_and_its_key_never_comes_back() {
    let appliance = Appliance::of("[appliance]\nname = \"box\"\n");
    let (chain, key) = issued("shop.test");
    let body = json!({"certificate": chain, "key": key});
    let (status, added) = appliance.put(PATH, body.clone()).await;
    assert_eq!(status, 201, "{added}");
    let shown = appliance.get(PATH).await;
    assert_eq!((&shown["names"], &shown["has_key"]), (&json!(["shop.test"]), &json!(true)));
    assert!(shown["days_left"].as_i64().unwrap() > 1_000);
    for name in kept(&appliance) {
        let file = appliance.state.path().join("certificates").join(&name);
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600, "{name}");
    }
    let secret = key.lines().nth(1).unwrap();
    for path in [PATH, "/api/v1/certificates/shop/config", "/api/v1/config", "/api/v1/journal?kind=config"] {
        assert!(!appliance.text(path).await.contains(secret), "{path}");
    }
    assert!(!added.to_string().contains(secret));

    let vserver = json!({"name": "web", "type": "SSL", "certificates": ["shop"]});
    let (status, added) = appliance.post("/api/v1/vservers", vserver).await;
    assert_eq!(status, 201, "{added}");
    assert_eq!(appliance.get(PATH).await["used_by"], json!(["vserver web"]));
    let (status, problem) = appliance.call(Method::DELETE, PATH, None).await;
    assert_eq!((status, &problem["used_by"]), (409, &json!(["vserver web"])), "{problem}");

    // As one PEM, chain and key together.
    let (chain, key) = issued("new.test");
    let request = appliance.http.put(format!("{}{PATH}", appliance.base));
    let answer = request.header("content-type", "application/x-pem-file").body(format!("{key}{chain}")).send().await;
    assert_eq!(answer.unwrap().status(), 200);
    assert_eq!(appliance.get(PATH).await["names"], json!(["new.test"]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_of_another_certificate_is_refused_and_leaves_nothing_behind() {
    let appliance = Appliance::of("[appliance]\nname = \"box\"\n");
    let ((chain, _), (_, other)) = (issued("a.test"), issued("b.test"));
    let (status, problem) = appliance.put(PATH, json!({"certificate": chain, "key": other})).await;
    assert_eq!((status, &problem["problems"][0]["pointer"]), (422, &json!("/key")), "{problem}");
    assert_eq!(kept(&appliance), Vec::<String>::new());
    let dry = format!("{PATH}?dry_run=true");
    let (chain, key) = issued("a.test");
    assert_eq!(appliance.put(&dry, json!({"certificate": chain, "key": key})).await.0, 200);
    assert_eq!(kept(&appliance), Vec::<String>::new());
    let not_pem: Value =
        json!({"certificate": "-----BEGIN CERTIFICATE-----\nno\n-----END CERTIFICATE-----", "key": "k"});
    assert_eq!(appliance.put(PATH, not_pem).await.0, 422);
    assert_eq!(appliance.get("/api/v1/certificates").await["total"], 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_was_renewed_under_its_name_is_read_again() {
    let appliance = Appliance::of("[appliance]\nname = \"box\"\n");
    let files = appliance.state.path();
    let write = |host: &str| {
        let (chain, key) = issued(host);
        std::fs::write(files.join("a.pem"), chain).unwrap();
        std::fs::write(files.join("a.key"), key).unwrap();
    };
    write("old.test");
    let body = json!({"certificate": "a.pem", "key": "a.key"});
    assert_eq!(appliance.put(PATH, body.clone()).await.0, 201);
    write("new.test");
    let (status, changed) = appliance.put(PATH, body).await;
    assert_eq!(status, 200, "{changed}");
    assert!(changed["changes"].to_string().contains("new.test"), "{changed}");
    assert_eq!(appliance.get(PATH).await["names"], json!(["new.test"]));
}
