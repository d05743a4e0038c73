//! How a vserver speaks TLS.

use super::facts::Facts;

/// `vserver`: `sslvserver`; what is bound to it, each as its binding.
pub(in super::super) fn ssl_vserver(
    vserver: &Facts,
    certificates: &[Facts],
    curves: &[Facts],
    suites: &[Facts],
) -> String {
    let said = |key: &str, otherwise: &str| vserver.said(key, otherwise);
    let off = |key: &str| said(key, "DISABLED");
    let mut out = format!("\n\tAdvanced SSL configuration for VServer {}:\n", said("vservername", ""));
    out += &format!("\tDH: {}\n", off("dh"));
    out += &format!(
        "\tDH Private-Key Exponent Size Limit: {}\tEphemeral RSA: {}\n",
        off("dhkeyexpsizelimit"),
        off("ersa")
    );
    out += &format!(
        "\tSession Reuse: {}\tTimeout: {} seconds\n",
        said("sessreuse", "ENABLED"),
        said("sesstimeout", "120")
    );
    out += &format!("\tCipher Redirect: {}\n", off("cipherredirect"));
    out += &format!("\tClearText Port: {}\n", said("cleartextport", "0"));
    let asked = match (said("clientauth", "DISABLED"), said("clientcert", "")) {
        (auth, how) if auth == "ENABLED" && !how.is_empty() => format!("{auth}\tClient Cert Required: {how}"),
        (auth, _) => auth,
    };
    out += &format!("\tClient Auth: {asked}\n");
    out += &format!("\tSSL Redirect: {}\n", off("sslredirect"));
    out += &format!("\tSNI: {}\n", said("snienable", "ENABLED"));
    out += &format!("\tOCSP Stapling: {}\n", off("ocspstapling"));
    out += &format!("\tHSTS: {}\n", off("hsts"));
    out += &format!("\tHSTS IncludeSubDomains: {}\n", said("includesubdomains", "NO"));
    out += &format!("\tHSTS Max-Age: {}\n", said("maxage", "0"));
    out += &format!("\tHSTS Preload: {}\n", said("preload", "NO"));
    out += &format!(
        "\tSSLv3: {}\tTLSv1.0: {}\tTLSv1.1: {}\tTLSv1.2: {}\tTLSv1.3: {}\n",
        off("ssl3"),
        off("tls1"),
        off("tls11"),
        said("tls12", "ENABLED"),
        said("tls13", "ENABLED")
    );
    out += &format!("\tSend Close-Notify: {}\n", said("sendclosenotify", "YES"));
    out += &format!("\tStrict Sig-Digest Check: {}\n", off("strictsigdigestcheck"));
    out += &format!("\tZero RTT Early Data: {}\n", off("zerorttearlydata"));
    let curves: Vec<String> = curves.iter().map(|one| one.said("ecccurvename", "")).collect();
    out += &format!("\n\tECC Curve: {}\n", if curves.is_empty() { "none".to_owned() } else { curves.join(", ") });
    for (title, of_clients) in [("Server Certificate", false), ("CA Certificate", true)] {
        let these = certificates.iter().filter(|one| (one.said("ca", "false") == "true") == of_clients);
        for (at, certificate) in these.enumerate() {
            let sni = if certificate.said("snicert", "false") == "true" { " for SNI" } else { "" };
            out += &format!("\n{})\tCertKey Name: {}\t{title}{sni}\n", at + 1, certificate.said("certkeyname", ""));
        }
    }
    for (at, suite) in suites.iter().enumerate() {
        out += &format!(
            "\n{})\tCipher Name: {}\tPriority : {}",
            at + 1,
            suite.said("ciphername", ""),
            suite.count("cipherpriority")
        );
    }
    if suites.is_empty() { out } else { out + "\n" }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn facts(value: Value) -> Vec<Facts> {
        Facts::list(&json!({ "x": value }), "x")
    }

    #[test]
    fn certificates_curves_and_suites_stand_below_the_switches() {
        let vserver = facts(
            json!([{"vservername": "web", "tls12": "DISABLED", "clientauth": "ENABLED", "clientcert": "Mandatory"}]),
        );
        let certificates = facts(json!([
            {"certkeyname": "a", "snicert": false, "ca": false},
            {"certkeyname": "b", "snicert": true, "ca": false},
            {"certkeyname": "ca", "ca": true},
        ]));
        let curves = facts(json!([{"ecccurvename": "X_25519"}, {"ecccurvename": "P_256"}]));
        let suites = facts(json!([{"ciphername": "TLS1.3-AES256-GCM-SHA384", "cipherpriority": "1"}]));
        let shown = ssl_vserver(&vserver[0], &certificates, &curves, &suites);
        for line in [
            "\tAdvanced SSL configuration for VServer web:\n",
            "\tClient Auth: ENABLED\tClient Cert Required: Mandatory\n",
            "\tTLSv1.2: DISABLED\tTLSv1.3: ENABLED\n",
            "\tECC Curve: X_25519, P_256\n",
            "1)\tCertKey Name: a\tServer Certificate\n",
            "2)\tCertKey Name: b\tServer Certificate for SNI\n",
            "1)\tCertKey Name: ca\tCA Certificate\n",
            "1)\tCipher Name: TLS1.3-AES256-GCM-SHA384\tPriority : 1\n",
        ] {
            assert!(shown.contains(line), "{line:?}\n{shown}");
        }
    }
}
