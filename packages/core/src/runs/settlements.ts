import type { RunRecord } from '@berth/ports'

/** Who waits in this process for a run to come to an outcome. */
export interface Settlements {
  /** Resolves with the run once it has ended or is suspended; rejects when this process gives it up. */
  wait(runId: string): Promise<RunRecord>
  settle(run: RunRecord): void
  giveUp(runId: string, error: Error): void
}

interface Waiter {
  resolve(run: RunRecord): void
  reject(error: Error): void
}

export function createSettlements(): Settlements {
  const waiters = new Map<string, Waiter[]>()

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
    settle(run) {
      for (const waiter of take(run.id)) waiter.resolve(run)
    },
    giveUp(runId, error) {
      for (const waiter of take(runId)) waiter.reject(error)
    },
  }
}
