import type { Clock, Logger, Timers } from '@perdure/ports'
import type { Daemon } from './daemon.ts'

export interface SupervisedLoopDeps {
  readonly clock: Clock
  readonly timers: Timers
  readonly logger: Logger
}

export interface LoopWork {
  readonly name: string
  /** Does what is due. Resolves with when to look again, in milliseconds; `undefined` waits for a `wake`. */
  readonly work: () => Promise<number | undefined>
}

export interface SupervisedLoop extends Daemon {
  /** Looks again now, or right after what is under way. */
  wake(): void
  /** `failing` after five failures within ten minutes, until the work succeeds. */
  state(): 'stopped' | 'running' | 'failing'
}

/** The wall clock may step: the loop looks at it at least this often. */
const LONGEST_MS = 30_000
const FIRST_BACKOFF_MS = 1_000
const LONGEST_BACKOFF_MS = 60_000
const FAILURES = 5
const WITHIN_MS = 600_000

/** Repeats a piece of background work; what it throws is logged and tried again, later every time. */
export function createSupervisedLoop(deps: SupervisedLoopDeps, { name, work }: LoopWork): SupervisedLoop {
  const { clock, timers, logger } = deps
  let state: 'stopped' | 'running' = 'stopped'
  let cancel = () => {}
  let working: Promise<void> | undefined
  let isWoken = false
  let failures: number[] = []

  const schedule = (delayMs: number) => {
    cancel()
    if (state === 'running') cancel = timers.after(delayMs, look)
  }

  const look = () => {
    cancel()
    isWoken = false
    working = run().finally(() => {
      working = undefined
    })
  }

  const run = async () => {
    const delayMs = await lookOnce()
    schedule(isWoken ? 0 : delayMs)
  }

  const lookOnce = async (): Promise<number> => {
    try {
      const delayMs = await work()
      failures = []
      return Math.min(LONGEST_MS, Math.max(0, delayMs ?? LONGEST_MS))
    } catch (error) {
      const now = clock.monotonicMs()
      failures = [...failures.filter((at) => now - at < WITHIN_MS), now]
      logger.error(`${name} failed, will try again`, error)
      return Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (failures.length - 1))
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
    state: () => (state === 'running' && failures.length >= FAILURES ? 'failing' : state),
  }
}
