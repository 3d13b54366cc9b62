// Tables with an entry for each pair of nodes: small ones with what they hold, large ones as shades.

let colours = {};  // of this theme; to ask for one at each entry would take most of the time

function lookUpColours() {
  const css = getComputedStyle(document.documentElement);
  for (const name of ["paper", "ink", "quiet", "cell", "right", "wrong", "fine", "none", "shade"])
    colours[name] = css.getPropertyValue(`--${name}`).trim();
}

const GAP = 26;  // for the names of rows and columns

// The greatest number that the algorithm ever has in a table: the darkest shade.
for (const f of D.features.filter(f => f.way == "grid" && f.kind == "scalar"))
  f.most = f.truth.reduce((most, x) => Math.max(most, Math.abs(x)), 1e-9);

function drawGrids(panel, who, frame) {
  const shown = ofFrame(frame).filter(f => f.way == "grid" && f.shown && (who == "algorithm" || f.said));
  panel.innerHTML = shown.map(f =>
    `<figure><figcaption>${escaped(f.name)}</figcaption><canvas ${about(f)}></canvas></figure>`).join("");
  shown.forEach((f, k) => drawGrid(panel.querySelectorAll("canvas")[k], f, who, frame));
}

function sideOf(canvas) {
  const room = Math.min(canvas.closest(".panel").clientWidth - 24, N > 24 ? 300 : 620);  // of large ones two side by side
  return Math.max(4, Math.min(30, Math.floor((room - GAP) / S.columns.length)));
}

function drawGrid(canvas, f, who, frame) {
  const side = sideOf(canvas), [wide, high] = [GAP + side * S.columns.length + 8, GAP + side * S.rows.length + 6];
  const dense = devicePixelRatio || 1, pen = canvas.getContext("2d");
  Object.assign(canvas, {width: wide * dense, height: high * dense, side});
  canvas.style.width = `${wide}px`;
  pen.scale(dense, dense);
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.font = `${side >= 20 ? 11 : 10}px system-ui, sans-serif`;
  pen.fillStyle = colours.quiet;
  const every = side >= 18 ? 1 : 8;
  S.columns.forEach((j, c) => { if (c % every == 0) pen.fillText(S.labels[j], GAP + side * (c + 0.5), GAP / 2); });
  S.rows.forEach((i, r) => { if (r % every == 0) pen.fillText(S.labels[i], GAP / 2, GAP + side * (r + 0.5)); });
  S.rows.forEach((i, r) => S.columns.forEach((j, c) => {
    const [x, y] = [GAP + side * c, GAP + side * r];
    entry(pen, f, who, frame, i * N + j, x, y, side);
  }));
}

function entry(pen, f, who, frame, k, x, y, side) {
  const held = value(f, who, frame, k), depth = shade(f, who, frame, k, held), inner = side - 1;
  pen.fillStyle = colours.cell;
  pen.fillRect(x, y, inner, inner);
  if (depth > 0) {
    pen.globalAlpha = 0.75 * depth;
    pen.fillStyle = colours.shade;
    pen.fillRect(x, y, inner, inner);
    pen.globalAlpha = 1;
  }
  if (who == "network" && isWrong(f, frame, k)) {
    cross(pen, x, y, inner);
  } else if (who == "algorithm" && changed(f, frame, k)) {
    pen.strokeStyle = colours.right;
    pen.lineWidth = 1.5;
    pen.strokeRect(x + 1, y + 1, inner - 2, inner - 2);
  }
  if (side < 18 || (f.kind == "scalar" && held == 0) || (f.kind == "mask" && held != 1)) return;
  pen.fillStyle = depth > 0.6 ? colours.cell : colours.ink;
  pen.fillText(f.kind == "scalar" ? short(held) : told(f, held), x + inner / 2, y + inner / 2 + 0.5, inner - 2);
}

// A wrong entry is framed and crossed; where there is no room for that, it is filled, with a hole.
function cross(pen, x, y, side) {
  pen.strokeStyle = pen.fillStyle = colours.wrong;
  if (side < 9) {
    pen.fillRect(x, y, side, side);
    pen.fillStyle = colours.paper;
    pen.fillRect(x + side / 2 - 0.5, y + side / 2 - 0.5, 1, 1);
    return;
  }
  pen.lineWidth = 2;
  pen.strokeRect(x + 1, y + 1, side - 2, side - 2);
  const tip = Math.min(7, side / 2);
  pen.beginPath();
  pen.moveTo(x + side - tip, y + 1);
  pen.lineTo(x + side - 1, y + tip);
  pen.moveTo(x + side - 1, y + 1);
  pen.lineTo(x + side - tip, y + tip);
  pen.stroke();
}

function short(x) {
  if (Number.isInteger(x)) return String(x);
  return Math.abs(x) < 1 ? x.toFixed(2).replace("0.", ".") : Math.abs(x) < 10 ? x.toFixed(1) : String(Math.round(x));
}

// How dark an entry is: a number by its size, a set by its probability, a choice by how sure it is.
function shade(f, who, frame, k, held) {
  if (f.kind == "scalar") return Math.min(1, Math.abs(held) / f.most);
  const p = who == "network" ? probability(f, frame, k, f.kind == "mask" ? 1 : held) : 1;
  if (f.kind == "mask") return who == "network" ? p : Number(held == 1);
  if (held == NOT_JUDGED && f.kind == "categorical") return 0;
  return f.kind == "pointer" ? (0.1 + 0.9 * held / N) * (0.4 + 0.6 * p) : 0.3 * p;
}

function entryAt(canvas, event) {
  const box = canvas.getBoundingClientRect(), place = [event.clientX - box.left, event.clientY - box.top];
  const [c, r] = place.map(x => Math.floor((x - GAP) / canvas.side));
  return r >= 0 && c >= 0 && r < S.rows.length && c < S.columns.length ? [S.rows[r], S.columns[c]] : null;
}
