// SPDX-License-Identifier: BSD-3-Clause
#include "ptx_interpreter.h"

#include <cstring>
#include <sstream>
#include <stdexcept>

namespace {

[[noreturn]] void fail(const std::string &what, const std::string &where) {
    throw std::runtime_error(what + ": " + where);
}

uint32_t prmt(uint32_t a, uint32_t b, uint32_t selector) {
    const uint64_t bytes = uint64_t{b} << 32 | a;
    uint32_t result = 0;
    for (unsigned i = 0; i < 4; i++) {
        const unsigned nibble = selector >> (4 * i) & 15;
        uint32_t byte = bytes >> (8 * (nibble & 7)) & 0xff;
        if (nibble & 8)
            byte = byte & 0x80 ? 0xff : 0;
        result |= byte << (8 * i);
    }
    return result;
}

uint32_t lop3(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
    uint32_t result = 0;
    for (unsigned row = 0; row < 8; row++)
        if (table >> row & 1)
            result |= (row & 4 ? a : ~a) & (row & 2 ? b : ~b) & (row & 1 ? c : ~c);
    return result;
}

bool starts_with(const std::string &text, const std::string &start) {
    return text.compare(0, start.size(), start) == 0;
}

std::string last_part(const std::string &op) {
    return op.substr(op.rfind('.') + 1);
}

// What instructions make of their operands.
using V = const uint64_t *;
uint32_t low(uint64_t x) {
    return static_cast<uint32_t>(x);
}
const std::map<std::string, uint64_t (*)(V)> COMPUTE = {
    {"mov.u32", [](V v) -> uint64_t { return low(v[0]); }},
    {"mov.b32", [](V v) -> uint64_t { return low(v[0]); }},
    {"cvt.u32.u64", [](V v) -> uint64_t { return low(v[0]); }},
    {"cvt.u64.u32", [](V v) -> uint64_t { return low(v[0]); }},
    {"mov.b64", [](V v) -> uint64_t { return v[0]; }},
    {"add.u32", [](V v) -> uint64_t { return low(v[0] + v[1]); }},
    {"add.u64", [](V v) -> uint64_t { return v[0] + v[1]; }},
    {"sub.u32", [](V v) -> uint64_t { return low(v[0] - v[1]); }},
    {"sub.u64", [](V v) -> uint64_t { return v[0] - v[1]; }},
    {"mul.lo.u32", [](V v) -> uint64_t { return low(v[0]) * low(v[1]); }},
    {"mul.hi.u32", [](V v) -> uint64_t { return uint64_t{low(v[0])} * low(v[1]) >> 32; }},
    {"mad.lo.u32", [](V v) -> uint64_t { return low(v[0]) * low(v[1]) + low(v[2]); }},
    {"mul.wide.u32", [](V v) -> uint64_t { return uint64_t{low(v[0])} * low(v[1]); }},
    {"mul.wide.s32",
     [](V v) -> uint64_t {
         return static_cast<uint64_t>(int64_t{static_cast<int32_t>(v[0])} *
                                      static_cast<int32_t>(v[1]));
     }},
    {"and.b32", [](V v) -> uint64_t { return v[0] & v[1]; }},
    {"and.b64", [](V v) -> uint64_t { return v[0] & v[1]; }},
    {"and.pred", [](V v) -> uint64_t { return v[0] & v[1]; }},
    {"or.b32", [](V v) -> uint64_t { return low(v[0] | v[1]); }},
    {"xor.b32", [](V v) -> uint64_t { return low(v[0] ^ v[1]); }},
    {"shl.b32", [](V v) -> uint64_t { return low(v[1]) > 31 ? 0 : low(v[0]) << low(v[1]); }},
    {"shl.b64", [](V v) -> uint64_t { return low(v[1]) > 63 ? 0 : v[0] << low(v[1]); }},
    {"shr.u32", [](V v) -> uint64_t { return low(v[1]) > 31 ? 0 : low(v[0]) >> low(v[1]); }},
    {"shr.u64", [](V v) -> uint64_t { return low(v[1]) > 63 ? 0 : v[0] >> low(v[1]); }},
    {"shr.s32",
     [](V v) -> uint64_t {
         return static_cast<uint32_t>(static_cast<int32_t>(v[0]) >>
                                      (low(v[1]) > 31 ? 31 : low(v[1])));
     }},
    {"shf.l.wrap.b32", // the upper word of b:a, moved up
     [](V v) -> uint64_t { return low((v[1] << 32 | low(v[0])) << (v[2] & 31) >> 32); }},
    {"shf.r.wrap.b32",
     [](V v) -> uint64_t { return low((v[1] << 32 | low(v[0])) >> (v[2] & 31)); }},
    {"lop3.b32", [](V v) -> uint64_t { return lop3(low(v[0]), low(v[1]), low(v[2]), low(v[3])); }},
    {"prmt.b32", [](V v) -> uint64_t { return prmt(low(v[0]), low(v[1]), low(v[2])); }},
    {"setp.eq.u32", [](V v) -> uint64_t { return low(v[0]) == low(v[1]); }},
    {"setp.ne.u32", [](V v) -> uint64_t { return low(v[0]) != low(v[1]); }},
    {"setp.ge.u32", [](V v) -> uint64_t { return low(v[0]) >= low(v[1]); }},
    {"setp.gt.u32", [](V v) -> uint64_t { return low(v[0]) > low(v[1]); }},
    {"setp.lt.u32", [](V v) -> uint64_t { return low(v[0]) < low(v[1]); }}};

} // namespace

struct PtxKernel::Thread {
    const Launch *launch;
    std::vector<uint64_t> r;
    size_t next = 0;
    bool running = true;
};

int PtxKernel::register_of(const std::string &name) {
    return registers_.emplace(name, static_cast<int>(registers_.size())).first->second;
}

PtxKernel::Operand PtxKernel::operand_of(const std::string &word) {
    std::string name = word;
    uint64_t offset = 0;
    if (const size_t plus = name.find('+'); plus != std::string::npos) {
        offset = std::stoull(name.substr(plus + 1), nullptr, 0);
        name.resize(plus);
    }
    if (name[0] == '%')
        return {Operand::Register, static_cast<uint64_t>(register_of(name)), offset};
    if (const auto p = parameters_.find(name); p != parameters_.end())
        return {Operand::Parameter, p->second, offset};
    return {Operand::Immediate, std::stoull(name, nullptr, 0), 0};
}

PtxKernel::Instruction PtxKernel::instruction_of(const std::string &line) {
    Instruction result;
    result.text = line;
    std::string flat = line;
    for (char &c : flat)
        if (std::strchr(",;[]{}", c))
            c = ' ';
    std::istringstream words(flat);
    std::string op, word;
    words >> op;
    if (op[0] == '@') {
        result.inverted = op[1] == '!';
        result.predicate = register_of(op.substr(result.inverted ? 2 : 1));
        words >> op;
    }
    if (op == "bra") {
        words >> result.text; // a label, perhaps of a later line
        result.kind = Instruction::Branch;
        return result;
    }
    if (op == "ret") {
        result.kind = Instruction::Return;
    } else if (starts_with(op, "prefetch")) { // moves no data
        result.kind = Instruction::Nothing;
    } else if (starts_with(op, "ld.param")) {
        result.kind = Instruction::LoadParameter;
        result.size = last_part(op) == "u64" ? 8 : 4;
    } else if (starts_with(op, "ld.global") || starts_with(op, "st.global")) {
        result.kind = Instruction::Access;
        result.load = op[0] == 'l';
        result.size = last_part(op) == "u8" ? 1 : 4;
    } else if (const auto known = COMPUTE.find(op); known != COMPUTE.end()) {
        result.compute = known->second;
    }
    while (words >> word)
        result.operands.push_back(operand_of(word));
    return result;
}

PtxKernel::PtxKernel(const std::string &text) {
    std::istringstream lines(text);
    std::string line;
    while (std::getline(lines, line)) {
        if (const size_t at = line.find(".param"); at != std::string::npos && line[0] == '.') {
            // ".visible .entry name(.param .align 8 .b8 name[size]," and what follows it
            std::string name = line.substr(line.find(".b8") + 4);
            name.resize(name.find('['));
            parameters_.emplace(name, parameters_.size());
        } else if (line.empty() || line[0] == '.' || line == "{" || line == "}") {
            continue;
        } else if (line.back() == ':') {
            labels_[line.substr(0, line.size() - 1)] = code_.size();
        } else {
            code_.push_back(instruction_of(line));
        }
    }
    for (Instruction &i : code_)
        if (i.kind == Instruction::Branch) {
            if (!labels_.count(i.text))
                fail("no such label", i.text);
            i.target = labels_[i.text];
        }
}

void PtxKernel::access(const Instruction &i, Thread &t) const {
    const bool load = i.load;
    const size_t size = i.size;
    const size_t count = i.operands.size() - 1;
    const Operand &address = load ? i.operands.back() : i.operands.front();
    auto *p = reinterpret_cast<uint8_t *>(t.r[address.value] + address.offset);
    if (reinterpret_cast<uintptr_t>(p) % (size * count) != 0)
        fail("not aligned", i.text);
    bool inside = false;
    for (const Region &region : t.launch->regions)
        inside |= p >= region.begin && p + size * count <= region.end && (load || region.writable);
    if (!inside)
        fail("outside the regions", i.text);
    for (size_t n = 0; n < count; n++) {
        uint64_t &value = t.r[i.operands[load ? n : n + 1].value];
        if (load) {
            value = 0;
            std::memcpy(&value, p + size * n, size);
        } else {
            std::memcpy(p + size * n, &value, size);
        }
    }
}

void PtxKernel::step(const Instruction &i, Thread &t) const {
    if (i.predicate >= 0 && (t.r[static_cast<size_t>(i.predicate)] != 0) == i.inverted)
        return;
    switch (i.kind) {
    case Instruction::Return:
        t.running = false;
        return;
    case Instruction::Branch:
        t.next = i.target;
        return;
    case Instruction::Nothing:
        return;
    case Instruction::Access:
        return access(i, t);
    case Instruction::LoadParameter: {
        const Operand &from = i.operands[1];
        const auto &bytes = t.launch->parameters.at(from.value);
        if (from.kind != Operand::Parameter || from.offset + i.size > bytes.size())
            fail("outside the parameters", i.text);
        uint64_t &d = t.r[i.operands[0].value];
        d = 0;
        std::memcpy(&d, bytes.data() + from.offset, i.size);
        return;
    }
    case Instruction::Compute:
        break;
    }
    if (i.compute == nullptr)
        fail("an instruction that the interpreter does not know", i.text);
    uint64_t v[4] = {0, 0, 0, 0};
    for (size_t n = 1; n < i.operands.size(); n++)
        v[n - 1] = i.operands[n].kind == Operand::Register ? t.r[i.operands[n].value]
                                                           : i.operands[n].value;
    t.r[i.operands[0].value] = i.compute(v);
}

void PtxKernel::run(const Launch &launch) const {
    for (unsigned block = 0; block < launch.blocks; block++) {
        for (unsigned thread = 0; thread < launch.threads; thread++) {
            // What no instruction has written must not matter.
            Thread t{&launch, std::vector<uint64_t>(registers_.size(), 0xdeadbeefdeadbeef)};
            const auto set = [&](const char *name, uint64_t value) {
                if (const auto r = registers_.find(name); r != registers_.end())
                    t.r[static_cast<size_t>(r->second)] = value;
            };
            set("%tid.x", thread);
            set("%ctaid.x", block);
            while (t.running) {
                if (t.next >= code_.size())
                    fail("ran off the end", "");
                const Instruction &i = code_[t.next++];
                step(i, t);
            }
        }
    }
}
