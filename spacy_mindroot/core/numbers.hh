// The two kinds of arithmetic of matrix_tree.hh: on the weights themselves, or on their logarithms. Logarithms can't
// underflow but take about ten times as long. Both are doubles. Weights are added, multiplied and divided but never
// subtracted, so that nearly all digits of every result are right, however small it is.
#pragma once

#include <cmath>

#include "rows.hh"

// On x86-64 with glibc, GCC and Clang compile the function once per instruction set. One is chosen at load time.
#if MINDROOT_VECTORS && defined(__x86_64__) && defined(__GLIBC__) && (!defined(__clang__) || __clang_major__ >= 18)
#define MINDROOT_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define MINDROOT_CLONES
#endif

namespace mindroot {

// columns[j][i] += pivots[i] * factors[j], for `count` columns of `rows` weights each, stored end to end.
MINDROOT_CLONES inline void add_multiples(double* __restrict columns, int rows, int count,
                                          const double* __restrict pivots, const double* __restrict factors) {
    for (int j = 0; j < count; ++j, columns += rows) {
        const double factor = factors[j];
        for (int i = 0; i < rows; ++i) columns[i] += pivots[i] * factor;
    }
}

struct Linear {
    static constexpr double zero = 0, one = 1;

    static double from_log(double score) { return std::exp(score); }
    static double log(double a) { return std::log(a); }
    static double to_linear(double a) { return a; }
    static double add(double a, double b) { return a + b; }
    static double multiply(double a, double b) { return a * b; }
    static double divide(double a, double b) { return a / b; }
    // Within these bounds, numbers that have underflowed (below 1e-307) are too small to matter.
    static bool is_safe_divisor(double a) { return a >= 1e-100; }
    static bool is_safe(double a) { return a <= 1e100; }
    static void add_multiples(double* columns, int rows, int count, const double* pivots, const double* factors) {
        mindroot::add_multiples(columns, rows, count, pivots, factors);
    }
};

struct Logarithmic {
    static constexpr double zero = FORBIDDEN, one = 0;

    static double from_log(double score) { return score; }
    static double log(double a) { return a; }
    static double to_linear(double a) { return std::exp(a); }
    static double add(double a, double b) {
        const double larger = a < b ? b : a, smaller = a < b ? a : b;
        return larger - smaller < 40 ? larger + std::log1p(std::exp(smaller - larger)) : larger;
    }
    static double multiply(double a, double b) { return a + b; }
    static double divide(double a, double b) { return a - b; }
    static bool is_safe_divisor(double) { return true; }
    static bool is_safe(double) { return true; }
    static void add_multiples(double* columns, int rows, int count, const double* pivots, const double* factors) {
        for (int j = 0; j < count; ++j, columns += rows) {
            if (factors[j] == zero) continue;
            for (int i = 0; i < rows; ++i)
                if (pivots[i] != zero) columns[i] = add(columns[i], pivots[i] + factors[j]);
        }
    }
};

}  // namespace mindroot
