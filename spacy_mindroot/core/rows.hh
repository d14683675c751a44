// Loops over one row of arc scores: the best head of a dependent, and the meld of two rows.
// Everything that has to be fast is here; what the rows mean is left to arborescence.hh.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

// GCC and Clang on x86-64 with glibc compile a function once per instruction set and pick one when the
// library is loaded. Elsewhere, and with older ones that do not know these names, there is one version, for the compiler's
// default target.
#if defined(__clang__)
#define MINDROOT_CAN_DISPATCH (__clang_major__ >= 18)
#elif defined(__GNUC__)
#define MINDROOT_CAN_DISPATCH (__GNUC__ >= 12)
#else
#define MINDROOT_CAN_DISPATCH 0
#endif
#if defined(__x86_64__) && defined(__GLIBC__) && MINDROOT_CAN_DISPATCH
#define MINDROOT_DISPATCH __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define MINDROOT_DISPATCH
#endif

// Inlined into each version of a dispatched function, so that it is compiled for that instruction set.
#if defined(__GNUC__)
#define MINDROOT_INLINE __attribute__((always_inline)) inline
#else
#define MINDROOT_INLINE inline
#endif

namespace mindroot {

constexpr int NONE = -1;
constexpr double FORBIDDEN = -std::numeric_limits<double>::infinity();

// The best entry of a row. `column` is NONE if every entry is -inf (or the row is empty).
template <class T>
struct Best {
    T score = -std::numeric_limits<T>::infinity();
    int column = NONE;
    bool invalid = false;  // the row holds a NaN or +inf
};

// Best entry of row[first:last], without column `skip`. Ties go to the lowest column, whatever the vector width.
template <class T>
MINDROOT_INLINE Best<T> best_scalar(const T* row, std::ptrdiff_t stride, int first, int last, int skip) {
    Best<T> best;
    for (int u = first; u < last; ++u) {
        if (u == skip) continue;
        const T score = row[u * stride];
        if (score > best.score) {
            best.score = score;
            best.column = u;
        }
        if (!(score <= std::numeric_limits<T>::max())) best.invalid = true;
    }
    return best;
}

#if defined(__GNUC__)

// One accumulator per lane; a lane keeps its first maximum, and the lowest column among equal lanes wins at the end.
template <class T>
MINDROOT_INLINE Best<T> best_contiguous(const T* row, int first, int last, int skip) {
    using Int = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
    constexpr int LANES = 32 / sizeof(T);
    typedef T Scores __attribute__((vector_size(32)));
    typedef Int Columns __attribute__((vector_size(32)));
    constexpr T inf = std::numeric_limits<T>::infinity();

    Scores best = Scores{} - inf;
    Columns where = Columns{} + Int(last), column, invalid = {};
    for (int lane = 0; lane < LANES; ++lane) column[lane] = first + lane;
    auto take = [&](const Scores& scores) {
        const Columns counted = column != Int(skip);
        const Columns better = (scores > best) & counted;
        best = better ? scores : best;
        where = better ? column : where;
        invalid |= ~(scores < inf) & counted;
    };
    int u = first;
    for (; u + LANES <= last; u += LANES) {
        Scores scores;
        std::memcpy(&scores, row + u, sizeof scores);
        take(scores);
        column += LANES;
    }
    if (u < last) {
        Scores scores = Scores{} - inf;
        std::memcpy(&scores, row + u, (last - u) * sizeof(T));
        take(scores);
    }

    Best<T> result;
    Int lowest = last, any_invalid = 0;
    for (int lane = 0; lane < LANES; ++lane) {
        any_invalid |= invalid[lane];
        if (best[lane] > result.score || (best[lane] == result.score && where[lane] < lowest)) {
            result.score = best[lane];
            lowest = where[lane];
        }
    }
    result.column = lowest < last ? static_cast<int>(lowest) : NONE;
    result.invalid = any_invalid != 0;
    return result;
}

#else

template <class T>
inline Best<T> best_contiguous(const T* row, int first, int last, int skip) {
    return best_scalar(row, 1, first, last, skip);
}

#endif

// Best entry of row[first:last] of the working copy.
MINDROOT_DISPATCH inline Best<double> best_entry(const double* row, int first, int last) {
    return best_contiguous(row, first, last, NONE);
}

// row[u] -= best, and every entry enters at `site`: the first member of a contracted node.
MINDROOT_DISPATCH inline void start_meld(double* row, double best, int size) {
    for (int u = 0; u < size; ++u) row[u] -= best;
}

// row[u] = max(row[u], other[u] - best), keeping beside it the token where the better arc enters.
MINDROOT_DISPATCH inline void meld_token(double* __restrict row, std::int32_t* __restrict site,
                                         const double* __restrict other, std::int32_t token, double best, int size) {
    for (int u = 0; u < size; ++u) {
        const double entering = other[u] - best;
        const bool better = entering > row[u];
        row[u] = better ? entering : row[u];
        site[u] = better ? token : site[u];
    }
}

// The same for a member that is itself a contracted node, whose entries enter at different tokens.
MINDROOT_DISPATCH inline void meld_node(double* __restrict row, std::int32_t* __restrict site,
                                        const double* __restrict other, const std::int32_t* __restrict other_site,
                                        double best, int size) {
    for (int u = 0; u < size; ++u) {
        const double entering = other[u] - best;
        const bool better = entering > row[u];
        row[u] = better ? entering : row[u];
        site[u] = better ? other_site[u] : site[u];
    }
}

}  // namespace mindroot
