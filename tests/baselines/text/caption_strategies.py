"""Small captions for the tests of text kernels."""

from hypothesis import strategies as st

WORDS = ["a", "b", "c", "d"]
captions = st.lists(st.sampled_from(WORDS), max_size=6)
items = st.lists(st.lists(captions, min_size=1, max_size=3), min_size=1, max_size=4)
# Words that training never shows, too.
asked = st.lists(
    st.lists(st.lists(st.sampled_from([*WORDS[:2], "x", "y"]), max_size=5), min_size=1, max_size=2),
    min_size=1,
    max_size=2,
)
weights = st.sampled_from(["none", "idf", "sqrt-idf"])
