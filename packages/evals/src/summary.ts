import { NO_RECORDED_USAGE as NOTHING, sumOfUsage as sum } from '@perdure/core'
import type { EvalDefinition } from './define-eval.ts'
import type { TrialEntry } from './results.ts'
import { type Interval, type Proportion, wilsonInterval } from './statistics.ts'
import type { TrialUsage } from './trial.ts'

export interface RateSummary extends Proportion {
  /** Missing without trials. */
  readonly rate?: number
  /** The 95 % confidence interval of the rate (Wilson). */
  readonly interval: Interval
}

export interface CaseSummary extends RateSummary {
  readonly id: string
  /** `flaky`: some tries passed and some failed. */
  readonly status: 'passed' | 'failed' | 'flaky'
  /** Why the first failed try failed. */
  readonly reason?: string
}

export interface EvalSummary extends RateSummary {
  readonly name: string
  readonly ok: boolean
  /** The thresholds that are not met. */
  readonly problems: readonly string[]
  /** The scorers that failed themselves, each with the first reason. Their trials count as failed. */
  readonly scorerErrors: readonly string[]
  readonly scorers: readonly (RateSummary & { readonly name: string })[]
  readonly cases: readonly CaseSummary[]
  readonly usage: TrialUsage
  /** The longest trial in milliseconds. */
  readonly slowestMs: number
}

/** Sums up the trials of an eval, and compares them with its thresholds. */
export function summarize(
  { name, thresholds }: Pick<EvalDefinition, 'name' | 'thresholds'>,
  all: readonly TrialEntry[],
): EvalSummary {
  const trials = all.filter((trial) => trial.eval === name)
  const scorerNames = new Set(trials.flatMap(({ scores }) => scores.map((score) => score.name)))
  const scorers = [...scorerNames].map((scorer) => ({
    name: scorer,
    ...rateOf(trials.flatMap(({ scores }) => scores.filter((score) => score.name === scorer).map(({ pass }) => pass))),
  }))
  const whole = rateOf(trials.map(({ pass }) => pass))
  const problems = problemsOf(thresholds, { whole, scorers })
  return {
    ...{ name, ok: problems.length === 0, problems, scorerErrors: scorerErrorsIn(trials), ...whole, scorers },
    cases: [...Map.groupBy(trials, (trial) => trial.case)].map(([id, tries]) => caseSummary(id, tries)),
    usage: trials.flatMap(({ usage, judged }) => [usage, judged]).reduce(sum, NOTHING),
    slowestMs: Math.max(0, ...trials.map(({ ms }) => ms)),
  }
}

function scorerErrorsIn(trials: readonly TrialEntry[]): readonly string[] {
  const broken = trials.flatMap(({ scores }) => scores.filter(({ isError }) => isError === true))
  return [...Map.groupBy(broken, ({ name }) => name)].map(
    ([name, all]) => `the scorer ${name} failed in ${all.length} of ${trials.length} trials: ${all[0]?.reason}`,
  )
}

function rateOf(passes: readonly boolean[]): RateSummary {
  const proportion = { passed: passes.filter(Boolean).length, trials: passes.length }
  const { passed, trials } = proportion
  return { ...proportion, ...(trials === 0 ? {} : { rate: passed / trials }), interval: wilsonInterval(proportion) }
}

function caseSummary(id: string, tries: readonly TrialEntry[]): CaseSummary {
  const rate = rateOf(tries.map(({ pass }) => pass))
  const status = rate.passed === rate.trials ? 'passed' : rate.passed === 0 ? 'failed' : 'flaky'
  const reason = tries.map(reasonOf).find((one) => one !== undefined)
  return { id, status, ...rate, ...(reason === undefined ? {} : { reason }) }
}

/** Why a trial failed; `undefined` for one that passed. */
export function reasonOf({ pass, error, scores, waiting }: TrialEntry): string | undefined {
  if (pass) return undefined
  const failed = scores.filter((score) => !score.pass)
  const said = failed.map(({ name, reason }) => (reason === undefined ? name : `${name}: ${reason}`))
  return [error, ...said, waiting].filter((one) => one !== undefined).join('; ')
}

interface Rates {
  readonly whole: RateSummary
  readonly scorers: readonly (RateSummary & { readonly name: string })[]
}

function problemsOf(
  { passRate = 1, lowerBound, scorers: limits = {} }: EvalDefinition['thresholds'],
  { whole, scorers }: Rates,
): readonly string[] {
  const { rate, interval } = whole
  if (rate === undefined) return ['no trial was made']
  const problems: string[] = []
  if (rate < passRate) problems.push(`${percent(rate)} passed, the threshold is ${percent(passRate)}`)
  if (lowerBound !== undefined && interval.low < lowerBound) {
    problems.push(`the interval begins at ${percent(interval.low)}, the threshold is ${percent(lowerBound)}`)
  }
  for (const { name, rate: ofScorer = 0 } of scorers) {
    const limit = limits[name]
    if (limit !== undefined && ofScorer < limit)
      problems.push(`${name}: ${percent(ofScorer)} passed, the threshold is ${percent(limit)}`)
  }
  return problems
}

export const percent = (rate: number): string => `${(rate * 100).toFixed(1)} %`
