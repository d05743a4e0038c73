//! What the shell asks of NITRO: settings and counters under NetScaler's names, and what REST has no word for.

use reqwest::Method;
use serde_json::{Value, json};

use super::super::client::Client;
use super::commands::View;
use super::execute::{Answer, Refused};
use super::show::Facts;
use crate::admin::dto::path_segment;

/// A space of NITRO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Space {
    Config,
    Stat,
}

/// The objects of `resource`, or the one of this name; none where the appliance does not say: what is shown is shorter then.
pub(super) async fn objects(client: &Client, space: Space, resource: &str, name: Option<&str>) -> Vec<Facts> {
    let space = if space == Space::Config { "config" } else { "stat" };
    let mut path = format!("/nitro/v1/{space}/{resource}");
    if let Some(name) = name {
        path += &format!("/{}", path_segment(name));
    }
    match client.call(Method::GET, &path, None).await {
        Ok(answer) => Facts::list(&answer, resource),
        Err(_) => Vec::new(),
    }
}

/// The one object, or nothing of it.
pub(super) async fn object(client: &Client, space: Space, resource: &str, name: &str) -> Facts {
    objects(client, space, resource, Some(name)).await.into_iter().next().unwrap_or_default()
}

/// The resource that has the settings of what a view shows.
pub(super) fn resource(view: View) -> Option<&'static str> {
    Some(match view {
        View::Service => "service",
        View::Group => "servicegroup",
        View::Server => "server",
        View::LbVserver => "lbvserver",
        View::CsVserver => "csvserver",
        View::Monitor => "lbmonitor",
        _ => return None,
    })
}

/// Settings of what is shown, by name.
pub(super) struct Settings {
    all: Vec<Facts>,
    key: &'static str,
}

// === impl Settings ===

impl Settings {
    /// Of all objects of a view, or of the one that is shown.
    pub async fn of(client: &Client, view: View, name: Option<&str>) -> Settings {
        let key = match view {
            View::Group => "servicegroupname",
            View::Monitor => "monitorname",
            _ => "name",
        };
        let all = match (view, resource(view)) {
            (View::Vserver, _) => {
                let mut both = objects(client, Space::Config, "lbvserver", name).await;
                both.extend(objects(client, Space::Config, "csvserver", name).await);
                both
            }
            (_, Some(resource)) => objects(client, Space::Config, resource, name).await,
            (_, None) => Vec::new(),
        };
        Settings { all, key }
    }

    pub fn none() -> Settings {
        Settings { all: Vec::new(), key: "name" }
    }

    /// What is bound to a vserver.
    pub async fn bound(client: &Client, role: &str, name: &str) -> Facts {
        let resource = if role == "cs" { "csvserver_binding" } else { "lbvserver_binding" };
        object(client, Space::Config, resource, name).await
    }

    pub fn find(&self, name: &str) -> Facts {
        Facts::of(&self.all, self.key, name)
    }
}

/// `enable ns mode FR …`
pub(super) async fn switch_modes(client: &Client, enable: bool, modes: &[String]) -> Result<Answer, Refused> {
    let action = if enable { "enable" } else { "disable" };
    let body = json!({ "nsmode": { "mode": modes } });
    let path = format!("/nitro/v1/config/nsmode?action={action}");
    let json = client.call(Method::POST, &path, Some(&body)).await?;
    Ok(Answer { text: String::new(), json, warnings: Vec::new() })
}

/// A change of what NITRO alone has words for; what it warns of is told.
pub(super) async fn change(client: &Client, method: &str, path: &str, body: Option<&Value>) -> Result<Answer, Refused> {
    let method = method.parse().unwrap_or(Method::POST);
    let sign = if path.contains('?') { '&' } else { '?' };
    let json = client.call(method, &format!("/nitro/v1/config/{path}{sign}warning=yes"), body).await?;
    let is_warning = json["severity"].as_str() == Some("WARNING");
    let warnings = json["message"].as_str().filter(|_| is_warning).map(str::to_owned).into_iter().collect();
    Ok(Answer { text: String::new(), json, warnings })
}

/// `clear ns stats`
pub(super) async fn clear_statistics(client: &Client, level: &str) -> Result<Answer, Refused> {
    let body = json!({ "nsstats": { "cleanuplevel": level } });
    let json = client.call(Method::POST, "/nitro/v1/config/nsstats?action=clear", Some(&body)).await?;
    Ok(Answer { text: String::new(), json, warnings: Vec::new() })
}

/// What the one object of a resource says, as it is and as facts.
pub(super) async fn single(client: &Client, resource: &str) -> Result<(Facts, Value), Refused> {
    let json = client.call(Method::GET, &format!("/nitro/v1/config/{resource}"), None).await?;
    let facts = Facts::list(&json, resource).into_iter().next().unwrap_or_default();
    let json = json.get(resource).cloned().unwrap_or(json);
    Ok((facts, json))
}
