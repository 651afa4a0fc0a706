"""The parser's training loops, compiled by numba: a beam beside the gold actions."""

import numpy as np

from english.loops import add_rows, entry, inline, move, tally
from karat.lexicon.syntax import state_kernels as state
from karat.lexicon.syntax.beam_kernels import LEFT, RIGHT, SHIFT, allowed, best_moves, copy_state
from karat.lexicon.syntax.feature_kernels import MOST_ATOMS, add_dense, combine


@inline
def costs(stack, top, b0, n, head, last, out):
    """The gold arcs that each action makes impossible; large where it is not allowed.

    `last` is the rightmost gold child of each word.
    """
    s0, s1 = stack[top], stack[top - 1]
    for action in range(3):
        out[action] = 0 if allowed(action, top - 2, b0, n) else 1000
    if top > 2:
        lost = 0
        for i in range(b0, last[s0] + 1):
            lost += head[i] == s0
        out[LEFT] += lost + (head[s0] == s1 or head[s0] > b0)
        out[RIGHT] += lost + (head[s0] >= b0)
    if b0 < n:
        lost = 0
        for i in range(3, top):
            lost += head[b0] == stack[i]
        for i in range(3, top + 1):
            lost += head[stack[i]] == b0
        out[SHIFT] += lost


@inline
def gold_action(stack, top, b0, n, head, last, cost):
    """The action that loses nothing; arcs are made as soon as they can be."""
    costs(stack, top, b0, n, head, last, cost)
    least = min(cost[0], cost[1], cost[2])
    return LEFT if cost[LEFT] == least else RIGHT if cost[RIGHT] == least else SHIFT


@entry
def act(action, token, node, stack, top, b0, n, x, g, labels, scores, case_label):
    """Do one action in place; returns the new top and the new first of the buffer.

    `g` gets the features of the label.
    """
    if action == SHIFT:
        stack[top + 1] = b0
        return top + 1, b0 + 1
    child = stack[top]
    above, chosen = b0 if action == LEFT else stack[top - 1], 0
    if above < n:
        state.label_atoms(token, node, above, child, min(b0 + (action == LEFT), n + 1), n, x)
        combine(labels[0], x, g)
        add_rows(g, labels, scores)
        chosen = 1 + np.argmax(scores[1:])
    state.attach(node, above, child, chosen, case_label, n + 1)
    return top - 1, b0


@entry
def count_parser(
    words, tags, ptr, heads, labels, origin, groups, case_label, actions, arcs, count, seen,
    arc_count, arc_seen,
):  # fmt: skip
    """Count in how many sentences a feature occurs along the gold actions (`actions`, `arcs`: templates)."""
    longest = np.max(np.diff(ptr))
    token = np.empty((longest + 2, 3), np.int64)
    node, stack = np.empty((longest + 2, state.NODE_COLUMNS), np.int64), np.empty(longest + 3, np.int64)
    head, last = np.empty(longest + 2, np.int64), np.empty(longest + 2, np.int64)
    x, cost = np.empty(MOST_ATOMS, np.int64), np.empty(3, np.int64)
    f, g = np.empty(actions.shape[0], np.int64), np.empty(arcs.shape[0], np.int64)
    for s in range(ptr.size - 1):
        n = state.start_sentence(words, tags, ptr[s], ptr[s + 1], groups, token, node, stack)
        lay_gold(heads, ptr[s], n, head, last)
        top, b0 = 2, 0
        for _ in range(2 * n):
            state.action_atoms(token, node, stack, top, b0, n, x)
            combine(actions, x, f)
            tally(f, origin[s], count, seen)
            action = gold_action(stack, top, b0, n, head, last, cost)
            if action == SHIFT:
                top += 1
                stack[top] = b0
                b0 += 1
                continue
            child = stack[top]
            above = b0 if action == LEFT else stack[top - 1]
            if above < n:
                state.label_atoms(token, node, above, child, min(b0 + (action == LEFT), n + 1), n, x)
                combine(arcs, x, g)
                tally(g, origin[s], arc_count, arc_seen)
            state.attach(node, above, child, labels[ptr[s] + child], case_label, n + 1)
            top -= 1


@inline
def lay_gold(heads, low, n, head, last):
    """Lay out a gold tree: heads with the root's place, and the last child of each word."""
    last[: n + 2] = -1
    for i in range(n):
        head[i] = heads[low + i] if heads[low + i] >= 0 else n
        last[head[i]] = i


@entry
def train_parser(
    words, tags, ptr, heads, labels, order, groups, case_label, width, actions, sums, arcs, arc_sums, step
):
    """One round over the sentences; returns the next step, wrong sentences and wrong labels.

    The beam runs beside the gold actions; where it outscores them most, both are moved apart
    (max-violation). Labels are learned along the gold actions.
    """
    longest = np.max(np.diff(ptr))
    token = np.empty((longest + 2, 3), np.int64)
    nodes = np.empty((2, width, longest + 2, state.NODE_COLUMNS), np.int64)
    stacks = np.empty((2, width, longest + 3), np.int64)
    paths = np.empty((2, width, 2 * longest), np.uint8)
    node, stack = np.empty((longest + 2, state.NODE_COLUMNS), np.int64), np.empty(longest + 3, np.int64)
    good_path, bad_path = np.empty(2 * longest, np.uint8), np.empty(2 * longest, np.uint8)
    head, last = np.empty(longest + 2, np.int64), np.empty(longest + 2, np.int64)
    x, cost = np.empty(MOST_ATOMS, np.int64), np.empty(3, np.int64)
    f, g = np.empty(actions[0].shape[0], np.int64), np.empty(arcs[0].shape[0], np.int64)
    rows = np.empty_like(f)
    three, arc_scores = np.empty(3, np.float64), np.empty(arc_sums.shape[1], np.float32)
    scores, moves = np.zeros((2, width)), np.empty((width, 2), np.int64)
    tops, firsts = np.empty((2, width), np.int64), np.empty((2, width), np.int64)
    wrong = wrong_labels = 0
    for s in order:
        low = ptr[s]
        n = state.start_sentence(words, tags, low, ptr[s + 1], groups, token, nodes[0, 0], stacks[0, 0])
        state.start_sentence(words, tags, low, ptr[s + 1], groups, token, node, stack)
        lay_gold(heads, low, n, head, last)
        tops[:], firsts[:], scores[:] = 2, 0, 0
        top, b0, gold_score, side, alive = 2, 0, 0.0, 0, 1
        worst, worst_at = 0.0, -1
        for t in range(2 * n):
            alive = best_moves(
                token, nodes[side], stacks[side], tops[side], firsts[side], scores, alive, n, actions, x, f,
                rows, three, moves,
            )  # fmt: skip
            scores[0] = scores[1]
            other = 1 - side
            for j in range(alive):
                old, action = moves[j]
                new_node, new_stack = nodes[other, j], stacks[other, j]
                copy_state(nodes[side, old], stacks[side, old], tops[side, old], n, new_node, new_stack)
                paths[other, j, :t] = paths[side, old, :t]
                paths[other, j, t] = action
                tops[other, j], firsts[other, j] = act(
                    action, token, new_node, new_stack, tops[side, old], firsts[side, old], n, x, g, arcs,
                    arc_scores, case_label,
                )  # fmt: skip
            side = other
            state.action_atoms(token, node, stack, top, b0, n, x)
            combine(actions[0], x, f)
            add_dense(f, actions, rows, three)
            action = gold_action(stack, top, b0, n, head, last, cost)
            gold_score += three[action]
            good_path[t] = action
            child = stack[top]
            above = b0 if action == LEFT else stack[top - 1]
            top, b0 = act(action, token, node, stack, top, b0, n, x, g, arcs, arc_scores, case_label)
            if action != SHIFT and above < n:
                right, chosen = labels[low + child], node[child, state.LABEL]
                if chosen != right and right > 0:
                    wrong_labels += 1
                    move(g, arcs, arc_sums, right, 1, step)
                    move(g, arcs, arc_sums, chosen, -1, step)
            differs = False
            for j in range(t + 1):
                if paths[side, 0, j] != good_path[j]:
                    differs = True
                    break
            if differs and scores[0, 0] - gold_score >= worst:
                worst, worst_at = scores[0, 0] - gold_score, t
                bad_path[: t + 1] = paths[side, 0, : t + 1]
        if worst_at >= 0:
            wrong += 1
            for by in (1, -1):
                path = good_path if by > 0 else bad_path
                state.start_sentence(words, tags, low, ptr[s + 1], groups, token, node, stack)
                top, b0, apart = 2, 0, False
                for t in range(worst_at + 1):
                    # What both have in common would cancel out.
                    apart = apart or good_path[t] != bad_path[t]
                    if apart:
                        state.action_atoms(token, node, stack, top, b0, n, x)
                        combine(actions[0], x, f)
                        move(f, actions, sums, path[t], by, step)
                    top, b0 = act(path[t], token, node, stack, top, b0, n, x, g, arcs, arc_scores, case_label)
        step += 1
    return step, wrong, wrong_labels
