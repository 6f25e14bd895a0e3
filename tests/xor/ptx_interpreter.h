// SPDX-License-Identifier: BSD-3-Clause
// Runs the PTX that the xor engine writes, thread by thread, on host memory. It knows the
// instructions that the engine uses and no others, and it refuses every access outside the regions
// it was told of and every one that is not aligned.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

class PtxKernel {
  public:
    struct Region {
        const uint8_t *begin, *end;
        bool writable;
    };
    struct Launch {
        unsigned blocks, threads;
        std::vector<std::vector<uint8_t>> parameters; // in the kernel's order
        std::vector<Region> regions;
    };

    explicit PtxKernel(const std::string &text); // throws std::runtime_error
    void run(const Launch &launch) const;        // throws std::runtime_error
    size_t instructions() const { return code_.size(); }

  private:
    struct Operand {
        enum Kind { Register, Immediate, Parameter } kind;
        uint64_t value;  // a register's number, a number, a parameter's number
        uint64_t offset; // of an address
    };
    struct Instruction {
        int predicate = -1; // a register's number
        bool inverted = false;
        enum Kind { Return, Branch, Nothing, Access, LoadParameter, Compute } kind = Compute;
        bool load = false;                               // Access
        size_t size = 0;                                 // of a word in memory
        uint64_t (*compute)(const uint64_t *) = nullptr; // null: not known
        size_t target = 0;                               // Branch
        std::vector<Operand> operands;
        std::string text; // Branch: the label
    };
    struct Thread;

    int register_of(const std::string &name);
    Operand operand_of(const std::string &word);
    Instruction instruction_of(const std::string &line);
    void step(const Instruction &i, Thread &t) const;
    void access(const Instruction &i, Thread &t) const;

    std::vector<Instruction> code_;
    std::map<std::string, int> registers_;
    std::map<std::string, uint64_t> parameters_;
    std::map<std::string, size_t> labels_;
};
