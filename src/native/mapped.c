/* Takes the executable's own pages out of this process's memory once it only waits. */
#include "native.h"
#include <elf.h>
#include <link.h>
#include <sys/mman.h>

/*
 * Releases the segments that are never written. What the dynamic linker or JavaScriptCore have made read-only later is in
 * segments that are writable, and would lose what was written. The pages stay in the page cache, as inactive: the
 * kubelet does not count these to the pod's working set, and the kernel takes them first.
 */
static int release(struct dl_phdr_info *executable, size_t size, void *unused) {
  (void)size, (void)unused;
  long page = sysconf(_SC_PAGESIZE);
  for (int i = 0; i < executable->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &executable->dlpi_phdr[i];
    if (segment->p_type != PT_LOAD || (segment->p_flags & PF_W) != 0) continue;
    uintptr_t end = executable->dlpi_addr + segment->p_vaddr + segment->p_filesz;
    uintptr_t start = (executable->dlpi_addr + segment->p_vaddr) & -page;
    madvise((void *)start, end - start, MADV_COLD);
    madvise((void *)start, end - start, MADV_DONTNEED);
  }
  return 1; /* the executable is the first object */
}

void ebb_release_pages(void) { dl_iterate_phdr(release, NULL); }
