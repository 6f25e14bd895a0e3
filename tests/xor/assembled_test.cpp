// SPDX-License-Identifier: BSD-3-Clause
// The kernels of the xor engine as ptxas assembles them.
#include <fstream>
#include <unistd.h>

#include "matrices.h"

namespace {

struct Shape {
    unsigned w;
    size_t cols, rows;
    int registers; // at most
};

const std::vector<Shape> codes = {
    {8, 4, 2, 40},    {8, 6, 3, 48},     {8, 8, 3, 56},     {8, 10, 4, 96},   {8, 12, 4, 96},
    {8, 16, 4, 72},   {8, 17, 3, 72},    {8, 20, 4, 96},    {8, 24, 4, 96},   {8, 30, 3, 104},
    {8, 50, 10, 255}, {8, 32, 16, 255},  {8, 64, 32, 255},  {16, 10, 4, 80},  {16, 16, 4, 128},
    {16, 30, 3, 128}, {32, 10, 4, 96},   {32, 16, 4, 96},   {32, 30, 3, 128}, {8, 1, 1, 32},
    {8, 12, 12, 96},  {16, 12, 12, 128}, {32, 12, 12, 128},
};

// Fewer inputs than outputs, so inputs are doubled.
const std::vector<Shape> transposed = {
    {8, 1, 2, 32},    {8, 1, 3, 32},   {8, 1, 4, 32},    {8, 1, 8, 40},    {16, 1, 2, 48},
    {16, 1, 3, 56},   {16, 1, 4, 64},  {16, 1, 8, 48},   {32, 1, 2, 48},   {32, 1, 3, 64},
    {32, 1, 4, 64},   {32, 1, 8, 64},  {8, 2, 4, 48},    {16, 2, 4, 64},   {32, 2, 4, 64},
    {32, 2, 8, 96},   {8, 8, 16, 104}, {8, 16, 32, 176}, {16, 8, 32, 176}, {32, 4, 32, 168},
    {32, 1, 64, 136},
};

// Two equal columns: an input before and after a change.
const std::vector<Shape> updates = {
    {8, 2, 2, 32},  {8, 2, 3, 32},  {8, 2, 4, 32},  {8, 2, 8, 40},  {16, 2, 2, 40}, {16, 2, 3, 48},
    {16, 2, 4, 64}, {16, 2, 8, 48}, {32, 2, 2, 48}, {32, 2, 3, 56}, {32, 2, 4, 64}, {32, 2, 8, 64},
};

// The number in front of words of ptxas's log; -1 if there is none.
int number_before(const std::string &log, const std::string &words) {
    const size_t end = log.find(" " + words);
    if (end == std::string::npos)
        return -1;
    return std::atoi(&log[log.find_last_not_of("0123456789", end - 1) + 1]);
}

void assemble(const Matrix &m, int most_registers) {
    SCOPED_TRACE(m.text());
    const std::string file = testing::TempDir() + "gfk_" + std::to_string(getpid()) + ".ptx";
    std::ofstream(file) << ptx_of(m, gfk_jit_choose_target(m.field.w, m.rows, m.cols, 90));
    FILE *pipe =
        popen((GFK_TEST_PTXAS " -v -arch=sm_90 " + file + " -o /dev/null 2>&1").c_str(), "r");
    ASSERT_NE(pipe, nullptr);
    std::string log;
    char buffer[512];
    while (std::fgets(buffer, sizeof buffer, pipe))
        log += buffer;
    std::remove(file.c_str());
    ASSERT_EQ(pclose(pipe), 0) << log;
    EXPECT_EQ(number_before(log, "bytes spill stores"), 0) << log;
    const int registers = number_before(log, "registers");
    EXPECT_GT(registers, 0) << log;
    EXPECT_LE(registers, most_registers) << log;
    count_checked();
}

void assemble(const std::vector<Shape> &shapes, const std::vector<const char *> &kinds) {
    if (*GFK_TEST_PTXAS == '\0')
        GTEST_SKIP() << "there is no ptxas: the kernels are not assembled";
    for (const Shape &s : shapes)
        for (const char *kind : kinds)
            assemble(make_matrix(kind, make_field(s.w), s.rows, s.cols), s.registers);
}

TEST(XorPtxAssembled, RegistersAndSpills) {
    assemble(codes, {"random", "cauchy"});
}
TEST(XorPtxAssembled, InputsDoubled) {
    assemble(transposed, {"random", "cauchy"});
}
TEST(XorPtxAssembled, Updates) {
    assemble(updates, {"equal"});
}

} // namespace
