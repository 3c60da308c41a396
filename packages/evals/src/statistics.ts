/** How many of several tries passed. */
export interface Proportion {
  readonly passed: number
  readonly trials: number
}

export interface Interval {
  readonly low: number
  readonly high: number
}

const Z_95 = 1.959963984540054

/** The 95 % confidence interval of Wilson for the true rate behind a proportion. Without trials it is from 0 to 1. */
export function wilsonInterval({ passed, trials }: Proportion, z: number = Z_95): Interval {
  if (trials === 0) return { low: 0, high: 1 }
  const rate = passed / trials
  const spread = z * z
  const center = (rate + spread / (2 * trials)) / (1 + spread / trials)
  const half = (z / (1 + spread / trials)) * Math.sqrt((rate * (1 - rate)) / trials + spread / (4 * trials * trials))
  return { low: Math.max(0, center - half), high: Math.min(1, center + half) }
}

/** Fisher's exact test, two-sided: the probability of a table at least as unlikely as this one. */
export function fisherExact(one: Proportion, other: Proportion): number {
  const passed = one.passed + other.passed
  const all = one.trials + other.trials
  const logOf = (count: number): number =>
    logChoose(one.trials, count) + logChoose(other.trials, passed - count) - logChoose(all, passed)
  const observed = logOf(one.passed)
  let sum = 0
  for (let count = Math.max(0, passed - other.trials); count <= Math.min(one.trials, passed); count++) {
    const log = logOf(count)
    // Tables that are as likely as the observed one differ from it by rounding errors.
    if (log <= observed + 1e-7) sum += Math.exp(log)
  }
  return Math.min(1, sum)
}

function logChoose(all: number, chosen: number): number {
  let log = 0
  for (let index = 1; index <= chosen; index++) log += Math.log(all - chosen + index) - Math.log(index)
  return log
}

/** The z test of two proportions with a pooled rate, two-sided. */
export function zTest(one: Proportion, other: Proportion): number {
  const pooled = (one.passed + other.passed) / (one.trials + other.trials)
  const variance = pooled * (1 - pooled) * (1 / one.trials + 1 / other.trials)
  if (!(variance > 0)) return 1
  const z = Math.abs(one.passed / one.trials - other.passed / other.trials) / Math.sqrt(variance)
  return complementaryError(z / Math.SQRT2)
}

/** The complementary error function for arguments from 0, with a relative error below 1.2e-7 (Numerical Recipes, erfc). */
function complementaryError(x: number): number {
  const t = 1 / (1 + 0.5 * x)
  const coefficients = [
    ...[0.17087277, -0.82215223, 1.48851587, -1.13520398, 0.27886807, -0.18628806, 0.09678418, 0.37409196],
    ...[1.00002368, -1.26551223],
  ]
  return t * Math.exp(-x * x + coefficients.reduce((sum, coefficient) => sum * t + coefficient, 0))
}

export interface Comparison {
  readonly verdict: 'better' | 'worse' | 'same'
  /** The probability of a difference at least this large if both rates are the same. */
  readonly p: number
  readonly test: 'fisher' | 'z'
}

/** From this expected count in each cell on, the z test is exact enough. */
const MIN_EXPECTED = 5
const ALPHA = 0.05

/** Compares two proportions at the level 0.05: Fisher's exact test for small samples, the z test for others. */
export function compareProportions(before: Proportion, after: Proportion): Comparison {
  if (before.trials === 0 || after.trials === 0) return { verdict: 'same', p: 1, test: 'fisher' }
  const rate = (before.passed + after.passed) / (before.trials + after.trials)
  const smallest = Math.min(before.trials, after.trials) * Math.min(rate, 1 - rate)
  const test = smallest < MIN_EXPECTED ? 'fisher' : 'z'
  const p = test === 'fisher' ? fisherExact(before, after) : zTest(before, after)
  const difference = after.passed / after.trials - before.passed / before.trials
  const isSure = p < ALPHA && difference !== 0
  return { verdict: isSure ? (difference > 0 ? 'better' : 'worse') : 'same', p, test }
}
