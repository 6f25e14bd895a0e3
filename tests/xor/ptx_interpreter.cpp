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
    for (unsigned i = 0; i < 32; i++) {
        const unsigned row = (a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1);
        result |= (table >> row & 1) << i;
    }
    return result;
}

bool starts_with(const std::string &text, const std::string &start) {
    return text.compare(0, start.size(), start) == 0;
}

std::string last_part(const std::string &op) {
    return op.substr(op.rfind('.') + 1);
}

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
    std::string word;
    words >> result.op;
    if (result.op[0] == '@') {
        result.inverted = result.op[1] == '!';
        result.predicate = register_of(result.op.substr(result.inverted ? 2 : 1));
        words >> result.op;
    }
    if (result.op == "bra") {
        words >> word;
        result.text = word; // a label, perhaps of a later line
        return result;
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
    for (const Instruction &i : code_)
        if (i.op == "bra" && !labels_.count(i.text))
            fail("no such label", i.text);
}

void PtxKernel::access(const Instruction &i, Thread &t) const {
    const bool load = starts_with(i.op, "ld");
    const size_t size = last_part(i.op) == "u8" ? 1 : 4;
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
    if (i.op == "ret") {
        t.running = false;
        return;
    }
    if (i.op == "bra") {
        t.next = labels_.at(i.text);
        return;
    }
    if (starts_with(i.op, "prefetch")) // moves no data
        return;
    if (starts_with(i.op, "ld.global") || starts_with(i.op, "st.global"))
        return access(i, t);
    uint64_t &d = t.r[i.operands[0].value];
    if (starts_with(i.op, "ld.param")) {
        const Operand &from = i.operands[1];
        const auto &bytes = t.launch->parameters.at(from.value);
        const size_t size = last_part(i.op) == "u64" ? 8 : 4;
        if (from.kind != Operand::Parameter || from.offset + size > bytes.size())
            fail("outside the parameters", i.text);
        d = 0;
        std::memcpy(&d, bytes.data() + from.offset, size);
        return;
    }
    uint64_t v[4] = {0, 0, 0, 0};
    for (size_t n = 1; n < i.operands.size(); n++)
        v[n - 1] = i.operands[n].kind == Operand::Register ? t.r[i.operands[n].value]
                                                           : i.operands[n].value;
    const auto a = static_cast<uint32_t>(v[0]), b = static_cast<uint32_t>(v[1]),
               c = static_cast<uint32_t>(v[2]);
    const std::string &op = i.op;
    if (op == "mov.u32" || op == "mov.b32" || op == "cvt.u32.u64")
        d = a;
    else if (op == "mov.b64")
        d = v[0];
    else if (op == "add.u32")
        d = static_cast<uint32_t>(a + b);
    else if (op == "add.u64")
        d = v[0] + v[1];
    else if (op == "sub.u32")
        d = static_cast<uint32_t>(a - b);
    else if (op == "sub.u64")
        d = v[0] - v[1];
    else if (op == "mul.lo.u32")
        d = static_cast<uint32_t>(a * b);
    else if (op == "mul.hi.u32")
        d = uint64_t{a} * b >> 32;
    else if (op == "mad.lo.u32")
        d = static_cast<uint32_t>(a * b + c);
    else if (op == "mul.wide.u32")
        d = uint64_t{a} * b;
    else if (op == "mul.wide.s32")
        d = static_cast<uint64_t>(int64_t{static_cast<int32_t>(a)} * static_cast<int32_t>(b));
    else if (op == "and.b32" || op == "and.b64" || op == "and.pred")
        d = v[0] & v[1];
    else if (op == "or.b32")
        d = a | b;
    else if (op == "xor.b32")
        d = a ^ b;
    else if (op == "shl.b32")
        d = b > 31 ? 0 : a << b;
    else if (op == "cvt.u64.u32")
        d = a;
    else if (op == "shr.u64")
        d = b > 63 ? 0 : v[0] >> b;
    else if (op == "shl.b64")
        d = b > 63 ? 0 : v[0] << b;
    else if (op == "shr.u32")
        d = b > 31 ? 0 : a >> b;
    else if (op == "shr.s32")
        d = static_cast<uint32_t>(static_cast<int32_t>(a) >> (b > 31 ? 31 : b));
    else if (op == "shf.l.wrap.b32") // the upper word of b:a, moved up
        d = static_cast<uint32_t>((uint64_t{b} << 32 | a) << (c & 31) >> 32);
    else if (op == "shf.r.wrap.b32")
        d = static_cast<uint32_t>((uint64_t{b} << 32 | a) >> (c & 31));
    else if (op == "lop3.b32")
        d = lop3(a, b, c, static_cast<uint32_t>(v[3]));
    else if (op == "prmt.b32")
        d = prmt(a, b, c);
    else if (op == "setp.eq.u32")
        d = a == b;
    else if (op == "setp.ne.u32")
        d = a != b;
    else if (op == "setp.ge.u32")
        d = a >= b;
    else if (op == "setp.gt.u32")
        d = a > b;
    else if (op == "setp.lt.u32")
        d = a < b;
    else
        fail("an instruction that the interpreter does not know", i.text);
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
