import type { JsonText, RunRecord } from '@perdure/ports'
import { createCellMap } from '../collections/cell-map.ts'
import type { OutcomeDetail, RunOutcome, WaitingFor } from './run-outcome.ts'

/** Callers of this process that wait for the outcome of a run. */
export interface RunWaiters {
  /**
   * Resolves once the run has ended or is suspended; rejects after `reject`. A patient waiter ignores suspensions that
   * resolve on their own (timer, child) until `stopWaiting` is called.
   */
  wait(runId: string, how?: { readonly isPatient: boolean }): Promise<RunOutcome>
  /** Whether the run has a patient waiter, for which a suspension that resolves on its own is not an outcome. */
  hasPatientWaiter(runId: string): boolean
  /** Makes the waiters of the run impatient. @returns the latest suspension of the run, if the run is suspended */
  stopWaiting(runId: string): RunOutcome | undefined
  /** Resolves every waiter of a suspended run. */
  stopWaitingAll(): void
  resolve(run: RunRecord, info?: OutcomeInfo): void
  reject(runId: string, error: Error): void
  /** Calls `listener` for every run that ends or suspends in this process. */
  observe(listener: (run: RunRecord, info: OutcomeInfo) => void): void
}

/** What the waiters and observers get besides the run. */
export interface OutcomeInfo {
  readonly detail?: OutcomeDetail | undefined
  /** The outcome as rendered for the idempotency record. */
  readonly json?: JsonText | undefined
  /** Whether the run made no durable calls, so that it has no children and no approvals. */
  readonly madeNoCalls?: boolean | undefined
}

interface Waiter {
  isPatient: boolean
  /** The latest suspension of the run. */
  current?: RunOutcome | undefined
  resolve(outcome: RunOutcome): void
  reject(error: Error): void
}

/** Waits that end without a request from outside. */
const SELF_RESOLVING: ReadonlySet<string> = new Set(['sleep', 'child'])

export const resolvesOnItsOwn = (waitingFor: readonly WaitingFor[] = []): boolean =>
  waitingFor.length > 0 && waitingFor.every(({ kind }) => SELF_RESOLVING.has(kind))

export function createRunWaiters(): RunWaiters {
  const waiters = createCellMap<string, Waiter[]>()
  const listeners: ((run: RunRecord, info: OutcomeInfo) => void)[] = []

  const of = (runId: string): readonly Waiter[] => waiters.get(runId) ?? []

  const storeWaiters = (runId: string, kept: Waiter[]) => {
    if (kept.length === 0) waiters.delete(runId)
    else waiters.set(runId, kept)
  }

  const resolveWaiters = (runId: string, outcome: RunOutcome) => {
    const isForNow = outcome.run.status === 'suspended' && resolvesOnItsOwn(outcome.detail?.waitingFor)
    const kept: Waiter[] = []
    for (const waiter of of(runId)) {
      waiter.current = outcome
      if (isForNow && waiter.isPatient) kept.push(waiter)
      else waiter.resolve(outcome)
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
    resolve(run, info = {}) {
      resolveWaiters(run.id, { run, detail: info.detail, json: info.json })
      for (const listener of listeners) listener(run, info)
    },
    reject(runId, error) {
      const list = of(runId)
      waiters.delete(runId)
      for (const waiter of list) waiter.reject(error)
    },
    observe: (listener) => void listeners.push(listener),
  }
}
