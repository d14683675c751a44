// Loops over one row of arc scores: the best head of a dependent, and the meld of two rows.
// Everything that has to be fast is here; what the rows mean is left to arborescence.hh.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

// GCC and Clang have vector types that compile for any instruction set. Elsewhere the loops are plain ones.
#if defined(__clang__) || (defined(__GNUC__) && __GNUC__ >= 12)
#define MINDROOT_VECTORS 1
#pragma GCC diagnostic ignored "-Wpsabi"  // vectors are handed over between inlined functions only
#else
#define MINDROOT_VECTORS 0
#endif

// On x86-64 with glibc they also compile a function once per instruction set and pick one when the library is loaded.
#if MINDROOT_VECTORS && defined(__x86_64__) && defined(__GLIBC__) && (!defined(__clang__) || __clang_major__ >= 18)
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
constexpr double DEAD = std::numeric_limits<double>::quiet_NaN();  // an arc within a contracted node: never the better one

// The best entry of a row. `column` is NONE if every entry is -inf or dead, or the row is empty.
template <class T>
struct Best {
    T score = -std::numeric_limits<T>::infinity();
    int column = NONE;
};

// The best of `size` entries without entry `skip`, and of equal ones the first. NaN is never the best.
template <class T>
MINDROOT_INLINE Best<T> best_scalar(const T* row, std::ptrdiff_t stride, int size, int skip = NONE) {
    Best<T> best;
    for (int u = 0; u < size; ++u)
        if (u != skip && row[u * stride] > best.score) best = {row[u * stride], u};
    return best;
}

#if MINDROOT_VECTORS

// A vector of scores, and one of columns beside it.
template <class T, int BYTES>
struct Vectors {
    using Int = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
    static constexpr int LANES = BYTES / sizeof(T);
    typedef T Scores __attribute__((vector_size(BYTES)));
    typedef Int Columns __attribute__((vector_size(BYTES)));

    // first, first + 1, ...
    static MINDROOT_INLINE Columns columns_from(int first) {
        Columns columns = {};
        for (int lane = 0; lane < LANES; ++lane) columns[lane] = lane;
        return columns + Int(first);
    }
};

template <class Vector, class T>
MINDROOT_INLINE Vector load(const T* from) {
    Vector vector;
    std::memcpy(&vector, from, sizeof vector);
    return vector;
}

template <class Vector, class T>
MINDROOT_INLINE void store(T* to, const Vector& vector) {
    std::memcpy(to, &vector, sizeof vector);
}

template <int BY, class Vector, int... LANE>
MINDROOT_INLINE Vector rotated(const Vector& v, std::integer_sequence<int, LANE...>) {
    return __builtin_shufflevector(v, v, ((LANE + BY) % static_cast<int>(sizeof...(LANE)))...);
}

// The greatest lane, or the least, in every lane.
template <int LANES, bool GREATEST, int BY = LANES / 2, class Vector>
MINDROOT_INLINE Vector extreme(const Vector& v) {
    if constexpr (BY == 0) {
        return v;
    } else {
        const Vector other = rotated<BY>(v, std::make_integer_sequence<int, LANES>());
        return extreme<LANES, GREATEST, BY / 2>(GREATEST ? (v > other ? v : other) : (v < other ? v : other));
    }
}

// The best of the entries taken so far. Each lane keeps its first; the lowest column among equal lanes is the best.
template <class T, int BYTES>
struct BestLanes {
    using V = Vectors<T, BYTES>;
    typename V::Scores score = typename V::Scores{} - std::numeric_limits<T>::infinity();
    typename V::Columns column = typename V::Columns{} + std::numeric_limits<typename V::Int>::max();

    MINDROOT_INLINE void take(const typename V::Scores& scores, const typename V::Columns& columns) {
        const typename V::Columns better = scores > score;
        score = better ? scores : score;
        column = better ? columns : column;
    }

    MINDROOT_INLINE Best<T> best() const {
        constexpr auto none = std::numeric_limits<typename V::Int>::max();
        const typename V::Scores greatest = extreme<V::LANES, true>(score);
        const typename V::Columns columns = score == greatest ? column : typename V::Columns{} + none;
        const auto lowest = extreme<V::LANES, false>(columns)[0];
        return {greatest[0], lowest == none ? NONE : static_cast<int>(lowest)};
    }
};

// The best of `size` entries, at least a vector of them; without entry `skip` if SKIP. Adds them all to `sum`, some of
// them twice: the sum is neither finite nor -inf if an entry is not.
template <bool SKIP, class T, int BYTES>
MINDROOT_INLINE Best<T> best_vectorised(const T* row, int size, int skip, typename Vectors<T, BYTES>::Scores& sum) {
    using V = Vectors<T, BYTES>;
    BestLanes<T, BYTES> lanes;
    auto take = [&](int u, const typename V::Columns& columns) {
        typename V::Scores scores = load<typename V::Scores>(row + u);
        if constexpr (SKIP)
            scores = columns == typename V::Int(skip) ? typename V::Scores{} - std::numeric_limits<T>::infinity() : scores;
        lanes.take(scores, columns);
        sum += scores;
    };
    typename V::Columns columns = V::columns_from(0);
    int u = 0;
    for (; u + V::LANES <= size; u += V::LANES, columns += V::LANES) take(u, columns);
    if (u < size) take(size - V::LANES, V::columns_from(size - V::LANES));
    return lanes.best();
}

template <class T, int BYTES>
MINDROOT_INLINE Best<T> best_in_vectors(const T* row, int size, int skip, typename Vectors<T, BYTES>::Scores& sum) {
    const Best<T> best = best_vectorised<false, T, BYTES>(row, size, skip, sum);
    if (best.column != skip) return best;  // the skipped entry is rarely the best: only then the row is read again
    return best_vectorised<true, T, BYTES>(row, size, skip, sum);
}

template <class T>
MINDROOT_INLINE Best<T> best_entry(const T* row, int size, int skip) {
    typename Vectors<T, 64>::Scores ignored = {};
    if (size < Vectors<T, 64>::LANES) return best_scalar(row, 1, size, skip);
    return best_in_vectors<T, 64>(row, size, skip, ignored);
}

// The best head of each row, without the self arcs. False if that can't be vouched for: a row has no head, an
// entry is NaN or +inf (perhaps that of a self arc), or the scores are so large that their sum is.
template <bool SKIP, int BYTES, class T>
MINDROOT_INLINE bool best_heads(const T* scores, std::ptrdiff_t stride, int n, std::int32_t* heads) {
    typename Vectors<T, BYTES>::Scores sum = {};
    int lowest = 0;
    for (int dependent = 0; dependent < n; ++dependent) {
        const T* row = scores + dependent * stride;
        heads[dependent] = SKIP ? best_vectorised<true, T, BYTES>(row, n + 1, dependent + 1, sum).column
                                : best_in_vectors<T, BYTES>(row, n + 1, dependent + 1, sum).column;
        lowest = heads[dependent] < lowest ? heads[dependent] : lowest;
    }
    T total = 0;
    for (int lane = 0; lane < Vectors<T, BYTES>::LANES; ++lane) total += sum[lane];
    return lowest != NONE && total < std::numeric_limits<T>::infinity();
}

template <class T>
MINDROOT_INLINE bool best_heads(const T* scores, std::ptrdiff_t stride, int n, std::int32_t* heads) {
    if (n + 1 >= Vectors<T, 64>::LANES)
        return best_heads<false, 64>(scores, stride, n, heads) || best_heads<true, 64>(scores, stride, n, heads);
    if (n + 1 >= Vectors<T, 32>::LANES) return best_heads<true, 32>(scores, stride, n, heads);
    return false;
}

#else

template <class T>
inline Best<T> best_entry(const T* row, int size, int skip) {
    return best_scalar(row, 1, size, skip);
}

template <class T>
inline bool best_heads(const T*, std::ptrdiff_t, int, std::int32_t*) {
    return false;
}

#endif

// row[u] = max(row[u] - row_best, other[u] - other_best), keeping in `sites` the token at which the better arc enters, the
// row's own if they are equal. What is dead stays so. Returns the best entry afterwards.
template <class T, bool CONTRACTED>
MINDROOT_INLINE Best<double> meld_rows(double* __restrict row, std::int64_t* __restrict sites, double row_best, int size,
                                       const T* __restrict other, const std::int64_t* __restrict other_sites,
                                       std::int64_t other_token, double other_best) {
#if MINDROOT_VECTORS
    using V = Vectors<double, 64>;
    if (size >= V::LANES) {
        using Given = typename Vectors<T, sizeof(T) * V::LANES>::Scores;
        struct Melded {
            V::Scores scores;
            V::Columns sites;
        };
        auto melded = [&](int u) -> Melded {
            const V::Scores own = load<V::Scores>(row + u) - row_best;
            const V::Scores entering = __builtin_convertvector(load<Given>(other + u), V::Scores) - other_best;
            const V::Columns better = entering > own;
            V::Columns enters = V::Columns{} + other_token;
            if constexpr (CONTRACTED) enters = load<V::Columns>(other_sites + u);
            return {better ? entering : own, better ? enters : load<V::Columns>(sites + u)};
        };
        BestLanes<double, 64> lanes;
        auto take = [&](const Melded& melded, int u, const V::Columns& columns) {
            store(row + u, melded.scores);
            store(sites + u, melded.sites);
            lanes.take(melded.scores, columns);
        };
        const int end = size - V::LANES;
        const Melded last = melded(end);  // it overlaps the one before, so it is read before that is written
        V::Columns columns = V::columns_from(0);
        for (int u = 0; u < end; u += V::LANES, columns += V::LANES) take(melded(u), u, columns);
        take(last, end, V::columns_from(end));
        return lanes.best();
    }
#endif
    for (int u = 0; u < size; ++u) {
        const double own = row[u] - row_best, entering = other[u] - other_best;
        const bool better = entering > own;
        row[u] = better ? entering : own;
        if (better) sites[u] = CONTRACTED ? other_sites[u] : other_token;
    }
    return best_scalar(row, 1, size);
}

// The functions that are compiled once per instruction set. Templates can't be.

// Is a number of row[0:size] greater than `bound` in absolute value, but finite?
MINDROOT_DISPATCH inline bool any_beyond(const double* row, int size, double bound) {
    int beyond = 0;
    for (int u = 0; u < size; ++u)
        beyond |= (row[u] > bound || row[u] < -bound) && row[u] - row[u] == 0;
    return beyond != 0;
}

MINDROOT_DISPATCH inline bool find_best_heads(const float* scores, std::ptrdiff_t stride, int n, std::int32_t* heads) {
    return best_heads(scores, stride, n, heads);
}
MINDROOT_DISPATCH inline bool find_best_heads(const double* scores, std::ptrdiff_t stride, int n, std::int32_t* heads) {
    return best_heads(scores, stride, n, heads);
}

// The best of row[0:size] without row[skip], and of equal ones the first.
MINDROOT_DISPATCH inline Best<float> find_best(const float* row, int size, int skip) { return best_entry(row, size, skip); }
MINDROOT_DISPATCH inline Best<double> find_best(const double* row, int size, int skip) { return best_entry(row, size, skip); }

// See meld_rows: the row of a token is melded into that of a contracted node, or another contracted node's is.
MINDROOT_DISPATCH inline Best<double> meld(double* row, std::int64_t* sites, double row_best, int size, const float* other,
                                           std::int64_t token, double other_best) {
    return meld_rows<float, false>(row, sites, row_best, size, other, nullptr, token, other_best);
}
MINDROOT_DISPATCH inline Best<double> meld(double* row, std::int64_t* sites, double row_best, int size, const double* other,
                                           std::int64_t token, double other_best) {
    return meld_rows<double, false>(row, sites, row_best, size, other, nullptr, token, other_best);
}
MINDROOT_DISPATCH inline Best<double> meld(double* row, std::int64_t* sites, double row_best, int size, const double* other,
                                           const std::int64_t* other_sites, double other_best) {
    return meld_rows<double, true>(row, sites, row_best, size, other, other_sites, 0, other_best);
}

}  // namespace mindroot
