//! Commands that change the configuration: through the shell, and over HTTP.

use serde_json::json;

use super::appliance::Appliance;
use super::shell::bascule;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_vserver_is_built_shown_drained_and_removed_line_by_line() {
    let appliance = Appliance::start();
    let lines = "add server app9 127.0.0.9\n\
                 add service late app9 HTTP 8009 -maxClient 500 -healthMonitor NO\n\
                 add lb vserver new HTTP -persistenceType COOKIEINSERT -timeout 10\n\
                 bind lb vserver new late -weight 3\n\
                 disable service late 30\n\
                 sh service late\n";
    let (out, code) = bascule(&appliance, &["shell"], lines).await;
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("Server Name: app9\n") && out.contains("Max Conn: 500"), "{out}");
    assert!(out.contains("GOING OUT OF SERVICE"), "{out}");
    let (out, code) = bascule(&appliance, &["shell", "-c", "sh lb vs new"], "").await;
    assert_eq!(code, 0, "{out}");
    for line in [
        "new (0.0.0.0:0) - HTTP\tType: ADDRESS\n",
        "No. of Bound Services : 1 (Total)",
        "Configured Method: LEASTCONNECTION\tBackupMethod: ROUNDROBIN\n",
        "Persistence: COOKIEINSERT",
        "Down state flush: ENABLED\n",
        "Disable Primary Vserver On Down : DISABLED\n",
        "TROFS Persistence honored: ENABLED\n",
        "1)\tlate (127.0.0.9: 8009) - HTTP State: GOING OUT OF SERVICE\tWeight: 3\n",
    ] {
        assert!(out.contains(line), "{line:?}\n{out}");
    }
    let (out, code) = bascule(&appliance, &["shell", "-c", "rm service late", "-c", "show service late"], "").await;
    assert_eq!(code, 1, "{out}");
    assert!(out.starts_with(" Done\nERROR: No such resource [name, late]"), "{out}");
    let entries = appliance.get("/api/v1/journal?kind=config").await;
    // The first is the start.
    let actors = entries["items"].as_array().into_iter().flatten().skip(1).map(|entry| &entry["actor"]);
    let actors: Vec<&str> = actors.filter_map(serde_json::Value::as_str).collect();
    let changes = entries["items"][1]["body"]["changes"].as_array().expect("what lines changed stands in their entry");
    assert!(
        changes.contains(&json!("server app9: added")) && changes.contains(&json!("service late: added")),
        "{changes:?}"
    );
    let (out, _) = bascule(&appliance, &["shell", "-c", "show journal"], "").await;
    assert!(out.contains("\n\tserver app9: added\n") && !out.contains("[server.app9]"), "{out}");
    assert!(
        actors.len() == 2 && actors.iter().all(|actor| actor.starts_with("uid:")),
        "lines that came together: {actors:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_lines_end_in_a_summary_of_those_that_failed() {
    let appliance = Appliance::start();
    let lines = "# what is there already\nadd server app1 127.0.0.1\nadd lb vserver v1 HTTP\nset lb vserver v1 -so 5\n";
    let (out, code) = bascule(&appliance, &["shell"], lines).await;
    assert_eq!(code, 1);
    let begin = "ERROR: Server already exists [name, app1]\n Done\nERROR: Ambiguous argument name [so]: ";
    assert!(out.starts_with(begin) && out.contains("\nWarning: vserver.v1: has no "), "{out}");
    let summary = "2 of 3 commands failed:\n\tline 2: add server app1 127.0.0.1\n\t\tERROR: Server already exists";
    assert!(out.contains(summary) && out.contains("\tline 4: set lb vserver v1 -so 5\n"), "{out}");
    let folder = tempfile::tempdir().unwrap();
    let (file, answers) = (folder.path().join("ns.conf"), folder.path().join("answers"));
    std::fs::write(&file, "add lb vserver v2 HTTP\nadd lb vserver v2 HTTP\nshow ns feature\n").unwrap();
    let command = format!("batch -fileName {} -outfile {}", file.display(), answers.display());
    let (out, code) = bascule(&appliance, &["shell", "-c", &command], "").await;
    assert_eq!(code, 1);
    assert!(out.starts_with("1 of 3 commands failed:\n\tline 2: add lb vserver v2 HTTP\n"), "{out}");
    let answers = std::fs::read_to_string(&answers).unwrap();
    assert!(
        answers.starts_with("exec: add lb vserver v2 HTTP\n Done\nexec: add lb vserver v2 HTTP\nERROR: ")
            && answers.contains("\nWarning: vserver.v2: has no "),
        "{answers}"
    );
    assert!(answers.contains(" 1)\tLoad Balancing                    LB           ON\n"), "{answers}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lines_that_come_together_are_one_change_and_what_still_holds_is_warned_of_once() {
    let appliance = Appliance::start();
    let mut lines = String::new();
    for at in 1..=40 {
        lines += &format!("add server n{at} 127.0.1.{at}\nadd service late{at} n{at} HTTP 8009 -healthMonitor NO\n");
    }
    lines += "# the vserver\n\nadd lb vserver new HTTP\n";
    (1..=39).for_each(|at| lines += &format!("bind lb vserver new late{at}\n"));
    let (out, code) = bascule(&appliance, &["shell"], &lines).await;
    assert_eq!(code, 0, "{out}");
    let (answers, warnings): (Vec<&str>, Vec<&str>) = out.lines().partition(|line| *line == " Done");
    assert_eq!(answers.len(), 40 + 40 + 1 + 39);
    let about: Vec<&str> = warnings.iter().filter_map(|warning| warning.split(": ").nth(1)).collect();
    assert_eq!(about, ["service.late40", "vserver.new"], "{warnings:?}");
    let entries = appliance.get("/api/v1/journal?kind=config").await;
    // What comes through a pipe may come in pieces.
    let entries = entries["items"].as_array().map_or(0, Vec::len);
    assert!(entries < 20, "{entries} changes of 120 lines");

    // One that does not load is told alone, wherever it stands.
    let mut lines: Vec<String> = (0..9).map(|at| format!("add lb vserver v{at} HTTP")).collect();
    lines.insert(4, "add lb vserver wrong HTTP 127.0.0.1 80 -redirectURL nowhere".into());
    lines.push("rm lb vserver v0".into());
    lines.push("add lb vserver v0 HTTP".into());
    let (_, answer) = appliance.post("/api/v1/ns/commands", json!({ "lines": lines })).await;
    let failed: Vec<usize> = answer["results"]
        .as_array()
        .into_iter()
        .flatten()
        .enumerate()
        .filter_map(|(at, result)| (result["ok"] != true).then_some(at))
        .collect();
    assert_eq!((failed, &answer["results"][4]["code"]), (vec![4], &json!(278)), "{answer}");
    let vservers = appliance.get("/api/v1/vservers?q=v").await;
    assert!((0..9).all(|at| vservers.to_string().contains(&format!("\"v{at}\""))), "{vservers}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_running_configuration_is_told_in_netscalers_words_and_as_toml() {
    let appliance = Appliance::start();
    let (out, code) = bascule(&appliance, &["shell", "-c", "show ns runningConfig"], "").await;
    assert_eq!(code, 0, "{out}");
    for line in [
        "add server app1 127.0.0.1\n",
        "add service web1 app1 HTTP 8001 -healthMonitor NO\n",
        "bind serviceGroup spare app1 8003 -weight 2\n",
        "bind lb vserver web web1 -weight 3\n",
        "# [service_group.spare.member.spare1] is called app1:8003 there\n",
        "# [scenario.dr]\n",
        "# [switch.drill]\n",
    ] {
        assert!(out.contains(line), "{line:?}\n{out}");
    }
    let (out, _) = bascule(&appliance, &["shell", "-c", "show ns runningConfig -toml"], "").await;
    assert!(out.contains("[scenario.dr]\n") && !out.contains("add server"), "{out}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lines_over_http_are_changes_of_their_own_or_one() {
    let appliance = Appliance::start();
    let lines =
        json!({"lines": ["add lb vserver a HTTP", "add lb vserver a HTTP", "add lb vserver b HTTP -state DISABLED"]});
    let (status, answer) = appliance.post("/api/v1/ns/commands", lines).await;
    assert_eq!((status, &answer["failed"]), (200, &json!(1)), "{answer}");
    assert_eq!(
        answer["results"][0],
        json!({"line": "add lb vserver a HTTP", "ok": true, "code": null, "message": null})
    );
    assert_eq!(answer["results"][1]["code"], 273);
    assert_eq!(answer["results"][1]["message"], "Resource already exists [name, a]");
    assert_eq!(answer["config"]["unsaved"], true);
    assert_eq!(appliance.get("/api/v1/vservers/b").await["state"], "OFS", "a state that is said is an act behind it");

    let lines = json!({"lines": ["add lb vserver c HTTP", "bind lb vserver c nobody"], "atomic": true});
    let (_, answer) = appliance.post("/api/v1/ns/commands", lines).await;
    let codes: Vec<_> = answer["results"].as_array().unwrap().iter().map(|result| result["code"].clone()).collect();
    assert_eq!(codes, [json!(257), json!(462)], "{answer}");
    assert_eq!(appliance.get("/api/v1/vservers").await["items"].as_array().unwrap().len(), 3);

    let lines = json!({"lines": ["rm lb vserver a"], "dry_run": true});
    let (_, answer) = appliance.post("/api/v1/ns/commands", lines).await;
    assert_eq!(answer["failed"], 0, "{answer}");
    assert!(answer["changes"][0].as_str().is_some_and(|change| change.contains('a')), "{answer}");
    appliance.get("/api/v1/vservers/a").await;

    let (_, answer) = appliance.post("/api/v1/ns/commands", json!({"lines": ["show service", "# a comment"]})).await;
    assert_eq!((&answer["results"][0]["code"], &answer["results"][1]["ok"]), (&json!(1088), &json!(true)), "{answer}");
    let (status, _) = appliance.post("/api/v1/ns/commands", json!({"lines": []})).await;
    assert_eq!(status, 400);
    let wrong = json!({"lines": ["add lb vserver x HTTP 127.0.0.1 80 -redirectURL nowhere"]});
    let (_, answer) = appliance.post("/api/v1/ns/commands", wrong).await;
    assert_eq!(answer["results"][0]["code"], 278, "what only the whole shows is told with its sentence: {answer}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_line_that_is_tried_sees_those_before_it_that_went_well() {
    let appliance = Appliance::start();
    let lines = json!({"dry_run": true, "lines": [
        "add server new 127.0.0.9",
        "add service fresh new HTTP 80",
        "add service fresh new HTTP 81",
        "add lb vserver y HTTP 127.0.0.1 80 -redirectURL nowhere",
        "add lb vserver z HTTP",
        "bind lb vserver z fresh",
        "bind lb vserver y fresh",
        "# a comment",
    ]});
    let (status, answer) = appliance.post("/api/v1/ns/commands", lines).await;
    let codes: Vec<_> = answer["results"].as_array().unwrap().iter().map(|result| result["code"].as_u64()).collect();
    assert_eq!(status, 200);
    assert_eq!(codes[..6], [None, None, Some(273), Some(278), None, None], "{answer}");
    assert!(codes[6].is_some() && codes[7].is_none(), "{answer}");
    let changes = answer["changes"].to_string();
    assert!(["new", "fresh", "z"].iter().all(|name| changes.contains(name)), "{answer}");
    let vservers = appliance.get("/api/v1/vservers").await;
    assert_eq!(vservers["items"].as_array().map(Vec::len), Some(1), "nothing was carried out: {vservers}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_nobody_uses_yet_has_counters_and_what_is_disabled_is_shown_so() {
    let appliance = Appliance::start();
    let lines = json!({"lines": [
        "add gslb site dc9 REMOTE 127.0.0.9", "add gslb service gs 127.0.0.9 HTTP 80 -siteName dc9",
        "add gslb vserver gv HTTP", "add server out 127.0.0.8 -state DISABLED",
    ]});
    let (_, answer) = appliance.post("/api/v1/ns/commands", lines).await;
    assert_eq!(answer["failed"], 0, "{answer}");
    let (out, code) = bascule(&appliance, &["shell", "-c", "stat gslb vserver gv"], "").await;
    assert!(code == 0 && out.contains("gv\tType: HTTP\tState: DOWN\tHealth: 0%"), "{out}");
    let (out, code) = bascule(&appliance, &["shell", "-c", "stat gslb service gs"], "").await;
    assert!(code == 0 && out.contains("gs (127.0.0.9:80) - HTTP\tState: UNKNOWN"), "{out}");
    let (out, _) = bascule(&appliance, &["shell", "-c", "show ns runningConfig"], "").await;
    assert!(out.contains("add server out 127.0.0.8 -state DISABLED\n"), "{out}");
}
