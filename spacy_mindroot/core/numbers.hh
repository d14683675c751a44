// The two kinds of arithmetic of matrix_tree.hh: on the weights themselves, or on their logarithms. Logarithms can't
// underflow but take about ten times as long. Both are doubles. Weights are added, multiplied and divided but never
// subtracted, so that nearly all digits of every result are right, however small it is.
#pragma once

#include <cmath>
#include <cstring>

#include "rows.hh"

namespace mindroot {

// values[i] = exp(values[i]), where no value is above 700, to within two units in the last place. Below -708, it is 0.
// In contrast to std::exp, the loop is vectorised.
MINDROOT_CLONES inline void exp_all(double* __restrict values, std::size_t count) {
    // exp(x) = 2^k exp(r), where k is x / log(2), rounded. The sum with `rounder` rounds, and has k in its lowest bits.
    constexpr double rounder = 0x1.8p52, log2e = 0x1.71547652b82fep0, log2_high = 0x1.62e42fee00000p-1,
                     log2_low = 0x1.a39ef35793c76p-33;
    constexpr double inverse_factorials[] = {
        1.0,        1.0,         1.0 / 2,      1.0 / 6,       1.0 / 24,       1.0 / 120,      1.0 / 720,
        1.0 / 5040, 1.0 / 40320, 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600};
    for (std::size_t i = 0; i < count; ++i) {
        const double x = values[i] > -708 ? values[i] : -708;
        const double shifted = x * log2e + rounder, k = shifted - rounder;
        const double r = (x - k * log2_high) - k * log2_low;
        double sum = inverse_factorials[12];
        for (int term = 11; term >= 0; --term) sum = sum * r + inverse_factorials[term];
        std::uint64_t bits;
        std::memcpy(&bits, &shifted, sizeof bits);
        bits = (bits + 1023) << 52;
        double power;
        std::memcpy(&power, &bits, sizeof power);
        values[i] = values[i] > -708 ? sum * power : 0;
    }
}

// terms[i] = -p[i] log(p[i]) of probabilities, to within some units in the last place; 0 where p[i] is below 1e-300.
MINDROOT_CLONES inline void entropy_terms(const double* __restrict p, double* __restrict terms, std::size_t count) {
    // p = m 2^k with m from sqrt(1/2) to sqrt(2), and log(m) = 2 (f + f^3 / 3 + f^5 / 5 + ...), f = (m - 1) / (m + 1).
    constexpr double log2 = 0x1.62e42fefa39efp-1, two52 = 0x1p52;
    constexpr std::uint64_t one = 0x3ff0000000000000, sqrt_half = 0x3fe6a09e667f3bcd;
    for (std::size_t i = 0; i < count; ++i) {
        const bool counts = p[i] >= 1e-300;
        const double x = counts ? p[i] : 1;
        std::uint64_t bits;
        std::memcpy(&bits, &x, sizeof bits);
        const std::uint64_t shifted = bits - sqrt_half + one;  // the exponent of this is k + 1023, since x >= 1e-300
        const std::uint64_t mantissa = (shifted & 0x000fffffffffffff) + sqrt_half;
        const std::uint64_t as_integer = (shifted >> 52) | 0x4330000000000000;
        double m, k;
        std::memcpy(&m, &mantissa, sizeof m);
        std::memcpy(&k, &as_integer, sizeof k);
        const double f = (m - 1) / (m + 1), square = f * f;
        double series = 1.0 / 21;
        for (int odd = 19; odd >= 1; odd -= 2) series = series * square + 1.0 / odd;
        terms[i] = -x * ((k - two52 - 1023) * log2 + 2 * f * series);
    }
}

struct Linear {
    static constexpr double zero = 0, one = 1;

    static void from_logs(double* scores, std::size_t count) { exp_all(scores, count); }
    static double from_log(double score) { return std::exp(score); }
    static double log(double a) { return std::log(a); }
    static double to_linear(double a) { return a; }
    static double add(double a, double b) { return a + b; }
    static double multiply(double a, double b) { return a * b; }
    static double divide(double a, double b) { return a / b; }
    // Within these bounds, numbers that have underflowed (below 1e-307) are too small to matter.
    static bool is_safe_divisor(double a) { return a >= 1e-100; }
    static bool is_safe(double a) { return a <= 1e100; }
    // columns[j][i] += pivots[i] * factors[j], for `count` columns of `rows` weights each, stored end to end.
    MINDROOT_CLONES static void add_multiples(double* __restrict columns, int rows, int count,
                                              const double* __restrict pivots, const double* __restrict factors) {
        for (int j = 0; j < count; ++j, columns += rows) {
            const double factor = factors[j];
            for (int i = 0; i < rows; ++i) columns[i] += pivots[i] * factor;
        }
    }

    // The same for two sets of pivots at once, which halves the traffic between processor and cache.
    MINDROOT_CLONES static void add_multiples_of_two(double* __restrict columns, int rows, int count,
                                                     const double* __restrict pivots, const double* __restrict factors,
                                                     const double* __restrict more_pivots,
                                                     const double* __restrict more_factors) {
        for (int j = 0; j < count; ++j, columns += rows) {
            const double factor = factors[j], more = more_factors[j];
            for (int i = 0; i < rows; ++i) columns[i] += pivots[i] * factor + more_pivots[i] * more;
        }
    }
};

struct Logarithmic {
    static constexpr double zero = FORBIDDEN, one = 0;

    static void from_logs(double*, std::size_t) {}
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
    static void add_multiples_of_two(double* columns, int rows, int count, const double* pivots, const double* factors,
                                     const double* more_pivots, const double* more_factors) {
        add_multiples(columns, rows, count, pivots, factors);
        add_multiples(columns, rows, count, more_pivots, more_factors);
    }
};

}  // namespace mindroot
