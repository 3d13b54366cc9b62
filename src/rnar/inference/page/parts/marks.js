// What is said of a node by each feature, in a few letters: rows and planes draw the same marks.

const escaped = text => String(text).replace(/[&<>"']/g, c => `&#${c.charCodeAt(0)};`);
const inPercent = p => p < 0.005 ? "<1%" : p < 1 && p >= 0.995 ? ">99%" : `${Math.round(100 * p)}%`;
const percent = p => p === undefined || p >= 0.895 ? "" : inPercent(p);  // what is nearly sure goes without saying
const SOME = 0.2;  // less probable things are not drawn

function number(x) {
  if (!Number.isFinite(x)) return String(x);
  if (Number.isInteger(x)) return String(x);
  return Math.abs(x) >= 0.005 ? x.toFixed(2) : x.toPrecision(2);
}

// One entry of a feature as text.
function told(f, x) {
  if (x === undefined) return "–";
  if (f.kind == "scalar") return number(x);
  if (f.kind == "mask_one" || f.kind == "pointer" || f.kind == "permutation") return S.labels[x];
  if (x == NOT_JUDGED) return "–";
  return f.classes.length ? f.classes[x] : f.kind == "mask" ? (x == 1 ? "✓" : "·") : String(x);
}

// A mark: {f, text, state, p}. States: right, wrong (said and not true), ghost (true and not said), faint (unlikely).
function marksOfNode(f, who, frame, i) {
  if (who == "network" && !f.said) return [];
  const of = {flag: flags, fill: fills, class: classOf, number: numbers, arrow: arrows}[f.way];
  return of ? of(f, who, frame, i) : [];
}

function flags(f, who, frame, i) {
  const truth = trueValue(f, frame, 0), at = value(f, who, frame, 0);
  if (who == "algorithm") return at == i ? [{f, text: f.name, state: "right", fresh: changed(f, frame, 0)}] : [];
  const p = probability(f, frame, 0, i), text = `${f.name} ${percent(p)}`.trim();
  if (at == i) return [{f, text, state: at == truth ? "right" : "wrong", p}];
  if (truth == i) return [{f, text, state: "ghost", p}];
  return p >= SOME ? [{f, text, state: "faint", p}] : [];
}

function fills(f, who, frame, i) {
  const truth = trueValue(f, frame, i), said = value(f, who, frame, i);
  if (who == "algorithm") return said == 1 ? [{f, text: f.name, state: "right", fresh: changed(f, frame, i)}] : [];
  const p = probability(f, frame, i, 1), text = `${f.name} ${percent(p)}`.trim(), wrong = isWrong(f, frame, i);
  if (said == 1) return [{f, text, state: wrong ? "wrong" : "right", p}];
  if (wrong) return [{f, text, state: "ghost", p}];
  return p >= SOME ? [{f, text, state: "faint", p}] : [];
}

function classOf(f, who, frame, i) {
  const said = value(f, who, frame, i), wrong = who == "network" && isWrong(f, frame, i);
  const p = who == "network" ? probability(f, frame, i, said) : undefined;
  const found = [{f, text: told(f, said), state: wrong ? "wrong" : "right", p, value: said}];
  if (wrong) found.push({f, text: told(f, trueValue(f, frame, i)), state: "ghost", value: trueValue(f, frame, i)});
  return found;
}

function numbers(f, who, frame, i) {
  const wrong = who == "network" && isWrong(f, frame, i);
  return [{f, text: `${f.name} ${number(value(f, who, frame, i))}`, state: wrong ? "wrong" : "right"}];
}

function arrows(f, who, frame, i) {
  const to = value(f, who, frame, i), truth = trueValue(f, frame, i), wrong = who == "network" && isWrong(f, frame, i);
  const p = who == "network" ? probability(f, frame, i, to) : undefined, found = [];
  const text = j => j == i ? "↺" : `→${S.labels[j]}`;
  if (to != i || wrong) found.push({f, text: text(to), state: wrong ? "wrong" : "right", p, to});
  if (wrong) found.push({f, text: text(truth), state: "ghost", to: truth});
  return found;
}

// Less sure is paler, and never too pale to be read.
const strength = mark => mark.state != "right" && mark.state != "wrong" ? 0.85 : mark.p === undefined ? 1 : 0.6 + 0.4 * mark.p;

// A colour for each feature that has flags or the like; its name stands beside it wherever it is used.
const HUES = ["--c0", "--c1", "--c2", "--c3", "--c4", "--c5", "--c6"];
for (const stage of [hints, outputs]) stage.forEach((f, k) => f.hue = HUES[k % HUES.length]);

// What all that is drawn of a feature carries: its name, by which it is found, and its colour.
const about = (f, more = "") => `data-f="${escaped(f.name)}" style="--hue:var(${f.hue});${more}"`;

// The number of a node, and its key or name where it has one.
const calledAs = i => S.numbered ? S.labels[i] : `${i} (${S.labels[i]})`;

function nodeInWords(who, frame, i) {
  const said = [];
  for (const f of ofFrame(frame)) {
    if (f.place != "node" || (who == "network" && !f.said)) continue;
    if (f.kind == "mask_one") {
      const p = who == "network" ? probability(f, frame, 0, i) : undefined;
      if (value(f, who, frame, 0) == i || p >= 0.01) said.push(`${f.name} ${percent(p)}`.trim());
    } else said.push(`${f.name} ${entryInWords(f, who, frame, i)}`);
  }
  return `${who}, node ${calledAs(i)}: ${said.join(", ") || "nothing"}`;
}

function entryInWords(f, who, frame, k) {
  const x = value(f, who, frame, k), p = who == "network" ? percent(probability(f, frame, k, x)) : "";
  const wrong = who == "network" && isWrong(f, frame, k);
  return `${told(f, x)}${p && ` (${p})`}${wrong ? `, truly ${told(f, trueValue(f, frame, k))}` : ""}`;
}
