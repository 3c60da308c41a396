import type { JsonText, RunRecord } from '@perdure/ports'
import { createPassingMap } from '../collections/cell-map.ts'
import type { OutcomeDetail, Settled, WaitingFor } from './run-outcome.ts'

/** Who waits in this process for a run to come to an outcome. */
export interface Settlements {
  /**
   * Resolves with the run once it has ended or is suspended; rejects when this process gives it up. Who waits with
   * patience does not hear of a suspension that ends by itself, until it is hurried.
   */
  wait(runId: string, how?: { readonly isPatient: boolean }): Promise<Settled>
  /** Whether somebody waits for the run with patience, so that a suspension that ends by itself is no answer yet. */
  isAwaitedPatiently(runId: string): boolean
  /** Whoever waits for the run has no patience any more; how it stands when it is suspended. */
  hurry(runId: string): Settled | undefined
  /** Resolves for all who wait with patience for a run that is suspended. */
  hurryAll(): void
  settle(run: RunRecord, news?: News): void
  giveUp(runId: string, error: Error): void
  /** Calls `listener` for every run that has come to an outcome in this process. */
  observe(listener: (run: RunRecord, news: News) => void): void
}

/** What is to be told of an outcome besides the run. */
export interface News {
  readonly detail?: OutcomeDetail | undefined
  /** The outcome as it was rendered for the record. */
  readonly json?: JsonText | undefined
  /** It has made no calls: it leaves no child and no approval behind. */
  readonly isAlone?: boolean | undefined
}

interface Waiter {
  isPatient: boolean
  /** How the run stands that is suspended for now. */
  standing?: Settled | undefined
  resolve(settled: Settled): void
  reject(error: Error): void
}

/** A timer that fires, a child that ends: nobody outside has to do anything. */
const BY_THEMSELVES: ReadonlySet<string> = new Set(['sleep', 'child'])

export const endsByItself = (waitingFor: readonly WaitingFor[] = []): boolean =>
  waitingFor.length > 0 && waitingFor.every(({ kind }) => BY_THEMSELVES.has(kind))

export function createSettlements(): Settlements {
  const waiters = createPassingMap<string, Waiter[]>()
  const listeners: ((run: RunRecord, news: News) => void)[] = []

  const of = (runId: string): readonly Waiter[] => waiters.get(runId) ?? []

  const keep = (runId: string, kept: Waiter[]) => {
    if (kept.length === 0) waiters.delete(runId)
    else waiters.set(runId, kept)
  }

  const tell = (runId: string, settled: Settled) => {
    const isForNow = settled.run.status === 'suspended' && endsByItself(settled.detail?.waitingFor)
    const kept: Waiter[] = []
    for (const waiter of of(runId)) {
      waiter.standing = settled
      if (isForNow && waiter.isPatient) kept.push(waiter)
      else waiter.resolve(settled)
    }
    keep(runId, kept)
  }

  return {
    wait: (runId, { isPatient } = { isPatient: false }) =>
      new Promise((resolve, reject) => keep(runId, [...of(runId), { isPatient, resolve, reject }])),
    isAwaitedPatiently: (runId) => of(runId).some(({ isPatient }) => isPatient),
    hurry(runId) {
      for (const waiter of of(runId)) waiter.isPatient = false
      return of(runId)[0]?.standing
    },
    hurryAll() {
      for (const [runId, list] of waiters.entries()) {
        for (const { standing, resolve } of list) if (standing !== undefined) resolve(standing)
        keep(
          runId,
          list.filter(({ standing }) => standing === undefined),
        )
      }
    },
    settle(run, news = {}) {
      tell(run.id, { run, detail: news.detail, json: news.json })
      for (const listener of listeners) listener(run, news)
    },
    giveUp(runId, error) {
      const list = of(runId)
      waiters.delete(runId)
      for (const waiter of list) waiter.reject(error)
    },
    observe: (listener) => void listeners.push(listener),
  }
}
