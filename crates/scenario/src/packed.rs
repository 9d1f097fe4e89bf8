//! Many settings of single jobs in one value of a link: `z=`.
//!
//! Models: nothing; the layout is public: base64url without padding of a version byte and a raw deflate stream of
//! postcard's form of a list of (key, value) texts.
//! Rule: whatever comes in, at most [`MAX_UNPACKED`] bytes come out, or a sentence says why not.
//! Leaves out: which settings are packed and when (`text`).

use crate::deflate::{Broken, deflate, inflate};

/// Version of the layout.
pub const PACKED_VERSION: u8 = 1;
/// Settings in a list, at most: some more than all jobs and both runs can have.
const MAX_SETTINGS: u32 = 4096;
/// Largest list, bytes.
pub const MAX_UNPACKED: usize = 64 * 1024;

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// A list of settings, packed; `None` where it would be too long to be read again.
pub fn pack(count: u32, pairs: impl Iterator<Item = (String, String)>) -> Option<String> {
    let mut list = Vec::new();
    put_number(count, &mut list);
    for text in pairs.flat_map(|(key, value)| [key, value]) {
        put_number(text.len() as u32, &mut list);
        list.extend_from_slice(text.as_bytes());
    }
    if list.len() > MAX_UNPACKED {
        return None;
    }
    let mut bytes = deflate(&list);
    bytes.insert(0, PACKED_VERSION);
    Some(to_base64(&bytes))
}

/// The list that a text holds, still in postcard's form: see [`settings`].
pub fn unpack(text: &str) -> Result<Vec<u8>, &'static str> {
    let bytes = from_base64(text).ok_or("not base64url (letters, digits, - and _)")?;
    let (version, packed) = bytes.split_first().ok_or("a value is missing")?;
    match *version {
        PACKED_VERSION => {}
        0 => return Err("no such version of packed settings"),
        _ => return Err("packed by a newer bioscope: open the link there, or update this one"),
    }
    inflate(packed, MAX_UNPACKED).map_err(|broken| match broken {
        Broken::Early => "the compressed data ends early",
        Broken::Damaged => "the compressed data is damaged",
        Broken::TooLong => "unpacks to more than 64 KiB",
        Broken::Behind => "bytes follow the compressed data",
    })
}

/// The settings of a list: key and value of each.
pub fn settings(list: &[u8]) -> Result<Vec<(&str, &str)>, &'static str> {
    const BROKEN: &str = "unpacks to no list of settings";
    let mut rest = list;
    let count = take_number(&mut rest).ok_or(BROKEN)?;
    if count > MAX_SETTINGS {
        return Err("unpacks to more than 4096 settings");
    }
    // A wrong count reserves nothing.
    let mut pairs = Vec::new();
    for _ in 0..count {
        let key = take_text(&mut rest).ok_or(BROKEN)?;
        pairs.push((key, take_text(&mut rest).ok_or(BROKEN)?));
    }
    if rest.is_empty() { Ok(pairs) } else { Err("unpacks to a list with bytes after its end") }
}

/// postcard's numbers: seven bits a byte, the lowest first; the highest bit says that more follow.
fn put_number(mut n: u32, list: &mut Vec<u8>) {
    while n >= 0x80 {
        list.push(n as u8 | 0x80);
        n >>= 7;
    }
    list.push(n as u8);
}

fn take_number(rest: &mut &[u8]) -> Option<u32> {
    let mut n = 0u64;
    for i in 0..5 {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        n |= u64::from(byte & 0x7f) << (7 * i);
        if byte & 0x80 == 0 {
            return u32::try_from(n).ok();
        }
    }
    None
}

fn take_text<'a>(rest: &mut &'a [u8]) -> Option<&'a str> {
    let length = take_number(rest)?;
    let (text, after) = rest.split_at_checked(length as usize)?;
    *rest = after;
    std::str::from_utf8(text).ok()
}

fn to_base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for part in bytes.chunks(3) {
        let bits = (0..3).fold(0u32, |bits, i| bits << 8 | u32::from(part.get(i).copied().unwrap_or(0)));
        for i in 0..=part.len() {
            text.push(char::from(DIGITS[(bits >> (18 - 6 * i) & 63) as usize]));
        }
    }
    text
}

/// `None` for other characters, for a length that no bytes have, and for bits that belong to no byte.
fn from_base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() * 3 / 4);
    for part in text.as_bytes().chunks(4) {
        let mut bits = 0u32;
        for i in 0..4 {
            let digit = match part.get(i) {
                Some(c) => DIGITS.iter().position(|d| d == c)?,
                None => 0,
            };
            bits = bits << 6 | digit as u32;
        }
        let n = part.len().checked_sub(1).filter(|n| *n > 0)?;
        bytes.extend((0..n).map(|i| (bits >> (16 - 8 * i)) as u8));
        if bits & ((1 << (24 - 8 * n)) - 1) != 0 {
            return None;
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64url_there_and_back() {
        for n in 0..70u8 {
            let bytes: Vec<u8> = (0..n).map(|i| i.wrapping_mul(151) ^ 0xa5).collect();
            assert_eq!(from_base64(&to_base64(&bytes)), Some(bytes));
        }
        assert_eq!(to_base64(b"\xfb\xff\xfe>"), "-__-Pg");
        for bad in ["A", "AAAAA", "AB", "AAB", "A=", "AA==", "A+", "\u{e4}A"] {
            assert_eq!(from_base64(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_layout_is_postcards() {
        let pairs = [("job0.bs", "64KiB"), ("b.job1.rw", "randwrite")].map(|(k, v)| (k.to_string(), v.to_string()));
        let text = pack(2, pairs.iter().cloned()).unwrap();
        let list = unpack(&text).unwrap();
        assert_eq!(list, postcard::to_allocvec(&pairs.to_vec()).unwrap());
        assert_eq!(settings(&list).unwrap(), pairs.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect::<Vec<_>>());
        let long = "x".repeat(MAX_UNPACKED);
        assert_eq!(pack(1, [("job0.bs".to_string(), long)].into_iter()), None);
    }
}
