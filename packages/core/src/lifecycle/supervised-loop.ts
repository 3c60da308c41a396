import { type Clock, type Duty, isStorageBusy, type Logger, type Timers } from '@perdure/ports'
import type { Daemon } from './daemon.ts'

export interface SupervisedLoopDeps {
  readonly clock: Clock
  readonly timers: Timers
  readonly logger: Logger
  /** Whether this process holds a duty; if missing, it holds all. */
  readonly isMine?: ((duty: Duty) => boolean) | undefined
}

export interface LoopWork {
  readonly name: string
  /**
   * Does the work that is due. Resolves with the delay until the next call, in milliseconds; `undefined` waits for
   * `wake`.
   */
  readonly work: () => Promise<number | undefined>
  /** The work is done only by the process that holds this duty; if missing, by every process. */
  readonly duty?: Duty | undefined
  /** Called every 30 seconds by a process that does not hold the duty, to keep what it shows current. A failure is ignored. */
  readonly watch?: (() => Promise<void>) | undefined
}

export interface SupervisedLoop extends Daemon {
  /** Calls the work now, or right after the call in progress. */
  wake(): void
  /** `failing` after five consecutive failures within ten minutes, until the work succeeds. */
  state(): 'stopped' | 'running' | 'failing'
}

/** Upper limit of a delay: the wall clock may be adjusted, so due times are checked again at least this often. */
const MAX_DELAY_MS = 30_000
const FIRST_BACKOFF_MS = 1_000
const MAX_BACKOFF_MS = 60_000
/** While the storage is out of reach. A call then costs little, and its work has waited for as long as the outage. */
const MAX_OUTAGE_BACKOFF_MS = 2_000
const LOG_OUTAGE_EVERY_MS = 60_000
const FAILING_AFTER = 5
const FAILURE_WINDOW_MS = 600_000

/** A process that does not hold the duty asks again after this time. */
const ASK_AGAIN_MS = 1_000

/**
 * Repeats background work. A failure is logged and retried with exponential backoff; while the storage is out of reach, it is
 * logged once a minute.
 */
export function createSupervisedLoop(deps: SupervisedLoopDeps, { name, work, duty, watch }: LoopWork): SupervisedLoop {
  const { clock, timers, logger, isMine = () => true } = deps
  let state: 'stopped' | 'running' = 'stopped'
  let cancel = () => {}
  let working: Promise<void> | undefined
  let isWoken = false
  let failures: number[] = []
  let outageLoggedAtMs = Number.NEGATIVE_INFINITY
  let watchedAtMs = Number.NEGATIVE_INFINITY

  const schedule = (delayMs: number) => {
    cancel()
    if (state === 'running') cancel = timers.after(delayMs, tick)
  }

  const tick = () => {
    cancel()
    isWoken = false
    working = run().finally(() => {
      working = undefined
    })
  }

  const run = async () => {
    const delayMs = await workOnce()
    schedule(isWoken ? 0 : delayMs)
  }

  const backoffAfter = (error: unknown): number => {
    const now = clock.monotonicMs()
    failures = [...failures.filter((at) => now - at < FAILURE_WINDOW_MS), now]
    const isOutage = isStorageBusy(error)
    const isLogged = !isOutage || now - outageLoggedAtMs >= LOG_OUTAGE_EVERY_MS
    if (isLogged) logger.error(`${name} failed; retrying`, error)
    if (isLogged && isOutage) outageLoggedAtMs = now
    return Math.min(isOutage ? MAX_OUTAGE_BACKOFF_MS : MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (failures.length - 1))
  }

  const watchOthers = async () => {
    const now = clock.monotonicMs()
    if (watch === undefined || now - watchedAtMs < MAX_DELAY_MS) return
    watchedAtMs = now
    await watch().catch(() => undefined)
  }

  const workOnce = async (): Promise<number> => {
    if (duty !== undefined && !isMine(duty)) {
      await watchOthers()
      return ASK_AGAIN_MS
    }
    try {
      const delayMs = await work()
      failures = []
      outageLoggedAtMs = Number.NEGATIVE_INFINITY
      return Math.min(MAX_DELAY_MS, Math.max(0, delayMs ?? MAX_DELAY_MS))
    } catch (error) {
      return backoffAfter(error)
    }
  }

  return {
    name,
    start() {
      if (state === 'running') return
      state = 'running'
      schedule(0)
    },
    wake() {
      isWoken = true
      if (working === undefined) schedule(0)
    },
    async stop() {
      state = 'stopped'
      cancel()
      await working
    },
    state: () => (state === 'running' && failures.length >= FAILING_AFTER ? 'failing' : state),
  }
}
