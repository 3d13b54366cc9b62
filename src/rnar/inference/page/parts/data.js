// What the page is given: data.py packed it, and here it is unpacked.

const D = JSON.parse(document.getElementById("data").textContent);
const S = D.scene, N = D.nodes, ANSWER = D.steps;  // frames are steps, and one more: the answer
const TYPES = {u1: Uint8Array, u2: Uint16Array, f4: Float32Array};
const NOT_JUDGED = 255;

async function unpacked(text) {
  const raw = Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
  const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

const bytes = await unpacked(D.packed);
let read = 0;

// Bytes are differences: from those of the frame before (`inTime`), from another array's from entry `first` on, or none.
function array(type, frames, size, inTime = false, other = null, first = 0) {
  const made = new TYPES[type](frames * size), raw = new Uint8Array(made.buffer), width = made.BYTES_PER_ELEMENT;
  for (let b = 0; b < width; b++)
    for (let at = b; at < raw.length; at += width) raw[at] = bytes[read++];
  const theirs = inTime ? raw : other && new Uint8Array(other.buffer, first * width);
  const step = inTime ? size * width : 0;
  if (theirs) for (let at = step; at < raw.length; at++) raw[at] ^= theirs[at - step];
  return made;
}

for (const f of D.features) {
  const frames = f.stage == "hint" ? D.steps : 1, later = f.stage == "hint" ? D.steps - 1 : 1;
  f.truth = array(f.type, frames, f.size, true);
  if (!f.said) continue;
  if (f.kind == "scalar") {
    f.decided = array(f.type, later, f.size);
    continue;
  }
  f.decided = array(f.type, later, f.size, false, f.truth, (frames - later) * f.size);
  if (f.kind == "mask" || f.kind == "mask_one") f.shares = array("u1", later, f.kind == "mask" ? f.size : N);
  else { f.sure = array("u1", later, f.size); f.likely = array("u1", later, f.size); }
}

const WHO = D.network ? ["algorithm", "network"] : ["algorithm"];
const hints = D.features.filter(f => f.stage == "hint"), outputs = D.features.filter(f => f.stage == "output");
const ofFrame = frame => frame == ANSWER ? outputs : hints;
const byName = (name, frame) => ofFrame(frame).find(f => f.name == name);

// Where the values of a frame begin: the answer has one frame, and of hints the first is given to the network.
const atFrame = (f, frame) => f.stage == "hint" ? frame : 0;
const isGiven = (f, frame) => f.stage == "hint" && frame == 0;

function trueValue(f, frame, k) { return f.truth[atFrame(f, frame) * f.size + k]; }

function value(f, who, frame, k) {
  if (who == "algorithm" || isGiven(f, frame)) return trueValue(f, frame, k);
  return f.said ? f.decided[(f.stage == "hint" ? frame - 1 : 0) * f.size + k] : undefined;
}

// The probability that the network gave to entry k being `x`; undefined where it has none to give.
function probability(f, frame, k, x) {
  if (!f.said || f.kind == "scalar") return undefined;
  if (isGiven(f, frame)) return Number(x == trueValue(f, frame, k));
  const t = f.stage == "hint" ? frame - 1 : 0;
  if (f.kind == "mask_one") return f.shares[t * N + x] / 255;
  if (f.kind == "mask") { const p = f.shares[t * f.size + k] / 255; return x == 1 ? p : 1 - p; }
  if (x == value(f, "network", frame, k)) return f.sure[t * f.size + k] / 255;
  return x == trueValue(f, frame, k) ? f.likely[t * f.size + k] / 255 : undefined;
}

function isWrong(f, frame, k) {
  if (!f.said || isGiven(f, frame)) return false;
  const truth = trueValue(f, frame, k), said = value(f, "network", frame, k);
  if (f.kind == "scalar") return !(Math.abs(said - truth) <= f.slack);
  return said != truth && !(truth == NOT_JUDGED && (f.kind == "mask" || f.kind == "categorical"));
}

// Has it anything to say of a feature?
const isTold = (f, who) => who == "algorithm" || f.said;

const changed = (f, frame, k) => f.stage == "hint" && frame > 0 && trueValue(f, frame, k) != trueValue(f, frame - 1, k);
