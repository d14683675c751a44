// Loops over one row of arc scores: the best head of a dependent, and the meld of two rows. All vector code is here.
// The meaning of the rows is the business of arborescence.hh.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

// GCC and Clang have vector types, which compile for any instruction set. Other compilers get scalar loops, and so does
// everyone who defines MINDROOT_VECTORS as 0.
#ifndef MINDROOT_VECTORS
#if defined(__clang__) || (defined(__GNUC__) && __GNUC__ >= 12)
#define MINDROOT_VECTORS 1
#else
#define MINDROOT_VECTORS 0
#endif
#endif
#if MINDROOT_VECTORS
#pragma GCC diagnostic ignored "-Wpsabi"  // only inlined functions pass vectors to each other
#endif

// On x86-64 the loops are compiled once per instruction set. The best version that the processor supports is called.
// MINDROOT_DISPATCH defined as 0 leaves only the narrowest, which saves two thirds of the time that compiling takes.
#ifndef MINDROOT_DISPATCH
#if MINDROOT_VECTORS && defined(__x86_64__)
#define MINDROOT_DISPATCH 1
#else
#define MINDROOT_DISPATCH 0
#endif
#endif

// Inlines a function into each version of a loop, so that it is compiled for that instruction set.
#if defined(__GNUC__)
#define MINDROOT_INLINE __attribute__((always_inline)) inline
#else
#define MINDROOT_INLINE inline
#endif

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

// A vector of scores, and a vector of as many column numbers.
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

// The best of `size` entries, which fill at least one vector. Entry `skip` is left out if SKIP. All entries are added
// to `sum`, some of them twice, so that a NaN or +inf among them shows in the sum.
template <bool SKIP, class T, int BYTES>
MINDROOT_INLINE Best<T> best_vectorised(const T* row, int size, int skip, typename Vectors<T, BYTES>::Scores& sum) {
    using V = Vectors<T, BYTES>;
    BestLanes<T, BYTES> lanes;
    auto take = [&](int u, const typename V::Columns& columns) {
        typename V::Scores scores = load<typename V::Scores>(row + u);
        if constexpr (SKIP)
            scores =
                columns == typename V::Int(skip) ? typename V::Scores{} - std::numeric_limits<T>::infinity() : scores;
        lanes.take(scores, columns);
        sum += scores;
    };
    typename V::Columns columns = V::columns_from(0);
    int u = 0;
    for (; u + V::LANES <= size; u += V::LANES, columns += V::LANES) {
        prefetch(reinterpret_cast<const char*>(row + u) + AHEAD);
        take(u, columns);
    }
    if (u < size) take(size - V::LANES, V::columns_from(size - V::LANES));
    return lanes.best();
}

template <class T, int BYTES>
MINDROOT_INLINE Best<T> best_in_vectors(const T* row, int size, int skip, typename Vectors<T, BYTES>::Scores& sum) {
    const Best<T> best = best_vectorised<false, T, BYTES>(row, size, skip, sum);
    if (best.column != skip) return best;  // the row is read again only if the skipped entry is the best, which is rare
    return best_vectorised<true, T, BYTES>(row, size, skip, sum);
}

template <bool SKIP, int BYTES, class T>
MINDROOT_INLINE bool heads_in_vectors(const T* scores, std::ptrdiff_t stride, int n, std::int32_t* heads) {
    typename Vectors<T, BYTES>::Scores sum = {};
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
    typename Vectors<T, BYTES>::Scores ignored = {};
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
    if constexpr (BYTES > 16) return best_heads<BYTES / 2>(scores, stride, n, heads);
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
        using Given = typename Vectors<T, sizeof(T) * V::LANES>::Scores;
        using Scores = typename V::Scores;
        using Columns = typename V::Columns;
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
        Columns columns = V::columns_from(0);
        for (int u = 0; u < end; u += V::LANES, columns += V::LANES) take(melded(u), u, columns);
        take(last, end, V::columns_from(end));
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

// Whether row[0:size] has a finite number whose absolute value is greater than `bound`.
inline bool any_beyond(const double* row, int size, double bound) {
    int beyond = 0;
    for (int u = 0; u < size; ++u)
        beyond |= std::fabs(row[u]) > bound && std::fabs(row[u]) <= std::numeric_limits<double>::max();
    return beyond != 0;
}

// The loops with vectors of so many bytes, compiled for the instruction set that has them.
template <int BYTES>
struct Loops;

#define MINDROOT_LOOPS(BYTES, TARGET)                          \
    template <>                                                \
    struct Loops<BYTES> {                                      \
        template <class... Given>                              \
        TARGET static auto best_entry(Given... given) {        \
            return mindroot::best_entry<BYTES>(given...);      \
        }                                                      \
        template <class... Given>                              \
        TARGET static auto best_heads(Given... given) {        \
            return mindroot::best_heads<BYTES>(given...);      \
        }                                                      \
        template <bool FIND_BEST, class... Given>              \
        TARGET static auto meld(Given... given) {              \
            return mindroot::meld<BYTES, FIND_BEST>(given...); \
        }                                                      \
    };
MINDROOT_LOOPS(16, )

#if MINDROOT_DISPATCH
MINDROOT_LOOPS(32, __attribute__((target("avx2"))))
MINDROOT_LOOPS(64, __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"))))

inline int supported_bytes() {
#ifdef MINDROOT_VECTOR_BYTES  // for tests of the narrower versions
    return MINDROOT_VECTOR_BYTES;
#endif
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        return 64;
    return __builtin_cpu_supports("avx2") ? 32 : 16;
}
inline const int vector_bytes = supported_bytes();
#endif

// Calls work(loops) with the widest loops that the processor supports.
template <class Work>
auto with_loops(const Work& work) {
#if MINDROOT_DISPATCH
    if (vector_bytes == 64) return work(Loops<64>());
    if (vector_bytes == 32) return work(Loops<32>());
#endif
    return work(Loops<16>());
}

}  // namespace mindroot
