/** Returns the name of the Secret with the CA of the webhook of this name. */
export function secretName(name: string): string {
  return `${name}-certificates`;
}
