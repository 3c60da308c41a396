import type { RunSummary } from '../client/resources.ts'
import { type Fields, isFields } from '../conversation/fold-parts.ts'
import { type PassRate, passRateOf } from './pass-rate.ts'

export interface ShownScore {
  readonly scorer: string
  readonly pass: boolean
  readonly reason?: string | undefined
  /** The scorer itself failed, so that the score does not count. */
  readonly isError: boolean
}

/** What scorers said about one run. */
export interface Judgement {
  /** The run that judged. */
  readonly id: string
  readonly status: RunSummary['status']
  readonly createdAt: string
  /** The run that was judged. */
  readonly runId: string | undefined
  readonly scores: readonly ShownScore[]
}

/** Reads a run of an agent that judges runs. */
export function judgementOf({ id, status, createdAt, input, result }: RunSummary): Judgement {
  const { scores } = membersOf(result)
  const runId = membersOf(input).runId
  return {
    ...{ id, status, createdAt },
    runId: typeof runId === 'string' ? runId : undefined,
    scores: Array.isArray(scores) ? scores.flatMap(scoreOf) : [],
  }
}

function scoreOf(value: unknown): readonly ShownScore[] {
  const { scorer, pass, reason, isError } = membersOf(value)
  if (typeof scorer !== 'string' || typeof pass !== 'boolean') return []
  return [{ scorer, pass, reason: typeof reason === 'string' ? reason : undefined, isError: isError === true }]
}

const membersOf = (value: unknown): Fields => (isFields(value) ? value : {})

export interface ScorerRate extends PassRate {
  readonly scorer: string
  /** How often the scorer itself failed. */
  readonly errors: number
}

/** The rate of each scorer, also of one that has judged nothing. */
export const scorerRates = (judgements: readonly Judgement[], scorers: readonly string[]): readonly ScorerRate[] =>
  scorers.map((scorer) => {
    const all = judgements.flatMap(({ scores }) => scores.filter((one) => one.scorer === scorer))
    const counted = all.filter(({ isError }) => !isError)
    return { scorer, ...passRateOf(counted.map(({ pass }) => pass)), errors: all.length - counted.length }
  })
