// SPDX-License-Identifier: BSD-3-Clause
// The kernels of the xor engine as ptxas assembles them, and the compiler that fills caches.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

#include "text.h"
extern "C" {
#include "host/product/xor/compiler.h"
}

// LeakSanitizer asks for this: nvJitLink keeps some bytes of a text that it refused.
extern "C" const char *__lsan_default_suppressions();
extern "C" const char *__lsan_default_suppressions() {
    return "leak:libnvJitLink";
}

namespace {

struct Shape {
    unsigned w;
    size_t cols, rows;
    unsigned registers; // at most
};

const Shape shapes[] = {
    {8, 4, 2, 40},    {8, 6, 3, 48},     {8, 8, 3, 56},     {8, 10, 4, 96},   {8, 12, 4, 96},
    {8, 16, 4, 72},   {8, 17, 3, 72},    {8, 20, 4, 96},    {8, 24, 4, 96},   {8, 30, 3, 104},
    {8, 50, 10, 255}, {8, 32, 16, 255},  {8, 64, 32, 255},  {16, 10, 4, 80},  {16, 16, 4, 128},
    {16, 30, 3, 128}, {32, 10, 4, 96},   {32, 16, 4, 96},   {32, 30, 3, 128}, {8, 1, 1, 32},
    {8, 12, 12, 96},  {16, 12, 12, 128}, {32, 12, 12, 128},
};

// Fewer inputs than outputs, so inputs are doubled.
const Shape dual_shapes[] = {
    {8, 1, 2, 32},    {8, 1, 3, 32},   {8, 1, 4, 32},    {8, 1, 8, 40},    {16, 1, 2, 48},
    {16, 1, 3, 56},   {16, 1, 4, 64},  {16, 1, 8, 48},   {32, 1, 2, 48},   {32, 1, 3, 64},
    {32, 1, 4, 64},   {32, 1, 8, 64},  {8, 2, 4, 48},    {16, 2, 4, 64},   {32, 2, 4, 64},
    {32, 2, 8, 96},   {8, 8, 16, 104}, {8, 16, 32, 176}, {16, 8, 32, 176}, {32, 4, 32, 168},
    {32, 1, 64, 136},
};

// Two equal columns: an input before and after a change.
const Shape update_shapes[] = {
    {8, 2, 2, 32},  {8, 2, 3, 32},  {8, 2, 4, 32},  {8, 2, 8, 40},  {16, 2, 2, 40}, {16, 2, 3, 48},
    {16, 2, 4, 64}, {16, 2, 8, 48}, {32, 2, 2, 48}, {32, 2, 3, 56}, {32, 2, 4, 64}, {32, 2, 8, 64},
};

int number_before(const std::string &text, const char *what) {
    const size_t at = text.find(what);
    if (at == std::string::npos)
        return -1;
    size_t begin = at;
    while (begin > 0 &&
           (std::isdigit(static_cast<unsigned char>(text[begin - 1])) || text[begin - 1] == ' '))
        begin--;
    return std::atoi(text.c_str() + begin);
}

class XorPtxAssembled : public testing::Test {
  protected:
    char file[24] = "/tmp/gfk_jit_XXXXXX";

    void SetUp() override {
        if (*GFK_TEST_PTXAS == '\0')
            GTEST_SKIP() << "there is no ptxas: the kernels are not assembled";
        const int fd = mkstemp(file);
        ASSERT_GE(fd, 0);
        close(fd);
    }

    void TearDown() override { std::remove(file); }

    void assemble(const char *kind, const Shape &s) {
        SCOPED_TRACE(std::string(kind) + " w=" + std::to_string(s.w) + " " +
                     std::to_string(s.cols) + "+" + std::to_string(s.rows));
        const Matrix m = make_matrix(kind, field_of(s.w), s.rows, s.cols);
        const std::string ptx = ptx_of(m, gfk_jit_choose_target(s.w, s.rows, s.cols, 90));
        FILE *out = std::fopen(file, "w");
        ASSERT_EQ(std::fwrite(ptx.data(), 1, ptx.size(), out), ptx.size());
        std::fclose(out);
        const std::string command =
            std::string(GFK_TEST_PTXAS) + " -v -arch=sm_90 " + file + " -o /dev/null 2>&1";
        FILE *pipe = popen(command.c_str(), "r");
        ASSERT_NE(pipe, nullptr);
        std::string log;
        char buffer[512];
        while (std::fgets(buffer, sizeof buffer, pipe))
            log += buffer;
        ASSERT_EQ(pclose(pipe), 0) << log;
        EXPECT_EQ(number_before(log, "bytes spill stores"), 0) << log;
        const int registers = number_before(log, "registers");
        EXPECT_GT(registers, 0) << log;
        EXPECT_LE(registers, static_cast<int>(s.registers)) << log;
    }
};

TEST_F(XorPtxAssembled, RegistersAndSpills) {
    for (const Shape &s : shapes)
        for (const char *kind : {"random", "cauchy"})
            assemble(kind, s);
}

TEST_F(XorPtxAssembled, InputsDoubled) {
    for (const Shape &s : dual_shapes)
        for (const char *kind : {"random", "cauchy"})
            assemble(kind, s);
}

TEST_F(XorPtxAssembled, Updates) {
    for (const Shape &s : update_shapes)
        assemble("equal", s);
}

// The compiler that fills caches, where there is one.
TEST(XorCompiler, MakesMachineCode) {
    const std::string ptx =
        ptx_of(make_matrix("random", field_of(8), 4, 10), gfk_jit_choose_target(8, 4, 10, 90));
    gfk_bytes code{};
    if (!gfk_jit_compile(ptx.c_str(), ptx.size(), 90, &code)) {
        EXPECT_STREQ(gfk_jit_compiler_name(), "driver");
        GTEST_SKIP() << "there is no nvJitLink: the driver compiles";
    }
    ASSERT_GT(code.size, 1000u);
    EXPECT_EQ(std::memcmp(code.data, "\177ELF", 4), 0);
    std::free(code.data);
    // What it refuses is a refusal, not a crash.
    EXPECT_FALSE(gfk_jit_compile("nonsense", 8, 90, &code));
    for (const unsigned cc : {0, 1, 52, 999}) // that it does not know
        EXPECT_FALSE(gfk_jit_compile(ptx.c_str(), ptx.size(), cc, &code));
}

} // namespace
