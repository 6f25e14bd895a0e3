// SPDX-License-Identifier: BSD-3-Clause
// Every public call runs on a thread whose stack has 64 KiB, with the shapes that need most; on a GPU
// 256 KiB, because the CUDA driver copies parameters and loads kernels on the caller's stack. A call
// that needs more ends the program; the test also says which functions it does not call.
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>
#include <type_traits>

#include "support/engine_fixture.h"
#include "support/places.h"

#include <gfk/host.h>

namespace {

size_t stack = 64 << 10;
// What calls leave free: a signal's frame takes up to 11 KiB on some CPUs, the thread's own data, those of the CUDA
// runtime in the library and in this program among them, 5 to 22 KiB.
size_t reserve = 24 << 10;
std::map<std::string, size_t> depths; // of every function that was called

// Runs body on such a thread, and measures how much of the stack has been written.
void on_small_stack(const char *name, const std::function<void()> &body) {
    struct Run {
        const std::function<void()> *body;
        size_t depth;
    } run = {&body, 0};
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, stack);
    pthread_t thread;
    const auto start = [](void *argument) -> void * {
        Run *r = static_cast<Run *>(argument);
        pthread_attr_t own;
        void *begin = nullptr;
        size_t bytes = 0, guard = 0;
        pthread_getattr_np(pthread_self(), &own);
        pthread_attr_getstack(&own, &begin, &bytes);
        pthread_attr_getguardsize(&own, &guard);
        pthread_attr_destroy(&own);
        auto *low = static_cast<volatile unsigned char *>(begin);
        auto *here = static_cast<unsigned char *>(__builtin_frame_address(0));
        const auto room = size_t(here - static_cast<unsigned char *>(begin)) - 512;
        for (size_t i = guard; i < room; i++)
            low[i] = 0xa5;
        (*r->body)();
        size_t untouched = guard;
        while (untouched < room && low[untouched] == 0xa5)
            untouched++;
        r->depth = size_t(here - static_cast<unsigned char *>(begin)) - untouched;
        return nullptr;
    };
    ASSERT_EQ(0, pthread_create(&thread, &attributes, start, &run)) << name;
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
    EXPECT_LE(run.depth, stack - reserve) << name;
    depths[name] = std::max(depths[name], run.depth);
    count_checked();
}

// Calls function there; returns what the function returns.
template <class F>
auto call(const char *name, const F &function) {
    if constexpr (std::is_void_v<decltype(function())>) {
        on_small_stack(name, function);
    } else {
        decltype(function()) result{};
        on_small_stack(name, [&] { result = function(); });
        return result;
    }
}
#define CALL(function, ...) (call(#function, [&] { return function(__VA_ARGS__); }))
#define CALL_OK(function, ...) EXPECT_OK(CALL(function, __VA_ARGS__))

class Stack : public PlaceTest {
  protected:
    // After all tests of a side: is there a public function that none of them calls?
    static void TearDownTestSuite() {
        const testing::TestSuite *suite = testing::UnitTest::GetInstance()->current_test_suite();
        if (depths.empty() || 2 * suite->test_to_run_count() < suite->total_test_count())
            return;
        std::istringstream names{GFK_TEST_EXPORTS};
        for (std::string name; std::getline(names, name, ',');)
            EXPECT_TRUE(depths.count(name)) << name << " runs on no small stack";
        std::vector<std::pair<size_t, std::string>> deepest;
        for (const auto &[name, depth] : depths)
            deepest.emplace_back(depth, name);
        std::sort(deepest.rbegin(), deepest.rend());
        deepest.resize(std::min<size_t>(deepest.size(), 5));
        for (const auto &[depth, name] : deepest)
            std::printf("gfk: %s needs %zu bytes of a stack of %zu\n", name.c_str(), depth, stack);
    }
    void SetUp() override {
        PlaceTest::SetUp();
        stack = size_t(host() ? 64 : 256) << 10;
        reserve = host() ? 24 << 10 : 0;
    }
    int device() const { return host() ? GFK_CPU : GFK_CURRENT_DEVICE; }
    gfk_matmul_desc matmul_desc() const {
        gfk_matmul_desc desc = GFK_MATMUL_DESC_INIT;
        desc.device = device();
        return desc;
    }
    Random random_;
};

// A block of memory at a multiple of 256 bytes.
struct Workspace {
    Workspace(bool host, size_t bytes) : memory(host, bytes + 256) {}
    uint8_t *data() const {
        return memory.data() + (256 - reinterpret_cast<uintptr_t>(memory.data()) % 256);
    }
    Memory memory;
};

// Equally spaced regions, all random.
struct Regions {
    Regions(bool host, size_t count, size_t of_each, Random &random)
        : bytes(of_each), memory(host, random.bytes(count * of_each)) {}
    gfk_regions from(size_t first) const { return {nullptr, memory.data() + first * bytes, bytes}; }
    size_t bytes;
    Memory memory;
};

TEST_P(Stack, Lists) {
    const char *reason = nullptr;
    for (size_t i = 0; i < CALL(gfk_engine_count); i++) {
        const Engine engine = CALL(gfk_engine_at, i);
        CALL(gfk_engine_available, engine, device(), &reason);
        EXPECT_EQ(engine, CALL(gfk_engine_find, engine->id));
        CALL(gfk_engine_family_name, engine->family);
        CALL(gfk_engine_family_on_cpu, engine->family);
        if (CALL(gfk_compiled_kernel_count, engine->id) != 0)
            CALL(gfk_compiled_kernel_at, engine->id, 0);
    }
    CALL(gfk_method_name, GFK_METHOD_SPLIT);
    CALL(gfk_implementation_name, GFK_IMPLEMENTATION_OPT);
    CALL(gfk_path_name, GFK_PATH_GPU);
    CALL(gfk_rs_matrix_name, GFK_RS_CAUCHY);
    CALL(gfk_status_name, GFK_STATUS_SUCCESS);
    CALL(gfk_status_description, GFK_STATUS_SUCCESS);
    CALL(gfk_version);
    gfk_field f;
    uint32_t result;
    CALL_OK(gfk_field_init, &f, w(), 0);
    CALL_OK(gfk_field_multiply, &f, 3, 5, &result);
    CALL_OK(gfk_field_divide, &f, 3, 5, &result);
    CALL_OK(gfk_field_inverse, &f, 5, &result);
    CALL_OK(gfk_field_pow, &f, 5, 1000, &result);
}

TEST_P(Stack, Multipliers) {
    const gfk_field f = field();
    const size_t bytes = 40000;
    Regions regions(host(), 2, bytes, random_);
    uint8_t *from = regions.memory.data(), *to = from + bytes;
    const char *reason = nullptr;
    for (size_t i = 0; i < CALL(gfk_kernel_count); i++) {
        const gfk_kernel_info *kernel = CALL(gfk_kernel_at, i);
        EXPECT_EQ(kernel, CALL(gfk_kernel_find, kernel->id));
        CALL(gfk_kernel_available, kernel, device(), &reason);
        gfk_multiplier_desc desc = GFK_MULTIPLIER_DESC_INIT;
        if (kernel->w != w() || (kernel->implementation == GFK_IMPLEMENTATION_HOST) != host())
            continue;
        desc.kernel = kernel->id;
        gfk_multiplier_info info;
        gfk_multiplier_t multiplier = nullptr;
        if (CALL(gfk_multiplier_query, &f, &desc, &info) != GFK_STATUS_SUCCESS ||
            CALL(gfk_multiplier_create, &multiplier, &f, &desc) != GFK_STATUS_SUCCESS)
            continue; // gigabytes of tables
        CALL_OK(gfk_multiplier_get_info, multiplier, &info);
        Memory workspace(host(), size_t(info.workspace_bytes) + 1);
        const auto room = size_t(info.workspace_bytes);
        CALL_OK(gfk_region_multiply, multiplier, 7, from, to, bytes, GFK_XOR, workspace.data(),
                room, nullptr);
        CALL_OK(gfk_region_prepare, multiplier, 7, workspace.data(), room, nullptr);
        CALL_OK(gfk_region_multiply_prepared, multiplier, 7, from, to, bytes, GFK_SET,
                workspace.data(), room, nullptr);
        CALL(gfk_multiplier_destroy, multiplier);
    }
    gfk_multiplier_desc parsed = GFK_MULTIPLIER_DESC_INIT;
    CALL(gfk_multiplier_desc_parse, &parsed, "-m SPLIT 8 4 -");
}

TEST_P(Stack, Products) {
    const gfk_field f = field();
    for (const Engine engine : engines()) {
        if (engine->w != w() || on_host(engine) != host())
            continue;
        const size_t rows = host() ? 70 : 4, cols = host() ? 200 : 10, bytes = 4124;
        const Matrix matrix = random_matrix(w(), rows, cols, random_);
        const gfk_product_desc desc = product_desc(engine);
        gfk_product_info info;
        gfk_product_t product = nullptr;
        if (CALL(gfk_product_query, &f, rows, cols, &desc, &info) != GFK_STATUS_SUCCESS ||
            info.table_bytes > UINT64_C(1) << 30)
            continue;
        CALL_OK(gfk_product_create, &product, &f, rows, cols, matrix.elements.data(), &desc);
        CALL_OK(gfk_product_get_info, product, &info);
        Regions regions(host(), rows + cols, bytes, random_);
        const gfk_regions in = regions.from(0), out = regions.from(cols);
        for (gfk_accumulate mode : {GFK_SET, GFK_XOR})
            CALL_OK(gfk_product_run, product, &in, &out, bytes, mode, nullptr);
        CALL(gfk_product_destroy, product);
    }
}

TEST_P(Stack, Codes) {
    const gfk_field f = field();
    const size_t k = w() == 8 ? 200 : 1030, m = w() == 8 ? 56 : host() ? 700 : 64, bytes = 124;
    for (const Engine engine : engines()) {
        if (engine->w != w() || on_host(engine) != host())
            continue;
        gfk_rs_desc desc = GFK_RS_DESC_INIT;
        desc.product = product_desc(engine);
        gfk_rs_t code = nullptr;
        const gfk_status created = CALL(gfk_rs_create, &code, &f, k, m, &desc);
        if (created != GFK_STATUS_SUCCESS)
            continue; // the engine does not take the shape
        gfk_rs_info info;
        std::vector<uint32_t> elements(k * m);
        CALL_OK(gfk_rs_get_info, code, &info);
        CALL_OK(gfk_rs_get_matrix, code, elements.data());
        CALL_OK(gfk_rs_fill_matrix, &f, GFK_RS_CAUCHY, k, m, elements.data());
        Regions regions(host(), k + m, bytes, random_);
        const gfk_regions data = regions.from(0), parity = regions.from(k);
        // Pointers that do not ascend, so that looking for overlaps sorts them.
        std::vector<void *> pointers;
        for (size_t i = k + m; i-- > 0;)
            pointers.push_back(regions.memory.data() + i * bytes);
        const gfk_regions scattered_data = {pointers.data(), nullptr, 0};
        const gfk_regions scattered_parity = {pointers.data() + k, nullptr, 0};
        Memory word(host(), 16);
        auto *differs = reinterpret_cast<uint32_t *>(word.data());
        Indices lost = indices(0, m / 2), second = indices(0, m - m / 2);
        for (size_t j : second)
            lost.push_back(k + j);
        CALL_OK(gfk_rs_encode, code, &data, &parity, bytes, nullptr);
        CALL_OK(gfk_rs_verify, code, &data, &parity, bytes, differs, nullptr);
        CALL_OK(gfk_rs_decode, code, lost.data(), lost.size(), nullptr, 0, &data, &parity, bytes,
                nullptr);
        CALL_OK(gfk_rs_encode, code, &scattered_data, &scattered_parity, bytes, nullptr);
        CALL_OK(gfk_rs_decode, code, lost.data(), lost.size(), nullptr, 0, &scattered_data,
                &scattered_parity, bytes, nullptr);
        CALL_OK(gfk_rs_decode, code, lost.data(), lost.size(), lost.data(), 2, &scattered_data,
                &scattered_parity, bytes, nullptr);
        gfk_rs_decoder_t decoder = nullptr;
        gfk_product_info of_decoder;
        CALL_OK(gfk_rs_decoder_create, &decoder, code, lost.data(), lost.size(), nullptr, 0,
                nullptr);
        CALL_OK(gfk_rs_decoder_get_info, decoder, &of_decoder, nullptr);
        CALL_OK(gfk_rs_decoder_run, decoder, &data, &parity, bytes, nullptr);
        CALL(gfk_rs_decoder_destroy, decoder);
        Regions changed(host(), 3, bytes, random_);
        uint8_t *before = changed.memory.data(), *after = before + bytes, *delta = after + bytes;
        gfk_rs_updater_t updater = nullptr;
        CALL_OK(gfk_rs_updater_create, &updater, code, 3, nullptr);
        CALL_OK(gfk_rs_updater_run, updater, before, after, &parity, bytes, nullptr);
        CALL_OK(gfk_rs_delta, code, before, after, delta, bytes, nullptr);
        CALL_OK(gfk_rs_updater_apply, updater, delta, &parity, bytes, nullptr);
        CALL(gfk_rs_updater_destroy, updater);
        CALL_OK(gfk_rs_update, code, 3, before, after, &scattered_parity, bytes, nullptr);
        CALL_OK(gfk_rs_apply_delta, code, 3, delta, &parity, bytes, nullptr);
        const gfk_rs_stripe stripes[] = {{data, parity, bytes, nullptr, 0},
                                         {data, parity, bytes, lost.data(), host() ? 30u : 3u}};
        gfk_rs_batch_t batch = nullptr;
        if (CALL(gfk_rs_batch_create, &batch, code, stripes, 2, nullptr) == GFK_STATUS_SUCCESS) {
            CALL_OK(gfk_rs_batch_run, batch, nullptr);
            if (!host())
                device::synchronize(nullptr);
            CALL(gfk_rs_batch_destroy, batch);
        }
        CALL(gfk_rs_destroy, code);
    }
}

// A custom matrix is checked and inverted; every Vandermonde matrix of another library is made.
TEST_P(Stack, Matrices) {
    const gfk_field f = field();
    const size_t k = 40, m = 12, bytes = 4096;
    std::vector<uint32_t> elements(k * m);
    for (int kind = GFK_RS_CAUCHY; std::strcmp(gfk_rs_matrix_name(gfk_rs_matrix(kind)), "unknown");
         kind++) {
        if (kind > 32)
            break;
        CALL(gfk_rs_fill_matrix, &f, gfk_rs_matrix(kind), k, m, elements.data());
    }
    CALL_OK(gfk_rs_fill_matrix, &f, GFK_RS_CAUCHY, k, m, elements.data());
    gfk_rs_desc desc = GFK_RS_DESC_INIT;
    desc.product.device = device();
    desc.matrix = GFK_RS_CUSTOM;
    desc.custom = elements.data();
    desc.flags = GFK_RS_UNCHECKED;
    gfk_rs_t code = nullptr;
    CALL_OK(gfk_rs_create, &code, &f, k, m, &desc);
    Regions regions(host(), k + m, bytes, random_);
    const gfk_regions data = regions.from(0), parity = regions.from(k);
    const Indices lost = indices(0, m);
    CALL_OK(gfk_rs_decode, code, lost.data(), m, nullptr, 0, &data, &parity, bytes, nullptr);
    CALL(gfk_rs_destroy, code);
}

TEST_P(Stack, Locate) {
    const gfk_field f = field();
    const size_t k = 40, m = 8, bytes = 32768;
    gfk_rs_desc desc = GFK_RS_DESC_INIT;
    desc.product.device = device();
    gfk_rs_t code = nullptr;
    ASSERT_OK(CALL(gfk_rs_create, &code, &f, k, m, &desc));
    Regions regions(host(), k + m, bytes, random_); // damage of every kind: nothing is explained
    const gfk_regions data = regions.from(0), parity = regions.from(k);
    for (bool damage_is_small : {false, true}) {
        if (damage_is_small) {
            CALL_OK(gfk_rs_encode, code, &data, &parity, bytes, nullptr);
            const Bytes other = random_.bytes(bytes);
            for (size_t region : {3, 9, 41})
                regions.memory.write(region * bytes, other.data(), bytes);
            for (size_t i = 0; i < 3000; i++)
                regions.memory.write(random_.below(regions.memory.size()), other.data() + i, 1);
        }
        size_t workspace_bytes = 0;
        gfk_status status = CALL(gfk_rs_locate_workspace, code, bytes, &workspace_bytes);
        Workspace workspace(host(), workspace_bytes), results(host(), 256 + 8 * (k + m));
        auto *verdict = reinterpret_cast<gfk_rs_verdict *>(results.data());
        auto *counts = reinterpret_cast<uint64_t *>(results.data() + sizeof(gfk_rs_verdict));
        if (status == GFK_STATUS_SUCCESS) {
            CALL_OK(gfk_rs_locate, code, &data, &parity, bytes, GFK_RS_REPAIR, verdict, counts,
                    workspace.data(), workspace_bytes, nullptr);
        }
    }
    CALL(gfk_rs_destroy, code);
}

TEST_P(Stack, MatricesOfAnySize) {
    const gfk_field f = field();
    const gfk_matmul_desc desc = matmul_desc();
    const size_t n = 300, bytes = 4096;
    Regions regions(host(), 2 * n, bytes, random_);
    const gfk_regions b = regions.from(0), c = regions.from(n);
    size_t workspace_bytes = 0;
    const char *id = nullptr;
    CALL_OK(gfk_matmul_workspace, &f, n, n, bytes, &desc, &workspace_bytes);
    CALL(gfk_matmul_kernel_id, &f, n, n, bytes, &desc, &id);
    Workspace for_matmul(host(), workspace_bytes);
    Regions elements(host(), n, n * symbol(), random_);
    const gfk_matrix dense = GFK_MATRIX_DENSE_INIT(elements.memory.data(), n, n, n);
    CALL_OK(gfk_matmul, &f, &dense, &b, &c, bytes, GFK_SET, &desc, for_matmul.data(),
            workspace_bytes, nullptr);
    // Points that do not ascend are looked up in a table.
    std::vector<uint32_t> points;
    const uint32_t most = w() == 8 ? 100 : n;
    for (uint32_t i = 0; i < 2 * most; i++)
        points.push_back(i % 2 == 0 ? i + 1 : i - 1);
    gfk_matrix made = GFK_MATRIX_DENSE_INIT(nullptr, most, most, most);
    made.kind = GFK_MATRIX_CAUCHY;
    made.row_points = points.data();
    made.col_points = points.data() + most;
    std::vector<uint32_t> filled(most * most);
    CALL_OK(gfk_matrix_fill, &f, &made, filled.data());
    CALL_OK(gfk_matmul, &f, &made, &b, &c, bytes, GFK_XOR, &desc, for_matmul.data(),
            workspace_bytes, nullptr);

    Workspace record_memory(host(), 256), pivots(host(), 64 * n * 4);
    auto *record = reinterpret_cast<gfk_matrix_record *>(record_memory.data());
    auto *columns = reinterpret_cast<uint32_t *>(pivots.data());
    gfk_matrix_record copy;
    Workspace inverse(host(), n * n * symbol());
    CALL_OK(gfk_matrix_invert_workspace, &f, n, &desc, &workspace_bytes);
    Workspace for_invert(host(), workspace_bytes);
    CALL_OK(gfk_matrix_invert, &f, &dense, inverse.data(), n, record, columns, &desc,
            for_invert.data(), workspace_bytes, nullptr);
    CALL(gfk_matrix_wait, record, &desc, nullptr, &copy);
    CALL_OK(gfk_matrix_solve_workspace, &f, n, bytes, &desc, &workspace_bytes);
    Workspace for_solve(host(), workspace_bytes);
    CALL_OK(gfk_matrix_solve, &f, &dense, &b, &c, bytes, record, columns, &desc, for_solve.data(),
            workspace_bytes, nullptr);
    CALL_OK(gfk_matrix_rank_workspace, &f, n, n, &desc, &workspace_bytes);
    Workspace for_rank(host(), workspace_bytes);
    CALL_OK(gfk_matrix_rank, &f, &dense, record, columns, &desc, for_rank.data(), workspace_bytes,
            nullptr);
    Workspace records(host(), 16 * sizeof(gfk_matrix_record));
    const gfk_status batch = CALL(
        gfk_matrix_invert_batch, &f, 64, 4, elements.memory.data(), 64 * 64, inverse.data(),
        64 * 64, reinterpret_cast<gfk_matrix_record *>(records.data()), columns, &desc, nullptr);
    EXPECT_STATUS(host() ? GFK_STATUS_NOT_SUPPORTED : GFK_STATUS_SUCCESS, batch);
}

TEST_P(Stack, NetworkCoding) {
    const gfk_field f = field();
    const size_t n = 100, bytes = 1024, count = n + 8, stride = n;
    gfk_rlnc_desc desc = GFK_RLNC_DESC_INIT;
    desc.device = device();
    desc.seed = 7;
    gfk_rlnc_t code = nullptr;
    ASSERT_OK(CALL(gfk_rlnc_create, &code, &f, n, bytes, &desc));
    const gfk_rlnc_range range = {0, 1, 0, count};
    Regions sources(host(), n, bytes, random_), payloads(host(), count, bytes, random_),
        mixed(host(), count, bytes, random_);
    const gfk_regions from = sources.from(0), to = payloads.from(0), other = mixed.from(0);
    Workspace vectors(host(), count * stride * symbol()),
        mixed_vectors(host(), count * stride * symbol());
    size_t room = 0;
    CALL_OK(gfk_rlnc_vectors, code, &range, vectors.data(), stride, nullptr);
    CALL_OK(gfk_rlnc_encode_workspace, code, &range, &room);
    Workspace for_encode(host(), room);
    CALL_OK(gfk_rlnc_encode, code, &range, &from, &to, vectors.data(), stride, for_encode.data(),
            room, nullptr);
    CALL_OK(gfk_rlnc_recode_workspace, code, &range, count, &room);
    Workspace for_recode(host(), room);
    CALL_OK(gfk_rlnc_recode, code, &range, 5, count, vectors.data(), stride, &to,
            mixed_vectors.data(), stride, &other, for_recode.data(), room, nullptr);
    std::vector<gfk_rlnc_header> headers;
    for (uint32_t i = 0; i < count; i++)
        headers.push_back({0, i, 0});
    gfk_rlnc_decoder_t decoder = nullptr;
    ASSERT_OK(CALL(gfk_rlnc_decoder_create, &decoder, code, 0, 1, 2));
    Workspace outcomes(host(), count), decoded(host(), n);
    gfk_rlnc_record record;
    CALL_OK(gfk_rlnc_decoder_add, decoder, headers.data(), count, vectors.data(), stride, &to,
            outcomes.data(), nullptr);
    CALL_OK(gfk_rlnc_decoder_decode, decoder, &from, decoded.data(), nullptr);
    CALL_OK(gfk_rlnc_decoder_wait, decoder, nullptr, 0, 1, &record);
    CALL_OK(gfk_rlnc_decoder_reset, decoder, 1, nullptr);
    CALL(gfk_rlnc_decoder_destroy, decoder);
    CALL(gfk_rlnc_destroy, code);
}

// Everything is in host memory; on the side of the GPU the pipeline's path is BOTH.
TEST_P(Stack, Pipelines) {
    const gfk_field f = field();
    gfk_pipeline_desc of_pipeline = GFK_PIPELINE_DESC_INIT;
    of_pipeline.path = host() ? GFK_PATH_CPU : GFK_PATH_BOTH;
    gfk_pipeline_t p = nullptr;
    ASSERT_OK(CALL(gfk_pipeline_create, &p, &of_pipeline));
    gfk_pipeline_info info;
    gfk_pipeline_report report;
    CALL_OK(gfk_pipeline_get_info, p, &info);
    const size_t k = w() == 8 ? 150 : 1030, m = 64, n = 100,
                 bytes = (host() && w() != 8 ? 16384 : 65536) + 124;
    Regions regions(true, k + m, bytes, random_);
    const gfk_regions in = regions.from(0), out = regions.from(k);
    const Matrix matrix = random_matrix(w(), m, k, random_);
    CALL_OK(gfk_product_host, p, &f, m, k, matrix.elements.data(), &in, &out, bytes, GFK_SET,
            &report);
    CALL_OK(gfk_region_multiply_host, p, &f, 3, regions.memory.data(),
            regions.memory.data() + bytes, bytes, GFK_XOR, &report);
    Regions elements(true, m, k * symbol(), random_);
    const gfk_matrix dense = GFK_MATRIX_DENSE_INIT(elements.memory.data(), m, k, k);
    CALL_OK(gfk_matmul_host, p, &f, &dense, &in, &out, bytes, GFK_SET, &report);
    gfk_rs_desc desc = GFK_RS_DESC_INIT;
    desc.product.device = device();
    gfk_rs_t code = nullptr;
    ASSERT_OK(CALL(gfk_rs_create, &code, &f, k, m, &desc));
    uint32_t differs = 0;
    const Indices lost = indices(0, m);
    CALL_OK(gfk_rs_encode_host, p, code, &in, &out, bytes, &report);
    CALL_OK(gfk_rs_verify_host, p, code, &in, &out, bytes, &differs, &report);
    CALL_OK(gfk_rs_decode_host, p, code, lost.data(), m, nullptr, 0, &in, &out, bytes, &report);
    CALL(gfk_rs_destroy, code);

    gfk_rlnc_desc of_packets = GFK_RLNC_DESC_INIT;
    of_packets.device = device();
    gfk_rlnc_t rlnc = nullptr;
    const size_t length = 1024, stride = n;
    ASSERT_OK(CALL(gfk_rlnc_create, &rlnc, &f, n, length, &of_packets));
    Bytes vectors(n * stride * symbol());
    Regions packets(true, 3 * n, length, random_);
    const gfk_regions sources = packets.from(0), payloads = packets.from(n),
                      others = packets.from(2 * n);
    CALL_OK(gfk_rlnc_encode_host, p, rlnc, 0, 0, n, &sources, &payloads, &report);
    std::vector<gfk_rlnc_header> headers;
    for (uint32_t i = 0; i < n; i++)
        headers.push_back({0, i, 0});
    gfk_rlnc_record record;
    Bytes decoded(n);
    CALL_OK(gfk_rlnc_decode_host, p, rlnc, 0, headers.data(), n, nullptr, 0, &payloads, &sources,
            decoded.data(), &record, &report);
    Bytes received = random_.bytes(n * stride * symbol());
    CALL_OK(gfk_rlnc_recode_host, p, rlnc, 0, 0, n, 3, n, received.data(), stride, &payloads,
            vectors.data(), stride, &others, &report);
    CALL(gfk_rlnc_destroy, rlnc);
    CALL(gfk_pipeline_destroy, p);
}

TEST_P(Stack, Calibrations) {
    if (w() != 8)
        GTEST_SKIP() << "a calibration has all widths";
    gfk_pipeline_desc desc = GFK_PIPELINE_DESC_INIT;
    desc.path = host() ? GFK_PATH_CPU : GFK_PATH_BOTH;
    gfk_calibration calibration;
    const std::string file = testing::TempDir() + "stack_" + std::to_string(getpid());
    CALL_OK(gfk_calibrate, &desc, file.c_str(), &calibration);
    CALL_OK(gfk_calibration_save, &calibration, file.c_str());
    CALL_OK(gfk_calibration_load, &calibration, file.c_str());
    unlink(file.c_str());
    const gfk_field f = field();
    gfk_advice advice;
    CALL_OK(gfk_advise, &calibration, &f, 10, 4, 1 << 20, GFK_PAGEABLE, &advice);
    void *memory = nullptr;
    CALL_OK(gfk_pinned_alloc, &memory, 4096);
    CALL(gfk_pinned_free, memory);
    Workspace pages(true, 8192);
    CALL(gfk_pinned_register, pages.data(), 4096);
    CALL(gfk_pinned_unregister, pages.data());
}

INSTANTIATE_AT(Stack, test_places());

} // namespace
