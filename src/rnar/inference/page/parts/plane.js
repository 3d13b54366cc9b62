// Graphs and points: nodes in the plane, edges between them, pointers as arrows, sets as fills and rings.

const USUAL = N <= 10 ? 16 : N <= 20 ? 13 : N <= 40 ? 10.5 : 9.5;  // the radius of a node
const LEAST = N > 40 ? 560 : 300;  // pixels; what is wider than its panel can be scrolled
const CROWDED = 200;  // edges; more are hidden until somebody asks for them
let edgesShown = S.kind == "plane" && S.edges.length <= CROWDED;
let W = 0, H = 0, R = USUAL, place = [], still = "", weights = "";

// Units are pixels, so that letters are as large on a phone as elsewhere.
function measure(room) {
  const wide = Math.max(LEAST, Math.min(620, room));
  if (wide == W) return;
  W = wide;
  // Points lie as near to each other as they do, and on a circle each node has its share of it.
  R = S.points ? Math.min(USUAL, W / 38) : S.round ? Math.min(USUAL, 2.9 * (W / 2 - 60) / N) : USUAL;
  const [left, top] = [R + (S.round ? Math.min(74, W / 8) : 20), R + (S.round ? 16 : 22)];  // room for names
  const ys = S.at.map(at => at[1]), low = Math.min(...ys), extent = Math.max(...ys) - low;
  // Points keep their shape; of a graph nobody minds.
  H = Math.round(S.points ? 2 * top + Math.max(0.25, extent) * (W - 2 * left) : W * 0.8);
  const down = S.points ? y => top + (y - low) * (W - 2 * left) : y => top + y * (H - 2 * top);
  place = S.at.map(([x, y]) => [left + x * (W - 2 * left), down(y)]);
  const tip = S.directed && N <= 20 ? ' marker-end="url(#tip--line)"' : "";
  const edges = S.edges.map(([i, j]) => `<path class="edge" d="${line(i, j)}"${tip}/>`);
  still = edgesShown ? [...edges, ...S.loops.map(i => loop(i, "edge"))].join("") : "";
  weights = S.edges.filter(edge => edge[2]).map(([i, j, text]) => {
    const [x, y] = [0, 1].map(a => 0.56 * place[Math.min(i, j)][a] + 0.44 * place[Math.max(i, j)][a]);
    return `<text class="weight" x="${x.toFixed(1)}" y="${y.toFixed(1)}" dy=".3em">${escaped(text)}</text>`;
  }).join("");
}

function showEdges(all) {
  edgesShown = all;
  W = 0;  // measure again
}

// From one node's rim to another's; `bend` moves the middle aside.
function line(i, j, bend = 0) {
  const [x1, y1] = place[i], [x2, y2] = place[j], d = Math.hypot(x2 - x1, y2 - y1) || 1;
  const [ux, uy] = [(x2 - x1) / d, (y2 - y1) / d], gap = Math.min(R + 1.5, d / 3);
  const at = (x, y) => `${x.toFixed(1)} ${y.toFixed(1)}`;
  const [ax, ay, bx, by] = [x1 + gap * ux, y1 + gap * uy, x2 - (gap + 2) * ux, y2 - (gap + 2) * uy];
  const middle = at((x1 + x2) / 2 - bend * uy, (y1 + y2) / 2 + bend * ux);
  return bend ? `M${at(ax, ay)}Q${middle} ${at(bx, by)}` : `M${at(ax, ay)}L${at(bx, by)}`;
}

function loop(i, kind, more = "") {
  const [x, y] = place[i], r = R * 0.7;
  return `<circle class="${kind}" cx="${x.toFixed(1)}" cy="${(y - R - r * 0.6).toFixed(1)}" r="${r.toFixed(1)}"${more}/>`;
}

const TIPS = [...HUES, "--line", "--wrong", "--quiet"].map(hue =>
  `<marker id="tip${hue}" viewBox="0 0 8 8" refX="6.5" refY="4" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" ` +
  `orient="auto"><path d="M0 0L8 4L0 8z" style="fill:var(${hue})"/></marker>`).join("");

function drawPlane(who, frame, room) {
  measure(room);
  const shown = ofFrame(frame).filter(f => f.shown && (who == "algorithm" || f.said));
  const joined = shown.filter(f => f.way == "edge").map(f => edgesOf(f, who, frame)).join("");
  const pointers = shown.filter(f => f.way == "arrow").map((f, k) => arrowsOf(f, who, frame, k)).join("");
  const nodes = place.map((_, i) => nodeOf(i, who, frame, shown)).join("");
  const names = place.map((_, i) => namesOf(i, who, frame, shown)).join("");  // above all nodes
  const crowded = S.edges.length > CROWDED ? " crowded" : "";
  const size = `width="${W}" height="${H}"${R < 11 ? ' class="fine"' : ""}`;
  return `<div class="plane${crowded}"><svg ${size} role="img" aria-label="${who}">` +
    `<defs>${TIPS}</defs>${still}${joined}${pointers}${weights}${nodes}${names}</svg></div>`;
}

const MANY = 150;  // edges that are drawn one by one; more are thin lines of one path, which is drawn far faster

function edgesOf(f, who, frame) {
  const found = [], wrong = (i, j) => who == "network" && isWrong(f, frame, i * N + j);
  const said = (i, j) => value(f, who, frame, i * N + j) == 1;
  for (let i = 0; i < N; i++)
    for (let j = 0; j < N; j++) {
      const k = i * N + j;
      if (!wrong(i, j) && !(said(i, j) && trueValue(f, frame, k) == 1)) continue;  // what is not judged is not drawn
      if (j < i && said(j, i) == said(i, j) && wrong(j, i) == wrong(i, j)) continue;  // drawn already, the other way round
      found.push({i, j, state: !wrong(i, j) ? "right" : said(i, j) ? "wrong" : "ghost"});
    }
  if (found.length > MANY) return ["right", "wrong", "ghost"].map(state => {
    const lines = found.filter(edge => edge.state == state && edge.i != edge.j).map(({i, j}) => line(i, j));
    return `<path class="thin chosen ${state}" style="--hue:var(${f.hue})" d="${lines.join("")}"/>`;
  }).join("");
  return found.map(({i, j, state}) => {
    const p = who == "network" ? probability(f, frame, i * N + j, 1) : undefined, how = joining(f, i, j, {state, p});
    return i == j ? loop(i, `chosen ${state}`, how) : `<path class="chosen ${state}" d="${line(i, j)}"${how}/>`;
  }).join("");
}

const joining = (f, from, to, mark) =>
  ` data-from="${from}" data-to="${to}" ${about(f, `opacity:${strength(mark).toFixed(2)}`)}`;

function arrowsOf(f, who, frame, k) {
  return place.flatMap((_, i) => arrows(f, who, frame, i).map(mark => {
    const how = joining(f, i, mark.to, mark), tip = {wrong: "--wrong", ghost: "--quiet"}[mark.state] || f.hue;
    if (mark.to == i) return mark.state == "ghost" ? "" : loop(i, `arrow ${mark.state}`, how);
    return `<path class="arrow ${mark.state}" d="${line(i, mark.to, 14 + 10 * k)}" marker-end="url(#tip${tip})"${how}/>`;
  })).join("");
}

const GREYS = ["white", "grey", "black"];  // as the book colours nodes: drawn as what they say

function nodeOf(i, who, frame, shown) {
  const [x, y] = place[i], sets = [];
  let grey = "", wrong = false, level = 0;
  for (const f of shown) {
    if (f.way == "fill" || f.way == "class") wrong ||= who == "network" && isWrong(f, frame, i);
    if (isGrey(f)) grey = GREYS[value(f, who, frame, i)] || "";
    if (f.way == "fill") {
      for (const mark of marksOfNode(f, who, frame, i)) sets.push(ring(mark, level));
      level++;
    }
  }
  const cross = wrong ? `<text class="cross" x="${R * 0.75}" y="${-R * 0.65}">✗</text>` : "";
  const face = `<text class="face" dy=".35em">${escaped(S.faces[i])}</text>`;
  return `<g class="node ${grey}${wrong ? " wrong" : ""}" data-i="${i}" transform="translate(${x.toFixed(1)} ${y.toFixed(1)})">` +
    `<circle class="disc" r="${R}"/>${sets.join("")}${face}${cross}</g>`;
}

const isGrey = f => f.way == "class" && String(f.classes) == String(GREYS);

// The first set fills a node, the others are rings around it: solid, then dashed, then dotted.
function ring({f, state, p}, level) {
  const kind = `set s${Math.min(level, 3)} ${state}`, radius = level == 0 ? R - 1 : R + 3 * level;
  return `<circle r="${radius}" class="${kind}" ${about(f, `--p:${(p ?? 1).toFixed(2)}`)}/>`;
}

// Is there no other node where names would stand, above (-1) or below (1) a node?
function isFree(i, down) {
  const [x, y] = place[i];
  return y + down * (R + 22) > 0 && y + down * (R + 22) < H && !place.some(([a, b], j) =>
    j != i && Math.abs(a - x) < R + 24 && (b - y) * down > 0 && (b - y) * down < 2 * R + 16);
}

// Flags and numbers: outside of a circle of nodes, else above a node, or below it where another one is above.
function namesOf(i, who, frame, shown) {
  const named = shown.filter(f => ["flag", "class", "number"].includes(f.way) && !isGrey(f));
  const given = S.flags.filter(([, at]) => at == i).map(([name]) => `<tspan class="given">${escaped(name)} </tspan>`);
  const spans = [...given, ...named.flatMap(f => marksOfNode(f, who, frame, i)).map(nameOf)];
  const [x, y] = place[i], far = Math.hypot(x - W / 2, y - H / 2), above = isFree(i, -1) || !isFree(i, 1) ? -1 : 1;
  const [aside, down] = S.round ? [(x - W / 2) / far, (y - H / 2) / far] : [0, above];
  const beside = Math.abs(aside) > 0.5, lines = [];
  while (spans.length) lines.push(spans.splice(0, beside ? 1 : 2).join(""));
  const inwards = S.round ? aside : x < 64 ? 1 : x > W - 64 ? -1 : 0;  // near the sides, names go inwards
  const anchor = inwards > 0.5 ? "start" : inwards < -0.5 ? "end" : "middle";
  const left = x + aside * (R + 5) - (S.round ? 0 : inwards * R);
  const top = k => y + down * (R + 9) + 12 * (beside ? k - (lines.length - 1) / 2 : Math.sign(down) * k);
  const texts = lines.map((text, k) => `<text class="flags" style="text-anchor:${anchor}" x="${left.toFixed(1)}" ` +
    `y="${top(k).toFixed(1)}" dy=".35em">${text}</text>`);
  return `<g data-i="${i}">${texts.join("")}</g>`;
}

function nameOf(mark) {
  const text = W < 420 ? mark.text.replace(/ <?\d+%$/, "") : mark.text;  // on a phone without the percent
  const pale = `opacity:${strength(mark).toFixed(2)}`, sign = mark.state == "wrong" ? "✗" : "";
  return `<tspan class="mark ${mark.state}" ${about(mark.f, pale)}>${sign}${escaped(text)} </tspan>`;
}
