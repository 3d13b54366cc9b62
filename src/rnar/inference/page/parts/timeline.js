// All steps at a glance: a line for each hint, dark where the network is wrong. Without a network, where a hint changes.

const track = document.getElementById("track"), names = document.getElementById("names");
const LINE = 15;

// At each frame the share of entries that are right (without a network: that stay as they were); NaN where none is judged.
// There may be millions of entries: so one plain loop over the arrays.
function sharesRight(f) {
  const given = f.stage == "hint" ? 1 : 0, steps = f.truth.length / f.size - given;
  const found = new Float32Array(steps + given).fill(NaN);
  const other = D.network ? f.decided : f.truth, judgedAlways = f.kind != "mask" && f.kind != "categorical";
  if (!other || (!D.network && !given)) return found;
  for (let t = 0; t < steps; t++) {
    let judged = 0, right = 0;
    for (let k = 0, a = (t + given) * f.size, b = t * f.size; k < f.size; k++, a++, b++) {
      if (!judgedAlways && f.truth[a] == NOT_JUDGED) continue;
      judged++;
      if (f.kind == "scalar" && D.network ? Math.abs(other[b] - f.truth[a]) <= f.slack : other[b] == f.truth[a]) right++;
    }
    if (judged) found[t + given] = right / judged;
  }
  return found;
}

for (const f of D.features) f.right = sharesRight(f);

function rightAt(f, frame) {
  if ((frame == ANSWER) != (f.stage == "output")) return NaN;
  return f.right[frame == ANSWER ? 0 : frame];
}

function drawTimeline(frame) {
  const dense = devicePixelRatio || 1, wide = track.clientWidth, high = LINE * D.features.length;
  const pen = track.getContext("2d"), width = Math.round(wide * dense);
  if (track.width != width) Object.assign(track, {width, height: high * dense});
  track.style.height = `${high}px`;
  pen.setTransform(dense, 0, 0, dense, 0, 0);
  pen.clearRect(0, 0, wide, high);
  D.features.forEach((f, r) => {
    for (let x = 0; x < wide;) {
      const from = frameAt(x, wide), next = Math.max(x + 1, Math.ceil((from + 1) * wide / (ANSWER + 1)));
      bit(pen, f, from, frameAt(next - 1, wide), x, r * LINE, Math.min(next, wide) - x);
      x = next;
    }
  });
  const at = (frame + 0.5) * wide / (ANSWER + 1), half = Math.max(1.5, wide / (ANSWER + 1) / 2);
  pen.strokeStyle = colours.ink;
  pen.lineWidth = 2;
  pen.strokeRect(at - half, 1, 2 * half, high - 2);
}

// A pixel may stand for several steps: then for the worst of them.
function bit(pen, f, from, to, x, y, wide) {
  let worst = NaN;
  for (let frame = from; frame <= to; frame++) {
    const right = rightAt(f, frame);
    if (!Number.isNaN(right) && !(worst <= right)) worst = right;
  }
  const gap = track.clientWidth / (ANSWER + 1) > 6 ? 1 : 0, nothing = Number.isNaN(worst);
  pen.fillStyle = nothing ? colours.none : colours.fine;
  pen.fillRect(x, y + 1, wide - gap, LINE - 2);
  if (nothing || worst == 1) return;
  pen.fillStyle = D.network ? colours.wrong : colours.right;
  const high = Math.max(4, (LINE - 2) * (1 - worst));  // as high as it is wrong: not by its colour alone
  pen.fillRect(x, y + LINE - 1 - high, wide - gap, high);
}

const frameAt = (x, wide) => Math.max(0, Math.min(ANSWER, Math.floor(x * (ANSWER + 1) / wide)));

names.innerHTML = D.features.map(f => `<span title="${escaped(f.name)}">${escaped(f.name)}</span>`).join("");
const hasNumbers = D.features.some(f => f.kind == "scalar" && f.said);
const slack = hasNumbers ? "; a number is wrong if it is off by more than a tenth of its range" : "";
document.getElementById("key").textContent = "Each column is a step, the last is the answer. " + (D.network
  ? `The higher a bar, the more entries of that hint are wrong${slack}.`
  : "A bar marks a hint that changes, as high as the share of its entries.");
