/*
 * The command that make.sh records: program [jit].
 *
 * It needs no C library, so every frame of its user code is in one small file. It calls
 * outer, middle and one of two leaves. With an argument it also calls two functions that it
 * makes at run time, and describes them in a jitdump.
 */
#define NOINLINE __attribute__((noinline, noclone))

/* Not in .bss: perf takes names of objects there for names of functions. */
static volatile unsigned long sink = 1;

static long call(long n, long a, long b, long c, long d, long e, long f)
{
	long result;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

NOINLINE void leaf_add(long rounds)
{
	for (long i = 0; i < rounds * 100000; i++)
		sink += i;
}

NOINLINE void leaf_touch(long rounds)
{
	unsigned long length = 4 * 4096;
	volatile unsigned char *area = (void *)call(9, 0, length, 3, 0x22, -1, 0);

	for (unsigned long at = 0; at < length; at += 4096)
		area[at] = rounds;
	sink++;
}

NOINLINE void middle(long rounds)
{
	leaf_add(rounds);
	leaf_touch(rounds);
	sink++;
}

NOINLINE void outer(long rounds)
{
	middle(rounds);
	sink++;
}

struct load {
	unsigned int id, size;
	unsigned long time;
	unsigned int pid, tid;
	unsigned long vma, code, len, index;
	char name[16];
};

static unsigned long now(void)
{
	long time[2];

	call(228, 1, (long)time, 0, 0, 0, 0);
	return time[0] * 1000000000UL + time[1];
}

NOINLINE void jit(void)
{
	/* push %rbp; mov %rsp,%rbp; mov $20000000,%ecx; 1: dec %ecx; jnz 1b; pop %rbp; ret */
	static const unsigned char code[16] = {
		0x55, 0x48, 0x89, 0xe5, 0xb9, 0x00, 0x2d, 0x31, 0x01, 0xff, 0xc9, 0x75, 0xfc, 0x5d, 0xc3, 0x90,
	};
	unsigned char *area = (void *)call(9, 0, 4096, 7, 0x22, -1, 0);
	unsigned int pid = call(39, 0, 0, 0, 0, 0, 0);
	char path[] = "jit-0000000.dump";
	unsigned int rest = pid;
	int file;
	struct {
		unsigned int magic, version, size, machine, pad, pid;
		unsigned long time, flags;
	} head = { 0x4a695444, 1, 40, 62, 0, pid, now(), 0 };

	/* jit-PID.dump, without leading zeros. */
	char digits[8], *name = path + 4;
	int count = 0;

	do
		digits[count++] = '0' + rest % 10;
	while ((rest /= 10));
	while (count)
		*name++ = digits[--count];
	for (const char *end = ".dump"; *end; end++)
		*name++ = *end;
	*name = 0;
	file = call(2, (long)path, 0102, 0644, 0, 0, 0);
	call(1, file, (long)&head, sizeof head, 0, 0, 0);
	call(9, 0, 4096, 5, 2, file, 0);
	for (unsigned long i = 0; i < 2; i++) {
		unsigned char *at = area + 64 * i;
		struct load load = { 0, sizeof load + sizeof code, 0, pid, pid, (unsigned long)at,
				     (unsigned long)at, sizeof code, i, "jitted_step_?" };

		for (int j = 0; j < 16; j++)
			at[j] = code[j];
		load.name[12] = '1' + i;
		load.time = now();
		call(1, file, (long)&load, sizeof load, 0, 0, 0);
		call(1, file, (long)code, sizeof code, 0, 0, 0);
		((void (*)(void))at)();
		sink++;
	}
}

NOINLINE void begin(long arguments)
{
	for (long i = 0; i < 3; i++)
		outer(100);
	if (arguments > 1)
		jit();
	call(231, 0, 0, 0, 0, 0, 0);
}

__asm__(".globl _start\n.type _start,@function\n_start: mov (%rsp),%rdi\n\txor %ebp,%ebp\n\tcall begin\n\thlt\n.size _start,.-_start\n");
