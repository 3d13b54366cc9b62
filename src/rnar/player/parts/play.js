// Which frame is shown, and how one gets to others.

const element = id => document.getElementById(id);
const SPEEDS = [1, 2, 5, 10, 30];  // steps a second
let frame = 0, timer = null;

element("panels").innerHTML = WHO.map(who =>
  `<section class="panel" data-who="${who}"><h2>${who == "algorithm" ? "The algorithm" : "The network"}</h2>` +
  `<p class="chips"></p><div class="picture"></div><div class="grids"></div></section>`).join("");
const panels = WHO.map(who => document.querySelector(`.panel[data-who=${who}]`));
document.body.classList.toggle("alone", !D.network);
document.body.classList.toggle("chipless", !S.given.length && !D.features.some(f => f.way == "chip"));

function draw() {
  lookUpColours();
  WHO.forEach((who, k) => {
    const part = kind => panels[k].querySelector(`.${kind}`);
    part("chips").innerHTML = chipsOf(who);
    part("picture").innerHTML = S.kind == "plane" ? drawPlane(who, frame, panels[k].clientWidth - 24) : drawRows(who, frame);
    drawGrids(part("grids"), who, frame);
  });
  element("step").textContent = frame == ANSWER ? `answer, after ${D.steps} steps` : `step ${frame} of ${D.steps - 1}`;
  for (const [name, x] of Object.entries({valuenow: frame, valuemin: 0, valuemax: ANSWER, valuetext: element("step").textContent}))
    track.setAttribute(`aria-${name}`, x);
  drawTimeline(frame);
  drawLegend();
  if (element("values").open) element("values").querySelector("div").innerHTML = valuesAt(frame);
}

// What belongs to the whole problem: numbers, phases.
function chipsOf(who) {
  const given = S.given.map(([name, text]) => `<span class="mark given">${escaped(name)} ${escaped(text)}</span>`);
  const found = ofFrame(frame).filter(f => f.way == "chip" && f.shown && (who == "algorithm" || f.said)).map(f => {
    const x = value(f, who, frame, 0), wrong = who == "network" && isWrong(f, frame, 0);
    const p = who == "network" ? percent(probability(f, frame, 0, x)) : "", state = wrong ? "wrong" : "right";
    return `<span class="mark ${state}" data-f="${escaped(f.name)}" style="--hue:var(${f.hue})">${wrong ? "✗ " : ""}${escaped(f.name)} ${escaped(told(f, x))} ${p}</span>` +
      (wrong ? `<span class="mark ghost" style="--hue:var(${f.hue})">${escaped(told(f, trueValue(f, frame, 0)))}</span>` : "");
  });
  return [...given, ...found].join(" ");
}

function go(to) {
  frame = Math.max(0, Math.min(ANSWER, to));
  if (frame == ANSWER) pause();
  draw();
}

function play() {
  if (timer !== null) return;
  if (frame == ANSWER) go(0);
  timer = setInterval(() => go(frame + 1), 1000 / Number(element("speed").value));
  Object.assign(element("playing"), {textContent: "❚❚", ariaLabel: "pause"});
}

function pause() {
  clearInterval(timer);
  timer = null;
  Object.assign(element("playing"), {textContent: "▶", ariaLabel: "play"});
}

const toggle = () => timer === null ? play() : pause();

const SIGNS = {flag: "flag", fill: "set", class: "class", number: "number", order: "order", arrow: "arrow", edge: "edges", grid: "table", chip: "value"};
let legendOf = null;

function drawLegend() {
  const stage = frame == ANSWER ? "output" : "hint";
  if (legendOf == stage) return;
  legendOf = stage;
  const boxes = ofFrame(frame).map((f, k) => `<label><input type="checkbox" data-k="${k}"${f.shown ? " checked" : ""}>` +
    `<span class="mark right" style="--hue:var(${f.hue})">${escaped(f.name)}</span> <small>${SIGNS[f.way]}${ringOf(f)}</small></label>`).join("");
  const states = D.network ? `<p><span class="mark right">right</span> <span class="mark wrong">✗ wrong</span> <span class="mark ghost">where it truly is</span> ` +
    `<span class="mark faint">thought possible</span> paler is less sure</p>` : "";
  element("legend").querySelector("div").innerHTML = `<p class="boxes">${boxes}</p>${states}`;
}

// In a plane sets are told apart by where they are drawn.
function ringOf(f) {
  if (f.way != "fill" || S.kind != "plane") return "";
  const level = ofFrame(frame).filter(other => other.way == "fill").indexOf(f);
  return [", fills a node", ", a ring", ", a dashed ring", ", a dotted ring"][Math.min(level, 3)];
}

function readOut(event) {
  const panel = event.target.closest(".panel"), node = event.target.closest("[data-i]");
  if (!panel) return;
  const who = panel.dataset.who;
  if (node) element("told").textContent = nodeInWords(who, frame, Number(node.dataset.i));
  else if (event.target.tagName == "CANVAS") {
    const f = byName(event.target.dataset.f, frame), pair = entryAt(event.target, event);
    if (pair) element("told").textContent = `${who}, ${f.name} of ${S.labels[pair[0]]} and ${S.labels[pair[1]]}: ${entryInWords(f, who, frame, pair[0] * N + pair[1])}`;
  }
}

const KEYS = {ArrowLeft: () => { pause(); go(frame - 1); }, ArrowRight: () => { pause(); go(frame + 1); }, Home: () => { pause(); go(0); }, End: () => go(ANSWER), " ": toggle};

document.addEventListener("keydown", event => {
  const busy = event.target.closest("select, input, textarea") || (event.key == " " && event.target.closest("button, summary"));
  if (busy || event.ctrlKey || event.metaKey || event.altKey || !KEYS[event.key]) return;
  event.preventDefault();
  KEYS[event.key]();
});

// After a click the space bar plays again; who moves by keys presses with it what has the focus.
document.addEventListener("click", event => { if (event.detail) event.target.closest("button")?.blur(); });

const chosen = event => { pause(); go(frameAt(event.clientX - track.getBoundingClientRect().left, track.clientWidth)); };
track.addEventListener("pointerdown", event => { chosen(event); track.setPointerCapture(event.pointerId); });
track.addEventListener("pointermove", event => { if (event.buttons) chosen(event); });
element("panels").addEventListener("click", readOut);
element("first").onclick = KEYS.Home;
element("back").onclick = KEYS.ArrowLeft;
element("on").onclick = KEYS.ArrowRight;
element("last").onclick = KEYS.End;
element("playing").onclick = toggle;
element("values").ontoggle = draw;
element("legend").addEventListener("change", event => { ofFrame(frame)[event.target.dataset.k].shown = event.target.checked; draw(); });
element("verdict").addEventListener("click", event => { if (event.target.dataset.step) { pause(); go(Number(event.target.dataset.step)); } });
element("speed").innerHTML = SPEEDS.map(x => `<option value="${x}">${x}/s</option>`).join("");
element("speed").value = String(D.steps <= 30 ? 2 : D.steps <= 120 ? 5 : 10);
element("speed").onchange = () => { if (timer !== null) { pause(); play(); } };
element("theme").onclick = () => {
  const dark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme == "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "light" : "dark";
  draw();
};
addEventListener("resize", draw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);

if (S.kind == "plane" && panels[0].clientWidth < 420) for (const f of D.features) if (f.way == "number") f.shown = false;  // no room
go(Number(location.hash.slice(1)) || 0);
window.rnar = {took: performance.now(), go, play, pause, get frame() { return frame; }, get playing() { return timer !== null; }, data: D, value, isWrong, probability};
document.documentElement.dataset.ready = "yes";
