// Which frame is shown, and how one gets to others.

const element = id => document.getElementById(id);
const SPEEDS = [1, 2, 5, 10, 30];  // steps a second
let frame = 0, timer = null, legendStage = null;

element("panels").innerHTML = WHO.map(who =>
  `<section class="panel" data-who="${who}"><h2>The ${who}</h2>` +
  `<p class="chips"></p><div class="picture"></div><div class="grids"></div></section>`).join("");
const panels = WHO.map(who => document.querySelector(`.panel[data-who=${who}]`));
document.body.classList.toggle("alone", !D.network);
document.body.classList.toggle("chipless", !S.given.length && !D.features.some(f => f.way == "chip"));

function draw() {
  lookUpColours();
  WHO.forEach((who, k) => {
    const part = kind => panels[k].querySelector(`.${kind}`), room = panels[k].clientWidth - 24;
    part("chips").innerHTML = chipsOf(who, frame);
    part("picture").innerHTML = S.kind == "plane" ? drawPlane(who, frame, room) : drawRows(who, frame);
    drawGrids(part("grids"), who, frame);
  });
  const text = frame == ANSWER ? `answer, after ${D.steps} steps` : `step ${frame} of ${D.steps - 1}`;
  element("step").textContent = text;
  const said = {valuenow: frame, valuemin: 0, valuemax: ANSWER, valuetext: text};
  for (const name in said) track.setAttribute(`aria-${name}`, said[name]);
  drawTimeline(frame);
  const stage = frame == ANSWER ? "output" : "hint";
  if (stage != legendStage) element("legend").querySelector("div").innerHTML = legendOf(frame);
  legendStage = stage;
  if (element("values").open) element("values").querySelector("div").innerHTML = valuesAt(frame);
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

const stepTo = to => { pause(); go(to); };

// What a node or an entry of a table holds, in words.
function readOut(event) {
  const panel = event.target.closest(".panel"), node = event.target.closest("[data-i]");
  if (!panel) return;
  const who = panel.dataset.who;
  if (node) element("told").textContent = nodeInWords(who, frame, Number(node.dataset.i));
  const pair = event.target.tagName == "CANVAS" && entryAt(event.target, event);
  if (!pair) return;
  const f = byName(event.target.dataset.f, frame), [i, j] = pair;
  const words = entryInWords(f, who, frame, i * N + j);
  element("told").textContent = `${who}, ${f.name} of ${S.labels[i]} and ${S.labels[j]}: ${words}`;
}

const KEYS = {
  ArrowLeft: () => stepTo(frame - 1),
  ArrowRight: () => stepTo(frame + 1),
  Home: () => stepTo(0),
  End: () => stepTo(ANSWER),
  " ": () => timer === null ? play() : pause(),
};

document.addEventListener("keydown", event => {
  const inField = event.target.closest("select, input, textarea");
  const pressed = event.key == " " && event.target.closest("button, summary");  // which it presses itself
  if (inField || pressed || event.ctrlKey || event.metaKey || event.altKey || !KEYS[event.key]) return;
  event.preventDefault();
  KEYS[event.key]();
});

// After a click the space bar plays again; who moves by keys presses with it what has the focus.
document.addEventListener("click", event => { if (event.detail) event.target.closest("button")?.blur(); });

const chosen = event => stepTo(frameAt(event.clientX - track.getBoundingClientRect().left, track.clientWidth));
track.addEventListener("pointerdown", event => { chosen(event); track.setPointerCapture(event.pointerId); });
track.addEventListener("pointermove", event => { if (event.buttons) chosen(event); });
element("panels").addEventListener("click", readOut);
element("first").onclick = KEYS.Home;
element("back").onclick = KEYS.ArrowLeft;
element("on").onclick = KEYS.ArrowRight;
element("last").onclick = KEYS.End;
element("playing").onclick = KEYS[" "];
element("values").ontoggle = draw;
element("legend").addEventListener("change", event => {
  const {dataset: {k}, checked} = event.target;
  if (k == "edges") showEdges(checked);
  else ofFrame(frame)[k].shown = checked;
  draw();
});
element("verdict").addEventListener("click", event => {
  if (event.target.dataset.step) stepTo(Number(event.target.dataset.step));
});
element("speed").innerHTML = SPEEDS.map(x => `<option value="${x}">${x}/s</option>`).join("");
element("speed").value = String(D.steps <= 30 ? 2 : D.steps <= 120 ? 5 : 10);
element("speed").onchange = () => { if (timer !== null) { pause(); play(); } };

const darkSystem = matchMedia("(prefers-color-scheme: dark)"), root = document.documentElement;
element("theme").onclick = () => {
  const dark = root.dataset.theme ? root.dataset.theme == "dark" : darkSystem.matches;
  root.dataset.theme = dark ? "light" : "dark";
  draw();
};
darkSystem.addEventListener("change", draw);
addEventListener("resize", draw);

if (S.kind == "plane" && panels[0].clientWidth < 420)  // there is no room for numbers beside nodes
  for (const f of D.features.filter(f => f.way == "number")) f.shown = false;
go(Number(location.hash.slice(1)) || 0);
window.rnar = {
  took: performance.now(), data: D, go, play, pause,
  get frame() { return frame; },
  get playing() { return timer !== null; },
};
root.dataset.ready = "yes";
