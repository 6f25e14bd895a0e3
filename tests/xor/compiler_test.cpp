// SPDX-License-Identifier: BSD-3-Clause
// The compiler that fills the xor engine's caches.
#include <cstring>

#include "matrices.h"
extern "C" {
#include "host/product/xor/compiler.h"
}

// LeakSanitizer asks for this: nvJitLink keeps some bytes of a text that it refused.
extern "C" const char *__lsan_default_suppressions();
extern "C" const char *__lsan_default_suppressions() {
    return "leak:libnvJitLink";
}

namespace {

TEST(XorCompiler, MakesMachineCode) {
    const std::string ptx =
        ptx_of(make_matrix("random", make_field(8), 4, 10), gfk_jit_choose_target(8, 4, 10, 90));
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
    count_checked();
}

} // namespace
