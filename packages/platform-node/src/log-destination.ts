import { fstatSync, write, writeSync } from 'node:fs'
import process from 'node:process'
import type { LogStream } from './logger.ts'

/** A stream of the process, such as `process.stderr`. */
export interface ProcessStream {
  /** Missing in worker threads. */
  readonly fd?: number | undefined
  write(text: string, done: (error?: Error | null) => void): unknown
}

/**
 * Writes log lines without blocking the caller, one write at a time. A line is written after the present turn of the
 * event loop, or `pauseMs` later if the last write began less than `pauseMs` ago: a write costs more than its lines.
 * While the destination accepts nothing (a pipe that nobody reads, a full disk), lines wait in a bounded buffer. Lines
 * that do not fit are dropped and counted; once the waiting lines are written, one more line reports how many were
 * dropped.
 */
export interface LogDestination extends LogStream {
  write(text: string): void
  /** Number of lines dropped so far. */
  droppedLines(): number
  /** Resolves when every line is written, or after `withinMs`. */
  flush(withinMs: number): Promise<void>
  /**
   * Writes the waiting lines synchronously, as far as the destination accepts them. For a process that is about to exit
   * or whose event loop is blocked.
   */
  flushNow(): void
}

export interface LogDestinationOptions {
  /** Formats the line that reports dropped lines. */
  readonly droppedLine: (count: number) => string
  /** Maximum number of buffered characters, including those that are being written. */
  readonly maxBuffered?: number
  /** In milliseconds; 10 by default. */
  readonly pauseMs?: number
}

const MAX_BUFFERED = 4 * 1024 * 1024
const PAUSE_MS = 10
/** Delay before a failed write is retried, for example when the disk is full. */
const RETRY_MS = 500

type Done = (error?: Error | null) => void

const destinations = new WeakMap<ProcessStream, LogDestination>()

/**
 * Returns the destination of the stream; the first call creates it. All loggers of a stream share it, so that their
 * lines stay in order. Waiting lines are written when the process exits.
 */
export function openLogDestination(stream: ProcessStream, options: LogDestinationOptions): LogDestination {
  const known = destinations.get(stream)
  if (known !== undefined) return known
  const created = createLogDestination(stream, options)
  destinations.set(stream, created)
  process.on('exit', created.flushNow)
  return created
}

export function createLogDestination(stream: ProcessStream, options: LogDestinationOptions): LogDestination {
  const { droppedLine, maxBuffered = MAX_BUFFERED, pauseMs = PAUSE_MS } = options
  const output = isFile(stream.fd) ? fileOutput(stream.fd) : streamOutput(stream)
  let lines: string[] = []
  let waitingLength = 0
  let isSending = false
  let sendingLength = 0
  let isScheduled = false
  let sentAt = Number.NEGATIVE_INFINITY
  let dropped = 0
  let reported = 0
  const idleListeners: (() => void)[] = []

  const hasWaiting = () => lines.length > 0 || dropped > reported

  const take = (): string => {
    const text = lines.join('') + (dropped > reported ? droppedLine(dropped - reported) : '')
    lines = []
    waitingLength = 0
    reported = dropped
    return text
  }

  const isPausing = () => performance.now() - sentAt < pauseMs

  const schedule = () => {
    if (isScheduled || isSending || !hasWaiting()) return
    isScheduled = true
    if (isPausing()) setTimeout(send, pauseMs)
    else setImmediate(send)
  }

  const send = () => {
    isScheduled = false
    if (isSending || !hasWaiting()) return
    const count = lines.length
    const text = take()
    isSending = true
    sentAt = performance.now()
    sendingLength = text.length
    output.write(text, (error) => {
      if (error) {
        // The stream is closed for good, so the loss cannot be reported.
        dropped += count
        reported = dropped
      }
      isSending = false
      sendingLength = 0
      if (isPausing() && idleListeners.length === 0) schedule()
      else send()
      if (!isSending) for (const listener of idleListeners.splice(0)) listener()
    })
  }

  return {
    write(text) {
      if (waitingLength + sendingLength + text.length > maxBuffered) {
        dropped++
        return
      }
      lines.push(text)
      waitingLength += text.length
      schedule()
    },
    droppedLines: () => dropped,
    flush: (withinMs) =>
      new Promise((resolve) => {
        send()
        if (!isSending) return resolve()
        const timer = setTimeout(resolve, withinMs)
        idleListeners.push(() => {
          clearTimeout(timer)
          resolve()
        })
      }),
    flushNow() {
      if (hasWaiting()) output.writeNow(take())
    },
  }
}

interface Output {
  /** Calls `done` when the text is written, or with an error when no text can be written any more. */
  write(text: string, done: Done): void
  writeNow(text: string): void
}

/**
 * Pipes and sockets: their streams write what fits without blocking, and write the rest once the reader has made room.
 */
const streamOutput = (stream: ProcessStream): Output => ({
  write: (text, done) => void stream.write(text, done),
  writeNow: (text) => void stream.write(text, () => undefined),
})

/**
 * Files, devices and terminals: their streams would block the event loop, and would close after the first error. A
 * thread of libuv waits for the disk instead.
 */
const fileOutput = (fd: number): Output => ({
  write(text, done) {
    let rest = Buffer.from(text)
    const writeRest = () =>
      write(fd, rest, (error, written) => {
        if (error !== null) return void setTimeout(writeRest, RETRY_MS).unref()
        rest = rest.subarray(written)
        if (rest.length > 0) writeRest()
        else done()
      })
    writeRest()
  },
  writeNow(text) {
    try {
      writeSync(fd, text)
    } catch {
      // The process is exiting and the destination accepts no data, so these lines are lost.
    }
  },
})

function isFile(fd: number | undefined): fd is number {
  if (fd === undefined) return false
  const stats = fstatSync(fd)
  return !stats.isFIFO() && !stats.isSocket()
}
