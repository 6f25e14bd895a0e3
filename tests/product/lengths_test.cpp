// SPDX-License-Identifier: BSD-3-Clause
// The engines on the CPU with regions of every length: the bytes, and the time. ISA-L's also with a
// newer ISA-L, which has other tables and other code for short regions on a CPU with GFNI.
#ifdef __x86_64__
#include <cpuid.h>
#endif
#include <dlfcn.h>
#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>

#include "support/engine_fixture.h"

namespace {

struct Shape {
    size_t rows, cols;
};
constexpr Shape shapes[] = {{4, 10}, {1, 1}, {7, 65}, {66, 70}, {56, 200}};

// Every length up to some vectors of 64 bytes, and tails of a page.
std::vector<size_t> lengths(const Shape &shape, size_t symbol = 1) {
    std::vector<size_t> found;
    for (size_t n = symbol; n <= (shape.rows * shape.cols > 500 ? 70 : 192); n += symbol)
        found.push_back(n);
    for (size_t tail : {4, 28, 32, 36, 60})
        found.push_back(4096 + tail + (symbol == 1 ? 3 : 0));
    return found;
}

// Threads that begin now run on the CPU of this one, so that the library's pool has no others and
// all work is in this thread's time.
class OneCpu {
  public:
    OneCpu() {
        cpu_set_t mine;
        CPU_ZERO(&mine);
        CPU_SET(size_t(sched_getcpu()), &mine);
        sched_getaffinity(0, sizeof before_, &before_);
        sched_setaffinity(0, sizeof mine, &mine);
    }
    ~OneCpu() { sched_setaffinity(0, sizeof before_, &before_); }
    OneCpu(const OneCpu &) = delete;
    OneCpu &operator=(const OneCpu &) = delete;

  private:
    cpu_set_t before_;
};

double seconds_of_thread() {
    timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

// Seconds of a run, the mean of some. What else the machine does makes them more.
double time_of(const Product &product, const gfk_regions &in, const gfk_regions &out,
               size_t bytes) {
    const gfk_product_info info = info_of(product.get());
    const size_t runs = 1 + 1000000 / (info.rows * info.cols * (bytes + 1000));
    const double begin = seconds_of_thread();
    for (size_t i = 0; i < runs; i++)
        require_success(gfk_product_run(product.get(), &in, &out, bytes, GFK_SET, nullptr),
                        "gfk_product_run");
    return (seconds_of_thread() - begin) / double(runs);
}

// The shortest times of both lengths, measured by turns: other programs slow down both.
void expect_time(double factor, double allowance, const Product &product, const gfk_regions &in,
                 const gfk_regions &out, size_t bytes, size_t reference) {
    double best = 1, best_reference = 1;
    const auto too_long = [&] { return best > factor * best_reference + allowance; };
    const double end = seconds_of_thread() + 2;
    for (int turn = 0; turn < 6 || (too_long() && seconds_of_thread() < end); turn++) {
        best_reference = std::min(best_reference, time_of(product, in, out, reference));
        best = std::min(best, time_of(product, in, out, bytes));
    }
    EXPECT_FALSE(too_long()) << best << " s for " << bytes << " bytes, " << best_reference
                             << " s for " << reference;
    count_checked();
}

// A length that is no multiple of a vector costs little more than the next multiple: `factor` times
// as much below 64 bytes.
void expect_times(double factor, const Product &product, size_t symbol) {
    const gfk_product_info info = info_of(product.get());
    const size_t pitch = 4096 + 192; // not the same lines of a cache for every region
    std::vector<uint8_t> memory((info.rows + info.cols) * pitch + 64);
    uint8_t *begin = memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64);
    const gfk_regions in = {nullptr, begin, pitch};
    const gfk_regions out = {nullptr, begin + info.cols * pitch, pitch};
    for (size_t bytes : {symbol, 16 - symbol, 32 - symbol, 32 + symbol, 64 - symbol})
        expect_time(factor, 2e-7, product, in, out, bytes, 64);
    expect_time(1.5, 0, product, in, out, 4096 + 32 - symbol, 4096 + 32);
}
constexpr Shape timed_shapes[] = {{4, 10}, {56, 200}};

class ProductLengths : public EngineTest {};

TEST_P(ProductLengths, Bytes) {
    Random random;
    for (const Shape &shape : shapes) {
        SKIP_UNLESS_TAKES(shape.rows, shape.cols);
        const Matrix matrix = random_matrix(w(), shape.rows, shape.cols, random);
        const Product product = make_product(field(), engine(), matrix);
        for (const size_t bytes : lengths(shape, symbol_bytes())) {
            if (options.reduced && shape.rows > 10 && bytes % 31 > 1)
                continue;
            Stage stage(engine(), field(), matrix, bytes, {Layout::PHASES, 0, 0}, random);
            ASSERT_NO_FATAL_FAILURE(check(product.get(), stage, random));
        }
    }
}

TEST_P(ProductLengths, Time) {
    if (SANITIZED)
        GTEST_SKIP() << "a sanitizer measures itself";
    Random random;
    const OneCpu one_cpu;
    for (const Shape &shape : timed_shapes) {
        SKIP_UNLESS_TAKES(shape.rows, shape.cols);
        const Matrix matrix = random_matrix(w(), shape.rows, shape.cols, random);
        // The other libraries' own calls take what they take.
        expect_times(engine()->family == GFK_ENGINE_ISAL ? 4 : 12,
                     make_product(field(), engine(), matrix), symbol_bytes());
    }
}

std::vector<Engine> engines_on_cpu() {
    std::vector<Engine> list;
    for (Engine engine : engines())
        if (on_host(engine))
            list.push_back(engine);
    return list;
}
PER_ENGINE(ProductLengths, engines_on_cpu());

// The bits of CPUID that ISA-L asks for. It takes GFNI with registers of 64 bytes if the CPU has all
// of them, and with registers of 32 bytes if the CPU has the first three and no AVX-512.
std::string cpu_features() {
    std::string names;
#ifdef __x86_64__
    struct Feature {
        const char *name;
        bool in_ecx;
        int bit;
    };
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx);
    for (const Feature &f : {Feature{"gfni", true, 8},
                             {"vaes", true, 9},
                             {"vpclmulqdq", true, 10},
                             {"avx2", false, 5},
                             {"avx512f", false, 16},
                             {"avx512dq", false, 17},
                             {"avx512cd", false, 28},
                             {"avx512bw", false, 30},
                             {"avx512vl", false, 31},
                             {"avx512vbmi2", true, 6},
                             {"avx512vnni", true, 11},
                             {"avx512bitalg", true, 12},
                             {"avx512vpopcntdq", true, 14}})
        names += std::string(names.empty() ? "" : " ") +
                 ((f.in_ecx ? ecx : ebx) >> f.bit & 1 ? "" : "no-") + f.name;
#endif
    return names;
}

// ISA-L of the build, or the file that GFK_TEST_ISAL names. Where the CPU has GFNI, a coefficient's
// table is a matrix of 8 bytes from 2.31 on, and four copies of that matrix from 2.32 on. Elsewhere
// the 32 bytes are the coefficient's products with 0, 1, 2, ...
class IsalGfni : public testing::Test {
  protected:
    void SetUp() override {
        const char *named = std::getenv("GFK_TEST_ISAL");
        path_ = named != nullptr ? named : GFK_TEST_ISAL_OF_BUILD;
        if (path_.empty())
            GTEST_SKIP() << "NOT TESTED: the build has no ISA-L, and GFK_TEST_ISAL names none";
        desc_.engine = "isal_w8";
        desc_.isal_library = path_.c_str();
    }
    // After everything was computed and compared: without GFNI that is no pass.
    void skip_without_gfni() const {
        void *library = dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL);
        ASSERT_NE(nullptr, library) << dlerror();
        using Init = void(int, int, unsigned char *, unsigned char *);
        auto *init = reinterpret_cast<Init *>(dlsym(library, "ec_init_tables"));
        ASSERT_NE(nullptr, init) << path_;
        unsigned char coefficient = 7;
        Bytes tables(32);
        init(1, 1, &coefficient, tables.data());
        const bool takes = tables[1] != coefficient;
        const bool has = dlsym(library, "ec_init_tables_gfni") != nullptr;
        const std::unique_ptr<char, decltype(&std::free)> real(realpath(path_.c_str(), nullptr),
                                                               std::free);
        const std::string file = real ? real.get() : path_;
        std::printf("gfk: ISA-L is %s; it %s GFNI; this CPU has %s\n", file.c_str(),
                    takes ? "takes"
                    : has ? "has code for"
                          : "has no code for",
                    cpu_features().c_str());
        if (!takes && !has)
            GTEST_SKIP() << "NOT TESTED with GFNI: the library " << file
                         << " has no code for it; GFK_TEST_ISAL names an ISA-L of 2.31 or newer";
        if (!takes)
            GTEST_SKIP() << "NOT TESTED with GFNI: this CPU lacks it: " << cpu_features();
    }
    std::string path_;
    gfk_product_desc desc_ = GFK_PRODUCT_DESC_INIT;
};

TEST_F(IsalGfni, EveryLength) {
    const Engine engine = gfk_engine_find("isal_w8");
    const gfk_field field = make_field(8);
    Random random;
    for (const Shape &shape : shapes) {
        const Matrix matrix = random_matrix(8, shape.rows, shape.cols, random);
        gfk_product_t made = nullptr;
        ASSERT_OK(gfk_product_create(&made, &field, shape.rows, shape.cols, matrix.elements.data(),
                                     &desc_))
            << path_;
        const Product product(made);
        for (const size_t bytes : lengths(shape)) {
            Stage stage(engine, field, matrix, bytes, {Layout::PHASES, 0, 0}, random);
            for (gfk_accumulate mode : {GFK_SET, GFK_XOR}) {
                stage.refill(random);
                stage.run(product.get(), mode);
                ASSERT_TRUE(stage.is_product(mode)) << bytes << " bytes with " << path_;
                count_checked();
            }
        }
    }
    skip_without_gfni();
}

TEST_F(IsalGfni, Time) {
    if (SANITIZED)
        GTEST_SKIP() << "a sanitizer measures itself";
    const gfk_field field = make_field(8);
    Random random;
    const OneCpu one_cpu;
    for (const Shape &shape : timed_shapes) {
        const Matrix matrix = random_matrix(8, shape.rows, shape.cols, random);
        gfk_product_t made = nullptr;
        ASSERT_OK(gfk_product_create(&made, &field, shape.rows, shape.cols, matrix.elements.data(),
                                     &desc_))
            << path_;
        expect_times(4, Product(made), 1);
    }
    skip_without_gfni();
}

// A code's checks, decoders and locating use the tables too.
TEST_F(IsalGfni, Codes) {
    const gfk_field field = make_field(8);
    gfk_rs_desc desc = GFK_RS_DESC_INIT;
    desc.product = desc_;
    gfk_rs_t code = nullptr;
    ASSERT_OK(gfk_rs_create(&code, &field, 20, 8, &desc)) << path_;
    const Owned<struct gfk_rs, gfk_rs_destroy> owner(code);
    Random random;
    for (size_t bytes : lengths({8, 20})) {
        const Bytes data = random.bytes(20 * bytes);
        Bytes all = data;
        all.resize(28 * bytes);
        const gfk_regions in = gfk_inputs_spaced(all.data(), bytes);
        const gfk_regions out = {nullptr, all.data() + 20 * bytes, bytes};
        ASSERT_OK(gfk_rs_encode(code, &in, &out, bytes, nullptr));
        const Bytes whole = all;
        uint32_t differs = 1;
        ASSERT_OK(gfk_rs_verify(code, &in, &out, bytes, &differs, nullptr));
        ASSERT_EQ(0u, differs) << bytes;
        const Indices lost = {0, 3, 19, 20, 27};
        for (size_t region : lost)
            std::fill_n(all.begin() + ptrdiff_t(region * bytes), bytes, uint8_t(0x5a));
        ASSERT_OK(
            gfk_rs_decode(code, lost.data(), lost.size(), nullptr, 0, &in, &out, bytes, nullptr));
        ASSERT_EQ(whole, all) << bytes;
        for (size_t region : {2, 5, 22}) // three damaged regions: a guess explains them
            for (size_t i = 0; i < bytes; i++)
                all[region * bytes + i] ^= uint8_t(1 + i % 255);
        ASSERT_OK(gfk_rs_verify(code, &in, &out, bytes, &differs, nullptr));
        ASSERT_NE(0u, differs) << bytes;
        size_t workspace_bytes = 0;
        ASSERT_OK(gfk_rs_locate_workspace(code, bytes, &workspace_bytes));
        const Owned<void, std::free> workspace(
            std::aligned_alloc(256, round_up(workspace_bytes + 1, 256)));
        gfk_rs_verdict verdict;
        std::vector<uint64_t> counts(28);
        ASSERT_OK(gfk_rs_locate(code, &in, &out, bytes, GFK_RS_REPAIR, &verdict, counts.data(),
                                workspace.get(), workspace_bytes, nullptr));
        ASSERT_EQ(whole, all) << bytes;
        count_checked(3);
    }
    skip_without_gfni();
}

} // namespace
