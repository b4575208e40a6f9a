/** The reason why `ebb install` could not copy itself: an error of node:fs, and what is known about the destination. */
export interface InstallError {
  /** The name of the system's error, such as `ENOSPC`; undefined for any other error. */
  readonly code: string | undefined;
  readonly message: string;
  /** The path of the copy, and its folder. */
  readonly dest: string;
  readonly folder: string;
  readonly neededBytes: number;
  /** The free space of the volume; undefined if the system does not tell it. */
  readonly freeBytes: number | undefined;
  readonly uid: number | undefined;
}

/**
 * Returns one sentence that says why there is no copy and what to do about it, for the person who mounted the volume.
 */
export function explainInstallError({ code, message, dest, folder, ...place }: InstallError): string {
  switch (code) {
    case "ENOENT":
      return `${dest}: there is no folder ${folder}; mount the volume there, or name a folder that exists`;
    case "ENOTDIR":
      return `${dest}: ${folder} is not a folder`;
    case "EROFS":
      return `${dest}: the volume is read-only; mount it without readOnly in the container that installs`;
    case "ENOSPC":
    case "EDQUOT":
      return `${dest}: the volume is full: a copy takes ${Math.ceil(place.neededBytes / 1e6)} MB${freeText(place)}`;
    case "EACCES":
    case "EPERM":
      return `${dest}: user ${place.uid} may not write to ${folder}; set fsGroup in the pod's securityContext, or another user`;
    default:
      return `${dest}: ${message}`;
  }
}

/**
 * Returns how much is free. If that is enough, the number of files or a quota must be used up, and the text says so.
 */
function freeText({ freeBytes, neededBytes }: Pick<InstallError, "freeBytes" | "neededBytes">): string {
  if (freeBytes === undefined) return "";
  const free = `, ${Math.floor(freeBytes / 1e6)} MB are free`;
  return freeBytes < neededBytes ? free : `${free}, but no more files, or no more for this user`;
}
