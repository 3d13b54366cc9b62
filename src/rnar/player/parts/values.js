// The exact values at a step, as tables.

function valuesAt(frame) {
  const features = ofFrame(frame), parts = [];
  const ofGraph = features.filter(f => f.place == "graph" || f.kind == "mask_one");
  if (ofGraph.length) parts.push(table(["", ...WHO.flatMap(columns)], ofGraph.map(f => [`<th>${escaped(f.name)}</th>`, ...WHO.flatMap(who => cells(f, who, frame, 0))])));
  const ofNodes = features.filter(f => f.place == "node" && f.kind != "mask_one");
  if (ofNodes.length) {
    const head = ["node", ...ofNodes.flatMap(f => WHO.flatMap(who => columns(who, f.name)))];
    parts.push(table(head, [...Array(N).keys()].map(i =>
      [`<th>${escaped(S.labels[i])}</th>`, ...ofNodes.flatMap(f => WHO.flatMap(who => cells(f, who, frame, i)))])));
  }
  for (const f of features.filter(f => f.place == "edge"))
    for (const who of WHO) if (who == "algorithm" || f.said) {
      const rows = S.rows.map(i => [`<th>${escaped(S.labels[i])}</th>`, ...S.columns.map(j => pairCell(f, who, frame, i * N + j))]);
      parts.push(table([`${f.name}, ${who}`, ...S.columns.map(j => S.labels[j])], rows));
    }
  return parts.join("");
}

const columns = (who, name = "") => who == "network" ? [`${name} network`.trim(), "sure"] : [`${name} algorithm`.trim()];

function cells(f, who, frame, k) {
  const x = value(f, who, frame, k);
  if (who == "algorithm") return [`<td data-f="${escaped(f.name)}" data-who="${who}">${escaped(precise(f, x))}</td>`];
  const p = f.said ? probability(f, frame, k, x) : undefined, wrong = isWrong(f, frame, k);
  return [`<td data-f="${escaped(f.name)}" data-who="${who}"${wrong ? ' class="wrong"' : ""}>${wrong ? "✗ " : ""}${escaped(precise(f, x))}</td>`,
    `<td>${p === undefined ? "" : `${Math.round(100 * p)}%`}</td>`];
}

function pairCell(f, who, frame, k) {
  const wrong = who == "network" && isWrong(f, frame, k);
  return `<td data-f="${escaped(f.name)}" data-who="${who}"${wrong ? ' class="wrong"' : ""}>${wrong ? "✗ " : ""}${escaped(precise(f, value(f, who, frame, k)))}</td>`;
}

const precise = (f, x) => f.kind == "scalar" && x !== undefined ? String(Number(x.toPrecision(5))) : told(f, x);
const table = (head, rows) => `<div class="scroll"><table><thead><tr>${head.map(h => `<th>${escaped(h)}</th>`).join("")}</tr></thead>` +
  `<tbody>${rows.map(row => `<tr>${row.join("")}</tr>`).join("")}</tbody></table></div>`;
