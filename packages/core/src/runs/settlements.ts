import type { RunRecord } from '@berth/ports'
import type { OutcomeDetail, Settled } from './run-outcome.ts'

/** Who waits in this process for a run to come to an outcome. */
export interface Settlements {
  /** Resolves with the run once it has ended or is suspended; rejects when this process gives it up. */
  wait(runId: string): Promise<Settled>
  settle(run: RunRecord, news?: News): void
  giveUp(runId: string, error: Error): void
  /** Calls `listener` for every run that has come to an outcome in this process. */
  observe(listener: (run: RunRecord, news: News) => void): void
}

/** What is to be told of an outcome besides the run. */
export interface News {
  readonly detail?: OutcomeDetail | undefined
  /** It has made no calls: it leaves no child and no approval behind. */
  readonly isAlone?: boolean | undefined
}

interface Waiter {
  resolve(settled: Settled): void
  reject(error: Error): void
}

export function createSettlements(): Settlements {
  const waiters = new Map<string, Waiter[]>()
  const listeners: ((run: RunRecord, news: News) => void)[] = []

  const take = (runId: string): readonly Waiter[] => {
    const list = waiters.get(runId) ?? []
    waiters.delete(runId)
    return list
  }

  return {
    wait: (runId) =>
      new Promise((resolve, reject) => {
        const list = waiters.get(runId)
        if (list === undefined) waiters.set(runId, [{ resolve, reject }])
        else list.push({ resolve, reject })
      }),
    settle(run, news = {}) {
      for (const waiter of take(run.id)) waiter.resolve({ run, detail: news.detail })
      for (const listener of listeners) listener(run, news)
    },
    giveUp(runId, error) {
      for (const waiter of take(runId)) waiter.reject(error)
    },
    observe: (listener) => void listeners.push(listener),
  }
}
