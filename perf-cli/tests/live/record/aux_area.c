/*
 * Hardware that writes to AUX areas, for tests on machines without it; preloaded into the recorder.
 *
 * A mapping of a perf event at an offset, which the kernel refuses for an event without AUX area, becomes memory that a
 * thread fills with the numbers 1, 2, 3, ... of 64 bits. It stops when a writable area is full, until an event is enabled,
 * and overwrites another one. Disabling any event stops it, too.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct area {
	struct perf_event_mmap_page *page;
	uint64_t *words;
	size_t size;
	int is_read;
	int is_full;
	uint64_t position;
	struct area *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct area *areas;
static struct perf_event_mmap_page *last_page;
static int is_stopped;

static void fill(struct area *area)
{
	size_t chunk = area->size / 8;
	uint64_t tail = __atomic_load_n(&area->page->aux_tail, __ATOMIC_ACQUIRE);

	area->is_full |= area->is_read && area->position + chunk - tail > area->size;
	if (area->is_full)
		return;
	for (uint64_t at = area->position; at < area->position + chunk; at += 8)
		area->words[at % area->size / 8] = at / 8 + 1;
	area->position += chunk;
	__atomic_store_n(&area->page->aux_head, area->is_read ? area->position : area->position % area->size,
			 __ATOMIC_RELEASE);
}

static void *run(void *unused)
{
	for (;;) {
		usleep(1000);
		pthread_mutex_lock(&lock);
		for (struct area *area = areas; area && !is_stopped; area = area->next)
			fill(area);
		pthread_mutex_unlock(&lock);
	}
	return unused;
}

static int is_perf_event(int fd)
{
	char path[64], target[64] = "";

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return fd >= 0 && readlink(path, target, sizeof(target) - 1) > 0 && strstr(target, "perf_event");
}

void *mmap64(void *address, size_t size, int prot, int flags, int fd, off64_t offset)
{
	void *(*real)(void *, size_t, int, int, int, off64_t) = dlsym(RTLD_NEXT, "mmap64");
	pthread_t thread;

	if (!is_perf_event(fd))
		return real(address, size, prot, flags, fd, offset);
	if (offset == 0)
		return last_page = real(address, size, prot, flags, fd, offset);
	struct area *area = calloc(1, sizeof(*area));
	area->page = last_page;
	area->words = real(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	area->size = size;
	area->is_read = prot & PROT_WRITE;
	pthread_mutex_lock(&lock);
	if (!areas)
		pthread_create(&thread, NULL, run, NULL);
	area->next = areas;
	areas = area;
	pthread_mutex_unlock(&lock);
	return area->words;
}

void *mmap(void *address, size_t size, int prot, int flags, int fd, off_t offset)
{
	return mmap64(address, size, prot, flags, fd, offset);
}

int munmap(void *address, size_t size)
{
	int (*real)(void *, size_t) = dlsym(RTLD_NEXT, "munmap");

	pthread_mutex_lock(&lock);
	for (struct area **at = &areas; *at;)
		if ((void *)(*at)->page == address || (void *)(*at)->words == address)
			*at = (*at)->next;
		else
			at = &(*at)->next;
	pthread_mutex_unlock(&lock);
	return real(address, size);
}

int ioctl(int fd, unsigned long request, ...)
{
	int (*real)(int, unsigned long, void *) = dlsym(RTLD_NEXT, "ioctl");
	va_list arguments;

	va_start(arguments, request);
	void *argument = va_arg(arguments, void *);
	va_end(arguments);
	if (request == PERF_EVENT_IOC_ENABLE || request == PERF_EVENT_IOC_DISABLE) {
		pthread_mutex_lock(&lock);
		is_stopped = request == PERF_EVENT_IOC_DISABLE;
		for (struct area *area = areas; area && !is_stopped; area = area->next)
			area->is_full = 0;
		pthread_mutex_unlock(&lock);
	}
	return real(fd, request, argument);
}
