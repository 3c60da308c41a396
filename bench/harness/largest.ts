export interface Search {
  readonly first: number
  readonly step: number
  readonly most: number
}

/** The largest number that meets the condition, or 0: doubles from the first, then bisects down to the step. */
export async function largest(
  { first, step, most }: Search,
  isMet: (count: number) => Promise<boolean>,
): Promise<number> {
  let met = 0
  let failed = first
  while (await isMet(failed)) {
    met = failed
    if (met === most) return met
    failed = Math.min(most, failed * 2)
  }
  while (failed - met > step) {
    const middle = met + Math.max(1, Math.floor((failed - met) / 2 / step)) * step
    if (await isMet(middle)) met = middle
    else failed = middle
  }
  return met
}
