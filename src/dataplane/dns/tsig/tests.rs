use super::*;
use crate::model::tls::Pem;
use crate::model::zone::RecordType;

fn key(name: &str, secret: &str) -> Key {
    let owner = DnsName::parse(name, &DnsName::root()).unwrap();
    let file = Pem { file: "k".into(), text: secret.into() };
    Key::load(&TsigKey { name: name.into(), owner, secret: TsigSecret::File(file) }).unwrap()
}

fn message(id: u16) -> Vec<u8> {
    let mut message = id.to_be_bytes().to_vec();
    message.extend_from_slice(&[0, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    message.extend_from_slice(b"\x07example\x04test\x00");
    message.extend_from_slice(&RecordType::SOA.0.to_be_bytes());
    message.extend_from_slice(&[0, 1]);
    message
}

const SECRET: &str = "MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI=";
const NOW: u64 = 1_800_000_000;

fn signed() -> (Vec<u8>, Key) {
    let key = key("k.example.", SECRET);
    let mut message = message(7);
    Signer::new(key.clone(), &[]).sign(&mut message, NOW);
    (message, key)
}

#[test]
fn a_signature_is_good_for_its_key_its_message_and_its_time_alone() {
    let (message, key_of_it) = signed();
    let tsig = Tsig::find(&message).unwrap().unwrap();
    let verify = |message: &[u8], key: &Key, now| tsig.verify(message, key, now, &[], true, &[]);
    assert_eq!(verify(&message, &key_of_it, NOW), Ok(()));
    assert_eq!(verify(&message, &key_of_it, NOW + 300), Ok(()));
    assert_eq!(verify(&message, &key_of_it, NOW + 301), Err(TsigError::BadTime));
    assert_eq!(verify(&message, &key_of_it, NOW - 301), Err(TsigError::BadTime));
    let other = key("k.example.", "MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTM=");
    assert_eq!(verify(&message, &other, NOW), Err(TsigError::BadSig));
    assert_eq!(verify(&message, &key("l.example.", SECRET), NOW), Err(TsigError::BadKey));
    for at in 2..tsig.start {
        let mut changed = message.clone();
        changed[at] ^= 1;
        assert_eq!(verify(&changed, &key_of_it, NOW), Err(TsigError::BadSig), "byte {at}");
    }
    // A forwarder may have given it another id (RFC 8945 §5.3.2).
    let mut forwarded = message.clone();
    forwarded[0] = 0x55;
    assert_eq!(verify(&forwarded, &key_of_it, NOW), Ok(()));
}

#[test]
fn a_signer_that_allows_for_hours_is_given_five_minutes() {
    let (mut message, key) = signed();
    let mut tsig = Tsig::find(&message).unwrap().unwrap();
    message.truncate(tsig.start);
    message[11] = 0;
    tsig.fudge = u16::MAX;
    let data = [&message[..], &variables(&key.owner, NOW, u16::MAX, 0, &[])].concat();
    tsig.mac = hmac::sign(&key.key, &data).as_ref().to_vec();
    message[11] = 1;
    let verify = |now| tsig.verify(&message, &key, now, &[], true, &[]);
    assert_eq!((verify(NOW + 300), verify(NOW + 301)), (Ok(()), Err(TsigError::BadTime)));
}

#[test]
fn a_mac_that_is_cut_short_is_no_mac() {
    let (message, key) = signed();
    let tsig = Tsig::find(&message).unwrap().unwrap();
    for length in 0..tsig.mac.len() {
        let short = Tsig { mac: tsig.mac[..length].to_vec(), ..tsig.clone() };
        assert_eq!(short.verify(&message, &key, NOW, &[], true, &[]), Err(TsigError::BadSig), "{length}");
    }
}

#[test]
fn whatever_is_cut_off_or_turned_over_is_read_without_a_panic() {
    let (message, _) = signed();
    for end in 0..message.len() {
        assert!(!matches!(Tsig::find(&message[..end]), Ok(Some(_))), "{end}");
    }
    for at in 0..message.len() {
        for bit in 0..8 {
            let mut turned = message.clone();
            turned[at] ^= 1 << bit;
            let _ = Tsig::find(&turned);
        }
    }
}

#[test]
fn a_tsig_record_that_is_not_the_last_is_malformed() {
    let (mut message, _) = signed();
    message.extend_from_slice(&[0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0]);
    message[11] += 1;
    assert!(Tsig::find(&message).is_err());
}

#[test]
fn a_wrong_time_is_refused_with_a_signed_answer_that_tells_the_time() {
    let (request, key) = signed();
    let tsig = Tsig::find(&request).unwrap().unwrap();
    let late = NOW + 1000;
    let mut answer = message(7);
    tsig.refuse(&mut answer, TsigError::BadTime, Some(&key), late);
    let told = Tsig::find(&answer).unwrap().unwrap();
    assert_eq!((told.error, told.other.as_slice()), (18, &late.to_be_bytes()[2..]));
    assert_eq!(told.verify(&answer, &key, NOW, &tsig.mac, true, &[]), Ok(()));
    let mut answer = message(7);
    tsig.refuse(&mut answer, TsigError::BadSig, Some(&key), late);
    let told = Tsig::find(&answer).unwrap().unwrap();
    assert_eq!((told.error, told.mac.len()), (16, 0), "an answer to a wrong signature is not signed");
}
