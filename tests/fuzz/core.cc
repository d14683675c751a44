// Fuzzes the decoders: the best tree, the best projective tree, the k best trees, and batches.
#include "oracles.hh"

#include "kbest.hh"
#include "projective.hh"

namespace {

using mindroot::Fault;
using mindroot::FaultKind;
using mindroot::Sentence;

// The same scores in one of the layouts that the core reads.
struct Layout {
    std::vector<double> doubles;
    std::vector<float> floats;
    Sentence sentence;

    Layout(const Matrix& matrix, bool is_double, bool by_columns, std::int32_t* heads) {
        const int n = matrix.n, gap = by_columns ? 0 : 3;
        const std::ptrdiff_t row = by_columns ? 1 : n + 1 + gap, column = by_columns ? n : 1;
        const std::size_t size = std::size_t(n) * (n + 1 + gap);
        is_double ? doubles.resize(size) : floats.resize(size);
        for (int i = 0; i < n; ++i)
            for (int j = 0; j <= n; ++j)
                if (is_double)
                    doubles[i * row + j * column] = matrix.at(i, j);
                else
                    floats[i * row + j * column] = static_cast<float>(matrix.at(i, j));
        const void* data = is_double ? static_cast<const void*>(doubles.data()) : floats.data();
        sentence = {data, row, column, n, is_double, heads};
    }
};

// The fault that the greedy graph must report.
Fault expected_fault(const Matrix& matrix) {
    for (int i = 0; i < matrix.n; ++i) {
        bool any = false;
        for (int j = 0; j <= matrix.n; ++j) {
            if (j != i + 1 && !(matrix.at(i, j) <= std::numeric_limits<double>::max()))
                return {FaultKind::not_finite, i + 1, j};
            any |= matrix.allowed(i, j);
        }
        if (!any) return {FaultKind::no_head, i + 1, 0};
    }
    return {};
}

void check_fault(const Matrix& matrix, const Fault& fault) {
    if (fault.kind == FaultKind::no_arborescence) {
        CHECK(1 <= fault.dependent && fault.dependent <= matrix.n);
        CHECK(!reachable(matrix, -1)[fault.dependent - 1]);
    } else {
        CHECK(fault.kind == FaultKind::no_single_root);
        CHECK(1 <= fault.dependent && fault.dependent < fault.head && fault.head <= matrix.n);
        for (int i = 0; i < matrix.n; ++i) {
            const auto seen = reachable(matrix, i);
            CHECK(!(seen[fault.dependent - 1] && seen[fault.head - 1]));
        }
    }
}

// The greatest difference that rounding may make to a weight.
Real tolerance(const Matrix& matrix) { return matrix.largest() * matrix.n * 0x1p-46L; }

Real best_by_textbook(const Matrix& matrix, bool single_root) {
    if (!single_root) return best_weight(matrix, -1);
    Real best = -std::numeric_limits<Real>::infinity();
    for (const int root : possible_single_roots(matrix)) best = std::max(best, best_weight(matrix, root));
    return best;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Bytes bytes(data, size);
    const unsigned options = bytes.next();
    const bool single_root = options & 1, is_double = options & 2, by_columns = options & 4;
    unsigned kind = bytes.below(KINDS);
    if (!is_double && (kind == HUGE_SCORES || kind == TINY)) kind = EIGHTHS;  // not representable
    const int n = 1 + int(options & 8 ? bytes.below(4) : bytes.below(24));
    Matrix matrix = read_matrix(bytes, n, kind);
    if (!is_double)
        for (double& cell : matrix.cells) cell = static_cast<float>(cell);

    Heads heads(n, -7);
    const Layout layout(matrix, is_double, by_columns, heads.data());
    const Sentence& sentence = layout.sentence;
    const Fault fault = mindroot::decode_sentence(sentence, single_root);

    Heads other(n, -7);
    const Layout plain(matrix, true, false, other.data());
    const Fault same = mindroot::decode_sentence(plain.sentence, single_root);
    CHECK(fault.kind == same.kind && fault.dependent == same.dependent && fault.head == same.head);

    Heads projective(n, -7);
    Sentence task = sentence;
    task.heads = projective.data();
    const Fault crossing = mindroot::decode_projective(task, single_root);
    std::vector<std::int32_t> trees;
    const std::size_t k = 1 + bytes.below(12);
    const Fault none = mindroot::k_best(sentence, k, single_root, false, trees);
    std::vector<std::int32_t> uncrossed;
    const Fault also_none = mindroot::k_best(sentence, k, single_root, true, uncrossed);
    CHECK(also_none.kind == crossing.kind);

    if (const Fault expected = expected_fault(matrix)) {
        for (const Fault& found : {fault, crossing, none})
            CHECK(found.kind == expected.kind && found.dependent == expected.dependent && found.head == expected.head);
        return 0;
    }
    CHECK(has_tree(matrix, single_root) == !fault);
    if (fault) {
        check_fault(matrix, fault);
        CHECK(crossing.kind == fault.kind && none.kind == fault.kind);
        return 0;
    }
    const Real slack = tolerance(matrix), weight = weight_of(matrix, heads);
    CHECK(heads == other);
    CHECK(forms_tree(heads) && (!single_root || count_root_arcs(heads) == 1));
    for (int i = 0; i < n; ++i) CHECK(matrix.allowed(i, heads[i]));
    CHECK(std::fabs(weight - best_by_textbook(matrix, single_root)) <= slack);

    std::vector<Real> weights, uncrossed_weights;
    if (n <= 4) {
        for_each_tree(matrix, single_root, [&](const Heads& tree) {
            weights.push_back(weight_of(matrix, tree));
            if (!crosses(tree)) uncrossed_weights.push_back(weights.back());
        });
        std::sort(weights.rbegin(), weights.rend());
        std::sort(uncrossed_weights.rbegin(), uncrossed_weights.rend());
        CHECK(std::fabs(weight - weights[0]) <= slack);
        CHECK((crossing.kind == FaultKind::no_projective) == uncrossed_weights.empty());
    }
    if (!crossing) {
        CHECK(forms_tree(projective) && !crosses(projective));
        CHECK(!single_root || count_root_arcs(projective) == 1);
        for (int i = 0; i < n; ++i) CHECK(matrix.allowed(i, projective[i]));
        const Real found = weight_of(matrix, projective);
        CHECK(found <= weight + slack);
        if (!crosses(heads)) CHECK(found >= weight - slack);
    } else {
        CHECK(crossing.kind == FaultKind::no_projective && crosses(heads));
    }

    const auto check_best = [&](const std::vector<std::int32_t>& all, const Heads& first, const auto& expected) {
        CHECK(all.size() % n == 0 && !all.empty());
        std::vector<Heads> found;
        for (std::size_t at = 0; at < all.size(); at += n) {
            const Heads tree(all.begin() + at, all.begin() + at + n);
            CHECK(forms_tree(tree) && (!single_root || count_root_arcs(tree) == 1));
            for (int i = 0; i < n; ++i) CHECK(matrix.allowed(i, tree[i]));
            CHECK(std::find(found.begin(), found.end(), tree) == found.end());
            if (!found.empty()) CHECK(weight_of(matrix, tree) <= weight_of(matrix, found.back()) + slack);
            if (n <= 4) CHECK(std::fabs(weight_of(matrix, tree) - expected[found.size()]) <= slack);
            found.push_back(tree);
        }
        CHECK(found[0] == first && found.size() <= k);
        if (n <= 4) CHECK(found.size() == std::min(k, expected.size()));
        return found;
    };
    CHECK(!none);
    check_best(trees, heads, weights);
    if (!crossing)
        for (const Heads& tree : check_best(uncrossed, projective, uncrossed_weights)) CHECK(!crosses(tree));

    if (options >= 240) {  // starting threads takes long
        std::vector<Heads> batch(5, Heads(n, -7));
        std::vector<Sentence> sentences(5, sentence);
        for (std::size_t at = 0; at < batch.size(); ++at) sentences[at].heads = batch[at].data();
        std::vector<Fault> faults(5);
        CHECK(mindroot::decode_batch(sentences.data(), 5, single_root, false, 3, faults.data()) == 0);
        for (const Heads& each : batch) CHECK(each == heads);
    }
    return 0;
}
