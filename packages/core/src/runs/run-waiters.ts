import type { EpochMs, JsonText, RunRecord } from '@perdure/ports'
import { createCellMap } from '../collections/cell-map.ts'
import { type Blocker, blockerOf } from './blocker.ts'
import type { OutcomeDetail, RunOutcome } from './run-outcome.ts'

/** Callers of this process that wait for the outcome of a run. */
export interface RunWaiters {
  /**
   * Resolves once the run has ended or is suspended; rejects after `reject`. Suspensions that depend only on the work of
   * children are ignored. A patient waiter also ignores those that depend on a time, until `stopWaiting` is called.
   */
  wait(runId: string, how?: WaitOptions): Promise<RunOutcome>
  /** The runs that callers wait for. */
  awaited(): readonly string[]
  isAwaited(runId: string): boolean
  /** Whether callers wait for any run. */
  hasWaiters(): boolean
  /** Whether the run has a patient waiter, for which a suspension until a time is not an outcome. */
  hasPatientWaiter(runId: string): boolean
  /** Makes the waiters of the run impatient. @returns the latest suspension or postponement of the run, if any */
  stopWaiting(runId: string): RunOutcome | undefined
  /** Lets the waiters of a run that is queued again wait for its next attempt, until `stopWaitingAll` is called. */
  postpone(run: RunRecord): void
  /** Resolves every waiter of a suspended or postponed run, with `isInterim` if it is suspended. */
  stopWaitingAll(): void
  /** Takes the children that a suspended run waits for as working. */
  resolve(run: RunRecord, info?: OutcomeInfo): void
  /**
   * Resolves the waiters with an outcome that was read from the storage, because another process may have caused it.
   * Observers are not called. A waiter that knew of this suspension when it began to wait keeps waiting.
   *
   * @param blocker what a suspended run depends on; by its waits if missing, with children that work
   */
  resolveFromStorage(run: RunRecord, detail?: OutcomeDetail, blocker?: Blocker): void
  reject(runId: string, error: Error): void
  /** Calls `listener` for every run that ends or suspends in this process. */
  observe(listener: (run: RunRecord, info: OutcomeInfo) => void): void
}

export interface WaitOptions {
  readonly isPatient?: boolean
  /** When the run was suspended, for a caller that waits for what happens after this suspension. */
  readonly suspendedAt?: EpochMs | undefined
  /** Gives up the wait; the promise then stays pending. */
  readonly signal?: AbortSignal
}

/** What the waiters and observers get besides the run. */
export interface OutcomeInfo {
  readonly detail?: OutcomeDetail | undefined
  /** The outcome as rendered for the idempotency record. */
  readonly json?: JsonText | undefined
  /** Whether the run may have active children or open approvals; true when missing. */
  readonly hasDependents?: boolean | undefined
  /** What the code of a failed run threw. */
  readonly thrown?: unknown
}

interface Waiter {
  isPatient: boolean
  readonly suspendedAt: EpochMs | undefined
  /** The latest suspension or postponement of the run. */
  current?: RunOutcome | undefined
  resolve(outcome: RunOutcome): void
  reject(error: Error): void
}

interface Resolving {
  readonly blocker?: Blocker | undefined
  readonly isDue?: (waiter: Waiter) => boolean
}

export function createRunWaiters(): RunWaiters {
  const waiters = createCellMap<string, Waiter[]>()
  const listeners: ((run: RunRecord, info: OutcomeInfo) => void)[] = []

  const of = (runId: string): readonly Waiter[] => waiters.get(runId) ?? []

  const storeWaiters = (runId: string, kept: Waiter[]) => {
    if (kept.length === 0) waiters.delete(runId)
    else waiters.set(runId, kept)
  }

  const resolveWaiters = (
    runId: string,
    outcome: RunOutcome,
    { blocker = blockerOf(outcome.detail?.waitingFor), isDue = () => true }: Resolving = {},
  ) => {
    const isSuspended = outcome.run.status === 'suspended'
    const kept: Waiter[] = []
    for (const waiter of of(runId)) {
      if (!isDue(waiter)) {
        kept.push(waiter)
        continue
      }
      waiter.current = outcome
      if (isSuspended && (blocker === 'work' || (blocker === 'time' && waiter.isPatient))) kept.push(waiter)
      else waiter.resolve(outcome)
    }
    storeWaiters(runId, kept)
  }

  return {
    wait: (runId, { isPatient = false, suspendedAt, signal } = {}) =>
      new Promise((resolve, reject) => {
        const waiter: Waiter = { isPatient, suspendedAt, resolve, reject }
        storeWaiters(runId, [...of(runId), waiter])
        const giveUp = () =>
          storeWaiters(
            runId,
            of(runId).filter((one) => one !== waiter),
          )
        signal?.addEventListener('abort', giveUp)
      }),
    awaited: () => waiters.entries().map(([runId]) => runId),
    isAwaited: (runId) => waiters.has(runId),
    hasWaiters: () => waiters.size() > 0,
    hasPatientWaiter: (runId) => of(runId).some(({ isPatient }) => isPatient),
    stopWaiting(runId) {
      for (const waiter of of(runId)) waiter.isPatient = false
      return of(runId)[0]?.current
    },
    postpone(run) {
      for (const waiter of of(run.id)) waiter.current = { run }
    },
    stopWaitingAll() {
      for (const [runId, list] of waiters.entries()) {
        for (const { current, resolve } of list) {
          if (current !== undefined) resolve({ ...current, isInterim: current.run.status === 'suspended' })
        }
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
    resolveFromStorage(run, detail, blocker) {
      const isNews = ({ suspendedAt }: Waiter) => run.status !== 'suspended' || run.suspendedAt !== suspendedAt
      resolveWaiters(run.id, { run, detail }, { blocker, isDue: isNews })
    },
    reject(runId, error) {
      const list = of(runId)
      waiters.delete(runId)
      for (const waiter of list) waiter.reject(error)
    },
    observe: (listener) => void listeners.push(listener),
  }
}
