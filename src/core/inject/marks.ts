/** Of all annotations and labels that are ebb's. */
export const PREFIX = "ebb.dev/";
/** The annotation that asks for ebb, or keeps it out; and the label of a namespace. */
export const ASK = "ebb.dev/inject";
/** The annotation that says what ebb has put into a pod, so that it can be put there anew, or taken out. */
export const STATUS = "ebb.dev/status";
/** The init container that copies ebb; a number behind it where the pod has one of that name. */
export const INSTALL = "ebb-install";

/** Whether an annotation or a label is ebb's. */
export function isEbbKey(name: string): boolean {
  return name.startsWith(PREFIX);
}
