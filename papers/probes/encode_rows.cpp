// SPDX-License-Identifier: BSD-3-Clause
// Rows of the encoders: in device memory, and from host memory in streams.
#include <algorithm>
#include <cstring>

#include "cases/cpu.h"
#include "probes/probes.h"
#include "probes/rows.h"

namespace {

const EncodeProbe &find_probe(const std::string &id) {
    const auto &all = encode_probes();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const EncodeProbe &p) { return p.id == id; });
    gfk_check(found != all.end() ? GFK_STATUS_SUCCESS : GFK_STATUS_INTERNAL, id.c_str());
    return *found;
}

// Tables and matrix on the current device.
class Operands {
  public:
    Operands(const EncodeProbe &probe, const Shape &shape, bool ones) {
        tables_.resize(kTables);
        probe.fill(tables_.data());
        for (uint32_t c : matrix_of(shape, false, 1))
            matrix_.push_back(ones ? 255 : (uint8_t)c);
        std::copy_n(matrix_.begin(), std::min(matrix_.size(), sizeof arguments.constant_matrix),
                    arguments.constant_matrix);
        arguments.k = (unsigned)shape.k;
        arguments.m = (unsigned)shape.m;
    }
    ~Operands() {
        if (arguments.texture != 0)
            GPU_CHECK(cudaDestroyTextureObject(arguments.texture));
    }
    Operands(const Operands &) = delete;
    Operands &operator=(const Operands &) = delete;

    static size_t bytes(const Shape &shape) { return kTables + 2 * shape.k * shape.m + 16; }
    void upload(const EncodeProbe &probe, char *to, cudaStream_t stream) {
        std::vector<uint8_t> logarithms(matrix_);
        for (uint8_t &c : logarithms)
            c = tables_[c];
        const size_t n = matrix_.size();
        copy(to, tables_, stream);
        copy(to + kTables, matrix_, stream);
        copy(to + kTables + n, logarithms, stream);
        GPU_CHECK(cudaStreamSynchronize(stream));
        elements = to + kTables;
        arguments.tables = (const uint8_t *)to;
        arguments.matrix = (const uint8_t *)to + kTables + (is_prepared(probe) ? n : 0);
        if (std::strcmp(probe.place, "constant") == 0)
            put_in_constant_memory(tables_.data(), kTables, stream);
        if (std::strcmp(probe.place, "texture") == 0) {
            cudaResourceDesc resource = {};
            resource.resType = cudaResourceTypeLinear;
            resource.res.linear.devPtr = to;
            resource.res.linear.desc =
                cudaCreateChannelDesc(8, 0, 0, 0, cudaChannelFormatKindUnsigned);
            resource.res.linear.sizeInBytes = kTables;
            cudaTextureDesc texture = {};
            texture.readMode = cudaReadModeElementType;
            GPU_CHECK(cudaCreateTextureObject(&arguments.texture, &resource, &texture, nullptr));
        }
    }
    static bool is_prepared(const EncodeProbe &probe) { return probe.id.find("log_prepared") == 0; }

    EncodeArguments arguments = {};
    char *elements = nullptr; // of the matrix, never as logarithms

  private:
    static constexpr size_t kTables = 65536;
    static void copy(char *to, const std::vector<uint8_t> &from, cudaStream_t stream) {
        GPU_CHECK(cudaMemcpyAsync(to, from.data(), from.size(), cudaMemcpyHostToDevice, stream));
    }
    std::vector<uint8_t> tables_, matrix_;
};

void combine(const Operands &operands, const char *in, size_t in_stride, char *out,
             size_t out_stride, size_t bytes) {
    const auto &[k, m] = std::pair(operands.arguments.k, operands.arguments.m);
    combine_by_shifts({operands.elements, k, in, in_stride, out, out_stride, bytes, k, m, 8, 0x1d},
                      gpu().stream);
}

// ---- in device memory ------------------------------------------------------------------------
struct EncodeWork : MatrixWork {
    EncodeWork(const Library &library, const EncodeCase &c)
        : MatrixWork(8, c.layout(), GFK_SET), library_(library), case_(c),
          probe_(find_probe(c.is_library() ? "peasant_b1" : c.probe)),
          operands_(probe_, c.shape, c.ones) {}
    gfk_status start() override {
        const auto [w, k, m] = case_.shape;
        char *to = (char *)gpu_slot(Slot::Kept, Operands::bytes(case_.shape));
        operands_.upload(probe_, to, gpu().stream);
        if (case_.is_library()) {
            const gfk_field field = field_of(8);
            GFK_CHECK(library_.gfk_matmul_workspace(&field, m, k, case_.region, nullptr,
                                                    &workspace_bytes_));
            workspace_ = gpu_workspace(library_, workspace_bytes_);
        } else {
            geometry_ = geometry_of(probe_, case_.cut, case_.region, (unsigned)k, (unsigned)m);
            facts.add("threads_x", geometry_.block.x, "threads_y", geometry_.block.y,
                      "shared_bytes", geometry_.shared);
        }
        if (Operands::is_prepared(probe_))
            logarithms_ = (char *)gpu_slot(Slot::Sums, layout_.stride() * k);
        return MatrixWork::start();
    }
    void launch(long j, cudaStream_t stream) const override {
        const auto [w, k, m] = case_.shape;
        if (case_.is_library()) {
            const gfk_field field = field_of(8);
            const gfk_regions in = inputs(j), out = outputs(j);
            const gfk_matrix a = GFK_MATRIX_DENSE_INIT(operands_.elements, m, k, k);
            return gfk_check(library_.gfk_matmul(&field, &a, &in, &out, case_.region, GFK_SET,
                                                 nullptr, workspace_, workspace_bytes_, stream),
                             "gfk_matmul");
        }
        EncodeArguments a = operands_.arguments;
        a.in = (const uint8_t *)layout_.in(j);
        a.out = (uint8_t *)layout_.out(j);
        a.in_stride = a.out_stride = layout_.stride();
        a.bytes = case_.region;
        if (logarithms_ != nullptr) {
            take_logarithms(a.in, logarithms_, layout_.stride() * k, a.tables, stream);
            a.in = (const uint8_t *)logarithms_;
        }
        run_encode(probe_, geometry_, a, stream);
    }
    // Every byte, by shifts. What leaves something out must at least write every byte.
    std::string check(bool after) override {
        if (!after) {
            layout_.poison_outputs();
            for (long j = 0; j < sets(); j++)
                launch(j, gpu().stream);
        }
        if (probe_.wrong)
            return is_written(0) ? "" : "outputs were left as they were";
        Checker checker;
        for (long j = 0; j < sets(); j++) {
            layout_.poison_expected(j);
            combine(operands_, layout_.in(j), layout_.stride(), layout_.expected(),
                    layout_.stride(), case_.region);
            checker.check(layout_.expected(), layout_.out(j), layout_.output_bytes(), j);
        }
        return checker.verdict();
    }

  private:
    bool is_written(long j) const {
        layout_.poison_expected(j);
        Mismatches m = {0, ~0ull};
        auto *result = device_object<Mismatches>();
        GPU_CHECK(cudaMemcpyAsync(result, &m, sizeof m, cudaMemcpyHostToDevice, gpu().stream));
        for (size_t i = 0; i < layout_.m; i++)
            compare(layout_.expected(i), layout_.out(j, i), layout_.bytes, 0, result, gpu().stream);
        GPU_CHECK(cudaMemcpyAsync(&m, result, sizeof m, cudaMemcpyDeviceToHost, gpu().stream));
        gpu_synchronize();
        return m.words > layout_.m * layout_.bytes / 16 * 99 / 100;
    }

    const Library &library_;
    EncodeCase case_;
    const EncodeProbe &probe_;
    Operands operands_;
    Geometry geometry_;
    char *logarithms_ = nullptr;
    void *workspace_ = nullptr;
    size_t workspace_bytes_ = 0;
};

// ---- from host memory ------------------------------------------------------------------------
// One device's part: a range of every region.
struct Part {
    int device;
    size_t at, bytes;
    char *in = nullptr, *out = nullptr, *kept = nullptr;
    std::unique_ptr<Operands> operands = {};
    std::vector<cudaStream_t> streams = {};
    std::vector<cudaEvent_t> events = {}; // before and after each stream's kernel
};

struct HostEncodeWork : Work {
    HostEncodeWork(const Library &, const HostEncodeCase &c)
        : case_(c), probe_(find_probe(c.probe)), layout_{c.shape.k, c.shape.m, c.region, false} {
        const HostBuffers buffers = host_buffers(c.region * std::max(c.shape.k, c.shape.m));
        pin({buffers.src, buffers.dst}, c.region * std::max(c.shape.k, c.shape.m));
        in_ = (char *)buffers.src;
        out_ = (char *)buffers.dst;
        layout_.allocate();
    }
    ~HostEncodeWork() override {
        for (Part &part : parts_) {
            GPU_CHECK(cudaSetDevice(part.device));
            for (cudaStream_t stream : part.streams)
                GPU_CHECK(cudaStreamDestroy(stream));
            for (cudaEvent_t event : part.events)
                GPU_CHECK(cudaEventDestroy(event));
            for (char *memory : {part.in, part.out, part.kept})
                GPU_CHECK(cudaFree(memory));
            part.operands.reset();
        }
        GPU_CHECK(cudaSetDevice(gpu().device));
    }
    gfk_status start() override {
        const auto [w, k, m] = case_.shape;
        const size_t devices = case_.devices, half = case_.region / devices / 512 * 512;
        for (size_t d = 0; d < devices; d++) {
            Part part = {(int)d, d * half, d + 1 < devices ? half : case_.region - d * half};
            GPU_CHECK(cudaSetDevice(part.device));
            GPU_CHECK(cudaMalloc((void **)&part.in, k * part.bytes));
            GPU_CHECK(cudaMalloc((void **)&part.out, m * part.bytes));
            GPU_CHECK(cudaMalloc((void **)&part.kept, Operands::bytes(case_.shape)));
            part.streams.resize(case_.streams);
            part.events.resize(2 * case_.streams);
            for (cudaStream_t &stream : part.streams)
                GPU_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
            for (cudaEvent_t &event : part.events)
                GPU_CHECK(cudaEventCreate(&event));
            part.operands = std::make_unique<Operands>(probe_, case_.shape, false);
            part.operands->upload(probe_, part.kept, part.streams[0]);
            parts_.push_back(std::move(part));
        }
        GPU_CHECK(cudaSetDevice(gpu().device));
        run();
        return GFK_STATUS_SUCCESS;
    }
    void warm_up() override {}
    double pass(long) override {
        poison();
        const double us = run();
        kernels_.push_back(kernel_us());
        rest_.push_back(us - kernels_.back());
        return us;
    }
    std::string check(bool after) override {
        if (!after) {
            poison();
            run();
        }
        for (size_t i = 0; i < layout_.k; i++)
            copy(layout_.in(0, i), in_ + i * case_.region);
        for (size_t j = 0; j < layout_.m; j++)
            copy(layout_.out(0, j), out_ + j * case_.region);
        Operands operands(probe_, case_.shape, false);
        operands.upload(probe_, (char *)gpu_slot(Slot::Kept, Operands::bytes(case_.shape)),
                        gpu().stream);
        combine(operands, layout_.in(0), layout_.stride(), layout_.expected(), layout_.stride(),
                case_.region);
        Checker checker;
        for (size_t j = 0; j < layout_.m; j++)
            checker.check(layout_.expected(j), layout_.out(0, j), case_.region, 0);
        return checker.verdict();
    }
    void describe() override {
        facts.add("kernel_us", times_of(kernels_).median, "rest_us", times_of(rest_).median);
    }

  private:
    void copy(char *to, const char *from) const {
        GPU_CHECK(cudaMemcpyAsync(to, from, case_.region, cudaMemcpyHostToDevice, gpu().stream));
    }
    void poison() const {
        Team(cpu_cores())
            .run(case_.region * case_.shape.m, 1, [this](unsigned, size_t from, size_t to) {
                std::memset(out_ + from, 0xa5, to - from);
            });
    }
    double run() const { // microseconds
        const Stopwatch watch;
        for (const Part &part : parts_) {
            GPU_CHECK(cudaSetDevice(part.device));
            const size_t n = case_.streams, step = (part.bytes / n + 511) / 512 * 512;
            for (size_t s = 0; s < n && s * step < part.bytes; s++)
                run_chunk(part, s, s * step, std::min(step, part.bytes - s * step));
        }
        for (const Part &part : parts_)
            for (cudaStream_t stream : part.streams)
                GPU_CHECK(cudaStreamSynchronize(stream));
        GPU_CHECK(cudaSetDevice(gpu().device));
        return watch.us();
    }
    void run_chunk(const Part &part, size_t s, size_t at, size_t length) const {
        const size_t region = case_.region;
        const cudaStream_t stream = part.streams[s];
        GPU_CHECK(cudaMemcpy2DAsync(part.in + at, part.bytes, in_ + part.at + at, region, length,
                                    case_.shape.k, cudaMemcpyHostToDevice, stream));
        EncodeArguments a = part.operands->arguments;
        a.in = (const uint8_t *)part.in + at;
        a.out = (uint8_t *)part.out + at;
        a.in_stride = a.out_stride = part.bytes;
        a.bytes = length;
        GPU_CHECK(cudaEventRecord(part.events[2 * s], stream));
        run_encode(probe_, geometry_of(probe_, case_.cut, length, a.k, a.m), a, stream);
        GPU_CHECK(cudaEventRecord(part.events[2 * s + 1], stream));
        GPU_CHECK(cudaMemcpy2DAsync(out_ + part.at + at, region, part.out + at, part.bytes, length,
                                    case_.shape.m, cudaMemcpyDeviceToHost, stream));
    }
    double kernel_us() const { // of all streams; of several devices the mean
        double sum = 0;
        for (const Part &part : parts_) {
            GPU_CHECK(cudaSetDevice(part.device));
            for (size_t s = 0; s < part.streams.size(); s++) {
                float ms = 0;
                GPU_CHECK(cudaEventElapsedTime(&ms, part.events[2 * s], part.events[2 * s + 1]));
                sum += 1e3 * ms / (double)parts_.size();
            }
        }
        GPU_CHECK(cudaSetDevice(gpu().device));
        return sum;
    }

    HostEncodeCase case_;
    const EncodeProbe &probe_;
    Layout layout_;
    char *in_, *out_;
    std::vector<Part> parts_;
    std::vector<double> kernels_, rest_;
};

} // namespace

// ---- rows ------------------------------------------------------------------------------------
std::string EncodeCase::name() const {
    return "probe/" + probe + "/" + shape_text(shape) + "/" + size_text(region) +
           (is_library() ? "" : "/" + std::string(kCuts[(int)cut])) + (ones ? "/ones" : "");
}

Row encode_row(const EncodeCase &c, bool coded, Rows *rows) {
    Row row(c.name(), shape_facts("probe", "encode", "gpu", c.probe, c.shape));
    row.facts.add("matrix", c.ones ? "ones" : "random", "mode", "set", "cold", !c.hot,
                  "region_bytes", c.region, "nominal_bytes", c.shape.k * c.region, "counted",
                  coded ? "outputs" : "inputs");
    if (!c.is_library()) {
        const EncodeProbe &probe = find_probe(c.probe);
        row.facts.add("method", probe.method, "place", given(probe.place), "bytes_per_thread",
                      probe.bytes, "cut", kCuts[(int)c.cut], "table_bytes", probe.table_bytes,
                      "wrong", when(probe.wrong, true));
    }
    row.data_bytes = (double)((coded ? c.shape.m : c.shape.k) * c.region);
    row.moved = (double)((c.shape.k + c.shape.m) * c.region) / row.data_bytes;
    row.passes = 3;
    row.missing = [=] { return too_little_memory(c.layout().memory_needed()); };
    row.make = makes<EncodeWork>(c);
    if (c.roofline)
        add_ceiling("xor_only_few/" + shape_text(c.shape) + "/" + size_text(c.shape.k * c.region) +
                        "/set/cold",
                    {PlainKind::XorOnlyFew, c.layout(), GFK_SET}, &row, rows);
    return row;
}

Row host_encode_row(const HostEncodeCase &c) {
    const EncodeProbe &probe = find_probe(c.probe);
    Row row("probe_host/" + c.probe + "/" + shape_text(c.shape) + "/" + size_text(c.region) + "/" +
                kCuts[(int)c.cut] + "/streams=" + std::to_string(c.streams) +
                (c.devices > 1 ? "/gpus=" + std::to_string(c.devices) : ""),
            shape_facts("probe", "host_encode", "gpu", c.probe, c.shape));
    row.facts.add("memory", "pinned", "method", probe.method, "place", given(probe.place),
                  "bytes_per_thread", probe.bytes, "cut", kCuts[(int)c.cut], "streams", c.streams,
                  "gpus", c.devices, "region_bytes", c.region, "nominal_bytes",
                  c.shape.k * c.region);
    row.data_bytes = (double)(c.shape.k * c.region);
    row.moved = product_moved(c.shape, GFK_SET);
    row.passes = 3;
    row.compared = false;
    row.make = makes<HostEncodeWork>(c);
    return row;
}
