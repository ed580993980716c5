/*
 * The rings that rings.sh dumps: rings OUTDIR.
 *
 * The event of each ring samples the page faults of this task, which causes them
 * one by one, so that each ring has the expected contents. NAME.ring is a copy of
 * the mapping, and NAME.attr the struct perf_event_attr that was passed to the
 * kernel. area.ring is a data area without its control page, and area.args has
 * its data_head and data_tail.
 */
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 4096

struct recipe {
	const char *name;
	int backward;
	/* Without PROT_WRITE, the kernel overwrites unread records. */
	int writable;
	/* Numbers of faults, of records that are then read, and of further faults. */
	int first, read, second;
};

static const struct recipe recipes[] = {
	/* A sample has 56 bytes, and the data area has one page, so 73 fit. */
	{ "forward-wrapped", 0, 1, 50, 40, 50 },
	{ "forward-lost", 0, 1, 100, 10, 3 },
	{ "forward-overwritten", 0, 0, 100, 0, 0 },
	{ "backward-part", 1, 0, 30, 0, 0 },
	{ "backward-full", 1, 0, 100, 0, 0 },
	{ "area", 0, 1, 60, 50, 30 },
};

static void check(int ok, const char *what)
{
	if (!ok) {
		perror(what);
		exit(1);
	}
}

static void save(const char *folder, const char *name, const char *end, const void *bytes, size_t size)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof path, "%s/%s.%s", folder, name, end);
	file = fopen(path, "w");
	check(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0, path);
}

/* Makes one mapping, and one fault in each of its pages. */
static void fault(int pages)
{
	size_t length = (size_t)pages * PAGE;
	char *area;

	if (pages == 0)
		return;
	area = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	check(area != MAP_FAILED, "mmap");
	madvise(area, length, MADV_NOHUGEPAGE);
	for (size_t at = 0; at < length; at += PAGE)
		area[at] = 1;
	munmap(area, length);
}

/* Releases the oldest records to the kernel. None of them may wrap. */
static void read_records(struct perf_event_mmap_page *page, int records)
{
	const char *data = (const char *)page + PAGE;
	__u64 tail = page->data_tail;

	for (int i = 0; i < records; i++)
		tail += ((const struct perf_event_header *)(data + tail % PAGE))->size;
	__atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
}

static void dump(const struct recipe *recipe, const char *folder)
{
	static char copy[2 * PAGE];
	struct perf_event_attr attr;
	struct perf_event_mmap_page *page;
	int fd, prot = recipe->writable ? PROT_READ | PROT_WRITE : PROT_READ;

	memset(&attr, 0, sizeof attr);
	attr.size = sizeof attr;
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_PAGE_FAULTS;
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |
			   PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
	attr.sample_id_all = 1;
	attr.disabled = 1;
	attr.mmap = 1;
	attr.mmap2 = 1;
	attr.mmap_data = 1;
	attr.write_backward = recipe->backward;
	fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	check(fd >= 0, "perf_event_open");
	page = mmap(NULL, 2 * PAGE, prot, MAP_SHARED, fd, 0);
	check(page != MAP_FAILED, "mmap of the ring");

	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	fault(recipe->first);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	if (recipe->read > 0)
		read_records(page, recipe->read);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	fault(recipe->second);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);

	memcpy(copy, page, sizeof copy);
	save(folder, recipe->name, "attr", &attr, sizeof attr);
	if (strcmp(recipe->name, "area") == 0) {
		char args[80];
		int length = snprintf(args, sizeof args, "--head %llu --tail %llu\n", page->data_head, page->data_tail);

		save(folder, recipe->name, "ring", copy + PAGE, PAGE);
		save(folder, recipe->name, "args", args, length);
	} else {
		save(folder, recipe->name, "ring", copy, sizeof copy);
	}
	munmap(page, 2 * PAGE);
	close(fd);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: rings OUTDIR\n");
		return 1;
	}
	for (size_t i = 0; i < sizeof recipes / sizeof recipes[0]; i++)
		dump(&recipes[i], argv[1]);
	return 0;
}
