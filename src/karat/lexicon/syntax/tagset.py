"""The tags and relations that karat's parsers speak: Universal Dependencies for English."""

TAGS = (
    "ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON", "PROPN", "PUNCT",
    "SCONJ", "SYM", "VERB", "X",
)  # fmt: skip
"""Universal part-of-speech tags; `Parsed.tag` indexes them."""

XPOS = (
    "$", "''", ",", "-LRB-", "-RRB-", ".", ":", "ADD", "AFX", "CC", "CD", "DT", "EX", "FW", "GW", "HYPH",
    "IN", "JJ", "JJR", "JJS", "LS", "MD", "NFP", "NN", "NNP", "NNPS", "NNS", "PDT", "POS", "PRP", "PRP$",
    "RB", "RBR", "RBS", "RP", "SYM", "TO", "UH", "VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "WDT", "WP",
    "WP$", "WRB", "``",
)  # fmt: skip
"""Penn Treebank tags as the English Web Treebank uses them; `Parsed.xpos` indexes them."""

LABELS = (
    "root", "acl", "acl:relcl", "advcl", "advmod", "amod", "appos", "aux", "aux:pass", "case", "cc",
    "cc:preconj", "ccomp", "compound", "compound:prt", "conj", "cop", "csubj", "dep", "det", "det:predet",
    "discourse", "dislocated", "expl", "fixed", "flat", "goeswith", "iobj", "list", "mark", "nmod",
    "nmod:poss", "nsubj", "nsubj:pass", "nummod", "obj", "obl", "obl:agent", "orphan", "parataxis",
    "punct", "reparandum", "vocative", "xcomp",
)  # fmt: skip
"""Universal relations, with the subtypes that help in reading captions; `Parsed.label` indexes them."""
