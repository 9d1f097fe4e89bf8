// What the scripts that look into built pages share. The pages come from our own tools, so a few expressions do.

/** The tags of a page with their attributes; comments and the text of scripts are no tags. */
export function* tags(html) {
  const text = html.replaceAll(/<!--[\s\S]*?-->/g, '').replaceAll(/(<script[^>]*>)[\s\S]*?(?=<\/script>)/g, '$1');
  for (const [, name, rest] of text.matchAll(/<([a-z][\w-]*)((?:"[^"]*"|'[^']*'|[^"'>])*)>/gi)) {
    yield { name: name.toLowerCase(), attributes: attributesOf(rest) };
  }
}

/** Attributes by name, entities decoded. */
export function attributesOf(text) {
  const found = new Map();
  for (const [, key, , quoted, single, bare] of text.matchAll(/([^\s"'=/]+)(\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"']+)))?/g)) {
    found.set(key.toLowerCase(), decoded(quoted ?? single ?? bare ?? ''));
  }
  return found;
}

/** The fragment that a <bio-scope> element opens. */
export function elementFragment(attributes) {
  const parts = [attributes.get('scenario')?.replace(/^#/, '') ?? `v=1&p=${attributes.get('preset')}`];
  for (const key of ['view', 't']) {
    if (attributes.has(key)) parts.push(`${key}=${attributes.get(key)}`);
  }
  return parts.join('&');
}

function decoded(text) {
  const named = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
  return text.replaceAll(/&(?:#x([0-9a-f]+)|#(\d+)|([a-z]+));/gi, (all, hex, decimal, name) => {
    if (name) return named[name.toLowerCase()] ?? all;
    return String.fromCodePoint(hex ? parseInt(hex, 16) : Number(decimal));
  });
}
