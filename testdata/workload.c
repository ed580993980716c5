/*
 * The commands that record.sh records: workload MODE [COUNT].
 *
 * Each mode does only one thing, COUNT times, so that its capture is small and has
 * the expected records.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The breakpoint and the uprobe of record.sh are set on these two symbols. */
volatile unsigned long watched;
__attribute__((noinline)) void probed(unsigned long n) { watched = n; }

static volatile unsigned long sink;

static void check(int ok, const char *what)
{
	if (!ok) {
		perror(what);
		exit(1);
	}
}

__attribute__((noinline)) static void spin(long rounds)
{
	unsigned long x = 1;

	for (long i = 0; i < rounds * 100000; i++)
		x = x * 6364136223846793005UL + 1442695040888963407UL;
	sink = x;
}

/* Touches `pages` fresh pages, each of which faults once. */
__attribute__((noinline)) static void touch(long pages)
{
	size_t length = pages * 4096;
	char *area = mmap(NULL, length, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	check(area != MAP_FAILED, "mmap");
	madvise(area, length, MADV_NOHUGEPAGE);
	for (size_t at = 0; at < length; at += 4096)
		area[at] = 1;
	munmap(area, length);
}

/* Calls `work` below `depth` more frames. */
__attribute__((noinline)) static unsigned long deep(int depth, void (*work)(long), long n)
{
	if (depth == 0) {
		work(n);
		return 0;
	}
	unsigned long below = deep(depth - 1, work, n);

	sink += below;
	return below + 1;
}

static void *thread_main(void *arg)
{
	char name[16];
	long n = (long)arg;

	snprintf(name, sizeof name, "thread-%ld", n);
	prctl(PR_SET_NAME, name);
	spin(20);
	touch(8);
	return NULL;
}

static void threads(long n)
{
	pthread_t ids[16];

	n = n > 16 ? 16 : n;
	for (long i = 0; i < n; i++)
		check(pthread_create(&ids[i], NULL, thread_main, (void *)i) == 0, "pthread_create");
	for (long i = 0; i < n; i++)
		pthread_join(ids[i], NULL);
}

static void wait_for(pid_t child)
{
	int status;

	check(child > 0, "fork");
	check(waitpid(child, &status, 0) == child && status == 0, "child");
}

static void forks(long n)
{
	for (long i = 0; i < n; i++) {
		pid_t child = fork();

		if (child == 0) {
			touch(4);
			_exit(0);
		}
		wait_for(child);
	}
}

static void execs(long n)
{
	for (long i = 0; i < n; i++) {
		pid_t child = fork();

		if (child == 0) {
			execl("/bin/true", "true", (char *)NULL);
			_exit(127);
		}
		wait_for(child);
	}
}

/* Passes a byte back and forth between two tasks. */
static void pings(long n)
{
	int to[2], from[2];
	char byte = 0;

	check(pipe(to) == 0 && pipe(from) == 0, "pipe");
	pid_t child = fork();

	if (child == 0) {
		close(to[1]);
		while (read(to[0], &byte, 1) == 1)
			check(write(from[1], &byte, 1) == 1, "write");
		_exit(0);
	}
	for (long i = 0; i < n; i++) {
		check(write(to[1], &byte, 1) == 1, "write");
		check(read(from[0], &byte, 1) == 1, "read");
	}
	close(to[1]);
	wait_for(child);
}

static void unshares(long n)
{
	for (long i = 0; i < n; i++) {
		pid_t child = fork();

		if (child == 0) {
			check(unshare(CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNS) == 0, "unshare");
			touch(4);
			_exit(0);
		}
		wait_for(child);
	}
}

/* Makes a cgroup below the folder in CGROUP_ROOT, enters and removes it. */
static void cgroups(long n)
{
	const char *root = getenv("CGROUP_ROOT");
	char folder[256], procs[300], pid[16];

	check(root != NULL, "CGROUP_ROOT");
	for (long i = 0; i < n; i++) {
		snprintf(folder, sizeof folder, "%s/capture-%ld", root, i);
		snprintf(procs, sizeof procs, "%s/cgroup.procs", folder);
		check(mkdir(folder, 0755) == 0, "mkdir");
		pid_t child = fork();

		if (child == 0) {
			int fd = open(procs, O_WRONLY);
			int length = snprintf(pid, sizeof pid, "%d", (int)getpid());

			check(fd >= 0 && write(fd, pid, length) == length, "cgroup.procs");
			spin(50);
			touch(8);
			_exit(0);
		}
		wait_for(child);
		check(rmdir(folder) == 0, "rmdir");
	}
}

/* Loads the smallest BPF program (return 0) and unloads it. */
static void bpfs(long n)
{
	static const struct bpf_insn code[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	for (long i = 0; i < n; i++) {
		union bpf_attr attr = {
			.prog_type = BPF_PROG_TYPE_SOCKET_FILTER,
			.insns = (unsigned long)code,
			.insn_cnt = sizeof code / sizeof code[0],
			.license = (unsigned long)"GPL",
		};

		strcpy(attr.prog_name, "capture");
		int fd = syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof attr);

		check(fd >= 0, "BPF_PROG_LOAD");
		close(fd);
	}
}

/* Maps its own code as data, shared and private, executable and not. */
static void maps(long n)
{
	static const int prots[] = { PROT_READ, PROT_READ | PROT_EXEC, PROT_NONE };
	int fd = open("/proc/self/exe", O_RDONLY);

	check(fd >= 0, "open");
	for (long i = 0; i < n; i++) {
		int flags = i % 2 ? MAP_SHARED : MAP_PRIVATE;
		void *area = mmap(NULL, 4096, prots[i % 3], flags, fd, 0);

		check(area != MAP_FAILED, "mmap");
		munmap(area, 4096);
	}
}

/* Faults in bursts, with pauses between them in which a reader can catch up. */
static void bursts(long n)
{
	for (long i = 0; i < n; i++) {
		touch(200);
		usleep(2000);
	}
}

static void probes(long n)
{
	for (long i = 0; i < n; i++)
		probed(i);
}

static void deep_spin(long n) { deep(12, spin, n); }
static void deep_touch(long n) { deep(12, touch, n); }

static void *twin(void *arg)
{
	for (;;)
		deep_spin((long)arg);
	return NULL;
}

/* Two threads that compute until they are killed, or for two minutes if nobody does. */
static void twins(long n)
{
	pthread_t id;

	alarm(120);
	check(pthread_create(&id, NULL, twin, (void *)n) == 0, "pthread_create");
	twin((void *)n);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(long);
	} modes[] = {
		{ "spin", deep_spin }, { "touch", deep_touch }, { "threads", threads },
		{ "forks", forks },    { "execs", execs },      { "pings", pings },
		{ "unshares", unshares }, { "cgroups", cgroups }, { "bpfs", bpfs },
		{ "maps", maps },      { "probes", probes },    { "bursts", bursts },
		{ "twins", twins },
	};
	long n = argc > 2 ? atol(argv[2]) : 1;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (size_t i = 0; argc > 1 && i < sizeof modes / sizeof modes[0]; i++)
		if (strcmp(argv[1], modes[i].name) == 0) {
			modes[i].run(n);
			return 0;
		}
	fprintf(stderr, "usage: workload MODE [COUNT]\n");
	return 1;
}
