// Vector types, and the choice of the widest vectors that the processor has. All vector code rests on this file.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

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
// Only inlined functions pass vectors to each other. Templates are compiled at the end of a module, so this is for all
// of it.
#pragma GCC diagnostic ignored "-Wpsabi"
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

// Inlines a function, or a lambda, into each version of a loop, so that it is compiled for that instruction set.
#if defined(__GNUC__)
#define MINDROOT_INLINED __attribute__((always_inline))
#else
#define MINDROOT_INLINED
#endif
#define MINDROOT_INLINE MINDROOT_INLINED inline

// For plain loops that the compiler itself turns into vectors. On x86-64 with glibc, GCC and Clang compile the function
// once per instruction set. One is chosen at load time.
#if MINDROOT_VECTORS && defined(__x86_64__) && defined(__GLIBC__) && (!defined(__clang__) || __clang_major__ >= 18)
#define MINDROOT_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define MINDROOT_CLONES
#endif

namespace mindroot {

constexpr int NARROWEST = MINDROOT_VECTORS ? 16 : 4;  // bytes: of vectors, or of one float

#if MINDROOT_VECTORS
// A vector of numbers, and a vector of as many ints of the same size.
template <class T, int BYTES>
struct Vectors {
    using Int = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
    static constexpr int LANES = BYTES / sizeof(T);
    typedef T Values __attribute__((vector_size(BYTES)));
    typedef Int Ints __attribute__((vector_size(BYTES)));
};

template <int LANES>
using Floats = typename Vectors<float, LANES * 4>::Values;
#else
template <int LANES>
using Floats = float;
#endif

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

// Calls work(bytes, given...), compiled for the instruction set that has vectors of so many bytes. `bytes` is an
// integral constant. Whatever is to be compiled for that instruction set, `work` included, must be inlined.
template <int BYTES>
struct Compiled;

#define MINDROOT_COMPILED(BYTES, TARGET)                                 \
    template <>                                                          \
    struct Compiled<BYTES> {                                             \
        template <class Work, class... Given>                            \
        TARGET static auto call(const Work& work, Given... given) {      \
            return work(std::integral_constant<int, BYTES>(), given...); \
        }                                                                \
    };
MINDROOT_COMPILED(NARROWEST, )

#if MINDROOT_DISPATCH
MINDROOT_COMPILED(32, __attribute__((target("avx2,fma"))))
MINDROOT_COMPILED(64, __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,fma"))))

inline int supported_bytes() {
#ifdef MINDROOT_VECTOR_BYTES  // for tests of the narrower versions
    return MINDROOT_VECTOR_BYTES;
#endif
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        return 64;
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? 32 : NARROWEST;
}
inline const int vector_bytes = supported_bytes();
#endif

// Calls work(bytes) with the width of the widest vectors that the processor supports.
template <class Work>
auto with_bytes(const Work& work) {
#if MINDROOT_DISPATCH
    if (vector_bytes == 64) return work(std::integral_constant<int, 64>());
    if (vector_bytes == 32) return work(std::integral_constant<int, 32>());
#endif
    return work(std::integral_constant<int, NARROWEST>());
}

// The same, with `work` compiled for that instruction set.
template <class Work>
auto with_vectors(const Work& work) {
    return with_bytes([&](auto bytes) { return Compiled<bytes>::call(work); });
}

}  // namespace mindroot
