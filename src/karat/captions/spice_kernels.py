"""The hot loops of SPICE, compiled by numba: which tuples match, and how many of a caption's do in an image.

A tuple is three numbers of words; 0 means no word. Two tuples match when their words do, one by one.
"""

from karat._util import njit

entry = njit(nogil=True, cache=True, error_model="numpy")


@entry
def find_code(codes, code):
    """Return the place of `code` in sorted `codes`, or −1."""
    low, high = 0, codes.size
    while low < high:
        middle = (low + high) // 2
        if codes[middle] < code:
            low = middle + 1
        else:
            high = middle
    return low if low < codes.size and codes[low] == code else -1


@entry
def match_tuples(tuples, codes, base, near_start, near, start, out, count):
    """Write to `out`, per tuple, every tuple that it matches; or, with `count`, fill `start` only.

    Parameters
    ----------
    tuples
        Words of each tuple, int64 [T, 3], in the order of `codes`.
    codes, base
        One sorted number per tuple: its words as digits of `base`.
    near_start, near
        Compressed rows: the words that each word matches, itself among them.
    start
        Where the matches of each tuple begin, int64 [T + 1].
    """
    for t in range(tuples.shape[0]):
        a, b, c = tuples[t, 0], tuples[t, 1], tuples[t, 2]
        found = start[t]
        for i in range(near_start[a], near_start[a + 1]):
            for j in range(near_start[b], near_start[b + 1]):
                high = (near[i] * base + near[j]) * base
                for k in range(near_start[c], near_start[c + 1]):
                    place = find_code(codes, high + near[k])
                    if place >= 0:
                        if not count:
                            out[found] = place
                        found += 1
        if count:
            start[t + 1] = found


@entry
def mark_image(image, left, first, ref_start, ref_tuples, start, matches, mark, stamp):
    """Stamp all tuples that an image's references match, and return how many tuples these have.

    A tuple that matches an earlier one of the same image is not counted again. `left` is the number of
    a reference that does not count, −1 for none.
    """
    size = 0
    for r in range(first[image], first[image + 1]):
        if r - first[image] == left:
            continue
        for k in range(ref_start[r], ref_start[r + 1]):
            t = ref_tuples[k]
            size += mark[t] != stamp
            for m in range(start[t], start[t + 1]):
                mark[matches[m]] = stamp
    return size


@entry
def f_score(caption, size, cap_start, cap_tuples, mark, stamp):
    """Return the F-score of a caption's tuples with the `size` tuples of the image that was stamped last."""
    own = cap_start[caption + 1] - cap_start[caption]
    if own + size == 0:
        return 0.0
    hits = 0
    for k in range(cap_start[caption], cap_start[caption + 1]):
        hits += mark[cap_tuples[k]] == stamp
    # Two synonyms of a caption may match one tuple of the image; recall is at most 1.
    return 2.0 * min(hits, size) / (own + size)


@entry
def score_block(begin, end, first, ref_start, ref_tuples, cap_start, cap_tuples, start, matches, mark, out):
    """Fill `out` with the scores of images begin to end with every caption."""
    for image in range(begin, end):
        stamp = image + 1
        size = mark_image(image, -1, first, ref_start, ref_tuples, start, matches, mark, stamp)
        for caption in range(cap_start.size - 1):
            out[image - begin, caption] = f_score(caption, size, cap_start, cap_tuples, mark, stamp)


@entry
def score_pairs(
    image, caption, left, first, ref_start, ref_tuples, cap_start, cap_tuples, start, matches, mark, out
):
    """Fill `out` with the scores of given pairs; quickest when pairs of one image follow each other."""
    stamp, size = 0, 0
    for p in range(image.size):
        if p == 0 or image[p] != image[p - 1] or left[p] != left[p - 1]:
            stamp += 1
            size = mark_image(image[p], left[p], first, ref_start, ref_tuples, start, matches, mark, stamp)
        out[p] = f_score(caption[p], size, cap_start, cap_tuples, mark, stamp)
