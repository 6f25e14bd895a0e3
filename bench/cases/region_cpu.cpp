// SPDX-License-Identifier: BSD-3-Clause
// Region multiplies on the CPU: this library's own rows, one thread.
#include <algorithm>
#include <cstring>
#include <map>
#include <memory>

#include "core/host.h"
#include "region.h"

namespace {

constexpr size_t kConstants = 8;
constexpr double kLongestPass = 0.2; // seconds; sizes stop growing there

// A host row with a prepared workspace per constant.
class HostWork : public Work {
  public:
    HostWork(const Library &library, const RegionCase &c, uint64_t seed)
        : library_(library), case_(c), multiplier_(multiplier_of(library, c.kernel)),
          constants_(random_constants(c.kernel->w, kConstants, seed)),
          stride_((multiplier_.workspace_bytes + 15) / 16 * 16), buffers_(host_buffers(c.bytes)),
          memory_(stride_ * kConstants + 16) {}
    gfk_status start() override {
        if (multiplier_.status != GFK_STATUS_SUCCESS)
            return multiplier_.status;
        const Stopwatch watch;
        for (size_t k = 0; k < kConstants; k++) {
            const gfk_status status = library_.gfk_region_prepare(multiplier_.handle, constants_[k],
                                                                  workspace(k), stride_, nullptr);
            if (status != GFK_STATUS_SUCCESS)
                return status;
        }
        prepare_us_ = watch.us() / kConstants;
        return GFK_STATUS_SUCCESS;
    }
    std::string check(bool after) override {
        if (after)
            return "";
        std::memset(buffers_.dst, 0xa5, case_.bytes);
        pass(0);
        const unsigned char *expected = host_expected(case_.kernel->w, constants_[0], case_.bytes);
        return std::memcmp(buffers_.dst, expected, case_.bytes) == 0
                   ? ""
                   : "differs from the host reference";
    }
    double pass(long number) override {
        const size_t k = (size_t)number % kConstants;
        const Stopwatch watch;
        gfk_check(library_.gfk_region_multiply_prepared(multiplier_.handle, constants_[k],
                                                        buffers_.src, buffers_.dst, case_.bytes,
                                                        GFK_SET, workspace(k), stride_, nullptr),
                  case_.kernel->id);
        return watch.us();
    }
    void describe(Fields *fields) const override {
        describe_multiplier(multiplier_, fields);
        fields->set("threads", 1);
        fields->set("constant_count", kConstants);
        if (multiplier_.workspace_bytes != 0) {
            fields->set("setup", "prepare");
            fields->set("setup_us", prepare_us_);
        } else if (case_.kernel->table_bytes != 0) {
            fields->set("setup", "create");
            fields->set("setup_us", multiplier_.create_us);
        }
    }

  private:
    unsigned char *workspace(size_t k) {
        unsigned char *p = memory_.data();
        return p + (16 - (uintptr_t)p % 16) % 16 + k * stride_;
    }
    const Library &library_;
    RegionCase case_;
    const Multiplier &multiplier_;
    std::vector<uint32_t> constants_;
    size_t stride_;
    HostBuffers buffers_;
    std::vector<unsigned char> memory_;
    double prepare_us_ = 0;
};

} // namespace

void add_region_cpu_rows(const Options &options, Rows *rows) {
    const uint64_t seed = options.seed;
    std::map<std::string, double> us_per_byte;
    if (options.shard != 1)
        return;
    for (size_t bytes : options.sizes.empty() ? default_sizes() : options.sizes)
        for (const gfk_kernel_info *k : kernels([](const gfk_kernel_info *k) {
                 return !on_device(k) && !(k->labels & GFK_LABEL_GIANT);
             })) {
            const RegionCase c = {k, bytes, GFK_SET, false};
            double &rate = us_per_byte[k->id];
            if (rate == 0 && !options.list) {
                const RegionCase probe = {k, 64 * kKiB, GFK_SET, false};
                HostWork work(linked_library(), probe, seed);
                gfk_check(work.start(), k->id);
                work.pass(0);
                rate = work.pass(0) / (double)probe.bytes;
            }
            if (rate * (double)bytes > 1e6 * kLongestPass)
                continue;
            Row row = region_row(c);
            row.passes = 0;
            row.make = [=](const Library &library) {
                return std::make_unique<HostWork>(library, c, seed);
            };
            rows->push_back(row);
        }
}
