// Lists and strings: a cell for each node, in the order that they now have, with marks below it.

// The pieces of lists that predecessors make, the longest first. An algorithm's are one; a network's may break anywhere.
function inOrder(f, who, frame) {
  const before = [...Array(N).keys()].map(i => value(f, who, frame, i)), after = new Map(), seen = new Set();
  before.forEach((j, i) => { if (i != j && !after.has(j)) after.set(j, i); });
  const begins = i => before[i] == i || after.get(before[i]) != i;
  const starts = [...Array(N).keys()].sort((i, j) => begins(j) - begins(i)), pieces = [];
  for (const start of starts) {
    const piece = [];
    for (let i = start; i !== undefined && !seen.has(i); i = after.get(i)) { seen.add(i); piece.push(i); }
    if (piece.length) pieces.push(piece);
  }
  return pieces.sort((a, b) => b.length - a.length);
}

function drawRows(who, frame) {
  const order = ofFrame(frame).find(f => f.way == "order" && f.shown && (who == "algorithm" || f.said));
  if (!order) return S.groups.map(group => rowOf(group.nodes, who, frame, S.groups.length > 1 ? group.name : "")).join("");
  const pieces = inOrder(order, who, frame), broken = pieces.length > 1 ? `, in ${pieces.length} pieces` : "";
  return rowOf(pieces.flatMap((piece, k) => k ? [BREAK, ...piece] : piece), who, frame, `${order.name}: the order${broken}`, order);
}

const BREAK = -1;

function rowOf(nodes, who, frame, name, order) {
  const cells = nodes.map(i => i == BREAK ? '<span class="break">⁝</span>' : cell(i, who, frame, order)).join("");
  return `${name ? `<h3>${escaped(name)}</h3>` : ""}<div class="row${S.bars ? "" : " plain"}${N > 20 ? " many" : ""}">${cells}</div>`;
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
