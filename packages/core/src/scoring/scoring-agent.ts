import type { Meter, RunKind } from '@perdure/ports'
import { NO_RECORDED_USAGE, sumOfUsage } from '../recording/observed-runs.ts'
import type { RecordedUsage } from '../recording/recording.ts'
import { NonRetryableError } from '../runs/non-retryable-error.ts'
import type { AgentRegistration } from '../targets/agent.ts'
import type { RunContext } from '../targets/run-context.ts'
import {
  type RunScorer,
  type Score,
  type ScorerTools,
  type ScoringOptions,
  scoringAgentId,
} from '../targets/scoring.ts'
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

type Outcome = 'pass' | 'fail'

export interface Scored {
  readonly kind: RunKind
  readonly id: string
  readonly scorers: ScoringOptions
}

/** The agent whose runs judge those of an agent or workflow. */
export function scoringAgentOf({ kind, id, scorers }: Scored, deps: ScoringAgentDeps): AgentRegistration {
  const { use, budget } = scorers
  const perform = createPerform({ kind, id }, deps)

  const run = async (input: unknown, ctx: RunContext): Promise<ScoringResult> => {
    const runId = runIdOf(input)
    const scores: ScoringResult['scores'][number][] = []
    for (const scorer of use) {
      const { score, usage } = await ctx.step(scorer.name, () => perform(scorer, runId), { retries: 2 })
      if (usage.inputTokens + usage.outputTokens + usage.costUsd > 0)
        await ctx.usage({ provider: 'scorer', model: scorer.name, ...usage })
      if (score === null) return { runId, scores: [] }
      await ctx.emit('run.scored', { runId, kind, id, scorer: scorer.name, ...score })
      scores.push({ scorer: scorer.name, ...score })
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
    const run = await readRun(runId)
    const target = run?.recordings[0]?.run.target
    if (run === undefined || target?.kind !== kind || target.id !== id) return { score: null, usage }
    const problem = await checkOnce(scorer, tools)
    if (problem !== undefined) throw new NonRetryableError(problem)
    const { pass, value, reason } = await scorer.score(run, tools)
    count({ target: id, scorer: scorer.name, outcome: pass ? 'pass' : 'fail' })
    return {
      score: {
        pass,
        ...(value === undefined ? {} : { value }),
        ...(reason === undefined ? {} : { reason: reason.slice(0, MAX_REASON_LENGTH) }),
      },
      usage,
    }
  }
}

export const countScores =
  (meter: Pick<Meter, 'count'>): ScoringAgentDeps['count'] =>
  (labels) =>
    meter.count('svc_run_scores_total', labels)
