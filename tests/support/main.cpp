// SPDX-License-Identifier: BSD-3-Clause
// The test program: GoogleTest's flags and
//   --seed N      replays a run; a failing run prints its seed
//   --reduced     fewer and smaller cases, for sanitizers
// It also fails if no test was selected, or if a suite, or the suite on one row of its list, ran but checked nothing;
// and returns 77 if every test was skipped.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include "harness.h"

namespace {

enum { ALL_SKIPPED = 77 };

bool parse(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        const bool has_value = i + 1 < argc;
        if (std::strcmp(argv[i], "--reduced") == 0)
            options.reduced = true;
        else if (std::strcmp(argv[i], "--seed") == 0 && has_value)
            options.seed = std::strtoull(argv[++i], nullptr, 0);
        else
            return false;
    }
    return true;
}

// Which rows of a suite, or suites without rows, checked nothing? A test's row follows the last "/" of its name.
class EmptyRows : public testing::EmptyTestEventListener {
  public:
    void OnTestStart(const testing::TestInfo &) override { before_ = checked(); }
    void OnTestEnd(const testing::TestInfo &test) override {
        const std::string name = test.name();
        const size_t at = name.rfind('/');
        if (!test.result()->Skipped())
            rows_[test.test_suite_name() + (at == name.npos ? "" : name.substr(at))] +=
                checked() - before_;
    }
    int count() const {
        int count = 0;
        for (const auto &[row, checks] : rows_)
            if (checks == 0)
                std::printf("gfk: %s checked nothing\n", row.c_str()), count++;
        return count;
    }

  private:
    uint64_t before_ = 0;
    std::map<std::string, uint64_t> rows_;
};

// Where ctest shares out GPUs, the one for this program becomes device 0, in front of the others.
void take_gpu() {
    const char *given = std::getenv("CTEST_RESOURCE_GROUP_0_GPUS"); // id:N,slots:1
    const char *gpus = std::getenv("GFK_TEST_GPUS");
    const int count = gpus ? std::atoi(gpus) : 0;
    int id = 0;
    if (given == nullptr || std::sscanf(given, "id:%d", &id) != 1)
        return;
    std::string order;
    for (int i = 0; i < count; i++)
        order += (i ? "," : "") + std::to_string((id + i) % count);
    if (count > 1)
        setenv("CUDA_VISIBLE_DEVICES", order.c_str(), 1);
}

} // namespace

int main(int argc, char **argv) {
    take_gpu();
    testing::InitGoogleTest(&argc, argv);
    if (!parse(argc, argv)) {
        std::fprintf(stderr, "usage: %s [--seed N] [--reduced] [--gtest_...]\n", argv[0]);
        return 2;
    }
    auto *empty = new EmptyRows; // GoogleTest's from here on
    testing::UnitTest::GetInstance()->listeners().Append(empty);
    const int result = RUN_ALL_TESTS();
    if (GTEST_FLAG_GET(list_tests))
        return result;
    const testing::UnitTest *tests = testing::UnitTest::GetInstance();
    const auto n = static_cast<unsigned long long>(checked());
    std::printf("gfk: %d tests, %d failed, %d skipped; %llu combinations checked; seed %llu\n",
                tests->test_to_run_count(), tests->failed_test_count(), tests->skipped_test_count(),
                n, static_cast<unsigned long long>(options.seed));
    if (result != 0)
        return result;
    if (tests->test_to_run_count() == 0) {
        std::printf("gfk: no test has such a name\n");
        return 1;
    }
    if (tests->skipped_test_count() == tests->test_to_run_count()) {
        std::printf("gfk: every test was skipped\n");
        return ALL_SKIPPED;
    }
    return empty->count() != 0;
}
