import type { JsonText, RunRecord } from '@perdure/ports'
import { createCellMap } from '../collections/cell-map.ts'
import type { OutcomeDetail, RunOutcome, WaitingFor } from './run-outcome.ts'

/** Who waits in this process for a run to come to an outcome. */
export interface RunWaiters {
  /**
   * Resolves with the run once it has ended or is suspended; rejects when this process gives it up. Who waits with
   * patience does not hear of a suspension that ends by itself, until it is hurried.
   */
  wait(runId: string, how?: { readonly isPatient: boolean }): Promise<RunOutcome>
  /** Whether somebody waits for the run with patience, so that a suspension that ends by itself is no answer yet. */
  hasPatientWaiter(runId: string): boolean
  /** Whoever waits for the run has no patience any more; how it stands when it is suspended. */
  stopWaiting(runId: string): RunOutcome | undefined
  /** Resolves for all who wait with patience for a run that is suspended. */
  stopWaitingAll(): void
  resolve(run: RunRecord, news?: OutcomeInfo): void
  reject(runId: string, error: Error): void
  /** Calls `listener` for every run that has come to an outcome in this process. */
  observe(listener: (run: RunRecord, news: OutcomeInfo) => void): void
}

/** What is to be told of an outcome besides the run. */
export interface OutcomeInfo {
  readonly detail?: OutcomeDetail | undefined
  /** The outcome as it was rendered for the record. */
  readonly json?: JsonText | undefined
  /** It has made no calls: it leaves no child and no approval behind. */
  readonly madeNoCalls?: boolean | undefined
}

interface Waiter {
  isPatient: boolean
  /** How the run stands that is suspended for now. */
  current?: RunOutcome | undefined
  resolve(settled: RunOutcome): void
  reject(error: Error): void
}

/** A timer that fires, a child that ends: nobody outside has to do anything. */
const SELF_RESOLVING: ReadonlySet<string> = new Set(['sleep', 'child'])

export const resolvesOnItsOwn = (waitingFor: readonly WaitingFor[] = []): boolean =>
  waitingFor.length > 0 && waitingFor.every(({ kind }) => SELF_RESOLVING.has(kind))

export function createRunWaiters(): RunWaiters {
  const waiters = createCellMap<string, Waiter[]>()
  const listeners: ((run: RunRecord, news: OutcomeInfo) => void)[] = []

  const of = (runId: string): readonly Waiter[] => waiters.get(runId) ?? []

  const storeWaiters = (runId: string, kept: Waiter[]) => {
    if (kept.length === 0) waiters.delete(runId)
    else waiters.set(runId, kept)
  }

  const resolveWaiters = (runId: string, settled: RunOutcome) => {
    const isForNow = settled.run.status === 'suspended' && resolvesOnItsOwn(settled.detail?.waitingFor)
    const kept: Waiter[] = []
    for (const waiter of of(runId)) {
      waiter.current = settled
      if (isForNow && waiter.isPatient) kept.push(waiter)
      else waiter.resolve(settled)
    }
    storeWaiters(runId, kept)
  }

  return {
    wait: (runId, { isPatient } = { isPatient: false }) =>
      new Promise((resolve, reject) => storeWaiters(runId, [...of(runId), { isPatient, resolve, reject }])),
    hasPatientWaiter: (runId) => of(runId).some(({ isPatient }) => isPatient),
    stopWaiting(runId) {
      for (const waiter of of(runId)) waiter.isPatient = false
      return of(runId)[0]?.current
    },
    stopWaitingAll() {
      for (const [runId, list] of waiters.entries()) {
        for (const { current, resolve } of list) if (current !== undefined) resolve(current)
        storeWaiters(
          runId,
          list.filter(({ current }) => current === undefined),
        )
      }
    },
    resolve(run, news = {}) {
      resolveWaiters(run.id, { run, detail: news.detail, json: news.json })
      for (const listener of listeners) listener(run, news)
    },
    reject(runId, error) {
      const list = of(runId)
      waiters.delete(runId)
      for (const waiter of list) waiter.reject(error)
    },
    observe: (listener) => void listeners.push(listener),
  }
}
