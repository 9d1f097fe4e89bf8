// Parts of functions that the first scene never runs, as functions of their own: so they can go to the second file.
//
// A part is a run of statements in one list (a body, a block, an arm). What it reads of the function's locals becomes
// its parameters; what it leaves changed comes back as its result and in globals; where it would branch out of itself or
// return, it says so with a number, and the place where it stood branches. So it is the same program, cut differently.
//
// Parts are told apart by the function's name and by what their statements do, without constants, offsets and numbers
// of locals: a change elsewhere in the function does not matter, and a part that changed stays where it is.

const TOKEN = /\(|\)|\$"(?:[^"\\]|\\.)*"|"(?:[^"\\]|\\.)*"|[^\s()]+/g;
const HEAD = new Set(['param', 'result', 'local', 'type']);
const LISTS = new Set(['func', 'block', 'loop', 'then', 'else']);
const CONTROL = new Set(['block', 'loop', 'if', 'br', 'br_if', 'br_table', 'return', 'unreachable']);
const ENDS = new Set(['br', 'br_table', 'return', 'unreachable']);
/** What the analysis below does not know. */
const STRANGE = /^(?:try|throw|rethrow|return_call|br_on|tuple|pop|delegate|stack_switch|cont)/;
/**
 * What a part must save to be moved, in bytes of the file, estimated: each makes the second file larger than the first
 * gets smaller, and is called through the table.
 */
const WORTH = 64;
const KINDS = ['i32', 'i64', 'f32', 'f64', 'externref', 'funcref'];
const VALUE = '$value';

/** A function's name as web/later.txt has it: without the compiler's hashes, which change with every build. */
export function plainName(name) {
  return name
    .replace(/^\$/, '')
    .replace(/^"(.*)"$/, '$1')
    .replace(/::h[0-9a-f]{16}\b/g, '')
    .replace(/\[[0-9a-f]{14,16}\]/g, '')
    .replace(/(?:\.llvm)?\.\d+$/, '');
}

/** A form as nested arrays of words. */
export function parse(text) {
  const stack = [[]];
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '(') stack.push([]);
    else if (token === ')') {
      const done = stack.pop();
      stack.at(-1).push(done);
    } else stack.at(-1).push(token);
  }
  return stack[0][0];
}

const print = (node) => (typeof node === 'string' ? node : `(${node.map(print).join(' ')})`);
const isNode = (item) => Array.isArray(item);
const isHead = (item) => isNode(item) && HEAD.has(item[0]);
/** Where a list's statements start, and whether its last one is its value. */
const start = (list) => list.findIndex((item, i) => i > 0 && isNode(item) && !isHead(item));
const resultOf = (node) => node.find((item) => isHead(item) && item[0] === 'result')?.slice(1) ?? [];

/** A function as text, with each local on a line as in the disassembly. */
function printed(node) {
  const at = start(node);
  const locals = node.findIndex((item) => isNode(item) && item[0] === 'local');
  const head = locals < 0 ? at : locals;
  const rest = node.slice(head).map((item) => `  ${print(item)}`);
  return `(${node.slice(0, head).map(print).join(' ')}\n${rest.join('\n')}\n)`;
}

/** All lists of statements, outer before inner. `visit(list, from, result)` says which items it has dealt with. */
function eachList(node, visit, result = resultOf(node)) {
  if (LISTS.has(node[0])) {
    const from = start(node);
    if (from < 0) return;
    const done = visit(node, from, result) ?? new Set();
    node.slice(from).forEach((item) => done.has(item) || eachList(item, visit));
    return;
  }
  for (const item of node) {
    if (isNode(item) && !isHead(item)) eachList(item, visit, item[0] === 'then' || item[0] === 'else' ? resultOf(node) : undefined);
  }
}

const hasControl = (node) => CONTROL.has(node[0]) || node.some((item) => isNode(item) && hasControl(item));

/** The statements before which it can be told whether this place was reached: [list, index] in order. */
function points(tree) {
  const found = [];
  eachList(tree, (list, from) => {
    for (let i = from; i < list.length; i++) if (i === from || hasControl(list[i - 1])) found.push([list, i]);
  });
  return found;
}

/** How many bytes of marks a function needs; the first is for its being called. */
export function withMarks(form, base) {
  const tree = parse(form);
  const found = points(tree);
  // From behind, so that the places stay right.
  found.map(([list, i], at) => ({ list, i, at })).reverse().forEach(({ list, i, at }) => {
    list.splice(i, 0, parse(`(i32.store8 (i32.const ${base + at}) (i32.const 1))`));
  });
  return { form: printed(tree), count: Math.max(found.length, 1) };
}

/** A statement's number: what it does, as FNV. */
function digest(node) {
  let hash = 0x811c9dc5;
  const add = (word) => {
    for (let i = 0; i < word.length; i++) hash = Math.imul(hash ^ word.charCodeAt(i), 0x01000193) >>> 0;
  };
  const walk = (item) => {
    if (isNode(item)) {
      add('(');
      item.forEach(walk);
    } else if (item.startsWith('$"') || item.includes('::')) add(plainName(item));
    else if (!/^[-$\d]|^offset=|^align=/.test(item)) add(item);
  };
  walk(node);
  return hash;
}

/** The key of `count` statements from `i`. */
function keyOf(list, i, count, digests) {
  let hash = 0;
  for (let at = i; at < i + count; at++) {
    let own = digests.get(list[at]);
    if (own === undefined) digests.set(list[at], (own = digest(list[at])));
    hash = (Math.imul(hash, 0x01000193) ^ own) >>> 0;
  }
  return `${count.toString(36)}.${hash.toString(36)}`;
}

/** Bytes of the file, roughly. */
const weight = (node) => 2 + node.reduce((sum, item) => sum + (isNode(item) ? weight(item) : item.startsWith('offset=') ? 1 : 0), 0);

/**
 * Keys of the parts of functions of one name that were never reached. `copies`: each the form and its marks.
 * A key that also fits a part that was reached is none.
 */
export function coldParts(copies) {
  const keys = new Set();
  const seen = copies.map(({ form, marks }) => {
    const tree = parse(form);
    const digests = new Map();
    const cold = new Set();
    let at = 0;
    eachList(tree, (list, from) => {
      let reached = true;
      for (let i = from; i < list.length; i++) {
        if (i === from || hasControl(list[i - 1])) reached = marks[at++] !== 0;
        if (!reached) cold.add(list[i]);
      }
    });
    eachList(tree, (list, from) => {
      const done = new Set();
      for (let i = from; i < list.length; i++) {
        if (!cold.has(list[i])) continue;
        let end = i;
        while (end < list.length && cold.has(list[end])) done.add(list[end++]);
        if (list.slice(i, end).reduce((sum, item) => sum + weight(item), 0) >= WORTH) keys.add(keyOf(list, i, end - i, digests));
        i = end;
      }
      return done;
    });
    return { tree, digests, cold };
  });
  // Without one key, another may fit where it stood.
  for (let before = -1; before !== keys.size; ) {
    before = keys.size;
    for (const { tree, digests, cold } of seen) {
      matches(tree, keys, digests, (list, i, count, key) => {
        if (list.slice(i, i + count).some((item) => !cold.has(item))) keys.delete(key);
      });
    }
  }
  return [...keys].sort();
}

/** Calls `found` for every part that a key fits. */
function matches(tree, keys, digests, found) {
  const lengths = [...new Set([...keys].map((key) => parseInt(key, 36)))].sort((a, b) => b - a);
  eachList(tree, (list, from, result) => {
    const done = new Set();
    for (let i = from; i < list.length; i++) {
      for (const count of lengths) {
        if (i + count > list.length) continue;
        const key = keyOf(list, i, count, digests);
        if (!keys.has(key)) continue;
        found(list, i, count, key, result);
        list.slice(i, i + count).forEach((item) => done.add(item));
        i += count - 1;
        break;
      }
    }
    return done;
  });
}

/**
 * A function as text whose parts with these keys are calls. `outlined(function, kinds, result, args)` takes a part as a
 * function without a name and gives its call; equal parts may share one.
 */
export function cut(form, keys, outlined) {
  const tree = parse(form);
  if ([...form.matchAll(/\((\w+)/g)].some(([, word]) => STRANGE.test(word))) return form;
  const types = new Map(tree.filter((item) => isHead(item) && item.length === 3).map(([, name, type]) => [name, type]));
  const bits = new Map([...types.keys()].map((name, i) => [name, 1n << BigInt(i)]));
  const live = liveness(tree, bits);
  const parts = [];
  matches(tree, keys, new Map(), (list, i, count, key, result) => {
    const body = list.slice(i, i + count);
    const end = i + count === list.length;
    const next = end ? live.after.get(list) : live.before.get(list[i + count]);
    const isValue = end && result.length > 0;
    const way = exits(body, scopeOf(tree, list));
    const used = [...mentioned(body)];
    if (result.length > 1 || way.strange || used.some((name) => isNode(types.get(name)))) return;
    const leaves = way.labels.reduce((all, { node }) => all | live.labels.get(node), way.falls ? next : 0n);
    parts.push({
      ...way,
      list,
      i,
      body,
      type: isValue ? result[0] : undefined,
      // In an order of kinds, so that there are few kinds of signatures.
      reads: KINDS.flatMap((kind) => used.filter((name) => types.get(name) === kind && bits.get(name) & live.before.get(body[0]))),
      writes: used.filter((name) => bits.get(name) & leaves && isSet(body, name)),
    });
  });
  const returns = resultOf(tree)[0];
  const fresh = [];
  // From behind, so that places in a list stay right.
  for (const part of parts.reverse()) {
    const nodes = replacement(part, types, returns, fresh, outlined);
    if (nodes) part.list.splice(part.i, part.body.length, ...nodes);
  }
  tree.splice(start(tree), 0, ...fresh);
  return printed(tree);
}

/** What stands where the part stood, or nothing where that is not worth it. */
function replacement({ body, type, labels, returned, falls, reads, writes }, types, returns, fresh, outlined) {
  // The ways out in the order of their numbers.
  const ways = [...(falls ? ['on'] : []), ...labels, ...(returned ? ['return'] : [])];
  const numbered = ways.length > 1;
  const tailCall = returned && !numbered;
  // The function's result: what it returns, the statements' value, a changed local, or the number of the way out.
  const value = falls && type ? VALUE : undefined;
  const direct = value ?? writes[0];
  const backs = value ? writes : writes.slice(1);
  const byResult = numbered && !direct;
  const result = tailCall ? returns : value ? type : direct ? types.get(direct) : byResult ? 'i32' : undefined;
  if (backs.some((name) => !/^[if](32|64)$/.test(types.get(name)))) return undefined;
  const counts = {};
  const globals = backs.map((name) => `$part-${types.get(name)}-${(counts[types.get(name)] = (counts[types.get(name)] ?? -1) + 1)}`);

  const args = reads.map((name) => ['local.get', name]);
  const call = ['call', '$part', ...args, ['i32.const', '0']];
  const leave = (way) => (way !== 'return' ? ['br', way.name] : returns ? ['return', ['global.get', `$part-return-${returns}`]] : ['return']);
  const nodes = [];
  if (tailCall) nodes.push(...(returns ? [['return', call]] : [call, ['return']]));
  else if (ways.length === 0) nodes.push(call, ['unreachable']);
  else {
    const way = byResult ? call : ['global.get', '$part-way'];
    const kept = value && (backs.length > 0 || numbered);
    if (kept) nodes.push(['local.set', `$value${fresh.length}`, call]);
    else if (value) nodes.push(call);
    else if (direct) nodes.push(['local.set', direct, call]);
    else if (!byResult) nodes.push(call);
    backs.forEach((name, i) => nodes.push(['local.set', name, ['global.get', globals[i]]]));
    const goes = ways.filter((one) => one !== 'on');
    if (!numbered) nodes.push(...goes.map(leave));
    else if (returned && goes.length === 1) nodes.push(['if', way, ['then', leave('return')]]);
    else if (returned) return undefined;
    else if (falls && goes.length === 1) nodes.push(['br_if', goes[0].name, way]);
    else if (falls) nodes.push(['block', '$on', ['br_table', '$on', ...goes.map(({ name }) => name), way]]);
    else nodes.push(['br_table', ...goes.map(({ name }) => name), way]);
    if (kept) {
      nodes.push(['local.get', `$value${fresh.length}`]);
      fresh.push(['local', `$value${fresh.length}`, type]);
    }
  }
  const weigh = (list) => list.reduce((sum, node) => sum + weight(node), 0);
  if (weigh(nodes) + WORTH > weigh(body)) return undefined;

  // The function. Blocks with the names of the labels catch what branches out; each leaves its number.
  const names = new Map();
  const renamed = (name) => names.get(name) ?? names.set(name, `$${names.size}`).get(name);
  reads.forEach(renamed);
  const catches = returned && !tailCall;
  const walk = (node) => {
    if (node[0] === 'return' && catches) {
      return ['block', ...(returns ? [['global.set', `$part-return-${returns}`, walk(node[1])]] : []), ['br', '$return']];
    }
    return node.map((item, i) => (isNode(item) ? walk(item) : i === 1 && node[0].startsWith('local.') ? renamed(item) : item));
  };
  let inner = body.map(walk);
  const rest = [];
  if (type) inner.push(['local.set', VALUE, inner.pop()]);
  if (!tailCall && ways.length > 0) {
    ways.forEach((way, n) => {
      if (way !== 'on') inner = [['block', way === 'return' ? '$return' : way.name, ...inner]];
      if (numbered) inner.push([byResult ? 'local.set' : 'global.set', byResult ? '$way' : '$part-way', ['i32.const', `${n}`]]);
      if (n + 1 < ways.length) inner.push(['br', '$out']);
    });
    backs.forEach((name, i) => rest.push(['global.set', globals[i], ['local.get', renamed(name)]]));
    if (result) rest.push(['local.get', byResult ? '$way' : value ?? renamed(direct)]);
  } else if (result) rest.push(['unreachable']);
  const whole = numbered ? [['block', '$out', ...inner], ...rest] : [...inner, ...rest];
  const heads = [
    ...reads.map((name) => ['param', renamed(name), types.get(name)]),
    ...(result ? [['result', result]] : []),
    ...[...names].slice(reads.length).map(([name, short]) => ['local', short, types.get(name)]),
    ...(type ? [['local', VALUE, type]] : []),
    ...(byResult ? [['local', '$way', 'i32']] : []),
  ];
  const real = outlined([...heads, ...whole].map(print).join('\n  '), reads.map((name) => types.get(name)), result, args);
  call.splice(0, call.length, ...real);
  return nodes;
}

function mentioned(body) {
  const found = new Set();
  const walk = (node) => {
    if (node[0].startsWith('local.')) found.add(node[1]);
    for (const item of node) if (isNode(item) && !isHead(item)) walk(item);
  };
  body.forEach(walk);
  return found;
}

const isSet = (nodes, name) =>
  nodes.some((node) => ((node[0] === 'local.set' || node[0] === 'local.tee') && node[1] === name) || isSet(node.filter(isNode), name));

/** Labels in force at a list: name to node. */
function scopeOf(tree, list) {
  const walk = (node, scope) => {
    const inner = labelOf(node) ? new Map(scope).set(labelOf(node), node) : scope;
    if (node === list) return inner;
    for (const item of node) {
      const found = isNode(item) && !isHead(item) && walk(item, inner);
      if (found) return found;
    }
    return undefined;
  };
  return walk(tree, new Map());
}

const labelOf = (node) => (['block', 'loop', 'if'].includes(node[0]) && typeof node[1] === 'string' ? node[1] : undefined);

/** Labels that a branch names. */
const targets = (node) => (node[0] === 'br' || node[0] === 'br_if' ? [node[1]] : node[0] === 'br_table' ? node.slice(1).filter((item) => !isNode(item)) : []);

/** How a part is left. */
function exits(body, scope) {
  const labels = new Map();
  let returned = false;
  let strange = false;
  const walk = (node, inner) => {
    const own = labelOf(node) ? new Set(inner).add(labelOf(node)) : inner;
    if (node[0] === 'return') returned = true;
    for (const name of targets(node)) {
      if (own.has(name)) continue;
      const target = scope.get(name);
      if (!target || (target[0] !== 'loop' && resultOf(target).length > 0)) strange = true;
      labels.set(name, { name, node: target });
    }
    // A label of the part that hides one outside would catch what is meant for the other.
    if (labelOf(node) && scope.has(labelOf(node))) strange = true;
    for (const item of node) if (isNode(item) && !isHead(item)) walk(item, own);
  };
  body.forEach((node) => walk(node, new Set()));
  return { labels: [...labels.values()], returned, strange, falls: body.every(falls) };
}

/** Whether control can reach what follows. */
function falls(node) {
  if (ENDS.has(node[0])) return false;
  const parts = node.filter((item) => isNode(item) && !isHead(item));
  if (node[0] === 'if') {
    const [condition, ...arms] = parts;
    return falls(condition) && (arms.length < 2 || arms.some(falls));
  }
  if (node[0] === 'block' && labelOf(node) && branchesTo(parts, labelOf(node))) return true;
  return parts.every(falls);
}

const branchesTo = (nodes, label) => nodes.some((node) => targets(node).includes(label) || branchesTo(node.filter(isNode), label));

/** Locals that are read later: before each statement, after each list, and where a branch to a label arrives. */
function liveness(tree, bits) {
  const before = new Map();
  const after = new Map();
  const labels = new Map();
  const parts = (node) => node.filter((item) => isNode(item) && !isHead(item));
  const sequence = (items, live, scope) => {
    for (let i = items.length - 1; i >= 0; i--) before.set(items[i], (live = walk(items[i], live, scope)));
    return live;
  };
  const inList = (list, live, scope) => {
    after.set(list, live);
    return sequence(parts(list), live, scope);
  };
  const walk = (node, live, scope) => {
    const label = labelOf(node);
    switch (node[0]) {
      case 'local.get':
        return live | bits.get(node[1]);
      case 'local.set':
      case 'local.tee':
        return sequence(parts(node), live & ~bits.get(node[1]), scope);
      case 'block':
        labels.set(node, live);
        return inList(node, live, label ? new Map(scope).set(label, live) : scope);
      case 'loop':
        for (let head = 0n; ; ) {
          labels.set(node, head);
          const next = inList(node, live, label ? new Map(scope).set(label, head) : scope);
          if (next === head) return head;
          head |= next;
        }
      case 'if': {
        labels.set(node, live);
        const [condition, then, other] = parts(node);
        const inner = label ? new Map(scope).set(label, live) : scope;
        return sequence([condition], inList(then, live, inner) | (other ? inList(other, live, inner) : live), scope);
      }
      case 'br':
        return sequence(parts(node), scope.get(node[1]), scope);
      case 'br_if':
        return sequence(parts(node), live | scope.get(node[1]), scope);
      case 'br_table':
        return sequence(parts(node), targets(node).reduce((all, name) => all | scope.get(name), 0n), scope);
      case 'return':
      case 'unreachable':
        return sequence(parts(node), 0n, scope);
      default:
        return sequence(parts(node), live, scope);
    }
  };
  inList(tree, 0n, new Map());
  return { before, after, labels };
}
