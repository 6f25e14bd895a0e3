// SPDX-License-Identifier: BSD-3-Clause
// What every public call keeps: it refuses wrong operands, regions, modes, streams, descriptors, devices and memory of
// the other side, and to go without its objects, and then changes nothing; it does nothing for no bytes; threads
// share its objects; on a device a graph captures it.
#include <cstring>
#include <sstream>

#include "support/row_fixture.h"
#include "table.h"

namespace {

// The mistakes in the documented order of their statuses; MISALIGNED and NO_ADDRESS have the same one.
enum Mistake { MISALIGNED, NO_ADDRESS, WRAPS, TOO_SHORT, NO_WORKSPACE, MISTAKES };
constexpr gfk_status statuses[] = {INVALID, INVALID, GFK_STATUS_INVALID_SIZE,
                                   GFK_STATUS_WORKSPACE_TOO_SMALL, GFK_STATUS_WORKSPACE_TOO_SMALL};
constexpr uint8_t UNTOUCHED = 0x5a;

uint8_t *bytes_at(void *address) {
    return static_cast<uint8_t *>(address);
}

// Operands one after the other in memory whose content is known. A call that is refused accesses no operand, so its
// memory is the host's.
class Stage : public Arguments {
  public:
    explicit Stage(const Call &call, bool host = true, size_t bytes = Shape().bytes)
        : call_(call), memory_(host, size_of(call)), on_host_(true, size_of(call)) {
        given_bytes = bytes;
        size_t offset = 0;
        for (const Operand &o : call.operands) {
            at.push_back((o.on_host ? on_host_ : memory_).data() + offset);
            offset += room_of(o);
            if (o.kind == WORKSPACE)
                workspace_bytes = o.bytes;
        }
        fill(Bytes(size_of(call), UNTOUCHED));
    }
    static size_t size_of(const Call &call) {
        size_t size = 0;
        for (const Operand &o : call.operands)
            size += room_of(o);
        return size;
    }
    // Moves the regions to NULL.
    void lose_regions() {
        for (size_t i = 0; i < at.size(); i++)
            if (is_region(i))
                at[i] = nullptr;
    }
    bool are_regions_untouched() {
        const Bytes all = both_memories();
        for (size_t i = 0; i < at.size(); i++)
            if (is_region(i) &&
                first_difference(&all[place_of(i)], Bytes(Shape().bytes, UNTOUCHED).data(),
                                 Shape().bytes) != Shape().bytes)
                return false;
        return true;
    }
    void fill(const Bytes &content) {
        memory_.write(0, content.data(), content.size());
        on_host_.write(0, content.data(), content.size());
    }
    // All memory but that whose content differs from run to run.
    Bytes content() {
        Bytes all = both_memories();
        for (size_t i = 0; i < at.size(); i++) {
            const Operand &o = call_.operands[i];
            if (o.kind == WORKSPACE || o.kind == REPORT)
                std::memset(&all[place_of(i)], 0, o.bytes);
        }
        return all;
    }
    // Makes the mistake; false if there is none of the kind for the operand.
    bool spoil(size_t i, Mistake mistake) {
        const Operand &o = call_.operands[i];
        const bool is_workspace = o.kind == WORKSPACE;
        if (o.kind == UNUSED)
            return false;
        switch (mistake) {
        case MISALIGNED:
            at[i] = bytes_at(at[i]) + o.alignment / 2;
            return o.alignment > 1;
        case NO_ADDRESS:
            at[i] = nullptr;
            return o.kind == READ || o.kind == WRITTEN;
        case WRAPS:
            at[i] = reinterpret_cast<void *>(UINTPTR_MAX - o.alignment + 1);
            return o.bytes > o.alignment;
        case TOO_SHORT:
            workspace_bytes--;
            return is_workspace;
        default:
            at[i] = nullptr;
            return is_workspace;
        }
    }
    // Moves operand i so that it shares bytes with operand j: all (0), the last or the first alone (1, -1), or all but
    // the first or the last (2, -2).
    bool overlap(size_t i, size_t j, int where) {
        const Operand &a = call_.operands[i], &b = call_.operands[j];
        const size_t unit = a.alignment, length = (a.bytes - 1) / unit * unit;
        if ((a.kind <= READ_OR_NULL && b.kind <= READ_OR_NULL) || a.kind == UNUSED ||
            b.kind == UNUSED || i == j)
            return false;
        const size_t last = call_.operands.size() - 1;
        for (size_t same : call_.same_as) // in place
            if (where == 0 && ((i == last && j == same) || (j == last && i == same)))
                return false;
        const size_t last_of_j = (b.bytes - 1) / unit * unit;
        if (where == 2 || where == -2) {
            at[i] = bytes_at(at[j]) + (where > 0 ? unit : -unit);
            return unit < (where > 0 ? b.bytes : a.bytes);
        }
        at[i] = bytes_at(at[j]) + (where > 0 ? last_of_j : 0) - (where < 0 ? length : 0);
        return true;
    }
    void refused(gfk_status status, const std::string &what) {
        EXPECT_STATUS(status, run()) << call_.name << ": " << what;
        for (Memory *memory : {&memory_, &on_host_})
            ASSERT_TRUE(is_untouched(memory->view(0, memory->size()), memory->size()))
                << call_.name << " has written: " << what;
        count_checked();
    }
    gfk_status run() {
        sets.clear();
        return call_.run(*this);
    }

  private:
    static bool is_untouched(const uint8_t *all, size_t bytes) { // each byte is as the one before
        return bytes == 0 || (all[0] == UNTOUCHED && std::memcmp(all, all + 1, bytes - 1) == 0);
    }
    Bytes both_memories() {
        Bytes all = memory_.read();
        const Bytes on_host = on_host_.read();
        all.insert(all.end(), on_host.begin(), on_host.end());
        return all;
    }
    size_t place_of(size_t i) const { // in both
        size_t offset = call_.operands[i].on_host ? memory_.size() : 0;
        for (size_t before = 0; before < i; before++)
            offset += room_of(call_.operands[before]);
        return offset;
    }
    bool is_region(size_t i) const {
        const Operand &o = call_.operands[i];
        return o.bytes == Shape().bytes && o.alignment == 1 && o.kind != WORKSPACE;
    }
    static size_t room_of(const Operand &o) { return round_up(o.bytes, 256) + 256; }
    const Call &call_;
    Memory memory_, on_host_;
};

class Calls : public PlaceTest {
  protected:
    void SetUp() override {
        PlaceTest::SetUp();
        if (!IsSkipped())
            table_ = std::make_unique<Table>(host(), w());
    }
    void TearDown() override {
        if (!host() && device::count() != 0) {
            EXPECT_FALSE(device::error_pending()); // the caller's own cudaGetLastError finds none
        }
        PlaceTest::TearDown();
    }
    const std::vector<Call> &calls() const { return table_->calls(); }
    std::unique_ptr<Table> table_;
};

// Fills the memory for one run, random but the same for the same number, runs, and reads what is there then.
Bytes run_once(size_t number, const Call &call, Stage &stage, bool host,
               const std::function<void()> &run) {
    Random random(number);
    stage.fill(random.bytes(Stage::size_of(call)));
    run();
    if (!host)
        device::synchronize(stage.given);
    return stage.content();
}

// What runs with these numbers leave behind; the first one also loads code to a device.
std::vector<Bytes> run_alone(size_t runs, const Call &call, Stage &stage, bool host) {
    std::vector<Bytes> results;
    for (size_t i = 0; i < runs; i++)
        results.push_back(run_once(i, call, stage, host,
                                   [&] { EXPECT_STATUS(call.good, stage.run()) << call.name; }));
    return results;
}

TEST_P(Calls, RefuseEachMistake) {
    SKIP_SLOW_IF(THREAD_SANITIZER);
    for (const Call &call : calls())
        for (size_t i = 0; i < call.operands.size(); i++)
            for (int mistake = 0; mistake < MISTAKES; mistake++) {
                Stage stage(call);
                if (stage.spoil(i, static_cast<Mistake>(mistake)))
                    stage.refused(statuses[mistake], "operand " + std::to_string(i) + ", mistake " +
                                                         std::to_string(mistake));
            }
}

TEST_P(Calls, RefuseOverlaps) {
    SKIP_SLOW();
    for (const Call &call : calls())
        for (size_t i = 0; i < call.operands.size(); i++)
            for (size_t j = 0; j < call.operands.size(); j++)
                for (int where : {0, 1, -1, 2, -2}) {
                    Stage stage(call);
                    if (stage.overlap(i, j, where))
                        stage.refused(GFK_STATUS_OVERLAP, "operand " + std::to_string(i) +
                                                              " over operand " + std::to_string(j) +
                                                              ", " + std::to_string(where));
                }
}

// Of two mistakes the first one in the order of gfk/status.h has its status.
TEST_P(Calls, RefuseTheFirstOfTwoMistakes) {
    SKIP_SLOW();
    const auto text = [](size_t i, int mistake) {
        return "operand " + std::to_string(i) + ", mistake " + std::to_string(mistake) + "; ";
    };
    for (const Call &call : calls())
        for (size_t i = 0; i < call.operands.size(); i++)
            for (int first = 0; first < MISTAKES; first++)
                for (size_t j = 0; j < call.operands.size(); j++) {
                    for (int second = first; second < MISTAKES; second++) {
                        Stage stage(call);
                        if (i != j && stage.spoil(i, static_cast<Mistake>(first)) &&
                            stage.spoil(j, static_cast<Mistake>(second)))
                            stage.refused(statuses[first], text(i, first) + text(j, second));
                    }
                    Stage stage(call);
                    const size_t other = (j + 1) % call.operands.size();
                    if (i != j && i != other && stage.spoil(i, static_cast<Mistake>(first)) &&
                        stage.overlap(j, other, 0))
                        stage.refused(statuses[first], text(i, first) + "and an overlap");
                }
}

TEST_P(Calls, RefuseWrongDescriptionsOfRegions) {
    SKIP_SLOW_IF(THREAD_SANITIZER);
    for (const Call &call : calls()) {
        Stage good(call, host());
        EXPECT_STATUS(call.good, good.run()) << call.name; // says where its sets of regions are
        for (const auto &[first, count] : good.sets) {
            const auto refused = [&, set = first](gfk_status status, const std::string &what,
                                                  const gfk_regions *description) {
                Stage stage(call);
                stage.spoiled = set;
                stage.description = description;
                stage.refused(status, "regions from operand " + std::to_string(set) + ": " + what);
            };
            refused(INVALID, "no description", nullptr);
            const gfk_regions no_base = {nullptr, nullptr, good.given_bytes};
            refused(INVALID, "no base", &no_base);
            if (count < 2)
                continue;
            const size_t bytes = good.given_bytes;
            for (size_t stride : {size_t(0), bytes - symbol(), bytes - 1}) {
                const gfk_regions spaced = {nullptr, good.at[first], stride};
                refused(INVALID, "stride " + std::to_string(stride), &spaced);
            }
            if (call.operands[first + count - 1].kind == UNUSED)
                continue;
            const gfk_regions wide = {nullptr, good.at[first],
                                      SIZE_MAX / symbol() * symbol() - 255};
            refused(GFK_STATUS_INVALID_SIZE, "a stride that wraps", &wide);
        }
        for (size_t bytes : {size_t(1), good.given_bytes - 1, good.given_bytes + 1,
                             good.given_bytes + 2, SIZE_MAX})
            if (good.takes_bytes && bytes % symbol() != 0) {
                Stage stage(call);
                stage.given_bytes = bytes;
                stage.refused(GFK_STATUS_INVALID_SIZE, "half a symbol");
            }
    }
}

TEST_P(Calls, RefuseWrongModes) {
    SKIP_SLOW_IF(THREAD_SANITIZER);
    for (const Call &call : calls()) {
        Stage good(call, host());
        (void)good.run();
        for (int mode : {2, 3, -1})
            if (good.takes_mode) {
                Stage stage(call);
                stage.wrong_mode = mode;
                stage.refused(INVALID, "mode " + std::to_string(mode));
            }
    }
}

// NULL in place of the field or of an object: every call takes one at least.
TEST_P(Calls, RefuseNoObject) {
    SKIP_SLOW_IF(THREAD_SANITIZER);
    for (const Call &call : calls()) {
        Stage stage(call, host());
        const Bytes expected = run_alone(1, call, stage, host())[0];
        size_t taken = 0;
        for (size_t object = 0; object < OBJECTS; object++) {
            table_->take_away(object);
            gfk_status status = INVALID;
            const Bytes got = run_once(0, call, stage, host(), [&] { status = stage.run(); });
            if (status == call.good && got == expected)
                continue; // the call does not take this object
            taken++;
            Stage(call).refused(INVALID, "no object " + std::to_string(object));
        }
        table_->take_away(OBJECTS);
        EXPECT_LT(0u, taken) << call.name;
    }
}

// A call for no bytes succeeds, wherever its regions are, and leaves them as they were.
TEST_P(Calls, DoNothingForNoBytes) {
    SKIP_SLOW_IF(THREAD_SANITIZER);
    const gfk_regions nowhere = {nullptr, nullptr, 0};
    for (const Call &call : calls()) {
        Stage stage(call, host());
        (void)stage.run();
        if (!stage.takes_bytes)
            continue;
        Stage nothing(call, host());
        nothing.given_bytes = 0;
        EXPECT_STATUS(call.good, nothing.run()) << call.name;
        EXPECT_TRUE(nothing.are_regions_untouched()) << call.name;
        nothing.lose_regions();
        EXPECT_STATUS(call.good, nothing.run()) << call.name << ": regions at NULL";
        for (const auto &[first, count] : std::vector(nothing.sets)) {
            nothing.spoiled = first;
            nothing.description = &nowhere;
            EXPECT_STATUS(call.good, nothing.run()) << call.name << ": regions without a base";
        }
        count_checked(2 + nothing.sets.size());
    }
}

TEST_P(Calls, RefuseStreamsOnTheHost) {
    SKIP_SLOW_IF(THREAD_SANITIZER);
    if (!host())
        GTEST_SKIP() << "a device takes streams";
    for (const Call &call : calls()) {
        Stage stage(call);
        (void)stage.run();
        if (!stage.takes_stream)
            continue;
        Stage streamed(call);
        streamed.given = reinterpret_cast<gfk_stream_t>(&streamed);
        streamed.refused(GFK_STATUS_STREAM_ON_HOST, "a stream");
    }
}

TEST_P(Calls, RefuseWrongDescriptors) {
    SKIP_SLOW_IF(THREAD_SANITIZER);
    const gfk_field field = make_field(8);
    gfk_field forged = field;
    forged.polynomial = 0x11c; // even, so not a field
    for (const Making &making : makings(host() ? GFK_CPU : GFK_CURRENT_DEVICE)) {
        for (size_t by : {sizeof(size_t), size_t(1), SIZE_MAX})
            EXPECT_STATUS(INVALID, making.make(&field, by)) << making.name << ", size less " << by;
        EXPECT_STATUS(INVALID, making.make(nullptr, 0)) << making.name;
        EXPECT_STATUS(INVALID, making.make(&forged, 0)) << making.name;
        EXPECT_OK(making.make(&field, 0)) << making.name;
        count_checked(6);
    }
}

// Objects can be made where another device is current, but not used there.
TEST_P(Calls, RefuseOtherDevices) {
    if (host() || device::count() < 2)
        GTEST_SKIP() << "there are no two devices to mix up";
    const int own = device::current(), other = own == 0 ? 1 : 0;
    const Table table(false, w(), {}, false, own);
    const gfk_field field = make_field(8);
    device::select(other);
    for (const Call &call : table.calls())
        if (!call.is_on_host_memory())
            Stage(call).refused(GFK_STATUS_WRONG_DEVICE, "another device is current");
    for (const Making &making : makings(own))
        EXPECT_OK(making.make(&field, 0)) << making.name;
    EXPECT_EQ(other, device::current());
    device::select(own);
}

// With check_pointers, each operand in the other side's memory; calls on host memory take no other.
TEST_P(Calls, RefuseMemoryOfTheOtherSide) {
    if (device::count() == 0)
        GTEST_SKIP() << "there is no other memory than the host's";
    const Table checking(host(), w(), {}, true);
    for (const Call &call : checking.calls()) {
        Stage good(call, host());
        EXPECT_STATUS(call.good, good.run()) << call.name;
        if (call.is_on_host_memory())
            continue;
        for (size_t i = 0; i < call.operands.size(); i++) {
            const Operand &o = call.operands[i];
            const Memory elsewhere(!host(), o.bytes);
            if (o.kind == UNUSED || o.on_host)
                continue;
            Stage stage(call, host());
            stage.at[i] = elsewhere.data();
            stage.refused(GFK_STATUS_WRONG_DEVICE, "operand " + std::to_string(i));
        }
    }
}

// Eight threads, each on memory and with data of its own.
TEST_P(Calls, ShareTheirObjects) {
    constexpr size_t THREADS = 8;
    const Shape shape = {20, 9, 500 * symbol(), 60, 3};
    const Table table(host(), w(), options.reduced ? Shape() : shape);
    for (const Call &call : table.calls()) {
        Stage alone(call, host(), table.shape().bytes);
        const std::vector<Bytes> expected = run_alone(THREADS, call, alone, host());
        count_checked();
        if (!call.is_shared)
            continue;
        on_threads(THREADS, [&](int thread) {
            const auto t = static_cast<size_t>(thread);
            Stage stage(call, host(), table.shape().bytes);
            const Stream stream(host());
            stage.given = stream.get();
            for (int again = 0; again < (options.reduced ? 3 : 8); again++) {
                gfk_status status = INVALID;
                const Bytes got = run_once(t, call, stage, host(), [&] { status = stage.run(); });
                if (status != call.good || got != expected[t])
                    return testing::AssertionFailure() << call.name << ": another result";
                count_checked();
            }
            return testing::AssertionSuccess();
        });
    }
}

// Several tiles, panels and generations; other data for each replay.
TEST_P(Calls, AreCaptured) {
    if (host())
        GTEST_SKIP() << "the CPU has no graphs";
    constexpr size_t REPLAYS = 5;
    for (const Shape &shape : {Shape(), Shape{60, 40, 3000 * symbol(), 3 * 1024 / w() + 7, 3}}) {
        const Table table(false, w(), shape);
        for (const Call &call : table.calls()) {
            Stage stage(call, false, shape.bytes);
            const std::vector<Bytes> expected = run_alone(REPLAYS, call, stage, false);
            if (!call.is_captured || !stage.takes_stream)
                continue;
            const Stream stream(false);
            stage.given = stream.get();
            device::Graph graph(stream.get());
            const gfk_status status = stage.run();
            graph.end();
            ASSERT_STATUS(call.good, status) << call.name;
            for (size_t replay = 0; replay < 2 * REPLAYS; replay++) {
                const size_t number = replay % REPLAYS;
                EXPECT_EQ(expected[number],
                          run_once(number, call, stage, false, [&] { graph.launch(stream.get()); }))
                    << call.name << ", replay " << replay;
                count_checked();
            }
        }
    }
}

INSTANTIATE_AT(Calls, matmul_places());

// A public function with a stream or a pipeline is in the table, unless it is here.
TEST(CallTable, HasEveryCall) {
    std::set<std::string> found = {"gfk_matrix_wait", "gfk_rlnc_decoder_wait",
                                   "gfk_rlnc_decoder_reset", "gfk_rs_batch_run",
                                   "gfk_matrix_invert_batch"}; // on devices alone
    const Table table(true, 16);
    for (const Call &call : table.calls())
        found.insert(std::string(call.name).substr(0, std::string(call.name).find(',')));
    std::istringstream names{GFK_TEST_CALLS};
    size_t count = 0;
    for (std::string name; std::getline(names, name, ','); count++)
        EXPECT_TRUE(found.count(name)) << name << " is not in tests/calls/table.cpp";
    EXPECT_LT(20u, count);
    count_checked(count);
}

} // namespace
