"""Compiled loops over float32 arrays for `rnar.nn.kernels`. Sums may be taken in any order, so that they vectorise.

They use one core and let go of the interpreter: the cores work on different samples (see `rnar.nn.workers`).
"""

from __future__ import annotations

import numpy as np

from rnar.clrs.kernel import entry_point


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
    batch, nodes, others, count = channels.shape
    size = weight.shape[1]
    g = np.empty(size, np.float32)
    for b in range(batch):
        for i in range(nodes):
            for j in range(others):
                for h in range(size):
                    g[h] = gradient[b, i, j, h] if out[b, i, j, h] > 0 else np.float32(0)
                    to_sender[b, i, h] += g[h]
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
    for i in range(x.shape[0]):
        for h in range(x.shape[1]):
            x[i, h] = max(x[i, h] + bias[h], np.float32(0))


@entry_point(fastmath=True)
def rectify_backward(gradient, out, through, to_bias):
    for i in range(out.shape[0]):
        for h in range(out.shape[1]):
            through[i, h] = gradient[i, h] if out[i, h] > 0 else np.float32(0)
            to_bias[h] += through[i, h]


@entry_point
def max_over_senders(messages, best, arg):
    batch, senders, receivers, size = messages.shape
    for b in range(batch):
        for j in range(receivers):
            for h in range(size):
                best[b, j, h] = messages[b, 0, j, h]
                arg[b, j, h] = 0
        for i in range(1, senders):
            for j in range(receivers):
                for h in range(size):
                    better = messages[b, i, j, h] > best[b, j, h]
                    best[b, j, h] = messages[b, i, j, h] if better else best[b, j, h]
                    arg[b, j, h] = np.int16(i) if better else arg[b, j, h]


@entry_point
def max_over_senders_backward(gradient, arg, to_messages):
    batch, senders, receivers, size = to_messages.shape
    for b in range(batch):
        for i in range(senders):
            for j in range(receivers):
                for h in range(size):
                    to_messages[b, i, j, h] = gradient[b, j, h] if arg[b, j, h] == i else np.float32(0)


@entry_point
def max_plus(x, y, best, arg):
    batch, size, bs, features = x.shape
    cs = y.shape[2]
    for k in range(batch):
        for b in range(bs):
            for a in range(size):
                for c in range(cs):
                    for f in range(features):
                        candidate = x[k, a, b, f] + y[k, a, c, f]
                        better = a == 0 or candidate > best[k, b, c, f]
                        best[k, b, c, f] = candidate if better else best[k, b, c, f]
                        arg[k, b, c, f] = np.int16(a) if better else arg[k, b, c, f]


@entry_point
def max_plus_backward(gradient, arg, to_x, to_y):
    batch, bs, cs, features = gradient.shape
    for k in range(batch):
        for b in range(bs):
            for c in range(cs):
                for f in range(features):
                    a = np.uint64(arg[k, b, c, f])
                    to_x[k, a, b, f] += gradient[k, b, c, f]
                    to_y[k, a, c, f] += gradient[k, b, c, f]


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
                    chosen = second[h] > p[b, i, h]
                    through[h] = g * w[h] if chosen else np.float32(0)
                    to_pairs[b, j, i, h] = through[h]
                    to_q[b, j, h] += through[h]
                    to_p[b, i, h] += np.float32(0) if chosen else g * w[h]
                    to_w[h] += g * (second[h] if chosen else p[b, i, h])
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
    for b in range(batch):
        for i in range(rows):
            for j in range(columns):
                for k in range(r.shape[1]):
                    g = gradient[b, i, j, k]
                    for h in range(size):
                        first, second = pairs[b, i, j, h], r[b, k, h]
                        chosen = first >= second
                        to_pairs[b, i, j, h] += g * w[h] if chosen else np.float32(0)
                        to_r[b, k, h] += np.float32(0) if chosen else g * w[h]
                        to_w[h] += g * (first if chosen else second)
