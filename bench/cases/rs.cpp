// SPDX-License-Identifier: BSD-3-Clause
// Codes on the device: the rows of preset rs as data, each row beside the plain kernel of its
// traffic; and what each operation does in a row.
#include <algorithm>
#include <numeric>
#include <random>

#include "core/device.h"
#include "rs.h"

namespace {

const char *const kOperations[] = {"encode", "decode",       "verify",      "locate",
                                   "update", "batch_encode", "batch_decode"};
const char *const kLost[] = {"data", "parity", "mixed"};
const char *const kDamages[] = {"clean", "1 region", "t regions", "1 symbol anywhere",
                                "t symbols anywhere"};

size_t region_of(size_t data, size_t k) {
    return data / k / 512 * 512;
}

std::vector<RsCase> figures(size_t data) {
    std::vector<RsCase> cases;
    const auto add = [&](const RsCase &c) {
        cases.push_back(c);
        return c.name();
    };
    std::string large; // encode at 10+4
    for (const Shape &shape : {Shape{8, 6, 3}, Shape{8, 10, 4}, Shape{8, 17, 3}}) {
        const size_t region = region_of(data, shape.k);
        const std::string encode = add({RsCase::Encode, shape, region});
        if (shape.k == 10)
            large = encode;
        for (RsCase::Lost which : {RsCase::Data, RsCase::Parity, RsCase::Mixed})
            add({RsCase::Decode, shape, region, shape.m, which, 1, encode});
        add({RsCase::Decode, shape, region, 1});
        const std::string verify = add({RsCase::Verify, shape, region});
        add({RsCase::Locate, shape, region, 0, RsCase::Data, 1, verify});
    }
    for (const size_t k : {10, 100})
        for (const unsigned w : {8, 16, 32}) {
            const Shape shape = {w, k, k == 10 ? size_t{4} : size_t{24}};
            RsCase c = {RsCase::Verify, shape, region_of(data, k)};
            c.rate_of = w == 8 && k == 10 ? c.name() : add(c);
            c.operation = RsCase::Locate;
            for (RsCase::Damaged damaged :
                 {RsCase::Region, RsCase::Regions, RsCase::Symbol, RsCase::Symbols}) {
                c.damaged = damaged;
                c.replays = damaged >= RsCase::Symbol ? 3 : 9;
                add(c);
            }
        }
    for (const Shape &shape :
         {Shape{8, 10, 2}, Shape{8, 10, 3}, Shape{8, 10, 4}, Shape{16, 10, 4}, Shape{32, 10, 4}})
        add({RsCase::Update, shape, region_of(data, 10)});
    for (const size_t region : {4 * kKiB, 16 * kKiB})
        for (const size_t lost : {0, 4})
            add({lost ? RsCase::BatchDecode : RsCase::BatchEncode,
                 {8, 10, 4},
                 region,
                 lost,
                 RsCase::Mixed,
                 4096,
                 large});
    for (const Shape &shape :
         {Shape{8, 223, 32}, Shape{8, 128, 128}, Shape{16, 1000, 24}, Shape{16, 4096, 256}}) {
        RsCase c = {RsCase::Encode, shape, region_of(data, shape.k)};
        c.replays = 3;
        add(c);
        c.operation = RsCase::Decode; // for what create takes, as the batches below
        c.lost = shape.m;
        if (shape.m >= 128)
            add(c);
    }
    for (const Shape &shape : {Shape{16, 20, 8}, Shape{8, 64, 64}})
        add({RsCase::BatchDecode, shape, 4 * kKiB, shape.m, RsCase::Mixed, 4096, "", 3});
    return cases;
}

// A sweep over k for m = 2 to 16, with buffers of 1 MiB.
std::vector<RsCase> sweep(const Options &options) {
    std::vector<RsCase> cases;
    for (const Shape &shape : rs_sweep_shapes(options)) {
        cases.push_back({RsCase::Encode, shape, kMiB, 0, RsCase::Data, 1, "", 3});
        cases.push_back(
            {RsCase::Decode, shape, kMiB, std::min(shape.k, shape.m), RsCase::Mixed, 1, "", 3});
    }
    return cases;
}

// Regions that a launch reads and writes, and of these, what GB/s are of.
struct Amounts {
    size_t reads, writes, data;
};
Amounts amounts_of(const RsCase &c) {
    const auto [w, k, m] = c.shape;
    switch (c.operation) {
    case RsCase::Verify:
    case RsCase::Locate:
        return {k + m, 0, k};
    case RsCase::Update:
        return {2 + m, m, 1};
    default:
        return {k, c.lost ? c.lost : m, k};
    }
}

Plain plain_of(const RsCase &c) {
    const auto [reads, writes, data] = amounts_of(c);
    if (writes == 0)
        return {PlainKind::ReadOnly, {reads, 1, c.region}};
    if (c.operation == RsCase::Update) // reads the outputs too
        return {PlainKind::XorOnly, {reads - writes, writes, c.region}, GFK_XOR};
    // The ceiling of a batch has the same bytes in regions that are as long as all stripes together.
    const size_t region = c.stripes * c.region;
    return {c.ceiling == RsCase::Few ? PlainKind::XorOnlyFew : PlainKind::XorOnly,
            {reads, writes, region}};
}

// ---- what the operations do ------------------------------------------------------------------
// A code on the device, and regions of data and parity for every launch.
struct CodeWork : MatrixWork {
    CodeWork(const Library &library, const RsCase &c, const Layout &layout,
             gfk_accumulate mode = GFK_SET)
        : MatrixWork(c.shape.w, layout, mode), library_(library), case_(c) {}
    CodeWork(const Library &library, const RsCase &c)
        : CodeWork(library, c, {c.shape.k, c.shape.m, c.region}) {}
    gfk_status start() override {
        const auto [w, k, m] = case_.shape;
        const gfk_field field = field_of(w);
        gfk_rs_desc desc = GFK_RS_DESC_INIT;
        gfk_rs_info info;
        desc.product.device = gpu().device;
        desc.product.bytes = layout_.bytes;
        const gfk_status status =
            code_.make(library_.gfk_rs_create, library_.gfk_rs_destroy, &field, k, m, &desc);
        if (status != GFK_STATUS_SUCCESS)
            return status;
        matrix_.resize(k * m);
        GFK_CHECK(library_.gfk_rs_get_matrix(code_, matrix_.data()));
        GFK_CHECK(library_.gfk_rs_get_info(code_, &info));
        product_ = info.product;
        create_us_ = code_.create_us;
        encode_all();
        const gfk_status last = make();
        if (product_.engine != nullptr)
            facts.add(product_facts(product_));
        facts.add("workspace_bytes", workspace_bytes_, "setup_us", create_us_);
        return last;
    }
    virtual void encode_all() const {
        layout_.poison_outputs();
        for (long j = 0; j < layout_.sets(); j++)
            encode(inputs(j), outputs(j));
        gpu_synchronize();
    }
    // What the launches need besides the code; launches once.
    virtual gfk_status make() { return GFK_STATUS_SUCCESS; }
    void encode(const gfk_regions &in, const gfk_regions &out) const {
        GFK_CHECK(library_.gfk_rs_encode(code_, &in, &out, case_.region, gpu().stream));
    }
    // The end of make(): the launches use an object whose create took this long.
    gfk_status made(gfk_status status, double create_us) {
        create_us_ = create_us;
        return status == GFK_STATUS_SUCCESS ? MatrixWork::start() : status;
    }

    const Library &library_;
    RsCase case_;
    Object<gfk_rs_t> code_;
    gfk_product_info product_ = {}; // of what the launches use
    size_t workspace_bytes_ = 0;
    double create_us_ = 0; // of the object that the launches use
};

struct Encode : CodeWork {
    using CodeWork::CodeWork;
    void launch(long j, cudaStream_t stream) const override {
        run(library_.gfk_rs_encode, code_, j, stream);
    }
    std::string tag() const override { return "rs"; }
};

struct Decode : CodeWork {
    Decode(const Library &library, const RsCase &c) : CodeWork(library, c) {
        const size_t k = c.shape.k;
        for (size_t i = 0; i < c.lost; i++) {
            const bool parity = c.which == RsCase::Parity || (c.which == RsCase::Mixed && i % 2);
            lost_.push_back(parity ? k + i : i * k / c.lost);
        }
    }
    gfk_status make() override {
        const gfk_status status =
            decoder_.make(library_.gfk_rs_decoder_create, library_.gfk_rs_decoder_destroy, code_,
                          lost_.data(), lost_.size(), nullptr, 0, nullptr);
        if (status == GFK_STATUS_SUCCESS)
            GFK_CHECK(library_.gfk_rs_decoder_get_info(decoder_, &product_, nullptr));
        return made(status, decoder_.create_us);
    }
    void launch(long j, cudaStream_t stream) const override {
        run(library_.gfk_rs_decoder_run, decoder_, j, stream);
    }
    // Set 0: what is lost is kept, poisoned, rebuilt and compared.
    std::string check(bool) override {
        const size_t bytes = layout_.bytes, k = case_.shape.k;
        auto *kept = (char *)gpu_slot(Slot::Kept, bytes * lost_.size());
        const auto region = [&](size_t i) {
            return lost_[i] < k ? layout_.in(0, lost_[i]) : layout_.out(0, lost_[i] - k);
        };
        for (size_t i = 0; i < lost_.size(); i++) {
            GPU_CHECK(cudaMemcpyAsync(kept + i * bytes, region(i), bytes, cudaMemcpyDeviceToDevice,
                                      gpu().stream));
            fill_random(region(i), bytes, 77 + i, 0, gpu().stream);
        }
        launch(0, gpu().stream);
        Checker checker;
        for (size_t i = 0; i < lost_.size(); i++)
            checker.check(kept + i * bytes, region(i), bytes, (long)i);
        return checker.verdict();
    }

    std::vector<size_t> lost_;
    Object<gfk_rs_decoder_t> decoder_;
};

// Verdicts and workspaces live in the library's workspace slot.
struct Verify : CodeWork {
    using CodeWork::CodeWork;
    gfk_status make() override {
        result_ = (char *)gpu_workspace(library_, 256);
        return MatrixWork::start();
    }
    void launch(long j, cudaStream_t stream) const override {
        run(library_.gfk_rs_verify, code_, j, (uint32_t *)result_, stream);
    }
    // Right parity must pass, and one wrong byte must be found.
    std::string check(bool) override {
        char *at = layout_.out(0, case_.shape.m - 1) + layout_.bytes / 2;
        const bool called_wrong = finds();
        flip(at);
        const bool found = finds();
        flip(at);
        return called_wrong ? "right parity was called wrong"
               : found      ? ""
                            : "a wrong byte was not found";
    }
    virtual bool found() const {
        uint32_t differs;
        GPU_CHECK(cudaMemcpy(&differs, result_, sizeof differs, cudaMemcpyDeviceToHost));
        return differs != 0;
    }
    static void flip(char *at) {
        unsigned char byte;
        GPU_CHECK(cudaMemcpy(&byte, at, 1, cudaMemcpyDeviceToHost));
        byte ^= 0x10;
        GPU_CHECK(cudaMemcpy(at, &byte, 1, cudaMemcpyHostToDevice));
    }
    bool finds() const {
        gpu_synchronize();
        launch(0, gpu().stream);
        gpu_synchronize();
        return found();
    }

    char *result_ = nullptr;
};

struct Locate : Verify {
    using Verify::Verify;
    gfk_status make() override {
        GFK_CHECK(library_.gfk_rs_locate_workspace(code_, layout_.bytes, &workspace_bytes_));
        result_ = (char *)gpu_workspace(library_, counts_end() + workspace_bytes_);
        for (long j = 0; j < sets() && case_.damaged != RsCase::Clean; j++)
            damage({layout_.in(j), layout_.out(j), layout_.stride(), layout_.bytes,
                    (unsigned)case_.shape.k, (unsigned)case_.shape.m, w_ / 8, errors(), first()},
                   gpu().stream);
        return MatrixWork::start();
    }
    unsigned errors() const {
        const bool one = case_.damaged == RsCase::Region || case_.damaged == RsCase::Symbol;
        return one ? 1 : (unsigned)case_.shape.m / 2;
    }
    // Of data and of parity, if there are several.
    unsigned first() const {
        const size_t k = case_.shape.k;
        return (unsigned)(case_.damaged >= RsCase::Symbol ? k + case_.shape.m
                                                          : k - (errors() + 1) / 2);
    }
    // Every position is damaged, and what was damaged is located.
    std::string check(bool after) override {
        if (case_.damaged == RsCase::Clean)
            return Verify::check(after);
        finds();
        gfk_rs_verdict verdict;
        std::vector<uint64_t> counts(case_.shape.k + case_.shape.m);
        GPU_CHECK(cudaMemcpy(&verdict, result_, sizeof verdict, cudaMemcpyDeviceToHost));
        GPU_CHECK(
            cudaMemcpy(counts.data(), result_ + 256, 8 * counts.size(), cudaMemcpyDeviceToHost));
        const size_t positions = layout_.bytes / (w_ / 8), n = counts.size();
        bool right = located_everywhere(verdict, counts, positions, errors());
        for (size_t i = 0; i < n && case_.damaged < RsCase::Symbol; i++)
            right &= counts[i] == ((i + n - first()) % n < errors() ? positions : 0);
        return right ? "" : "the damage was not located";
    }
    void launch(long j, cudaStream_t stream) const override {
        run(library_.gfk_rs_locate, code_, j, GFK_RS_REPORT, (gfk_rs_verdict *)result_,
            (uint64_t *)(result_ + 256), result_ + counts_end(), workspace_bytes_, stream);
    }
    bool found() const override {
        gfk_rs_verdict verdict;
        GPU_CHECK(cudaMemcpy(&verdict, result_, sizeof verdict, cudaMemcpyDeviceToHost));
        return verdict.located == 1;
    }
    size_t counts_end() const {
        return (256 + 8 * (case_.shape.k + case_.shape.m) + 255) / 256 * 256;
    }
};

// The two inputs are a region before and after; the outputs are the parity of a code of k.
struct Update : CodeWork {
    static constexpr size_t kIndex = 3;
    Update(const Library &library, const RsCase &c)
        : CodeWork(library, c, {2, c.shape.m, c.region}, GFK_XOR) {}
    gfk_status make() override {
        for (size_t j = 0; j < case_.shape.m; j++)
            twice_.insert(twice_.end(), 2, matrix_[j * case_.shape.k + kIndex]);
        const gfk_status status =
            updater_.make(library_.gfk_rs_updater_create, library_.gfk_rs_updater_destroy, code_,
                          kIndex, nullptr);
        product_.engine = nullptr; // no call tells the engine of an updater
        return made(status, updater_.create_us);
    }
    void launch(long j, cudaStream_t stream) const override {
        const gfk_regions out = outputs(j);
        GFK_CHECK(library_.gfk_rs_updater_run(updater_, layout_.in(j, 0), layout_.in(j, 1), &out,
                                              layout_.bytes, stream));
    }
    std::string check(bool) override { return CodeWork::check(false); }
    void encode_all() const override {} // any parity will do
    const uint32_t *matrix(long) const override { return twice_.data(); }
    std::string tag() const override { return "rs update"; }

    std::vector<uint32_t> twice_;
    Object<gfk_rs_updater_t> updater_;
};

// Stripe s has its k + m regions behind those of stripe s - 1. What is lost is drawn anew for each.
struct Batch : CodeWork {
    Batch(const Library &library, const RsCase &c)
        : CodeWork(library, c, {c.shape.k, c.shape.m, 512}), n_(c.shape.k + c.shape.m),
          lost_(c.stripes) {
        memory_ = (char *)gpu_slot(Slot::Inputs, bytes());
        fill_random(memory_, bytes(), 5, 0, gpu().stream);
        std::mt19937 random(9);
        std::vector<size_t> all(n_);
        std::iota(all.begin(), all.end(), 0);
        for (auto &lost : lost_) {
            std::shuffle(all.begin(), all.end(), random);
            lost.assign(all.begin(), all.begin() + (long)c.lost);
        }
    }
    long sets() const override { return 1; }
    void make_cold() const override { flush_cache(); }
    gfk_status make() override {
        std::vector<gfk_rs_stripe> list;
        for (size_t s = 0; s < case_.stripes; s++)
            list.push_back({regions(s, 0), regions(s, case_.shape.k), case_.region, lost_[s].data(),
                            lost_[s].size()});
        const gfk_status status =
            batch_.make(library_.gfk_rs_batch_create, library_.gfk_rs_batch_destroy, code_,
                        list.data(), list.size(), nullptr);
        product_.kernel = nullptr; // a batch's kernels are its own
        return made(status, batch_.create_us);
    }
    void describe() override { facts.set("engine", "batch"); } // of its own
    void launch(long, cudaStream_t stream) const override {
        GFK_CHECK(library_.gfk_rs_batch_run(batch_, stream));
    }
    // All regions of all stripes, behind what the batch rebuilds having been overwritten.
    std::string check(bool) override {
        auto *kept = (char *)gpu_slot(Slot::Kept, bytes());
        GPU_CHECK(cudaMemcpyAsync(kept, memory_, bytes(), cudaMemcpyDeviceToDevice, gpu().stream));
        for (size_t s = 0; s < case_.stripes; s++)
            for (size_t i = 0; i < (lost_[s].empty() ? case_.shape.m : lost_[s].size()); i++)
                GPU_CHECK(cudaMemsetAsync(at(s, lost_[s].empty() ? case_.shape.k + i : lost_[s][i]),
                                          0x5a, case_.region, gpu().stream));
        launch(0, gpu().stream);
        Checker checker;
        checker.check(kept, memory_, bytes(), 0);
        return checker.verdict();
    }
    void encode_all() const override {
        for (size_t s = 0; s < case_.stripes; s++)
            encode(regions(s, 0), regions(s, case_.shape.k));
    }
    size_t bytes() const { return case_.stripes * n_ * case_.region; }
    char *at(size_t stripe, size_t i) const { return memory_ + (stripe * n_ + i) * case_.region; }
    gfk_regions regions(size_t stripe, size_t i) const {
        return {nullptr, at(stripe, i), case_.region};
    }

    size_t n_; // regions of a stripe
    std::vector<std::vector<size_t>> lost_;
    char *memory_;
    Object<gfk_rs_batch_t> batch_;
};

std::unique_ptr<Work> make_work(const Library &library, const RsCase &c) {
    switch (c.operation) {
    case RsCase::Encode:
        return std::make_unique<Encode>(library, c);
    case RsCase::Decode:
        return std::make_unique<Decode>(library, c);
    case RsCase::Verify:
        return std::make_unique<Verify>(library, c);
    case RsCase::Locate:
        return std::make_unique<Locate>(library, c);
    case RsCase::Update:
        return std::make_unique<Update>(library, c);
    default:
        return std::make_unique<Batch>(library, c);
    }
}

Row rs_row(const RsCase &c) {
    const auto [reads, writes, data] = amounts_of(c);
    const size_t bytes = c.region * c.stripes, regions = c.shape.k + c.shape.m;
    Row row(c.name(), shape_facts("rs", kOperations[c.operation], "gpu", c.id(), c.shape));
    row.facts.add("mode", c.operation == RsCase::Update ? "xor" : "set", "cold", true,
                  "region_bytes", c.region, "stripes", c.stripes, "lost", when(c.lost != 0, c.lost),
                  "lost_kind", when(c.lost != 0, kLost[c.which]), "damage",
                  when(c.damaged != RsCase::Clean, kDamages[c.damaged]));
    row.data_bytes = (double)(bytes * data);
    row.moved = (double)(reads + writes) / (double)data;
    row.passes = c.replays;
    row.missing = [=] { return too_little_memory((size_t)((double)(bytes * regions) * 1.6)); };
    if (c.ceiling != RsCase::None)
        row.ceiling = [=]() -> Ceiling & { return ceiling_of(plain_of(c)); };
    row.make = [=](const Library &library) { return make_work(library, c); };
    row.finish = percent_of(c.rate_of);
    return row;
}

} // namespace

std::string RsCase::id() const {
    return std::string("rs_") + kOperations[operation] + "_w" + std::to_string(shape.w);
}

std::string RsCase::name() const {
    std::string name = id() + "/" + shape_text(shape) + "/" + size_text(region);
    if (stripes > 1)
        name += "x" + std::to_string(stripes);
    if (operation == Decode)
        name += "/lost=" + std::to_string(lost) + " " + kLost[which];
    return operation == Locate ? name + "/" + kDamages[damaged] : name;
}

void rs_rows(const std::vector<RsCase> &cases, Rows *rows) {
    for (const RsCase &c : cases)
        rows->push_back(rs_row(c));
}

void add_rs_rows(const Options &options, Rows *rows) {
    const size_t data = options.size_or(options.quick() ? kGiB : 3 * kGiB);
    std::vector<RsCase> cases = options.is("rs:codes") ? figures(data) : sweep(options);
    for (size_t i = cases.size(); options.quick() && i-- > 0;)
        if (cases[i].shape.w != 8 || cases[i].shape.k != 10 || cases[i].shape.m != 4)
            cases.erase(cases.begin() + (long)i);
    rs_rows(cases, rows);
}
