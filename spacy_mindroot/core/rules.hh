// The best labelled tree under rules, by best-first branch and bound. rules_reference.py explains the method and takes
// the same steps in the same order.
#pragma once

#include <deque>
#include <limits>
#include <utility>
#include <vector>

#include "decode.hh"
#include "projective.hh"

namespace mindroot {

// Rules over numbered labels, as `CompiledRules` holds them. The arrays are the caller's.
struct RuleTables {
    int n_labels, n_classes, n_head_kinds;
    const std::int32_t* class_of;  // (labels,)
    const double* prices;          // (dependent kinds, head kinds, 2, labels)
    int n_unique, n_leaf, n_planar;
    const std::uint8_t *unique, *leaf, *below, *planar;  // (rules, classes) each
    const std::uint8_t *other, *paired;                  // (planar rules,)
    const double *unique_prices, *leaf_prices, *planar_prices;
};

struct RulesFound {
    Fault fault;
    bool found = false;
    double value = -std::numeric_limits<double>::infinity();
    double bound = -std::numeric_limits<double>::infinity();
    std::int64_t nodes = 0;
    std::vector<std::int32_t> heads, labels;
};

class RuleSearch {
public:
    template <class Label>
    RuleSearch(const double* arcs, const Label* labels, int n, const std::int32_t* kinds,
               const std::int32_t* head_kinds, const RuleTables& rules, bool projective)
        : rules_(rules),
          n_(n),
          columns_(n + 1),
          classes_(rules.n_classes),
          projective_(projective),
          leaf_mask_(1 + rules.n_unique),
          below_mask_(leaf_mask_ + rules.n_leaf),
          planar_mask_(below_mask_ + rules.n_leaf),
          masks_(std::size_t(planar_mask_ + rules.n_planar) * classes_, 1),
          cells_(std::size_t(n) * columns_ * classes_, FORBIDDEN),
          label_(cells_.size(), 0),
          scores_(std::size_t(n) * columns_),
          best_(scores_.size()),
          touched_(scores_.size(), 0),
          unique_done_(std::size_t(rules.n_unique) * columns_, 0),
          leaf_done_(std::size_t(rules.n_leaf) * columns_, 0),
          charged_(std::size_t(rules.n_planar) * scores_.size(), 0),
          heads_(n),
          chosen_(n),
          count_(columns_) {
        std::uint8_t* mask = masks_.data() + classes_;
        for (auto [from, count] : {std::pair(rules.unique, rules.n_unique), std::pair(rules.leaf, rules.n_leaf),
                                   std::pair(rules.below, rules.n_leaf), std::pair(rules.planar, rules.n_planar)})
            mask = std::copy(from, from + std::size_t(count) * classes_, mask);
        for (int row = 0; row < n; ++row)
            for (int column = 0; column < columns_; ++column) {
                const std::size_t cell = std::size_t(row) * columns_ + column;
                if (column == row + 1) {
                    scores_[cell] = FORBIDDEN;
                    continue;
                }
                const Label* own = labels + cell * rules.n_labels;
                const double* price =
                    rules.prices + ((std::size_t(kinds[row]) * rules.n_head_kinds + head_kinds[column]) * 2 +
                                    (column > row + 1)) *
                                       rules.n_labels;
                double* values = &cells_[cell * classes_];
                std::int32_t* names = &label_[cell * classes_];
                const double arc = arcs[cell];
                for (int k = 0; k < rules.n_labels; ++k) {
                    const double value = arc + own[k] - price[k];
                    if (!(value < std::numeric_limits<double>::infinity()) && !found_.fault)
                        found_.fault = {FaultKind::not_finite, row + 1, column};
                    const int where = rules.class_of[k];
                    if (value > values[where]) values[where] = value, names[where] = k;
                }
                refresh(cell);
            }
    }

    RulesFound run(std::int64_t max_nodes) {
        if (found_.fault) return std::move(found_);
        std::vector<Entry> opened;
        std::int64_t order = 0;
        bool dive = false;
        double ceiling = FORBIDDEN;
        int parent = NONE;
        std::vector<Edits> waiting(1);
        while (true) {
            for (Edits& edits : waiting) {
                Node node{parent, std::move(edits), parent == NONE ? 0 : nodes_[parent].depth + 1, 0, {}};
                if (!evaluate(node)) {
                    if (found_.fault) return std::move(found_);
                    continue;
                }
                if (node.branches.empty() || !(node.bound > found_.value)) continue;
                opened.push_back({dive ? node.depth : 0, node.bound, ++order, static_cast<int>(nodes_.size())});
                std::push_heap(opened.begin(), opened.end());
                nodes_.push_back(std::move(node));
            }
            if (dive && found_.found) break;  // one valid tree is enough
            if (opened.empty() || (!dive && opened.front().bound <= found_.value)) {
                opened.clear();
                break;
            }
            if (found_.nodes >= max_nodes && !dive) {
                if (found_.found) break;
                dive = true;
                ceiling = opened.front().bound;
                projective_ |= rules_.n_planar > 0;
                for (Entry& entry : opened) entry.depth = nodes_[entry.node].depth;
                std::make_heap(opened.begin(), opened.end());
            }
            if (found_.nodes >= 2 * max_nodes) break;
            std::pop_heap(opened.begin(), opened.end());
            parent = opened.back().node;
            opened.pop_back();
            waiting = std::move(nodes_[parent].branches);
        }
        found_.bound = std::max(found_.value, ceiling);
        for (const Entry& entry : opened) found_.bound = std::max(found_.bound, entry.bound);
        return std::move(found_);
    }

private:
    enum Operation : std::uint8_t { keep, drop, price_others, price, unique_done, leaf_done };
    static constexpr int ANY = -1, ALL = 0;

    // An edit of the working scores. Rows are tokens from 0, columns heads, 0 = ROOT.
    struct Edit {
        Operation operation;
        std::int32_t row, column, mask, rule;
    };
    using Edits = std::vector<Edit>;

    struct Node {
        int parent;
        Edits edits;
        int depth;
        double bound;
        std::vector<Edits> branches;
    };

    // The greatest entry is on top of the heap: the deepest in a dive, else the heaviest, and the first among equals.
    struct Entry {
        int depth;
        double bound;
        std::int64_t order;
        int node;

        bool operator<(const Entry& other) const {
            if (depth != other.depth) return depth < other.depth;
            if (bound != other.bound) return bound < other.bound;
            return order > other.order;
        }
    };

    const std::uint8_t* mask(int number) const { return &masks_[std::size_t(number) * classes_]; }

    // The best class of an arc; the first in case of a tie.
    void refresh(std::size_t cell) {
        const double* values = &cells_[cell * classes_];
        int best = 0;
        for (int k = 1; k < classes_; ++k)
            if (values[k] > values[best]) best = k;
        best_[cell] = best;
        scores_[cell] = values[best];
    }

    void set(std::size_t cell, int own_class, double value) {
        double& now = cells_[cell * classes_ + own_class];
        if (!touched_[cell]) {
            touched_[cell] = 1;
            touched_cells_.push_back(cell);
        }
        log_.emplace_back(cell * classes_ + own_class, now);
        now = value;
    }

    void forbid(int row, int column, const std::uint8_t* where, std::uint8_t value) {
        const std::size_t cell = std::size_t(row) * columns_ + column;
        for (int k = 0; k < classes_; ++k)
            if (where[k] == value) set(cell, k, FORBIDDEN);
    }

    void charge(int row, int column, const std::uint8_t* where, double amount) {
        const std::size_t cell = std::size_t(row) * columns_ + column;
        for (int k = 0; k < classes_; ++k)
            if (where[k]) set(cell, k, cells_[cell * classes_ + k] - amount);
    }

    void raise(std::vector<std::uint8_t>& flags, std::size_t at) {
        if (flags[at]) return;
        flags[at] = 1;
        raised_.push_back(&flags[at]);
    }

    void apply(const Edit& edit) {
        const std::uint8_t* where = mask(edit.mask);
        const std::size_t cell = std::size_t(edit.row) * columns_ + edit.column;
        switch (edit.operation) {
            case keep:
                for (int column = 0; column < columns_; ++column) {
                    if (edit.column == ANY || column == edit.column)
                        forbid(edit.row, column, where, 0);
                    else
                        forbid(edit.row, column, mask(ALL), 1);
                }
                break;
            case drop:
                for (int column = 0; column < columns_; ++column)
                    if (edit.column == ANY || column == edit.column) forbid(edit.row, column, where, 1);
                break;
            case price_others: {
                const double* prices = edit.mask < leaf_mask_ ? rules_.unique_prices : rules_.leaf_prices;
                for (int row = 0; row < n_; ++row)
                    if (row != edit.row) charge(row, edit.column, where, prices[edit.rule]);
                break;
            }
            case price:
                charge(edit.row, edit.column, where, rules_.planar_prices[edit.rule]);
                raise(charged_, edit.rule * scores_.size() + cell);
                break;
            case unique_done: raise(unique_done_, std::size_t(edit.rule) * columns_ + edit.column); break;
            case leaf_done: raise(leaf_done_, std::size_t(edit.rule) * columns_ + edit.column); break;
        }
    }

    // Decodes a node, and sets its bound and branches. Returns false if it has no tree.
    bool evaluate(Node& node) {
        ++found_.nodes;
        chain_.assign(1, &node.edits);
        for (int above = node.parent; above != NONE; above = nodes_[above].parent)
            chain_.push_back(&nodes_[above].edits);
        for (std::size_t k = chain_.size(); k-- > 0;)
            for (const Edit& edit : *chain_[k]) apply(edit);
        for (const std::size_t cell : touched_cells_) refresh(cell);
        const bool possible = solve(node);
        for (std::size_t k = log_.size(); k-- > 0;) cells_[log_[k].first] = log_[k].second;
        for (const std::size_t cell : touched_cells_) {
            touched_[cell] = 0;
            refresh(cell);
        }
        for (std::uint8_t* flag : raised_) *flag = 0;
        log_.clear();
        touched_cells_.clear();
        raised_.clear();
        return possible;
    }

    bool solve(Node& node) {
        const Sentence sentence{scores_.data(), columns_, 1, n_, true, heads_.data()};
        const Fault fault = projective_ ? decode_projective(sentence, true) : decode_sentence(sentence, true);
        if (fault) {
            if (fault.kind == FaultKind::no_memory) found_.fault = fault;
            return false;
        }
        node.bound = 0;
        for (int token = 0; token < n_; ++token) {
            const std::size_t cell = std::size_t(token) * columns_ + heads_[token];
            node.bound += scores_[cell];
            chosen_[token] = best_[cell];
        }
        value_ = node.bound;
        hardest_ = FORBIDDEN;
        test_unique(node);
        test_leaf(node);
        test_planar(node);
        if (value_ > found_.value) {
            found_.found = true;
            found_.value = value_;
            found_.heads.assign(heads_.begin(), heads_.end());
            found_.labels.resize(n_);
            for (int token = 0; token < n_; ++token)
                found_.labels[token] =
                    label_[(std::size_t(token) * columns_ + heads_[token]) * classes_ + chosen_[token]];
        }
        return true;
    }

    // What a token loses at least, compared with its arc in the tree, if it may not have the classes in `where` on the
    // arc from `column`.
    double regret(int row, int column, const std::uint8_t* where) const {
        double best = FORBIDDEN;
        for (int other = 0; other < columns_; ++other) {
            const std::size_t cell = std::size_t(row) * columns_ + other;
            if (column != ANY && other != column) {
                best = std::max(best, scores_[cell]);
            } else {
                for (int k = 0; k < classes_; ++k)
                    if (!where[k]) best = std::max(best, cells_[cell * classes_ + k]);
            }
        }
        return scores_[std::size_t(row) * columns_ + heads_[row]] - best;
    }

    // Whether a violation is the one to divide the node by, so far: it seems to cost the most to avoid.
    bool hardest(double loss) {
        if (!(loss > hardest_)) return false;
        hardest_ = loss;
        return true;
    }

    void test_unique(Node& node) {
        for (int rule = 0; rule < rules_.n_unique; ++rule) {
            const int number = 1 + rule;
            const std::uint8_t* where = mask(number);
            const double amount = rules_.unique_prices[rule];
            std::fill(count_.begin(), count_.end(), 0);
            for (int token = 0; token < n_; ++token)
                if (where[chosen_[token]] && !unique_done_[std::size_t(rule) * columns_ + heads_[token]])
                    ++count_[heads_[token]];
            for (int head = 0; head <= n_; ++head) {
                if (count_[head] < 2) continue;
                value_ -= (count_[head] - 1) * amount;
                int first = NONE;
                double most = FORBIDDEN, loss = 0;  // of the dependents but the one that loses the most
                for (int token = 0; token < n_; ++token) {
                    if (heads_[token] != head || !where[chosen_[token]]) continue;
                    const double own = std::min(regret(token, head, where), amount);
                    if (own > most) {
                        if (first != NONE) loss += most;
                        first = token;
                        most = own;
                    } else {
                        loss += own;
                    }
                }
                if (!hardest(loss)) continue;
                node.branches = {{{drop, first, head, number, rule}},
                                 {{keep, first, head, number, rule},
                                  {price_others, first, head, number, rule},
                                  {unique_done, first, head, number, rule}}};
            }
        }
    }

    void test_leaf(Node& node) {
        for (int rule = 0; rule < rules_.n_leaf; ++rule) {
            const int number = leaf_mask_ + rule, below = below_mask_ + rule;
            const std::uint8_t *where = mask(number), *not_allowed = mask(below);
            const double amount = rules_.leaf_prices[rule];
            std::fill(count_.begin(), count_.end(), 0);
            for (int token = 0; token < n_; ++token) {
                const int head = heads_[token];
                if (head != 0 && not_allowed[chosen_[token]] && where[chosen_[head - 1]] &&
                    !leaf_done_[std::size_t(rule) * columns_ + head])
                    ++count_[head];
            }
            for (int head = 1; head <= n_; ++head) {
                if (count_[head] == 0) continue;
                value_ -= count_[head] * amount;
                double loss = 0;
                for (int token = 0; token < n_; ++token)
                    if (heads_[token] == head && not_allowed[chosen_[token]])
                        loss += std::min(regret(token, head, not_allowed), amount);
                if (!hardest(std::min(loss, regret(head - 1, ANY, where)))) continue;
                node.branches = {{{drop, head - 1, ANY, number, rule}},
                                 {{keep, head - 1, ANY, number, rule},
                                  {price_others, head - 1, head, below, rule},
                                  {leaf_done, head - 1, head, below, rule}}};
            }
        }
    }

    void test_planar(Node& node) {
        for (int rule = 0; rule < rules_.n_planar; ++rule) {
            const int number = planar_mask_ + rule;
            const std::uint8_t* where = mask(number);
            const std::uint8_t* charged = charged_.data() + rule * scores_.size();
            for (int token = 0; token < n_; ++token) {
                const std::uint8_t* own = charged + std::size_t(token) * columns_;
                if (!where[chosen_[token]] || own[heads_[token]]) continue;
                if (!(rules_.other[rule] ? crosses_other(token + 1) : crosses_own(token + 1))) continue;
                const double amount = rules_.planar_prices[rule];
                value_ -= amount;
                double loss = std::min(amount, regret(token, heads_[token], where));
                if (const int crossing = rules_.paired[rule] ? crossing_arc(token + 1) : 0) {
                    const int upper = heads_[crossing - 1];
                    if (!hardest(std::min(loss, regret(crossing - 1, upper, mask(ALL))))) continue;
                    Edits kept{{keep, crossing - 1, upper, ALL, rule}};
                    for (int head = 0; head <= n_; ++head)
                        if (head != token + 1 && clashes(token + 1, head, crossing, upper))
                            kept.push_back({drop, token, head, number, rule});
                    node.branches = {{{drop, crossing - 1, upper, ALL, rule}}, std::move(kept)};
                    continue;
                }
                for (const int dependent : reason_)
                    loss = std::min(loss, regret(dependent - 1, heads_[dependent - 1], mask(ALL)));
                if (!hardest(loss)) continue;
                node.branches.clear();
                Edits kept;
                for (const int dependent : reason_) {
                    node.branches.push_back(kept);
                    node.branches.back().push_back({drop, dependent - 1, heads_[dependent - 1], ALL, rule});
                    kept.push_back({keep, dependent - 1, heads_[dependent - 1], ALL, rule});
                }
                for (const int other : wrong_)
                    if (!own[other]) kept.push_back({price, token, other, number, rule});
                node.branches.push_back(std::move(kept));
            }
        }
    }

    // The token and all above it, without ROOT.
    void follow(int token, std::vector<int>& path) const {
        path.clear();
        for (; token; token = heads_[token - 1]) path.push_back(token);
    }

    static bool contains(const std::vector<int>& path, int token) {
        return std::find(path.begin(), path.end(), token) != path.end();
    }

    // Whether the arc to a token spans a token that is not below its head. `reason_` then is a path to ROOT, as the
    // dependents of its arcs; while it exists, the arc to the token crosses it from any of the heads `wrong_`.
    bool crosses_own(int token) {
        const int head = heads_[token - 1];
        if (head == 0) return false;
        bool found = false;
        for (int other = std::min(token, head) + 1; other < std::max(token, head); ++other) {
            follow(other, path_);
            if (contains(path_, head) || (found && path_.size() >= reason_.size())) continue;
            found = true;
            reason_.swap(path_);
        }
        if (!found) return false;
        wrong_.clear();
        for (int other = 1; other <= n_; ++other) {
            const auto own = std::find(reason_.begin(), reason_.end(), other);
            const auto above = own == reason_.end() ? reason_.begin() : own + 1;
            const int low = std::min(token, other), high = std::max(token, other);
            if (other != token &&
                std::any_of(above, reason_.end(), [&](int node) { return low < node && node < high; }))
                wrong_.push_back(other);
        }
        return true;
    }

    // Whether an arc crosses the arc to a token that it spans. As `crosses_own`.
    bool crosses_other(int token) {
        follow(heads_[token - 1], path_);
        for (int dependent = 1; dependent <= n_; ++dependent) {
            const int upper = heads_[dependent - 1];
            if (upper == 0 || !spans(token, heads_[token - 1], dependent, upper) || contains(path_, upper)) continue;
            reason_.assign(1, dependent);
            reason_.insert(reason_.end(), path_.begin(), path_.end());
            path_.push_back(0);
            wrong_.clear();
            for (const int other : path_)
                if (spans(token, other, dependent, upper)) wrong_.push_back(other);
            return true;
        }
        return false;
    }

    // The dependent of the first arc that clashes with the arc to a token; 0 if there is none.
    int crossing_arc(int token) const {
        for (int dependent = 1; dependent <= n_; ++dependent)
            if (clashes(token, heads_[token - 1], dependent, heads_[dependent - 1])) return dependent;
        return 0;
    }

    // Whether the arc to a token breaks a rule about crossing arcs, "own" or "other", whatever the rest of the tree is.
    static bool clashes(int token, int head, int dependent, int upper) {
        if (upper == 0) return std::min(token, head) < dependent && dependent < std::max(token, head) && head != 0;
        return spans(token, head, dependent, upper);
    }

    // Whether an arc reaches from between a token and its head to beyond the token.
    static bool spans(int token, int head, int one, int other) {
        const int low = std::min(token, head), high = std::max(token, head);
        if (low < other && other < high) std::swap(one, other);
        return low < one && one < high && (head < token ? other > token : 0 < other && other < token);
    }

    static constexpr double FORBIDDEN = -std::numeric_limits<double>::infinity();

    const RuleTables rules_;
    const int n_, columns_, classes_;
    bool projective_;
    const int leaf_mask_, below_mask_, planar_mask_;
    std::vector<std::uint8_t> masks_;
    std::vector<double> cells_;        // the best score of each class for each arc
    std::vector<std::int32_t> label_;  // and the label that has it
    std::vector<double> scores_;       // the best score of each arc
    std::vector<std::int32_t> best_;   // and its class
    std::vector<std::uint8_t> touched_, unique_done_, leaf_done_, charged_;
    std::vector<std::size_t> touched_cells_;
    std::vector<std::pair<std::size_t, double>> log_;  // cells before their edits
    std::vector<std::uint8_t*> raised_;
    std::vector<const Edits*> chain_;
    std::vector<std::int32_t> heads_, chosen_;
    std::vector<int> count_, path_, reason_, wrong_;
    std::deque<Node> nodes_;
    double value_ = 0, hardest_ = 0;
    RulesFound found_;
};

template <class Label>
RulesFound search_rules(const double* arcs, const Label* labels, int n, const std::int32_t* kinds,
                        const std::int32_t* head_kinds, const RuleTables& rules, std::int64_t max_nodes,
                        bool projective) noexcept try {
    return RuleSearch(arcs, labels, n, kinds, head_kinds, rules, projective).run(max_nodes);
} catch (const std::bad_alloc&) {
    RulesFound found;
    found.fault = {FaultKind::no_memory, 0, 0};
    return found;
}

}  // namespace mindroot
