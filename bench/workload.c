/* Makes events for as long as it is told to: workload cpu|fault|mix SECONDS [DEPTH] */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

/* Burns some time DEPTH calls down. */
__attribute__((noinline)) static unsigned long burn(int depth, unsigned long x)
{
	volatile char frame[64];

	frame[0] = x;
	if (depth == 0) {
		for (int i = 0; i < 50; i++)
			x = x * 6364136223846793005UL + 1442695040888963407UL;
		sink += x;
		return x;
	}
	x = burn(depth - 1, x + frame[0]) + 1;
	sink += x;
	return x;
}

/* Touches every page of PAGES DEPTH calls down. */
__attribute__((noinline)) static int touch(int depth, char *pages, size_t size)
{
	volatile char frame[400];

	frame[0] = 1;
	if (depth == 0) {
		for (size_t at = 0; at < size; at += 4096)
			pages[at] = 1;
		return frame[0];
	}
	return touch(depth - 1, pages, size) + frame[0];
}

/* A page fault for each page of SIZE bytes. */
static void fault(int depth, size_t size)
{
	char *pages = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		exit(1);
	madvise(pages, size, MADV_NOHUGEPAGE);
	touch(depth, pages, size);
	munmap(pages, size);
}

static unsigned long burn_often(unsigned long x)
{
	for (int i = 0; i < 100; i++)
		x = burn(5 + (x & 15), x);
	return x;
}

int main(int argc, char **argv)
{
	unsigned long x = 1;

	if (argc < 3)
		return 2;
	int depth = argc > 3 ? atoi(argv[3]) : 0;
	double end = now() + atof(argv[2]);

	while (now() < end) {
		if (!strcmp(argv[1], "cpu")) {
			x = burn_often(x);
		} else if (!strcmp(argv[1], "fault")) {
			fault(depth, 4 << 20);
		} else if (!strcmp(argv[1], "mix")) {
			x = burn_often(x);
			fault(x & 15, 1 << 20);
			for (int i = 0; i < 100; i++)
				getppid();
			usleep(1);
		} else {
			return 2;
		}
	}
	return 0;
}
