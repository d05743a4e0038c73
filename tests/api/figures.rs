//! Explanations of requests, statistics, the table of connections.

use reqwest::Method;
use serde_json::json;

use super::appliance::Appliance;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_is_explained_member_by_member_and_nothing_is_counted() {
    let appliance = Appliance::start();
    let ask = json!({"vserver": "web", "path": "/x?y=1", "client": "192.0.2.7", "headers": ["X-A: b", "Cookie: c=d"]});
    let (status, explained) = appliance.post("/api/v1/explain/request", ask.clone()).await;
    assert_eq!(status, 200, "{explained}");
    assert_eq!((&explained["verdict"], &explained["balanced_by"]), (&json!("balance"), &json!("web")));
    let chosen = explained["chosen"]["service"].as_str().expect("somebody").to_owned();
    let members = explained["candidates"].as_array().unwrap();
    let why = |name: &str| members.iter().find(|m| m["service"] == name).map(|m| m["why"].as_str().unwrap().to_owned());
    assert!(why(&chosen).unwrap().starts_with("chosen by "), "{explained}");
    // The same again: no cursor moved.
    let (_, again) = appliance.post("/api/v1/explain/request", ask.clone()).await;
    assert_eq!(again, explained);
    assert_eq!(appliance.get("/api/v1/stats/vservers/web").await["requests"]["total"], 0);
    // Whoever is out says why.
    appliance.post(&format!("/api/v1/services/{chosen}/disable"), json!({})).await;
    let (_, without) = appliance.post("/api/v1/explain/request", ask).await;
    let members = without["candidates"].as_array().unwrap();
    let out = members.iter().find(|m| m["service"] == chosen.as_str()).unwrap();
    assert_eq!((&out["state"], &out["why"]), (&json!("OFS"), &json!("it is OFS")));
    assert_ne!(without["chosen"]["service"], chosen.as_str());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_nobody_would_serve_says_how_it_would_end() {
    let appliance = Appliance::start();
    for service in ["web1", "web2", "spare/spare1"] {
        appliance.post(&format!("/api/v1/services/{}/disable", service.replace('/', "%2F")), json!({})).await;
    }
    let (_, explained) = appliance.post("/api/v1/explain/request", json!({"vserver": "web"})).await;
    assert_eq!(explained["chosen"], json!(null));
    assert_eq!(explained["refused"], "appliance/queue/no_member_up");
    assert_eq!(explained["chain"][0]["new_clients"], "refused");
    for (body, status) in [
        (json!({}), 400),
        (json!({"vserver": "wbe"}), 404),
        (json!({"vserver": "web", "path": "x"}), 400),
        (json!({"vserver": "web", "headers": ["no colon"]}), 400),
        (json!({"vserver": "web", "headers": "X: y"}), 400),
        (json!({"vserver": "web", "client": "nobody"}), 400),
        (json!({"vserver": "web", "pth": "/"}), 400),
    ] {
        assert_eq!(appliance.post("/api/v1/explain/request", body.clone()).await.0, status, "{body}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn statistics_and_connections_are_there_and_who_is_not_cannot_be_ended() {
    let appliance = Appliance::start();
    for path in ["/api/v1/stats/vservers/web", "/api/v1/stats/services/web1", "/api/v1/stats/services/spare%2Fspare1"] {
        let stats = appliance.get(path).await;
        assert_eq!((&stats["requests"], &stats["times"]), (&json!({"total": 0, "rate": 0}), &json!([])), "{stats}");
    }
    assert_eq!(
        appliance.get("/api/v1/connections?service=web1&client=192.0.2.1").await,
        json!({"items": [], "total": 0})
    );
    for (method, path, status) in [
        (Method::GET, "/api/v1/stats/vservers/wbe", 404),
        (Method::GET, "/api/v1/connections?client=nobody", 400),
        (Method::DELETE, "/api/v1/connections/1", 404),
        (Method::DELETE, "/api/v1/connections/x", 404),
        (Method::POST, "/api/v1/services/nobody/kick", 404),
        (Method::POST, "/api/v1/services/web1/kick", 200),
        (Method::POST, "/api/v1/service-groups/spare/kick", 200),
        (Method::POST, "/api/v1/service-groups/spare/members/spare1/kick", 200),
        (Method::POST, "/api/v1/servers/app1/kick", 200),
    ] {
        let (answered, body) = appliance.call(method.clone(), path, None).await;
        assert_eq!(answered, status, "{method} {path}: {body}");
    }
}

/// NetScaler's statistics of these objects (names of its statistics reference).
const STATISTICS: [(&str, &[&str]); 3] = [
    (
        "lbvserver, csvserver",
        &[
            "name",
            "type",
            "state",
            "primaryipaddress",
            "primaryport",
            "vslbhealth",
            "actsvcs",
            "inactsvcs",
            "establishedconn",
            "tothits",
            "hitsrate",
            "totalrequests",
            "requestsrate",
            "totalresponses",
            "totalrequestbytes",
            "totalresponsebytes",
            "totalpktsrecvd",
            "totalpktssent",
            "curclntconnections",
            "cursrvrconnections",
            "curpersistencesessions",
            "curbackuppersistencesessions",
            "surgecount",
            "svcsurgecount",
            "vsvrsurgecount",
            "sothreshold",
            "totspillovers",
            "totvserverdownbackuphits",
            "avgcltttlb",
            "cltresponsetimeapdex",
            "deferredreq",
            "deferredreqrate",
            "invalidrequestresponse",
            "invalidrequestresponsedropped",
            "labelledconn",
            "pushlabel",
            "curmptcpsessions",
            "cursubflowconn",
            "totalttlbtransactions",
            "toleratingttlbtransactions",
            "frustratingttlbtransactions",
        ],
    ),
    (
        "service",
        &[
            "name",
            "servicetype",
            "state",
            "primaryipaddress",
            "primaryport",
            "throughput",
            "throughputrate",
            "avgsvrttfb",
            "totalrequests",
            "totalresponses",
            "totalrequestbytes",
            "totalresponsebytes",
            "curclntconnections",
            "cursrvrconnections",
            "svrestablishedconn",
            "curreusepool",
            "maxclients",
            "curload",
            "curtflags",
            "surgecount",
            "vsvrservicehits",
            "vsvrservicehitsrate",
            "activetransactions",
            "totalttlbtransactions",
            "toleratingttlbtransactions",
            "frustratingttlbtransactions",
        ],
    ),
    ("servicegroup", &["servicegroupname", "state", "servicetype", "servicegroupmember"]),
];

/// Section, cells.
fn rows_of_the_page() -> Vec<(String, Vec<String>)> {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/src/manual/figures.rs");
    let text = std::fs::read_to_string(page).expect("the page");
    let (mut section, mut rows) = (String::new(), Vec::new());
    for line in text.lines().filter_map(|line| line.strip_prefix("//! ")) {
        if let Some(title) = line.strip_prefix("## ") {
            section = title.to_owned();
        }
        let cells: Vec<String> = line.split('|').map(|cell| cell.trim().to_owned()).collect();
        if line.starts_with("| ") && !["statistic", "series"].contains(&&*cells[1]) {
            rows.push((section.clone(), cells[1..cells.len() - 1].to_vec()));
        }
    }
    rows
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_statistic_of_netscaler_is_answered_where_the_manual_says_or_has_a_reason() {
    let appliance = Appliance::start();
    let rows = rows_of_the_page();
    for (section, names) in STATISTICS {
        let listed: Vec<&str> =
            rows.iter().filter(|(s, _)| s == section).flat_map(|(_, cells)| cells[0].split(", ")).collect();
        let missing: Vec<_> = names.iter().filter(|name| !listed.contains(name)).collect();
        assert!(missing.is_empty(), "{section}: {missing:?}");
    }
    let metrics = appliance.http.get(format!("{}/metrics", appliance.base)).send().await.unwrap();
    let metrics = metrics.text().await.unwrap();
    for (section, cells) in &rows {
        let (status, here) = if cells.len() == 4 { (&*cells[1], &cells[2]) } else { ("there", &cells[0]) };
        let codes: Vec<&str> = here.split('`').skip(1).step_by(2).collect();
        match status {
            "there" => assert!(!codes.is_empty(), "{section} {}: nowhere", cells[0]),
            "none" => assert!(codes.is_empty() && !cells[3].is_empty(), "{section} {}: no reason", cells[0]),
            other => panic!("{section} {}: `{other}`", cells[0]),
        }
        let remarks = cells.last().map_or("", |cell| cell).split('`').skip(1).step_by(2);
        for code in codes.into_iter().chain(remarks.filter(|code| code.starts_with("bascule_"))) {
            if code.starts_with("bascule_") {
                assert!(metrics.contains(&format!("# TYPE {code} ")), "{section}: there is no series {code}");
                continue;
            }
            let (of, field) = code.split_once('.').expect("an object and a field");
            let kind = if section == "service" { "services/web1" } else { "vservers/web" };
            let path = match of {
                "stats" => format!("/api/v1/stats/{kind}"),
                "vserver" => "/api/v1/vservers/web".into(),
                "service" => "/api/v1/services/web1".into(),
                "group" => "/api/v1/service-groups/spare".into(),
                other => panic!("{section}: what is `{other}`?"),
            };
            let object = appliance.get(&path).await;
            let found = field.split('.').try_fold(&object, |value, key| value.as_object()?.get(key));
            assert!(found.is_some(), "{section}: {path} has no {field}");
        }
    }
}
