// SPDX-License-Identifier: BSD-3-Clause
// Matrices beyond 4 GiB.
#include "support/huge.h"

namespace {

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
