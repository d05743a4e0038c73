//! Directory, RADIUS, message broker, file and mail servers, HTTP/2.

use super::*;

/// `dc=example` with one person, `uid=probe`.
pub fn slapd() -> Server {
    let (folder, port) = (folder(), free_port());
    let path = folder.path().to_owned();
    let (data, conf, ldif) = (path.join("data"), path.join("slapd.conf"), path.join("data.ldif"));
    fs::create_dir(&data).unwrap();
    let text = format!(
        "include /etc/ldap/schema/core.schema\ninclude /etc/ldap/schema/cosine.schema\ninclude \
         /etc/ldap/schema/inetorgperson.schema\nmodulepath /usr/lib/ldap\nmoduleload back_mdb\ndatabase mdb\nsuffix \
         \"dc=example\"\nrootdn \"cn=admin,dc=example\"\nrootpw \"{PASSWORD}\"\ndirectory {}\n",
        data.display()
    );
    fs::write(&conf, text).unwrap();
    let people = "dn: dc=example\nobjectClass: dcObject\nobjectClass: organization\no: Example\ndc: example\n\ndn: \
                  uid=probe,dc=example\nobjectClass: inetOrgPerson\nuid: probe\ncn: Probe*One\nsn: One\nmail: \
                  probe@example.test\n\ndn: uid=other,dc=example\nobjectClass: inetOrgPerson\nuid: other\ncn: \
                  Other\nsn: Two\n";
    fs::write(&ldif, people).unwrap();
    run(Command::new("slapadd").arg("-f").arg(&conf).arg("-l").arg(&ldif));
    let url = format!("ldap://127.0.0.1:{port}/");
    Server::start(folder, port, Command::new("slapd").arg("-h").arg(url).arg("-f").arg(&conf).args(["-d", "0"]))
}

/// Authentication at the port, accounting at the next one; the shared secret is [`PASSWORD`]. Over UDP, so that a port
/// of TCP shows that it has begun.
pub fn freeradius() -> Server {
    let (folder, port) = (folder(), free_port());
    let path = folder.path().to_owned();
    fs::write(path.join("dictionary"), "$INCLUDE /usr/share/freeradius/dictionary\n").unwrap();
    fs::write(path.join("users"), format!("{USER} Cleartext-Password := \"{PASSWORD}\"\n")).unwrap();
    let listen = |kind: &str, port: u16, proto: &str| {
        format!("listen {{\ntype = {kind}\nipaddr = 127.0.0.1\nport = {port}\nproto = {proto}\n}}\n")
    };
    let text = format!(
        "libdir = /usr/lib/freeradius\nraddbdir = {dir}\nrun_dir = {dir}\nlogdir = {dir}\nmax_requests = \
         256\nsecurity {{\nallow_core_dumps = no\n}}\nmodules {{\nfiles {{\nfilename = {dir}/users\n}}\npap {{\n}}\nalways ok \
         {{\nrcode = ok\n}}\n}}\nclient here {{\nipaddr = 127.0.0.1\nproto = *\nsecret = \
         \"{PASSWORD}\"\nrequire_message_authenticator = yes\n}}\nserver default {{\n{}{}{}authorize {{\nfiles\npap\n}}\nauthenticate \
         {{\npap\n}}\npreacct {{\n}}\naccounting {{\nok\n}}\n}}\n",
        listen("auth", port, "udp"),
        listen("acct", port + 1, "udp"),
        listen("auth", port, "tcp"),
        dir = path.display(),
    );
    fs::write(path.join("radiusd.conf"), text).unwrap();
    Server::start(folder, port, Command::new("freeradius").args(["-f", "-l", "stdout", "-d"]).arg(&path))
}

/// Nobody without a password.
pub fn mosquitto() -> Server {
    let (folder, port) = (folder(), free_port());
    let (conf, passwords) = (folder.path().join("conf"), folder.path().join("passwords"));
    run(Command::new("mosquitto_passwd").args(["-b", "-c"]).arg(&passwords).args([USER, PASSWORD]));
    give_to(&passwords, "mosquitto");
    fs::write(
        &conf,
        format!("listener {port} 127.0.0.1\nallow_anonymous false\npassword_file {}\n", passwords.display()),
    )
    .unwrap();
    Server::start(folder, port, Command::new("mosquitto").arg("-c").arg(&conf))
}

/// Anonymous, with the file `alive` of five bytes.
pub fn vsftpd() -> Server {
    let (folder, port) = (folder(), free_port());
    let (conf, root, empty) = (folder.path().join("conf"), folder.path().join("root"), folder.path().join("empty"));
    fs::create_dir(&root).unwrap();
    fs::create_dir(&empty).unwrap();
    fs::write(root.join("alive"), "alive").unwrap();
    let text = format!(
        "listen=YES\nlisten_address=127.0.0.1\nlisten_port={port}\nbackground=NO\nanonymous_enable=YES\nlocal_enable=NO\n\
         anon_root={}\nsecure_chroot_dir={}\nno_anon_password=NO\nftp_username=ftp\nnopriv_user=nobody\nseccomp_sandbox=NO\n",
        root.display(),
        empty.display()
    );
    fs::write(&conf, text).unwrap();
    Server::start(folder, port, Command::new("vsftpd").arg(&conf))
}

/// POP3.
pub fn dovecot() -> Server {
    let (folder, port) = (folder(), free_port());
    let path = folder.path().to_owned();
    let users = path.join("users");
    fs::write(&users, format!("{USER}:{{PLAIN}}{PASSWORD}:65534:65534::{}/mail::\n", path.display())).unwrap();
    fs::set_permissions(&users, fs::Permissions::from_mode(0o644)).unwrap();
    fs::create_dir(path.join("mail")).unwrap();
    give_to(&path.join("mail"), "nobody");
    let text = format!(
        "base_dir = {dir}/run\nlog_path = {dir}/dovecot.log\nprotocols = pop3\nlisten = 127.0.0.1\nssl = \
         no\ndisable_plaintext_auth = no\nmail_location = maildir:{dir}/mail/box\nfirst_valid_uid = 1\nservice pop3-login \
         {{\ninet_listener pop3 {{\nport = {port}\n}}\ninet_listener pop3s {{\nport = 0\n}}\n}}\npassdb {{\ndriver = \
         passwd-file\nargs = {dir}/users\n}}\nuserdb {{\ndriver = passwd-file\nargs = {dir}/users\n}}\n",
        dir = path.display(),
    );
    let conf = path.join("dovecot.conf");
    fs::write(&conf, text).unwrap();
    Server::start(folder, port, Command::new("dovecot").arg("-F").arg("-c").arg(&conf))
}

/// HTTP/2 with prior knowledge: `/ready` is 200 `ready`, everything else 404.
pub fn nginx() -> Server {
    let (folder, port) = (folder(), free_port());
    let conf = folder.path().join("nginx.conf");
    let text = format!(
        "daemon off;\npid {dir}/pid;\nerror_log stderr;\nevents {{}}\nhttp {{\naccess_log off;\nclient_body_temp_path \
         {dir}/a;\nproxy_temp_path {dir}/b;\nfastcgi_temp_path {dir}/c;\nuwsgi_temp_path {dir}/d;\nscgi_temp_path \
         {dir}/e;\nserver {{\nlisten 127.0.0.1:{port} http2;\nlocation = /ready {{ return 200 ready; }}\nlocation / {{ \
         return 404; }}\n}}\n}}\n",
        dir = folder.path().display(),
    );
    fs::write(&conf, text).unwrap();
    Server::start(folder, port, Command::new("nginx").arg("-c").arg(&conf))
}
