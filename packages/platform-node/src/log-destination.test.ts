import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createLogDestination, openLogDestination, type ProcessStream } from './log-destination.ts'
import { openServerLog } from './server-log.ts'

const OPTIONS = { droppedLine: (count: number) => `${count} dropped\n`, pauseMs: 0 }
const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

/** A stream that accepts one text at a time: `accept` completes the oldest pending write. */
function heldStream() {
  const texts: string[] = []
  const pending: ((error?: Error) => void)[] = []
  const stream: ProcessStream = {
    write(text, done) {
      texts.push(text)
      pending.push(done)
    },
  }
  return { stream, texts, accept: (error?: Error) => pending.shift()?.(error) }
}

/** A file, opened as the stderr of a process is. */
function openFile(path?: string) {
  const folder = mkdtempSync(join(tmpdir(), 'perdure-log-'))
  const file = path ?? join(folder, 'server.log')
  const fd = openSync(file, 'a')
  onTestFinished(() => {
    // A write to a full disk is repeated until the process ends, so its descriptor must not be reused.
    if (path === undefined) closeSync(fd)
    rmSync(folder, { recursive: true })
  })
  const write = () => {
    throw new Error('files must not be written through their stream')
  }
  return { stream: { fd, write } satisfies ProcessStream, read: () => readFileSync(file, 'utf8') }
}

describe('createLogDestination', () => {
  it('writes the lines of one turn of the event loop together', async () => {
    const { stream, texts, accept } = heldStream()
    const { write } = createLogDestination(stream, OPTIONS)
    write('a\n')
    write('b\n')
    expect(texts).toEqual([])
    await nextTurn()
    accept()
    write('c\n')
    await nextTurn()

    expect(texts).toEqual(['a\nb\n', 'c\n'])
  })

  it('starts a write when the one before it has ended', async () => {
    const { stream, texts, accept } = heldStream()
    const { write } = createLogDestination(stream, OPTIONS)
    for (const line of ['a\n', 'b\n', 'c\n']) {
      write(line)
      await nextTurn()
    }
    expect(texts).toEqual(['a\n'])
    accept()

    expect(texts).toEqual(['a\n', 'b\nc\n'])
  })

  it('writes together what is written within the pause after a write, unless it is flushed', async () => {
    const { stream, texts, accept } = heldStream()
    const { write, flush } = createLogDestination(stream, { ...OPTIONS, pauseMs: 60_000 })
    write('a\n')
    await nextTurn()
    accept()
    for (const line of ['b\n', 'c\n']) {
      write(line)
      await nextTurn()
    }
    expect(texts).toEqual(['a\n'])
    const flushed = flush(60_000)
    accept()
    await flushed

    expect(texts).toEqual(['a\n', 'b\nc\n'])
  })

  it('writes a line that waits for the pause after it', async () => {
    const { stream, texts, accept } = heldStream()
    const { write } = createLogDestination(stream, { ...OPTIONS, pauseMs: 20 })
    write('a\n')
    await nextTurn()
    accept()
    write('b\n')
    await nextTurn()
    expect(texts).toEqual(['a\n'])

    await vi.waitFor(() => expect(texts).toEqual(['a\n', 'b\n']), 10_000)
  })

  it('drops and counts lines beyond its bound, and reports their number after the waiting lines', async () => {
    const { stream, texts, accept } = heldStream()
    const { write, droppedLines } = createLogDestination(stream, { ...OPTIONS, maxBuffered: 10 })
    write('12345\n')
    await nextTurn()
    write('ab\n')
    for (let count = 0; count < 1_000; count++) write('lost\n')
    expect(droppedLines()).toBe(1_000)
    accept()
    expect(texts.at(-1)).toBe('ab\n1000 dropped\n')
    accept()
    write('later\n')
    await nextTurn()
    accept()

    expect(texts.join('')).toBe('12345\nab\n1000 dropped\nlater\n')
  })

  it('reports dropped lines even if no other line waits', async () => {
    const { stream, texts, accept } = heldStream()
    const { write } = createLogDestination(stream, { ...OPTIONS, maxBuffered: 6 })
    write('12345\n')
    await nextTurn()
    write('lost\n')
    accept()

    expect(texts).toEqual(['12345\n', '1 dropped\n'])
  })

  it('counts the lines of a failed write as dropped, and does not report them to the closed stream', async () => {
    const { stream, texts, accept } = heldStream()
    const { write, droppedLines, flush } = createLogDestination(stream, OPTIONS)
    write('a\n')
    write('b\n')
    await nextTurn()
    accept(new Error('EPIPE'))
    await flush(0)

    expect(droppedLines()).toBe(2)
    expect(texts).toEqual(['a\nb\n'])
  })

  it('flushes without waiting for the next turn, and stops waiting in time', async () => {
    const { stream, texts, accept } = heldStream()
    const { write, flush } = createLogDestination(stream, OPTIONS)
    await flush(0)
    write('a\n')
    const flushed = flush(60_000)
    expect(texts).toEqual(['a\n'])
    accept()
    await flushed
    write('b\n')

    await flush(1)
  })

  it('writes every line to a file in order', async () => {
    const { stream, read } = openFile()
    const { write, flush } = createLogDestination(stream, OPTIONS)
    const lines = Array.from({ length: 2_000 }, (_, index) => `${index} ${'é'.repeat(100)}\n`)
    for (const [index, line] of lines.entries()) {
      write(line)
      if (index % 100 === 0) await nextTurn()
    }
    await flush(60_000)

    expect(read()).toBe(lines.join(''))
  })

  it('writes the waiting lines to a file before flushNow returns', () => {
    const { stream, read } = openFile()
    const { write, flushNow } = createLogDestination(stream, OPTIONS)
    write('a\n')
    flushNow()

    expect(read()).toBe('a\n')
  })

  it('passes the waiting lines to a pipe before flushNow returns', () => {
    const { stream, texts } = heldStream()
    const { write, flushNow } = createLogDestination(stream, OPTIONS)
    write('a\n')
    flushNow()

    expect(texts).toEqual(['a\n'])
  })

  it('keeps a bounded number of lines while the disk is full, and does not throw', async () => {
    const { stream } = openFile('/dev/full')
    const { write, droppedLines, flush, flushNow } = createLogDestination(stream, { ...OPTIONS, maxBuffered: 100 })
    for (let count = 0; count < 30; count++) {
      write('123456789\n')
      await nextTurn()
    }
    await flush(1)
    flushNow()

    expect(droppedLines()).toBe(20)
  })
})

describe('openLogDestination', () => {
  it('returns one destination per stream, so that the lines of two loggers stay in order', async () => {
    const { stream, read } = openFile()
    const [one, other] = [openServerLog({ stream }), openServerLog({ stream })]
    one.logger.info('first')
    other.logger.info('second')
    one.logger.info('third')
    await other.flush(60_000)

    expect(
      read()
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).msg),
    ).toEqual(['first', 'second', 'third'])
    expect(openLogDestination(stream, OPTIONS)).toBe(openLogDestination(stream, OPTIONS))
  })
})

describe('openServerLog', () => {
  it.each([true, false])('reports dropped lines as a warning in its own format (json: %s)', async (json) => {
    const { stream, texts, accept } = heldStream()
    const { logger, droppedLines } = openServerLog({ level: 'error', json, stream })
    logger.error('a', new Error('b'))
    await nextTurn()
    const huge = 'x'.repeat(3 * 1024 * 1024)
    logger.error(huge, new Error('c'))
    logger.error(huge, new Error('d'))
    expect(droppedLines()).toBe(1)
    accept()
    await vi.waitFor(() => expect(texts).toHaveLength(2), 10_000)
    const report = texts.at(-1)?.trim().split('\n').at(-1) ?? ''

    if (json)
      expect(JSON.parse(report)).toMatchObject({ level: 'warn', msg: expect.stringContaining('dropped'), lines: 1 })
    else expect(report).toMatch(/^\d\d:\d\d:\d\d\.\d{3} warn {2}log lines were dropped .* lines=1$/)
  })
})
