/** What stood in the way of a copy: an error of node:fs, and what is known about the place. */
export interface Obstacle {
  /** `ENOSPC`; undefined for what is no error of the system. */
  readonly code: string | undefined;
  readonly message: string;
  /** The file that was to be written, and the folder that it stands in. */
  readonly dest: string;
  readonly folder: string;
  readonly neededBytes: number;
  /** undefined where the system does not say it. */
  readonly freeBytes: number | undefined;
  readonly uid: number | undefined;
}

/** Why there is no copy, and what to do about it, in one sentence for whoever mounted the volume. */
export function explainObstacle({ code, message, dest, folder, ...place }: Obstacle): `${string}: ${string}` {
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

/** With room enough, it is the number of files, or a quota, that is used up. */
function freeText({ freeBytes, neededBytes }: Pick<Obstacle, "freeBytes" | "neededBytes">): string {
  if (freeBytes === undefined) return "";
  const free = `, ${Math.floor(freeBytes / 1e6)} MB are free`;
  return freeBytes < neededBytes ? free : `${free}, but no more files, or no more for this user`;
}
