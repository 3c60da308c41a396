import { writeSync } from 'node:fs'
import process from 'node:process'
import { parentPort, workerData } from 'node:worker_threads'
import type { LogFields } from '@perdure/ports'
import { createLogger, type LoggerOptions } from '../logger.ts'
import { type Alarm, type BlockLimits, CHECK_MS, createBlockDetector, type EndReason } from './block-detector.ts'
import { type BlockedCode, describeBlockedCode, exitFromMainThread } from './blocked-code.ts'
import { loopStateReader } from './loop-state.ts'
import { watchSignals } from './signal-watch.ts'

/** What the thread needs to know about the event loop it watches. */
export interface WatchdogData extends Pick<LoggerOptions, 'level' | 'json'> {
  readonly state: SharedArrayBuffer
  /** Name of the symbol under which the main thread offers its `LoopHandle`. */
  readonly key: string
  readonly limits: BlockLimits
  readonly watchesSignals: boolean
  readonly exitCode: number
}

/** Tells the thread that the process is stopping, and how long it may take. */
export interface StopMessage {
  readonly stopWithinMs: number
}

const STDERR = 2
const ANSWER_MS = 1_000
const EXIT_MS = 1_000
const MAX_RUN_IDS = 20

const MESSAGES: Readonly<Record<EndReason, string>> = {
  'max-block': 'exiting: the event loop was blocked for longer than runs.maxBlockMs',
  'stop-timeout': 'exiting: the event loop is blocked and the time for stopping is used up',
}

// A diagnostic report of Node.js repeats the environment, with its secrets, for every thread that does not opt out.
process.report.excludeEnv = true

const { state, key, limits, watchesSignals, exitCode, level, json } = workerData as WatchdogData
const loop = loopStateReader(state)
const detector = createBlockDetector(limits)
// The streams of a thread pass through the main thread, which is blocked.
const log = createLogger({ level, json, stream: { write: writeNow } })
let isEnding = false

const now = () => performance.now()

function check(): void {
  const report = loop.read()
  const alarm = detector.check(now(), report)
  if (alarm.isNew) loop.countBlock()
  if (alarm.end !== undefined) void end(alarm, alarm.end, report.runIds)
  else if (alarm.isNew) void write('the event loop is blocked: the server answers no requests', alarm, report.runIds)
}

async function write(
  message: string,
  { blockedMs }: Alarm,
  runIds: readonly string[],
  more?: LogFields,
): Promise<void> {
  const code = await describeBlockedCode(key, ANSWER_MS)
  log.error(message, blockedHere(code), {
    runId: code?.runId,
    runIds: runIds.slice(0, MAX_RUN_IDS).join(' '),
    runs: runIds.length,
    blockedMs: Math.round(blockedMs),
    ...more,
  })
}

function blockedHere(code: BlockedCode | undefined): Error {
  if (code === undefined) return withoutStack('the location is unknown: the event loop executes native code')
  if (code.stack === '')
    return withoutStack('the location is unknown: callbacks of resolved promises follow each other')
  const error = new Error('the event loop executes this code')
  error.stack = `${error.message}\n${code.stack}`
  return error
}

function withoutStack(message: string): Error {
  const error = new Error(message)
  delete error.stack
  return error
}

async function end(alarm: Alarm, reason: EndReason, runIds: readonly string[]): Promise<void> {
  if (isEnding) return
  isEnding = true
  await write(MESSAGES[reason], alarm, runIds, { exitCode })
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), EXIT_MS)
  exitFromMainThread(key)
}

/** Checks at the deadline too, not only at the next regular check. */
function checkAtDeadline(): void {
  const deadlineMs = detector.deadlineMs()
  if (deadlineMs !== undefined) setTimeout(check, Math.max(0, deadlineMs - now()) + 1)
}

function writeNow(text: string): void {
  try {
    writeSync(STDERR, text)
  } catch {
    // Nothing reads stderr; ending the process matters more than the line.
  }
}

setInterval(check, CHECK_MS)
if (watchesSignals) {
  watchSignals(() => {
    detector.onSignal(now())
    checkAtDeadline()
  })
}
parentPort?.on('message', ({ stopWithinMs }: StopMessage) => {
  detector.stopWithin(now(), stopWithinMs)
  checkAtDeadline()
})
