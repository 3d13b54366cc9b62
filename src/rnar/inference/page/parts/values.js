// The exact values at a step, as tables.

function valuesAt(frame) {
  const features = ofFrame(frame), of = test => features.filter(test);
  return [
    ofSingles(of(f => f.place == "graph" || f.kind == "mask_one"), frame),
    ofNodes(of(f => f.place == "node" && f.kind != "mask_one"), frame),
    ...of(f => f.place == "edge").flatMap(f => WHO.filter(who => isTold(f, who)).map(who => ofPairs(f, who, frame))),
  ].join("");
}

function ofSingles(features, frame) {
  const rows = features.map(f => [head(f.name), ...WHO.flatMap(who => cells(f, who, frame, 0))]);
  return features.length ? table(["", ...WHO.flatMap(who => columns(who))], rows) : "";
}

function ofNodes(features, frame) {
  const each = make => features.flatMap(f => WHO.flatMap(who => make(f, who)));
  const rows = S.labels.map((label, i) => [head(label), ...each((f, who) => cells(f, who, frame, i))]);
  return features.length ? table(["node", ...each((f, who) => columns(who, f.name))], rows) : "";
}

function ofPairs(f, who, frame) {
  const rows = S.rows.map(i => [head(S.labels[i]), ...S.columns.map(j => valueCell(f, who, frame, i * N + j))]);
  return table([`${f.name}, ${who}`, ...S.columns.map(j => S.labels[j])], rows);
}

const columns = (who, name = "") => who == "network" ? [`${name} network`.trim(), "sure"] : [`${name} algorithm`.trim()];

function cells(f, who, frame, k) {
  if (who == "algorithm") return [valueCell(f, who, frame, k)];
  const p = f.said ? probability(f, frame, k, value(f, who, frame, k)) : undefined;
  return [valueCell(f, who, frame, k), `<td>${p === undefined ? "" : inPercent(p)}</td>`];
}

function valueCell(f, who, frame, k) {
  const wrong = who == "network" && isWrong(f, frame, k), text = precise(f, value(f, who, frame, k));
  const kind = wrong ? ' class="wrong"' : "", sign = wrong ? "✗ " : "";
  return `<td data-f="${escaped(f.name)}" data-who="${who}"${kind}>${sign}${escaped(text)}</td>`;
}

const precise = (f, x) => f.kind == "scalar" && x !== undefined ? String(Number(x.toPrecision(5))) : told(f, x);
const head = text => `<th>${escaped(text)}</th>`;
const table = (heads, rows) => `<div class="scroll"><table><thead><tr>${heads.map(head).join("")}</tr></thead>` +
  `<tbody>${rows.map(row => `<tr>${row.join("")}</tr>`).join("")}</tbody></table></div>`;
