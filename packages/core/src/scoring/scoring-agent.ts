import { isRefusal, type Meter, type RunKind } from '@perdure/ports'
import { NO_RECORDED_USAGE, sumOfUsage } from '../recording/observed-runs.ts'
import type { RecordedUsage } from '../recording/recording.ts'
import { NonRetryableError } from '../runs/non-retryable-error.ts'
import type { AgentRegistration } from '../targets/agent.ts'
import type { RunContext } from '../targets/run-context.ts'
import {
  type RunScorer,
  readScore,
  type Score,
  type ScorerTools,
  type ScoringOptions,
  scoringAgentId,
} from '../targets/scoring-options.ts'
import type { ReadScoredRun } from './read-scored-run.ts'

export interface ScoringInput {
  readonly runId: string
}

/** The result of a run that judges another. */
export interface ScoringResult extends ScoringInput {
  /** Empty if the run to judge no longer exists. */
  readonly scores: readonly (Score & { readonly scorer: string })[]
}

export interface ScoringAgentDeps {
  readonly readRun: ReadScoredRun
  readonly count: (labels: { readonly target: string; readonly scorer: string; readonly outcome: Outcome }) => void
}

type Outcome = 'pass' | 'fail' | 'error'

export interface Scored {
  readonly kind: RunKind
  readonly id: string
  readonly scorers: ScoringOptions
}

const DEFAULT_TIMEOUT = '1m'
/** A judge may be out of reach for a moment. */
const RETRIES = 2

/**
 * The agent whose runs judge those of an agent or workflow. A scorer that throws, or takes too long, gets a score with `isError`; the
 * others judge the run as well.
 */
export function scoringAgentOf({ kind, id, scorers }: Scored, deps: ScoringAgentDeps): AgentRegistration {
  const { use, budget, timeout = DEFAULT_TIMEOUT } = scorers
  const perform = createPerform({ kind, id }, deps)

  const performOrFail = async (name: string, runId: string, ctx: RunContext): Promise<Performed> => {
    try {
      const work = () => perform(named(use, name), runId)
      return await ctx.step(name, work, { retries: RETRIES, timeout })
    } catch (error) {
      if (!isRefusal(error) || error.code !== 'step-failed') throw error
      deps.count({ target: id, scorer: name, outcome: 'error' })
      const reason = error.message.replace(`${name}: `, '').slice(0, MAX_REASON_LENGTH)
      return { score: { pass: false, reason, isError: true }, usage: NO_RECORDED_USAGE }
    }
  }

  const run = async (input: unknown, ctx: RunContext): Promise<ScoringResult> => {
    const runId = runIdOf(input)
    const scores: ScoringResult['scores'][number][] = []
    // Recorded, so that a run that is continued after a deployment makes the same calls with other scorers in the code.
    const names = await ctx.step('scorers', () => use.map(({ name }) => name))
    for (const name of names) {
      const { score, usage } = await performOrFail(name, runId, ctx)
      if (usage.inputTokens + usage.outputTokens + usage.costUsd > 0)
        await ctx.usage({ provider: 'scorer', model: name, ...usage })
      if (score === null) return { runId, scores: [] }
      await ctx.emit('run.scored', { runId, kind, id, scorer: name, ...score })
      scores.push({ scorer: name, ...score })
    }
    return { runId, scores }
  }
  return {
    id: scoringAgentId(id),
    description: `Judges runs of the ${kind} ${id}.`,
    protocols: false,
    ...(budget === undefined ? {} : { budget }),
    run,
  }
}

/** @throws NonRetryableError for a scorer that the code no longer has */
function named(use: readonly RunScorer[], name: string): RunScorer {
  const scorer = use.find((one) => one.name === name)
  if (scorer === undefined) throw new NonRetryableError(`the registration no longer has the scorer ${name}`)
  return scorer
}

/** @throws NonRetryableError for the payload of an event that names no run */
function runIdOf(input: unknown): string {
  if (typeof input === 'object' && input !== null && 'runId' in input && typeof input.runId === 'string')
    return input.runId
  throw new NonRetryableError('the input must be { runId }')
}

interface Performed {
  /** `null` if the run no longer exists, or is another one's. */
  readonly score: Score | null
  readonly usage: RecordedUsage
}

const MAX_REASON_LENGTH = 2_000

function createPerform({ kind, id }: Pick<Scored, 'kind' | 'id'>, { readRun, count }: ScoringAgentDeps) {
  /** The problem of each scorer, checked once per process. */
  const checks = new Map<RunScorer, Promise<string | undefined>>()

  const checkOnce = (scorer: RunScorer, tools: ScorerTools): Promise<string | undefined> => {
    const known = checks.get(scorer)
    if (known !== undefined) return known
    const checking = Promise.resolve(scorer.check?.(tools))
    checks.set(scorer, checking)
    checking.catch(() => checks.delete(scorer))
    return checking
  }

  return async (scorer: RunScorer, runId: string): Promise<Performed> => {
    let usage = NO_RECORDED_USAGE
    const tools: ScorerTools = {
      // The step records the score, so nothing is asked twice.
      recorded: (_, ask) => ask(),
      charge: (used) => {
        usage = sumOfUsage(usage, used)
      },
    }
    const run = await readRun(runId, scorer.reads)
    const target = run?.recordings[0]?.run.target
    if (run === undefined || target?.kind !== kind || target.id !== id) return { score: null, usage }
    const problem = await checkOnce(scorer, tools)
    if (problem !== undefined) throw new NonRetryableError(problem)
    const score = readScore(await scorer.score(run, tools), scorer.name)
    count({ target: id, scorer: scorer.name, outcome: score.pass ? 'pass' : 'fail' })
    const { reason } = score
    return {
      score: { ...score, ...(reason === undefined ? {} : { reason: reason.slice(0, MAX_REASON_LENGTH) }) },
      usage,
    }
  }
}

export const countScores =
  (meter: Pick<Meter, 'count'>): ScoringAgentDeps['count'] =>
  (labels) =>
    meter.count('svc_run_scores_total', labels)
