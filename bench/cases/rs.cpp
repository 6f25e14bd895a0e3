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
// A code on the device, and regions of data and parity for every launch. An update has two inputs, a
// region before and after, and the parity of a code of k. In a batch stripe s has its k + m regions
// behind those of stripe s - 1, and what is lost is drawn anew for each.
struct CodeWork : MatrixWork {
    CodeWork(const Library &library, const RsCase &c)
        : MatrixWork(c.shape.w,
                     {c.operation == RsCase::Update ? 2 : c.shape.k, c.shape.m,
                      c.is_batch() ? 512 : c.region},
                     c.operation == RsCase::Update ? GFK_XOR : GFK_SET),
          library_(library), case_(c), n_(c.shape.k + c.shape.m), lost_(c.stripes) {
        const size_t k = c.shape.k;
        if (c.operation == RsCase::Decode)
            for (size_t i = 0; i < c.lost; i++) {
                const bool parity =
                    c.which == RsCase::Parity || (c.which == RsCase::Mixed && i % 2);
                lost_[0].push_back(parity ? k + i : i * k / c.lost);
            }
        if (!c.is_batch())
            return;
        memory_ = (char *)gpu_slot(Slot::Inputs, batch_bytes());
        fill_random(memory_, batch_bytes(), 5, 0, gpu().stream);
        std::mt19937 random(9);
        std::vector<size_t> all(n_);
        std::iota(all.begin(), all.end(), 0);
        for (auto &lost : lost_) {
            std::shuffle(all.begin(), all.end(), random);
            lost.assign(all.begin(), all.begin() + (long)c.lost);
        }
    }
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
        gfk_status made = make();
        if (made == GFK_STATUS_SUCCESS)
            made = MatrixWork::start();
        if (product_.engine != nullptr)
            facts.add(product_facts(product_));
        facts.add("workspace_bytes", workspace_bytes_, "setup_us", create_us_);
        return made;
    }
    void launch(long j, cudaStream_t stream) const override {
        const gfk_regions out = outputs(j);
        switch (case_.operation) {
        case RsCase::Encode:
            return run(library_.gfk_rs_encode, code_, j, stream);
        case RsCase::Decode:
            return run(library_.gfk_rs_decoder_run, decoder_, j, stream);
        case RsCase::Verify:
            return run(library_.gfk_rs_verify, code_, j, (uint32_t *)result_, stream);
        case RsCase::Locate:
            return run(library_.gfk_rs_locate, code_, j, GFK_RS_REPORT, (gfk_rs_verdict *)result_,
                       (uint64_t *)(result_ + 256), result_ + counts_end(), workspace_bytes_,
                       stream);
        case RsCase::Update:
            return GFK_CHECK(library_.gfk_rs_updater_run(
                updater_, layout_.in(j, 0), layout_.in(j, 1), &out, layout_.bytes, stream));
        default:
            return GFK_CHECK(library_.gfk_rs_batch_run(batch_, stream));
        }
    }
    std::string check(bool after) override {
        switch (case_.operation) {
        case RsCase::Encode:
            return MatrixWork::check(after);
        case RsCase::Decode:
            return check_decode();
        case RsCase::Update: // the outputs have all replays in them
            return MatrixWork::check(false);
        case RsCase::Verify:
        case RsCase::Locate:
            return case_.damaged == RsCase::Clean ? check_clean() : check_damage();
        default:
            return check_batch();
        }
    }
    void describe() override { facts.set("engine", when(case_.is_batch(), "batch")); } // of its own
    const uint32_t *matrix(long) const override {
        return case_.operation == RsCase::Update ? twice_.data() : matrix_.data();
    }
    std::string tag() const override {
        return case_.operation == RsCase::Update ? "rs update" : "rs";
    }
    long sets() const override { return case_.is_batch() ? 1 : MatrixWork::sets(); }
    void make_cold() const override { case_.is_batch() ? flush_cache() : MatrixWork::make_cold(); }

  private:
    static constexpr size_t kIndex = 3; // of the region that an update changes

    void encode_all() const {
        if (case_.operation == RsCase::Update) // any parity will do
            return;
        if (!case_.is_batch())
            layout_.poison_outputs();
        const size_t count = case_.is_batch() ? case_.stripes : (size_t)layout_.sets();
        for (size_t j = 0; j < count; j++) {
            const gfk_regions in = case_.is_batch() ? stripe(j, 0) : inputs((long)j);
            const gfk_regions out = case_.is_batch() ? stripe(j, case_.shape.k) : outputs((long)j);
            GFK_CHECK(library_.gfk_rs_encode(code_, &in, &out, case_.region, gpu().stream));
        }
        gpu_synchronize();
    }
    // What the launches need besides the code.
    gfk_status make() {
        gfk_status status = GFK_STATUS_SUCCESS;
        if (case_.operation == RsCase::Decode) {
            status = decoder_.make(library_.gfk_rs_decoder_create, library_.gfk_rs_decoder_destroy,
                                   code_, lost_[0].data(), lost_[0].size(), nullptr, 0, nullptr);
            if (status == GFK_STATUS_SUCCESS)
                GFK_CHECK(library_.gfk_rs_decoder_get_info(decoder_, &product_, nullptr));
            create_us_ = decoder_.create_us;
        } else if (case_.operation == RsCase::Update) {
            for (size_t j = 0; j < case_.shape.m; j++)
                twice_.insert(twice_.end(), 2, matrix_[j * case_.shape.k + kIndex]);
            status = updater_.make(library_.gfk_rs_updater_create, library_.gfk_rs_updater_destroy,
                                   code_, kIndex, nullptr);
            product_.engine = nullptr; // no call tells the engine of an updater
            create_us_ = updater_.create_us;
        } else if (case_.is_batch()) {
            std::vector<gfk_rs_stripe> list;
            for (size_t s = 0; s < case_.stripes; s++)
                list.push_back({stripe(s, 0), stripe(s, case_.shape.k), case_.region,
                                lost_[s].data(), lost_[s].size()});
            status = batch_.make(library_.gfk_rs_batch_create, library_.gfk_rs_batch_destroy, code_,
                                 list.data(), list.size(), nullptr);
            product_.kernel = nullptr; // a batch's kernels are its own
            create_us_ = batch_.create_us;
        } else if (case_.operation != RsCase::Encode) {
            if (case_.operation == RsCase::Locate)
                GFK_CHECK(
                    library_.gfk_rs_locate_workspace(code_, layout_.bytes, &workspace_bytes_));
            // Verdicts and workspaces live in the library's workspace slot.
            result_ = (char *)gpu_workspace(library_, counts_end() + workspace_bytes_);
            for (long j = 0; j < sets() && case_.damaged != RsCase::Clean; j++)
                damage({layout_.in(j), layout_.out(j), layout_.stride(), layout_.bytes,
                        (unsigned)case_.shape.k, (unsigned)case_.shape.m, w_ / 8, errors(),
                        first()},
                       gpu().stream);
        }
        return status;
    }

    // ---- decode: set 0: what is lost is kept, poisoned, rebuilt and compared ------------------
    std::string check_decode() const {
        const auto &lost = lost_[0];
        const size_t bytes = layout_.bytes, k = case_.shape.k;
        auto *kept = (char *)gpu_slot(Slot::Kept, bytes * lost.size());
        const auto region = [&](size_t i) {
            return lost[i] < k ? layout_.in(0, lost[i]) : layout_.out(0, lost[i] - k);
        };
        for (size_t i = 0; i < lost.size(); i++) {
            GPU_CHECK(cudaMemcpyAsync(kept + i * bytes, region(i), bytes, cudaMemcpyDeviceToDevice,
                                      gpu().stream));
            fill_random(region(i), bytes, 77 + i, 0, gpu().stream);
        }
        launch(0, gpu().stream);
        Checker checker;
        for (size_t i = 0; i < lost.size(); i++)
            checker.check(kept + i * bytes, region(i), bytes, (long)i);
        return checker.verdict();
    }

    // ---- verify and locate -------------------------------------------------------------------
    size_t counts_end() const { return (256 + 8 * n_ + 255) / 256 * 256; }
    unsigned errors() const {
        const bool one = case_.damaged == RsCase::Region || case_.damaged == RsCase::Symbol;
        return one ? 1 : (unsigned)case_.shape.m / 2;
    }
    // Of data and of parity, if there are several.
    unsigned first() const {
        const size_t k = case_.shape.k;
        return (unsigned)(case_.damaged >= RsCase::Symbol ? n_ : k - (errors() + 1) / 2);
    }
    // Whether set 0 is called wrong, by a verify at any byte, by a locate at one position.
    bool finds(gfk_rs_verdict *verdict) const {
        gpu_synchronize();
        launch(0, gpu().stream);
        gpu_synchronize();
        const bool locates = case_.operation == RsCase::Locate;
        uint32_t differs;
        GPU_CHECK(cudaMemcpy(&differs, result_, sizeof differs, cudaMemcpyDeviceToHost));
        GPU_CHECK(cudaMemcpy(verdict, result_, sizeof *verdict, cudaMemcpyDeviceToHost));
        return locates ? verdict->located == 1 : differs != 0;
    }
    // Right parity must pass, and one wrong byte must be found.
    std::string check_clean() const {
        char *at = layout_.out(0, case_.shape.m - 1) + layout_.bytes / 2;
        const auto flip = [at] {
            unsigned char byte;
            GPU_CHECK(cudaMemcpy(&byte, at, 1, cudaMemcpyDeviceToHost));
            byte ^= 0x10;
            GPU_CHECK(cudaMemcpy(at, &byte, 1, cudaMemcpyHostToDevice));
        };
        gfk_rs_verdict verdict;
        const bool called_wrong = finds(&verdict);
        flip();
        const bool found = finds(&verdict);
        flip();
        return called_wrong ? "right parity was called wrong"
               : found      ? ""
                            : "a wrong byte was not found";
    }
    // Every position is damaged, and what was damaged is located.
    std::string check_damage() const {
        gfk_rs_verdict verdict;
        finds(&verdict);
        std::vector<uint64_t> counts(n_);
        GPU_CHECK(
            cudaMemcpy(counts.data(), result_ + 256, 8 * counts.size(), cudaMemcpyDeviceToHost));
        const size_t positions = layout_.bytes / (w_ / 8);
        bool right = located_everywhere(verdict, counts, positions, errors());
        for (size_t i = 0; i < n_ && case_.damaged < RsCase::Symbol; i++)
            right &= counts[i] == ((i + n_ - first()) % n_ < errors() ? positions : 0);
        return right ? "" : "the damage was not located";
    }

    // ---- batches -----------------------------------------------------------------------------
    size_t batch_bytes() const { return case_.stripes * n_ * case_.region; }
    char *at(size_t s, size_t i) const { return memory_ + (s * n_ + i) * case_.region; }
    gfk_regions stripe(size_t s, size_t i) const { return {nullptr, at(s, i), case_.region}; }
    // All regions of all stripes, behind what the batch rebuilds having been overwritten.
    std::string check_batch() const {
        auto *kept = (char *)gpu_slot(Slot::Kept, batch_bytes());
        GPU_CHECK(
            cudaMemcpyAsync(kept, memory_, batch_bytes(), cudaMemcpyDeviceToDevice, gpu().stream));
        for (size_t s = 0; s < case_.stripes; s++)
            for (size_t i = 0; i < (case_.lost ? case_.lost : case_.shape.m); i++)
                GPU_CHECK(cudaMemsetAsync(at(s, case_.lost ? lost_[s][i] : case_.shape.k + i), 0x5a,
                                          case_.region, gpu().stream));
        launch(0, gpu().stream);
        Checker checker;
        checker.check(kept, memory_, batch_bytes(), 0);
        return checker.verdict();
    }

    const Library &library_;
    RsCase case_;
    size_t n_; // regions of a stripe
    Object<gfk_rs_t> code_;
    gfk_product_info product_ = {}; // of what the launches use
    size_t workspace_bytes_ = 0;
    double create_us_ = 0;                  // of the object that the launches use
    std::vector<std::vector<size_t>> lost_; // of each stripe
    Object<gfk_rs_decoder_t> decoder_;
    Object<gfk_rs_updater_t> updater_;
    Object<gfk_rs_batch_t> batch_;
    std::vector<uint32_t> twice_; // the matrix of an update
    char *result_ = nullptr, *memory_ = nullptr;
};

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
    row.make = makes<CodeWork>(c);
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
