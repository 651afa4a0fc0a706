"""The small grammar's sentences: noun phrases that do something, and clauses."""

from __future__ import annotations

from english import words as w
from english.grammar import Grammar, Node, grown
from english.treebank import Tree


def action(g: Grammar, form: int, label: str) -> Node:
    """Return a verb phrase; `form` 0 is the base form, 1 the -ing form, 2 the third person, 3 the plural."""
    tag = ("VB", "VBG", "VBZ", "VBP")[form]
    column = form if form < 3 else 0
    kind = g.rng.random()
    if kind < 0.5:
        *forms, takes = g.one(w.TRANSITIVE).split()
        node = Node(forms[column], "VERB", tag, label)
        goal = g.phrase(takes, "obj", 1)
        if g.chance(0.12) and goal.xpos == "NN":
            # What is in or on a thing belongs to it: "holding a plate with food".
            goal.right.append(g.place("nmod", g.one(["of", "with"]), "FM"))
        node.right.append(goal)
        if g.chance(0.15):
            node.right.append(g.place("obl", "with", "T"))
    else:
        node = Node(g.one(w.PLAIN).split()[column], "VERB", tag, label)
        extra = g.rng.random()
        if extra < 0.08:
            node.right.append(
                Node(g.one(["together", "outside", "around", "outdoors", "inside"]), "ADV", "RB", "advmod")
            )
        elif extra < 0.14:
            node.right.append(Node(g.one(["down", "up", "off", "out", "over"]), "ADP", "RP", "compound:prt"))
            if g.chance(0.5):
                node.right.append(g.place("obl", g.one(["at", "on", "in", "to", "from"])))
            return node
        elif extra < 0.2:
            look = ("look", "looking", "looks")[column]
            return Node(look, "VERB", tag, label, right=[g.place("obl", "at", "TPAF")])
        elif extra < 0.26:
            get = ("get", "getting", "gets")[column]
            ready = Node("ready", "ADJ", "JJ", "xcomp", right=[infinitive(g, "xcomp")])
            return Node(get, "VERB", tag, label, right=[ready])
        elif extra < 0.3:
            want = g.one(["try trying tries", "prepare preparing prepares", "wait waiting waits"]).split()[
                column
            ]
            return Node(want, "VERB", tag, label, right=[infinitive(g, "xcomp")])
    for _ in range(int(g.rng.choice(3, p=[0.3, 0.55, 0.15]))):
        node.right.append(g.place("obl"))
    return node


def infinitive(g: Grammar, label: str) -> Node:
    """Return "to do something"."""
    node = action(g, 0, label)
    node.left.append(Node("to", "PART", "TO", "mark"))
    return node


def state(g: Grammar, label: str) -> Node:
    """Return a past participle with what belongs to it: "covered with snow"."""
    word = g.one(w.DONE)
    node = Node(word, "VERB", "VBN", label)
    if label == "acl" and g.chance(0.06):
        node.left.append(Node("being", "AUX", "VBG", "aux:pass"))
    if word in ("covered", "filled", "topped", "decorated", "loaded", "piled", "lined", "crowded"):
        node.right.append(g.place("obl", g.one(["with", "with", "in"]), "FMT"))
    elif word == "surrounded":
        node.right.append(g.place("obl:agent", "by", "TPA"))
    elif word == "made":
        node.right.append(g.place("obl", g.one(["of", "from"]), "MT"))
    else:
        node.right.append(g.place("obl"))
    return node


def wearing(g: Grammar) -> Node:
    """Return "wearing a hat", "holding a cup" and the like, which may stand before what is done."""
    verb = g.one(["wearing", "wearing", "wearing", "holding", "carrying"])
    return Node(verb, "VERB", "VBG", "acl", right=[g.phrase("C" if verb == "wearing" else "TF", "obj", 1)])


def subject(g: Grammar, label: str) -> Node:
    """Return who or what the caption is about, with what it wears or has."""
    if g.chance(0.14):
        head = Node(g.one(w.AMOUNT), "NOUN", "NN", label, left=[Node("a", "DET", "DT", "det")])
        below = g.phrase(g.one(["P", "A", "T", "F"]), "nmod", 1)
        below.left.insert(0, Node("of", "ADP", "IN", "case"))
        head.right.append(below)
        return head
    node = g.phrase("PPPAATTF", label)
    if g.chance(0.15):
        node.right.append(g.place("nmod", g.one(["in", "with"]), "C"))
    return node


def finite(g: Grammar, who: Node, label: str) -> Node:
    """Return a clause about `who` with a verb in the present."""
    who.label = "nsubj"
    if who.upos == "NOUN" and g.chance(0.2):
        # "a boy wearing a helmet jumps", "a person on skis stands"
        who.right.append(wearing(g) if g.chance(0.5) else g.place("nmod", g.one(["in", "on", "with"])))
    many = who.xpos == "NNS" or any(child.label == "conj" for child in who.right)
    be = Node("are", "AUX", "VBP") if many else Node("is", "AUX", "VBZ")
    kind = g.rng.random()
    if kind < 0.4:
        verb = action(g, 1, label)
        be.label = "aux"
    elif kind < 0.7:
        verb = action(g, 3 if many else 2, label)
        verb.left.insert(0, who)
        return verb
    elif kind < 0.82:
        verb = state(g, label)
        be.label, who.label = "aux:pass", "nsubj:pass"
    elif kind < 0.92:
        verb = g.place(label)
        be.label = "cop"
    else:
        verb = Node(g.one(w.ADJECTIVE), "ADJ", "JJ", label)
        be.label = "cop"
    verb.left[:0] = [who, be]
    return verb


def caption(g: Grammar) -> Node:
    """Return one caption."""
    if g.chance(0.04):
        below = caption(g)
        if below.upos == "NOUN" and not any(child.label == "cop" for child in below.left):
            # What is seen in a picture acts in it, not the picture.
            below.label = "nmod"
            below.left.insert(0, Node("of", "ADP", "IN", "case"))
            look = [Node("close", "ADJ", "JJ", "amod")] if g.chance(0.3) else []
            word = "up" if look else g.one(w.VIEW)
            return Node(word, "NOUN", "NN", left=[Node("a", "DET", "DT", "det"), *look], right=[below])
    who = subject(g, "root")
    kind = g.rng.random()
    if kind < 0.34:
        if g.chance(0.12):
            who.right.append(wearing(g))
        who.right.append(action(g, 1, "acl"))
    elif kind < 0.46:
        who.right.append(state(g, "acl"))
    elif kind < 0.56:
        who.right.append(g.place("nmod"))
    elif kind < 0.62:
        that = Node("who" if g.chance(0.3) else "that", "PRON", "WDT")
        that.xpos = "WP" if that.word == "who" else "WDT"
        who.right.append(finite(g, that, "acl:relcl"))
    elif kind < 0.68:
        who.label = "nsubj"
        who.right.append(action(g, 1, "acl") if g.chance(0.5) else g.place("nmod"))
        be = ("are", "VBP") if who.xpos == "NNS" else ("is", "VBZ")
        return Node(be[0], "VERB", be[1], left=[Node("there", "PRON", "EX", "expl")], right=[who])
    elif kind < 0.72:
        full = g.chance(0.7)
        below = g.place("obl", "of", "FMT") if full else g.place("obl")
        who.right.append(
            Node("full" if full else g.one(["asleep", "visible"]), "ADJ", "JJ", "amod", right=[below])
        )
    elif kind < 0.74:
        return who
    else:
        who = finite(g, who, "root")
    verb = who if who.upos == "VERB" or not who.right else who.right[-1]
    if verb.xpos in ("VBG", "VBZ", "VBP") and g.chance(0.1):
        while_ = action(g, 1, "advcl")
        while_.left.insert(0, Node("while", "SCONJ", "IN", "mark"))
        verb.right.append(while_)
    elif verb.word in ("sitting", "standing", "lying", "laying", "sits", "stands") and g.chance(0.15):
        verb.right.append(action(g, 1, "advcl"))
    elif verb.xpos in ("VBG", "VBZ", "VBP") and g.chance(0.05):
        as_ = finite(g, g.phrase("PA", "nsubj"), "advcl")
        as_.left.insert(0, Node(g.one(["as", "while"]), "SCONJ", "IN", "mark"))
        verb.right.append(as_)
    return who


def made_captions(facts: dict[str, tuple[int, int, int]], number: int, first: int, seed: int) -> list[Tree]:
    """Return so many captions of the grammar, whose origins count from `first`."""
    g = Grammar(facts, seed)
    return [grown(caption(g), first + k) for k in range(number)]
