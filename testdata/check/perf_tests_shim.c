/* Stands between a program and perf_event_open, for perf_tests.py. Loaded by LD_PRELOAD.
 *
 * With FAKE_EVENTS=1, an event that this machine lacks is replaced by the software event `dummy` with the same switches,
 * so that what a program asks for can be seen on a machine without the hardware.
 *
 * With STORE_EVENTS=1, each event that was opened is written to a file in the folder $PERF_TEST_ATTR, in the format that
 * perf's own hook writes and perf's attr.py reads. `size` is written as *, which equals everything: perf passes the newest
 * struct, perfdata the smallest that holds the fields in use, and the kernel extends both by zeros. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static long (*kernel)(long, ...);

static void store(const struct perf_event_attr *attr, int pid, int cpu, int fd, int group_fd, unsigned long flags)
{
	const char *folder = getenv("PERF_TEST_ATTR");
	char path[4096];
	FILE *file;

	if (!folder || !getenv("STORE_EVENTS"))
		return;
	snprintf(path, sizeof(path), "%s/event-%u-%llu-%d", folder, attr->type, (unsigned long long)attr->config, fd);
	file = fopen(path, "w");
	if (!file)
		return;
	fprintf(file, "[event-%u-%llu-%d]\n", attr->type, (unsigned long long)attr->config, fd);
	fprintf(file, "fd=%d\ngroup_fd=%d\ncpu=%d\npid=%d\nflags=%lu\nsize=*\n", fd, group_fd, cpu, pid, flags);
#define NUMBER(field) fprintf(file, #field "=%llu\n", (unsigned long long)attr->field)
	NUMBER(type); NUMBER(config); NUMBER(sample_period); NUMBER(sample_type); NUMBER(read_format);
	NUMBER(disabled); NUMBER(inherit); NUMBER(pinned); NUMBER(exclusive); NUMBER(exclude_user);
	NUMBER(exclude_kernel); NUMBER(exclude_hv); NUMBER(exclude_idle); NUMBER(mmap); NUMBER(comm); NUMBER(freq);
	NUMBER(inherit_stat); NUMBER(enable_on_exec); NUMBER(task); NUMBER(watermark); NUMBER(precise_ip);
	NUMBER(mmap_data); NUMBER(sample_id_all); NUMBER(exclude_host); NUMBER(exclude_guest);
	NUMBER(exclude_callchain_kernel); NUMBER(exclude_callchain_user); NUMBER(mmap2); NUMBER(comm_exec);
	NUMBER(context_switch); NUMBER(write_backward); NUMBER(namespaces); NUMBER(use_clockid);
	NUMBER(wakeup_events); NUMBER(bp_type); NUMBER(config1); NUMBER(config2); NUMBER(branch_sample_type);
	NUMBER(sample_regs_user); NUMBER(sample_stack_user);
	fclose(file);
}

static int open_event(const struct perf_event_attr *given, int pid, int cpu, int group_fd, unsigned long flags)
{
	struct perf_event_attr attr = {0}, asked;
	size_t size = given->size ? given->size : PERF_ATTR_SIZE_VER0;
	int fd = kernel(SYS_perf_event_open, given, pid, cpu, group_fd, flags);
	int is_hardware = given->type == PERF_TYPE_HARDWARE || given->type == PERF_TYPE_HW_CACHE ||
			  given->type == PERF_TYPE_RAW;

	memcpy(&attr, given, size < sizeof(attr) ? size : sizeof(attr));
	asked = attr;
	if (fd < 0 && is_hardware && getenv("FAKE_EVENTS") &&
	    (errno == ENOENT || errno == EOPNOTSUPP || errno == EINVAL || errno == ENODEV)) {
		attr.size = sizeof(attr);
		attr.type = PERF_TYPE_SOFTWARE;
		attr.config = PERF_COUNT_SW_DUMMY;
		attr.config1 = attr.config2 = 0;
		attr.precise_ip = 0;
		attr.sample_type &= ~(PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_INTR);
		attr.branch_sample_type = attr.sample_regs_intr = 0;
		fd = kernel(SYS_perf_event_open, &attr, pid, cpu, group_fd, flags);
	}
	if (fd >= 0) {
		int saved = errno;

		store(&asked, pid, cpu, fd, group_fd, flags);
		errno = saved;
	}
	return fd;
}

long syscall(long number, ...)
{
	va_list list;
	long a[6];

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (!kernel)
		kernel = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	if (number == SYS_perf_event_open)
		return open_event((const struct perf_event_attr *)a[0], a[1], a[2], a[3], a[4]);
	return kernel(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
