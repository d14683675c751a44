# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# distutils: language = c++
"""Python's access to boundaries.hh, which runs without the GIL. The caller makes sure that the arrays fit together."""
from libc.stdint cimport int8_t, uint8_t, uint32_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.vector cimport vector

cdef extern from "boundaries.hh" namespace "mindroot" nogil:
    cdef cppclass Chunk:
        const uint32_t* characters
        const uint8_t* types
        const uint8_t* rules
        int n
        uint8_t next

    cdef cppclass BoundaryModel:
        float* weights
        uint32_t mask
        int labels
        cbool whole_clusters

    void find_boundaries(const Chunk&, const BoundaryModel&, int8_t*) except +
    void learn_boundaries(
        const vector[Chunk]&, const vector[const int8_t*]&, const BoundaryModel&, int, uint64_t
    ) except +


cdef Chunk _chunk(
    const uint32_t[::1] characters, const uint8_t[::1] types, const uint8_t[::1] rules, int start, int end, uint8_t next
) noexcept nogil:
    cdef Chunk chunk
    chunk.characters, chunk.types = &characters[start], &types[start]
    chunk.rules = &rules[start] if rules is not None else NULL
    chunk.n, chunk.next = end - start, next
    return chunk


cdef BoundaryModel _model(float[:, ::1] weights, bint whole_clusters) noexcept nogil:
    cdef BoundaryModel model
    model.weights, model.mask = &weights[0, 0], <uint32_t>(weights.shape[0] - 1)
    model.labels, model.whole_clusters = <int>weights.shape[1], whole_clusters
    return model


def find(
    const uint32_t[::1] characters, const uint8_t[::1] types, const uint8_t[::1] rules, uint8_t next,
    float[:, ::1] weights, bint whole_clusters, int8_t[::1] found,
):
    """Write the label of the place after each character of a chunk to `found`.

    Parameters
    ----------
    characters : ndarray of uint32, (n,)
        Code points. Neither the first nor the last is a space, and there are no two in a row.
    types : ndarray of uint8, (n,)
        See `characters.TYPES`.
    rules : ndarray of uint8, (n,), or None
        Whether a token ends after each character by rules.
    next : int
        The type of the first character after the chunk and white space; 0 if there is none.
    weights : ndarray of float32, (features, labels)
        The number of features is a power of 2.
    whole_clusters : bool
        Whether no boundary may divide a grapheme cluster.
    found : ndarray of int8, (n,)
    """
    cdef BoundaryModel model = _model(weights, whole_clusters)
    cdef Chunk chunk = _chunk(characters, types, rules, 0, <int>characters.shape[0], next)
    with nogil:
        find_boundaries(chunk, model, &found[0])


def learn(
    const uint32_t[::1] characters, const uint8_t[::1] types, const uint8_t[::1] rules, const int[::1] starts,
    const uint8_t[::1] nexts, const int8_t[::1] gold, float[:, ::1] weights, bint whole_clusters, int epochs,
    uint64_t seed,
):
    """Learn weights, which must be 0, from m chunks in a row: chunk k has the characters from starts[k] to starts[k+1].

    The other arguments are those of `find`, with one `next` for each chunk and the right labels in `gold`. The same
    seed gives the same weights.
    """
    cdef BoundaryModel model = _model(weights, whole_clusters)
    cdef vector[Chunk] chunks
    cdef vector[const int8_t*] labels
    cdef Py_ssize_t k
    for k in range(nexts.shape[0]):
        chunks.push_back(_chunk(characters, types, rules, starts[k], starts[k + 1], nexts[k]))
        labels.push_back(&gold[starts[k]])
    with nogil:
        learn_boundaries(chunks, labels, model, epochs, seed)
