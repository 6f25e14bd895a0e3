// SPDX-License-Identifier: BSD-3-Clause
// Products on streams and in graphs.

#include "support/engine_fixture.h"

namespace {

class ProductAsync : public EngineTest {
  protected:
    static constexpr size_t ROWS = 3, COLS = 7;
};

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

PER_ENGINE(ProductAsync, cuda_engines());

} // namespace
