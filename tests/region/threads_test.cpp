// SPDX-License-Identifier: BSD-3-Clause
// Many threads, one multiplier; multipliers that come and go in all threads at once. CUDA rows on
// streams: captured into graphs, in stream order.
#include <algorithm>

#include "support/row_fixture.h"

namespace {

constexpr int THREADS = 8;

class Threads : public RowTest {
  protected:
    // What one thread multiplies: its own constants and data, the products known beforehand.
    struct Work {
        std::vector<uint32_t> cs;
        Bytes in;
        std::vector<Bytes> products;
    };
    std::vector<Work> make_work(size_t bytes) {
        std::vector<Work> all(THREADS);
        for (int t = 0; t < THREADS; t++) {
            Random random(t);
            all[t].cs = {random.symbol(w()) | 2, random.symbol(w()) | 2, 0, 1};
            all[t].in = random.bytes(bytes);
            for (uint32_t c : all[t].cs)
                all[t].products.push_back(product_of(field(), c, all[t].in));
        }
        return all;
    }
};

TEST_P(Threads, ShareAMultiplier) {
    const size_t bytes = 4096 + 3 * symbol_bytes();
    const std::vector<Work> work = make_work(bytes);
    Multiplier m = make_multiplier(field(), row());
    const size_t workspace_bytes = info_of(m.get()).workspace_bytes;
    on_threads(THREADS, [&](int t) {
        const Stream stream(on_host(row()));
        Memory src(row(), work[t].in), dst(row(), bytes), workspace(row(), workspace_bytes);
        testing::AssertionResult result = testing::AssertionSuccess();
        for (int again = 0; again < 8; again++)
            for (size_t i = 0; i < work[t].cs.size() && result; i++) {
                const uint32_t c = work[t].cs[i];
                require_success(gfk_region_multiply(m.get(), c, src.data(), dst.data(), bytes,
                                                    GFK_SET, workspace.data(), workspace_bytes,
                                                    stream.get()),
                                row()->id);
                stream.finish();
                result = same(row(), c, work[t].products[i], dst.read(), GFK_SET, "threads");
                count_checked();
            }
        return result;
    });
}

// One prepared workspace, read by all.
TEST_P(Threads, ShareAWorkspace) {
    const size_t bytes = 1024 + symbol_bytes();
    const std::vector<Work> work = make_work(bytes);
    const uint32_t c = largest(w()) - 1;
    Runner runner(field(), row());
    runner.prepare(c);
    if (!on_host(row()))
        device::synchronize(nullptr);
    on_threads(THREADS, [&](int t) {
        const Stream stream(on_host(row()));
        Memory src(row(), work[t].in), dst(row(), bytes);
        const Bytes expected = product_of(field(), c, work[t].in);
        testing::AssertionResult result = testing::AssertionSuccess();
        for (int again = 0; again < 8 && result; again++) {
            runner.run_prepared(c, src.data(), dst.data(), bytes, GFK_SET, stream.get());
            stream.finish();
            result = same(row(), c, expected, dst.read(), GFK_SET, "threads");
            count_checked();
        }
        return result;
    });
}

TEST_P(Threads, CreateRunDestroy) {
    const size_t bytes = 256 + symbol_bytes();
    const std::vector<Work> work = make_work(bytes);
    on_threads(THREADS, [&](int t) {
        testing::AssertionResult result = testing::AssertionSuccess();
        for (size_t i = 0; i < work[t].cs.size() && result; i++) {
            Runner runner(field(), row());
            result = same(row(), work[t].cs[i], work[t].products[i],
                          runner.product(work[t].cs[i], work[t].in), GFK_SET, "threads");
            count_checked();
        }
        return result;
    });
}

// ---- streams and graphs -------------------------------------------------------------------------

class Async : public RowTest {
  protected:
    void set_up() override {
        bytes_ = 2 * std::min<size_t>(row()->tile_bytes, 65536) + 3 * symbol_bytes();
        Random random;
        c_ = random.symbol(w()) | 2;
        runner_ = std::make_unique<Runner>(field(), row());
        src_ = std::make_unique<Memory>(row(), bytes_);
        dst_ = std::make_unique<Memory>(row(), bytes_);
        stream_ = std::make_unique<Stream>(false);
    }

    // Makes a graph of the calls, replays it with new data several times, checks each product.
    void replay(gfk_accumulate mode, const std::function<void()> &calls) {
        device::Graph graph(stream_->get());
        calls();
        graph.end();
        Random random(1);
        for (int i = 0; i < 3; i++) {
            const Bytes in = random.bytes(bytes_), acc = random.bytes(bytes_);
            src_->write(0, in.data(), bytes_);
            dst_->write(0, acc.data(), bytes_);
            graph.launch(stream_->get());
            stream_->finish();
            Bytes expected = product_of(field(), c_, in);
            if (mode == GFK_XOR)
                expected = xor_of(expected, acc);
            ASSERT_TRUE(same(row(), c_, expected, dst_->read(), mode, "graph"));
            count_checked();
        }
    }

    size_t bytes_ = 0;
    uint32_t c_ = 0;
    std::unique_ptr<Runner> runner_;
    std::unique_ptr<Memory> src_, dst_;
    std::unique_ptr<Stream> stream_;
};

TEST_P(Async, MultiplyInAGraph) {
    for (uint32_t c : {c_, 0u, 1u})
        for (gfk_accumulate mode : {GFK_SET, GFK_XOR}) {
            c_ = c;
            replay(mode, [&] {
                runner_->run(c, src_->data(), dst_->data(), bytes_, mode, stream_->get());
            });
        }
}

TEST_P(Async, PrepareAndPreparedInOneGraph) {
    replay(GFK_XOR, [&] {
        runner_->prepare(c_, stream_->get());
        runner_->run_prepared(c_, src_->data(), dst_->data(), bytes_, GFK_XOR, stream_->get());
    });
}

TEST_P(Async, PreparedInAGraph) {
    runner_->prepare(c_, stream_->get());
    stream_->finish();
    replay(GFK_SET, [&] {
        runner_->run_prepared(c_, src_->data(), dst_->data(), bytes_, GFK_SET, stream_->get());
    });
}

// What is queued before a call is its input, what is queued behind it sees its output, and another
// stream that waits for an event does too. Nothing here waits on the host.
TEST_P(Async, StreamOrder) {
    Random random;
    const Bytes in = random.bytes(bytes_);
    Memory data(row(), in), middle(row(), bytes_), out(row(), bytes_);
    src_->write(0, Bytes(bytes_, 0xee).data(), bytes_);
    const Stream second(false);
    for (int i = 0; i < 10; i++) {
        device::copy(src_->data(), data.data(), bytes_, stream_->get());
        runner_->run(c_, src_->data(), middle.data(), bytes_, GFK_SET, stream_->get());
        device::order(stream_->get(), second.get());
        runner_->run(1, middle.data(), dst_->data(), bytes_, GFK_SET, second.get());
        device::copy(out.data(), dst_->data(), bytes_, second.get());
        device::order(second.get(), stream_->get());
        device::fill(src_->data(), 0x77, bytes_, stream_->get());
        device::fill(middle.data(), 0x33, bytes_, stream_->get());
    }
    second.finish();
    stream_->finish();
    EXPECT_TRUE(same(row(), c_, product_of(field(), c_, in), out.read(), GFK_SET, "stream order"));
    count_checked();
}

PER_ROW(Threads, rows());
PER_ROW(Async, cuda_rows());

} // namespace
