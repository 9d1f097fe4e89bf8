//! Tables as comma-separated text.
//!
//! Models: RFC 4180.
//! Rule: a field is quoted only if it must be; lines end with a newline alone, as Unix tools expect.
//! Leaves out: reading.

/// One line with its newline.
pub fn line<S: AsRef<str>>(fields: &[S]) -> String {
    let quoted: Vec<String> = fields.iter().map(|f| field(f.as_ref())).collect();
    quoted.join(",") + "\n"
}

fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_when_they_must_be() {
        assert_eq!(line(&["a", "b c", "d,e", "f\"g"]), "a,b c,\"d,e\",\"f\"\"g\"\n");
    }
}
