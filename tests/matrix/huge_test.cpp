// SPDX-License-Identifier: BSD-3-Clause
// Matmuls and matrices beyond 4 GiB, where 32-bit arithmetic would wrap, and with 65,536 rows or
// columns. For a random row vector r, (r A) B = r (A B) is compared in every byte, by arithmetic
// that shares nothing with the library's kernels; a wrong byte escapes with a probability of 2^-w.
// Some rows are computed in the same way.
#include <algorithm>
#include <cstring>
#include <mutex>
#include <sys/mman.h>

#include "support/places.h"
#include "support/row_fixture.h"

namespace {

constexpr size_t GIB = 1024 * MIB;

// Regions at equal distances, in one block of memory.
struct Spaced {
    size_t count, bytes, stride;
    Memory memory;
    Spaced(bool host, size_t n, size_t length, size_t distance)
        : count(n), bytes(length), stride(distance), memory(host, (n - 1) * distance + length) {
        if (host && is_sparse()) // takes pages for the regions alone
            (void)madvise(reinterpret_cast<void *>(
                              ::round_up(reinterpret_cast<uintptr_t>(memory.data()), 4096)),
                          memory.size() / 4096 * 4096, MADV_NOHUGEPAGE);
    }
    bool is_sparse() const { return stride > 4 * bytes; }
    gfk_regions regions() const { return {nullptr, memory.data(), stride}; }
};

void fill(bool host, uint8_t *memory, size_t bytes, uint64_t seed) {
    if (host)
        fill_in_parallel(memory, bytes);
    else
        device::fill_random(memory, bytes, seed);
}

void fill(bool host, const Spaced &s, uint64_t seed) {
    if (!host)
        return device::fill_random(s.memory.data(), s.memory.size(), seed);
    if (s.bytes >= 64 * MIB) {
        for (size_t i = 0; i < s.count; i++)
            fill_in_parallel(s.memory.data() + i * s.stride, s.bytes);
        return;
    }
    parallel(s.count, [&](size_t i) {
        Random(seed << 32 | i).fill(s.memory.data() + i * s.stride, s.bytes);
    });
}

// sum over i of c[i] * region i.
void combine(bool host, const gfk_field &field, const std::vector<uint32_t> &c,
             const uint8_t *regions, size_t stride, size_t bytes, Memory &sum) {
    if (!host)
        return device::combine(field.w, field.polynomial, c.data(), c.size(), regions, stride,
                               bytes, sum.data());
    std::memset(sum.data(), 0, bytes);
    if (bytes >= 64 * MIB)
        return parallel((bytes + MIB - 1) / MIB, [&](size_t part) {
            const size_t at = part * MIB, n = std::min(MIB, bytes - at);
            for (size_t i = 0; i < c.size(); i++)
                Times(field, c[i]).add(regions + i * stride + at, sum.data() + at, n);
        });
    std::mutex lock; // short regions: groups of them
    const size_t groups = std::min<size_t>(c.size(), 64);
    parallel(groups, [&](size_t group) {
        Bytes part(bytes);
        for (size_t i = group; i < c.size(); i += groups)
            Times(field, c[i]).add(regions + i * stride, part.data(), bytes);
        const std::lock_guard<std::mutex> guard(lock);
        for (size_t at = 0; at < bytes; at++)
            sum.data()[at] ^= part[at];
    });
}

bool equal(bool host, const Memory &a, const void *b, size_t bytes) {
    return host ? std::memcmp(a.data(), b, bytes) == 0
                : device::first_difference(a.data(), b, bytes) == bytes;
}

std::vector<uint32_t> random_vector(unsigned w, size_t n, Random &random) {
    std::vector<uint32_t> v(n);
    for (uint32_t &x : v)
        x = random.symbol(w);
    return v;
}

std::vector<uint32_t> unpack(const Bytes &row, size_t n, unsigned w) {
    std::vector<uint32_t> v(n);
    for (size_t i = 0; i < n; i++)
        v[i] = get_symbol(row.data(), i, w);
    return v;
}

class HugeTest : public PlaceTest {
  protected:
    // Skips a test that needs so many bytes.
    bool has_memory(size_t bytes) {
        if (!host())
            return device::free_bytes() >= bytes + GIB;
        room_ = std::make_unique<HostMemory>(bytes + GIB);
        return room_->is_there();
    }
    gfk_matmul_desc desc() const {
        gfk_matmul_desc desc = GFK_MATMUL_DESC_INIT;
        desc.device = host() ? GFK_CPU : GFK_CURRENT_DEVICE;
        desc.kernel = named_matmul;
        return desc;
    }
    void finish() {
        if (!host())
            device::synchronize(nullptr);
    }

  private:
    std::unique_ptr<HostMemory> room_;
};

#define NEED_MEMORY(bytes)                                                                         \
    do {                                                                                           \
        if (has_memory(bytes))                                                                     \
            break;                                                                                 \
        if (host())                                                                                \
            GTEST_SKIP() << "the machine has too little free memory";                              \
        SKIP_WITHOUT_GPU("the device has too little free memory");                                 \
    } while (false)

// ---- matmuls --------------------------------------------------------------------------------------

class MatmulHuge : public HugeTest {
  protected:
    // C = A B, then C += A B, which leaves zeros. Rows of a dense matrix lie a->stride apart; what
    // `rows_of` writes to a vector are elements of one row.
    void check(const gfk_matrix &a, Spaced &b, Spaced &c, const std::vector<uint32_t> &r,
               const std::vector<uint32_t> &r_a,
               const std::function<std::vector<uint32_t>(size_t)> &row) {
        const gfk_field f = field();
        const gfk_matmul_desc d = desc();
        const gfk_regions in = b.regions(), out = c.regions();
        size_t space = 0;
        ASSERT_OK(gfk_matmul_workspace(&f, a.rows, a.cols, b.bytes, &d, &space));
        Memory workspace(host(), space), left(host(), b.bytes), right(host(), b.bytes);
        const auto run = [&](gfk_accumulate mode) {
            ASSERT_OK(
                gfk_matmul(&f, &a, &in, &out, b.bytes, mode, &d, workspace.data(), space, nullptr));
            finish();
        };
        run(GFK_SET);
        combine(host(), f, r_a, b.memory.data(), b.stride, b.bytes, left);
        combine(host(), f, r, c.memory.data(), c.stride, c.bytes, right);
        ASSERT_TRUE(equal(host(), left, right.data(), b.bytes)) << "(r A) B is not r C";
        Random random(1);
        for (size_t j : {size_t(0), a.rows - 1, random.below(a.rows), random.below(a.rows)}) {
            combine(host(), f, row(j), b.memory.data(), b.stride, b.bytes, left);
            ASSERT_TRUE(equal(host(), left, c.memory.data() + j * c.stride, b.bytes))
                << "row " << j;
            count_checked();
        }
        run(GFK_XOR);
        combine(host(), f, r, c.memory.data(), c.stride, c.bytes, right);
        const Memory zeros(host(), Bytes(std::min(b.bytes, MIB)));
        for (size_t at = 0; at < b.bytes; at += MIB)
            ASSERT_TRUE(equal(host(), zeros, right.data() + at, std::min(MIB, b.bytes - at)));
        count_checked();
    }
    // A dense matrix of random elements, with a gap behind each row.
    void check_dense(size_t rows, size_t cols, size_t gap, size_t bytes, size_t distance) {
        const gfk_field f = field();
        const size_t length = round_up(cols * symbol(), 4), pitch = length + gap;
        const size_t piece = host() && distance > 4 * bytes ? bytes + 8192 : distance;
        const size_t row_piece = host() && gap > 3 * length ? length + 8192 : pitch;
        NEED_MEMORY(rows * row_piece + (rows + cols) * piece + 2 * bytes);
        Spaced elements(host(), rows, length, pitch);
        Spaced b(host(), cols, bytes, distance), c(host(), rows, bytes, distance);
        fill(host(), elements, 1);
        fill(host(), b, 2);
        fill(host(), c, 3);
        const gfk_matrix a =
            GFK_MATRIX_DENSE_INIT(elements.memory.data(), rows, cols, pitch / symbol());
        Random random;
        const std::vector<uint32_t> r = random_vector(w(), rows, random);
        Memory r_a(host(), length);
        combine(host(), f, r, elements.memory.data(), pitch, length, r_a);
        check(a, b, c, r, unpack(r_a.read(), cols, w()),
              [&](size_t j) { return unpack(elements.memory.read(j * pitch, length), cols, w()); });
    }
    // Full size, or one that takes milliseconds.
    static size_t size(size_t full, size_t reduced) { return options.reduced ? reduced : full; }
};

// The regions of B, or of C, lie in more than 4 GiB.
TEST_P(MatmulHuge, ManyColumns) {
    check_dense(7, size(65536, 700), 0, 1000 * symbol(), size(65540, 5000));
}

TEST_P(MatmulHuge, ManyRows) {
    check_dense(size(65536, 700), 7, 0, 1000 * symbol(), size(65540, 5000));
}

TEST_P(MatmulHuge, LongRegions) {
    if (host() && w() != 8)
        GTEST_SKIP() << "lengths are the same for all widths, and the memory takes seconds to get";
    const size_t bytes = size(4 * GIB + 17 * MIB, 3 * MIB) + 12;
    check_dense(host() ? 1 : 3, host() ? 1 : 2, 0, bytes, bytes + 4);
}

// On the CPU most of the matrix' memory are gaps.
TEST_P(MatmulHuge, LargeMatrix) {
    if (host())
        check_dense(size(4200, 70), 100, MIB, 64 * symbol(), 300);
    else
        check_dense(size(65600, 700), size(65600 / symbol(), 100), 0, 64 * symbol(), 300);
}

// 65,536 x 65,536 elements that are nowhere at once.
TEST_P(MatmulHuge, GeneratedMatrix) {
    const gfk_field f = field();
    const size_t n = size(host() ? 8192 : 65536, 700), bytes = 32 * symbol();
    Spaced b(host(), n, bytes, bytes), c(host(), n, bytes, bytes);
    fill(host(), b, 2);
    fill(host(), c, 3);
    gfk_matrix a = {};
    a.kind = GFK_MATRIX_RANDOM;
    a.rows = a.cols = n;
    a.seed = 5;
    const auto row = [&](size_t j) {
        gfk_matrix part = a;
        part.first = j;
        part.rows = 1;
        std::vector<uint32_t> elements(n);
        require_success(gfk_matrix_fill(&f, &part, elements.data()), "gfk_matrix_fill");
        return elements;
    };
    Random random;
    std::vector<uint32_t> r(n), r_a(n);
    std::vector<size_t> rows; // some of them: to generate all takes a CPU seconds
    for (size_t j = random.below(32); j < n; j += 1 + random.below(32)) {
        r[j] = random.symbol(w());
        rows.push_back(j);
    }
    std::mutex lock;
    parallel(rows.size(), [&](size_t which) {
        const size_t j = rows[which];
        std::vector<uint32_t> product = row(j);
        const Times times(f, r[j]);
        for (uint32_t &x : product)
            x = times(x);
        const std::lock_guard<std::mutex> guard(lock);
        for (size_t i = 0; i < n; i++)
            r_a[i] ^= product[i];
    });
    check(a, b, c, r, r_a, row);
}

INSTANTIATE_AT(MatmulHuge, matmul_places());

// ---- matrices -------------------------------------------------------------------------------------

class MatrixHuge : public HugeTest {
  protected:
    MatrixHuge() : record_(nullptr) {}
    void start() { record_ = std::make_unique<Memory>(host(), sizeof(gfk_matrix_record)); }
    gfk_matrix_record *record() const {
        return reinterpret_cast<gfk_matrix_record *>(record_->data());
    }
    void wait(size_t rank) {
        const gfk_matmul_desc d = desc();
        gfk_matrix_record result = {};
        ASSERT_OK(gfk_matrix_wait(record(), &d, nullptr, &result));
        ASSERT_EQ(rank, result.rank);
    }

  private:
    std::unique_ptr<Memory> record_;
};

// (r A) inverse = r.
TEST_P(MatrixHuge, Inverse) {
    const gfk_field f = field();
    const gfk_matmul_desc d = desc();
    const size_t n = options.reduced ? 300 : host() ? 1500 : w() == 8 ? 16384 : 8192;
    const size_t row = n * symbol();
    size_t space = 0;
    ASSERT_OK(gfk_matrix_invert_workspace(&f, n, &d, &space));
    NEED_MEMORY(2 * n * row + space);
    Memory elements(host(), n * row), inverse(host(), n * row), workspace(host(), space);
    fill(host(), elements.data(), elements.size(), 1);
    start();
    const gfk_matrix a = GFK_MATRIX_DENSE_INIT(elements.data(), n, n, n);
    ASSERT_OK(gfk_matrix_invert(&f, &a, inverse.data(), n, record(), nullptr, &d, workspace.data(),
                                space, nullptr));
    ASSERT_NO_FATAL_FAILURE(wait(n));
    Random random;
    Memory product(host(), row);
    for (size_t vectors = 0; vectors < 64 / w(); vectors++) {
        const std::vector<uint32_t> r = random_vector(w(), n, random);
        combine(host(), f, r, elements.data(), row, row, product);
        combine(host(), f, unpack(product.read(), n, w()), inverse.data(), row, row, product);
        ASSERT_TRUE(r == unpack(product.read(), n, w())) << "not the inverse, vector " << vectors;
        count_checked();
    }
}

// (r A) X = r B, where B and X have more than 4 GiB each.
TEST_P(MatrixHuge, Solve) {
    const gfk_field f = field();
    const gfk_matmul_desc d = desc();
    const size_t n = 300, row = n * symbol();
    const size_t bytes = options.reduced || host() ? 4000 : 15 * MIB + 4;
    size_t space = 0;
    ASSERT_OK(gfk_matrix_solve_workspace(&f, n, bytes, &d, &space));
    NEED_MEMORY(2 * n * bytes + space);
    Memory elements(host(), n * row), workspace(host(), space);
    Spaced b(host(), n, bytes, bytes), x(host(), n, bytes, bytes);
    fill(host(), elements.data(), elements.size(), 1);
    fill(host(), b, 2);
    start();
    const gfk_matrix a = GFK_MATRIX_DENSE_INIT(elements.data(), n, n, n);
    const gfk_regions from = b.regions(), to = x.regions();
    ASSERT_OK(gfk_matrix_solve(&f, &a, &from, &to, bytes, record(), nullptr, &d, workspace.data(),
                               space, nullptr));
    ASSERT_NO_FATAL_FAILURE(wait(n));
    Random random;
    Memory product(host(), row), left(host(), bytes), right(host(), bytes);
    const std::vector<uint32_t> r = random_vector(w(), n, random);
    combine(host(), f, r, elements.data(), row, row, product);
    combine(host(), f, unpack(product.read(), n, w()), x.memory.data(), bytes, bytes, left);
    combine(host(), f, r, b.memory.data(), bytes, bytes, right);
    ASSERT_TRUE(equal(host(), left, right.data(), bytes)) << "(r A) X is not r B";
    count_checked();
}

INSTANTIATE_AT(MatrixHuge, matmul_places());

// ---- batches --------------------------------------------------------------------------------------

class InvertBatchHuge : public PlaceTest {
  protected:
    InvertBatchHuge() : PlaceTest(false) {}
};

// Matrices in more than 4 GiB; those at the ends, around 4 GiB, and some others are checked.
TEST_P(InvertBatchHuge, BeyondFourGiB) {
    const gfk_field f = field();
    const size_t n = 100, bytes = n * n * symbol();
    const size_t count = options.reduced ? 50 : (4 * GIB + 17 * MIB) / bytes;
    if (device::free_bytes() < 2 * count * bytes + GIB)
        SKIP_WITHOUT_GPU("the device has too little free memory");
    Memory a(false, count * bytes), inverses(false, count * bytes);
    Memory records(false, count * sizeof(gfk_matrix_record));
    device::fill_random(a.data(), a.size(), 1);
    ASSERT_OK(gfk_matrix_invert_batch(&f, n, count, a.data(), n * n, inverses.data(), n * n,
                                      reinterpret_cast<gfk_matrix_record *>(records.data()),
                                      nullptr, nullptr, nullptr));
    Random random;
    std::vector<size_t> chosen = {0, count / 2, count - 1};
    if (!options.reduced)
        chosen.insert(chosen.end(), {4 * GIB / bytes - 1, 4 * GIB / bytes, 4 * GIB / bytes + 1});
    for (int i = 0; i < 200; i++)
        chosen.push_back(random.below(count));
    const Bytes all = records.read();
    for (size_t which : chosen) {
        gfk_matrix_record record;
        std::memcpy(&record, &all[which * sizeof record], sizeof record);
        if (record.status == GFK_STATUS_SINGULAR) // less than one of 200
            continue;
        ASSERT_EQ(n, record.rank);
        const std::vector<uint32_t> r = random_vector(w(), n, random);
        const Bytes elements = a.read(which * bytes, bytes);
        const Bytes inverse = inverses.read(which * bytes, bytes);
        const size_t row = n * symbol();
        Bytes product(row), back(row);
        for (size_t j = 0; j < n; j++)
            Times(f, r[j]).add(&elements[j * row], product.data(), row);
        for (size_t j = 0; j < n; j++)
            Times(f, get_symbol(product.data(), j, w())).add(&inverse[j * row], back.data(), row);
        ASSERT_TRUE(r == unpack(back, n, w())) << "not the inverse, matrix " << which;
        count_checked();
    }
}

INSTANTIATE_AT(InvertBatchHuge, test_places(false));

} // namespace
