"""Compiled loops over float32 arrays for `rnar.ops.kernels`. Sums may be taken in any order, so that they vectorise.

They use one core and let go of the interpreter: the cores work on different samples (see `rnar.engine.workers`).
"""

from __future__ import annotations

import numpy as np

from rnar.common.compiling import entry_point


@entry_point(fastmath=True)
def pair_messages(channels, weight, sender, receiver, out):
    batch, nodes, others, count = channels.shape
    size = weight.shape[1]
    for b in range(batch):
        for i in range(nodes):
            for j in range(others):
                for h in range(size):
                    out[b, i, j, h] = sender[b, i, h] + receiver[b, j, h]
                for c in range(count):
                    x = channels[b, i, j, c]
                    if x != 0:  # most pointers and masks are
                        for h in range(size):
                            out[b, i, j, h] += x * weight[c, h]
                for h in range(size):
                    out[b, i, j, h] = max(out[b, i, j, h], np.float32(0))


@entry_point(fastmath=True)
def pair_messages_backward(gradient, channels, weight, out, to_channels, to_weight, to_sender, to_receiver):
    """Short loops over few arrays each: a compiler that must fear that many overlap does not vectorise."""
    batch, nodes, others, count = channels.shape
    size = weight.shape[1]
    g = np.empty(size, np.float32)
    for b in range(batch):
        for i in range(nodes):
            for j in range(others):
                for h in range(size):
                    g[h] = gradient[b, i, j, h] if out[b, i, j, h] > 0 else np.float32(0)
                for h in range(size):
                    to_sender[b, i, h] += g[h]
                for h in range(size):
                    to_receiver[b, j, h] += g[h]
                for c in range(count):
                    x = channels[b, i, j, c]
                    total = np.float32(0)
                    for h in range(size):
                        total += g[h] * weight[c, h]
                    to_channels[b, i, j, c] = total
                    if x != 0:
                        for h in range(size):
                            to_weight[c, h] += x * g[h]


@entry_point
def add_and_rectify(x, bias):
    """x <- relu(x + b)"""
    for b in range(x.shape[0]):
        for i in range(x.shape[1]):
            for h in range(x.shape[2]):
                x[b, i, h] = max(x[b, i, h] + bias[h], np.float32(0))


@entry_point(fastmath=True)
def rectify_backward(gradient, out, through, to_bias):
    for b in range(out.shape[0]):
        for i in range(out.shape[1]):
            for h in range(out.shape[2]):
                through[b, i, h] = gradient[b, i, h] if out[b, i, h] > 0 else np.float32(0)
                to_bias[h] += through[b, i, h]


@entry_point
def max_over_senders(messages, best, arg):
    batch, senders, receivers, size = messages.shape
    chosen = np.empty(size, np.int32)  # as wide as what is compared, for a loop that vectorises
    for b in range(batch):
        for j in range(receivers):
            for h in range(size):
                best[b, j, h] = messages[b, 0, j, h]
                chosen[h] = 0
            for i in range(1, senders):
                for h in range(size):
                    better = messages[b, i, j, h] > best[b, j, h]
                    best[b, j, h] = messages[b, i, j, h] if better else best[b, j, h]
                    chosen[h] = np.int32(i) if better else chosen[h]
            for h in range(size):
                arg[b, j, h] = chosen[h]


@entry_point(fastmath=True)
def max_of_linear_backward(gradient, x, weight, arg, to_x, to_weight):
    batch, receivers, size = gradient.shape
    inputs = x.shape[3]
    for b in range(batch):
        for h in range(size):
            for j in range(receivers):
                i = np.uint64(arg[b, j, h])
                g = gradient[b, j, h]
                for k in range(inputs):
                    to_x[b, i, j, k] += g * weight[h, k]
                for k in range(inputs):
                    to_weight[h, k] += g * x[b, i, j, k]


@entry_point
def max_over_senders_backward(gradient, arg, to_messages):
    batch, senders, receivers, size = to_messages.shape
    for b in range(batch):
        for i in range(senders):
            for j in range(receivers):
                for h in range(size):
                    to_messages[b, i, j, h] = gradient[b, j, h] if arg[b, j, h] == i else np.float32(0)


@entry_point
def max_triplets(channels, weight, a, b, c, best, arg):
    batch, nodes, _, count = channels.shape
    features = a.shape[2]
    pairs = np.empty((3, nodes, nodes, features), np.float32)
    x, y = pairs[0], pairs[1].reshape(nodes, nodes * features)
    wide = np.empty((nodes, features), np.float32)  # the same for each c: then one long loop does for all
    chosen = np.empty((nodes, features), np.int32)
    repeated, pick, row = wide.reshape(-1), chosen.reshape(-1), nodes * features
    for k in range(batch):
        for i in range(nodes):
            for j in range(nodes):
                for f in range(features):
                    pairs[0, i, j, f] = a[k, i, f]
                    pairs[1, i, j, f] = np.float32(0)
                    pairs[2, i, j, f] = b[k, i, f] + c[k, j, f]
                for q in range(count):
                    value = channels[k, i, j, q]
                    if value != 0:
                        for part in range(3):
                            for f in range(features):
                                pairs[part, i, j, f] += value * weight[q, part * features + f]
        for i in range(nodes):
            found = best[k, i].reshape(row)
            for other in range(nodes):
                for j in range(nodes):
                    for f in range(features):
                        wide[j, f] = x[other, i, f]
                if other == 0:
                    for f in range(row):
                        found[f] = repeated[f] + y[0, f]
                        pick[f] = 0
                else:
                    for f in range(row):
                        candidate = repeated[f] + y[other, f]
                        better = candidate > found[f]
                        found[f] = candidate if better else found[f]
                        pick[f] = np.int32(other) if better else pick[f]
            for j in range(nodes):
                for f in range(features):
                    best[k, i, j, f] += pairs[2, i, j, f]
                    arg[k, i, j, f] = chosen[j, f]


@entry_point(fastmath=True)
def max_triplets_backward(gradient, channels, weight, arg, to_channels, to_weight, to_a, to_b, to_c):
    batch, nodes, _, count = channels.shape
    features = gradient.shape[3]
    to_pairs = np.empty((nodes, nodes, 3 * features), np.float32)
    for k in range(batch):
        to_pairs[:] = 0
        for i in range(nodes):
            for j in range(nodes):
                for f in range(features):
                    g = gradient[k, i, j, f]
                    chosen = np.uint64(arg[k, i, j, f])
                    to_pairs[chosen, i, f] += g
                    to_pairs[chosen, j, features + f] += g
                    to_pairs[i, j, 2 * features + f] += g
                    to_a[k, chosen, f] += g
                    to_b[k, i, f] += g
                    to_c[k, j, f] += g
        for i in range(nodes):
            for j in range(nodes):
                for q in range(count):
                    value = channels[k, i, j, q]
                    total = np.float32(0)
                    for f in range(3 * features):
                        total += to_pairs[i, j, f] * weight[q, f]
                    to_channels[k, i, j, q] = total
                    if value != 0:
                        for f in range(3 * features):
                            to_weight[q, f] += value * to_pairs[i, j, f]


@entry_point(fastmath=True)
def max_dot(p, q, pairs, channels, weight, w, out):
    batch, js, others, size = pairs.shape
    second = np.empty(size, np.float32)
    for b in range(batch):
        for j in range(js):
            for i in range(others):
                for h in range(size):
                    second[h] = q[b, j, h] + pairs[b, j, i, h]
                for c in range(channels.shape[3]):
                    x = channels[b, j, i, c]
                    if x != 0:
                        for h in range(size):
                            second[h] += x * weight[c, h]
                total = np.float32(0)
                for h in range(size):
                    total += w[h] * max(p[b, i, h], second[h])
                out[b, i, j] = total


@entry_point(fastmath=True)
def max_dot_backward(gradient, p, q, pairs, channels, weight, w, to_p, to_q, to_pairs, to_channels, to_weight, to_w):
    batch, js, others, size = pairs.shape
    second = np.empty(size, np.float32)
    through = np.empty(size, np.float32)
    for b in range(batch):
        for j in range(js):
            for i in range(others):
                g = gradient[b, i, j]
                for h in range(size):
                    second[h] = q[b, j, h] + pairs[b, j, i, h]
                for c in range(channels.shape[3]):
                    x = channels[b, j, i, c]
                    if x != 0:
                        for h in range(size):
                            second[h] += x * weight[c, h]
                for h in range(size):
                    through[h] = g * w[h] if second[h] > p[b, i, h] else np.float32(0)
                for h in range(size):
                    to_p[b, i, h] += g * w[h] - through[h]
                for h in range(size):
                    to_w[h] += g * max(second[h], p[b, i, h])
                for h in range(size):
                    to_q[b, j, h] += through[h]
                for h in range(size):
                    to_pairs[b, j, i, h] = through[h]
                for c in range(channels.shape[3]):
                    x = channels[b, j, i, c]
                    total = np.float32(0)
                    for h in range(size):
                        total += through[h] * weight[c, h]
                    to_channels[b, j, i, c] = total
                    if x != 0:
                        for h in range(size):
                            to_weight[c, h] += x * through[h]


@entry_point(fastmath=True)
def max_dot_triples(pairs, r, w, out):
    batch, rows, columns, size = pairs.shape
    for b in range(batch):
        for i in range(rows):
            for j in range(columns):
                for k in range(r.shape[1]):
                    total = np.float32(0)
                    for h in range(size):
                        total += w[h] * max(pairs[b, i, j, h], r[b, k, h])
                    out[b, i, j, k] = total


@entry_point(fastmath=True)
def max_dot_triples_backward(gradient, pairs, r, w, to_pairs, to_r, to_w):
    batch, rows, columns, size = pairs.shape
    through = np.empty(size, np.float32)
    for b in range(batch):
        for i in range(rows):
            for j in range(columns):
                for k in range(r.shape[1]):
                    g = gradient[b, i, j, k]
                    for h in range(size):
                        through[h] = g * w[h] if pairs[b, i, j, h] >= r[b, k, h] else np.float32(0)
                    for h in range(size):
                        to_r[b, k, h] += g * w[h] - through[h]
                    for h in range(size):
                        to_w[h] += g * max(pairs[b, i, j, h], r[b, k, h])
                    for h in range(size):
                        to_pairs[b, i, j, h] += through[h]


@entry_point
def lstm_cell(gates, before, after):
    """The next cell, of gates after a sigmoid: f c + i (2 g - 1)"""
    rows, size = before.shape
    for r in range(rows):
        for h in range(size):
            candidate = np.float32(2) * gates[r, 2 * size + h] - np.float32(1)
            after[r, h] = gates[r, size + h] * before[r, h] + gates[r, h] * candidate


@entry_point
def lstm_output(gates, squashed, reads):
    """o tanh(c), to the end of what the next step reads"""
    rows, size = squashed.shape
    inputs = reads.shape[1] - size
    for r in range(rows):
        for h in range(size):
            reads[r, inputs + h] = gates[r, 3 * size + h] * squashed[r, h]


@entry_point(fastmath=True)
def lstm_cell_backward(gates, before, squashed, to_reads, to_cell, to_gates, to_bias):
    """`to_cell` is that of the cell after the step, then that of the cell before; `to_reads` ends with that of h."""
    rows, size = before.shape
    inputs = to_reads.shape[1] - size
    one, two = np.float32(1), np.float32(2)
    for r in range(rows):
        for h in range(size):
            o, tanh, to_h = gates[r, 3 * size + h], squashed[r, h], to_reads[r, inputs + h]
            to_gates[r, 3 * size + h] = to_h * tanh * o * (one - o)
            to_cell[r, h] += to_h * o * (one - tanh * tanh)
        for h in range(size):
            f = gates[r, size + h]
            to_gates[r, size + h] = to_cell[r, h] * before[r, h] * f * (one - f)
        for h in range(size):
            i, g = gates[r, h], gates[r, 2 * size + h]
            to_gates[r, h] = to_cell[r, h] * (two * g - one) * i * (one - i)
            to_gates[r, 2 * size + h] = to_cell[r, h] * i * two * g * (one - g)
        for h in range(size):
            to_cell[r, h] *= gates[r, size + h]
        for h in range(4 * size):
            to_bias[h] += to_gates[r, h]
