// The rows of the character n-grams of words in a table: each n-gram is hashed as spaCy's strings are.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <unordered_map>
#include <vector>

namespace mindroot::ngrams {

// MurmurHash64A, by Austin Appleby, who placed it in the public domain, with the seed 1.
inline std::uint64_t hash_of(const char* text, std::size_t length) {
    constexpr std::uint64_t multiplier = 0xc6a4a7935bd1e995ULL;
    std::uint64_t hash = 1 ^ (length * multiplier);
    for (; length >= 8; text += 8, length -= 8) {
        std::uint64_t word;
        std::memcpy(&word, text, 8);
        word *= multiplier;
        word ^= word >> 47;
        hash = (hash ^ (word * multiplier)) * multiplier;
    }
    if (length) {
        std::uint64_t word = 0;
        std::memcpy(&word, text, length);
        hash = (hash ^ word) * multiplier;
    }
    hash = (hash ^ (hash >> 47)) * multiplier;
    return hash ^ (hash >> 47);
}

// spaCy numbers some strings, such as names of attributes and labels, instead of hashing them.
class Symbols {
public:
    void add(const char* text, std::size_t length, std::uint64_t number) {
        numbers_[hash_of(text, length)] = number;
        longest_ = std::max(longest_, length);
    }

    std::uint64_t number_or_hash(const char* text, std::size_t length) const {
        const std::uint64_t hash = hash_of(text, length);
        if (length > longest_) return hash;
        const auto found = numbers_.find(hash);
        return found == numbers_.end() ? hash : found->second;
    }

private:
    std::unordered_map<std::uint64_t, std::uint64_t> numbers_;
    std::size_t longest_ = 0;
};

// Appends the rows of the n-grams of a word in UTF-8, those of the shortest first, and returns their number.
inline std::int32_t append_rows(const Symbols& symbols, const char* word, std::size_t bytes, std::uint64_t table,
                                std::size_t shortest, std::size_t longest, std::vector<std::size_t>& starts,
                                std::vector<std::int32_t>& rows) {
    starts.clear();
    for (std::size_t at = 0; at < bytes; ++at)
        if ((static_cast<unsigned char>(word[at]) & 0xC0) != 0x80) starts.push_back(at);  // where a character begins
    const std::size_t characters = starts.size(), before = rows.size();
    starts.push_back(bytes);
    for (std::size_t size = shortest; size <= longest && size <= characters; ++size)
        for (std::size_t k = 0; k + size <= characters; ++k)
            rows.push_back(static_cast<std::int32_t>(
                symbols.number_or_hash(word + starts[k], starts[k + size] - starts[k]) % table));
    return static_cast<std::int32_t>(rows.size() - before);
}

}  // namespace mindroot::ngrams
