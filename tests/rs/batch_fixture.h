// SPDX-License-Identifier: BSD-3-Clause
// What the tests of batches share: stripes in memory, and where they run.
#pragma once

#include <algorithm>
#include <cstring>

#include "fixture.h"

using Batch = Owned<struct gfk_rs_batch, gfk_rs_batch_destroy>;

// Stripes of one code in one buffer with random bytes between the regions. `whole` is the buffer as
// it should be; what is lost, or parity to be computed, is other bytes in memory.
class Stripes {
  public:
    Stripes(bool host, gfk_rs_t code, Random &random)
        : host_(host), random_(random), field_(info_of(code).field), k_(info_of(code).k),
          m_(info_of(code).m), matrix_(matrix_of(code)) {}

    // lost: as the caller of the library would list it; encode: all parity, and no list.
    // phase: of all regions modulo 16; beyond 15: each its own.
    void add(size_t bytes, Indices lost, bool encode, size_t phase, bool spaced = false) {
        Spec spec{bytes, std::move(lost), encode, spaced, {}, {}};
        const size_t slot = round_up(bytes, 16) + 48;
        for (size_t i = 0; i < k_ + m_; i++, end_ += slot)
            spec.offsets.push_back(end_ + 16 +
                                   (phase < 16 || spaced ? phase % 16 : random_.below(16)));
        specs_.push_back(std::move(spec));
    }
    // A number of stripes with every kind of length, place and loss.
    void add_mixed(size_t count, size_t most_bytes) {
        const size_t symbol = field_.w / 8;
        for (size_t s = 0; s < count; s++) {
            const size_t kind = random_.below(8);
            const size_t symbols = kind == 0   ? 0
                                   : kind == 1 ? 1
                                   : kind == 2 ? most_bytes / symbol
                                               : random_.below(most_bytes / symbol);
            const size_t place = random_.below(4);
            const size_t phase = place == 0   ? 0
                                 : place == 1 ? random_.below(16) / symbol * symbol
                                 : place == 2 ? random_.below(16)
                                              : 16;
            const bool encode = random_.below(4) == 0;
            add(symbols * symbol, encode ? Indices() : random_loss(random_.below(m_ + 1)), encode,
                phase, random_.below(3) == 0);
        }
    }
    Indices random_loss(size_t count) { return random_indices(k_ + m_, count, random_); }

    void place() {
        memory_ = std::make_unique<Memory>(host_, end_ + 64);
        for (Spec &spec : specs_) {
            for (size_t offset : spec.offsets)
                spec.pointers.push_back(memory_->data() + offset);
            hide_unread(spec);
            gfk_rs_stripe stripe = {};
            stripe.data = {spec.pointers.data(), nullptr, 0};
            stripe.parity = {spec.pointers.data() + k_, nullptr, 0};
            if (spec.spaced) {
                const size_t stride = spec.offsets[1] - spec.offsets[0];
                stripe.data = {nullptr, memory_->data() + spec.offsets[0], stride};
                stripe.parity = {nullptr, memory_->data() + spec.offsets[k_], stride};
            }
            stripe.bytes = spec.bytes;
            static const size_t none = 0;
            stripe.lost = spec.encode ? nullptr : spec.lost.empty() ? &none : spec.lost.data();
            stripe.lost_count = spec.lost.size();
            list_.push_back(stripe);
        }
        refill();
    }
    void refill() {
        whole_ = random_.bytes(end_ + 64);
        damaged_ = whole_;
        for (const Spec &spec : specs_) {
            const auto at = [&](size_t region) { return whole_.data() + spec.offsets[region]; };
            for (size_t j = 0; j < m_; j++) {
                std::memset(at(k_ + j), 0, spec.bytes);
                for (size_t i = 0; i < k_; i++)
                    Times(field_, matrix_[j * k_ + i]).add(at(i), at(k_ + j), spec.bytes);
            }
            std::vector<bool> lost(k_ + m_, false);
            for (size_t i : spec.lost)
                lost[i] = true;
            for (size_t i = 0; i < k_ + m_; i++)
                if (!lost[i] && !(spec.encode && i >= k_))
                    std::memcpy(damaged_.data() + spec.offsets[i], whole_.data() + spec.offsets[i],
                                spec.bytes);
            for (size_t i : spec.lost)
                random_.fill(damaged_.data() + spec.offsets[i], spec.bytes);
        }
        memory_->write(0, damaged_.data(), damaged_.size());
    }
    std::vector<gfk_rs_stripe> &list() { return list_; }
    // A stripe that is left out stays as it is.
    void leave_out(size_t s) {
        const Spec &spec = specs_[s];
        for (size_t offset : spec.offsets)
            std::memcpy(whole_.data() + offset, damaged_.data() + offset, spec.bytes);
    }
    testing::AssertionResult is_whole() { return is(whole_); }
    testing::AssertionResult is_untouched() { return is(damaged_); }

  private:
    struct Spec {
        size_t bytes;
        Indices lost;
        bool encode, spaced;
        std::vector<size_t> offsets;
        std::vector<void *> pointers;
    };

    // The last parity regions are not read when fewer than m regions are lost.
    void hide_unread(Spec &spec) {
        if (spec.encode || spec.spaced)
            return;
        size_t needed = 0; // data regions that parity must stand for
        for (size_t i : spec.lost)
            needed += i < k_;
        for (size_t j = 0; j < m_; j++) {
            const bool lost =
                std::find(spec.lost.begin(), spec.lost.end(), k_ + j) != spec.lost.end();
            if (lost)
                continue;
            if (needed != 0)
                needed--;
            else
                spec.pointers[k_ + j] = nullptr;
        }
    }
    testing::AssertionResult is(const Bytes &expected) {
        const Bytes got = memory_->read();
        const size_t at = first_difference(expected.data(), got.data(), got.size());
        if (at == got.size())
            return testing::AssertionSuccess();
        for (size_t s = 0; s < specs_.size(); s++)
            for (size_t i = 0; i < k_ + m_; i++)
                if (at >= specs_[s].offsets[i] && at < specs_[s].offsets[i] + specs_[s].bytes)
                    return testing::AssertionFailure()
                           << "stripe " << s << " of " << specs_[s].bytes << " bytes, region " << i
                           << ", byte " << at - specs_[s].offsets[i] << "; seed " << options.seed;
        return testing::AssertionFailure()
               << "byte " << at << " is in no region; seed " << options.seed;
    }

    bool host_;
    Random &random_;
    gfk_field field_;
    size_t k_, m_;
    std::vector<uint32_t> matrix_;
    std::vector<Spec> specs_;
    size_t end_ = 0;
    std::unique_ptr<Memory> memory_;
    Bytes whole_, damaged_;
    std::vector<gfk_rs_stripe> list_;
};

class RsBatch : public RsTest {
  protected:
    static Batch make_batch(gfk_rs_t code, const std::vector<gfk_rs_stripe> &stripes) {
        gfk_rs_batch_t batch = nullptr;
        require_success(gfk_rs_batch_create(&batch, code, stripes.data(), stripes.size(), nullptr),
                        "gfk_rs_batch_create");
        return Batch(batch);
    }
    // Makes a batch of the stripes, runs the batch and compares.
    void check(gfk_rs_t code, Stripes &stripes, size_t count) {
        stripes.place();
        const Batch batch = make_batch(code, stripes.list());
        ASSERT_OK(gfk_rs_batch_run(batch.get(), nullptr));
        ASSERT_TRUE(stripes.is_whole());
        count_checked(count);
    }
    void check_mixed(size_t k, size_t m, size_t count, size_t bytes, uint64_t polynomial = 0) {
        SCOPED_TRACE(testing::Message() << "(" << k << ", " << m << ")");
        Random random(k * 1000 + m);
        RsCode code = make_code({GFK_RS_CAUCHY, k, m}, polynomial);
        Stripes stripes(host(), code.get(), random);
        stripes.add_mixed(count, bytes);
        stripes.place();
        const Batch batch = make_batch(code.get(), stripes.list());
        code.reset(); // the batch lives on
        for (int again = 0; again < 2; again++) {
            ASSERT_OK(gfk_rs_batch_run(batch.get(), nullptr));
            ASSERT_TRUE(stripes.is_whole());
            count_checked(count);
            stripes.refill();
        }
    }
};
