// Lists and strings: a cell for each node, in the order that they now have, with marks below it.

// Along predecessors from the first on; what they do not reach comes after.
function inOrder(f, who, frame) {
  const before = [...Array(N).keys()].map(i => value(f, who, frame, i)), after = new Map();
  const first = before.findIndex((j, i) => i == j), nodes = first < 0 ? [] : [first];
  before.forEach((j, i) => { if (i != first) after.set(j, i); });
  while (nodes.length && after.has(nodes.at(-1)) && nodes.length < N) nodes.push(after.get(nodes.at(-1)));
  return [nodes, [...Array(N).keys()].filter(i => !nodes.includes(i))];
}

function drawRows(who, frame) {
  const order = ofFrame(frame).find(f => f.way == "order" && f.shown && (who == "algorithm" || f.said));
  if (!order) return S.groups.map(group => rowOf(group.nodes, who, frame, S.groups.length > 1 ? group.name : "")).join("");
  const [nodes, rest] = inOrder(order, who, frame);
  const loose = rest.length ? rowOf(rest, who, frame, "out of the list", order) : "";
  return rowOf(nodes, who, frame, `${order.name}: the order`, order) + loose;
}

function rowOf(nodes, who, frame, name, order) {
  const cells = nodes.map(i => cell(i, who, frame, order)).join("");
  return `${name ? `<h3>${escaped(name)}</h3>` : ""}<div class="row${S.bars ? "" : " plain"}">${cells}</div>`;
}

function cell(i, who, frame, order) {
  const marks = ofFrame(frame).filter(f => f.shown).flatMap(f => marksOfNode(f, who, frame, i)).map(chip).join("");
  const given = S.flags.filter(([, at]) => at == i).map(([name]) => `<span class="mark given">${escaped(name)}</span>`).join("");
  const misplaced = order && who == "network" && isWrong(order, frame, i);
  const bar = S.bars ? `<i style="height:${100 * S.bars[i]}%"></i>` : "";
  const face = `<span class="face">${bar}<b>${escaped(S.faces[i])}</b>${misplaced ? '<em>✗</em>' : ""}</span>`;
  const below = Object.entries(S.told).map(([name, texts]) => `<small>${escaped(name)} ${escaped(texts[i])}</small>`).join("");
  const pred = order ? ` data-before="${value(order, who, frame, i)}"` : "";
  const number = S.faces[i] == String(i) ? "" : `<small>${i}</small>`;
  return `<div class="cell${misplaced ? " wrong" : ""}" data-i="${i}"${pred}>${face}${number}${below}${given}${marks}</div>`;
}

function chip(mark) {
  const {f, text, state, fresh, to} = mark, sign = state == "wrong" ? "✗ " : "";
  const style = `--hue:var(${f.hue});opacity:${strength(mark).toFixed(2)}`;
  return `<span class="mark ${state}${fresh ? " fresh" : ""}" data-f="${escaped(f.name)}"${to === undefined ? "" : ` data-to="${to}"`} style="${style}">${sign}${escaped(text)}</span>`;
}
