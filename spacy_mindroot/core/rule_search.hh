// The best labelled tree under rules, by best-first branch and bound.
//
// The relaxation of a node ignores all rules about combinations of arcs: it is the best single-rooted tree when each
// arc has its best label. If that tree breaks a rule, its node is divided into children that exclude the tree but
// together keep every tree and its weight:
//
// - unique, two dependents of head h: either the first is no such dependent of h, or it is, and then every other one of
//   h pays the price.
// - leaf, a dependent of token t: either t has none of the labels, or it has, and then every dependent of t that is not
//   allowed pays the price.
// - planar, token p: one of the arcs that make its arc cross is absent, or all are present, and then p pays the price
//   on every head on which they make it cross. Where both rules about p are hard, a single arc often suffices.
//
// The price of a hard rule is infinite. Once a child has imposed a price on single arcs, the relaxation knows it
// exactly. Of several violations, the one divides the node that seems to cost the most to avoid.
//
// tests/twins/rules_reference.py takes the same steps in plain Python.
#pragma once

#include <deque>
#include <limits>
#include <utility>
#include <vector>

#include "crossing_arcs.hh"
#include "decode.hh"
#include "projective.hh"
#include "rule_scores.hh"

namespace mindroot {

struct RulesFound {
    Fault fault;
    bool found = false;
    double value = -std::numeric_limits<double>::infinity();
    double bound = -std::numeric_limits<double>::infinity();
    std::int64_t nodes = 0;
    std::vector<std::int32_t> heads, labels;
};
// Searches one sentence after the other, and keeps its memory between them.
template <class Label>
class RuleSearch {
public:
    // The arguments are those of `RuleScores::start`.
    void start(const double* arcs, const LabelRows<Label>& labels, int n, const std::int32_t* kinds,
               const std::int32_t* head_kinds, const PreparedRules& prepared, bool projective, double* best) {
        prepared_ = &prepared;
        n_ = n;
        columns_ = n + 1;
        projective_ = projective;
        heads_.resize(n);
        chosen_.resize(n);
        count_.resize(columns_);
        seen_.resize(columns_);
        applied_.clear();
        nodes_.clear();
        found_ = {};
        found_.fault = scores_.start(arcs, labels, n, kinds, head_kinds, prepared, best);
    }

    std::size_t bytes() const { return scores_.bytes() + nodes_.size() * sizeof(Node); }

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
                projective_ |= rules().n_planar > 0;
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
    using Marks = typename RuleScores<Label>::Marks;
    static constexpr int ANY = Edit::ANY, ALL = Edit::ALL;

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

    const std::uint8_t* mask(int number) const { return prepared_->mask(number); }
    const RuleTables& rules() const { return prepared_->rules; }

    struct Level {
        int node;
        Marks before;
    };

    // Makes the working scores those of a node, from those of the node before.
    void move_to(int node) {
        path_.clear();
        for (; node != NONE; node = nodes_[node].parent) path_.push_back(node);
        std::size_t common = 0;
        while (common < applied_.size() && common < path_.size() &&
               applied_[common].node == path_[path_.size() - 1 - common])
            ++common;
        if (common < applied_.size()) scores_.undo(applied_[common].before);
        applied_.resize(common);
        for (std::size_t k = path_.size() - common; k-- > 0;) {
            applied_.push_back({path_[k], scores_.marks()});
            for (const Edit& edit : nodes_[path_[k]].edits) scores_.apply(edit);
        }
    }

    // Decodes a node, and sets its bound and branches. Returns false if it has no tree.
    bool evaluate(Node& node) {
        ++found_.nodes;
        move_to(node.parent);
        const Marks before = scores_.marks();
        for (const Edit& edit : node.edits) scores_.apply(edit);
        const bool possible = solve(node);
        scores_.undo(before);
        return possible;
    }

    bool solve(Node& node) {
        const Sentence sentence{scores_[0], columns_, 1, n_, true, heads_.data()};
        const Fault fault = decode_sentence(sentence, true, projective_);
        if (fault) {
            if (fault.kind == FaultKind::no_memory) found_.fault = fault;
            return false;
        }
        node.bound = 0;
        for (int token = 0; token < n_; ++token) {
            node.bound += scores_[token][heads_[token]];
            scores_.classes_of(token, heads_[token]);
            chosen_[token] = scores_.best_class(token, heads_[token]);
        }
        value_ = node.bound;
        hardest_ = FORBIDDEN;
        find_suspects();
        if (suspects_.unique | suspects_.leaf | suspects_.planar) {
            test_unique(node);
            test_leaf(node);
            test_planar(node);
        }
        if (value_ > found_.value) {
            found_.found = true;
            found_.value = value_;
            found_.heads.assign(heads_.begin(), heads_.end());
            found_.labels.resize(n_);
            for (int token = 0; token < n_; ++token)
                found_.labels[token] = scores_.label(token, heads_[token], chosen_[token]);
        }
        return true;
    }

    // What a token loses at least, compared with its arc in the tree, if it may not have the classes in `where` on the
    // arc from `column`.
    double regret(int token, int column, const std::uint8_t* where) {
        const double* row = scores_[token];
        double best = FORBIDDEN;
        for (int other = 0; other < columns_; ++other) {
            if (!(row[other] > best)) continue;
            best = column != ANY && other != column ? row[other] : best_without(token, other, where, best);
        }
        return row[heads_[token]] - best;
    }

    // The best score of an arc without the classes in `where`, but at least `least`.
    double best_without(int token, int head, const std::uint8_t* where, double least) {
        const double* values = scores_.classes_of(token, head);
        for (int k = 0; k < rules().n_classes; ++k)
            if (!where[k]) least = std::max(least, values[k]);
        return least;
    }

    // Whether a violation is the one to divide the node by, so far: it seems to cost the most to avoid.
    bool hardest(double loss) {
        if (!(loss > hardest_)) return false;
        hardest_ = loss;
        return true;
    }

    // The rules that may be broken in the tree.
    struct Suspects {
        std::uint64_t unique, leaf, planar;
    };

    void find_suspects() {
        suspects_ = {0, 0, 0};
        std::fill(seen_.begin(), seen_.end(), 0);
        for (int token = 0; token < n_; ++token) {
            const int own = chosen_[token], head = heads_[token];
            const std::uint64_t unique = prepared_->unique[own];
            suspects_.unique |= unique & (seen_[head] | (rules().n_unique > 63 ? PreparedRules::bit(63) : 0));
            seen_[head] |= unique;
            if (head != 0) suspects_.leaf |= prepared_->below[own] & prepared_->leaf[chosen_[head - 1]];
            suspects_.planar |= prepared_->planar[own];
        }
    }

    void test_unique(Node& node) {
        for (int rule = 0; rule < rules().n_unique; ++rule) {
            if (!(suspects_.unique & PreparedRules::bit(rule))) continue;
            const int number = 1 + rule;
            const std::uint8_t* where = mask(number);
            const double amount = prepared_->price(number);
            std::fill(count_.begin(), count_.end(), 0);
            for (int token = 0; token < n_; ++token)
                if (where[chosen_[token]] && !scores_.done(number, heads_[token])) ++count_[heads_[token]];
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
                node.branches = {{{Edit::drop, first, head, number}},
                                 {{Edit::keep, first, head, number},
                                  {Edit::price_others, first, head, number},
                                  {Edit::done, first, head, number}}};
            }
        }
    }

    void test_leaf(Node& node) {
        for (int rule = 0; rule < rules().n_leaf; ++rule) {
            if (!(suspects_.leaf & PreparedRules::bit(rule))) continue;
            const int number = prepared_->leaf_mask + rule, below = prepared_->below_mask + rule;
            const std::uint8_t *where = mask(number), *not_allowed = mask(below);
            const double amount = prepared_->price(number);
            std::fill(count_.begin(), count_.end(), 0);
            for (int token = 0; token < n_; ++token) {
                const int head = heads_[token];
                if (head != 0 && not_allowed[chosen_[token]] && where[chosen_[head - 1]] && !scores_.done(below, head))
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
                node.branches = {{{Edit::drop, head - 1, ANY, number}},
                                 {{Edit::keep, head - 1, ANY, number},
                                  {Edit::price_others, head - 1, head, below},
                                  {Edit::done, head - 1, head, below}}};
            }
        }
    }

    void test_planar(Node& node) {
        for (int rule = 0; rule < rules().n_planar; ++rule) {
            if (!(suspects_.planar & PreparedRules::bit(rule))) continue;
            const int number = prepared_->planar_mask + rule;
            const std::uint8_t* where = mask(number);
            for (int token = 0; token < n_; ++token) {
                if (!where[chosen_[token]] || scores_.charged(number, token, heads_[token])) continue;
                const auto crosses = rules().other[rule] ? crosses_other : crosses_own;
                const Crossing crossing = crosses(heads_, token + 1, path_);
                if (!crossing) continue;
                const double amount = prepared_->price(number);
                value_ -= amount;
                double loss = std::min(amount, regret(token, heads_[token], where));
                const Clash clash = rules().paired[rule] ? hardest_clash(token + 1, where) : Clash();
                if (const int other = clash.dependent) {
                    const int upper = heads_[other - 1];
                    if (!hardest(clash.loss)) continue;
                    Edits kept{{Edit::keep, other - 1, upper, ALL}};
                    for (int head = 0; head <= n_; ++head)
                        if (head != token + 1 && clashes(token + 1, head, other, upper))
                            kept.push_back({Edit::drop, token, head, number});
                    node.branches = {{{Edit::drop, other - 1, upper, ALL}}, std::move(kept)};
                    continue;
                }
                for (const int dependent : crossing.arcs)
                    loss = std::min(loss, regret(dependent - 1, heads_[dependent - 1], mask(ALL)));
                if (!hardest(loss)) continue;
                node.branches.clear();
                Edits kept;
                for (const int dependent : crossing.arcs) {
                    node.branches.push_back(kept);
                    node.branches.back().push_back({Edit::drop, dependent - 1, heads_[dependent - 1], ALL});
                    kept.push_back({Edit::keep, dependent - 1, heads_[dependent - 1], ALL});
                }
                for (const int head : crossing.wrong)
                    if (!scores_.charged(number, token, head)) kept.push_back({Edit::price, token, head, number});
                node.branches.push_back(std::move(kept));
            }
        }
    }

    // An arc that clashes with the arc to a token; none if its dependent is 0. `loss` is what is lost at least.
    struct Clash {
        int dependent = 0;
        double loss = 0;
    };

    // The arc without which most is lost, or else with which, of those that clash with the arc to a token.
    Clash hardest_clash(int token, const std::uint8_t* where) {
        Clash found;
        for (int dependent = 1; dependent <= n_; ++dependent) {
            const int upper = heads_[dependent - 1];
            if (!clashes(token, heads_[token - 1], dependent, upper)) continue;
            const double loss =
                std::min(regret(dependent - 1, upper, mask(ALL)), regret_beside(token, where, dependent, upper));
            if (!found.dependent || loss > found.loss) found = {dependent, loss};
        }
        return found;
    }

    // As `regret`, if the arc to a token may not have the classes in `where` from any head where it clashes with
    // another arc.
    double regret_beside(int token, const std::uint8_t* where, int dependent, int upper) {
        const double* row = scores_[token - 1];
        double best = FORBIDDEN;
        for (int head = 0; head <= n_; ++head) {
            if (!(row[head] > best)) continue;
            best = clashes(token, head, dependent, upper) ? best_without(token - 1, head, where, best) : row[head];
        }
        return row[heads_[token - 1]] - best;
    }

    const PreparedRules* prepared_;
    int n_, columns_;
    bool projective_;
    RuleScores<Label> scores_;
    std::vector<Level> applied_;  // the path to the node whose scores are the working scores
    std::vector<std::int32_t> heads_, chosen_;
    std::vector<int> count_, path_;
    std::vector<std::uint64_t> seen_;  // the rules whose labels a head has below it
    Suspects suspects_{};
    std::deque<Node> nodes_;
    double value_ = 0, hardest_ = 0;
    RulesFound found_;
};

template <class Label>
RulesFound search_rules(const double* arcs, const LabelRows<Label>& labels, int n, const std::int32_t* kinds,
                        const std::int32_t* head_kinds, const PreparedRules& rules, std::int64_t max_nodes,
                        bool projective, double* best) noexcept try {
    static thread_local RuleSearch<Label> search;  // reused across sentences
    constexpr std::size_t keep = std::size_t(64) << 20;
    search.start(arcs, labels, n, kinds, head_kinds, rules, projective, best);
    RulesFound found = search.run(max_nodes);
    if (search.bytes() > keep) search = RuleSearch<Label>();
    return found;
} catch (const std::bad_alloc&) {
    RulesFound found;
    found.fault = {FaultKind::no_memory, 0, 0};
    return found;
}

}  // namespace mindroot
