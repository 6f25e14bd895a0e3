// SPDX-License-Identifier: BSD-3-Clause
// Codes: what they are, encoding, checking and updating parity.
#include <algorithm>
#include <cstring>

#include "fixture.h"

namespace {

class RsEncode : public RsTest {};
class RsVerify : public RsTest {};
class RsUpdate : public RsTest {};

const Shape ENCODED_SHAPES[] = {{1, 1},  {1, 5},  {4, 2},   {5, 1},
                                {10, 4}, {17, 3}, {20, 20}, {60, 10}};

// Around words, vectors and tiles; some long enough for all cores.
std::vector<size_t> lengths(size_t symbol) {
    std::vector<size_t> symbols = {1, 2, 3, 5, 16, 17, 100, 1023, 2049};
    if (!options.reduced)
        symbols.push_back(70001);
    for (size_t &n : symbols)
        n *= symbol;
    return symbols;
}

TEST_P(RsEncode, ParityIsItsDefinition) {
    for (const Shape &shape : ENCODED_SHAPES)
        for (size_t bytes : lengths(symbol_bytes())) {
            if (bytes > 100000 && shape.k * shape.m > 40)
                continue;
            const RsCode code = make_code({GFK_RS_CAUCHY, shape.k, shape.m});
            Random random(shape.k + bytes);
            for (Layout::Kind layout : {Layout::PHASE, Layout::PHASES, Layout::SPACED}) {
                Stripe stripe(host(), code.get(), bytes, layout, random);
                stripe.lose(indices(shape.k, shape.k + shape.m)); // poison
                ASSERT_OK(stripe.encode());
                ASSERT_TRUE(stripe.is_whole());
                count_checked();
            }
        }
}

TEST_P(RsEncode, OtherPolynomials) {
    for (uint64_t polynomial : polynomials(w())) {
        if (GetParam().side[0] == 'i')
            GTEST_SKIP() << "ISA-L has one polynomial";
        const RsCode code = make_code({GFK_RS_CAUCHY, 6, 3}, polynomial);
        Random random(polynomial);
        Stripe stripe(host(), code.get(), 100 * symbol_bytes(), Layout::PHASES, random);
        const Indices lost = {0, 4, 7};
        stripe.lose(lost);
        ASSERT_OK(stripe.decode(lost));
        ASSERT_TRUE(stripe.is_rebuilt(lost));
        count_checked();
    }
}

TEST_P(RsEncode, Info) {
    const gfk_field field = make_field(w());
    for (gfk_rs_matrix matrix : {GFK_RS_CAUCHY, GFK_RS_VANDERMONDE, GFK_RS_REED_SOL_VAN,
                                 GFK_RS_CAUCHY_GOOD, GFK_RS_GEN_RS, GFK_RS_GEN_CAUCHY1}) {
        const bool isal = matrix == GFK_RS_GEN_RS || matrix == GFK_RS_GEN_CAUCHY1;
        if (isal && w() != 8)
            continue;
        const RsCode code = make_code({matrix, 7, 3});
        const gfk_rs_info info = info_of(code.get());
        EXPECT_EQ(w(), info.field.w);
        EXPECT_EQ(7u, info.k);
        EXPECT_EQ(3u, info.m);
        EXPECT_EQ(matrix, info.matrix);
        EXPECT_EQ(GFK_RS_MDS_YES, info.mds);
        EXPECT_EQ(1u, info.locatable);
        EXPECT_EQ(host() ? GFK_CPU : device::current(), info.device);
        EXPECT_EQ(info.device, info.product.device);
        EXPECT_EQ(3u, info.product.rows);
        EXPECT_EQ(7u, info.product.cols);
        for (uint64_t reserved : info.reserved)
            EXPECT_EQ(0u, reserved);
        EXPECT_EQ(matrix_of(field, matrix, 7, 3), matrix_of(code.get()));
        count_checked();
    }
}

// A text in the descriptor may change or go as soon as the code is there; decoders and updaters
// live on without their code.
TEST_P(RsEncode, Lifetimes) {
    Random random;
    const gfk_field field = make_field(w());
    std::string engine = info_of(make_code({GFK_RS_CAUCHY, 5, 3}).get()).product.engine->id;
    gfk_rs_desc desc = GFK_RS_DESC_INIT;
    desc.product.engine = engine.c_str();
    gfk_rs_t made = nullptr;
    ASSERT_OK(gfk_rs_create(&made, &field, 5, 3, &desc));
    RsCode code(made);
    std::fill(engine.begin(), engine.end(), '?');
    Stripe stripe(host(), code.get(), 50 * symbol_bytes(), Layout::PHASES, random);
    const Indices lost = {2, 6};
    const Decoder decoder = make_decoder(code.get(), lost);
    const Updater updater = make_updater(code.get(), 2);
    code.reset();
    stripe.lose(lost);
    ASSERT_OK(stripe.run(decoder));
    ASSERT_TRUE(stripe.is_whole());
    stripe.write();
    const Bytes before = stripe.content(2), after = random.bytes(stripe.bytes());
    const Memory before_there(host(), before), after_there(host(), after);
    ASSERT_OK(gfk_rs_updater_run(updater.get(), before_there.data(), after_there.data(),
                                 stripe.parity(), stripe.bytes(), nullptr));
    stripe.change(2, 0, after); // the data itself is the caller's
    ASSERT_TRUE(stripe.is_rebuilt({5, 6, 7}));
    count_checked(2);
}

// ---- verify -------------------------------------------------------------------------------------

// Every byte of every region, one flipped bit.
TEST_P(RsVerify, EveryByte) {
    SKIP_SLOW_IF(w() != 8);
    for (const Shape &shape : {Shape{3, 2}, Shape{10, 4}, Shape{70, 5}, Shape{100, 40}})
        for (Layout::Kind layout : {Layout::PHASE, Layout::PHASES, Layout::SPACED}) {
            const RsCode code = make_code({GFK_RS_CAUCHY, shape.k, shape.m});
            Random random(shape.k);
            // On the CPU short calls with many outputs mostly make tables.
            const size_t bytes = (shape.k == 100 ? 3 : shape.k == 3 ? 137 : 21) * symbol_bytes();
            Stripe stripe(host(), code.get(), bytes, layout, random);
            ASSERT_EQ(0u, stripe.verify());
            for (size_t region = 0; region < shape.k + shape.m; region++)
                for (size_t i = 0; i < bytes; i += options.reduced ? 7 : 1) {
                    const auto bit = static_cast<uint8_t>(1u << random.below(8));
                    stripe.flip(region, i, bit);
                    ASSERT_EQ(1u, stripe.verify()) << "region " << region << ", byte " << i;
                    stripe.flip(region, i, bit);
                    count_checked();
                }
            ASSERT_EQ(0u, stripe.verify());
            ASSERT_TRUE(stripe.is_whole());
        }
}

TEST_P(RsVerify, LongRegions) {
    const RsCode code = make_code({GFK_RS_CAUCHY, 6, 3});
    Random random;
    const size_t bytes = (options.reduced ? 9001 : 200001) * symbol_bytes();
    Stripe stripe(host(), code.get(), bytes, Layout::PHASES, random);
    for (int again = 0; again < 20; again++) {
        const size_t region = random.below(9);
        const size_t at = again == 0 ? 0 : again == 1 ? bytes - 1 : random.below(bytes);
        for (uint32_t wrong : {0u, 1u}) {
            if (wrong)
                stripe.flip(region, at, 0x10);
            ASSERT_EQ(wrong, stripe.verify()) << "region " << region << ", byte " << at;
            count_checked();
        }
        stripe.flip(region, at, 0x10);
    }
    ASSERT_TRUE(stripe.is_whole());
}

// More data regions than the parameters of a kernel hold coefficients of, by the library's choice and by the
// engine that keeps coefficients in parameters.
TEST_P(RsVerify, ManyRegions) {
    if (w() == 8)
        GTEST_SKIP() << "w = 8 has 256 regions at most";
    const std::string id = "clmad_w" + std::to_string(w());
    for (const char *engine : {static_cast<const char *>(nullptr), id.c_str()}) {
        gfk_product_desc desc = product_desc();
        if (engine != nullptr) {
            if (host() || gfk_engine_available(gfk_engine_find(engine), GFK_CURRENT_DEVICE,
                                               nullptr) != GFK_STATUS_SUCCESS)
                continue;
            desc.engine = engine;
        }
        for (const Shape &shape : {Shape{257, 3}, Shape{300, 18}, Shape{1024, 2}})
            for (Layout::Kind layout : {Layout::PHASE, Layout::PHASES}) {
                const RsCode code =
                    make_rs_code(desc, make_field(w()), {GFK_RS_CAUCHY, shape.k, shape.m});
                Random random(shape.k);
                const size_t bytes = (options.reduced ? 21 : 2003) * symbol_bytes();
                Stripe stripe(host(), code.get(), bytes, layout, random);
                ASSERT_EQ(0u, stripe.verify());
                for (size_t region : {size_t(0), size_t(255), size_t(256), shape.k - 1, shape.k,
                                      shape.k + shape.m - 1})
                    for (size_t at : {size_t(0), bytes - 1, random.below(bytes)}) {
                        stripe.flip(region, at, 0x10);
                        ASSERT_EQ(1u, stripe.verify()) << "region " << region << ", byte " << at;
                        stripe.flip(region, at, 0x10);
                        count_checked();
                    }
                ASSERT_EQ(0u, stripe.verify());
                ASSERT_TRUE(stripe.is_whole());
            }
    }
}

// Where a check says that a symbol is wrong, by the kernels of clmad: locating looks nowhere else. Symbols at both
// sides of the places that the check tells apart, with regions at one phase.
TEST(RsVerifyKernels, PlacesOfMismatches) {
    if (device::count() == 0)
        SKIP_WITHOUT_GPU("there is no GPU");
    for (unsigned w : {8u, 16u, 32u}) {
        const gfk_engine_info *engine = gfk_engine_find(("clmad_w" + std::to_string(w)).c_str());
        for (size_t i = 0; i < gfk_compiled_kernel_count(engine->id); i++) {
            const gfk_compiled_kernel_info &kernel = *gfk_compiled_kernel_at(engine->id, i);
            if (kernel.labels & GFK_KERNEL_SETS || kernel.inputs.min > 10)
                continue;
            gfk_product_desc desc = GFK_PRODUCT_DESC_INIT;
            desc.engine = kernel.id;
            const gfk_field field = make_field(w);
            const size_t k = 10, m = std::max<size_t>(kernel.outputs.min, 2), place = 4096;
            gfk_product_info info;
            if (gfk_product_query(&field, m, k, &desc, &info) == GFK_STATUS_NOT_SUPPORTED)
                continue;
            const RsCode code = make_rs_code(desc, field, {GFK_RS_CAUCHY, k, m});
            const size_t bytes = 4 * place + 52;
            Random random(i);
            Stripe stripe(false, code.get(), bytes, Layout::PHASE, random);
            size_t needed = 0;
            ASSERT_OK(gfk_rs_locate_workspace(code.get(), bytes, &needed));
            Memory verdict(false, sizeof(gfk_rs_verdict)), counts(false, 8 * (k + m)),
                workspace(false, std::max<size_t>(needed, 1));
            for (size_t edge : {size_t(0), place, 2 * place, 4 * place, bytes})
                for (long from : {-5, -4, -3, -2, -1, 0, 1, 2, 3, 4}) {
                    const long symbol = static_cast<long>(edge / (w / 8)) + from;
                    if (symbol < 0 || static_cast<size_t>(symbol) >= bytes / (w / 8))
                        continue;
                    const size_t region = random.below(k + m);
                    stripe.flip(region, static_cast<size_t>(symbol) * (w / 8), 0x10);
                    ASSERT_OK(gfk_rs_locate(code.get(), stripe.data(), stripe.parity(), bytes,
                                            GFK_RS_REPAIR,
                                            reinterpret_cast<gfk_rs_verdict *>(verdict.data()),
                                            reinterpret_cast<uint64_t *>(counts.data()),
                                            workspace.data(), needed, nullptr));
                    ASSERT_TRUE(stripe.is_whole())
                        << kernel.id << ", region " << region << ", symbol " << symbol;
                    count_checked();
                }
        }
    }
}

// ---- update -------------------------------------------------------------------------------------

// How an update is told to the library.
enum Way { RUN, APPLY, ONE_CALL, APPLY_ONE_CALL, WAYS };

TEST_P(RsUpdate, EqualsEncoding) {
    for (const Shape &shape : ENCODED_SHAPES) {
        const RsCode code = make_code({GFK_RS_CAUCHY, shape.k, shape.m});
        Random random(shape.k);
        const size_t symbols = 300, bytes = symbols * symbol_bytes();
        Stripe stripe(host(), code.get(), bytes, Layout::PHASES, random);
        Memory before(host(), bytes + 16), after(host(), bytes + 16), delta(host(), bytes + 16);
        for (int again = 0; again < (options.reduced ? 8 : 40); again++) {
            const size_t region = random.below(shape.k), first = random.below(symbols);
            const size_t count = again == 0 ? symbols - first : random.below(symbols - first + 1);
            const size_t offset = first * symbol_bytes(), length = count * symbol_bytes();
            const Bytes old = stripe.content(region), made = random.bytes(length);
            const size_t p = random.below(16), q = random.below(16), r = random.below(16);
            before.write(p, old.data() + offset, length);
            after.write(q, made.data(), length);
            std::vector<void *> parts; // the range of every parity region
            for (size_t j = 0; j < shape.m; j++)
                parts.push_back(stripe.at(shape.k + j) + offset);
            const gfk_regions parity = {parts.data(), nullptr, 0};
            const uint8_t *const b = before.data() + p, *const a = after.data() + q;
            uint8_t *const d = delta.data() + r;
            const int way = again % WAYS;
            if (way == APPLY || way == APPLY_ONE_CALL) {
                ASSERT_OK(gfk_rs_delta(code.get(), b, a, d, length, nullptr));
            }
            const Updater updater = make_updater(code.get(), region);
            ASSERT_OK(way == RUN ? gfk_rs_updater_run(updater.get(), b, a, &parity, length, nullptr)
                      : way == APPLY
                          ? gfk_rs_updater_apply(updater.get(), d, &parity, length, nullptr)
                      : way == ONE_CALL
                          ? gfk_rs_update(code.get(), region, b, a, &parity, length, nullptr)
                          : gfk_rs_apply_delta(code.get(), region, d, &parity, length, nullptr));
            stripe.change(region, offset, made);
            ASSERT_TRUE(stripe.is_rebuilt(indices(shape.k, shape.k + shape.m))) << "way " << way;
            stripe.write(); // the new data
            count_checked();
        }
    }
}

TEST_P(RsUpdate, Delta) {
    const RsCode code = make_code({GFK_RS_CAUCHY, 3, 2});
    Random random;
    for (size_t bytes : lengths(symbol_bytes())) {
        const size_t room = bytes + 32, p = random.below(16);
        const Bytes before = random.bytes(room), after = random.bytes(room);
        const Bytes poison = random.bytes(room);
        for (int place = 0; place < 3; place++) { // elsewhere, before, after
            Memory b(host(), before), a(host(), after), d(host(), poison);
            Memory &out = place == 0 ? d : place == 1 ? b : a;
            const size_t q = place == 2 ? p : 5, r = place == 2 ? p : place == 1 ? 3 : p;
            uint8_t *const from = b.data() + 3, *const to = a.data() + q;
            ASSERT_OK(gfk_rs_delta(code.get(), from, to, out.data() + r, bytes, nullptr));
            const Bytes content = out.read();
            Bytes expected = place == 0 ? poison : place == 1 ? before : after;
            for (size_t i = 0; i < bytes; i++)
                expected[r + i] = static_cast<uint8_t>(before[3 + i] ^ after[q + i]);
            ASSERT_EQ(expected.size(), ::first_difference(expected.data(), content.data(), room))
                << "length " << bytes << ", place " << place;
            ASSERT_TRUE(place == 1 || before == b.read());
            ASSERT_TRUE(place == 2 || after == a.read());
            count_checked();
        }
    }
}

// Who holds one parity region has a code of its row alone.
TEST_P(RsUpdate, HolderOfOneParityRegion) {
    const RsCode code = make_code({GFK_RS_CAUCHY, 6, 3});
    Random random;
    const size_t bytes = 200 * symbol_bytes();
    Stripe stripe(host(), code.get(), bytes, Layout::PHASES, random);
    const Elements matrix = matrix_of(code.get());
    const Bytes made = random.bytes(bytes);
    const Memory before(host(), stripe.content(4)), after(host(), made);
    const Memory delta(host(), bytes);
    ASSERT_OK(gfk_rs_delta(code.get(), before.data(), after.data(), delta.data(), bytes, nullptr));
    for (size_t j = 0; j < 3; j++) {
        const auto row = matrix.begin() + static_cast<ptrdiff_t>(6 * j);
        const RsCode holder = make_code({GFK_RS_CUSTOM, 6, 1, {row, row + 6}});
        EXPECT_EQ(GFK_RS_MDS_YES, info_of(holder.get()).mds);
        const gfk_regions one = {nullptr, stripe.at(6 + j), bytes};
        ASSERT_OK(gfk_rs_apply_delta(holder.get(), 4, delta.data(), &one, bytes, nullptr));
    }
    stripe.change(4, 0, made);
    ASSERT_TRUE(stripe.is_rebuilt({6, 7, 8}));
    count_checked(3);
}

PER_PLACE(RsEncode);
PER_PLACE(RsVerify);
PER_PLACE(RsUpdate);

} // namespace
