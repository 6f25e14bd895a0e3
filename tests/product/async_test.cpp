// SPDX-License-Identifier: BSD-3-Clause
// Products on streams, in graphs, from many threads, and beyond 4 GiB.
#include <algorithm>
#include <cstring>

#include "support/engine_fixture.h"

namespace {

constexpr size_t ROWS = 3, COLS = 7;

class ProductAsync : public EngineTest {};
class ProductThreads : public EngineTest {
  protected:
    // One product run by a thread on its own buffers, and its own stream on a device.
    testing::AssertionResult run_often(gfk_product_t product, const Matrix &matrix, int thread) {
        Random random(static_cast<uint64_t>(thread));
        Stage stage(engine(), field(), matrix, 9000 + 33 * symbol_bytes(),
                    {thread % 2 ? Layout::PHASES : Layout::PHASE, 0, 0}, random);
        const Stream stream(on_host(engine()));
        testing::AssertionResult result = testing::AssertionSuccess();
        for (int again = 0; again < 8 && result; again++) {
            const gfk_accumulate mode = again % 2 ? GFK_XOR : GFK_SET;
            stage.refill(random);
            stage.run(product, mode, stream.get());
            stream.finish();
            result = stage.is_product(mode);
            count_checked();
        }
        return result;
    }
};
class ProductHuge : public EngineTest {};

// A hundred replays, with other data each time.
TEST_P(ProductAsync, Graph) {
    SKIP_UNLESS_TAKES(ROWS, COLS);
    Random random;
    const Matrix matrix = random_matrix(w(), ROWS, COLS, random);
    const Product product = make_product(field(), engine(), matrix);
    const Stream stream(false);
    for (gfk_accumulate mode : {GFK_SET, GFK_XOR}) {
        Stage stage(engine(), field(), matrix, 2 * 4096 + 3 * symbol_bytes(), {Layout::PHASE, 0, 0},
                    random);
        stage.run(product.get(), mode); // CUDA loads the code now
        device::Graph graph(stream.get());
        stage.run(product.get(), mode, stream.get());
        graph.end();
        for (int replay = 0; replay < 100; replay++) {
            stage.refill(random);
            graph.launch(stream.get());
            stream.finish();
            ASSERT_TRUE(stage.is_product(mode));
            count_checked();
        }
    }
}

// What is queued before a run is its input, and what is queued behind it sees its output.
TEST_P(ProductAsync, StreamOrder) {
    SKIP_UNLESS_TAKES(1, 1);
    Random random;
    const uint32_t c = random.symbol(w()) | 2;
    const Product product = make_product(field(), engine(), constant_matrix(1, 1, c));
    const size_t bytes = 4096 + symbol_bytes(), room = 8192;
    const Bytes data = random.bytes(bytes);
    Memory source(false, data), in(false, room), out(false, room), copy(false, room);
    const gfk_regions ins = {nullptr, in.data(), room}, outs = {nullptr, out.data(), room};
    const Stream stream(false);
    for (int i = 0; i < 10; i++) {
        device::copy(in.data(), source.data(), bytes, stream.get());
        ASSERT_OK(gfk_product_run(product.get(), &ins, &outs, bytes, GFK_SET, stream.get()));
        device::copy(copy.data(), out.data(), bytes, stream.get());
        device::fill(in.data(), 0x77, bytes, stream.get());
        device::fill(out.data(), 0x33, bytes, stream.get());
    }
    stream.finish();
    EXPECT_EQ(product_of(field(), c, data), copy.read(0, bytes)) << engine()->id;
    count_checked();
}

// Each run reads what the one in front writes, and writes what that one reads. Kernels for short regions
// begin while the kernel in front ends, here their own or, every third time, one of another engine.
TEST_P(ProductAsync, Chain) {
    constexpr size_t OUTS = 4, INS = 10, REGIONS = OUTS + INS, RUNS = 21;
    SKIP_UNLESS_TAKES(OUTS, INS);
    Random random;
    const Matrix matrix = random_matrix(w(), OUTS, INS, random);
    const Engine plain = gfk_engine_find(("perop_split_w" + std::to_string(w())).c_str());
    const Product products[] = {make_product(field(), engine(), matrix),
                                make_product(field(), plain, matrix)};
    const Stream stream(false);
    for (size_t bytes : {size_t(4096), MIB / 16 + 3 * symbol_bytes(), MIB / 2, MIB, 2 * MIB}) {
        const size_t room = round_up(bytes, 4096);
        const Bytes data = random.bytes(REGIONS * room);
        Memory memory(false, data);
        const auto run = [&](size_t number) {
            std::vector<void *> ins, outs;
            for (size_t i = 0; i < REGIONS; i++)
                ((i + number * OUTS) % REGIONS < OUTS ? outs : ins)
                    .push_back(memory.data() + i * room);
            const gfk_regions in = {ins.data(), nullptr, 0}, out = {outs.data(), nullptr, 0};
            ASSERT_OK(gfk_product_run(products[number % 3 == 2].get(), &in, &out, bytes, GFK_SET,
                                      stream.get()));
        };
        for (size_t number = 0; number < RUNS; number++) {
            run(number);
            stream.finish();
        }
        const Bytes expected = memory.read();
        memory.write(0, data.data(), data.size());
        for (size_t number = 0; number < RUNS; number++)
            run(number);
        stream.finish();
        EXPECT_TRUE(expected == memory.read()) << bytes << " bytes a region";
        memory.write(0, data.data(), data.size());
        device::Graph graph(stream.get());
        for (size_t number = 0; number < RUNS; number++)
            run(number);
        graph.end();
        graph.launch(stream.get());
        stream.finish();
        EXPECT_TRUE(expected == memory.read()) << bytes << " bytes a region, in a graph";
        count_checked();
    }
}

TEST_P(ProductThreads, ShareAProduct) {
    SKIP_UNLESS_TAKES(ROWS, COLS);
    Random random;
    const Matrix matrix = random_matrix(w(), ROWS, COLS, random);
    const Product product = make_product(field(), engine(), matrix);
    on_threads(8, [&](int t) { return run_often(product.get(), matrix, t); });
}

TEST_P(ProductThreads, CreateRunDestroy) {
    SKIP_UNLESS_TAKES(ROWS, COLS);
    on_threads(8, [&](int t) {
        testing::AssertionResult result = testing::AssertionSuccess();
        for (int again = 0; again < 4 && result; again++) {
            Random random(static_cast<uint64_t>(100 * t + again));
            const Matrix matrix = random_matrix(w(), ROWS, COLS, random);
            const Product product = make_product(field(), engine(), matrix);
            result = run_often(product.get(), matrix, t);
        }
        return result;
    });
}

// ---- beyond 4 GiB, where 32-bit arithmetic would wrap ------------------------------------------

// Two inputs and an output, each of more than 4 GiB; checked against region multiplies in pieces so
// short that nothing can wrap.
TEST_P(ProductHuge, BeyondFourGiB) {
    const bool host = on_host(engine());
    const size_t bytes = (options.reduced ? 16 * MIB : 4096 * MIB + 17 * MIB) + 3 * symbol_bytes();
    const size_t room = round_up(bytes, 4096), piece = 64 * MIB;
    SKIP_UNLESS_TAKES(1, 2);
    HostMemory on_host_free(host ? 3 * room + 1024 * MIB : 0);
    if (!on_host_free.is_there())
        GTEST_SKIP() << "the machine has too little free memory";
    if (!host && device::free_bytes() < 3 * room + 1024 * MIB)
        SKIP_WITHOUT_GPU("the device has too little free memory");
    Random random;
    const Matrix matrix = {1, 2, {random.symbol(w()) | 2, random.symbol(w()) | 2}};
    const Product product = make_product(field(), engine(), matrix);
    Memory memory(host, 3 * room + 16), expected(host, piece);
    if (host)
        fill_in_parallel(memory.data(), 3 * room);
    else
        device::fill_random(memory.data(), 3 * room + 16, options.seed);
    on_host_free.release();
    Runner plain(field(), reference_row(w(), host));
    // One phase, and phases that differ. The CPU, which takes its time, has one run, compared at
    // its beginning, around 4 GiB and at its end.
    const std::vector<size_t> shifts = host ? std::vector<size_t>{0} : std::vector<size_t>{0, 3};
    const std::vector<gfk_accumulate> modes =
        host ? std::vector<gfk_accumulate>{GFK_SET} : std::vector<gfk_accumulate>{GFK_SET, GFK_XOR};
    for (size_t shift : shifts) {
        uint8_t *in = memory.data(), *out = in + 2 * room + shift;
        const gfk_regions ins = {nullptr, in, room}, outs = {nullptr, out, room};
        for (gfk_accumulate mode : modes) {
            ASSERT_OK(gfk_product_run(product.get(), &ins, &outs, bytes, mode, nullptr));
            for (size_t done = 0; done < bytes; done += piece) {
                if (host && done != 0 && done + 2 * piece <= 4096 * MIB)
                    continue;
                const size_t n = std::min(piece, bytes - done);
                // Adding the same product once more leaves zero.
                plain.run(mode == GFK_SET ? matrix.at(0, 0) : 0, in + done, expected.data(), n);
                plain.run(mode == GFK_SET ? matrix.at(0, 1) : 0, in + room + done, expected.data(),
                          n, GFK_XOR);
                const size_t at = host ? first_difference(expected.data(), out + done, n)
                                       : device::first_difference(expected.data(), out + done, n);
                ASSERT_EQ(n, at) << "engine " << engine()->id << ", mode " << mode << ", shift "
                                 << shift << ": byte " << done + at;
            }
            count_checked();
        }
    }
}

std::vector<Engine> engines_of_the_library() {
    std::vector<Engine> list = engines();
    list.erase(std::remove_if(list.begin(), list.end(), [](Engine e) { return is_extra(e); }),
               list.end());
    return list;
}

PER_ENGINE(ProductAsync, cuda_engines());
PER_ENGINE(ProductThreads, engines());
PER_ENGINE(ProductHuge, engines_of_the_library());

} // namespace
