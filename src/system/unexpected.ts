let goOn: ((error: unknown) => void) | undefined;

/** From now on an error that nobody has caught ends nothing: `call` says it. */
export function surviveErrors(call: (error: unknown) => void): void {
  goOn = call;
}

/** Whether ebb goes on after an error that nobody has caught. */
export function isSurvived(error: unknown): boolean {
  goOn?.(error);
  return goOn !== undefined;
}
