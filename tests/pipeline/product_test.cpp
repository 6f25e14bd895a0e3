// SPDX-License-Identifier: BSD-3-Clause
// Products and region multiply of host memory: widths, lengths around what is cut where, places,
// limits on memory, numbers of streams and threads. Threads that share a pipeline.
#include "fixture.h"

#include <algorithm>
#include <numeric>

namespace {

constexpr gfk_accumulate MODES[] = {GFK_SET, GFK_XOR};
constexpr unsigned WIDTHS[] = {8, 16, 32};

class HostProduct : public HostTest {};

// The CPU's slices are 4 KiB to 64 KiB long, by the number of regions.
std::vector<size_t> lengths(unsigned w) {
    const size_t s = w / 8;
    if (options.reduced)
        return {s, 4096, 4096 + s, 20000 / s * s};
    return {s,        3 * s,     252,   256,           256 + s,        4096 - s, 4096,
            4096 + s, 36864 - s, 36864, 65536 + 3 * s, 100000 / s * s, 131072,   262144 + s};
}

TEST_P(HostProduct, LengthsAndPlaces) {
    const size_t shapes[][2] = {{1, 1}, {4, 10}, {2, 4}, {3, 1}};
    uint64_t stream = 0;
    for (unsigned w : WIDTHS) {
        const Pipeline pipeline = make_pipeline(desc());
        for (const auto &shape : shapes)
            for (size_t bytes : lengths(w))
                for (gfk_accumulate mode : MODES)
                    check(pipeline.get(), make_field(w), shape[0], shape[1], bytes, mode,
                          places()[stream % places().size()], stream),
                        stream++;
    }
}

TEST_P(HostProduct, Polynomials) {
    const Pipeline pipeline = make_pipeline(desc());
    for (unsigned w : WIDTHS)
        for (uint64_t polynomial : polynomials(w))
            check(pipeline.get(), make_field(w, polynomial), 2, 3, 9000, GFK_SET, Place::MIXED,
                  w); // the same matrix for all
}

TEST_P(HostProduct, ManyRegions) {
    const Pipeline pipeline = make_pipeline(desc());
    check(pipeline.get(), make_field(8), 32, 223, 8192 + 5, GFK_SET, Place::PAGEABLE, 1);
    check(pipeline.get(), make_field(8), 70, 130, 5000, GFK_XOR, Place::MIXED, 2);
    check(pipeline.get(), make_field(16), 24, 1000, 4098, GFK_SET, Place::SPACED, 3);
    check(pipeline.get(), make_field(8), 300, 2, 4097, GFK_SET, Place::SPACED_PINNED, 4);
}

// Regions of many times the memory that a device may use, so that every slot is used again and
// again.
TEST_P(HostProduct, TinyLimits) {
    uint64_t stream = 0;
    const size_t bytes = options.reduced ? 20000 : 150000;
    for (unsigned streams : {1u, 2u, 3u, 4u, 8u, 16u})
        for (size_t memory : {size_t(16) << 10, size_t(100000), size_t(1) << 20})
            for (size_t chunk : {size_t(0), size_t(7000), size_t(64) << 10}) {
                gfk_pipeline_desc d = desc_of_chunk(chunk);
                d.streams = streams;
                d.device_memory = d.pinned_memory = memory;
                const Pipeline pipeline = make_pipeline(d);
                for (gfk_accumulate mode : MODES)
                    check(pipeline.get(), make_field(8), 4, 10, bytes + stream, mode,
                          places()[stream % places().size()], stream),
                        stream++;
            }
}

// Calls so long that the CPU writes its outputs past the caches.
TEST_P(HostProduct, LongRegions) {
    if (options.reduced)
        GTEST_SKIP() << "too long under a sanitizer";
    const size_t bytes = 64 * MIB + 5, margin = 64;
    Random random(1);
    const Bytes src = random.bytes(bytes);
    const gfk_field field = make_field(8);
    const Bytes expected = product_of(field, 0x8e, src);
    Bytes dst(bytes + 2 * margin, 0x5a);
    const Pipeline pipeline = make_pipeline(desc());
    for (size_t odd : {size_t(0), size_t(3)}) {
        uint8_t *to = dst.data() + margin / 2 + odd;
        std::fill(dst.begin(), dst.end(), 0x5a);
        ASSERT_OK(gfk_region_multiply_host(pipeline.get(), &field, 0x8e, src.data(), to, bytes,
                                           GFK_SET, nullptr));
        EXPECT_EQ(bytes, first_difference(expected.data(), to, bytes));
        EXPECT_TRUE(std::all_of(dst.data(), to, [](uint8_t b) { return b == 0x5a; }));
        EXPECT_TRUE(
            std::all_of(to + bytes, dst.data() + dst.size(), [](uint8_t b) { return b == 0x5a; }));
        count_checked();
    }
}

TEST_P(HostProduct, Threads) {
    for (unsigned threads : {1u, 2u, 3u, 7u, 64u}) {
        gfk_pipeline_desc d = desc_of_chunk(128 << 10);
        d.threads = threads;
        const Pipeline pipeline = make_pipeline(d);
        EXPECT_EQ(threads, info_of(pipeline.get()).threads);
        for (Place place : places())
            check(pipeline.get(), make_field(8), 3, 6, options.reduced ? 60001 : 300001, GFK_SET,
                  place, threads);
    }
}

TEST_P(HostProduct, SeveralDevices) {
    const int count = device_count();
    if (!on_gpu() || count < 2)
        GTEST_SKIP() << "there are no two devices to share the work";
    std::vector<int> devices(static_cast<size_t>(count));
    std::iota(devices.rbegin(), devices.rend(), 0);
    gfk_pipeline_desc d = desc_of_chunk(64 << 10);
    d.devices = devices.data();
    d.device_count = devices.size();
    const Pipeline pipeline = make_pipeline(d);
    const gfk_pipeline_info info = info_of(pipeline.get());
    ASSERT_EQ(devices.size(), info.device_count);
    for (size_t i = 0; i < devices.size(); i++)
        EXPECT_EQ(devices[i], info.devices[i]);
    uint64_t stream = 0;
    for (unsigned w : WIDTHS)
        for (Place place : places())
            for (gfk_accumulate mode : MODES)
                check(pipeline.get(), make_field(w), 4, 10, options.reduced ? 60000 : 400000, mode,
                      place, stream++);
}

// More matrices than a pipeline keeps, in an order that drops and comes back.
TEST_P(HostProduct, MatricesComeAndGo) {
    const Pipeline pipeline = make_pipeline(desc());
    const size_t order[] = {0, 1, 2, 3, 4, 5, 6, 7, 0, 8, 9, 1, 0, 10, 2, 2, 11, 0};
    for (size_t n : order)
        check(pipeline.get(), make_field(WIDTHS[n % 3]), 2 + n % 2, 3, 4096, GFK_SET,
              places()[n % places().size()], n);
}

TEST_P(HostProduct, NothingToDo) {
    const Pipeline pipeline = make_pipeline(desc());
    check(pipeline.get(), make_field(32), 2, 2, 0, GFK_SET, Place::PAGEABLE, 0);
    const gfk_field field = make_field(8);
    const uint32_t one = 1;
    const gfk_regions nowhere = {nullptr, nullptr, 0};
    EXPECT_OK(gfk_product_host(pipeline.get(), &field, 1, 1, &one, &nowhere, &nowhere, 0, GFK_SET,
                               nullptr));
}

// ---- region multiply ----------------------------------------------------------------------------

class HostMultiply : public HostTest {
  protected:
    void check_multiply(gfk_pipeline_t pipeline, unsigned w, uint32_t c, size_t bytes,
                        gfk_accumulate mode, bool in_place, Place place) {
        const gfk_field field = make_field(w);
        Random random(c + bytes);
        HostStage stage(1, 1, bytes, place, random);
        // In place the output is the first input; the product is worked out on a copy of it.
        uint8_t *dst = in_place ? stage.in(0) : stage.out(0);
        const Bytes src(stage.in(0), stage.in(0) + bytes), before(dst, dst + bytes);
        Bytes expected = product_of(field, c, src);
        if (mode == GFK_XOR)
            expected = xor_of(expected, before);
        stage.expect_unchanged();
        gfk_pipeline_report report;
        ASSERT_OK(
            gfk_region_multiply_host(pipeline, &field, c, stage.in(0), dst, bytes, mode, &report));
        ASSERT_EQ(bytes, first_difference(expected.data(), dst, bytes))
            << "w = " << w << ", c = " << c << (in_place ? ", in place" : "") << ", "
            << place_name(place);
        std::copy(before.begin(), before.end(), dst); // and nothing else was touched
        ASSERT_TRUE(stage.as_expected());
        expect_sound(report, pipeline, bytes);
        count_checked();
    }
};

TEST_P(HostMultiply, ConstantsLengthsPlaces) {
    const Pipeline pipeline = make_pipeline(desc_of_chunk(32 << 10));
    size_t n = 0;
    for (unsigned w : WIDTHS)
        for (uint32_t c : {0u, 1u, 2u, 0x53u, largest(w)})
            for (size_t bytes : {size_t(4), size_t(60), size_t(65536), size_t(65536 + 100),
                                 size_t(options.reduced ? 40000 : 200000)})
                for (gfk_accumulate mode : MODES)
                    for (bool in_place : {false, true})
                        check_multiply(pipeline.get(), w, c, bytes, mode, in_place,
                                       places()[n++ % places().size()]);
}

// ---- matmuls --------------------------------------------------------------------------------------

class HostMatmul : public HostTest {
  protected:
    // `matrix` has the elements of a.
    void check_matmul(gfk_pipeline_t pipeline, const gfk_field &field, const gfk_matrix &a,
                      const std::vector<uint32_t> &matrix, size_t bytes, gfk_accumulate mode,
                      Place place, Random &random) {
        HostStage stage(a.cols, a.rows, bytes, place, random);
        stage.expect(field, matrix, mode, random);
        gfk_pipeline_report report;
        ASSERT_OK(
            gfk_matmul_host(pipeline, &field, &a, stage.in(), stage.out(), bytes, mode, &report));
        ASSERT_TRUE(stage.as_expected()) << a.rows << " x " << a.cols << ", kind " << a.kind
                                         << ", w = " << field.w << ", " << place_name(place);
        expect_sound(report, pipeline, bytes);
        count_checked();
    }
    // A matrix with a gap behind each row.
    void check_dense(gfk_pipeline_t pipeline, const gfk_field &field, size_t rows, size_t cols,
                     size_t gap, size_t bytes, gfk_accumulate mode, Place place, uint64_t stream) {
        Random random(stream);
        const std::vector<uint32_t> matrix = random_elements(field.w, rows * cols, random);
        Bytes elements = random.bytes(rows * (cols + gap) * field.w / 8);
        for (size_t n = 0; n < matrix.size(); n++)
            set_symbol(elements.data(), n / cols * (cols + gap) + n % cols, field.w, matrix[n]);
        check_matmul(pipeline, field,
                     GFK_MATRIX_DENSE_INIT(elements.data(), rows, cols, cols + gap), matrix, bytes,
                     mode, place, random);
    }
    // All kinds that are generated, with and without points, which do not ascend.
    static std::vector<gfk_matrix> generated(unsigned w, size_t rows, size_t cols,
                                             std::vector<uint32_t> *points) {
        for (uint32_t i = 0; i < rows + cols; i++)
            points->push_back(i * 0x9e3779b1 & largest(w)); // an odd factor: no two are equal
        std::vector<gfk_matrix> all;
        const auto add = [&](gfk_matrix_kind kind, bool by_rows, bool by_cols) {
            gfk_matrix a = {};
            a.kind = kind;
            a.rows = rows;
            a.cols = cols;
            a.row_points = by_rows ? points->data() : nullptr;
            a.col_points = by_cols ? points->data() + rows : nullptr;
            a.first = 5;
            a.seed = 3;
            all.push_back(a);
        };
        add(GFK_MATRIX_CAUCHY, false, false);
        add(GFK_MATRIX_CAUCHY, true, true);
        add(GFK_MATRIX_VANDERMONDE, true, false);
        add(GFK_MATRIX_VANDERMONDE, false, true);
        add(GFK_MATRIX_RANDOM, false, false);
        if (w == 16)
            add(GFK_MATRIX_PAR2, false, false);
        return all;
    }
};

TEST_P(HostMatmul, ShapesLengthsPlaces) {
    const size_t shapes[][2] = {{1, 1}, {4, 10}, {70, 33}, {130, 150}};
    uint64_t stream = 0;
    for (unsigned w : WIDTHS)
        for (const auto &shape : shapes)
            for (size_t symbols : {1, 63, 1024, options.reduced ? 1501 : 5001})
                for (gfk_accumulate mode : MODES) {
                    if (options.reduced && shape[0] > 100 && symbols > 100)
                        continue;
                    const Pipeline pipeline = make_pipeline(desc_of_chunk(stream % 2 * 30000));
                    check_dense(pipeline.get(), make_field(w), shape[0], shape[1], stream % 3,
                                symbols * w / 8, mode, places()[stream % places().size()], stream);
                    stream++;
                }
}

// Memory for a chunk at a time.
TEST_P(HostMatmul, DeviceMemory) {
    const size_t rows = 20, cols = 30, bytes = options.reduced ? 14000 : 40000;
    for (size_t memory : {size_t(300) << 10, size_t(1) << 20, size_t(8) << 20}) {
        gfk_pipeline_desc d = desc();
        d.device_memory = memory;
        const Pipeline pipeline = make_pipeline(d);
        for (gfk_accumulate mode : MODES)
            for (Place place : places())
                check_dense(pipeline.get(), make_field(16), rows, cols, 1, bytes, mode, place,
                            memory);
    }
}

// On one device and on all.
TEST_P(HostMatmul, GeneratedMatrices) {
    SKIP_SLOW_IF(path() == GFK_PATH_BOTH);
    std::vector<int> devices(static_cast<size_t>(device_count()));
    std::iota(devices.begin(), devices.end(), 0);
    gfk_pipeline_desc d = desc_of_chunk(size_t(1) << 20); // several chunks
    uint64_t stream = 0;
    for (bool everywhere : {false, true}) {
        if (everywhere && (!on_gpu() || devices.size() < 2))
            continue;
        d.devices = everywhere ? devices.data() : nullptr;
        d.device_count = everywhere ? devices.size() : 0;
        const Pipeline pipeline = make_pipeline(d);
        for (unsigned w : WIDTHS) {
            const gfk_field field = make_field(w);
            std::vector<uint32_t> points;
            for (const gfk_matrix &a : generated(w, 40, 90, &points)) {
                Random random(stream);
                std::vector<uint32_t> matrix(a.rows * a.cols);
                ASSERT_OK(gfk_matrix_fill(&field, &a, matrix.data()));
                check_matmul(pipeline.get(), field, a, matrix, options.reduced ? 10000 : 20000,
                             stream % 2 ? GFK_XOR : GFK_SET, places()[stream % places().size()],
                             random);
                stream++;
            }
        }
    }
}

// Matrices alone; what all calls refuse is in tests/calls.
TEST_P(HostMatmul, Errors) {
    Random random;
    const size_t rows = 3, cols = 4, bytes = 4000;
    HostStage stage(cols, rows, bytes, Place::PAGEABLE, random);
    stage.expect_unchanged();
    const gfk_field field = make_field(32);
    const Pipeline pipeline = make_pipeline(desc());
    const Bytes elements(rows * cols * 4);
    const gfk_matrix good = GFK_MATRIX_DENSE_INIT(elements.data(), rows, cols, cols);
    const auto refused = [&](gfk_status status, const std::function<void(gfk_matrix &)> &spoil) {
        gfk_matrix a = good;
        spoil(a);
        EXPECT_STATUS(status, gfk_matmul_host(pipeline.get(), &field, &a, stage.in(), stage.out(),
                                              bytes, GFK_SET, nullptr));
        EXPECT_TRUE(stage.as_expected());
        count_checked();
    };
    refused(INVALID, [](gfk_matrix &a) { a.rows = 0; });
    refused(INVALID, [](gfk_matrix &a) { a.stride--; });
    refused(INVALID, [](gfk_matrix &a) { a.kind = static_cast<gfk_matrix_kind>(9); });
    refused(GFK_STATUS_INVALID_SIZE, [](gfk_matrix &a) { a.rows = SIZE_MAX / 2; });
    for (const bool of_rows : {true, false}) // points in an output
        refused(GFK_STATUS_OVERLAP, [&](gfk_matrix &a) {
            const auto *points = reinterpret_cast<const uint32_t *>(
                round_up(reinterpret_cast<uintptr_t>(stage.out(1)), 4));
            a = gfk_matrix{};
            a.rows = rows;
            a.cols = cols;
            a.kind = GFK_MATRIX_VANDERMONDE;
            (of_rows ? a.row_points : a.col_points) = points;
        });
    EXPECT_STATUS(INVALID, gfk_matmul_host(pipeline.get(), &field, nullptr, stage.in(), stage.out(),
                                           bytes, GFK_SET, nullptr));
}

// ---- threads that share a pipeline, or have one each --------------------------------------------

class HostThreads : public HostTest {
  protected:
    // Products in a thread: its own regions and matrices.
    testing::AssertionResult work(gfk_pipeline_t pipeline, int thread) {
        Random random(static_cast<uint64_t>(thread));
        for (int again = 0; again < (options.reduced ? 3 : 6); again++) {
            const HostRun run = run_product(
                pipeline, make_field(WIDTHS[again % 3]), 2, 3, 40000, MODES[again % 2],
                places()[static_cast<size_t>(thread + again) % places().size()], random);
            require_success(run.status, "gfk_product_host");
            if (!run.right)
                return run.right;
            count_checked();
        }
        return testing::AssertionSuccess();
    }
};

TEST_P(HostThreads, ShareAPipeline) {
    const Pipeline pipeline = make_pipeline(desc_of_chunk(20000));
    on_threads(6, [&](int thread) { return work(pipeline.get(), thread); });
}

TEST_P(HostThreads, PipelinesOfTheirOwn) {
    on_threads(4, [&](int thread) {
        testing::AssertionResult result = testing::AssertionSuccess();
        for (int again = 0; again < 3 && result; again++)
            result = work(make_pipeline(desc_of_chunk(20000)).get(), 10 * again + thread);
        return result;
    });
}

PER_PATH(HostProduct);
PER_PATH(HostMultiply);
PER_PATH(HostMatmul);
PER_PATH(HostThreads);

} // namespace
