// SPDX-License-Identifier: BSD-3-Clause
// The rows of network coding, on a device and on the CPU.
#pragma once

#include "cases.h"

struct RlncCase {
    enum Operation {
        Vectors, // coding vectors alone
        Encode,
        Matmul,      // the same product, by a matrix in memory: what an encode is compared with
        Recode,      // of as many packets as a generation has sources
        Decode,      // from packets in memory to all sources; the decoder is new
        Progressive, // the same, packet by packet
        Packet       // one packet, until it is there
    } operation;
    unsigned w;
    size_t n, packets, bytes, generations = 1;

    const char *operation_name() const;
    std::string id() const; // rlnc_<operation>_w<W>
    bool decodes() const { return operation == Decode || operation == Progressive; }
    size_t step() const { return operation == Progressive ? 1 : outputs(); } // packets of a call
    std::string name() const;
    size_t row_bytes() const { return n * w / 8; } // of a vector
    size_t sources() const { return generations * n; }
    size_t outputs() const { return generations * packets; }
    size_t stride() const { return (bytes + 127) / 128 * 128; } // from region to region
    gfk_rlnc_range range() const { return {3, generations, 0, packets}; }
    std::vector<gfk_rlnc_header> headers() const; // of the packets of a range
    double data_bytes() const;                    // what is made: vectors, payloads or sources
};

// On a device; the CPU has those of a part.
std::vector<RlncCase> rlnc_cases(const Options &options);
std::vector<RlncCase> rlnc_cpu_cases(const Options &options);
void rlnc_rows(const std::vector<RlncCase> &cases, Rows *rows);     // on the device
void rlnc_cpu_rows(const std::vector<RlncCase> &cases, Rows *rows); // without matmuls

inline constexpr uint64_t kRlncSeed = 20, kRecodeSeed = 21;
// A code on the CPU (threads, 0: all cores) or on the current device.
gfk_status make_rlnc(const Library &library, const RlncCase &c, size_t n, bool on_device,
                     unsigned threads, Object<gfk_rlnc_t> *code);
// The calls of a case, and the memory that they use, which is of the CPU or of a device.
struct RlncCalls {
    RlncCalls(const Library &its_library, const RlncCase &its_case)
        : library(its_library), c(its_case) {}
    size_t workspace();                                             // bytes
    gfk_status run(void *in, void *out, gfk_stream_t stream) const; // of decoders: the encode
    gfk_status make_decoder(Object<gfk_rlnc_decoder_t> *decoder) const;

    const Library &library;
    RlncCase c;
    Object<gfk_rlnc_t> code;
    gfk_matmul_desc desc = GFK_MATMUL_DESC_INIT;
    // Vectors that a call reads and makes, those of a matmul, and a workspace of so many bytes.
    void *read = nullptr, *made = nullptr, *rows = nullptr, *space = nullptr;
    size_t bytes = 0;
};
// From packets to sources, both case.stride() apart: adds, one product, and the wait for the records.
gfk_status decode_packets(const Library &library, const RlncCase &c, gfk_rlnc_decoder_t decoder,
                          const std::vector<gfk_rlnc_header> &headers, void *packets, void *sources,
                          gfk_stream_t stream);
// What is to be expected, from the CPU: the vectors of all packets, or the factors of a recoder.
std::vector<unsigned char> rlnc_rows(const RlncCase &c);
Row rlnc_row(const RlncCase &c, const std::string &id, const char *where, unsigned threads);
