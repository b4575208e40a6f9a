const texts: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EADDRINUSE: "the address is in use",
  EADDRNOTAVAIL: "this machine has no such address",
  EISDIR: "it is a folder",
  ELOOP: "too many symbolic links",
  ENOENT: "no such file or folder",
  ENOSPC: "no space left on the device",
  ENOTDIR: "a part of the path is not a folder",
  EPERM: "permission denied",
  EROFS: "the file system is read-only",
};

/**
 * Describes an error of node:fs, node:net or Bun.serve in a few words, without the path or address that its message
 * repeats. Returns the message of any other error.
 */
export function describeSystemError(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return texts[code ?? ""] ?? message;
}
