# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# distutils: language = c++
"""Loops of the layers on the host, without the GIL; see layers.hh and ngrams.hh. The caller checks shapes."""
from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy
from libcpp.vector cimport vector

cdef extern from "layers.hh" namespace "mindroot::layers" nogil:
    cdef cppclass MaxoutNorm:
        size_t rows
        int width, pieces
        const float* products
        const float* bias
        const float* gain
        const float* shift
        const float* residual
        float* output
        int32_t* which
        float* normalized
        float* scales
        const float* d_output
        float* d_products
        float* d_bias
        float* d_gain
        float* d_shift

    cdef cppclass LabelledArcs:
        size_t size
        const int64_t* dependents
        const int64_t* heads
        int labels, width
        const float* queries
        const float* vectors
        const float* by_distance

    cdef cppclass AdamStep:
        size_t size
        float* weights
        float* gradient
        float* mean
        float* square
        float* average
        float beta1, beta2, epsilon, rate, decay, toward, largest_norm

    void run_adam(const AdamStep&)
    void run_maxout_norm(const MaxoutNorm&) except +
    void run_backprop_maxout_norm(const MaxoutNorm&) except +
    void run_log_softmax(const float*, size_t, int, float*) except +
    void run_label_scores(const LabelledArcs&, size_t, const int64_t*, int, float*) except +
    void run_sum_rows(const float*, int, const int32_t*, const int32_t*, size_t, float*) except +
    void run_add_distances(
        float*, size_t, size_t, const int64_t*, const int64_t*, const float*, const float*, int, const int64_t*, int
    ) except +

cdef extern from "ngrams.hh" namespace "mindroot::ngrams" nogil:
    cdef cppclass Symbols:
        void add(const char*, size_t, uint64_t) except +
    int32_t append_rows(
        const Symbols&, const char*, size_t, uint64_t, size_t, size_t, vector[size_t]&, vector[int32_t]&
    ) except +

cdef Symbols _symbols


def set_symbols(numbers):
    """Set the strings that spaCy numbers instead of hashing them: {string: number}."""
    cdef bytes text
    for string, number in numbers.items():
        text = string.encode("utf8")
        _symbols.add(text, len(text), <uint64_t>number)


def ngram_rows(words, uint64_t rows, size_t shortest, size_t longest):
    """Return the rows of the n-grams of all words, end to end, and their number for each word, as bytes of int32."""
    cdef vector[int32_t] found, counts
    cdef vector[size_t] starts
    cdef bytes word
    for text in words:
        word = text.encode("utf8")
        counts.push_back(append_rows(_symbols, word, len(word), rows, shortest, longest, starts, found))
    return (
        (<const char*>found.data())[: found.size() * sizeof(int32_t)] if found.size() else b"",
        (<const char*>counts.data())[: counts.size() * sizeof(int32_t)] if counts.size() else b"",
    )


def sum_rows(const float[:, ::1] table, const int32_t[::1] rows, const int32_t[::1] counts, float[:, ::1] sums):
    """Write the sum of some rows of a table for each word, divided by the square root of their number."""
    if counts.shape[0] == 0 or table.shape[1] == 0:
        return
    cdef const int32_t* first = &rows[0] if rows.shape[0] else NULL
    with nogil:
        run_sum_rows(&table[0, 0], <int>table.shape[1], first, &counts[0], counts.shape[0], &sums[0, 0])


def maxout_norm(
    const float[:, ::1] products, const float[:, ::1] bias, const float[::1] gain, const float[::1] shift,
    residual, float[:, ::1] output, which, normalized, scales
):
    """Write the output of maxout, layer normalization and, if `residual` is not None, a residual connection.

    products: Input times weights, (N, width * pieces). bias: (width, pieces). The last three, for training, are written
    if they are not None: the chosen pieces, (N, width), int32; the normalized vectors, (N, width); and one over their
    standard deviations, (N,).
    """
    cdef MaxoutNorm m
    cdef const float[:, ::1] residual_view
    cdef float[:, ::1] normalized_view
    cdef float[::1] scales_view
    cdef int32_t[:, ::1] which_view
    if products.shape[0] == 0:
        return
    m.rows, m.width, m.pieces = products.shape[0], <int>bias.shape[0], <int>bias.shape[1]
    m.products, m.bias, m.gain, m.shift = &products[0, 0], &bias[0, 0], &gain[0], &shift[0]
    m.output = &output[0, 0]
    if residual is not None:
        residual_view = residual
        m.residual = &residual_view[0, 0]
    if which is not None:
        which_view, normalized_view, scales_view = which, normalized, scales
        m.which, m.normalized, m.scales = &which_view[0, 0], &normalized_view[0, 0], &scales_view[0]
    with nogil:
        run_maxout_norm(m)


def backprop_maxout_norm(
    const float[:, ::1] d_output, const float[::1] gain, int32_t[:, ::1] which, float[:, ::1] normalized,
    float[::1] scales, float[:, ::1] d_products, float[:, ::1] d_bias, float[::1] d_gain, float[::1] d_shift
):
    """Write the gradient of the products, (N, width * pieces), and add to those of bias, gain and shift."""
    cdef MaxoutNorm m
    if d_output.shape[0] == 0:
        return
    m.rows, m.width, m.pieces = d_output.shape[0], <int>d_bias.shape[0], <int>d_bias.shape[1]
    m.gain, m.which, m.normalized, m.scales = &gain[0], &which[0, 0], &normalized[0, 0], &scales[0]
    m.d_output, m.d_products = &d_output[0, 0], &d_products[0, 0]
    m.d_bias, m.d_gain, m.d_shift = &d_bias[0, 0], &d_gain[0], &d_shift[0]
    with nogil:
        run_backprop_maxout_norm(m)


def log_softmax(const float[:, ::1] scores, float[:, ::1] output):
    """Write log-probabilities over each row; the output may be the scores themselves."""
    if scores.shape[0] == 0 or scores.shape[1] == 0:
        return
    with nogil:
        run_log_softmax(&scores[0, 0], scores.shape[0], <int>scores.shape[1], &output[0, 0])


def add_distances(
    float[:, :, ::1] scores, const int64_t[::1] starts, const int64_t[::1] lengths, const float[:, ::1] of_dependent,
    const float[:, ::1] of_head, const int64_t[::1] edges
):
    """Add the scores by distance to the arc scores (B, T, T+1) of a group, -inf for arcs that do not exist.

    starts and lengths, (B,): The first row and the number of tokens of each sentence. of_dependent and of_head: The
    scores of each token in each bucket, (N, buckets). edges: Where the buckets begin.
    """
    if scores.shape[0] == 0 or scores.shape[1] == 0:
        return
    with nogil:
        run_add_distances(
            &scores[0, 0, 0], scores.shape[0], scores.shape[1], &starts[0], &lengths[0], &of_dependent[0, 0],
            &of_head[0, 0], <int>of_head.shape[1], &edges[0], <int>edges.shape[0]
        )


def label_scores(
    const int64_t[::1] dependents, const int64_t[::1] heads, const float[:, :, ::1] queries,
    const float[:, ::1] vectors, const float[:, ::1] by_distance, const int64_t[::1] edges, float[:, ::1] output
):
    """Write the scores (arcs, labels + 1) of all labels on some arcs of a sentence. See LabelledArcs in layers.hh."""
    cdef LabelledArcs arcs
    if heads.shape[0] == 0:
        return
    arcs.size, arcs.dependents, arcs.heads = heads.shape[0], &dependents[0], &heads[0]
    arcs.labels, arcs.width = <int>by_distance.shape[1], <int>vectors.shape[1]
    arcs.queries, arcs.vectors, arcs.by_distance = &queries[0, 0, 0], &vectors[0, 0], &by_distance[0, 0]
    with nogil:
        run_label_scores(arcs, vectors.shape[0], &edges[0], <int>edges.shape[0], &output[0, 0])


def adam(
    float[::1] weights, float[::1] gradient, float[::1] mean, float[::1] square, average, float beta1, float beta2,
    float epsilon, float rate, float decay, float toward, float largest_norm
):
    """Update weights, running means and, if it is not None, the average of the weights; and clear the gradient.
    See AdamStep in layers.hh.
    """
    cdef AdamStep step
    cdef float[::1] average_view
    if weights.shape[0] == 0:
        return
    step.size = weights.shape[0]
    step.weights, step.gradient, step.mean, step.square = &weights[0], &gradient[0], &mean[0], &square[0]
    if average is not None:
        average_view = average
        step.average = &average_view[0]
    step.beta1, step.beta2, step.epsilon = beta1, beta2, epsilon
    step.rate, step.decay, step.toward, step.largest_norm = rate, decay, toward, largest_norm
    with nogil:
        run_adam(step)
