// The time loop of a bidirectional LSTM over texts of different lengths: everything of a step but the products with the
// input weights, which are one large product for all tokens and are left to the caller.
//
// Texts are processed together, the longest first, so that at each step those that have not ended are the first ones.
// Tokens stay where they are in the flat arrays; a step finds the row of each text's token.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "vectors.hh"

namespace mindroot::lstm {

// Arrays of one direction. Rows are tokens, `stride` apart; gates are in the order input, forget, output, cell.
struct Direction {
    const float* recurrent;  // (width, 4 width), contiguous
    float* gates;            // (tokens, 4 width): before the activation when `forward` begins, after it when it ends
    float* cells;            // (tokens, width)
    float* hidden;           // (tokens, width)
    const float* d_hidden;   // (tokens, width): the gradient of `hidden`, for `backward`
    float* d_gates;          // (tokens, 4 width): the gradient of the gates before the activation, from `backward`
    std::ptrdiff_t gate_stride, stride;
    bool reversed;           // whether a text is read from its last token to its first
};

// Where the texts lie, longest first.
class Texts {
public:
    Texts(const std::int64_t* lengths, std::size_t count)
        : lengths_(lengths, lengths + count), starts_(count), order_(count) {
        std::int64_t at = 0;
        for (std::size_t k = 0; k < count; ++k) {
            starts_[k] = at;
            at += lengths_[k];
        }
        std::iota(order_.begin(), order_.end(), std::size_t(0));
        std::stable_sort(order_.begin(), order_.end(),
                         [&](std::size_t a, std::size_t b) { return lengths_[a] > lengths_[b]; });
    }

    std::size_t count() const { return order_.size(); }
    std::int64_t longest() const { return order_.empty() ? 0 : lengths_[order_[0]]; }

    // The number of texts that have a token at this step.
    std::size_t active(std::int64_t step) const {
        std::size_t low = 0, high = order_.size();
        while (low < high) {
            const std::size_t middle = (low + high) / 2;
            if (lengths_[order_[middle]] > step) low = middle + 1;
            else high = middle;
        }
        return low;
    }

    std::int64_t row(std::size_t k, std::int64_t step, bool reversed) const {
        const std::size_t text = order_[k];
        return starts_[text] + (reversed ? lengths_[text] - 1 - step : step);
    }

private:
    std::vector<std::int64_t> lengths_, starts_;
    std::vector<std::size_t> order_;
};

// Calls body(i, load) for the elements 0 to size of a row: whole vectors first, then single elements.
template <int LANES, class Body>
MINDROOT_INLINE void for_elements(int size, const Body& body) {
    int i = 0;
    for (; i + LANES <= size; i += LANES) body(i, [](const float* from) { return load<Floats<LANES>>(from); });
    for (; i < size; ++i) body(i, [](const float* from) { return *from; });
}

// tanh by a rational function of degree 13 over 6 (the minimax coefficients of Eigen's ptanh), right to a few units of
// the last place; beyond 7.9 it is 1 in single precision.
template <class F>
MINDROOT_INLINE F tanh_of(F x) {
    const F limit = F{} + 7.90531110763549805f;
    x = x > limit ? limit : x;
    x = x < -limit ? -limit : x;
    const F y = x * x;
    F p = y * -2.76076847742355e-16f + 2.00018790482477e-13f;
    p = p * y + -8.60467152213735e-11f;
    p = p * y + 5.12229709037114e-08f;
    p = p * y + 1.48572235717979e-05f;
    p = p * y + 6.37261928875436e-04f;
    p = p * y + 4.89352455891786e-03f;
    F q = y * 1.19825839466702e-06f + 1.18534705686654e-04f;
    q = q * y + 2.26843463243900e-03f;
    q = q * y + 4.89352518554385e-03f;
    return x * p / q;
}

template <class F>
MINDROOT_INLINE F sigmoid_of(F x) {
    return tanh_of(x * 0.5f) * 0.5f + 0.5f;
}

// rows[m][0:VECTORS lanes] += sum over k of left[m][k] * right[k][0:VECTORS lanes], for ROWS rows at once.
template <int LANES, int ROWS, int VECTORS>
MINDROOT_INLINE void add_product(float* const* rows, const float* const* left, const float* right, int size,
                                      std::ptrdiff_t right_stride) {
    Floats<LANES> sums[ROWS][VECTORS];
    for (int m = 0; m < ROWS; ++m)
        for (int v = 0; v < VECTORS; ++v) sums[m][v] = load<Floats<LANES>>(rows[m] + v * LANES);
    for (int k = 0; k < size; ++k, right += right_stride) {
        Floats<LANES> columns[VECTORS];
        for (int v = 0; v < VECTORS; ++v) columns[v] = load<Floats<LANES>>(right + v * LANES);
        for (int m = 0; m < ROWS; ++m) {
            const float factor = left[m][k];
            for (int v = 0; v < VECTORS; ++v) sums[m][v] += columns[v] * factor;
        }
    }
    for (int m = 0; m < ROWS; ++m)
        for (int v = 0; v < VECTORS; ++v) store(rows[m] + v * LANES, sums[m][v]);
}

template <int LANES, int ROWS>
MINDROOT_INLINE void add_products_of(float* const* rows, const float* const* left, const float* right, int size,
                                          int columns) {
    constexpr int WIDE = ROWS == 1 ? 8 : ROWS <= 3 ? 4 : 2;  // so that there are about eight to twelve sums
    float* at[ROWS];
    int column = 0;
    const auto step = [&](auto block, int width) {
        for (; column + width <= columns; column += width) {
            for (int m = 0; m < ROWS; ++m) at[m] = rows[m] + column;
            block(right + column);
        }
    };
    step([&](const float* from) { add_product<LANES, ROWS, WIDE>(at, left, from, size, columns); }, WIDE * LANES);
    step([&](const float* from) { add_product<LANES, ROWS, 1>(at, left, from, size, columns); }, LANES);
    for (; column < columns; ++column)
        for (int m = 0; m < ROWS; ++m) {
            float sum = rows[m][column];
            for (int k = 0; k < size; ++k) sum += left[m][k] * right[static_cast<std::ptrdiff_t>(k) * columns + column];
            rows[m][column] = sum;
        }
}

// rows[m] += left[m] (1, size) times right (size, columns), for `count` rows.
template <int LANES>
MINDROOT_INLINE void add_products(float* const* rows, const float* const* left, std::size_t count,
                                       const float* right, int size, int columns) {
    std::size_t m = 0;
    for (; m + 6 <= count; m += 6) add_products_of<LANES, 6>(rows + m, left + m, right, size, columns);
    for (; m + 3 <= count; m += 3) add_products_of<LANES, 3>(rows + m, left + m, right, size, columns);
    for (; m < count; ++m) add_products_of<LANES, 1>(rows + m, left + m, right, size, columns);
}

template <int LANES>
MINDROOT_INLINE void forward(const Texts& texts, const Direction& d, int width) {
    std::vector<float*> gates(texts.count());
    std::vector<const float*> before(texts.count());
    for (std::int64_t step = 0; step < texts.longest(); ++step) {
        const std::size_t active = texts.active(step);
        for (std::size_t k = 0; k < active; ++k) {
            gates[k] = d.gates + texts.row(k, step, d.reversed) * d.gate_stride;
            if (step) before[k] = d.hidden + texts.row(k, step - 1, d.reversed) * d.stride;
        }
        if (step) add_products<LANES>(gates.data(), before.data(), active, d.recurrent, width, 4 * width);
        for (std::size_t k = 0; k < active; ++k) {
            const std::int64_t row = texts.row(k, step, d.reversed);
            float* const g = gates[k];
            float* const cell = d.cells + row * d.stride;
            float* const hidden = d.hidden + row * d.stride;
            const float* const last = step ? d.cells + texts.row(k, step - 1, d.reversed) * d.stride : nullptr;
            for_elements<LANES>(width, [&](int i, auto read) {
                const auto in = sigmoid_of(read(g + i)), forget = sigmoid_of(read(g + width + i));
                const auto out = sigmoid_of(read(g + 2 * width + i)), candidate = tanh_of(read(g + 3 * width + i));
                auto c = in * candidate;
                if (last) c += forget * read(last + i);
                store(g + i, in);
                store(g + width + i, forget);
                store(g + 2 * width + i, out);
                store(g + 3 * width + i, candidate);
                store(cell + i, c);
                store(hidden + i, out * tanh_of(c));
            });
        }
    }
}

// `transposed` is the recurrent matrix transposed, (4 width, width).
template <int LANES>
MINDROOT_INLINE void backward(const Texts& texts, const Direction& d, int width, const float* transposed) {
    // What later steps pass back to the cell and the hidden vector of each text.
    std::vector<float> d_cells(texts.count() * width, 0.0f), d_carried(texts.count() * width, 0.0f);
    std::vector<float*> carried(texts.count());
    std::vector<const float*> d_gates(texts.count());
    for (std::int64_t step = texts.longest() - 1; step >= 0; --step) {
        const std::size_t active = texts.active(step);
        for (std::size_t k = 0; k < active; ++k) {
            const std::int64_t row = texts.row(k, step, d.reversed);
            const float* const g = d.gates + row * d.gate_stride;
            const float* const cell = d.cells + row * d.stride;
            const float* const d_hidden = d.d_hidden + row * d.stride;
            const float* const last = step ? d.cells + texts.row(k, step - 1, d.reversed) * d.stride : nullptr;
            float* const to = d.d_gates + row * d.gate_stride;
            float* const d_cell = d_cells.data() + k * width;
            float* const from_later = carried[k] = d_carried.data() + k * width;
            for_elements<LANES>(width, [&](int i, auto read) {
                const auto in = read(g + i), forget = read(g + width + i), out = read(g + 2 * width + i);
                const auto candidate = read(g + 3 * width + i), squashed = tanh_of(read(cell + i));
                const auto d_h = read(d_hidden + i) + read(from_later + i);
                const auto d_c = read(d_cell + i) + d_h * out * (1 - squashed * squashed);
                store(to + i, d_c * candidate * in * (1 - in));
                auto d_forget = d_c * 0;
                if (last) d_forget = d_c * read(last + i) * forget * (1 - forget);
                store(to + width + i, d_forget);
                store(to + 2 * width + i, d_h * squashed * out * (1 - out));
                store(to + 3 * width + i, d_c * in * (1 - candidate * candidate));
                store(d_cell + i, d_c * forget);
                store(from_later + i, d_c * 0);
            });
            d_gates[k] = to;
        }
        if (step) add_products<LANES>(carried.data(), d_gates.data(), active, transposed, 4 * width, width);
    }
}

// Both directions of all texts. `width` is that of one direction.
inline void run_forward(const std::int64_t* lengths, std::size_t count, const Direction* directions, int width) {
    const Texts texts(lengths, count);
    with_vectors([&](auto bytes) MINDROOT_INLINED {
        for (int k = 0; k < 2; ++k) forward<bytes / 4>(texts, directions[k], width);
    });
}

inline void run_backward(const std::int64_t* lengths, std::size_t count, const Direction* directions, int width) {
    const Texts texts(lengths, count);
    std::vector<float> transposed(static_cast<std::size_t>(4) * width * width);
    with_vectors([&](auto bytes) MINDROOT_INLINED {
        for (int k = 0; k < 2; ++k) {
            for (int row = 0; row < width; ++row)
                for (int column = 0; column < 4 * width; ++column)
                    transposed[static_cast<std::size_t>(column) * width + row] =
                        directions[k].recurrent[static_cast<std::size_t>(row) * 4 * width + column];
            backward<bytes / 4>(texts, directions[k], width, transposed.data());
        }
    });
}

}  // namespace mindroot::lstm
