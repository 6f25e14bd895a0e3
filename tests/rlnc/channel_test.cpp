// SPDX-License-Identifier: BSD-3-Clause
// Whole transfers: an encoder, channels that lose, double and reorder packets, recoders on the way, a
// decoder; hostile packets against scalar elimination.
#include <algorithm>

#include "fixture.h"

namespace {

// ---- transfers --------------------------------------------------------------------------------

struct Packet {
    gfk_rlnc_header header;
    Bytes vector, payload;
    size_t name; // copies of a packet have the name of the packet
};
using Packets = std::vector<Packet>;

Bytes joined(const Packets &packets, Bytes Packet::*member, size_t bytes) {
    Bytes all;
    all.reserve(packets.size() * bytes);
    for (const Packet &p : packets)
        all.insert(all.end(), (p.*member).begin(), (p.*member).end());
    return all;
}

// Loses packets, doubles some, and delivers them in another order, some of them later.
class Channel {
  public:
    Channel(unsigned loss_percent, Random &random) : loss_(loss_percent), random_(random) {}
    Packets send(const Packets &packets) {
        for (const Packet &p : packets)
            if (random_.below(100) >= loss_) {
                late_.push_back(p);
                if (random_.below(10) == 0)
                    late_.push_back(p);
            }
        for (size_t i = late_.size(); i > 1; i--)
            std::swap(late_[i - 1], late_[random_.below(i)]);
        const auto now = static_cast<ptrdiff_t>(late_.size() - late_.size() / 8);
        const Packets arrived(late_.begin(), late_.begin() + now);
        late_.erase(late_.begin(), late_.begin() + now);
        return arrived;
    }

  private:
    unsigned loss_;
    Random &random_;
    Packets late_;
};

class RlncChannel : public RlncTest {
  protected:
    // A generation's sender, which gives every packet a number of its own.
    class Sender {
      public:
        Sender(bool host, unsigned w, size_t n, size_t bytes, const gfk_rlnc_desc &desc,
               Random &random)
            : host_(host), n_(n), row_(n * w / 8), bytes_(bytes),
              code_(make_rlnc(make_field(w), n, bytes, desc)), generation_(random.next()),
              content_(random.bytes(n * bytes)), sources_(host, content_) {}
        const Rlnc &code() const { return code_; }
        uint64_t generation() const { return generation_; }
        const Bytes &content() const { return content_; }

        Packets packets(size_t count) {
            const gfk_rlnc_range range = {generation_, 1, static_cast<uint32_t>(sent_), count};
            size_t space = 0;
            require_success(gfk_rlnc_encode_workspace(code_.get(), &range, &space), "workspace");
            Memory vectors(host_, count * row_), payloads(host_, count * bytes_);
            Memory workspace(host_, space);
            const gfk_regions from = gfk_inputs_spaced(sources_.data(), bytes_);
            const gfk_regions to = {nullptr, payloads.data(), bytes_};
            require_success(gfk_rlnc_encode(code_.get(), &range, &from, &to, vectors.data(), n_,
                                            workspace.data(), space, nullptr),
                            "gfk_rlnc_encode");
            sent_ += count;
            return split(vectors.read(), payloads.read(), range.first);
        }
        // New packets of those that `seed`'s recoder has; it has made `made` before.
        Packets recoded(const Packets &have, size_t count, uint64_t seed, size_t made) {
            const gfk_rlnc_range range = {generation_, 1, static_cast<uint32_t>(made), count};
            size_t space = 0;
            require_success(gfk_rlnc_recode_workspace(code_.get(), &range, have.size(), &space),
                            "workspace");
            Memory old_vectors(host_, joined(have, &Packet::vector, row_));
            Memory old_payloads(host_, joined(have, &Packet::payload, bytes_));
            Memory vectors(host_, count * row_), payloads(host_, count * bytes_);
            Memory workspace(host_, space);
            const gfk_regions from = gfk_inputs_spaced(old_payloads.data(), bytes_);
            const gfk_regions to = {nullptr, payloads.data(), bytes_};
            require_success(gfk_rlnc_recode(code_.get(), &range, seed, have.size(),
                                            old_vectors.data(), n_, &from, vectors.data(), n_, &to,
                                            workspace.data(), space, nullptr),
                            "gfk_rlnc_recode");
            return split(vectors.read(), payloads.read(), range.first);
        }

      private:
        Packets split(const Bytes &vectors, const Bytes &payloads, uint32_t first) const {
            Packets packets;
            for (size_t i = 0; i * row_ < vectors.size(); i++)
                packets.push_back({{generation_, static_cast<uint32_t>(first + i), 0},
                                   Bytes(&vectors[i * row_], &vectors[i * row_] + row_),
                                   Bytes(&payloads[i * bytes_], &payloads[i * bytes_] + bytes_),
                                   first + i});
            return packets;
        }
        bool host_;
        size_t n_, row_, bytes_, sent_ = 0;
        Rlnc code_;
        uint64_t generation_;
        Bytes content_;
        Memory sources_;
    };

    // Takes packets until all sources are there; counts what it needed.
    class Receiver {
      public:
        Receiver(bool host, const Sender &sender, size_t n, size_t row, size_t bytes)
            : host_(host), n_(n), row_(row), bytes_(bytes),
              decoder_(make_decoder(sender.code(), sender.generation(), 1, SPARE)) {}
        // With vectors, or with numbers from which they follow.
        void take(const Packets &packets, bool with_vectors) {
            if (packets.empty())
                return;
            Headers headers;
            for (const Packet &p : packets)
                headers.push_back(p.header);
            Memory vectors(host_, joined(packets, &Packet::vector, row_));
            Memory payloads(host_, joined(packets, &Packet::payload, bytes_));
            Memory outcomes(host_, packets.size());
            const gfk_regions from = gfk_inputs_spaced(payloads.data(), bytes_);
            require_success(gfk_rlnc_decoder_add(decoder_.get(), headers.data(), packets.size(),
                                                 with_vectors ? vectors.data() : nullptr, n_, &from,
                                                 outcomes.data(), nullptr),
                            "gfk_rlnc_decoder_add");
            const Bytes got = outcomes.read();
            for (size_t i = 0; i < got.size() && !complete(); i++) {
                const size_t name = packets[i].name;
                if (std::find(seen_.begin(), seen_.end(), name) == seen_.end())
                    seen_.push_back(name);
                else
                    EXPECT_NE(GFK_RLNC_INNOVATIVE, got[i]) << "a copy of packet " << name;
                rank_ += got[i] == GFK_RLNC_INNOVATIVE;
            }
        }
        bool complete() const { return rank_ == n_; }
        size_t needed() const { return seen_.size(); } // different packets
        testing::AssertionResult has(const Bytes &content) {
            Memory sources(host_, content.size());
            const gfk_regions to = {nullptr, sources.data(), bytes_};
            require_success(gfk_rlnc_decoder_decode(decoder_.get(), &to, nullptr, nullptr),
                            "gfk_rlnc_decoder_decode");
            gfk_rlnc_record record;
            const gfk_status status = gfk_rlnc_decoder_wait(decoder_.get(), nullptr, 0, 1, &record);
            if (status != GFK_STATUS_SUCCESS || record.rank != n_ || record.refused != 0)
                return testing::AssertionFailure()
                       << gfk_status_name(status) << ", rank " << record.rank;
            const Bytes got = sources.read();
            const size_t at = first_difference(content.data(), got.data(), got.size());
            return at == got.size() ? testing::AssertionSuccess()
                                    : testing::AssertionFailure() << "byte " << at << " differs";
        }

      private:
        static constexpr size_t SPARE = 3;
        bool host_;
        size_t n_, row_, bytes_, rank_ = 0;
        Decoder decoder_;
        std::vector<size_t> seen_;
    };

    // `hops` recoders on the way, of which each sends as many packets as it gets, or, patient ones, nothing
    // before it can make all.
    void transfer(size_t n, unsigned loss, size_t hops, bool patient, bool systematic,
                  Random &random) {
        const size_t bytes = symbol() * (20 + random.below(30)), row = n * symbol();
        gfk_rlnc_desc desc = this->desc();
        desc.systematic = systematic;
        desc.seed = random.next();
        Sender sender(host(), w(), n, bytes, desc, random);
        Receiver receiver(host(), sender, n, row, bytes);
        std::vector<Channel> channels(hops + 1, Channel(loss, random));
        std::vector<Packets> have(hops);
        std::vector<size_t> made(hops);
        const size_t batch = n / 3 + 2;
        for (size_t round = 0; !receiver.complete(); round++) {
            ASSERT_LT(round, 1000u) << "no end";
            Packets packets = channels[0].send(sender.packets(batch));
            for (size_t hop = 0; hop < hops; hop++) {
                size_t count = packets.size();
                have[hop].insert(have[hop].end(), packets.begin(), packets.end());
                if (patient)
                    count = have[hop].size() < n + n / 4 + 4 ? 0 : batch;
                packets.clear();
                if (count != 0)
                    packets = sender.recoded(have[hop], count, 77 + hop, made[hop]);
                made[hop] += count;
                packets = channels[hop + 1].send(packets);
            }
            receiver.take(packets, hops != 0 || round % 2 != 0);
        }
        EXPECT_TRUE(receiver.has(sender.content()));
        // Where relays have little more than the receiver, a packet in 255 is dependent.
        EXPECT_LE(receiver.needed(), n + (hops != 0 && !patient ? 8 : 4));
        count_checked(n);
    }
    void transfers(size_t n, Random &random) {
        SCOPED_TRACE(testing::Message() << "n = " << n);
        for (unsigned loss : {10, 30, 60}) {
            SCOPED_TRACE(testing::Message() << loss << " % are lost");
            for (bool systematic : {false, true})
                transfer(n, loss, 0, false, systematic, random);
            transfer(n, loss, 3, true, loss == 30, random);
            if (n <= 128)
                transfer(n, loss, 3, false, loss == 60, random);
        }
    }
};

TEST_P(RlncChannel, Small) {
    Random random;
    for (size_t n : {1, 2, 16})
        transfers(n, random);
}

TEST_P(RlncChannel, Generation128) {
    Random random;
    transfers(128, random);
}

TEST_P(RlncChannel, Generation1024) {
    if (options.reduced)
        GTEST_SKIP() << "takes long where everything is checked";
    Random random;
    const size_t n = w() == 32 ? 400 : 1024;
    transfer(n, 60, 0, false, false, random);
    transfer(n, 30, 3, true, true, random);
    if (!host())
        transfers(n, random);
}

INSTANTIATE_AT(RlncChannel, matmul_places());

// ---- hostile packets --------------------------------------------------------------------------

class RlncHostile : public RlncTest {
  protected:
    enum { HONEST, NOISE, ZERO, COPY, STRANGER, NEIGHBOUR, PAYLOAD, VECTOR, CUT, KINDS };
    struct Counts {
        size_t corrupt = 0, unnoticed = 0, right = 0, singular = 0;
    };

    // A decoder with many generations; each is a case of its own.
    void attack(size_t generations, bool with_vectors, Random &random, Counts *counts) {
        const size_t n = 1 + random.below(6), symbols = 1 + random.below(9),
                     spare = random.below(4);
        const uint64_t first = random.next() >> 1;
        const gfk_field field = make_field(w());
        gfk_rlnc_desc desc = this->desc();
        desc.seed = random.next();
        const Rlnc code = make_rlnc(field, n, symbols * symbol(), desc);
        const Decoder decoder = make_decoder(code, first, generations, spare);
        std::vector<Elements> sources;
        std::vector<Oracle> oracles;
        for (size_t g = 0; g < generations; g++) {
            oracles.emplace_back(field, n, symbols, spare);
            sources.emplace_back();
            for (size_t i = 0; i < n * symbols; i++)
                sources.back().push_back(random.symbol(w()));
        }
        // Rows of vector and payload; most of them are honest.
        Headers headers;
        std::vector<Elements> rows;
        std::vector<bool> is_hostile(generations);
        const size_t count = generations * (n + random.below(4));
        for (size_t i = 0; i < count; i++) {
            const size_t g = i % generations;
            const size_t kind = random.below(4) == 0 ? random.below(KINDS) : size_t(HONEST);
            const auto number = static_cast<uint32_t>(random.below(1 << 20));
            const size_t of = kind == NEIGHBOUR ? random.below(generations) : g;
            Elements row = plain_vector(w(), n, desc, first + of, number);
            if (kind == NOISE && with_vectors)
                for (uint32_t &x : row)
                    x = random.symbol(w());
            for (size_t s = 0; s < symbols; s++) {
                uint32_t sum = 0;
                for (size_t e = 0; e < n; e++)
                    sum ^= multiply(field, row[e], sources[of][e * symbols + s]);
                row.push_back(kind == NOISE ? random.symbol(w()) : sum);
            }
            gfk_rlnc_header header = {first + g, number, 0};
            if (kind == COPY && i >= generations) {
                row = rows[i - generations];
                header = headers[i - generations];
            }
            if (kind == STRANGER)
                header.generation = random.below(2) ? first + generations + random.below(9)
                                                    : first - 1 - random.below(9);
            if (kind == PAYLOAD)
                row[n + random.below(symbols)] ^= 1u << random.below(w());
            if (kind == VECTOR && with_vectors)
                row[random.below(n)] ^= 1u << random.below(w());
            if (kind == ZERO && with_vectors)
                std::fill(row.begin(), row.begin() + static_cast<ptrdiff_t>(n), 0);
            if (kind == CUT) // it was shorter than a payload, and is filled up
                std::fill(row.end() - static_cast<ptrdiff_t>(1 + random.below(symbols)), row.end(),
                          0);
            if (!with_vectors && kind == NEIGHBOUR) { // its vector follows from its false header
                const Elements says = plain_vector(w(), n, desc, first + g, number);
                std::copy(says.begin(), says.end(), row.begin());
            }
            is_hostile[g] = is_hostile[g] || (kind != HONEST && kind != COPY && kind != STRANGER);
            headers.push_back(header);
            rows.push_back(row);
        }

        Bytes vectors(count * n * symbol()), payloads(count * symbols * symbol());
        for (size_t i = 0; i < count; i++)
            for (size_t e = 0; e < n + symbols; e++)
                if (e < n)
                    set_symbol(vectors.data(), i * n + e, w(), rows[i][e]);
                else
                    set_symbol(payloads.data(), i * symbols + e - n, w(), rows[i][e]);
        Memory there(host(), vectors), data(host(), payloads), outcomes(host(), count);
        for (size_t at = 0, step; at < count; at += step) {
            step = std::min(count - at, 1 + static_cast<size_t>(random.below(count)));
            const gfk_regions from =
                gfk_inputs_spaced(data.data() + at * symbols * symbol(), symbols * symbol());
            ASSERT_OK(
                gfk_rlnc_decoder_add(decoder.get(), &headers[at], step,
                                     with_vectors ? there.data() + at * n * symbol() : nullptr, n,
                                     &from, outcomes.data() + at, nullptr));
        }
        const Bytes got = outcomes.read();
        for (size_t i = 0; i < count; i++) {
            const uint64_t g = headers[i].generation - first;
            ASSERT_EQ(g < generations ? oracles[g].add(rows[i]) : uint8_t(GFK_RLNC_REFUSED), got[i])
                << "packet " << i;
        }

        const Bytes untouched = random.bytes(generations * n * symbols * symbol());
        Memory out(host(), untouched);
        const gfk_regions to = {nullptr, out.data(), symbols * symbol()};
        ASSERT_OK(gfk_rlnc_decoder_decode(decoder.get(), &to, nullptr, nullptr));
        std::vector<gfk_rlnc_record> records(generations);
        (void)gfk_rlnc_decoder_wait(decoder.get(), nullptr, 0, generations, records.data());
        const Bytes decoded = out.read();
        for (size_t g = 0; g < generations; g++) {
            const Oracle &oracle = oracles[g];
            const gfk_rlnc_record &record = records[g];
            ASSERT_STREQ(gfk_status_name(oracle.status()),
                         gfk_status_name(static_cast<gfk_status>(record.status)));
            ASSERT_EQ(oracle.rank(), record.rank);
            ASSERT_EQ(oracle.kept(), record.kept);
            ASSERT_EQ(oracle.refused(), record.refused);
            if (oracle.rank() < n) {
                counts->singular++;
                continue;
            }
            const Elements expected = oracle.sources();
            bool is_right = true;
            for (size_t i = 0; i < n * symbols; i++) {
                const uint32_t x = get_symbol(decoded.data(), g * n * symbols + i, w());
                ASSERT_EQ(expected[i], x) << "symbol " << i << " of generation " << g;
                is_right = is_right && x == sources[g][i];
            }
            ASSERT_TRUE(is_right || is_hostile[g]);
            if (record.status == GFK_STATUS_CORRUPT) {
                ASSERT_TRUE(is_hostile[g]) << "honest packets were called corrupt";
                counts->corrupt++;
            } else {
                // Only a checksum of the caller's can tell these from right ones.
                counts->unnoticed += !is_right;
                counts->right += is_right;
            }
        }
        count_checked(generations);
    }
};

TEST_P(RlncHostile, Fuzz) {
    Random random;
    Counts counts;
    const size_t cases = options.reduced ? 2000 : 30000;
    for (size_t done = 0; done < cases && !HasFatalFailure();) {
        const size_t generations = host() ? 1 + random.below(100) : 100 + random.below(400);
        attack(generations, random.below(2) != 0, random, &counts);
        done += generations;
    }
    // All four ends are common.
    for (size_t count : {counts.corrupt, counts.unnoticed, counts.right, counts.singular})
        EXPECT_GT(count, cases / 100);
}

// One changed packet among more than n, of which one is kept: CORRUPT, whichever it is; without one more,
// the caller's checksum differs.
TEST_P(RlncHostile, OneChanged) {
    Random random;
    const size_t n = 5, bytes = 8 * symbol();
    const gfk_field field = make_field(w());
    const Rlnc code = make_rlnc(field, n, bytes, desc());
    const Bytes sources = random.bytes(n * bytes);
    const auto checksum = [](const Bytes &all) {
        uint64_t sum = 14695981039346656037u;
        for (uint8_t byte : all)
            sum = (sum ^ byte) * 1099511628211u;
        return sum;
    };
    for (size_t changed = 0; changed <= n; changed++)
        for (size_t count : {n, n + 1}) {
            const Decoder decoder = make_decoder(code, 1, 1, 1);
            Headers headers;
            Bytes payloads(count * bytes);
            for (uint32_t i = 0; i < count; i++) {
                headers.push_back({1, i, 0});
                const Elements vector = plain_vector(w(), n, desc(), 1, i);
                for (size_t e = 0; e < n; e++)
                    Times(field, vector[e]).add(&sources[e * bytes], &payloads[i * bytes], bytes);
            }
            if (changed < count)
                payloads[changed * bytes + random.below(bytes)] ^= 1 << random.below(8);
            Memory data(host(), payloads), out(host(), sources.size());
            const gfk_regions from = gfk_inputs_spaced(data.data(), bytes);
            const gfk_regions to = {nullptr, out.data(), bytes};
            ASSERT_OK(gfk_rlnc_decoder_add(decoder.get(), headers.data(), count, nullptr, 0, &from,
                                           nullptr, nullptr));
            ASSERT_OK(gfk_rlnc_decoder_decode(decoder.get(), &to, nullptr, nullptr));
            gfk_rlnc_record record;
            EXPECT_STATUS(count > n ? GFK_STATUS_CORRUPT : GFK_STATUS_SUCCESS,
                          gfk_rlnc_decoder_wait(decoder.get(), nullptr, 0, 1, &record));
            ASSERT_EQ(n, record.rank);
            if (changed < count) {
                EXPECT_TRUE(record.status == GFK_STATUS_CORRUPT ||
                            checksum(sources) != checksum(out.read()));
            } else {
                EXPECT_EQ(checksum(sources), checksum(out.read()));
            }
            count_checked();
        }
}

INSTANTIATE_AT(RlncHostile, matmul_places());

} // namespace
