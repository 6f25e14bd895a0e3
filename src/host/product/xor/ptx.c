/* SPDX-License-Identifier: BSD-3-Clause */
/* The text of a kernel. The program appears twice: for `words` words of aligned regions, and for
 * one word, which serves single words of unaligned regions and single symbols. With one word per
 * thread the program appears once.
 *
 * Registers: %a to %d the values of the aligned words, %e those of the single one; %o, %q, %r, %s
 * the words of outputs as they were; %idx the thread's number, %off its offset in every region. */
#include "ptx.h"

enum { MOST_EARLY = 4 }; /* outputs that are loaded into registers early */

typedef struct writer {
    FILE *out;
    const gfk_jit_program *program;
    const gfk_jit_target *target;
} writer;

#define OUT(...) (void)fprintf(w->out, __VA_ARGS__)

static void sum(const writer *w, char column, uint32_t d, const gfk_jit_op *op) {
    if (op->c == GFK_JIT_NONE)
        OUT("xor.b32 %%%c%u, %%%c%u, %%%c%u;\n", column, d, column, op->a, column, op->b);
    else
        OUT("lop3.b32 %%%c%u, %%%c%u, %%%c%u, %%%c%u, 0x96;\n", column, d, column, op->a, column,
            op->b, column, op->c);
}

/* Doubles every symbol. One way selects the polynomial by a mask of the symbols' top bits. The
 * other way multiplies: (top >> (w - 1)) * polynomial is the upper word of a product. */
static void doubling(const writer *w, char column, uint32_t d, const gfk_jit_op *op) {
    const bool bytes = w->program->w == 8;
    const uint32_t ones = bytes ? 0x01010101u : 0x00010001u;
    const uint32_t low = (uint32_t)w->program->polynomial & (bytes ? 0xffu : 0xffffu);
    const uint32_t top = ones << (w->program->w - 1);
    const bool operand = op->b != GFK_JIT_NONE;
    OUT("add.u32 %%x, %%%c%u, %%%c%u;\n", column, op->a, column, op->a);
    if (op->multiply) {
        OUT("and.b32 %%y, %%%c%u, 0x%x;\n", column, op->a, top);
        OUT("mad.lo.u32 %%x, %%y, 0xfffffffe, %%x;\n");
        OUT("mul.hi.u32 %%y, %%y, 0x%x;\n", low << (33 - w->program->w));
        if (operand)
            OUT("lop3.b32 %%%c%u, %%x, %%y, %%%c%u, 0x96;\n", column, d, column, op->b);
        else
            OUT("xor.b32 %%%c%u, %%x, %%y;\n", column, d);
        return;
    }
    OUT("prmt.b32 %%y, %%%c%u, 0, 0x%x;\n", column, op->a, bytes ? 0xba98u : 0xbb99u);
    if (operand) /* (y & polynomial) ^ operand */
        OUT("lop3.b32 %%y, %%y, 0x%x, %%%c%u, 0x6a;\n", low * ones, column, op->b);
    else
        OUT("and.b32 %%y, %%y, 0x%x;\n", low * ones);
    OUT("lop3.b32 %%%c%u, %%x, 0x%x, %%y, 0x6a;\n", column, d, ~ones);
}

/* The same for w = 32: the top bit becomes a mask or a factor. */
static void doubling_w32(const writer *w, char column, uint32_t d, const gfk_jit_op *op) {
    const uint32_t low = (uint32_t)w->program->polynomial;
    OUT("mul.lo.u32 %%x, %%%c%u, 2;\n", column, op->a);
    if (op->multiply) {
        OUT("mul.hi.u32 %%y, %%%c%u, 2;\n", column, op->a);
        OUT("mul.lo.u32 %%y, %%y, 0x%x;\nxor.b32 %%%c%u, %%x, %%y;\n", low, column, d);
        return;
    }
    OUT("shr.s32 %%y, %%%c%u, 31;\n", column, op->a);
    OUT("lop3.b32 %%%c%u, %%y, 0x%x, %%x, 0x6a;\n", column, d, low);
}

static void carry(const writer *w, char column, uint32_t d, const gfk_jit_op *op) {
    if (!op->multiply) {
        OUT("shf.l.wrap.b32 %%%c%u, %%%c%u, %%%c%u, 1;\n", column, d, column, op->a, column, op->b);
        return;
    }
    OUT("mul.hi.u32 %%x, %%%c%u, 2;\n", column, op->a);
    OUT("mad.lo.u32 %%%c%u, %%%c%u, 2, %%x;\n", column, d, column, op->b);
}

static void body(const writer *w, char column) {
    const gfk_jit_program *p = w->program;
    for (size_t i = 0; i < p->count; i++) {
        const gfk_jit_op *op = &p->ops[i];
        const uint32_t d = (uint32_t)(p->cols + i);
        switch (op->kind) {
        case GFK_JIT_ZERO:
            OUT("mov.b32 %%%c%u, 0;\n", column, d);
            break;
        case GFK_JIT_SUM:
            sum(w, column, d, op);
            break;
        case GFK_JIT_DOUBLE:
            if (p->w == 32)
                doubling_w32(w, column, d, op);
            else
                doubling(w, column, d, op);
            break;
        case GFK_JIT_SHIFT_LEFT:
            OUT("mul.lo.u32 %%%c%u, %%%c%u, 0x%x;\n", column, d, column, op->a,
                UINT32_C(1) << op->immediate);
            break;
        case GFK_JIT_SHIFT_RIGHT:
            OUT("shr.u32 %%%c%u, %%%c%u, %u;\n", column, d, column, op->a, op->immediate);
            break;
        default:
            carry(w, column, d, op);
            break;
        }
    }
}

static const char *vector(const writer *w) {
    return w->target->words == 4 ? ".v4" : w->target->words == 2 ? ".v2" : "";
}

/* {%a5, %b5, ...}: the registers of a value in all words. */
static void values(const writer *w, const char *columns, uint32_t value) {
    for (unsigned v = 0; v < w->target->words; v++)
        OUT("%s%%%c%u", v == 0 ? "{" : ", ", columns[v], value);
    OUT("}");
}

static void address(const writer *w, size_t region) {
    OUT("ld.param.u64 %%p, [regions+%zu];\nadd.u64 %%p, %%p, %%off;\n", 8 * region);
}

static const char *const aligned_columns[] = {"", "e", "ab", "", "abcd"};

/* Adding and comparing read the outputs too. Reading them early does not pay where the program is
 * the limit, as for most wide symbols, nor where inputs are most of what is read. */
static bool early_pays(const gfk_jit_program *p) {
    return p->w == 8 || (p->rows >= p->cols &&
                         gfk_jit_program_length(p) <= GFK_JIT_PER_WORD * (2 * p->rows + p->cols));
}

/* Early outputs come into L2, or with 8 to 12 inputs into registers, which suffice without a spill.
 * With fewer inputs L2 is fast enough, and the registers are better used for more blocks. */
static bool in_registers(const gfk_jit_program *p) {
    return early_pays(p) && p->rows <= MOST_EARLY && p->cols >= 8 && p->cols <= 12;
}

/* Loads output j as it is in memory, into registers `to`. */
static void load_output(const writer *w, size_t j, uint32_t to) {
    address(w, w->program->cols + j);
    OUT("ld.global%s.b32 ", vector(w));
    values(w, "oqrs", to);
    OUT(", [%%p];\n");
}

/* Reads the outputs that will be added to or compared, before the inputs: ptxas moves prefetches
 * that follow the loads of the inputs to the end of the program. */
static void early_outputs(const writer *w) {
    const gfk_jit_program *p = w->program;
    if (!early_pays(p))
        return;
    OUT("@!%%accumulate bra INPUTS;\n");
    for (size_t j = 0; j < p->rows; j++) {
        if (in_registers(p)) {
            load_output(w, j, (uint32_t)j);
        } else {
            address(w, p->cols + j);
            OUT("prefetch.global.L2 [%%p];\n");
        }
    }
    OUT("INPUTS:\n");
}

/* The number of the registers that hold output j as it was. Loads the output unless it was loaded
 * early. */
static uint32_t output_before(const writer *w, size_t j) {
    if (in_registers(w->program))
        return (uint32_t)j;
    load_output(w, j, 0);
    return 0;
}

static void aligned_loads(const writer *w) {
    const gfk_jit_program *p = w->program;
    OUT("mul.wide.u32 %%off, %%idx, %u;\n", 4 * w->target->words);
    early_outputs(w);
    for (size_t i = 0; i < p->cols; i++) {
        address(w, i);
        OUT("ld.global%s.b32 ", vector(w));
        values(w, aligned_columns[w->target->words], (uint32_t)i);
        OUT(", [%%p];\n");
    }
}

static void aligned_stores(const writer *w) {
    const gfk_jit_program *p = w->program;
    const char *columns = aligned_columns[w->target->words];
    OUT("@%%accumulate bra ALIGNED_XOR;\n");
    for (size_t j = 0; j < p->rows; j++) {
        address(w, p->cols + j);
        OUT("st.global%s.b32 [%%p], ", vector(w));
        values(w, columns, p->outputs[j]);
        OUT(";\n");
    }
    OUT("ret;\nALIGNED_XOR:\n@%%check bra ALIGNED_CHECK;\n");
    for (size_t j = 0; j < p->rows; j++) {
        const uint32_t o = output_before(w, j), value = p->outputs[j];
        for (unsigned v = 0; v < w->target->words; v++)
            OUT("xor.b32 %%%c%u, %%%c%u, %%%c%u;\n", "oqrs"[v], o, "oqrs"[v], o, columns[v], value);
        address(w, p->cols + j);
        OUT("st.global%s.b32 [%%p], ", vector(w));
        values(w, "oqrs", o);
        OUT(";\n");
    }
    OUT("ret;\nALIGNED_CHECK:\nmov.u32 %%bytes, %u;\nmov.b32 %%x, 0;\n", 4 * w->target->words);
    for (size_t j = 0; j < p->rows; j++) {
        const uint32_t o = output_before(w, j), value = p->outputs[j];
        for (unsigned v = 0; v < w->target->words; v++) /* x |= output ^ value */
            OUT("lop3.b32 %%x, %%%c%u, %%%c%u, %%x, 0xbe;\n", "oqrs"[v], o, columns[v], value);
    }
    OUT("bra MARK;\n");
}

/* Marks the mismatch map if %x is not zero: a byte differs in the %bytes bytes at %off. */
static void mark(const writer *w) {
    OUT("MARK:\nsetp.eq.u32 %%cut, %%x, 0;\n@%%cut ret;\nmov.b32 %%x, 1;\n");
    OUT("ld.param.u64 %%p, [shape+40];\nadd.u64 %%off, %%off, %%p;\n");
    OUT("ld.param.u32 %%y, [shape+48];\ncvt.u64.u32 %%q, %%bytes;\n");
    for (int end = 0; end < 2; end++) {
        OUT("shr.u64 %%p, %%off, %%y;\nshl.b64 %%p, %%p, 2;\n");
        if (end == 0)
            OUT("add.u64 %%off, %%off, %%q;\nsub.u64 %%off, %%off, 1;\nld.param.u64 %%q, "
                "[shape+32];\n");
        OUT("add.u64 %%p, %%p, %%q;\nst.global.b32 [%%p], %%x;\n");
    }
    OUT("ret;\n");
}

/* As single_stores, but compares. */
static void single_check(const writer *w) {
    const gfk_jit_program *p = w->program;
    OUT("SINGLE_CHECK:\nmov.b32 %%q0, 0;\n");
    for (size_t j = 0; j < p->rows; j++) {
        address(w, p->cols + j);
        for (unsigned b = 0; b < 4; b++) {
            OUT("@%%has%u ld.global.u8 %%o0, [%%p+%u];\n", b, b);
            OUT("shr.u32 %%y, %%e%u, %u;\nand.b32 %%y, %%y, 0xff;\n", p->outputs[j], 8 * b);
            OUT("@%%has%u lop3.b32 %%q0, %%o0, %%y, %%q0, 0xbe;\n", b);
        }
    }
    OUT("mov.b32 %%x, %%q0;\nbra MARK;\n");
}

/* Loads words at any address from the two aligned words that contain them. */
static void word_loads(const writer *w) {
    OUT("WORD:\nmov.u32 %%bytes, 4;\nmul.wide.u32 %%off, %%idx, 4;\n");
    for (size_t i = 0; i < w->program->cols; i++) {
        address(w, i);
        OUT("and.b64 %%q, %%p, 3;\nsub.u64 %%p, %%p, %%q;\ncvt.u32.u64 %%y, %%q;\n");
        OUT("ld.global.b32 %%o0, [%%p];\nmov.b32 %%x, 0;\nsetp.ne.u32 %%cut, %%y, 0;\n");
        OUT("@%%cut ld.global.b32 %%x, [%%p+4];\nshl.b32 %%y, %%y, 3;\n");
        OUT("shf.r.wrap.b32 %%e%zu, %%o0, %%x, %%y;\n", i);
    }
    OUT("bra SINGLE;\n");
}

/* Loads symbol %thread of the edges; %off is negative in front of the tiles. */
static void symbol_loads(const writer *w) {
    const unsigned symbol = w->program->w / 8;
    OUT("EDGE:\nld.param.u32 %%x, [shape+20];\nsetp.ge.u32 %%cut, %%thread, %%x;\n@%%cut ret;\n");
    OUT("mov.u32 %%bytes, %u;\nld.param.u32 %%x, [shape+16];\nld.param.u64 %%q, [shape];\n",
        symbol);
    OUT("setp.lt.u32 %%cut, %%thread, %%x;\n@%%cut mov.b64 %%q, 0;\nsub.u32 %%x, %%thread, %%x;\n");
    OUT("mul.wide.s32 %%off, %%x, %u;\nadd.u64 %%off, %%off, %%q;\n", symbol);
    for (size_t i = 0; i < w->program->cols; i++) {
        address(w, i);
        OUT("ld.global.u8 %%e%zu, [%%p];\n", i);
        for (unsigned b = 1; b < symbol; b++)
            OUT("ld.global.u8 %%x, [%%p+%u];\nmad.lo.u32 %%e%zu, %%x, 0x%x, %%e%zu;\n", b, i,
                UINT32_C(1) << (8 * b), i);
    }
}

/* Stores %bytes bytes of every output, at any address. */
static void single_stores(const writer *w) {
    const gfk_jit_program *p = w->program;
    for (unsigned b = 1; b < 4; b++)
        OUT("setp.gt.u32 %%has%u, %%bytes, %u;\n", b, b);
    OUT("setp.eq.u32 %%has0, %%bytes, %%bytes;\n@%%check bra SINGLE_CHECK;\n");
    for (size_t j = 0; j < p->rows; j++) {
        const uint32_t value = p->outputs[j];
        address(w, p->cols + j);
        OUT("cvt.u32.u64 %%x, %%p;\nand.b32 %%x, %%x, 3;\nxor.b32 %%y, %%bytes, 4;\n");
        OUT("or.b32 %%x, %%x, %%y;\nsetp.ne.u32 %%cut, %%x, 0;\n@%%cut bra BYTES%zu;\n", j);
        OUT("mov.b32 %%o0, 0;\n@%%accumulate ld.global.b32 %%o0, [%%p];\n");
        OUT("xor.b32 %%o0, %%o0, %%e%u;\nst.global.b32 [%%p], %%o0;\nbra NEXT%zu;\n", value, j);
        OUT("BYTES%zu:\n", j);
        for (unsigned b = 0; b < 4; b++) {
            OUT("and.pred %%cut, %%has%u, %%accumulate;\nmov.b32 %%o0, 0;\n", b);
            OUT("@%%cut ld.global.u8 %%o0, [%%p+%u];\nshr.u32 %%x, %%e%u, %u;\n", b, value, 8 * b);
            OUT("xor.b32 %%o0, %%o0, %%x;\n@%%has%u st.global.u8 [%%p+%u], %%o0;\n", b, b);
        }
        OUT("NEXT%zu:\n", j);
    }
    OUT("ret;\n");
}

static void head(const writer *w) {
    const gfk_jit_program *p = w->program;
    /* The PTX version of the oldest compute capability that is supported; all drivers read it. */
    const unsigned cc = w->target->cc < 75 ? w->target->cc : 75;
    OUT(".version 7.1\n.target sm_%u\n.address_size 64\n", cc);
    OUT(".visible .entry " GFK_JIT_KERNEL "(.param .align 8 .b8 regions[%zu],\n",
        8 * (p->rows + p->cols));
    OUT(".param .align 8 .b8 shape[%zu])\n.maxntid %u, 1, 1\n", sizeof(gfk_jit_shape),
        w->target->threads);
    if (w->target->blocks != 0)
        OUT(".minnctapersm %u\n", w->target->blocks);
    OUT("{\n");
    const size_t values_needed = p->cols + p->count;
    for (unsigned v = 0; w->target->words > 1 && v < w->target->words; v++)
        OUT(".reg .b32 %%%c<%zu>;\n", "abcd"[v], values_needed);
    OUT(".reg .b32 %%e<%zu>, %%o<%d>, %%q<%d>, %%r<%d>, %%s<%d>;\n", values_needed, MOST_EARLY,
        MOST_EARLY, MOST_EARLY, MOST_EARLY);
    OUT(".reg .b32 %%idx, %%thread, %%block, %%bytes, %%x, %%y;\n.reg .b64 %%p, %%off, %%q;\n");
    OUT(".reg .pred %%accumulate, %%check, %%single, %%cut, %%has<4>;\n");
    OUT("mov.u32 %%thread, %%tid.x;\nmov.u32 %%block, %%ctaid.x;\n");
    OUT("ld.param.u32 %%x, [shape+24];\nsetp.ne.u32 %%accumulate, %%x, 0;\n");
    OUT("setp.eq.u32 %%check, %%x, %u;\n", (unsigned)GFK_JIT_CHECK);
    OUT("ld.param.u32 %%x, [shape+12];\nsetp.ge.u32 %%single, %%block, %%x;\n");
    OUT("@%%single bra EDGE;\nmad.lo.u32 %%idx, %%block, %u, %%thread;\n", w->target->threads);
    OUT("ld.param.u32 %%x, [shape+8];\nsetp.ge.u32 %%cut, %%idx, %%x;\n@%%cut ret;\n");
    OUT("ld.param.u32 %%x, [shape+28];\nsetp.ne.u32 %%single, %%x, 0;\n@%%single bra WORD;\n");
}

void gfk_jit_ptx(FILE *out, const gfk_jit_program *program, const gfk_jit_target *target) {
    const writer this_one = {out, program, target};
    const writer *const w = &this_one;
    const unsigned words = target->words;
    head(w);
    aligned_loads(w);
    if (words == 1) {
        OUT("bra SINGLE;\n");
    } else {
        for (unsigned v = 0; v < words; v++)
            body(w, aligned_columns[words][v]);
        aligned_stores(w);
    }
    word_loads(w);
    symbol_loads(w);
    OUT("SINGLE:\n");
    body(w, 'e');
    if (words == 1) {
        OUT("@%%single bra SINGLE_STORES;\n");
        aligned_stores(w);
        OUT("SINGLE_STORES:\n");
    }
    single_stores(w);
    single_check(w);
    mark(w);
    OUT("}\n");
}
