// Fuzzes partition functions, marginals and samples.
#include "oracles.hh"

#include "sampling.hh"

namespace {

Real log_add(Real a, Real b) {
    if (std::isinf(a) && a < 0) return b;
    return std::max(a, b) + std::log1p(std::exp(-std::fabs(a - b)));
}

// The logarithm of the partition function as a determinant, single-rooted or not (Koo et al. 2007). For small scores.
Real log_determinant(const Matrix& matrix, bool single_root) {
    const int n = matrix.n;
    std::vector<std::vector<Real>> laplacian(n, std::vector<Real>(n, 0));
    const auto exp_of = [&](int i, int j) { return matrix.allowed(i, j) ? std::exp(Real(matrix.at(i, j))) : 0; };
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j)
            if (i != j) {
                laplacian[i][j] = -exp_of(i, j + 1);
                laplacian[i][i] += exp_of(i, j + 1);
            }
        if (!single_root) laplacian[i][i] += exp_of(i, 0);
    }
    if (single_root)
        for (int i = 0; i < n; ++i) laplacian[i][0] = exp_of(i, 0);
    Real log_sum = 0;
    for (int step = 0; step < n; ++step) {
        int pivot = step;
        for (int i = step; i < n; ++i)
            if (std::fabs(laplacian[i][step]) > std::fabs(laplacian[pivot][step])) pivot = i;
        std::swap(laplacian[step], laplacian[pivot]);
        log_sum += std::log(std::fabs(laplacian[step][step]));
        for (int i = step + 1; i < n; ++i) {
            const Real factor = laplacian[i][step] / laplacian[step][step];
            for (int j = step; j < n; ++j) laplacian[i][j] -= factor * laplacian[step][j];
        }
    }
    return log_sum;
}

template <class T>
void check(const Matrix& matrix, const mindroot::Scores<T>& scores, bool single_root, unsigned kind, Bytes& bytes) {
    const int n = matrix.n;
    std::vector<double> marginals(std::size_t(n) * (n + 1), -7);
    const double log_partition = mindroot::matrix_tree(scores, single_root, marginals.data());
    const double alone = mindroot::matrix_tree<T>(scores, single_root, nullptr);
    // Scores are shifted before they are added, so errors are in proportion to the largest.
    const Real slack = 1e-11L * (1 + n) * (1 + matrix.largest());
    if (kind != HUGE_SCORES) {
        CHECK(std::isfinite(log_partition));
        CHECK(std::fabs(log_partition - alone) <= slack);
    }
    double from_root = 0;
    for (int i = 0; i < n; ++i) {
        double sum = 0;
        for (int j = 0; j <= n; ++j) {
            const double p = marginals[std::size_t(i) * (n + 1) + j];
            CHECK(p >= 0 && p <= 1 + 1e-9);
            CHECK(matrix.allowed(i, j) || p == 0);
            sum += p;
        }
        CHECK(std::fabs(sum - 1) < 1e-9);
        from_root += marginals[std::size_t(i) * (n + 1)];
    }
    // Among scores of 1e300, ln 2 is lost in rounding, and with it the number of equally good trees.
    if (single_root && kind != HUGE_SCORES) CHECK(std::fabs(from_root - 1) < 1e-6);

    if (kind != HUGE_SCORES) {
        Real best = -std::numeric_limits<Real>::infinity();
        if (single_root)
            for (const int root : possible_single_roots(matrix)) best = std::max(best, best_weight(matrix, root));
        else
            best = best_weight(matrix, -1);
        CHECK(log_partition >= best - slack);
        CHECK(log_partition <= best + (n - 1) * std::log(Real(n + 1)) + slack);
    }
    if (n <= 4 && kind != HUGE_SCORES) {
        Real exact = NO_ARC;
        std::vector<Real> logs(marginals.size(), NO_ARC);
        for_each_tree(matrix, single_root, [&](const Heads& tree) {
            const Real weight = weight_of(matrix, tree);
            exact = log_add(exact, weight);
            for (int i = 0; i < n; ++i) {
                Real& log = logs[std::size_t(i) * (n + 1) + tree[i]];
                log = log_add(log, weight);
            }
        });
        CHECK(std::fabs(exact - log_partition) <= slack);
        for (std::size_t at = 0; at < logs.size(); ++at)
            CHECK(std::fabs(std::exp(logs[at] - exact) - marginals[at]) <= slack);
    } else if (matrix.largest() <= 4) {
        CHECK(std::fabs(log_determinant(matrix, single_root) - log_partition) <= 1e-6);
    }

    std::vector<std::int32_t> roots;
    if (single_root) {
        const auto possible = possible_single_roots(matrix);
        for (int at = 0; at < 3; ++at) roots.push_back(possible[bytes.below(unsigned(possible.size()))]);
    }
    std::vector<std::int32_t> heads(3 * std::size_t(n), -7);
    mindroot::sample_trees(scores, single_root ? roots.data() : nullptr, 3, bytes.next(), heads.data());
    for (int at = 0; at < 3; ++at) {
        const Heads tree(heads.begin() + at * n, heads.begin() + (at + 1) * n);
        CHECK(forms_tree(tree));
        for (int i = 0; i < n; ++i) CHECK(matrix.allowed(i, tree[i]));
        if (single_root) CHECK(count_root_arcs(tree) == 1 && tree[roots[at]] == 0);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Bytes bytes(data, size);
    const unsigned options = bytes.next();
    const bool single_root = options & 1, is_double = options & 2, small = options & 4;
    unsigned kind = bytes.below(ANY);
    if (!is_double && (kind == HUGE_SCORES || kind == TINY)) kind = FORBIDDING;
    const int n = 1 + int(options & 8 ? bytes.below(4) : bytes.below(16));
    Matrix matrix = read_matrix(bytes, n, kind);
    if (small)
        for (double& cell : matrix.cells)
            if (std::fabs(cell) <= 16) cell /= 4;
    if (!has_tree(matrix, single_root)) return 0;
    if (is_double) {
        check(matrix, mindroot::Scores<double>{matrix.cells.data(), n + 1, 1, n}, single_root, kind, bytes);
    } else {
        std::vector<float> floats(matrix.cells.begin(), matrix.cells.end());
        for (double& cell : matrix.cells) cell = static_cast<float>(cell);
        check(matrix, mindroot::Scores<float>{floats.data(), n + 1, 1, n}, single_root, kind, bytes);
    }
    return 0;
}
