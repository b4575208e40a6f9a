/*
 * Advises the kernel which pages of the executable to read from a disk, and when. A start touches a tenth of it. Left
 * alone, the kernel reads much around each page that is touched (read_ahead_kb of the disk: 128 KiB, on some machines
 * 8 MiB), one after the other.
 */
#include "entry.h"
#include <elf.h>
#include <sys/mman.h>
#include <sys/resource.h>

extern char ebb_image_start[], ebb_image_end[], ebb_runtime_end[];

/*
 * The table of the pages that a start touches, of 4 KiB, from ebb_image_start on: two bytes for each run, the number of
 * pages before it that are left out, and the number of pages that it has; 0, 0 is the end. build/start/start.ts writes
 * it. Without a record for this Bun it is empty, and nothing is done.
 */
__asm__(".pushsection .start.table,\"a\",%progbits\n"
        ".globl ebb_start_table\n"
        "ebb_start_table: .zero 1024\n"
        ".globl ebb_start_table_end\n"
        "ebb_start_table_end:\n"
        ".popsection\n");
extern const unsigned char ebb_start_table[];

#define PAGE 4096l
#define LARGEST_PAGE 65536l
#define PROBES 8
#define MAPPING (1l << 20)

/*
 * Asks for a range. A kernel with larger pages refuses an address inside one of them, and is asked from that page's
 * start on.
 */
START static void read_soon(long from, long size) {
  if (call_kernel(SYS_madvise, from, size, MADV_WILLNEED, 0) != -EINVAL) return;
  long start = from & -LARGEST_PAGE;
  call_kernel(SYS_madvise, start, from + size - start, MADV_WILLNEED, 0);
}

/* Returns the number of major faults so far. */
START static long pages_read(void) {
  struct rusage usage;
  return call_kernel(SYS_getrusage, RUSAGE_SELF, (long)&usage, 0, 0) == 0 ? usage.ru_majflt : 0;
}

/*
 * Reports whether the executable is not in the page cache. Touches a few of the pages that are needed soon anyway, of
 * which one that is not in the cache is a major fault: the first runs, which are constants, because Linux 6.16 and
 * later read ahead in code even after MADV_RANDOM.
 */
START static int is_cold(void) {
  long before = pages_read(), at = (long)ebb_image_start;
  for (const unsigned char *next = ebb_start_table; next < ebb_start_table + 2 * PROBES; next += 2) {
    at += next[0] * PAGE;
    if (next[1] != 0) (void)*(volatile char *)at;
    if (pages_read() != before) return 1;
    at += next[1] * PAGE;
  }
  return 0;
}

START static void advise_all(int advice) {
  call_kernel(SYS_madvise, (long)ebb_image_start, ebb_runtime_end - ebb_image_start, advice, 0);
}

/*
 * Divides the mapping of code into mappings of 1 MiB, by a flag that is about core dumps, which have no code in any
 * case. Linux 6.16 and later read ahead in code whatever is advised, from a page up to the end of its mapping: a page
 * that is not in the table then costs no more than 1 MiB.
 */
START static void divide_code(void) {
  const Elf64_Ehdr *header = (const void *)ebb_image_start;
  const Elf64_Phdr *segment = (const void *)(ebb_image_start + header->e_phoff);
  for (int i = 0; i < header->e_phnum; i++, segment++) {
    if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X)) continue;
    long at = (segment->p_vaddr + MAPPING - 1) & -MAPPING, end = segment->p_vaddr + segment->p_filesz;
    for (; at + MAPPING <= end; at += 2 * MAPPING) call_kernel(SYS_madvise, at, MAPPING, MADV_DONTDUMP, 0);
  }
}

static int is_advised;

/*
 * If the executable is not in memory, asks the kernel for all pages that a start touches, at once, and has it read
 * nothing around them until ebb_end_read_advice. Otherwise changes nothing.
 */
START void ebb_read_pages(void) {
  if ((ebb_start_table[0] | ebb_start_table[1]) == 0) return;
  advise_all(MADV_RANDOM);
  if (!is_cold()) return advise_all(MADV_NORMAL);
  divide_code();
  long at = (long)ebb_image_start;
  for (const unsigned char *next = ebb_start_table; next[0] | next[1]; next += 2) {
    at += next[0] * PAGE;
    if (next[1] != 0) read_soon(at, next[1] * PAGE);
    at += next[1] * PAGE;
  }
  is_advised = 1;
}

/* MADV_RANDOM would also have the kernel take these pages first when memory runs short (Linux 6.3). */
void ebb_end_read_advice(void) {
  if (is_advised) advise_all(MADV_NORMAL);
  is_advised = 0;
}

/*
 * Replaces libc's madvise(). Ignores Bun's request, at its start, for all bytecode of its own modules: a start uses
 * little of it, which is in the table.
 */
int madvise(void *at, size_t size, int advice) {
  if (advice == MADV_WILLNEED && (char *)at >= ebb_image_start && (char *)at < ebb_image_end) return 0;
  return (int)syscall(SYS_madvise, at, size, advice);
}
