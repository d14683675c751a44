// Rules over numbered labels, and the scores of labels, as the search for the best labelled tree takes them.
#pragma once

#include <algorithm>
#include <tuple>
#include <vector>

#include "rows.hh"

namespace mindroot {

// Rules over numbered labels, as `CompiledRules` holds them. The arrays are the caller's.
struct RuleTables {
    int n_labels, n_classes, n_head_kinds;
    const std::int32_t* class_of;  // (labels,)
    const double* prices;          // (dependent kinds, head kinds, 2, labels)
    int n_unique, n_leaf, n_planar;
    const std::uint8_t* masks;           // (1 + unique + 2 leaf + planar, classes): the classes that each covers
    const double* mask_prices;           // the price of the rule of each mask
    const std::uint8_t *other, *paired;  // (planar,)
};

// What the search derives from the rules alone, once for all sentences.
class PreparedRules {
public:
    // What the rules about single arcs do to the labels of an arc.
    enum Pricing : std::uint8_t { free, masked, priced };

    void prepare(const RuleTables& tables, int n_kinds) {
        rules = tables;
        leaf_mask = 1 + rules.n_unique;
        below_mask = leaf_mask + rules.n_leaf;
        planar_mask = below_mask + rules.n_leaf;
        const std::size_t n_classes = rules.n_classes, n_masks = planar_mask + rules.n_planar;
        classes_.assign(2 * n_masks, {});
        for (std::size_t k = 0; k < n_masks * n_classes; ++k)
            classes_[k / n_classes * 2 + rules.masks[k]].push_back(static_cast<int>(k % n_classes));
        for (auto [bits, first, count] :
             {std::tuple(&unique, 1, rules.n_unique), std::tuple(&leaf, leaf_mask, rules.n_leaf),
              std::tuple(&below, below_mask, rules.n_leaf), std::tuple(&planar, planar_mask, rules.n_planar)}) {
            bits->assign(n_classes, 0);
            for (int rule = 0; rule < count; ++rule)
                for (const int own : classes(first + rule, true)) (*bits)[own] |= bit(rule);
        }
        const std::size_t n_prices = std::size_t(2) * n_kinds * rules.n_head_kinds;
        pricing_.assign(n_prices, free);
        doubles_.assign(n_prices * rules.n_labels, 0);
        for (std::size_t k = 0; k < doubles_.size(); ++k) {
            const double price = rules.prices[k];
            std::uint8_t& pricing = pricing_[k / rules.n_labels];
            if (price == std::numeric_limits<double>::infinity())
                doubles_[k] = FORBIDDEN, pricing = std::max<std::uint8_t>(pricing, masked);
            else if (price != 0)
                pricing = priced;
        }
        floats_.assign(doubles_.begin(), doubles_.end());
    }

    // The number of the prices of an arc, by the kinds of its dependent and head, and whether the head is on the right.
    std::size_t prices_of(int kind, int head_kind, bool right) const {
        return (std::size_t(kind) * rules.n_head_kinds + head_kind) * 2 + right;
    }
    Pricing pricing(std::size_t prices) const { return static_cast<Pricing>(pricing_[prices]); }
    const double* amounts(std::size_t prices) const { return rules.prices + prices * rules.n_labels; }

    // For each label, 0 if it is allowed, else -inf.
    template <class Label>
    const Label* allowed(std::size_t prices) const {
        if constexpr (std::is_same_v<Label, float>)
            return &floats_[prices * rules.n_labels];
        else
            return &doubles_[prices * rules.n_labels];
    }

    double price(int mask) const { return rules.mask_prices[mask]; }
    const std::uint8_t* mask(int number) const { return rules.masks + std::size_t(number) * rules.n_classes; }

    // The classes that a mask covers, or those that it does not.
    const std::vector<int>& classes(int number, bool covered) const { return classes_[2 * number + covered]; }

    // For each class, the rules that cover it. Rules from the 64th on share the last bit.
    std::vector<std::uint64_t> unique, leaf, below, planar;
    static std::uint64_t bit(int rule) { return std::uint64_t(1) << std::min(rule, 63); }

    RuleTables rules;
    int leaf_mask, below_mask, planar_mask;  // the numbers of the first masks of each kind; 0 covers all classes

private:
    std::vector<std::uint8_t> pricing_;
    std::vector<std::vector<int>> classes_;
    std::vector<float> floats_;
    std::vector<double> doubles_;
};

// The scores of all labels, in rows: one for each arc, or for each of some arcs, or shared by arcs.
template <class Label>
struct LabelRows {
    const Label* scores;
    const std::int64_t* cells = nullptr;   // the arc of each row, token * (n + 1) + head; null if all arcs have one
    std::size_t size = 0;                  // the number of `cells`
    const std::int32_t* shared = nullptr;  // the row of each arc; null if each has its own
};

}  // namespace mindroot
