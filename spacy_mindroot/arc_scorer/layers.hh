// The loops of the scorer's layers on the host, besides matrix products: what follows the product of a maxout layer,
// the scores of arcs and labels, and sums of rows of a table. The callers check shapes.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "vectors.hh"

namespace mindroot::layers {

// Maxout, layer normalization, and a residual connection, of one batch. Rows are tokens.
struct MaxoutNorm {
    std::size_t rows = 0;
    int width = 0, pieces = 0;
    const float* products = nullptr;  // (rows, width, pieces): input times weights
    const float* bias = nullptr;      // (width, pieces)
    const float* gain = nullptr;      // (width)
    const float* shift = nullptr;     // (width)
    const float* residual = nullptr;  // (rows, width), added to the output; or null
    float* output = nullptr;          // (rows, width)
    // For training; null in prediction.
    std::int32_t* which = nullptr;    // (rows, width): the piece that is the largest, the first one if several are
    float* normalized = nullptr;      // (rows, width): before gain and shift
    float* scales = nullptr;          // (rows): one over the standard deviation
    // The gradients of `output`, of `products`, and of the weights; the last three are added to.
    const float* d_output = nullptr;
    float* d_products = nullptr;
    float* d_bias = nullptr;
    float* d_gain = nullptr;
    float* d_shift = nullptr;
};

// The sum of the lanes of a vector.
template <int LANES>
MINDROOT_INLINE float sum_of(const Floats<LANES>& lanes) {
    float parts[LANES];
    store(parts, lanes);
    for (int step = LANES / 2; step > 0; step /= 2)
        for (int i = 0; i < step; ++i) parts[i] += parts[i + step];
    return parts[0];
}

template <int LANES>
MINDROOT_INLINE float sum(const float* values, int size) {
    Floats<LANES> lanes{};
    int i = 0;
    for (; i + LANES <= size; i += LANES) lanes += load<Floats<LANES>>(values + i);
    float total = sum_of<LANES>(lanes);
    for (; i < size; ++i) total += values[i];
    return total;
}

template <int LANES>
MINDROOT_INLINE float dot(const float* a, const float* b, int size) {
    Floats<LANES> lanes{};
    int i = 0;
    for (; i + LANES <= size; i += LANES) lanes += load<Floats<LANES>>(a + i) * load<Floats<LANES>>(b + i);
    float total = sum_of<LANES>(lanes);
    for (; i < size; ++i) total += a[i] * b[i];
    return total;
}

// Writes the largest piece of each element, and, if WHICH, its number. PIECES is the number of pieces if it is a common
// one, so that the loop over them is unrolled; 0 otherwise.
template <int PIECES, bool WHICH>
MINDROOT_INLINE void largest_of_pieces(const MaxoutNorm& m, const float* products, float* best, std::int32_t* which) {
    const int pieces = PIECES ? PIECES : m.pieces;
    for (int o = 0; o < m.width; ++o) {
        float most = products[o * pieces] + m.bias[o * pieces];
        std::int32_t at = 0;
        for (int p = 1; p < pieces; ++p) {
            const float other = products[o * pieces + p] + m.bias[o * pieces + p];
            if constexpr (WHICH) at = other > most ? p : at;
            most = other > most ? other : most;
        }
        best[o] = most;
        if constexpr (WHICH) which[o] = at;
    }
}

template <bool WHICH>
MINDROOT_INLINE void largest_of_pieces(const MaxoutNorm& m, const float* products, float* best, std::int32_t* which) {
    if (m.pieces == 2) largest_of_pieces<2, WHICH>(m, products, best, which);
    else if (m.pieces == 3) largest_of_pieces<3, WHICH>(m, products, best, which);
    else largest_of_pieces<0, WHICH>(m, products, best, which);
}

template <int LANES>
MINDROOT_INLINE void maxout_norm(const MaxoutNorm& m) {
    std::vector<float> buffer(m.width);
    float* const best = buffer.data();
    const std::ptrdiff_t row_of_products = static_cast<std::ptrdiff_t>(m.width) * m.pieces;
    for (std::size_t row = 0; row < m.rows; ++row) {
        const float* const products = m.products + row * row_of_products;
        const std::ptrdiff_t at = row * m.width;
        if (m.which) largest_of_pieces<true>(m, products, best, m.which + at);
        else largest_of_pieces<false>(m, products, best, nullptr);
        const float mean = sum<LANES>(best, m.width) / m.width;
        for (int o = 0; o < m.width; ++o) best[o] -= mean;
        const float scale = 1 / std::sqrt(dot<LANES>(best, best, m.width) / m.width + 1e-8f);
        float* const output = m.output + at;
        if (m.normalized) {
            float* const normalized = m.normalized + at;
            for (int o = 0; o < m.width; ++o) normalized[o] = best[o] * scale;
            m.scales[row] = scale;
        }
        for (int o = 0; o < m.width; ++o) output[o] = best[o] * scale * m.gain[o] + m.shift[o];
        if (m.residual)
            for (int o = 0; o < m.width; ++o) output[o] += m.residual[at + o];
    }
}

template <int LANES>
MINDROOT_INLINE void backprop_maxout_norm(const MaxoutNorm& m) {
    std::vector<float> buffer(m.width);
    float* const d_best = buffer.data();
    const std::ptrdiff_t row_of_products = static_cast<std::ptrdiff_t>(m.width) * m.pieces;
    for (std::size_t row = 0; row < m.rows; ++row) {
        const std::ptrdiff_t at = row * m.width;
        const float* const d_output = m.d_output + at;
        const float* const normalized = m.normalized + at;
        const std::int32_t* const which = m.which + at;
        float* const d_products = m.d_products + row * row_of_products;
        for (int o = 0; o < m.width; ++o) {
            m.d_shift[o] += d_output[o];
            m.d_gain[o] += d_output[o] * normalized[o];
            d_best[o] = d_output[o] * m.gain[o];
        }
        const float mean = sum<LANES>(d_best, m.width) / m.width;
        const float along = dot<LANES>(d_best, normalized, m.width) / m.width;
        for (int o = 0; o < m.width; ++o) d_best[o] = (d_best[o] - mean - normalized[o] * along) * m.scales[row];
        for (std::ptrdiff_t k = 0; k < row_of_products; ++k) d_products[k] = 0;
        for (int o = 0; o < m.width; ++o) d_products[o * m.pieces + which[o]] = d_best[o];
        for (int o = 0; o < m.width; ++o) m.d_bias[o * m.pieces + which[o]] += d_best[o];
    }
}

// e to the power of x: 2 to the nearest integer, and a polynomial for the rest (the coefficients of Cephes). Right to a
// unit of the last place; 0 below -87.3. NaN stays.
template <int LANES>
MINDROOT_INLINE void exponentials(float* values, int size) {
    int i = 0;
#if MINDROOT_VECTORS
    using Ints = typename Vectors<float, LANES * 4>::Ints;
    for (; i + LANES <= size; i += LANES) {
        Floats<LANES> x = load<Floats<LANES>>(values + i);
        const Floats<LANES> low = Floats<LANES>{} - 87.3f, high = Floats<LANES>{} + 88.0f;
        const Ints vanishes = x < low;
        x = x > high ? high : x;
        x = vanishes ? low : x;
        // Adding this number rounds to an integer, which is then in the low bits.
        const Floats<LANES> shifted = x * 1.44269504088896341f + 12582912.0f;
        const Floats<LANES> n = shifted - 12582912.0f;
        const Floats<LANES> r = x - n * 0.693359375f - n * -2.12194440e-4f;
        Floats<LANES> p = r * 1.9875691500e-4f + 1.3981999507e-3f;
        p = p * r + 8.3334519073e-3f;
        p = p * r + 4.1665795894e-2f;
        p = p * r + 1.6666665459e-1f;
        p = p * r + 5.0000001201e-1f;
        p = p * r * r + r + 1.0f;
        Ints bits;
        std::memcpy(&bits, &shifted, sizeof bits);
        bits = (bits << 23) + (127 << 23);
        Floats<LANES> power;
        std::memcpy(&power, &bits, sizeof power);
        power *= p;
        store(values + i, vanishes ? Floats<LANES>{} : power);
    }
#endif
    for (; i < size; ++i) values[i] = values[i] < -87.3f ? 0.0f : std::exp(values[i]);
}

// Log-probabilities over each row of scores, which may be the same array. -inf stays; NaN makes a row NaN.
template <int LANES>
MINDROOT_INLINE void log_softmax(const float* scores, std::size_t rows, int size, float* output) {
    std::vector<float> buffer(size);
    float* const powers = buffer.data();
    for (std::size_t row = 0; row < rows; ++row, scores += size, output += size) {
        float most = scores[0];
        for (int i = 1; i < size; ++i) most = scores[i] > most ? scores[i] : most;
        for (int i = 0; i < size; ++i) powers[i] = scores[i] - most;
        exponentials<LANES>(powers, size);
        const float log = std::log(sum<LANES>(powers, size));
        for (int i = 0; i < size; ++i) output[i] = scores[i] - most - log;
    }
}

// Where the buckets of distances begin: `edges` in ascending order, the first one at least 1.
class Buckets {
public:
    // For heads on the right and on the left of the dependent, up to `longest` tokens away.
    Buckets(const std::int64_t* edges, int count, std::size_t longest) : right_(longest + 1), left_(longest + 1) {
        int bucket = 0;
        for (std::size_t distance = 0; distance <= longest; ++distance) {
            while (bucket < count && edges[bucket] <= static_cast<std::int64_t>(distance)) ++bucket;
            right_[distance] = bucket;
            left_[distance] = bucket + (distance ? count : 0);
        }
    }

    int of(std::size_t dependent, std::size_t head) const {
        return head > dependent ? right_[head - dependent] : left_[dependent - head];
    }

private:
    std::vector<int> right_, left_;
};

// Adds the scores by distance to the arc scores (T, T+1) of one sentence of n tokens, and makes -inf of those of arcs
// that do not exist: self arcs, and arcs from padding. `of_dependent` and `of_head` are (n, buckets).
inline void add_distances(float* scores, std::size_t n, std::size_t longest, const float* of_dependent,
                          const float* of_head, std::size_t buckets, const Buckets& bucket) {
    for (std::size_t i = 0; i < longest; ++i) {
        float* const row = scores + i * (longest + 1) + 1;
        const float* const own = of_dependent + i * buckets;
        for (std::size_t j = 0; i < n && j < n; ++j) {
            const int k = bucket.of(i, j);
            row[j] += own[k] + of_head[j * buckets + k];
        }
        row[i] = -INFINITY;
        for (std::size_t j = n; j < longest; ++j) row[j] = -INFINITY;
    }
}

// Some arcs of a sentence, and what their labels are scored with.
struct LabelledArcs {
    std::size_t size;
    const std::int64_t *dependents, *heads;  // (size): tokens from 0; heads, 0 = ROOT
    int labels, width;
    const float* queries;      // (tokens, labels, width + 1): the products of the dependents with the weights
    const float* vectors;      // (tokens, width): as heads
    const float* by_distance;  // (buckets, labels)
};

// Writes the scores of all labels, (size, labels + 1). Label 0 is ROOT's, which the arcs from ROOT have and no others.
template <int LANES>
MINDROOT_INLINE void label_scores(const LabelledArcs& arcs, const Buckets& bucket, float* row) {
    for (std::size_t arc = 0; arc < arcs.size; ++arc, row += arcs.labels + 1) {
        if (arcs.heads[arc] == 0) {
            row[0] = 0;
            for (int k = 1; k <= arcs.labels; ++k) row[k] = -INFINITY;
            continue;
        }
        row[0] = -INFINITY;
        const std::size_t dependent = arcs.dependents[arc], head = arcs.heads[arc] - 1;
        const float* const vector = arcs.vectors + head * arcs.width;
        const float* const distance = arcs.by_distance + bucket.of(dependent, head) * arcs.labels;
        const float* query = arcs.queries + dependent * arcs.labels * (arcs.width + 1);
        for (int k = 0; k < arcs.labels; ++k, query += arcs.width + 1)
            row[k + 1] = dot<LANES>(query, vector, arcs.width) + query[arcs.width] + distance[k];
    }
}

// The sum of some rows of a table for each word, divided by the square root of their number. `rows` holds those of all
// words, end to end; a word without any has zeros.
template <int LANES>
MINDROOT_INLINE void sum_rows(const float* table, int width, const std::int32_t* rows, const std::int32_t* counts,
                              std::size_t words, float* sums) {
    for (std::size_t word = 0; word < words; ++word, sums += width) {
        for (int i = 0; i < width; ++i) sums[i] = 0;
        for (std::int32_t k = 0; k < counts[word]; ++k) {
            const float* const row = table + static_cast<std::ptrdiff_t>(*rows++) * width;
            for (int i = 0; i < width; ++i) sums[i] += row[i];
        }
        const float scale = static_cast<float>(1 / std::sqrt(static_cast<double>(counts[word] ? counts[word] : 1)));
        for (int i = 0; i < width; ++i) sums[i] *= scale;
    }
}

// One update of some weights by Adam (Kingma and Ba 2015), in one pass. The gradient becomes 0.
struct AdamStep {
    std::size_t size = 0;
    float* weights = nullptr;
    float* gradient = nullptr;
    float* mean = nullptr;      // the running mean of the gradient
    float* square = nullptr;    // the running mean of its square
    float* average = nullptr;   // the running average of the weights; or null
    float beta1 = 0, beta2 = 0, epsilon = 0;
    float rate = 0;             // the learning rate, corrected for the bias of the means
    float decay = 0;            // how much of each weight is subtracted
    float toward = 0;           // how far the average moves to the weights
    float largest_norm = 0;     // gradients with a greater norm are scaled down to it; 0 for no limit
};

template <int LANES>
MINDROOT_INLINE void adam(const AdamStep& s) {
    float factor = 1;
    if (s.largest_norm > 0) {
        double squares = 0;  // of blocks: single precision within a block, double precision across blocks
        for (std::size_t at = 0; at < s.size; at += 4096) {
            const int size = static_cast<int>(s.size - at < 4096 ? s.size - at : 4096);
            squares += dot<LANES>(s.gradient + at, s.gradient + at, size);
        }
        const float norm = static_cast<float>(std::sqrt(squares));
        if (norm >= s.largest_norm) factor = s.largest_norm / norm;
    }
    float* __restrict const weights = s.weights;
    float* __restrict const gradient = s.gradient;
    float* __restrict const mean = s.mean;
    float* __restrict const square = s.square;
    float* __restrict const average = s.average;
    const float beta1 = s.beta1, beta2 = s.beta2, rest1 = 1 - beta1, rest2 = 1 - beta2, epsilon = s.epsilon;
    const float rate = s.rate, decay = s.decay, toward = s.toward;
    const auto update = [&](std::size_t i) {
        const float g = gradient[i] * factor;
        mean[i] = mean[i] * beta1 + g * rest1;
        square[i] = square[i] * beta2 + g * g * rest2;
        float w = weights[i] - rate * (mean[i] / (std::sqrt(square[i]) + epsilon));
        w -= decay * w;
        weights[i] = w;
        gradient[i] = 0;
    };
    if (average)
        for (std::size_t i = 0; i < s.size; ++i) {
            update(i);
            average[i] -= toward * (average[i] - weights[i]);
        }
    else
        for (std::size_t i = 0; i < s.size; ++i) update(i);
}

// The functions above with the widest vectors that the processor supports.
inline void run_maxout_norm(const MaxoutNorm& m) {
    with_vectors([&](auto bytes) MINDROOT_INLINED { maxout_norm<bytes / 4>(m); });
}

inline void run_backprop_maxout_norm(const MaxoutNorm& m) {
    with_vectors([&](auto bytes) MINDROOT_INLINED { backprop_maxout_norm<bytes / 4>(m); });
}

inline void run_log_softmax(const float* scores, std::size_t rows, int size, float* output) {
    with_vectors([&](auto bytes) MINDROOT_INLINED { log_softmax<bytes / 4>(scores, rows, size, output); });
}

inline void run_label_scores(const LabelledArcs& arcs, std::size_t tokens, const std::int64_t* edges, int count,
                             float* output) {
    const Buckets bucket(edges, count, tokens);
    with_vectors([&](auto bytes) MINDROOT_INLINED { label_scores<bytes / 4>(arcs, bucket, output); });
}

inline void run_adam(const AdamStep& s) {
    with_vectors([&](auto bytes) MINDROOT_INLINED { adam<bytes / 4>(s); });
}

inline void run_sum_rows(const float* table, int width, const std::int32_t* rows, const std::int32_t* counts,
                         std::size_t words, float* sums) {
    with_vectors([&](auto bytes) MINDROOT_INLINED { sum_rows<bytes / 4>(table, width, rows, counts, words, sums); });
}

// The arc scores (sentences, T, T+1) of one group. `starts` are the first rows of the sentences in the flat arrays.
inline void run_add_distances(float* scores, std::size_t sentences, std::size_t longest, const std::int64_t* starts,
                              const std::int64_t* lengths, const float* of_dependent, const float* of_head, int buckets,
                              const std::int64_t* edges, int count) {
    const Buckets bucket(edges, count, longest);
    for (std::size_t k = 0; k < sentences; ++k)
        add_distances(scores + k * longest * (longest + 1), lengths[k], longest, of_dependent + starts[k] * buckets,
                      of_head + starts[k] * buckets, buckets, bucket);
}

}  // namespace mindroot::layers
