// SPDX-License-Identifier: BSD-3-Clause
// Decoders of network coding: packets that are lost, doubled, reordered, recoded or changed, against
// scalar elimination.
#include <algorithm>

#include "fixture.h"

namespace {

struct Packet {
    gfk_rlnc_header header;
    Elements vector;
    Bytes payload;
};

class RlncDecoder : public RlncTest {
  protected:
    // Generations of random sources, a code, and the decoder under test.
    struct Setup {
        Setup(const RlncDecoder &test, size_t n_, size_t bytes_, uint64_t first_,
              size_t generations_, size_t spare_, const gfk_rlnc_desc &desc_, Random &random)
            : host(test.host()), w(test.w()), n(n_), bytes(bytes_), first(first_),
              generations(generations_), spare(spare_), desc(desc_), field(make_field(w)),
              code(make_rlnc(field, n, bytes, desc)),
              sources(random.bytes(generations * n * bytes)),
              untouched(random.bytes(sources.size())),
              decoder(make_decoder(code, first, generations, spare)) {
            oracles.assign(generations, Oracle(field, n, 0, spare));
        }
        void reset(uint64_t first_) {
            first = first_;
            ASSERT_OK(gfk_rlnc_decoder_reset(decoder.get(), first, nullptr));
            oracles.assign(generations, Oracle(field, n, 0, spare));
        }
        const uint8_t *source(size_t g, size_t i) const { return &sources[(g * n + i) * bytes]; }

        // Packet `number` of generation g, or one with a vector of the test.
        Packet packet(size_t g, uint32_t number, const Elements *own = nullptr) const {
            Packet p = {{first + g, number, 0},
                        own ? *own : plain_vector(w, n, desc, first + g, number),
                        Bytes(bytes)};
            for (size_t i = 0; i < n && bytes != 0; i++)
                Times(field, p.vector[i]).add(source(g, i), p.payload.data(), bytes);
            return p;
        }

        // Adds packets; checks every outcome.
        void add(const std::vector<Packet> &packets, bool own_vectors) {
            const size_t count = packets.size(), symbol = w / 8, stride = n + 1;
            Headers headers;
            Bytes rows(count * stride * symbol + symbol), data(count * bytes + 3);
            for (size_t i = 0; i < count; i++) {
                headers.push_back(packets[i].header);
                for (size_t e = 0; e < n; e++)
                    set_symbol(rows.data(), i * stride + e, w, packets[i].vector[e]);
                std::copy(packets[i].payload.begin(), packets[i].payload.end(),
                          data.begin() + 3 + i * bytes);
            }
            Memory vectors(host, rows), payloads(host, data), outcomes(host, Bytes(count + 1, 99));
            const gfk_regions regions = gfk_inputs_spaced(payloads.data() + 3, bytes);
            ASSERT_OK(gfk_rlnc_decoder_add(
                decoder.get(), headers.data(), count, own_vectors ? vectors.data() : nullptr,
                stride, bytes != 0 ? &regions : nullptr, outcomes.data(), nullptr));
            const Bytes got = outcomes.read();
            for (size_t i = 0; i < count; i++)
                ASSERT_EQ(expected(packets[i]), got[i]) << "packet " << i << " of " << count;
            ASSERT_EQ(99, got[count]);
            count_checked(count);
        }
        uint8_t expected(const Packet &p) {
            const uint64_t g = p.header.generation - first;
            return p.header.generation < first || g >= generations ? uint8_t(GFK_RLNC_REFUSED)
                                                                   : oracles[g].add(p.vector);
        }

        // Decodes, and compares: the sources that are written, which are at least those whose unit
        // vectors came, and all of complete generations.
        void decode(gfk_status status, bool are_right = true) {
            Memory out(host, untouched), decoded(host, Bytes(generations * n, 99));
            const gfk_regions regions = {nullptr, out.data(), bytes};
            ASSERT_OK(gfk_rlnc_decoder_decode(decoder.get(), bytes != 0 ? &regions : nullptr,
                                              decoded.data(), nullptr));
            std::vector<gfk_rlnc_record> records(generations);
            EXPECT_STATUS(status, gfk_rlnc_decoder_wait(decoder.get(), nullptr, 0, generations,
                                                        records.data()));
            const Bytes got = out.read(), marks = decoded.read();
            for (size_t g = 0; g < generations; g++) {
                const size_t rank = oracles[g].rank();
                EXPECT_EQ(rank, records[g].rank);
                EXPECT_EQ(oracles[g].kept(), records[g].kept);
                EXPECT_EQ(oracles[g].dropped(), records[g].dropped);
                EXPECT_EQ(oracles[g].refused(), records[g].refused);
                EXPECT_EQ(size_t(std::count(&marks[g * n], &marks[g * n] + n, 1)),
                          records[g].determined);
                EXPECT_TRUE(rank < n || records[g].determined == n);
                for (size_t i = 0; i < n; i++) {
                    ASSERT_EQ(oracles[g].determines(i), marks[g * n + i]) << "source " << i;
                    const size_t at = (g * n + i) * bytes;
                    const Bytes &content = marks[g * n + i] ? sources : untouched;
                    if (are_right) {
                        ASSERT_EQ(bytes, first_difference(&content[at], &got[at], bytes))
                            << "source " << i << " of generation " << g;
                    }
                }
            }
            count_checked(generations * n);
        }

        size_t symbol() const { return w / 8; }

        bool host;
        unsigned w;
        size_t n, bytes;
        uint64_t first;
        size_t generations, spare;
        gfk_rlnc_desc desc;
        gfk_field field;
        Rlnc code;
        Bytes sources, untouched;
        Decoder decoder;
        std::vector<Oracle> oracles;
    };

    // Packets in random order, some twice, in pieces of random sizes; decoded along the way.
    void lossy_channel(size_t n, size_t bytes, size_t generations, const gfk_rlnc_desc &desc,
                       bool own_vectors, size_t steps, Random &random) {
        Setup s(*this, n, bytes, random.next() >> 20, generations, 2, desc, random);
        std::vector<Packet> packets;
        for (size_t g = 0; g < generations; g++)
            for (size_t i = 0; i < n + 3; i++) {
                const uint32_t number = uint32_t(random.below(2 * n + 4)); // the others are lost
                packets.push_back(s.packet(g, number));
                if (random.below(8) == 0)
                    packets.push_back(packets[random.below(packets.size())]);
            }
        for (size_t i = packets.size(); i > 1; i--)
            std::swap(packets[i - 1], packets[random.below(i)]);
        for (size_t at = 0; at < packets.size();) {
            const size_t most = packets.size() / steps + 1;
            const size_t count = std::min(1 + random.below(most), packets.size() - at);
            s.add({packets.begin() + at, packets.begin() + at + count}, own_vectors);
            at += count;
            const bool complete = std::all_of(s.oracles.begin(), s.oracles.end(),
                                              [&](const Oracle &r) { return r.rank() == n; });
            s.decode(complete ? GFK_STATUS_SUCCESS : GFK_STATUS_SINGULAR);
            if (HasFatalFailure())
                return;
        }
    }
};

TEST_P(RlncDecoder, LossyChannel) {
    Random random;
    std::vector<size_t> sizes = {1, 2, 3, 8, 17};
    if (!options.reduced)
        sizes.insert(sizes.end(), {31, 32, 33, 64, 100});
    for (size_t n : sizes)
        for (bool systematic : {false, true})
            for (unsigned density : {256, 60}) {
                gfk_rlnc_desc desc = this->desc();
                desc.systematic = systematic;
                desc.density = density;
                desc.seed = random.next();
                lossy_channel(n, symbol() * (1 + random.below(100)), 1, desc, false, 4, random);
                lossy_channel(n, symbol() * 5, 4, desc, true, 3, random);
                if (HasFatalFailure())
                    return;
            }
}

// Around the sizes of panels, and behind the largest size that a block takes in registers.
TEST_P(RlncDecoder, Sizes) {
    Random random;
    std::vector<size_t> sizes = {15, 17, 33, 127, 130};
    if (!options.reduced)
        sizes.insert(sizes.end(), {16, 31, 32, 128, 129, 256, 257});
    for (size_t n : sizes) {
        gfk_rlnc_desc desc = this->desc();
        desc.density = n % 2 ? 256 : 128;
        lossy_channel(n, 3 * symbol(), n < 257 ? 3 : 1, desc, false, 1, random);
        if (HasFatalFailure())
            return;
    }
}

// One packet at a time: every source can be had as early as it is determined.
TEST_P(RlncDecoder, OneByOne) {
    Random random;
    gfk_rlnc_desc desc = this->desc();
    desc.density = 40; // so that many are determined early
    for (size_t n : {5, 20})
        lossy_channel(n, symbol() * 33, 1, desc, false, 10000, random);
}

// Many generations with different numbers of packets; one of them has none.
TEST_P(RlncDecoder, Generations) {
    Random random;
    const size_t n = 12, generations = options.reduced ? 5 : 60;
    Setup s(*this, n, symbol() * 50, UINT64_MAX - generations + 1, generations, 1, desc(), random);
    std::vector<Packet> packets;
    for (size_t i = 0; i < generations * n; i++)
        packets.push_back(s.packet(1 + random.below(generations - 1), uint32_t(random.next())));
    s.add(packets, false);
    s.decode(GFK_STATUS_SINGULAR);
    packets.clear();
    for (size_t g = 0; g < generations; g++)
        for (size_t i = 0; i < n + 2; i++)
            packets.push_back(s.packet(g, uint32_t(random.next())));
    s.add(packets, true);
    s.decode(GFK_STATUS_SUCCESS);
}

// A changed payload or vector is noticed from n + 1 packets on; from n it cannot be.
TEST_P(RlncDecoder, Corrupt) {
    Random random;
    for (size_t n : {1, 6, 40})
        for (bool in_vector : {false, true}) {
            const size_t bytes = 64;
            Setup s(*this, n, bytes, 7, 2, 1, desc(), random);
            std::vector<Packet> packets;
            for (size_t i = 0; i < n; i++) {
                packets.push_back(s.packet(0, uint32_t(100 + i)));
                packets.push_back(s.packet(1, uint32_t(i)));
            }
            if (in_vector)
                packets[2 * (n / 2)].vector[n / 3] ^= 1; // of generation 0
            else
                packets[2 * (n / 2)].payload[bytes - 1] ^= 0x80;
            s.add(packets, true);
            if (s.oracles[0].rank() < n || s.oracles[1].rank() < n)
                continue; // the change made the vectors dependent
            s.decode(GFK_STATUS_SUCCESS, false);
            s.add({s.packet(0, 5000), s.packet(1, 5000)}, true);
            s.decode(GFK_STATUS_CORRUPT, false);
            std::vector<gfk_rlnc_record> records(2);
            EXPECT_STATUS(GFK_STATUS_SUCCESS,
                          gfk_rlnc_decoder_wait(s.decoder.get(), nullptr, 1, 1, records.data()));
        }
}

TEST_P(RlncDecoder, Refused) {
    Random random;
    const size_t n = 9;
    Setup s(*this, n, symbol() * 10, 100, 2, 0, desc(), random);
    const Elements zero(n);
    std::vector<Packet> packets;
    for (uint32_t i = 0; i < n; i++) {
        packets.push_back(s.packet(i % 2, i, &zero));
        packets.push_back(s.packet(0, 10 + i));
        packets.push_back(packets.back());
        packets.back().header.generation = i % 2 ? 99 : 102;
        packets.push_back(s.packet(1, 20 + i));
    }
    packets.back().header.generation = UINT64_MAX;
    s.add(packets, true);
    s.add({s.packet(1, 1000), s.packet(1, 1001), s.packet(1, 1002)}, true);
    s.decode(GFK_STATUS_SUCCESS);
}

// An emptied decoder knows nothing of its former packets and generations, nor that they were CORRUPT.
TEST_P(RlncDecoder, Reset) {
    Random random;
    std::vector<size_t> sizes = {3, 20};
    if (!options.reduced)
        sizes.push_back(300); // more than a block takes
    for (size_t n : sizes) {
        Setup s(*this, n, symbol() * 7, 5, 3, 2, desc(), random);
        for (uint64_t first : {uint64_t(5), UINT64_MAX - 2, uint64_t(4)}) {
            s.reset(first);
            s.decode(GFK_STATUS_SINGULAR);
            std::vector<Packet> packets;
            for (size_t i = 0; i < n + 2; i++)
                packets.push_back(s.packet(i == n ? 0 : 2, uint32_t(i)));
            packets.push_back(packets[0]);
            packets.back().header.generation = first - 1;
            s.add(packets, false);
            if (s.oracles[2].rank() < n)
                continue;
            Packet changed = packets[0];
            changed.payload[0] ^= 1;
            s.add({changed}, true);
            s.decode(GFK_STATUS_CORRUPT);
        }
        EXPECT_STATUS(GFK_STATUS_INVALID_SIZE,
                      gfk_rlnc_decoder_reset(s.decoder.get(), UINT64_MAX - 1, nullptr));
        if (s.host) {
            const gfk_stream_t stream = reinterpret_cast<gfk_stream_t>(1);
            EXPECT_STATUS(GFK_STATUS_STREAM_ON_HOST,
                          gfk_rlnc_decoder_reset(s.decoder.get(), 0, stream));
        }
        s.decode(s.oracles[2].rank() == n ? GFK_STATUS_CORRUPT : GFK_STATUS_SINGULAR); // as before
    }
    EXPECT_STATUS(GFK_STATUS_INVALID_ARGUMENT, gfk_rlnc_decoder_reset(nullptr, 0, nullptr));
}

// Many packets of the same generation that say nothing new, while the rank is one less than n; then many
// in one call that do not fit into a round.
TEST_P(RlncDecoder, Repeated) {
    Random random;
    for (size_t n : {2, 33, 70}) {
        Setup s(*this, n, symbol() * 3, 0, 2, 3, desc(), random);
        std::vector<Packet> packets;
        const auto unit = [&](size_t i) {
            Elements vector(n);
            vector[i] = 1;
            return s.packet(0, 0, &vector);
        };
        for (size_t i = 0; i < 3 * n; i++) // the last source is missing
            packets.push_back(unit(random.below(n - 1)));
        for (size_t i = 0; i + 1 < n; i++)
            packets.push_back(unit(i));
        for (size_t i = 0; i < n; i++)
            packets.push_back(packets[random.below(packets.size())]);
        s.add(packets, true);
        s.decode(GFK_STATUS_SINGULAR);
        packets.clear();
        for (size_t i = 0; i < 3 * n; i++)
            packets.push_back(s.packet(i % 2, uint32_t(i / 2)));
        s.add(packets, false);
        s.add(packets, true);
        s.decode(s.oracles[0].rank() == n && s.oracles[1].rank() == n ? GFK_STATUS_SUCCESS
                                                                      : GFK_STATUS_SINGULAR);
    }
}

TEST_P(RlncDecoder, NoBytes) {
    Random random;
    lossy_channel(20, 0, 2, desc(), false, 3, random);
}

TEST_P(RlncDecoder, Errors) {
    Random random;
    const gfk_status invalid = GFK_STATUS_INVALID_ARGUMENT, size = GFK_STATUS_INVALID_SIZE;
    const size_t n = 5, bytes = 16;
    Setup s(*this, n, bytes, 0, 2, 1, desc(), random);
    gfk_rlnc_t code = s.code.get();
    gfk_rlnc_decoder_t made = nullptr, d = s.decoder.get();
    EXPECT_STATUS(invalid, gfk_rlnc_decoder_create(nullptr, code, 0, 1, 0));
    EXPECT_STATUS(invalid, gfk_rlnc_decoder_create(&made, nullptr, 0, 1, 0));
    EXPECT_STATUS(invalid, gfk_rlnc_decoder_create(&made, code, 0, 0, 0));
    EXPECT_STATUS(size, gfk_rlnc_decoder_create(&made, code, UINT64_MAX, 2, 0));
    EXPECT_STATUS(size, gfk_rlnc_decoder_create(&made, code, 0, SIZE_MAX / 8, 0));
    EXPECT_STATUS(size, gfk_rlnc_decoder_create(&made, code, 0, 1, SIZE_MAX));
    EXPECT_EQ(nullptr, made);

    const Packet p = s.packet(0, 3);
    Memory payload(s.host, p.payload), rows(s.host, Bytes(64));
    const gfk_regions in = gfk_inputs_spaced(payload.data(), bytes);
    EXPECT_STATUS(invalid,
                  gfk_rlnc_decoder_add(d, &p.header, 1, rows.data(), n - 1, &in, nullptr, nullptr));
    EXPECT_STATUS(
        size, gfk_rlnc_decoder_add(d, &p.header, SIZE_MAX / 64, nullptr, 0, &in, nullptr, nullptr));
    EXPECT_OK(gfk_rlnc_decoder_add(d, nullptr, 0, nullptr, 0, nullptr, nullptr, nullptr));
    // The last length whose payloads, rounded up, do not wrap.
    const size_t longest = SIZE_MAX / s.symbol() * s.symbol();
    const Rlnc huge = make_rlnc(s.field, n, longest, s.desc);
    EXPECT_STATUS(size, gfk_rlnc_decoder_create(&made, huge.get(), 0, 1, 0));
    std::vector<gfk_rlnc_record> records(3);
    EXPECT_STATUS(invalid, gfk_rlnc_decoder_wait(nullptr, nullptr, 0, 1, records.data()));
    EXPECT_STATUS(invalid, gfk_rlnc_decoder_wait(d, nullptr, 0, 1, nullptr));
    EXPECT_STATUS(invalid, gfk_rlnc_decoder_wait(d, nullptr, 3, 0, records.data()));
    EXPECT_STATUS(invalid, gfk_rlnc_decoder_wait(d, nullptr, 1, 2, records.data()));
    if (s.host) {
        EXPECT_STATUS(
            GFK_STATUS_STREAM_ON_HOST,
            gfk_rlnc_decoder_wait(d, reinterpret_cast<gfk_stream_t>(1), 0, 1, records.data()));
    }
    s.decode(GFK_STATUS_SINGULAR); // nothing has changed
    count_checked(20);
}

INSTANTIATE_AT(RlncDecoder, matmul_places());

} // namespace
