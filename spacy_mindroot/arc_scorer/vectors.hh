// Vectors of floats, and the choice of the widest ones that the machine has. Shared by the loops of the layers.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#if defined(__clang__) || (defined(__GNUC__) && __GNUC__ >= 12)
#define MINDROOT_VECTORS 1
#pragma GCC diagnostic ignored "-Wpsabi"  // vectors are passed between inlined functions only
#else
#define MINDROOT_VECTORS 0
#endif

#if defined(__GNUC__)
#define MINDROOT_INLINE __attribute__((always_inline)) inline
#else
#define MINDROOT_INLINE inline
#endif

namespace mindroot::vectors {

// `LANES` floats that are computed with together. One lane is a plain float.
template <int LANES>
struct Vector {
#if MINDROOT_VECTORS
    typedef float Floats __attribute__((vector_size(LANES * 4)));
    typedef std::int32_t Ints __attribute__((vector_size(LANES * 4)));
#endif
};

#if MINDROOT_VECTORS
template <int LANES>
using Floats = typename Vector<LANES>::Floats;

template <int LANES>
MINDROOT_INLINE Floats<LANES> load(const float* from) {
    Floats<LANES> vector;
    std::memcpy(&vector, from, sizeof vector);
    return vector;
}

template <int LANES>
MINDROOT_INLINE void store(float* to, const Floats<LANES>& vector) {
    std::memcpy(to, &vector, sizeof vector);
}
#else
template <int LANES>
using Floats = float;

template <int LANES>
inline float load(const float* from) { return *from; }

template <int LANES>
inline void store(float* to, float value) { *to = value; }
#endif

// Calls body(i, lanes) for the elements 0 to size of a row: whole vectors first, then single elements.
template <int LANES, class Body>
MINDROOT_INLINE void for_elements(int size, const Body& body) {
    int i = 0;
#if MINDROOT_VECTORS
    for (; i + LANES <= size; i += LANES)
        body(i, [](const float* from) { return load<LANES>(from); },
             [](float* to, const Floats<LANES>& v) { store<LANES>(to, v); });
#endif
    for (; i < size; ++i)
        body(i, [](const float* from) { return *from; }, [](float* to, float value) { *to = value; });
}

// MACRO(LANES, TARGET) for each width of vectors, with the attribute that compiles a function for it.
#if MINDROOT_VECTORS && defined(__x86_64__)
#define MINDROOT_FOR_ALL_LANES(MACRO)                \
    MACRO(4, )                                       \
    MACRO(8, __attribute__((target("avx2,fma"))))    \
    MACRO(16, __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,fma"))))
#elif MINDROOT_VECTORS
#define MINDROOT_FOR_ALL_LANES(MACRO) MACRO(4, )
#else
#define MINDROOT_FOR_ALL_LANES(MACRO) MACRO(1, )
#endif

// Calls work(lanes) with the widest vectors that the machine has: an integral constant, one of those of the macro above.
template <class Work>
void with_lanes(const Work& work) {
#if MINDROOT_VECTORS && defined(__x86_64__)
#ifdef MINDROOT_VECTOR_BYTES  // to test the narrower ones
    constexpr int most = MINDROOT_VECTOR_BYTES;
#else
    constexpr int most = 64;
#endif
    __builtin_cpu_init();
    if (most >= 64 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return work(std::integral_constant<int, 16>());
    if (most >= 32 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return work(std::integral_constant<int, 8>());
    return work(std::integral_constant<int, 4>());
#elif MINDROOT_VECTORS
    return work(std::integral_constant<int, 4>());
#else
    return work(std::integral_constant<int, 1>());
#endif
}

}  // namespace mindroot::vectors
