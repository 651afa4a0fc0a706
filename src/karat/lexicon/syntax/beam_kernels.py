"""The parser's search: the arc-hybrid transition system with a beam, compiled by numba."""

import numpy as np

from karat.lexicon.syntax.feature_kernels import MOST_ATOMS, add_dense, add_sparse, combine, entry, inline
from karat.lexicon.syntax.state_kernels import (
    HEAD,
    LABEL,
    NODE_COLUMNS,
    action_atoms,
    attach,
    label_atoms,
    start_sentence,
)

SHIFT, LEFT, RIGHT = range(3)


@inline
def allowed(action, top, b0, n):
    """Whether an action may be done: `top` counts what is on the stack."""
    if action == SHIFT:
        return b0 < n
    if action == LEFT:
        # One word alone hangs on the root, the last one left.
        return top >= 1 and (b0 < n or top == 1)
    return top >= 2


@entry
def best_moves(token, nodes, stacks, tops, firsts, scores, alive, n, actions, x, f, rows, three, moves):
    """Find the best next moves of all states: rows of `moves` are state and action; returns how many.

    `scores[1]` gets their scores, best first; of equal ones the earlier found stays ahead.
    """
    width, found = moves.shape[0], 0
    for k in range(alive):
        action_atoms(token, nodes[k], stacks[k], tops[k], firsts[k], n, x)
        combine(actions[0], x, f)
        add_dense(f, actions, rows, three)
        for action in range(3):
            if not allowed(action, tops[k] - 2, firsts[k], n):
                continue
            score = scores[0, k] + three[action]
            if found == width and score <= scores[1, width - 1]:
                continue
            j = min(found, width - 1)
            while j > 0 and scores[1, j - 1] < score:
                scores[1, j], moves[j, 0], moves[j, 1] = scores[1, j - 1], moves[j - 1, 0], moves[j - 1, 1]
                j -= 1
            scores[1, j], moves[j, 0], moves[j, 1] = score, k, action
            found = min(found + 1, width)
    return found


@entry
def copy_state(node, stack, top, n, new_node, new_stack):
    """Copy a state."""
    for i in range(n + 2):
        for j in range(NODE_COLUMNS):
            new_node[i, j] = node[i, j]
    for i in range(top + 1):
        new_stack[i] = stack[i]


@entry
def parse_one(token, nodes, stacks, n, actions, labels, number, case_label):
    """Parse one sentence that is laid out in the first state; returns the side where the best tree is.

    `nodes` and `stacks` have two sides of as many states as the beam is wide. A beam of one is
    changed in place, so that its time is linear. `number` counts the labels.
    """
    width = nodes.shape[1]
    x, three = np.empty(MOST_ATOMS, np.int64), np.empty(3, np.int64)
    f, g = np.empty(actions[0].shape[0], np.int64), np.empty(labels[0].shape[0], np.int64)
    label_scores, rows = np.empty(number, np.int32), np.empty(max(f.size, g.size), np.int64)
    tops, firsts = np.full((2, width), 2), np.zeros((2, width), np.int64)
    scores, moves = np.zeros((2, width), np.int64), np.empty((width, 2), np.int64)
    side, alive = 0, 1
    for _ in range(2 * n):
        alive = best_moves(
            token, nodes[side], stacks[side], tops[side], firsts[side], scores, alive, n, actions, x, f, rows,
            three, moves,
        )  # fmt: skip
        scores[0] = scores[1]
        other = 1 - side if width > 1 else side
        for k in range(alive):
            old, action = moves[k]
            top, b0 = tops[side, old], firsts[side, old]
            node, stack = nodes[other, k], stacks[other, k]
            if width > 1:
                copy_state(nodes[side, old], stacks[side, old], top, n, node, stack)
            if action == SHIFT:
                top += 1
                stack[top] = b0
                b0 += 1
            else:
                child = stack[top]
                above, chosen = b0 if action == LEFT else stack[top - 1], 0
                if above < n:
                    label_atoms(token, node, above, child, min(b0 + (action == LEFT), n + 1), n, x)
                    combine(labels[0], x, g)
                    add_sparse(g, labels, rows, label_scores)
                    chosen = 1 + np.argmax(label_scores[1:])
                attach(node, above, child, chosen, case_label, n + 1)
                top -= 1
            tops[other, k], firsts[other, k] = top, b0
        side = other
    return side


@entry
def parse_words(words, tags, ptr, groups, width, longest, actions, labels, number, case_label, head, label):
    """Parse all sentences with the arc-hybrid system and a beam; heads and labels are written.

    Sentences of more than `longest` words are parsed greedily.
    """
    most = 0
    for s in range(ptr.size - 1):
        most = max(most, ptr[s + 1] - ptr[s])
    token = np.empty((most + 2, 3), np.int64)
    short = min(most, longest)
    nodes = np.empty((2, width, short + 2, NODE_COLUMNS), np.int64)
    stacks = np.empty((2, width, short + 3), np.int64)
    for s in range(ptr.size - 1):
        n = ptr[s + 1] - ptr[s]
        if n > longest:
            here, piles = np.empty((1, 1, n + 2, NODE_COLUMNS), np.int64), np.empty((1, 1, n + 3), np.int64)
        else:
            here, piles = nodes, stacks
        start_sentence(words, tags, ptr[s], ptr[s + 1], groups, token, here[0, 0], piles[0, 0])
        side = parse_one(token, here, piles, n, actions, labels, number, case_label)
        for i in range(n):
            above = here[side, 0, i, HEAD]
            head[ptr[s] + i] = above if above < n else -1
            label[ptr[s] + i] = here[side, 0, i, LABEL]
