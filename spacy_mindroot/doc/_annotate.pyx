# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# distutils: language = c++
"""Loops over the tokens of a Doc, for `annotate` and `reading`. They know head offsets, hashes and sentence starts.

Reads and writes plain arrays and needs no headers of spaCy's, so that one wheel serves every spaCy 3.8.
"""
from libc.stdint cimport int32_t, int64_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.vector cimport vector

cdef extern from "decode.hh" namespace "mindroot" nogil:
    cbool _is_tree "mindroot::is_tree"(const int32_t*, int, int*)
    int _count_roots "mindroot::count_roots"(const int32_t*, int)


def relative_heads(
    const int32_t[::1] heads, list lengths, int64_t[::1] offsets, int64_t[::1] starts
):
    """Write heads as spaCy keeps them: as the distance from each token to its head, 0 for a root.

    `heads` holds the heads of all sentences end to end. `starts` gets 1 for the first token of each sentence and -1 for
    the others. Returns the first sentence whose heads are not a tree with one root, and stops there; -1 if there is
    none.
    """
    cdef vector[int] above
    cdef Py_ssize_t k = 0, at = 0
    cdef int n, i
    above.resize(heads.shape[0] + 1)
    for n in lengths:
        if n > 0 and (not _is_tree(&heads[at], n, above.data()) or _count_roots(&heads[at], n) != 1):
            return k
        for i in range(n):
            offsets[at + i] = heads[at + i] - 1 - i if heads[at + i] else 0
            starts[at + i] = -1 if i else 1
        at += n
        k += 1
    return -1


def fill_labels(
    uint64_t[::1] labels, const int64_t[::1] offsets, const uint64_t[::1] better, uint64_t root, uint64_t fallback
):
    """Fill in the label of each arc, in place.

    It is `root` where the offset is 0; elsewhere the one in `better` if that is given and not 0, else the label that is
    there, else `fallback`.
    """
    cdef Py_ssize_t i
    for i in range(labels.shape[0]):
        if offsets[i] == 0:
            labels[i] = root
        elif better is not None and better[i] != 0:
            labels[i] = better[i]
        elif labels[i] == 0:
            labels[i] = fallback


def boundaries_agree(const uint64_t[::1] starts, list lengths):
    """Whether sentences start exactly where these lengths say. None if nothing is known beyond the first token.

    `starts` is as in spaCy: 1 for a start, 0 for unknown. The lengths add up to its length.
    """
    cdef Py_ssize_t token = 0, i, n
    cdef bint any_set = False, agree = True
    for n in lengths:
        for i in range(n):
            if token + i > 0:
                any_set |= starts[token + i] != 0
                agree &= (starts[token + i] == 1) == (i == 0)
        token += n
    return agree if any_set else None


def drop_keys(dict data, frozenset names):
    """Remove the values of these extension attributes from `doc.user_data`, whichever token or span they belong to."""
    cdef list stale = []
    cdef tuple key
    for any_key in data:
        if type(any_key) is tuple:
            key = <tuple>any_key
            if len(key) == 4 and key[1] in names and key[0] == "._.":
                stale.append(key)
    for any_key in stale:
        del data[any_key]


def write_values(dict data, str name, list places, Py_ssize_t start, list values):
    """Set an extension attribute of consecutive tokens, from token `start` on, in `doc.user_data`, unless it is None.

    `places` holds a list for each token of the Doc, which begins with its offset in the text.
    """
    cdef Py_ssize_t i
    for i in range(len(values)):
        if values[i] is not None:
            data[("._.", name, (<list>places[start + i])[0], None)] = values[i]
