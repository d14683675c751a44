// Loops over one row of arc scores: the best head of a dependent, and the meld of two rows, and the best label.
// The meaning of the rows is the business of arborescence.hh.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include "vectors.hh"

namespace mindroot {

constexpr int NONE = -1;
constexpr int CACHE_LINE = 64;  // bytes
constexpr int AHEAD = 8192;     // bytes: two pages, since hardware prefetching stops at the end of a page
constexpr double FORBIDDEN = -std::numeric_limits<double>::infinity();
// The score of an arc within a contracted node. No comparison prefers it.
constexpr double DEAD = std::numeric_limits<double>::quiet_NaN();

// Prefetches an address into the cache. The address may lie beyond the end of an array. If this were not inlined, GCC
// would consider the function free of effects and drop the calls.
MINDROOT_INLINE void prefetch([[maybe_unused]] const void* address) {
#if defined(__GNUC__)
    __builtin_prefetch(address);
#endif
}

// The best entry of a row. `column` is NONE if every entry is -inf or dead, or if the row is empty.
template <class T>
struct Best {
    T score = -std::numeric_limits<T>::infinity();
    int column = NONE;
};

// The best of `size` entries other than entry `skip`; the first one in case of a tie. NaN is never the best.
template <class T>
MINDROOT_INLINE Best<T> best_scalar(const T* row, std::ptrdiff_t stride, int size, int skip = NONE) {
    Best<T> best;
    for (int u = 0; u < size; ++u)
        if (u != skip && row[u * stride] > best.score) best = {row[u * stride], u};
    return best;
}

#if MINDROOT_VECTORS

// first, first + 1, ...
template <class V>
MINDROOT_INLINE typename V::Ints columns_from(int first) {
    typename V::Ints columns = {};
    for (int lane = 0; lane < V::LANES; ++lane) columns[lane] = lane;
    return columns + typename V::Int(first);
}

template <int BY, class Vector, int... LANE>
MINDROOT_INLINE Vector rotated(const Vector& v, std::integer_sequence<int, LANE...>) {
    return __builtin_shufflevector(v, v, ((LANE + BY) % static_cast<int>(sizeof...(LANE)))...);
}

// The greatest lane, or the least, copied to every lane.
template <int LANES, bool GREATEST, int BY = LANES / 2, class Vector>
MINDROOT_INLINE Vector extreme(const Vector& v) {
    if constexpr (BY == 0) {
        return v;
    } else {
        const Vector other = rotated<BY>(v, std::make_integer_sequence<int, LANES>());
        return extreme<LANES, GREATEST, BY / 2>(GREATEST ? (v > other ? v : other) : (v < other ? v : other));
    }
}

// The best of the entries taken so far. Each lane keeps its first best entry. The lowest column among equal lanes wins.
template <class T, int BYTES>
struct BestLanes {
    using V = Vectors<T, BYTES>;
    typename V::Values score = typename V::Values{} - std::numeric_limits<T>::infinity();
    typename V::Ints column = typename V::Ints{} + std::numeric_limits<typename V::Int>::max();

    MINDROOT_INLINE void take(const typename V::Values& scores, const typename V::Ints& columns) {
        const typename V::Ints better = scores > score;
        score = better ? scores : score;
        column = better ? columns : column;
    }

    MINDROOT_INLINE Best<T> best() const {
        constexpr auto none = std::numeric_limits<typename V::Int>::max();
        const typename V::Values greatest = extreme<V::LANES, true>(score);
        const typename V::Ints columns = score == greatest ? column : typename V::Ints{} + none;
        const auto lowest = extreme<V::LANES, false>(columns)[0];
        return {greatest[0], lowest == none ? NONE : static_cast<int>(lowest)};
    }
};

// The best of `size` entries, which fill at least one vector. Entry `skip` is left out if SKIP. All entries are added
// to `sum`, some of them twice, so that a NaN or +inf among them shows in the sum.
template <bool SKIP, class T, int BYTES>
MINDROOT_INLINE Best<T> best_vectorised(const T* row, int size, int skip, typename Vectors<T, BYTES>::Values& sum) {
    using V = Vectors<T, BYTES>;
    BestLanes<T, BYTES> lanes;
    auto take = [&](int u, const typename V::Ints& columns) {
        typename V::Values scores = load<typename V::Values>(row + u);
        if constexpr (SKIP)
            scores =
                columns == typename V::Int(skip) ? typename V::Values{} - std::numeric_limits<T>::infinity() : scores;
        lanes.take(scores, columns);
        sum += scores;
    };
    typename V::Ints columns = columns_from<V>(0);
    int u = 0;
    for (; u + V::LANES <= size; u += V::LANES, columns += V::LANES) {
        prefetch(reinterpret_cast<const char*>(row + u) + AHEAD);
        take(u, columns);
    }
    if (u < size) take(size - V::LANES, columns_from<V>(size - V::LANES));
    return lanes.best();
}

template <class T, int BYTES>
MINDROOT_INLINE Best<T> best_in_vectors(const T* row, int size, int skip, typename Vectors<T, BYTES>::Values& sum) {
    const Best<T> best = best_vectorised<false, T, BYTES>(row, size, skip, sum);
    if (best.column != skip) return best;  // the row is read again only if the skipped entry is the best, which is rare
    return best_vectorised<true, T, BYTES>(row, size, skip, sum);
}

template <bool SKIP, int BYTES, class T>
MINDROOT_INLINE bool heads_in_vectors(const T* scores, std::ptrdiff_t stride, int n, std::int32_t* heads) {
    typename Vectors<T, BYTES>::Values sum = {};
    int lowest = 0;
    for (int token = 0; token < n; ++token) {
        const T* row = scores + token * stride;
        heads[token] = SKIP ? best_vectorised<true, T, BYTES>(row, n + 1, token + 1, sum).column
                            : best_in_vectors<T, BYTES>(row, n + 1, token + 1, sum).column;
        lowest = heads[token] < lowest ? heads[token] : lowest;
    }
    T total = 0;
    for (int lane = 0; lane < Vectors<T, BYTES>::LANES; ++lane) total += sum[lane];
    return lowest != NONE && total < std::numeric_limits<T>::infinity();
}

#endif

// The best of row[0:size] other than row[skip]; the first one in case of a tie.
template <int BYTES, class T>
MINDROOT_INLINE Best<T> best_entry(const T* row, int size, int skip) {
#if MINDROOT_VECTORS
    typename Vectors<T, BYTES>::Values ignored = {};
    if (size >= Vectors<T, BYTES>::LANES) return best_in_vectors<T, BYTES>(row, size, skip, ignored);
#endif
    return best_scalar(row, 1, size, skip);
}

// Writes the best head of each token, self arcs left out. Returns false if the result is not certain: a row has no
// head, an entry (perhaps a self arc) is NaN or +inf, the sum of all scores overflows, or the rows are too short.
template <int BYTES, class T>
MINDROOT_INLINE bool best_heads(const T* scores, std::ptrdiff_t stride, int n, std::int32_t* heads) {
#if MINDROOT_VECTORS
    if (n + 1 >= Vectors<T, BYTES>::LANES)
        return heads_in_vectors<false, BYTES>(scores, stride, n, heads) ||
               heads_in_vectors<true, BYTES>(scores, stride, n, heads);
    if constexpr (BYTES > NARROWEST) return best_heads<BYTES / 2>(scores, stride, n, heads);
#endif
    return false;
}

// row[u] = max(row[u] - row_best, other[u] - other_best). `sites` keeps the token at which the better arc enters; in
// case of a tie the row's own arc is kept. The arcs of `other` enter at `token`, or at `other_sites` if `token` is
// NONE. Dead entries of `row` stay dead. Returns the best entry of the new row if FIND_BEST.
template <int BYTES, bool FIND_BEST, class T>
MINDROOT_INLINE Best<double> meld(double* __restrict row, std::int64_t* __restrict sites, double row_best, int size,
                                  const T* __restrict other, std::int64_t token,
                                  const std::int64_t* __restrict other_sites, double other_best) {
#if MINDROOT_VECTORS
    using V = Vectors<double, BYTES>;
    if (size >= V::LANES) {
        using Given = typename Vectors<T, sizeof(T) * V::LANES>::Values;
        using Scores = typename V::Values;
        using Columns = typename V::Ints;
        struct Melded {
            Scores scores;
            Columns sites;
        };
        auto melded = [&](int u) {
            const Scores own = load<Scores>(row + u) - row_best;
            const Scores entering = __builtin_convertvector(load<Given>(other + u), Scores) - other_best;
            const Columns better = entering > own;
            const Columns entered = token == NONE ? load<Columns>(other_sites + u) : Columns{} + token;
            return Melded{better ? entering : own, better ? entered : load<Columns>(sites + u)};
        };
        BestLanes<double, BYTES> lanes;
        auto take = [&](const Melded& melded, int u, const Columns& columns) {
            store(row + u, melded.scores);
            store(sites + u, melded.sites);
            if constexpr (FIND_BEST) lanes.take(melded.scores, columns);
        };
        const int end = size - V::LANES;
        const Melded last = melded(end);  // overlaps the previous vector, so it is read before that one is written
        Columns columns = columns_from<V>(0);
        for (int u = 0; u < end; u += V::LANES, columns += V::LANES) take(melded(u), u, columns);
        take(last, end, columns_from<V>(end));
        return FIND_BEST ? lanes.best() : Best<double>();
    }
#endif
    for (int u = 0; u < size; ++u) {
        const double own = row[u] - row_best, entering = other[u] - other_best;
        const bool better = entering > own;
        row[u] = better ? entering : own;
        if (better) sites[u] = token == NONE ? other_sites[u] : token;
    }
    return FIND_BEST ? best_scalar(row, 1, size) : Best<double>();
}

// The greatest of row[0:size] + allowed[0:size], where `allowed` may be null. All of them are added to `sum`, so that a
// NaN or +inf among them shows in the sum.
template <int BYTES, class T>
MINDROOT_INLINE T greatest(const T* row, const T* allowed, int size, T* sum) {
    T best = -std::numeric_limits<T>::infinity();
#if MINDROOT_VECTORS
    using V = Vectors<T, BYTES>;
    if (size >= V::LANES) {
        typename V::Values most = typename V::Values{} + best, sums = {};
        auto take = [&](int k) {
            typename V::Values scores = load<typename V::Values>(row + k);
            if (allowed != nullptr) scores += load<typename V::Values>(allowed + k);
            most = scores > most ? scores : most;
            sums += scores;
        };
        for (int k = 0; k + V::LANES <= size; k += V::LANES) take(k);
        if (size % V::LANES) take(size - V::LANES);
        for (int lane = 0; lane < V::LANES; ++lane) *sum += sums[lane];
        return extreme<V::LANES, true>(most)[0];
    }
    if constexpr (BYTES > NARROWEST) return greatest<BYTES / 2>(row, allowed, size, sum);
#endif
    for (int k = 0; k < size; ++k) {
        const T score = allowed == nullptr ? row[k] : row[k] + allowed[k];
        best = std::max(best, score);
        *sum += score;
    }
    return best;
}

// The loops with vectors of so many bytes, compiled for the instruction set that has them.
template <int BYTES>
struct Loops {
    template <class... Given>
    static auto best_entry(Given... given) {
        const auto loop = [](auto bytes, auto... own) MINDROOT_INLINED { return mindroot::best_entry<bytes>(own...); };
        return Compiled<BYTES>::call(loop, given...);
    }
    template <class... Given>
    static auto best_heads(Given... given) {
        const auto loop = [](auto bytes, auto... own) MINDROOT_INLINED { return mindroot::best_heads<bytes>(own...); };
        return Compiled<BYTES>::call(loop, given...);
    }
    template <bool FIND_BEST, class... Given>
    static auto meld(Given... given) {
        const auto loop = [](auto bytes, auto... own) MINDROOT_INLINED {
            return mindroot::meld<bytes, FIND_BEST>(own...);
        };
        return Compiled<BYTES>::call(loop, given...);
    }
    template <class... Given>
    static auto greatest(Given... given) {
        const auto loop = [](auto bytes, auto... own) MINDROOT_INLINED { return mindroot::greatest<bytes>(own...); };
        return Compiled<BYTES>::call(loop, given...);
    }
};

// Calls work(loops) with the widest loops that the processor supports.
template <class Work>
auto with_loops(const Work& work) {
    return with_bytes([&](auto bytes) { return work(Loops<bytes>()); });
}

}  // namespace mindroot
