// SPDX-License-Identifier: BSD-3-Clause
// fixture.h.
#include "fixture.h"
#include "rlnc/fixture.h"

#include <cstring>
#include <numeric>
#include <sstream>
#include <stdexcept>

gfk_pipeline_desc pipeline_desc(gfk_path path) {
    gfk_pipeline_desc desc = GFK_PIPELINE_DESC_INIT;
    desc.path = path;
    return desc;
}

Pipeline make_pipeline(const gfk_pipeline_desc &desc) {
    gfk_pipeline_t pipeline = nullptr;
    require_success(gfk_pipeline_create(&pipeline, &desc), "gfk_pipeline_create");
    return Pipeline(pipeline);
}

gfk_pipeline_info info_of(gfk_pipeline_t pipeline) {
    gfk_pipeline_info info;
    require_success(gfk_pipeline_get_info(pipeline, &info), "gfk_pipeline_get_info");
    return info;
}

int device_count() {
    int count = 0;
    for (;; count++) {
        gfk_pipeline_desc desc = pipeline_desc();
        desc.devices = &count;
        desc.device_count = 1;
        gfk_pipeline_t pipeline = nullptr;
        if (gfk_pipeline_create(&pipeline, &desc) != GFK_STATUS_SUCCESS)
            return count;
        gfk_pipeline_destroy(pipeline);
    }
}

Pinned make_pinned(size_t bytes) {
    void *memory = nullptr;
    require_success(gfk_pinned_alloc(&memory, bytes), "gfk_pinned_alloc");
    return Pinned(static_cast<uint8_t *>(memory));
}

// ---- stages -------------------------------------------------------------------------------------

std::vector<Place> places() {
    return {Place::PAGEABLE, Place::PINNED,        Place::MIXED,
            Place::SPACED,   Place::SPACED_PINNED, Place::LISTED_PINNED};
}

std::string place_name(Place place) {
    static const char *const names[] = {"pageable",
                                        "pinned",
                                        "mixed",
                                        "spaced",
                                        "spaced and pinned",
                                        "spaced and pinned, by pointers"};
    return names[static_cast<int>(place)];
}

HostStage::HostStage(size_t ins, size_t outs, size_t bytes, Place place, Random &random)
    : ins_(ins), outs_(outs), bytes_(bytes), size_((ins + outs) * (bytes + 96) + 64),
      pageable_(random.bytes(size_)), pinned_(make_pinned(size_)) {
    random.fill(pinned_.get(), size_);
    const bool spaced = place >= Place::SPACED;
    const size_t stride = bytes + random.below(64);
    for (size_t i = 0; i < ins + outs; i++) {
        const bool pinned = place == Place::PINNED || place >= Place::SPACED_PINNED ||
                            (place == Place::MIXED && random.below(2) == 0);
        const size_t offset = spaced ? 32 + i * stride : 32 + i * (bytes + 96) + random.below(64);
        pointers_.push_back((pinned ? pinned_.get() : pageable_.data()) + offset);
    }
    if (spaced && place != Place::LISTED_PINNED) {
        in_ = {nullptr, pointers_[0], stride};
        out_ = {nullptr, pointers_[ins], stride};
    } else {
        in_ = {pointers_.data(), nullptr, 0};
        out_ = {pointers_.data() + ins, nullptr, 0};
    }
}

Bytes HostStage::snapshot() const {
    Bytes all = pageable_;
    all.insert(all.end(), pinned_.get(), pinned_.get() + size_);
    return all;
}

size_t HostStage::offset_of(size_t region) const {
    const uint8_t *p = at(region), *begin = pageable_.data();
    return p >= begin && p < begin + size_ ? p - begin : size_ + (p - pinned_.get());
}

void HostStage::expect(const std::vector<Bytes> &outputs) {
    expected_ = snapshot();
    for (size_t j = 0; j < outputs.size(); j++)
        std::copy(outputs[j].begin(), outputs[j].end(), &expected_[offset_of(ins_ + j)]);
}

void HostStage::expect_unchanged() {
    expect({});
}

void HostStage::expect(const gfk_field &field, const std::vector<uint32_t> &matrix,
                       gfk_accumulate mode, Random &random) {
    expected_ = snapshot();
    if (bytes_ < MIB) { // longer regions take the threads of the reference engine
        std::vector<uint8_t *> sums;
        for (size_t j = 0; j < outs_; j++) {
            sums.push_back(expected_.data() + offset_of(ins_ + j));
            if (mode == GFK_SET)
                std::fill_n(sums[j], bytes_, 0);
        }
        std::vector<uint32_t> column(outs_);
        for (size_t i = 0; i < ins_; i++) {
            for (size_t j = 0; j < outs_; j++)
                column[j] = matrix[j * ins_ + i];
            add_multiples(field, column, in(i), sums, bytes_);
        }
        return;
    }
    gfk_product_desc desc = GFK_PRODUCT_DESC_INIT;
    desc.family = GFK_ENGINE_HOST;
    gfk_product_t product = nullptr;
    require_success(gfk_product_create(&product, &field, outs_, ins_, matrix.data(), &desc),
                    "the reference");
    std::vector<void *> outs;
    for (size_t j = 0; j < outs_; j++)
        outs.push_back(expected_.data() + offset_of(ins_ + j));
    const gfk_regions reference = {outs.data(), nullptr, 0};
    require_success(gfk_product_run(product, &in_, &reference, bytes_, mode, nullptr),
                    "the reference");
    gfk_product_destroy(product);
    const size_t symbols = bytes_ / (field.w / 8);
    for (size_t trial = 0; trial < 8 && symbols != 0; trial++) {
        const size_t j = random.below(outs_), s = random.below(symbols);
        uint32_t sum = mode == GFK_XOR ? get_symbol(out(j), s, field.w) : 0;
        for (size_t i = 0; i < ins_; i++)
            sum ^= multiply(field, matrix[j * ins_ + i], get_symbol(in(i), s, field.w));
        if (sum != get_symbol(outs[j], s, field.w))
            throw std::runtime_error("the reference engine is wrong");
    }
}

testing::AssertionResult HostStage::as_expected() const {
    const Bytes got = snapshot();
    const size_t byte = first_difference(expected_.data(), got.data(), got.size());
    if (byte == got.size())
        return testing::AssertionSuccess();
    std::ostringstream text;
    for (size_t i = 0; i < ins_ + outs_; i++)
        if (byte >= offset_of(i) && byte < offset_of(i) + bytes_)
            text << (i < ins_ ? "input " : "output ") << (i < ins_ ? i : i - ins_) << ", byte "
                 << byte - offset_of(i);
    if (text.str().empty())
        text << "a byte outside the regions";
    return testing::AssertionFailure() << text.str() << " of " << bytes_ << ", " << ins_
                                       << " inputs, " << outs_ << " outputs; seed " << options.seed;
}

HostRun run_product(gfk_pipeline_t pipeline, const gfk_field &field, size_t rows, size_t cols,
                    size_t bytes, gfk_accumulate mode, Place place, Random &random) {
    HostStage stage(cols, rows, bytes, place, random);
    const std::vector<uint32_t> matrix = random_elements(field.w, rows * cols, random);
    stage.expect(field, matrix, mode, random);
    gfk_pipeline_report report;
    std::memset(&report, 0x5a, sizeof report);
    const gfk_status status = gfk_product_host(pipeline, &field, rows, cols, matrix.data(),
                                               stage.in(), stage.out(), bytes, mode, &report);
    return {status, stage.as_expected(), report};
}

// ---- a calibration that tests can reckon with ---------------------------------------------------

gfk_calibration round_machine() {
    gfk_calibration c = {};
    std::strcpy(c.host, "somewhere");
    std::strcpy(c.processor, "A Processor @ 2.00 GHz");
    c.threads = 16;
    c.device_count = 1;
    std::strcpy(c.devices[0], "A GPU");
    for (auto &rates : c.cpu) {
        const double outputs[5] = {1, 1, 2, 4, 8};
        for (int i = 0; i < 5; i++)
            rates[i] = 1e9 / (1 + outputs[i] / 8);
        rates[0] = 1e9 / 2;
    }
    const double pageable[3] = {25e9, 25e9, 40e9}, pinned[3] = {50e9, 50e9, 80e9};
    std::copy(pageable, pageable + 3, c.bus[GFK_PAGEABLE]);
    std::copy(pinned, pinned + 3, c.bus[GFK_PINNED]);
    for (double &kernel : c.kernel)
        kernel = 1e13;
    c.cpu_call = 1e-6;
    c.gpu_call = 1e-4;
    c.both[0] = 0.5;
    c.both[1] = 1;
    return c;
}

gfk_advice advise(const gfk_calibration &c, size_t k, size_t m, size_t bytes, gfk_where where,
                  unsigned w) {
    gfk_advice advice;
    const gfk_field field = make_field(w);
    require_success(gfk_advise(&c, &field, k, m, bytes, where, &advice), "gfk_advise");
    EXPECT_EQ('.', advice.why[std::strlen(advice.why) - 1]);
    count_checked();
    return advice;
}

// ---- the fixture --------------------------------------------------------------------------------

std::string path_name(const testing::TestParamInfo<gfk_path> &info) {
    return gfk_path_name(info.param);
}

void HostTest::SetUp() {
    // "auto" takes one of the other paths, and "both" has the threads of "gpu".
    SKIP_SLOW_IF(SANITIZED && path() == GFK_PATH_AUTO);
    SKIP_SLOW_IF(THREAD_SANITIZER && path() == GFK_PATH_GPU);
    const gfk_pipeline_desc wanted = desc();
    gfk_pipeline_t pipeline = nullptr;
    const gfk_status status = gfk_pipeline_create(&pipeline, &wanted);
    gfk_pipeline_destroy(pipeline);
    if (on_gpu() && status == GFK_STATUS_NO_DEVICE)
        SKIP_WITHOUT_GPU("there is no GPU for a pipeline");
    ASSERT_OK(status);
    set_up();
}

void HostTest::expect_refused(gfk_pipeline_t pipeline, void *there, size_t bytes) {
    const gfk_field field = make_field(8);
    Bytes here(bytes);
    EXPECT_STATUS(INVALID, gfk_region_multiply_host(pipeline, &field, 2, there, here.data(), bytes,
                                                    GFK_SET, nullptr));
    EXPECT_STATUS(INVALID, gfk_region_multiply_host(pipeline, &field, 2, here.data(), there, bytes,
                                                    GFK_SET, nullptr));
    // More vectors than fit into memory; and one source, and a dependent packet that is there.
    gfk_rlnc_desc desc = GFK_RLNC_DESC_INIT;
    desc.device = GFK_CPU;
    gfk_rlnc_t made = nullptr;
    require_success(gfk_rlnc_create(&made, &field, 1000, bytes, &desc), "gfk_rlnc_create");
    const Rlnc wide(made);
    std::vector<void *> same(1000, here.data());
    gfk_regions in = {same.data(), nullptr, 0}, out = {nullptr, there, bytes};
    EXPECT_STATUS(INVALID,
                  gfk_rlnc_encode_host(pipeline, wide.get(), 0, 0, INT32_MAX, &in, &out, nullptr));
    require_success(gfk_rlnc_create(&made, &field, 1, bytes, &desc), "gfk_rlnc_create");
    const Rlnc narrow(made);
    const gfk_rlnc_header headers[] = {{0, 0, 0}, {0, 1, 0}};
    same[1] = there;
    Bytes source(bytes, 99);
    out.base = source.data();
    EXPECT_STATUS(INVALID, gfk_rlnc_decode_host(pipeline, narrow.get(), 0, headers, 2, nullptr, 0,
                                                &in, &out, nullptr, nullptr, nullptr));
    EXPECT_EQ(Bytes(bytes, 99), source);
    count_checked(4);
}

void HostTest::expect_sound(const gfk_pipeline_report &report, gfk_pipeline_t pipeline,
                            size_t bytes) {
    const gfk_pipeline_info info = info_of(pipeline);
    ASSERT_NE(nullptr, report.reason);
    EXPECT_NE(GFK_PATH_AUTO, report.path);
    if (info.path != GFK_PATH_AUTO && bytes != 0) {
        EXPECT_EQ(info.path, report.path) << report.reason;
    }
    EXPECT_EQ(bytes, report.cpu_bytes + report.gpu_bytes);
    EXPECT_EQ(report.gpu_bytes, std::accumulate(std::begin(report.device_bytes),
                                                std::end(report.device_bytes), uint64_t(0)));
    EXPECT_EQ(0u, report.redone_bytes);
    EXPECT_OK(report.device_status);
    if (report.path == GFK_PATH_CPU) {
        EXPECT_EQ(0u, report.gpu_bytes);
        EXPECT_EQ(0u, report.chunk);
        EXPECT_EQ(0u, report.staged_regions);
    }
    if (report.path == GFK_PATH_GPU) {
        EXPECT_EQ(0u, report.cpu_bytes);
        EXPECT_LE(report.chunk, info.device_memory);
    }
    EXPECT_GE(report.seconds, 0);
}

void HostTest::check(gfk_pipeline_t pipeline, const gfk_field &field, size_t rows, size_t cols,
                     size_t bytes, gfk_accumulate mode, Place place, uint64_t stream) {
    Random random(stream);
    const HostRun run = run_product(pipeline, field, rows, cols, bytes, mode, place, random);
    ASSERT_OK(run.status);
    ASSERT_TRUE(run.right) << "path " << gfk_path_name(path()) << ", w = " << field.w << ", "
                           << place_name(place) << ", mode " << (mode == GFK_XOR ? "xor" : "set");
    expect_sound(run.report, pipeline, bytes);
    count_checked();
}
