//! Logins that last: the cookie, the token that acts carry, and what the journal tells of both.

use bascule::model::Role;
use reqwest::Method;
use serde_json::{Value, json};

use super::appliance::{Appliance, model};
use super::users::user;

/// `oper` and `guest`; passwords are the names.
fn appliance() -> Appliance {
    let mut model = model();
    model.admin.users = vec![user("guest", Role::ReadOnly), user("oper", Role::Operator)];
    Appliance::with(model)
}

async fn log_in(appliance: &Appliance, name: &str, password: &str) -> reqwest::Response {
    let body = json!({ "username": name, "password": password });
    appliance.http.post(format!("{}/api/v1/login", appliance.base)).json(&body).send().await.unwrap()
}

/// The cookie as a browser sends it back, and the body of the login.
async fn session(appliance: &Appliance, name: &str) -> (String, Value) {
    let response = log_in(appliance, name, name).await;
    assert_eq!(response.status(), 200);
    let cookie = response.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    (cookie, response.json().await.unwrap())
}

async fn send(appliance: &Appliance, method: Method, path: &str, fields: &[(&str, &str)]) -> (u16, Value) {
    let mut request = appliance.http.request(method.clone(), format!("{}{path}", appliance.base));
    if method != Method::GET {
        request = request.json(&json!({ "value": true }));
    }
    for (name, value) in fields {
        request = request.header(*name, *value);
    }
    let response = request.send().await.unwrap();
    (response.status().as_u16(), response.json().await.unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_login_gives_a_cookie_that_reads_and_acts_with_its_csrf_token_until_the_logout() {
    let appliance = appliance();
    let response = log_in(&appliance, "oper", "oper").await;
    let cookie = response.headers()["set-cookie"].to_str().unwrap().to_owned();
    assert!(cookie.ends_with("; Path=/; HttpOnly; SameSite=Strict"), "{cookie}");
    assert_eq!(response.headers()["cache-control"], "no-store");
    let (cookie, login) = session(&appliance, "oper").await;
    assert_eq!((&login["user"], &login["role"]), (&json!("oper"), &json!("operator")));
    assert_eq!(login["permissions"], json!(["read", "operate"]));

    let (status, whoami) = send(&appliance, Method::GET, "/api/v1/whoami", &[("cookie", &cookie)]).await;
    assert_eq!((status, &whoami["csrf"]), (200, &login["csrf"]), "a page that is loaded again finds it");
    assert!(whoami["expires"].is_string() && whoami["door"].as_str().unwrap().starts_with("session 2 from 127."));

    let switch = "/api/v1/switches/drill";
    let (status, problem) = send(&appliance, Method::PUT, switch, &[("cookie", &cookie)]).await;
    assert_eq!((status, &problem["code"]), (403, &json!("csrf")));
    let csrf = login["csrf"].as_str().unwrap();
    let both = [("cookie", &*cookie), ("x-csrf-token", csrf)];
    let (status, changed) = send(&appliance, Method::PUT, switch, &both).await;
    assert_eq!((status, &changed["set_by"]["actor"]), (200, &json!("admin:oper")));

    assert_eq!(
        appliance
            .http
            .post(format!("{}/api/v1/logout", appliance.base))
            .header("cookie", &cookie)
            .header("x-csrf-token", csrf)
            .send()
            .await
            .unwrap()
            .json::<Value>()
            .await
            .unwrap(),
        json!({ "ended": true })
    );
    let (status, problem) = send(&appliance, Method::GET, "/api/v1/status", &[("cookie", &cookie)]).await;
    assert_eq!((status, problem["detail"].as_str().unwrap()), (401, "the session has ended; log in again"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_got_by_nitro_and_clears_counters_needs_what_acts_need() {
    let appliance = appliance();
    let (cookie, login) = session(&appliance, "oper").await;
    let cookie = ("cookie", &*cookie);
    let csrf = login["csrf"].as_str().unwrap();
    let clear = "/nitro/v1/stat/lbvserver?args=clearstats:full";
    for path in [clear, "/nitro/v1/stat/ns?args=ClearStats:basic", "/nitro/v1/stat/lbvserver?clearstats=full"] {
        for fields in [&[cookie][..], &[cookie, ("x-csrf-token", "wrong")]] {
            let (status, fault) = send(&appliance, Method::GET, path, fields).await;
            assert_eq!(status, 403, "{path}: {fault}");
        }
        assert_eq!(send(&appliance, Method::GET, path, &[cookie, ("x-csrf-token", csrf)]).await.0, 200, "{path}");
    }
    assert_eq!(send(&appliance, Method::GET, "/nitro/v1/stat/lbvserver", &[cookie]).await.0, 200, "a look");

    // NITRO's own tokens and names say by themselves that the caller means it.
    let named = [("x-nitro-user", "oper"), ("x-nitro-pass", "oper")];
    assert_eq!(send(&appliance, Method::GET, clear, &named).await.0, 200);
    let body = json!({ "login": { "username": "oper", "password": "oper" } });
    let opened = appliance.http.post(format!("{}/nitro/v1/config/login", appliance.base)).json(&body);
    let opened: Value = opened.send().await.unwrap().json().await.unwrap();
    let token = format!("NITRO_AUTH_TOKEN={}", opened["sessionid"].as_str().unwrap());
    assert_eq!(send(&appliance, Method::GET, clear, &[("cookie", &token)]).await.0, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_journal_tells_logins_refusals_and_through_which_door_an_act_came() {
    let appliance = appliance();
    let (cookie, login) = session(&appliance, "oper").await;
    let fields = [("cookie", &*cookie), ("x-csrf-token", login["csrf"].as_str().unwrap())];
    assert_eq!(send(&appliance, Method::PUT, "/api/v1/switches/drill", &fields).await.0, 200);
    assert_eq!(log_in(&appliance, "oper", "wrong-s3cret").await.status(), 401);
    assert_eq!(log_in(&appliance, "s3cret-as-a-name", "x").await.status(), 401);

    // Nobody waits for such an entry to be written; who reads the journal does.
    let journal = appliance.http.get(format!("{}/api/v1/journal", appliance.base)).basic_auth("guest", Some("guest"));
    let journal: Value = journal.send().await.unwrap().json().await.unwrap();
    let of = |kind: &str| -> Vec<&Value> {
        journal["items"].as_array().unwrap().iter().filter(|entry| entry["kind"] == *kind).collect()
    };
    let access = of("access");
    assert_eq!((&access[0]["actor"], &access[0]["body"]["what"]), (&json!("admin:oper"), &json!("login")));
    assert_eq!((&access[1]["body"]["what"], &access[1]["body"]["user"]), (&json!("refused"), &json!("oper")));
    assert_eq!(access[1]["body"]["door"], "tcp 127.0.0.1");
    assert_eq!(access[2]["body"]["user"], Value::Null, "what is typed where a name belongs may be a password");
    let act = of("act")[0];
    assert_eq!((&act["actor"], &act["body"]["door"]), (&json!("admin:oper"), &json!("session 1 from 127.0.0.1")));
    let text = journal.to_string();
    for secret in ["wrong-s3cret", "s3cret-as-a-name", &cookie[16..], login["csrf"].as_str().unwrap()] {
        assert!(!text.contains(secret), "{secret}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_wrong_passwords_lock_the_login_and_say_for_how_long_and_the_socket_stays_open() {
    let appliance = appliance();
    for _ in 0..9 {
        assert_eq!(log_in(&appliance, "oper", "wrong").await.status(), 401);
    }
    let locked = log_in(&appliance, "oper", "wrong").await;
    assert_eq!((locked.status().as_u16(), &locked.headers()["retry-after"]), (429, &"300".parse().unwrap()));
    assert_eq!(locked.json::<Value>().await.unwrap()["detail"], "Locked for 5 min after 10 wrong passwords");
    assert_eq!(log_in(&appliance, "oper", "oper").await.status(), 429, "also the right one");
    assert_eq!(log_in(&appliance, "guest", "guest").await.status(), 200, "another name from there");
    let socket = appliance.state.path().join("bascule.sock");
    let local = reqwest::Client::builder().no_proxy().unix_socket(socket).build().unwrap();
    assert_eq!(local.get("http://localhost/api/v1/whoami").send().await.unwrap().status(), 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_there_is_nothing_to_log_in_to_the_answer_says_so() {
    let appliance = Appliance::start();
    let problem = log_in(&appliance, "x", "y").await;
    assert_eq!(problem.status(), 409);
    assert!(problem.json::<Value>().await.unwrap()["detail"].as_str().unwrap().contains("no users are configured"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_is_not_in_the_allow_list_is_closed_before_anything_is_read() {
    use tokio::io::AsyncReadExt as _;
    let mut model = model();
    model.admin.allow = vec!["192.0.2.0/24".parse().unwrap()];
    let appliance = Appliance::with(model);
    let address = appliance.base.strip_prefix("http://").unwrap();
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let mut answer = Vec::new();
    // Nothing was sent, and nothing comes.
    assert_eq!(stream.read_to_end(&mut answer).await.unwrap_or_default(), 0);
    let socket = appliance.state.path().join("bascule.sock");
    let local = reqwest::Client::builder().no_proxy().unix_socket(socket).build().unwrap();
    assert_eq!(local.get("http://localhost/healthz").send().await.unwrap().status(), 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_superuser_lifts_a_lock_and_nobody_else_does() {
    let appliance = appliance();
    for _ in 0..10 {
        log_in(&appliance, "oper", "wrong").await;
    }
    assert_eq!(log_in(&appliance, "oper", "oper").await.status(), 429);
    let lock = format!("{}/api/v1/users/oper/lock", appliance.base);
    assert_eq!(appliance.http.delete(&lock).basic_auth("guest", Some("guest")).send().await.unwrap().status(), 403);
    let socket = appliance.state.path().join("bascule.sock");
    let local = reqwest::Client::builder().no_proxy().unix_socket(socket).build().unwrap();
    let lifted = local.delete("http://localhost/api/v1/users/oper/lock").send().await.unwrap();
    assert_eq!(lifted.json::<Value>().await.unwrap(), json!({ "name": "oper", "networks": 1 }));
    assert_eq!(log_in(&appliance, "oper", "oper").await.status(), 200);
    let journal = local.get("http://localhost/api/v1/journal?kind=access").send().await.unwrap();
    let journal: Value = journal.json().await.unwrap();
    let lift = journal["items"].as_array().unwrap().iter().find(|entry| entry["body"]["what"] == "unlock").unwrap();
    assert_eq!((&lift["body"]["user"], lift["actor"].as_str().unwrap().starts_with("uid:")), (&json!("oper"), true));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_burst_of_guesses_tries_ten_and_locks_for_five_minutes() {
    let appliance = appliance();
    let guess = |n: usize| {
        let password = if n == 79 { "oper".to_owned() } else { format!("wrong{n}") };
        let url = format!("{}/api/v1/whoami", appliance.base);
        let request = appliance.http.get(url).basic_auth("oper", Some(password));
        async move { request.send().await.unwrap().status().as_u16() }
    };
    let answers = futures_util::future::join_all((0..80).map(guess)).await;
    let told = |status: u16| answers.iter().filter(|answer| **answer == status).count();
    // Where the right one is among the first ten it is let in, and forgives.
    assert!(told(401) <= 18 && told(401) + told(429) + told(200) == 80, "{answers:?}");
    for _ in 0..20 {
        log_in(&appliance, "oper", "wrong").await;
    }
    let locked = log_in(&appliance, "oper", "wrong").await;
    let left: u64 = locked.headers()["retry-after"].to_str().unwrap().parse().unwrap();
    assert!(locked.status() == 429 && left <= 300, "{left}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_answer_is_kept_or_taken_for_something_else() {
    let appliance = Appliance::start();
    for path in ["/api/v1/status", "/nitro/v1/config/lbvserver", "/metrics", "/api/v1/nothing", "/healthz"] {
        let response = appliance.http.get(format!("{}{path}", appliance.base)).send().await.unwrap();
        let field = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
        assert_eq!((&*field("cache-control"), &*field("x-content-type-options")), ("no-store", "nosniff"), "{path}");
    }
    let page = appliance.http.get(&appliance.base).send().await.unwrap();
    assert_eq!(page.headers()["cache-control"], "no-cache", "a page may be asked for again");
}
