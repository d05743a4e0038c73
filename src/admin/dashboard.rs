//! The dashboard at `/`: plain HTML, CSS and JavaScript modules, part of the program, built by nothing.
//!
//! The files are for anybody, as they say nothing of this appliance: the page asks `/api/v1/whoami` and shows the login
//! where that is refused. A browser may load nothing but these files and the API: no script or style stands inside the
//! page, and nothing comes from another machine.

#[cfg(test)]
mod contrast;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};

use super::body::ANY;
use super::problem::Problem;
use super::route::{Route, Segments};

/// A file as it is sent.
struct File {
    name: &'static str,
    media: &'static str,
    bytes: &'static [u8],
}

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const JS: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";

/// `file!("app.js", JS)`: a file of the folder `dashboard`.
macro_rules! file {
    ($name:literal, $media:ident) => {
        File { name: $name, media: $media, bytes: include_bytes!(concat!("dashboard/", $name)) }
    };
}

const FILES: &[File] = &[
    file!("index.html", HTML),
    file!("style.css", CSS),
    file!("icon.svg", SVG),
    file!("theme.js", JS),
    file!("app.js", JS),
    file!("acts.js", JS),
    file!("certificates.js", JS),
    file!("chart.js", JS),
    file!("checks.js", JS),
    file!("config.js", JS),
    file!("datacenters.js", JS),
    file!("dialog.js", JS),
    file!("dns.js", JS),
    file!("dom.js", JS),
    file!("explain.js", JS),
    file!("fmt.js", JS),
    file!("journal.js", JS),
    file!("lists.js", JS),
    file!("missing.js", JS),
    file!("unknown.js", JS),
    file!("login.js", JS),
    file!("monitors.js", JS),
    file!("names.js", JS),
    file!("net.js", JS),
    file!("outbox.js", JS),
    file!("overview.js", JS),
    file!("pair.js", JS),
    file!("parts.js", JS),
    file!("people.js", JS),
    file!("policies.js", JS),
    file!("policy.js", JS),
    file!("scenarios.js", JS),
    file!("services.js", JS),
    file!("states.js", JS),
    file!("status.js", JS),
    file!("timeline.js", JS),
    file!("triage.js", JS),
    file!("vservers.js", JS),
];

/// What a browser may load, and where it may send forms: here alone.
const POLICY: &str =
    "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'";

pub(super) fn routes() -> Vec<Route> {
    let page = |headers: HeaderMap| async move { send("index.html", &headers) };
    let file = |names: Segments, headers: HeaderMap| async move { send(names.first(), &headers) };
    vec![
        Route::get("/", "The dashboard", page).public().query(ANY).answers_text("text/html"),
        Route::get("/dashboard/{file}", "A file of the dashboard", file)
            .public()
            .query(ANY)
            .answers_text("text/javascript"),
    ]
}

/// The file of this name, or 304 where the browser has it.
fn send(name: &str, headers: &HeaderMap) -> Result<Response, Problem> {
    let Some(file) = FILES.iter().find(|file| file.name == name) else {
        return Err(Problem::unknown_object("file", name, FILES.iter().map(|file| file.name)));
    };
    let tag = file.tag();
    let known = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|field| field.to_str().ok());
    let has_it = known.flat_map(|field| field.split(',')).any(|known| known.trim().trim_start_matches("W/") == tag);
    let (status, body) =
        if has_it { (StatusCode::NOT_MODIFIED, Body::empty()) } else { (StatusCode::OK, Body::from(file.bytes)) };
    let mut response = (status, body).into_response();
    let fields = response.headers_mut();
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        fields.insert(header::ETAG, tag);
    }
    fields.insert(header::CONTENT_TYPE, HeaderValue::from_static(file.media));
    // A new version of the program has new files: asked for each time, sent when they are others.
    fields.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    fields.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    fields.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    fields.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    fields.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    Ok(response)
}

// === impl File ===

impl File {
    /// The half of its SHA-256 is enough to tell two versions apart.
    fn tag(&self) -> String {
        let digest = Sha256::digest(self.bytes);
        let hex: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        format!("\"{hex}\"")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of what a browser loads to show one page, without compression. Bytes.
    const PAGE: usize = 150_000;
    /// Of all files. Bytes.
    const ALL: usize = 290_000;

    fn text(name: &str) -> &'static str {
        let file = FILES.iter().find(|file| file.name == name).unwrap_or_else(|| panic!("{name} is not there"));
        std::str::from_utf8(file.bytes).unwrap()
    }

    /// The modules that a module imports, and those in turn.
    fn imported(name: &'static str, found: &mut Vec<&'static str>) {
        if found.contains(&name) {
            return;
        }
        found.push(name);
        for import in text(name).lines().filter(|line| line.starts_with("import ")) {
            let other = import.rsplit("'./").next().and_then(|rest| rest.split('\'').next()).unwrap();
            imported(other, found);
        }
    }

    #[test]
    fn what_one_page_loads_stays_small() {
        let size = |name: &&str| text(name).len();
        let frame: usize = ["index.html", "style.css", "icon.svg", "theme.js"].iter().map(size).sum();
        for page in FILES.iter().filter(|file| file.media == JS) {
            let mut modules = Vec::new();
            imported("app.js", &mut modules);
            imported(page.name, &mut modules);
            let together = frame + modules.iter().map(size).sum::<usize>();
            assert!(together < PAGE, "{}: {together} bytes, at most {PAGE}", page.name);
        }
        let all: usize = FILES.iter().map(|file| file.bytes.len()).sum();
        assert!(all < ALL, "{all} bytes, at most {ALL}");
    }

    #[test]
    fn every_page_is_there() {
        let pages = text("app.js").split("import('./").skip(1).filter_map(|rest| rest.split('\'').next());
        assert!(pages.map(|page| text(page).len()).all(|size| size > 0));
    }

    #[test]
    fn nothing_in_the_page_needs_what_the_policy_forbids() {
        for file in FILES {
            let text = std::str::from_utf8(file.bytes).unwrap();
            for forbidden in ["innerHTML", "eval(", "new Function", "document.write", "javascript:", "https://"] {
                assert!(!text.contains(forbidden), "{}: {forbidden}", file.name);
            }
        }
        let page = include_str!("dashboard/index.html");
        assert!(!page.contains(" style=") && !page.contains(" onclick"), "no style or script inside the page");
    }

    #[test]
    fn a_file_that_the_browser_has_is_not_sent_again() {
        let first = send("app.js", &HeaderMap::new()).unwrap();
        let mut headers = HeaderMap::new();
        headers.insert(header::IF_NONE_MATCH, first.headers()[header::ETAG].clone());
        assert_eq!(send("app.js", &headers).unwrap().status(), StatusCode::NOT_MODIFIED);
        headers.insert(header::IF_NONE_MATCH, HeaderValue::from_static("\"another\""));
        assert_eq!(send("app.js", &headers).unwrap().status(), StatusCode::OK);
        assert_eq!(send("../auth.rs", &headers).unwrap_err().status, StatusCode::NOT_FOUND);
    }
}
