/** The number of runs that kept all promises, and of those that did not. */
export interface Result {
  readonly passed: number;
  readonly failed: number;
}

/** Adds results. */
export function sum(results: readonly Result[]): Result {
  let passed = 0;
  let failed = 0;
  for (const result of results) {
    passed += result.passed;
    failed += result.failed;
  }
  return { passed, failed };
}
