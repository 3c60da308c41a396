import { randomUUID } from 'node:crypto'
import process from 'node:process'
import { Worker } from 'node:worker_threads'
import type { Logger } from '@perdure/ports'
import type { LoggerOptions } from '../logger.ts'
import type { LoopHandle } from './blocked-code.ts'
import { createLoopState, loopStateWriter } from './loop-state.ts'
import type { StopMessage, WatchdogData } from './watchdog-thread.ts'

/** A thread that detects when the event loop of the main thread is blocked, and names the runs that execute. */
export interface Watchdog {
  /** Starts watching. */
  start(loop: WatchedLoop): void
  /** Notes that the code of a run is about to be called. */
  enter(runId: string): void
  /** Whether the event loop was blocked and has turned again for less than five seconds. */
  wasBlocked(): boolean
  /** Ends the process if its event loop is blocked after `budgetMs`, unless the caller owns the process. */
  stopping(budgetMs: number): void
  close(): Promise<void>
}

export interface WatchedLoop {
  /** The ids of the runs that execute. */
  executing(): readonly string[]
  /** The run whose code is executing at the time of the call. */
  current(): string | undefined
  /** Ends the process when the event loop is blocked for this long; never when missing. */
  readonly maxBlockMs: number | undefined
  /** Time that the process may take to exit after a signal, and after a second one. */
  readonly stopBudgetMs: number
  readonly forcedStopMs: number
}

export interface WatchdogOptions extends Pick<LoggerOptions, 'level' | 'json'> {
  /** For errors of the thread itself. What the thread reports goes straight to stderr. */
  readonly logger: Logger
  /**
   * Whether the process does nothing but serve: then the watchdog also ends it when it does not stop in time, counted
   * from a signal or from `stopping`.
   */
  readonly ownsProcess: boolean
  /**
   * Writes the log lines that the blocked event loop has not written yet. Called before the thread reports or ends a
   * blocked event loop.
   */
  readonly flushLog?: (() => void) | undefined
}

/** Watches nothing. */
export const noWatchdog: Watchdog = {
  start: () => undefined,
  enter: () => undefined,
  wasBlocked: () => false,
  stopping: () => undefined,
  close: async () => undefined,
}

const BEAT_MS = 250
const REPORT_AFTER_MS = 5_000
const UNREADY_MS = 5_000
const STACK_FRAMES = 12
const MAX_STACK_LENGTH = 2_000

/** The exit code after a blocked event loop: as after a storage fault, the next start recovers. */
const EXIT_CODE = 70

export function createWatchdog(options: WatchdogOptions): Watchdog {
  const { logger, level, json, ownsProcess, flushLog = () => undefined } = options
  const state = createLoopState()
  const writer = loopStateWriter(state)
  const key = `perdure.watchdog.${randomUUID()}`
  let loop: WatchedLoop | undefined
  let thread: Worker | undefined
  let beats: NodeJS.Timeout | undefined
  let stopAtMs: number | undefined
  let blocks = 0
  let unreadyUntilMs = 0

  const sendStop = () => {
    if (stopAtMs === undefined) return
    thread?.postMessage({ stopWithinMs: stopAtMs - performance.now() } satisfies StopMessage)
  }

  /** Starting the thread takes a tenth of a second, so it starts after the server listens or with the first run. */
  const ensureThread = ({ maxBlockMs, stopBudgetMs, forcedStopMs }: WatchedLoop) => {
    if (thread !== undefined) return
    const reportAfterMs = Math.min(REPORT_AFTER_MS, maxBlockMs ?? REPORT_AFTER_MS)
    const limits = { reportAfterMs, maxBlockMs, stopBudgetMs, forcedStopMs }
    thread = startThread({ state, key, limits, watchesSignals: ownsProcess, exitCode: EXIT_CODE, level, json })
    thread.on('error', (error) => logger.error('the watchdog failed; a blocked event loop is not reported', error))
    sendStop()
  }

  const noteBlocks = () => {
    if (writer.blocks() === blocks) return
    blocks = writer.blocks()
    unreadyUntilMs = performance.now() + UNREADY_MS
  }

  const beat = (watched: WatchedLoop) => {
    ensureThread(watched)
    noteBlocks()
    writer.beat(isDebugged(), watched.executing())
  }

  return {
    start(watched) {
      loop = watched
      offerHandle(key, () => watched.current(), flushLog)
      beats = setInterval(beat, BEAT_MS, watched).unref()
    },
    enter(runId) {
      if (loop === undefined) return
      writer.enter(runId)
      ensureThread(loop)
    },
    wasBlocked() {
      noteBlocks()
      return performance.now() < unreadyUntilMs
    },
    stopping(budgetMs) {
      if (!ownsProcess) return
      stopAtMs = Math.min(stopAtMs ?? Number.POSITIVE_INFINITY, performance.now() + budgetMs)
      sendStop()
    },
    async close() {
      loop = undefined
      clearInterval(beats)
      Reflect.deleteProperty(globalThis, Symbol.for(key))
      await thread?.terminate()
    },
  }
}

function startThread(workerData: WatchdogData): Worker {
  const isSource = import.meta.url.endsWith('.ts')
  const file = new URL(isSource ? './watchdog-thread.ts' : './watchdog-thread.cjs', import.meta.url)
  const execArgv = ['--expose-internals', '--no-warnings', ...(isSource ? ['--conditions=perdure-source'] : [])]
  // An empty environment: a module preloaded through NODE_OPTIONS has no place in this thread.
  const thread = new Worker(file, { workerData, execArgv, env: {}, name: 'perdure-watchdog' })
  thread.unref()
  return thread
}

/** Offers the handle on the global object, the only place from which the inspector can reach it. */
function offerHandle(key: string, current: () => string | undefined, flushLog: () => void): void {
  const handle: LoopHandle = {
    describe() {
      flushLog()
      return JSON.stringify({ runId: current(), stack: stackBelow(handle.describe) })
    },
    exit() {
      flushLog()
      exitNow(EXIT_CODE)
    },
  }
  Object.defineProperty(globalThis, Symbol.for(key), { value: handle, configurable: true })
}

/** Unlike `process.exit`, calls no listeners, which could block again. */
const exitNow = (code: number): void => (process as unknown as { reallyExit(code: number): void }).reallyExit(code)

const isDebugged = () => process.features.inspector && process.getBuiltinModule('node:inspector').url() !== undefined

/** The stack of the code that the inspector has interrupted. */
function stackBelow(fn: () => string): string {
  const limit = Error.stackTraceLimit
  try {
    Error.stackTraceLimit = STACK_FRAMES
    const holder: { readonly stack?: unknown } = {}
    Error.captureStackTrace(holder, fn)
    // The first line is the message, the second one the expression of the inspector.
    const [, , ...frames] = String(holder.stack).split('\n')
    return frames.join('\n').slice(0, MAX_STACK_LENGTH)
  } catch {
    // The code of a run can replace Error.prepareStackTrace.
    return ''
  } finally {
    Error.stackTraceLimit = limit
  }
}
