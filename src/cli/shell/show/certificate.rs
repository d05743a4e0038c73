//! Certificates with their files, how long they are good, and who uses them.

use crate::admin::dto::CertificateDto;

pub(in super::super) fn certificate(certificate: &CertificateDto, whole: bool) -> String {
    let mut out = format!("Name: {}\tCert Path: {}\n", certificate.name, certificate.file);
    let status = if certificate.days_left < 0 { "Expired" } else { "Valid" };
    out += &format!("\tStatus: {status}\tDays to expiration: {}\n", certificate.days_left);
    out += &format!("\tSubject: {}\n", certificate.subject);
    if whole {
        out += &format!("\tIssuer: {}\n\tSerial Number: {}\n", certificate.issuer, certificate.serial);
        out += &format!(
            "\tValidity\n\t\tNot Before: {}\n\t\tNot After: {}\n",
            certificate.not_before, certificate.not_after
        );
        let hosts = [&certificate.names[..], &certificate.addresses[..]].concat();
        if !hosts.is_empty() {
            out += &format!("\tSubject Alternative Names: {}\n", hosts.join(", "));
        }
        let key = if certificate.has_key { "" } else { "\tNo private key: for verification only" };
        out += &format!(
            "\tPublic Key: {}{key}\n\tCertificates in the file: {}\n",
            certificate.key, certificate.chain_length
        );
    }
    let used = if certificate.used_by.is_empty() { "nobody".to_owned() } else { certificate.used_by.join(", ") };
    out + &format!("\tBound to: {used}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_says_how_long_it_is_good_and_who_uses_it() {
        let mut site: CertificateDto = serde_json::from_value(serde_json::json!({
            "name": "site", "file": "certs/site.pem", "has_key": false, "subject": "CN=www.example.test",
            "issuer": "CN=ca", "names": ["www.example.test"], "addresses": ["192.0.2.1"], "serial": "01:02",
            "key": "EC 256", "not_before": "2026-01-01T00:00:00Z", "not_after": "2027-01-01T00:00:00Z",
            "days_left": 32, "chain_length": 2, "used_by": ["vserver web", "service app"],
        }))
        .unwrap();
        assert_eq!(
            certificate(&site, false),
            "Name: site\tCert Path: certs/site.pem\n\
             \tStatus: Valid\tDays to expiration: 32\n\
             \tSubject: CN=www.example.test\n\
             \tBound to: vserver web, service app\n"
        );
        let whole = certificate(&site, true);
        for line in
            ["\t\tNot After: 2027-01-01T00:00:00Z\n", "Names: www.example.test, 192.0.2.1\n", "EC 256\tNo private"]
        {
            assert!(whole.contains(line), "{line:?}: {whole}");
        }
        (site.days_left, site.used_by) = (-1, Vec::new());
        let shown = certificate(&site, false);
        assert!(shown.contains("Status: Expired\tDays to expiration: -1\n") && shown.ends_with("Bound to: nobody\n"));
    }
}
