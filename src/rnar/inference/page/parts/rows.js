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
  const several = S.groups.length > 1;
  if (!order) return S.groups.map(group => rowOf(group.nodes, who, frame, several ? group.name : "")).join("");
  const pieces = inOrder(order, who, frame), broken = pieces.length > 1 ? `, in ${pieces.length} pieces` : "";
  const nodes = pieces.flatMap((piece, k) => k ? [BREAK, ...piece] : piece);
  return rowOf(nodes, who, frame, `${order.name}: the order${broken}`, order);
}

const BREAK = -1;

function rowOf(nodes, who, frame, name, order) {
  const cells = nodes.map(i => i == BREAK ? '<span class="break">⁝</span>' : cell(i, who, frame, order)).join("");
  const title = name ? `<h3>${escaped(name)}</h3>` : "";
  return `${title}<div class="row${S.bars ? "" : " plain"}${N > 20 ? " many" : ""}">${cells}</div>`;
}

function cell(i, who, frame, order) {
  const marks = ofFrame(frame).filter(f => f.shown).flatMap(f => marksOfNode(f, who, frame, i)).map(chip).join("");
  const misplaced = order && who == "network" && isWrong(order, frame, i);
  const bar = S.bars ? `<i style="height:${100 * S.bars[i]}%"></i>` : "";
  const face = `<span class="face">${bar}<b>${escaped(S.faces[i])}</b>${misplaced ? "<em>✗</em>" : ""}</span>`;
  const small = [S.numbered ? "" : i, ...Object.entries(S.told).map(([name, texts]) => `${name} ${texts[i]}`)];
  const below = small.filter(text => text !== "").map(text => `<small>${escaped(text)}</small>`).join("");
  const before = order ? ` data-before="${value(order, who, frame, i)}"` : "";
  return `<div class="cell${misplaced ? " wrong" : ""}" data-i="${i}"${before}>${face}${below}${givenOf(i)}${marks}</div>`;
}

const givenOf = i => S.flags.filter(([, at]) => at == i)
  .map(([name]) => `<span class="mark given">${escaped(name)}</span>`).join("");

function chip(mark) {
  const {f, text, state, fresh, to} = mark, sign = state == "wrong" ? "✗ " : "";
  const pointed = to === undefined ? "" : ` data-to="${to}"`, pale = `opacity:${strength(mark).toFixed(2)}`;
  return `<span class="mark ${state}${fresh ? " fresh" : ""}" ${about(f, pale)}${pointed}>${sign}${escaped(text)}</span>`;
}
