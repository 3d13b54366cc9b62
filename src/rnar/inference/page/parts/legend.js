// What is drawn, and what belongs to the whole problem.

const chipOf = (text, state, f) => `<span class="mark ${state}" ${about(f)}>${escaped(text.trim())}</span>`;

// Numbers and phases of the whole problem.
function chipsOf(who, frame) {
  const given = S.given.map(([name, text]) => `<span class="mark given">${escaped(name)} ${escaped(text)}</span>`);
  const found = ofFrame(frame).filter(f => f.way == "chip" && f.shown && isTold(f, who)).map(f => {
    const x = value(f, who, frame, 0), wrong = who == "network" && isWrong(f, frame, 0);
    const p = who == "network" ? percent(probability(f, frame, 0, x)) : "";
    if (!wrong) return chipOf(`${f.name} ${told(f, x)} ${p}`, "right", f);
    const truly = `<span class="mark ghost">${escaped(told(f, trueValue(f, frame, 0)))}</span>`;
    return chipOf(`✗ ${f.name} ${told(f, x)} ${p}`, "wrong", f) + truly;
  });
  return [...given, ...found].join(" ");
}

const WAYS = {
  flag: "flag", fill: "set", class: "class", number: "number", order: "order", arrow: "arrow", edge: "edges", grid: "table",
  chip: "value",
};
const RINGS = [", fills a node", ", a ring", ", a dashed ring", ", a dotted ring"];

// In a plane sets are told apart by where they are drawn.
function ringOf(f, features) {
  if (f.way != "fill" || S.kind != "plane") return "";
  return RINGS[Math.min(features.filter(other => other.way == "fill").indexOf(f), 3)];
}

function legendOf(frame) {
  const features = ofFrame(frame), boxes = features.map((f, k) =>
    `<label><input type="checkbox" data-k="${k}"${f.shown ? " checked" : ""}>${chipOf(f.name, "right", f)} ` +
    `<small>${WAYS[f.way]}${ringOf(f, features)}</small></label>`);
  if (S.kind == "plane" && S.edges.length > CROWDED)
    boxes.push(`<label><input type="checkbox" data-k="edges"${edgesShown ? " checked" : ""}>all ${S.edges.length} edges</label>`);
  const states = '<p><span class="mark right">right</span> <span class="mark wrong">✗ wrong</span> ' +
    '<span class="mark ghost">where it truly is</span> <span class="mark faint">thought possible</span> ' +
    "paler is less sure</p>";
  return `<p class="boxes">${boxes.join("")}</p>${D.network ? states : ""}`;
}
