import { AppError, type EpochMs, type NewEvent, type RunRecord, type RunUsage, toJsonText } from '@berth/ports'
import type { Journal, JournalDeps } from './journal.ts'
import { runEvent } from './run-events.ts'
import type { RunMeter } from './run-meter.ts'
import type { UsageReport } from './usage-report.ts'

/** What a run has used, kept with it, and what it may still use. */
export interface Budget {
  /** @throws AppError `budget-exhausted` when nothing may be started any more */
  reserveToolCall(): void
  countToolCall(): Promise<void>
  add(report: UsageReport): Promise<void>
  /** Rejects as soon as more was used than allowed. */
  readonly exhaustion: Promise<never>
  used(): RunUsage
}

const usageEvent = (run: RunRecord, report: UsageReport, at: EpochMs): NewEvent => {
  const amounts = { inputTokens: 0, outputTokens: 0, costUsd: 0, ...report }
  return runEvent(run, { type: 'usage', payload: toJsonText({ runId: run.id, ...amounts }), at })
}

export interface BudgetDeps extends Pick<JournalDeps, 'clock'> {
  readonly runMeter: RunMeter
}

export function createBudget({ clock, runMeter }: BudgetDeps, run: RunRecord, journal: Journal): Budget {
  const { tokens, costUsd, toolCalls } = run.budget ?? {}
  const { promise: exhaustion, reject: exhaust } = Promise.withResolvers<never>()
  exhaustion.catch(() => undefined)
  let used = run.usage
  let reserved = run.usage.toolCalls

  const refuse = (what: string) => {
    const error = new AppError('budget-exhausted', { message: `the budget of ${what} is used up` })
    exhaust(error)
    return error
  }

  const problem = (): string | undefined => {
    if (tokens !== undefined && used.inputTokens + used.outputTokens >= tokens) return `${tokens} tokens`
    if (costUsd !== undefined && used.costUsd >= costUsd) return `${costUsd} USD`
    return undefined
  }

  /** The usage is part of the run's record; only this execution changes it. */
  const write = (next: RunUsage, report?: UsageReport): Promise<void> => {
    used = next
    const events = report === undefined ? [] : [usageEvent(run, report, clock.now())]
    return journal.record({
      writes: [
        { type: 'run.transition', runId: run.id, from: ['running'], attempt: run.attempt, change: { usage: next } },
      ],
      events,
    })
  }

  return {
    exhaustion,
    used: () => used,
    reserveToolCall() {
      const over =
        problem() ?? (toolCalls !== undefined && reserved >= toolCalls ? `${toolCalls} tool calls` : undefined)
      if (over !== undefined) throw refuse(over)
      reserved++
    },
    countToolCall: () => write({ ...used, toolCalls: used.toolCalls + 1 }),
    async add(report) {
      const { inputTokens = 0, outputTokens = 0, costUsd: cost = 0 } = report
      await write(
        {
          ...used,
          inputTokens: used.inputTokens + inputTokens,
          outputTokens: used.outputTokens + outputTokens,
          costUsd: used.costUsd + cost,
        },
        report,
      )
      runMeter.used(report)
      const over = problem()
      if (over !== undefined) throw refuse(over)
    },
  }
}
