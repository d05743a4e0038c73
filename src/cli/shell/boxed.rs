//! The appliance as a whole: what `show ns …` and `stat ns` tell.

use std::path::Path;

use reqwest::Method;
use serde_json::{Value, json};

use super::super::client::Client;
use super::commands::Boxed;
use super::execute::{Answer, Refused, items};
use super::show::{self, Counted, Facts};
use super::{configure, nitro, stat};
use crate::admin::dto::StatusDto;
use crate::files;
use crate::netscaler::document::Document;
use crate::netscaler::export;

pub(super) async fn show(client: &Client, what: Boxed) -> Result<Answer, Refused> {
    let (text, json) = match what {
        Boxed::Version => {
            let (facts, json) = nitro::single(client, "nsversion").await?;
            (format!("\t{}\n", facts.said("version", "")), json)
        }
        Boxed::License => {
            let (facts, json) = nitro::single(client, "nslicense").await?;
            (show::license(&facts), json)
        }
        Boxed::Hardware => {
            let (facts, json) = nitro::single(client, "nshardware").await?;
            let status: StatusDto = client.get("/api/v1/status").await?;
            let text = show::hardware(&facts, status.machine.as_ref());
            (text, json!({ "nshardware": json, "machine": status.machine }))
        }
        Boxed::Info => {
            let (version, json) = nitro::single(client, "nsversion").await?;
            let (config, of_config) = nitro::single(client, "nsconfig").await?;
            let (modes, _) = nitro::single(client, "nsmode").await?;
            let features = configure::features(client).await?.text;
            let text = show::info(&version, &config, &features, &show::modes(&modes));
            (text, json!({ "nsversion": json, "nsconfig": of_config }))
        }
        Boxed::Modes => {
            let (facts, json) = nitro::single(client, "nsmode").await?;
            (show::modes(&facts), json)
        }
        Boxed::HaNode => {
            let (facts, json) = nitro::single(client, "hanode").await?;
            (show::ha_node(&facts), json)
        }
        Boxed::HostName => {
            let (facts, json) = nitro::single(client, "nshostname").await?;
            (format!("\tHostname: {}\n", facts.said("hostname", "")), json)
        }
        Boxed::Config => {
            let (facts, json) = nitro::single(client, "nsconfig").await?;
            (config(&facts), json)
        }
        Boxed::SavedConfig => return saved(client).await,
        Boxed::Unsaved => return unsaved(client).await,
        Boxed::SslStatistics => stat::of_the_box(client, Counted::Ssl).await?,
    };
    Ok(Answer { text, json, warnings: Vec::new() })
}

fn config(facts: &Facts) -> String {
    let changed = facts.said("configchanged", "false").to_uppercase();
    format!(
        "\tNetScaler IP: {}  (mask: {})\n\tNode: Standalone\n\tSystem Time: {}\n\tLast Config Changed Time: {}\n\
         \tConfig Changed since last Saved Configuration: {changed}\n",
        facts.said("ipaddress", ""),
        facts.said("netmask", ""),
        facts.said("currentsytemtime", ""),
        facts.said("lastconfigchangedtime", ""),
    )
}

/// FILE of the appliance, where it is on this machine.
async fn file(client: &Client) -> Result<(StatusDto, String), Refused> {
    let status: StatusDto = client.get("/api/v1/status").await?;
    let path = status.config.path.clone().filter(|_| client.is_here());
    match path {
        Some(path) => Ok((status, path)),
        None => Err(Refused::Ours(
            "the saved configuration is a file of the appliance; ask for it there, or for `show ns runningConfig`"
                .into(),
        )),
    }
}

/// `show ns savedConfig`: FILE in NetScaler's words.
async fn saved(client: &Client) -> Result<Answer, Refused> {
    let (status, path) = file(client).await?;
    let sent = sent(&path)?;
    let document = Document::from_toml(&sent.text).map_err(Refused::Ours)?;
    let text = export::lines(&document, &status.version);
    let json = json!({ "path": path, "config": text });
    Ok(Answer { text, json, warnings: Vec::new() })
}

fn sent(path: &str) -> Result<files::Sent, Refused> {
    files::to_send(Path::new(path)).map_err(|problems| {
        let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
        Refused::Ours(format!("{path} does not load: {}", problems.join("; ")))
    })
}

/// `diff ns config`: what taking FILE again would change, which is what is not saved, the other way round.
async fn unsaved(client: &Client) -> Result<Answer, Refused> {
    let (_, path) = file(client).await?;
    let json = client.send_toml(Method::POST, "/api/v1/config/diff", sent(&path)?.text).await?;
    let changes = json["changes"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let changes: Vec<&str> = changes.collect();
    let text = match changes.is_empty() {
        true => "\tThe running configuration is the saved one\n".to_owned(),
        false => {
            let lines: String = changes.iter().map(|change| format!("\t{change}\n")).collect();
            format!("\tGoing back from the running to the saved configuration would change:\n{lines}")
        }
    };
    Ok(Answer { text, json, warnings: Vec::new() })
}

/// `stat ns`.
pub(super) async fn statistics(client: &Client) -> Result<Answer, Refused> {
    let mut parts = Vec::new();
    for path in ["status", "vservers", "services", "stats/vservers?cleared=true"] {
        parts.push(client.call(Method::GET, &format!("/api/v1/{path}"), None).await?);
    }
    let status = items::<StatusDto>(&parts[0])?;
    let (vservers, services, statistics) = (items(&parts[1])?, items(&parts[2])?, items(&parts[3])?);
    let told = |status: &StatusDto| show::ns_statistics(status, &vservers, &services, &statistics);
    let of_the_box = stat::of_the_box(client, Counted::Ns).await?.0;
    let text = of_the_box + "\n" + &status.iter().map(told).collect::<String>();
    let json = json!({ "status": parts[0], "vservers": parts[3]["items"] });
    Ok(Answer { text, json, warnings: Vec::new() })
}
