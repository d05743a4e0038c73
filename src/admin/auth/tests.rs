//! The doors, without sockets.

use base64::Engine as _;

use super::verifier::hash_password;
use super::*;
use crate::model::Model;
use crate::model::access::{Admin, ApiToken, PasswordHash, User, token_of};

struct Request {
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    peer: Peer,
}

fn request(peer: &str, headers: &[(&'static str, &str)]) -> Request {
    let headers = headers.iter().map(|(n, v)| (n.parse().unwrap(), v.parse().unwrap())).collect();
    Request {
        method: Method::GET,
        uri: "/".parse().unwrap(),
        headers,
        peer: Peer::Tcp { address: peer.parse().unwrap(), tls: true },
    }
}

fn admin(users: Vec<User>) -> Admin {
    Admin { users, ..Admin::default() }
}

fn model(admin: &Admin) -> Model {
    Model { admin: admin.clone(), ..Model::empty() }
}

async fn ask(request: &Request, admin: &Admin, keeper: &Keeper) -> Result<Caller, Problem> {
    let head = Head { method: &request.method, uri: &request.uri, headers: &request.headers };
    keeper.authenticate(request.peer, head, &model(admin)).await
}

async fn status(request: &Request, admin: &Admin) -> u16 {
    ask(request, admin, &Keeper::new()).await.map_or_else(|p| p.status.as_u16(), |_| 200)
}

#[tokio::test]
async fn without_users_only_the_loopback_is_let_in() {
    let nobody = admin(Vec::new());
    let caller = ask(&request("127.0.0.1:1", &[]), &nobody, &Keeper::new()).await.unwrap();
    assert_eq!((&*caller.actor, caller.role), ("admin:local", Role::Superuser));
    assert_eq!(status(&request("[::1]:1", &[("host", "[::1]:9080")]), &nobody).await, 200);
    assert_eq!(status(&request("[::ffff:127.0.0.1]:1", &[]), &nobody).await, 200);
    assert_eq!(status(&request("192.0.2.1:1", &[]), &nobody).await, 403);
}

#[tokio::test]
async fn a_rebound_name_or_a_proxied_request_is_not_local() {
    let nobody = admin(Vec::new());
    for (host, expected) in [
        ("localhost:9080", 200),
        ("LOCALHOST", 200),
        ("127.0.0.1:9080", 200),
        ("evil.example:9080", 403),
        ("127.0.0.1.evil.example", 403),
        ("localhost.evil.example", 403),
    ] {
        assert_eq!(status(&request("127.0.0.1:1", &[("host", host)]), &nobody).await, expected, "{host}");
    }
    assert_eq!(status(&request("127.0.0.1:1", &[("x-forwarded-for", "192.0.2.1")]), &nobody).await, 403);
    let mut twice = request("127.0.0.1:1", &[("host", "localhost")]);
    twice.headers.append("host", "evil.example".parse().unwrap());
    assert_eq!(status(&twice, &nobody).await, 403);
}

#[tokio::test]
async fn an_act_from_a_page_of_another_site_is_refused() {
    let nobody = admin(Vec::new());
    for (headers, expected) in [
        (vec![("host", "localhost:9080"), ("origin", "http://localhost:9080")], 200),
        (vec![("host", "localhost:9080"), ("origin", "https://evil.example")], 403),
        (vec![("host", "localhost:9080"), ("origin", "null")], 403),
        (vec![("host", "localhost:9080"), ("sec-fetch-site", "cross-site")], 403),
        (vec![("host", "localhost:9080"), ("sec-fetch-site", "none")], 200),
    ] {
        let mut act = request("127.0.0.1:1", &headers);
        act.method = Method::POST;
        assert_eq!(status(&act, &nobody).await, expected, "{headers:?}");
    }
}

#[tokio::test]
async fn with_users_a_right_password_is_needed_and_roles_hold() {
    let user = User {
        name: "ops".into(),
        role: Role::Operator,
        password: PasswordHash::Inline(hash_password(b"s3cret").unwrap().into()),
    };
    let (admin, keeper) = (admin(vec![user]), Keeper::new());
    let caller = ask(&basic("ops:s3cret"), &admin, &keeper).await.unwrap();
    assert_eq!((&*caller.actor, caller.role), ("admin:ops", Role::Operator));
    for wrong in [basic("ops:wrong"), basic("nobody:s3cret"), request("127.0.0.1:1", &[])] {
        let problem = ask(&wrong, &admin, &keeper).await.unwrap_err();
        assert_eq!(problem.status, 401);
        assert!(problem.headers.iter().any(|(name, _)| name == header::WWW_AUTHENTICATE));
    }
    assert!(authorize(Role::Operator, Access::Operate).is_ok());
    assert!(authorize(Role::ReadOnly, Access::Operate).is_err());
    assert!(authorize(Role::Operator, Access::Configure).is_err());
}

#[tokio::test]
async fn the_kernel_says_who_calls_on_the_unix_socket() {
    let nobody = admin(Vec::new());
    let mut own = request("127.0.0.1:1", &[]);
    own.peer = Peer::Unix { uid: 0, gid: 0, own: true };
    assert_eq!(&*ask(&own, &nobody, &Keeper::new()).await.unwrap().actor, "uid:0");
    own.peer = Peer::Unix { uid: 65_533, gid: 65_533, own: false };
    assert_eq!(status(&own, &nobody).await, 403);
}

fn ops() -> User {
    let hash = hash_password(b"s3cret").unwrap();
    User { name: "ops".into(), role: Role::Operator, password: PasswordHash::Inline(hash.into()) }
}

/// A session of `ops`, and a request with its cookie.
async fn logged_in(keeper: &Keeper, admin: &Admin) -> (Opened, Request) {
    let peer = Peer::Tcp { address: "192.0.2.1:1".parse().unwrap(), tls: true };
    let (opened, _) = keeper.log_in(peer, "ops", b"s3cret".to_vec(), &model(admin)).await.unwrap();
    let cookie = format!("bascule_session={}", opened.token);
    let request = request("192.0.2.1:1", &[("cookie", &cookie), ("host", "box:9080")]);
    (opened, request)
}

#[tokio::test]
async fn a_session_acts_only_with_the_csrf_token_that_came_with_it() {
    let (admin, keeper) = (admin(vec![ops()]), Keeper::new());
    let (opened, mut read) = logged_in(&keeper, &admin).await;
    let caller = ask(&read, &admin, &keeper).await.unwrap();
    assert_eq!((&*caller.actor, &*caller.door), ("admin:ops", "session 1 from 192.0.2.1"));
    assert!(caller.expires.is_some() && caller.session() == Some(&opened.session.id));
    read.method = Method::POST;
    assert_eq!(ask(&read, &admin, &keeper).await.unwrap_err().code, "csrf");
    read.headers.insert("x-csrf-token", "wrong".parse().unwrap());
    assert_eq!(ask(&read, &admin, &keeper).await.unwrap_err().code, "csrf");
    read.headers.insert("x-csrf-token", opened.csrf.parse().unwrap());
    assert!(ask(&read, &admin, &keeper).await.is_ok());
    read.headers.insert("origin", "https://evil.example".parse().unwrap());
    assert_eq!(ask(&read, &admin, &keeper).await.unwrap_err().code, "forbidden");
}

#[tokio::test]
async fn a_session_dies_with_its_user_their_password_and_their_role() {
    let keeper = Keeper::new();
    let (before, mut role, mut password) = (admin(vec![ops()]), ops(), ops());
    role.role = Role::Superuser;
    password.password = PasswordHash::Inline(hash_password(b"other").unwrap().into());
    let other = User { name: "eve".into(), ..ops() };
    for after in [vec![other], vec![role], vec![password]] {
        let (_, request) = logged_in(&keeper, &before).await;
        assert!(ask(&request, &before, &keeper).await.is_ok());
        let problem = ask(&request, &admin(after), &keeper).await.unwrap_err();
        assert!(problem.detail.contains("session has ended"), "{}", problem.detail);
        assert!(ask(&request, &before, &keeper).await.is_err(), "it does not come back");
    }
}

#[tokio::test]
async fn a_token_lets_in_until_it_expires_or_is_taken_away() {
    let (token, hash) = token_of([7; 32]);
    let one = |expires| ApiToken { name: "ci".into(), role: Role::Operator, hash: hash.as_str().into(), expires };
    let bearer = request("192.0.2.1:1", &[("authorization", &format!("Bearer {token}"))]);
    let with = |tokens| Admin { tokens, ..admin(Vec::new()) };
    let keeper = Keeper::new();
    let caller = ask(&bearer, &with(vec![one(None)]), &keeper).await.unwrap();
    assert_eq!((&*caller.actor, caller.role, &*caller.door), ("token:ci", Role::Operator, "token ci from 192.0.2.1"));
    for (tokens, why) in [(vec![one(Some(Wall(1_000_000)))], "expired at 1970-01-01T00:00:01"), (vec![], "revoked")] {
        let problem = ask(&bearer, &with(tokens), &keeper).await.unwrap_err();
        assert!(problem.status == 401 && problem.detail.contains(why), "{}", problem.detail);
    }
}

#[tokio::test]
async fn a_script_of_a_page_is_not_asked_for_a_password_by_its_browser() {
    let admin = admin(vec![ops()]);
    for (headers, asked) in
        [(vec![], true), (vec![("sec-fetch-mode", "navigate")], true), (vec![("sec-fetch-mode", "cors")], false)]
    {
        let problem = ask(&request("192.0.2.1:1", &headers), &admin, &Keeper::new()).await.unwrap_err();
        let challenge = &problem.headers.iter().find(|(name, _)| name == header::WWW_AUTHENTICATE).unwrap().1;
        assert_eq!(challenge.to_str().unwrap().starts_with("Basic"), asked, "{headers:?}");
    }
}

#[tokio::test]
async fn credentials_of_other_machines_are_not_taken_in_the_clear() {
    let mut admin = admin(vec![ops()]);
    let encoded = base64::engine::general_purpose::STANDARD.encode("ops:s3cret");
    let mut far = request("192.0.2.1:1", &[("authorization", &format!("Basic {encoded}"))]);
    far.peer = Peer::Tcp { address: "192.0.2.1:1".parse().unwrap(), tls: false };
    let keeper = Keeper::new();
    assert_eq!(ask(&far, &admin, &keeper).await.unwrap_err().code, "tls_needed");
    assert_eq!(
        keeper.log_in(far.peer, "ops", b"s3cret".to_vec(), &model(&admin)).await.unwrap_err().code,
        "tls_needed"
    );
    let mut near = request("127.0.0.1:1", &[("authorization", &format!("Basic {encoded}"))]);
    near.peer = Peer::Tcp { address: "127.0.0.1:1".parse().unwrap(), tls: false };
    assert!(ask(&near, &admin, &keeper).await.is_ok());
    admin.plain_text = true;
    assert!(ask(&far, &admin, &keeper).await.is_ok());
}

/// A request with a name and a password.
fn basic(pair: &str) -> Request {
    let encoded = base64::engine::general_purpose::STANDARD.encode(pair);
    request("192.0.2.1:1", &[("authorization", &format!("Basic {encoded}"))])
}

#[tokio::test]
async fn who_watches_is_let_go_when_they_would_not_be_let_in_any_more() {
    let keeper = Keeper::new();
    let (token, hash) = token_of([7; 32]);
    let ci = |hash: String| ApiToken { name: "ci".into(), role: Role::Operator, hash: hash.into(), expires: None };
    let before = Admin { tokens: vec![ci(hash)], ..admin(vec![ops()]) };
    let (opened, with_cookie) = logged_in(&keeper, &before).await;
    let with_token = request("192.0.2.1:1", &[("authorization", &format!("Bearer {token}"))]);
    let mut callers = Vec::new();
    for request in [&with_cookie, &with_token, &basic("ops:s3cret")] {
        callers.push(ask(request, &before, &keeper).await.unwrap());
    }
    let stay = async |admin: &Admin| {
        let mut stay = Vec::new();
        for caller in &callers {
            stay.push(keeper.may_stay(caller, &model(admin)).await);
        }
        stay
    };
    assert_eq!(stay(&before).await, [true, true, true]);
    assert_eq!(stay(&Admin { allow: vec!["198.51.100.0/24".parse().unwrap()], ..before.clone() }).await, [false; 3]);
    let revoked = Admin { tokens: Vec::new(), ..before.clone() };
    assert_eq!(stay(&revoked).await, [true, false, true]);
    let another = Admin { tokens: vec![ci(token_of([8; 32]).1)], ..before.clone() };
    assert_eq!(stay(&another).await, [true, false, true], "another token of the same name and role");
    let mut password = before.clone();
    password.users[0].password = PasswordHash::Inline(hash_password(b"other").unwrap().into());
    assert_eq!(stay(&password).await, [false, true, false]);
    keeper.sessions.close(&opened.session.id);
    assert_eq!(stay(&before).await, [false, true, true], "logged out");
}

#[tokio::test]
async fn who_watches_through_a_door_alone_is_let_go_when_it_opens_for_them_no_more() {
    use crate::model::access::SocketRules;
    let (nobody, keeper) = (admin(Vec::new()), Keeper::new());
    let local = ask(&request("127.0.0.1:1", &[]), &nobody, &keeper).await.unwrap();
    assert!(keeper.may_stay(&local, &model(&nobody)).await);
    assert!(!keeper.may_stay(&local, &model(&admin(vec![ops()]))).await, "there are logins now");
    let with = |role| SocketRules { users: vec![("65533".into(), role)], groups: Vec::new() };
    let before = Admin { socket: with(Role::Operator), ..nobody.clone() };
    let mut by_socket = request("127.0.0.1:1", &[]);
    by_socket.peer = Peer::Unix { uid: 65_533, gid: 65_533, own: false };
    let watcher = ask(&by_socket, &before, &keeper).await.unwrap();
    assert!(keeper.may_stay(&watcher, &model(&before)).await);
    assert!(!keeper.may_stay(&watcher, &model(&nobody)).await);
    assert!(!keeper.may_stay(&watcher, &model(&Admin { socket: with(Role::ReadOnly), ..nobody })).await);
}

#[tokio::test]
async fn a_local_name_in_other_letters_is_not_asked_of_the_directory() {
    let mut admin = admin(vec![ops()]);
    // Nothing answers there: whoever were asked of it would be told so.
    admin.ldap = Some(crate::model::access::Ldap::at("ldap://127.0.0.1:1"));
    for name in ["OPS", "Ops", " ops"] {
        assert_eq!(status(&basic(&format!("{name}:s3cret")), &admin).await, 401, "{name}");
    }
    assert_eq!(status(&basic("eve:s3cret"), &admin).await, 503);
}
