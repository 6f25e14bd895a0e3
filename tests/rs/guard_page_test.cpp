// SPDX-License-Identifier: BSD-3-Clause
// What codes do on a device stays inside the regions: each is an allocation of its own, which ends
// where the region does, for compute-sanitizer to watch.
#include <algorithm>
#include <cstring>

#include "fixture.h"

namespace {

class RsGuardPage : public RsTest {
  protected:
    void run_all(const RsShape &shape, size_t bytes, bool compile);
};

// k + m regions, the parity made by the code itself and compared by verify and decode.
struct Regions {
    std::vector<std::unique_ptr<Memory>> memory;
    std::vector<void *> pointers;
    gfk_regions data, parity;

    Regions(bool host, size_t k, size_t m, size_t bytes, bool phases, Random &random) {
        for (size_t i = 0; i < k + m; i++) {
            const size_t phase = phases ? i % 16 : 0;
            memory.push_back(std::make_unique<Memory>(host, random.bytes(phase + bytes)));
            pointers.push_back(memory.back()->data() + phase);
        }
        data = {pointers.data(), nullptr, 0};
        parity = {pointers.data() + k, nullptr, 0};
    }
    Bytes read(size_t i) { return memory[i]->read(); }
    void poison(size_t i, Random &random) {
        const Bytes other = random.bytes(memory[i]->size());
        memory[i]->write(0, other.data(), other.size());
    }
};

void RsGuardPage::run_all(const RsShape &shape, size_t bytes, bool compile) {
    const size_t k = shape.k, m = shape.m;
    const gfk_field field = make_field(w());
    gfk_rs_desc desc = GFK_RS_DESC_INIT;
    desc.product = product_desc();
    desc.product.compile = compile;
    gfk_rs_t made = nullptr;
    ASSERT_OK(gfk_rs_create(&made, &field, k, m, &desc));
    const RsCode code(made);
    for (const bool phases : {false, true}) {
        Random random(bytes);
        Regions r(host(), k, m, bytes, phases, random);
        Word differs(host());
        ASSERT_OK(gfk_rs_encode(made, &r.data, &r.parity, bytes, nullptr));
        ASSERT_OK(gfk_rs_verify(made, &r.data, &r.parity, bytes, differs.address(), nullptr));
        ASSERT_EQ(differs.read(), 0u);
        std::vector<Bytes> whole;
        for (size_t i = 0; i < k + m; i++)
            whole.push_back(r.read(i));

        const Indices lost = {0, k + m - 1};
        for (size_t i : lost)
            r.poison(i, random);
        ASSERT_OK(gfk_rs_verify(made, &r.data, &r.parity, bytes, differs.address(), nullptr));
        ASSERT_EQ(differs.read(), 1u);
        ASSERT_OK(gfk_rs_decode(made, lost.data(), lost.size(), nullptr, 0, &r.data, &r.parity,
                                bytes, nullptr));
        for (size_t i : lost) { // what is in front of a region is not part of it
            const Bytes now = r.read(i);
            ASSERT_TRUE(std::equal(now.end() - static_cast<long>(bytes), now.end(),
                                   whole[i].end() - static_cast<long>(bytes)));
        }

        const size_t index = k - 1;
        Memory before(host(), r.memory[index]->read());
        r.poison(index, random);
        const size_t phase = phases ? index % 16 : 0;
        ASSERT_OK(gfk_rs_update(made, index, before.data() + phase, r.pointers[index], &r.parity,
                                bytes, nullptr));
        ASSERT_OK(gfk_rs_verify(made, &r.data, &r.parity, bytes, differs.address(), nullptr));
        ASSERT_EQ(differs.read(), 0u);

        size_t needed = 0;
        ASSERT_OK(gfk_rs_locate_workspace(made, bytes, &needed));
        Memory verdict(host(), sizeof(gfk_rs_verdict)), counts(host(), 8 * (k + m)),
            workspace(host(), std::max<size_t>(needed, 1));
        Bytes wrong = r.memory[1]->read();
        wrong.back() ^= 1;
        r.memory[1]->write(0, wrong.data(), wrong.size());
        ASSERT_OK(gfk_rs_locate(made, &r.data, &r.parity, bytes, GFK_RS_REPAIR,
                                reinterpret_cast<gfk_rs_verdict *>(verdict.data()),
                                reinterpret_cast<uint64_t *>(counts.data()), workspace.data(),
                                needed, nullptr));
        const Bytes found = verdict.read();
        gfk_rs_verdict v;
        std::memcpy(&v, found.data(), sizeof v);
        ASSERT_EQ(v.located, 1u);
        ASSERT_OK(gfk_rs_verify(made, &r.data, &r.parity, bytes, differs.address(), nullptr));
        ASSERT_EQ(differs.read(), 0u);

        const gfk_rs_stripe stripes[] = {{r.data, r.parity, bytes, nullptr, 0}};
        gfk_rs_batch_t batch = nullptr;
        for (size_t i = k; i < k + m; i++)
            r.poison(i, random);
        ASSERT_OK(gfk_rs_batch_create(&batch, made, stripes, 1, nullptr));
        const gfk_status status = gfk_rs_batch_run(batch, nullptr);
        ASSERT_OK(gfk_rs_verify(made, &r.data, &r.parity, bytes, differs.address(), nullptr));
        const uint32_t after_batch = differs.read(); // the batch has finished, too
        gfk_rs_batch_destroy(batch);
        ASSERT_OK(status);
        ASSERT_EQ(after_batch, 0u);
        count_checked();
    }
}

TEST_P(RsGuardPage, IsNeverTouched) {
    for (const RsShape &shape : {RsShape{GFK_RS_CAUCHY, 4, 2}, RsShape{GFK_RS_CAUCHY, 10, 4},
                                 RsShape{GFK_RS_VANDERMONDE, 17, 3}})
        for (const size_t bytes : {symbol_bytes(), 5 * symbol_bytes(), 4096 + symbol_bytes(),
                                   size_t{8192}}) // whole cells: batches take pieces

            for (const bool compile : {false, true}) {
                if (compile && (host() || shape.k != 4)) // compiling takes its time
                    continue;
                run_all(shape, bytes, compile);
                if (HasFatalFailure())
                    return;
            }
}

PER_PLACE(RsGuardPage);

} // namespace
