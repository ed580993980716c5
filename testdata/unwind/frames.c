// A program without libc that prints its registers, its stack, its code's mapping, and the return addresses that its
// functions noted themselves. See make.sh.
typedef unsigned long word;

// The frames of 32-bit Arm are small, and there may be little above them.
#ifdef __arm__
enum { STACK = 512 };
#else
enum { STACK = 2048 };
#endif

static word noted[64];
static int count;
static unsigned char stack[STACK];
extern const char __executable_start[], etext[];

// The lowest bit of a return address of 32-bit Arm says that it is Thumb code.
#ifdef __arm__
#define NOTE() (noted[count++] = (word)__builtin_return_address(0) & ~1ul)
#else
#define NOTE() (noted[count++] = (word)__builtin_return_address(0))
#endif

#if defined __aarch64__
enum { REGS = 33, SP = 31 };
static const int bits[REGS] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
                               17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32};
// x0: where to put the registers, x1: where to copy the stack, x2: how many bytes.
__asm__(".text\n.globl dump\n.type dump, %function\ndump:\n.cfi_startproc\n"
        "stp x0, x1, [x0]\nstp x2, x3, [x0, 16]\nstp x4, x5, [x0, 32]\nstp x6, x7, [x0, 48]\n"
        "stp x8, x9, [x0, 64]\nstp x10, x11, [x0, 80]\nstp x12, x13, [x0, 96]\nstp x14, x15, [x0, 112]\n"
        "stp x16, x17, [x0, 128]\nstp x18, x19, [x0, 144]\nstp x20, x21, [x0, 160]\nstp x22, x23, [x0, 176]\n"
        "stp x24, x25, [x0, 192]\nstp x26, x27, [x0, 208]\nstp x28, x29, [x0, 224]\n"
        "mov x9, sp\nstp x30, x9, [x0, 240]\nadr x10, .\nstr x10, [x0, 256]\n"
        "1: ldrb w10, [x9], 1\nstrb w10, [x1], 1\nsubs x2, x2, 1\nb.ne 1b\nret\n.cfi_endproc\n.size dump, .-dump\n"
        ".globl _start\n.type _start, %function\n_start:\n.cfi_startproc\n.cfi_undefined x30\nbl begin\n"
        "mov x8, 93\nmov x0, 0\nsvc 0\n.cfi_endproc\n.size _start, .-_start\n");
static void print(const char *text, word size) {
    register word number __asm__("x8") = 64, x0 __asm__("x0") = 1;
    register const char *x1 __asm__("x1") = text;
    register word x2 __asm__("x2") = size;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(number), "r"(x1), "r"(x2) : "memory");
}
#elif defined __i386__
enum { REGS = 9, SP = 7 };
static const int bits[REGS] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
// On the stack: where to put the registers, where to copy the stack, how many bytes.
__asm__(".text\n.globl dump\n.type dump, @function\ndump:\n.cfi_startproc\n"
        "mov 4(%esp), %eax\nmov %eax, (%eax)\nmov %ebx, 4(%eax)\nmov %ecx, 8(%eax)\nmov %edx, 12(%eax)\n"
        "mov %esi, 16(%eax)\nmov %edi, 20(%eax)\nmov %ebp, 24(%eax)\nmov %esp, 28(%eax)\n"
        "movl $., 32(%eax)\n"
        "push %esi\n.cfi_adjust_cfa_offset 4\n.cfi_rel_offset esi, 0\npush %edi\n.cfi_adjust_cfa_offset 4\n"
        ".cfi_rel_offset edi, 0\nlea 8(%esp), %esi\nmov 16(%esp), %edi\nmov 20(%esp), %ecx\nrep movsb\n"
        "pop %edi\n.cfi_adjust_cfa_offset -4\n.cfi_restore edi\npop %esi\n.cfi_adjust_cfa_offset -4\n"
        ".cfi_restore esi\nret\n.cfi_endproc\n.size dump, .-dump\n"
        ".globl _start\n.type _start, @function\n_start:\n.cfi_startproc\n.cfi_undefined eip\n"
        "and $-16, %esp\ncall begin\nmov $1, %eax\nxor %ebx, %ebx\nint $0x80\n.cfi_endproc\n.size _start, .-_start\n");
static void print(const char *text, word size) {
    word eax = 4;
    __asm__ volatile("int $0x80" : "+a"(eax) : "b"(1), "c"(text), "d"(size) : "memory");
}
#elif defined __arm__
enum { REGS = 16, SP = 13 };
static const int bits[REGS] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
// r0: where to put the registers, r1: where to copy the stack, r2: how many bytes.
__asm__(".syntax unified\n.arm\n.text\n.globl dump\n.type dump, %function\ndump:\n.fnstart\n"
        "stmia r0, {r0-r12}\nstr sp, [r0, 52]\nstr lr, [r0, 56]\nadr r3, .\nstr r3, [r0, 60]\nmov r3, sp\n"
        "1: ldrb r12, [r3], 1\nstrb r12, [r1], 1\nsubs r2, r2, 1\nbne 1b\nbx lr\n.fnend\n.size dump, .-dump\n"
        ".globl _start\n.type _start, %function\n_start:\n.fnstart\n.cantunwind\n"
        "bl begin\nmov r7, 1\nmov r0, 0\nsvc 0\n.fnend\n.size _start, .-_start\n");
static void print(const char *text, word size) {
    register word number __asm__("r7") = 4, r0 __asm__("r0") = 1;
    register const char *r1 __asm__("r1") = text;
    register word r2 __asm__("r2") = size;
    __asm__ volatile("svc 0" : "+r"(r0) : "r"(number), "r"(r1), "r"(r2) : "memory");
}
// Named by the tables of the generic model; never called.
void __aeabi_unwind_cpp_pr0(void) {}
void __aeabi_unwind_cpp_pr1(void) {}
#endif
void dump(word *regs, unsigned char *stack, word size);

static void print_hex(word value) {
    char text[17], *at = text + sizeof text;
    *--at = ' ';
    do {
        *--at = "0123456789abcdef"[value & 15];
        value >>= 4;
    } while (value);
    print(at, text + sizeof text - at);
}

static void line(const char *name, word size) {
    print("\n", 1);
    print(name, size);
}

#define F __attribute__((noinline, noclone))

F static void leaf(void) {
    static word regs[REGS];
    NOTE();
    dump(regs, stack, STACK);
    line("regs ", 5);
    for (int i = 0; i < REGS; i++) {
        print_hex(bits[i]);
        print_hex(regs[i]);
    }
    line("map ", 4);
    print_hex((word)__executable_start);
    print_hex((word)etext - (word)__executable_start);
    // In dump, the innermost function, leaf is the caller; its return address follows from the code alone.
    line("noted ", 6);
    while (count > 0) print_hex(noted[--count]);
    line("stack ", 6);
    for (int i = 0; i < STACK; i++) print_hex(stack[i]);
    line("", 0);
}

// Many callee-saved registers.
F static word many(word a, word b, word c, word d) {
    NOTE();
    volatile word e = a * 3, f = b * 5, g = c * 7, h = d * 9;
    leaf();
    return e + f + g + h + a + b + c + d;
}

// A stack of variable size: the CFA follows from the frame pointer.
F static word variable(word size) {
    NOTE();
    volatile char room[size];
    room[0] = 1;
    room[size - 1] = 2;
    return many(size, size + 1, size + 2, size + 3) + room[0] + room[size - 1];
}

// An aligned stack: on x86, the CFA is in memory.
F static word aligned(word size) {
    NOTE();
    volatile char room[64] __attribute__((aligned(64)));
    room[size & 63] = 3;
    return variable(size + 5) + room[size & 63] + ((word)room & 63);
}

F static word recursive(word depth) {
    NOTE();
    return depth == 0 ? aligned(40) + 1 : recursive(depth - 1) * 2 + depth;
}

void begin(void) {
    NOTE();
    volatile word result = recursive(4);
    (void)result;
}
