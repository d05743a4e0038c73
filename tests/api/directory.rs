//! Users of a directory: a real slapd on loopback.

use std::fs;
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use bascule::model::access::{Ldap, Role};
use bascule::model::scenario::Secret;
use serde_json::{Value, json};

use super::appliance::{Appliance, model};
use super::ports::free_port;
use super::users::user;

/// How long the server may take to begin, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

const PEOPLE: &str = "dn: dc=example\nobjectClass: dcObject\nobjectClass: organization\no: Example\ndc: example\n\n\
    dn: uid=alice,dc=example\nobjectClass: inetOrgPerson\nuid: alice\ncn: Alice\nsn: One\nuserPassword: wonderland\n\n\
    dn: uid=bob,dc=example\nobjectClass: inetOrgPerson\nuid: bob\ncn: Bob\nsn: Two\nuserPassword: builder\n\n\
    dn: uid=oper,dc=example\nobjectClass: inetOrgPerson\nuid: oper\ncn: Oper\nsn: Three\nuserPassword: directory\n\n\
    dn: cn=netops,dc=example\nobjectClass: groupOfNames\ncn: netops\nmember: uid=alice,dc=example\n\
    member: uid=oper,dc=example\n";

struct Slapd {
    child: Child,
    at: SocketAddr,
    folder: tempfile::TempDir,
}

impl Drop for Slapd {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `tls`: a certificate and its key, as PEM; it then speaks STARTTLS.
fn slapd(tls: Option<(&str, &str)>) -> Slapd {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("data")).unwrap();
    let mut text = String::from(
        "include /etc/ldap/schema/core.schema\ninclude /etc/ldap/schema/cosine.schema\n\
         include /etc/ldap/schema/inetorgperson.schema\nmodulepath /usr/lib/ldap\nmoduleload back_mdb\n",
    );
    if let Some((certificate, key)) = tls {
        fs::write(path("crt"), certificate).unwrap();
        fs::write(path("key"), key).unwrap();
        let (crt, key) = (path("crt"), path("key"));
        text += &format!("TLSCertificateFile {}\nTLSCertificateKeyFile {}\n", crt.display(), key.display());
    }
    text += &format!(
        "database mdb\nsuffix \"dc=example\"\nrootdn \"cn=admin,dc=example\"\nrootpw \"s3cret\"\n\
         access to attrs=userPassword by anonymous auth by * none\naccess to * by users read by anonymous auth\n\
         directory {}\n",
        path("data").display()
    );
    fs::write(path("slapd.conf"), text).unwrap();
    fs::write(path("people.ldif"), PEOPLE).unwrap();
    let mut add = Command::new("/usr/sbin/slapadd");
    add.arg("-f").arg(path("slapd.conf")).arg("-l").arg(path("people.ldif")).stdin(Stdio::null());
    let added = add.output().expect("slapadd is installed by scripts/install-prerequisites");
    assert!(added.status.success(), "{}", String::from_utf8_lossy(&added.stderr));
    let port = free_port();
    let mut child = Command::new("/usr/sbin/slapd")
        .arg("-h")
        .arg(format!("ldap://127.0.0.1:{port}/"))
        .arg("-f")
        .arg(path("slapd.conf"))
        .args(["-d", "0"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("slapd is installed by scripts/install-prerequisites");
    let at = SocketAddr::from(([127, 0, 0, 1], port));
    let begun = Instant::now();
    while TcpStream::connect_timeout(&at, Duration::from_secs(1)).is_err() {
        assert!(child.try_wait().unwrap().is_none() && begun.elapsed() < PATIENCE, "slapd does not listen");
        std::thread::sleep(Duration::from_millis(20));
    }
    Slapd { child, at, folder }
}

/// The directory, asked as its administrator; `netops` are operators.
fn ldap(slapd: &Slapd) -> Ldap {
    let password = slapd.folder.path().join("bind");
    fs::write(&password, "s3cret\n").unwrap();
    Ldap {
        base: "dc=example".into(),
        bind_dn: Some("cn=admin,dc=example".into()),
        bind_password: Some(Secret::File(password.to_str().unwrap().into())),
        group_base: Some("dc=example".into()),
        roles: vec![("netops".into(), Role::Operator)],
        ..Ldap::at(&format!("ldap://{}", slapd.at))
    }
}

/// With one local user, `oper`.
fn appliance(ldap: Ldap) -> Appliance {
    let mut model = model();
    model.admin.users = vec![user("oper", Role::ReadOnly)];
    model.admin.ldap = Some(ldap);
    Appliance::with(model)
}

async fn log_in(appliance: &Appliance, name: &str, password: &str) -> (u16, Value) {
    let body = json!({ "username": name, "password": password });
    let response = appliance.http.post(format!("{}/api/v1/login", appliance.base)).json(&body).send().await.unwrap();
    (response.status().as_u16(), response.json().await.unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn people_of_the_directory_log_in_with_the_role_of_their_group() {
    let slapd = slapd(None);
    let appliance = appliance(ldap(&slapd));
    let (status, alice) = log_in(&appliance, "alice", "wonderland").await;
    assert_eq!((status, &alice["actor"], &alice["role"]), (200, &json!("ldap:alice"), &json!("operator")), "{alice}");
    let (status, capitals) = log_in(&appliance, " ALICE", "wonderland").await;
    assert_eq!((status, &capitals["actor"]), (200, &json!("ldap:alice")), "one person: {capitals}");
    assert_eq!(log_in(&appliance, "alice", "wrong").await.0, 401);
    assert_eq!(log_in(&appliance, "alice", "").await.0, 401, "an empty password is no login");
    assert_eq!(log_in(&appliance, "carol", "x").await.0, 401);
    let (status, bob) = log_in(&appliance, "bob", "builder").await;
    assert_eq!(status, 403, "{bob}");
    assert!(bob["detail"].as_str().unwrap().contains("none of your groups"), "{bob}");
    for evil in ["*", "a*", "alice)(uid=*", "*)(objectClass=*"] {
        assert_eq!(log_in(&appliance, evil, "wonderland").await.0, 401, "{evil}");
    }
    let act = appliance.http.put(format!("{}/api/v1/switches/drill", appliance.base)).json(&json!({ "value": true }));
    let switch: Value = act.basic_auth("alice", Some("wonderland")).send().await.unwrap().json().await.unwrap();
    assert_eq!(switch["set_by"]["actor"], "ldap:alice");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn local_names_come_first_and_work_while_the_directory_is_away() {
    let mut slapd = slapd(None);
    let appliance = appliance(ldap(&slapd));
    let (status, oper) = log_in(&appliance, "oper", "oper").await;
    assert_eq!((status, &oper["actor"], &oper["role"]), (200, &json!("admin:oper"), &json!("read-only")));
    assert_eq!(log_in(&appliance, "oper", "directory").await.0, 401, "the directory is not asked for a local name");
    slapd.child.kill().unwrap();
    slapd.child.wait().unwrap();
    let (status, away) = log_in(&appliance, "alice", "wonderland").await;
    assert_eq!((status, &away["code"]), (503, &json!("directory_unavailable")), "{away}");
    assert_eq!(log_in(&appliance, "oper", "oper").await.0, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn how_long_a_refusal_takes_does_not_tell_a_local_name_from_one_of_the_directory() {
    let slapd = slapd(None);
    let appliance = appliance(ldap(&slapd));
    for name in ["oper", "alice", "nobody"] {
        let begun = Instant::now();
        assert_eq!(log_in(&appliance, name, "wrong").await.0, 401, "{name}");
        assert!(begun.elapsed() >= Duration::from_millis(250), "{name}: {:?}", begun.elapsed());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn guessing_at_the_directory_is_locked_out_too() {
    let slapd = slapd(None);
    let appliance = appliance(ldap(&slapd));
    for name in ["alice", "Alice", "ALICE"].into_iter().cycle().take(9) {
        assert_eq!(log_in(&appliance, name, "wrong").await.0, 401);
    }
    assert_eq!(log_in(&appliance, "alice", "wrong").await.0, 429);
    assert_eq!(log_in(&appliance, "alice", "wonderland").await.0, 429);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn starttls_is_spoken_and_the_directorys_certificate_is_verified() {
    use bascule::model::id::CertificateId;
    use bascule::model::tls::{Certificate, Pem};
    let made = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap();
    let slapd = slapd(Some((&made.cert.pem(), &made.signing_key.serialize_pem())));
    let ldap = Ldap { starttls: true, ..ldap(&slapd) };
    let (status, unknown) = log_in(&appliance(ldap.clone()), "alice", "wonderland").await;
    assert_eq!(status, 503, "nobody known has signed it: {unknown}");
    let mut model = model();
    let chain = Pem { file: "ca.pem".into(), text: made.cert.pem().into() };
    model.certificates = vec![Certificate { name: "ca".into(), chain, key: None }];
    model.admin.ldap = Some(Ldap { ca: Some(CertificateId::from_index(0)), ..ldap });
    let appliance = Appliance::with(model);
    let (status, alice) = log_in(&appliance, "alice", "wonderland").await;
    assert_eq!((status, &alice["actor"]), (200, &json!("ldap:alice")), "{alice}");
}
