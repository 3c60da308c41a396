import { type Duration, isPlainObject } from '@perdure/protocol'
import { durationProblem } from '../durable/check-options.ts'
import type { ObservedRuns } from '../recording/observed-runs.ts'
import type { RecordedUsage, RunRecording } from '../recording/recording.ts'
import type { BudgetOptions } from './budget-options.ts'

/** What a scorer says. */
export interface Score {
  readonly pass: boolean
  /** A number from 0 to 1, for scorers that grade. */
  readonly value?: number
  /** Why, in one line. */
  readonly reason?: string
  /** The scorer itself failed, so `pass` says nothing about the run. Set for a scorer that throws. */
  readonly isError?: true
}

/**
 * Checks what a scorer returned; a boolean is enough.
 *
 * @throws TypeError for a value of another form
 */
export function readScore(value: unknown, scorer: string): Score {
  if (typeof value === 'boolean') return { pass: value }
  const { pass, value: grade, reason } = (isPlainObject(value) ? value : {}) as Readonly<Record<string, unknown>>
  const isGrade = grade === undefined || typeof grade === 'number'
  const isReason = reason === undefined || typeof reason === 'string'
  if (typeof pass === 'boolean' && isGrade && isReason)
    return { pass, ...(grade === undefined ? {} : { value: grade }), ...(reason === undefined ? {} : { reason }) }
  const given = (JSON.stringify(value) ?? String(value)).slice(0, 200)
  throw new TypeError(
    `the scorer ${scorer} returned ${given}; return true, false or { pass: boolean, value?: number, reason?: string }`,
  )
}

/** What scorers can use beside the run that they judge. */
export interface ScorerTools {
  /** Returns the recorded value of this key, or calls `ask` and records what it returns, so that it is paid for once. */
  recorded<T>(key: string, ask: () => Promise<T>): Promise<T>
  /** Counts what the scorer itself has used. */
  charge(usage: RecordedUsage): void
}

/** A run that has ended. */
export interface ScoredRun extends ObservedRuns {
  readonly case: { readonly id: string; readonly input: unknown; readonly recordings: readonly RunRecording[] }
  /** The text of the last answer. */
  readonly text: string
  readonly result: unknown
  readonly status: string
  readonly error?: string | undefined
  readonly waitingFor: readonly string[]
}

/** A part of a trial: `log` has the calls of tools and models and the decisions. */
export type ScorerSource = 'result' | 'usage' | 'text' | 'log' | 'expected'

/** A scorer of `perdure/evals` that needs no expectation of a case. */
export interface RunScorer {
  readonly name: string
  /** What the scorer reads. Without `log`, the log of the run is not read for it. Default: unknown, so everything. */
  readonly reads?: readonly ScorerSource[]
  score(run: ScoredRun, tools: ScorerTools): Score | Promise<Score>
  /** Checks the scorer itself before it judges anything. Resolves with what is wrong with it. */
  check?(tools: ScorerTools): Promise<string | undefined>
}

/** Scorers that judge runs after their end, each time in a run of its own. */
export interface ScoringOptions {
  /** The scorers, each with a name of its own. */
  readonly use: readonly RunScorer[]
  /** The share of the runs that are judged, from 0 to 1. Default 1. */
  readonly sample?: number
  /** Ends a scorer that takes longer: its score is an error. Each of its three tries has this time. Default 1 minute. */
  readonly timeout?: Duration
  /** Limits each run that judges another. */
  readonly budget?: BudgetOptions
}

/** The id of the agent whose runs judge those of an agent or workflow. */
export const scoringAgentId = (targetId: string): string => `${targetId}-scorers`

export function scoringProblemOf(scorers: unknown): string | undefined {
  if (scorers === undefined) return undefined
  if (!isPlainObject(scorers)) return 'scorers must be { use, sample, timeout, budget }'
  const { use, sample = 1, timeout, budget: _, ...more } = scorers as unknown as ScoringOptions
  const [unknown] = Object.keys(more)
  if (unknown !== undefined) return `scorers has no member ${unknown}`
  if (!Array.isArray(use) || use.length === 0 || !use.every(isScorer))
    return 'scorers.use must be a list of scorers, each with a name of 1 to 128 characters'
  const twice = use.find(({ name }, at) => use.findIndex((other) => other.name === name) < at)
  if (twice !== undefined) return `scorers.use has two scorers named ${twice.name}`
  const needing = use.find(({ reads }) => reads?.includes('expected'))
  if (needing !== undefined)
    return `scorers.use: ${needing.name} compares with expected of a case, which a run does not have; pass the text, as in similarText('…')`
  if (!(typeof sample === 'number' && sample >= 0 && sample <= 1)) return 'scorers.sample must be from 0 to 1'
  return durationProblem('scorers.timeout', timeout, { min: 1 })
}

const MAX_NAME_LENGTH = 128

const isScorer = (value: unknown): boolean =>
  isPlainObject(value) &&
  typeof value.name === 'string' &&
  value.name.length > 0 &&
  value.name.length <= MAX_NAME_LENGTH &&
  typeof value.score === 'function'
