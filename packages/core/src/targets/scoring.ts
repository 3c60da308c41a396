import { isPlainObject } from '@perdure/protocol'
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

/** A scorer of `perdure/evals` that needs no expectation of a case. */
export interface RunScorer {
  readonly name: string
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
  /** Limits each run that judges another. */
  readonly budget?: BudgetOptions
}

/** The id of the agent whose runs judge those of an agent or workflow. */
export const scoringAgentId = (targetId: string): string => `${targetId}-scorers`

export function scoringProblemOf(scorers: unknown): string | undefined {
  if (scorers === undefined) return undefined
  if (!isPlainObject(scorers)) return 'scorers must be { use, sample, budget }'
  const { use, sample = 1, budget: _, ...more } = scorers as unknown as ScoringOptions
  const [unknown] = Object.keys(more)
  if (unknown !== undefined) return `scorers has no member ${unknown}`
  if (!Array.isArray(use) || use.length === 0 || !use.every(isScorer))
    return 'scorers.use must be a list of scorers, each with a name of 1 to 128 characters'
  if (new Set(use.map(({ name }) => name)).size < use.length) return 'scorers.use has two scorers of one name'
  return typeof sample === 'number' && sample >= 0 && sample <= 1 ? undefined : 'scorers.sample must be from 0 to 1'
}

const MAX_NAME_LENGTH = 128

const isScorer = (value: unknown): boolean =>
  isPlainObject(value) &&
  typeof value.name === 'string' &&
  value.name.length > 0 &&
  value.name.length <= MAX_NAME_LENGTH &&
  typeof value.score === 'function'
