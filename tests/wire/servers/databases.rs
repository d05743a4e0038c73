//! PostgreSQL, MariaDB, Redis.

use super::*;

/// With TLS, SCRAM, and the database `postgres`.
pub fn postgresql() -> Server {
    let folder = folder();
    let (data, port) = (folder.path().join("data"), free_port());
    let programs = newest("/usr/lib/postgresql");
    fs::create_dir(&data).unwrap();
    give_to(&data, "postgres");
    give_to(folder.path(), "postgres");
    let password = folder.path().join("password");
    fs::write(&password, PASSWORD).unwrap();
    run(as_user(programs.join("initdb"), "postgres").current_dir(folder.path()).args([
        "-D",
        data.to_str().unwrap(),
        "-U",
        USER,
        "-A",
        "scram-sha-256",
        "--no-sync",
        "--pwfile",
        password.to_str().unwrap(),
    ]));
    let (cert, key) = certificate(folder.path(), "postgres");
    let path = folder.path().to_owned();
    let settings = [
        "listen_addresses=127.0.0.1".to_owned(),
        format!("port={port}"),
        format!("unix_socket_directories={}", path.display()),
        "fsync=off".to_owned(),
        "ssl=on".to_owned(),
        format!("ssl_cert_file={}", cert.display()),
        format!("ssl_key_file={}", key.display()),
    ];
    let mut command = as_user(programs.join("postgres"), "postgres");
    command.current_dir(&path).arg("-D").arg(&data);
    for setting in settings {
        command.arg("-c").arg(setting);
    }
    let server = Server::start(folder, port, &mut command);
    // It takes connections before it takes logins.
    let begun = Instant::now();
    while !server.log().contains("ready to accept connections") {
        assert!(begun.elapsed() < PATIENCE, "PostgreSQL is not ready:\n{}", server.log());
        std::thread::sleep(Duration::from_millis(20));
    }
    server
}

fn newest(versions: &str) -> PathBuf {
    let found = fs::read_dir(versions).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path().join("bin")));
    found.max().unwrap_or_else(|| panic!("nothing in {versions}; run scripts/install-prerequisites"))
}

/// With TLS and the database `shop`.
pub fn mariadb() -> Server {
    let folder = folder();
    let (data, port) = (folder.path().join("data"), free_port());
    fs::create_dir(&data).unwrap();
    give_to(&data, "mysql");
    give_to(folder.path(), "mysql");
    run(as_user("mariadb-install-db", "mysql")
        .args(["--no-defaults", "--skip-test-db", "--auth-root-authentication-method=normal"])
        .arg(format!("--datadir={}", data.display())));
    let begin = folder.path().join("begin.sql");
    // A line for each statement.
    let sql = [
        "CREATE DATABASE shop;".to_owned(),
        "CREATE TABLE shop.stock (n INT);".to_owned(),
        "INSERT INTO shop.stock VALUES (7);".to_owned(),
        format!("CREATE USER '{USER}'@'%' IDENTIFIED BY '{PASSWORD}';"),
        format!("GRANT SELECT ON shop.* TO '{USER}'@'%';"),
        "CREATE TABLE shop.deeds (seq INT, cause VARCHAR(200)) ENGINE=InnoDB;".to_owned(),
        format!("GRANT ALL ON shop.deeds TO '{USER}'@'%';"),
    ]
    .join("\n");
    fs::write(&begin, sql).unwrap();
    let (cert, key) = certificate(folder.path(), "mysql");
    let path = folder.path().to_owned();
    Server::start(
        folder,
        port,
        as_user("mariadbd", "mysql")
            .arg("--no-defaults")
            .arg(format!("--datadir={}", data.display()))
            .arg(format!("--socket={}", path.join("socket").display()))
            .arg(format!("--pid-file={}", path.join("pid").display()))
            .arg(format!("--port={port}"))
            .arg("--bind-address=127.0.0.1")
            .arg("--skip-name-resolve")
            .arg("--innodb-flush-log-at-trx-commit=0")
            .arg(format!("--init-file={}", begin.display()))
            .arg(format!("--ssl-cert={}", cert.display()))
            .arg(format!("--ssl-key={}", key.display())),
    )
}

/// With a password for `default`, and the user.
pub fn redis() -> Server {
    let (folder, port) = (folder(), free_port());
    let conf = folder.path().join("redis.conf");
    let text = format!(
        "bind 127.0.0.1\nport {port}\nsave \"\"\nappendonly no\ndir {}\nrequirepass \"{PASSWORD}\"\nuser {USER} on \
         >{} ~* +@all\n",
        folder.path().display(),
        PASSWORD.replace(' ', "-"),
    );
    fs::write(&conf, text).unwrap();
    Server::start(folder, port, Command::new("redis-server").arg(&conf))
}
