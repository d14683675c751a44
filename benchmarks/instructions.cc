// Decodes each sentence of a file once, for callgrind to count the instructions. Arguments: file of float32 matrices, n.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <valgrind/callgrind.h>

#include "decode.hh"

int main(int, char** arguments) {
    std::FILE* file = std::fopen(arguments[1], "rb");
    const int n = std::atoi(arguments[2]);
    std::vector<float> scores(static_cast<std::size_t>(n) * (n + 1));
    std::vector<std::int32_t> heads(n);
    int count = 0;
    for (; std::fread(scores.data(), sizeof(float), scores.size(), file) == scores.size(); ++count) {
        const mindroot::Sentence sentence{scores.data(), n + 1, 1, n, false, heads.data()};
        if (count > 0) CALLGRIND_TOGGLE_COLLECT;  // the first sentence allocates the workspace
        if (mindroot::decode_sentence(sentence, true)) return 1;
        if (count > 0) CALLGRIND_TOGGLE_COLLECT;
    }
    std::fclose(file);
}
