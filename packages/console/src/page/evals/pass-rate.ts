/** How many of some judgements passed. */
export interface PassRate {
  readonly passed: number
  readonly count: number
}

export const passRateOf = (passes: readonly boolean[]): PassRate => ({
  passed: passes.filter(Boolean).length,
  count: passes.length,
})

/** The 97.5th percentile of the normal distribution. */
const Z = 1.959_963_984_540_054

/** The rate with its 95 % confidence interval (Wilson), as `perdure eval` prints it. */
export function rateText({ passed, count }: PassRate): string {
  if (count === 0) return '–'
  const rate = passed / count
  const z2 = (Z * Z) / count
  const centre = (rate + z2 / 2) / (1 + z2)
  const half = (Z * Math.sqrt((rate * (1 - rate)) / count + z2 / (4 * count))) / (1 + z2)
  const percent = (share: number) => (100 * Math.min(1, Math.max(0, share))).toFixed(1)
  return `${percent(rate)} % (${percent(centre - half)} – ${percent(centre + half)})`
}
