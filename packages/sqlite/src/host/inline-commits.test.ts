import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EVERY_ROW, type JsonText, type Write } from '@perdure/ports'
import { runNow, runReads } from '@perdure/storage'
import { findAnyRun } from '@perdure/storage/queries'
import { anEvent, aRun } from '@perdure/testkit'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Connection, openConnection, openInlineConnection } from '../file/connection.ts'
import { applyMigrations } from '../file/migrate.ts'
import { SQLITE } from '../query/dialect.ts'
import type { WriteJob } from './commit-group.ts'
import { createInlineCommits, type InlineCommits, maxInlineJobs } from './inline-commits.ts'
import { createWorkerHost, startStorageWorker } from './worker-host.ts'

let directory: string
let path: string
let readFrom: Connection
let opened: number
/** Transactions on inline connections. */
let begun: number
let inline: InlineCommits

const openInline = (): Connection => {
  opened++
  const db = openInlineConnection(path, {})
  return {
    ...db,
    run(query, values) {
      if (query.in(SQLITE).text === 'BEGIN IMMEDIATE') begun++
      return db.run(query, values)
    },
  }
}

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'perdure-inline-'))
  path = join(directory, 'data.db')
  readFrom = openConnection(path)
  applyMigrations(readFrom.database, { now: () => 0 })
  opened = 0
  begun = 0
  inline = createInlineCommits({ open: openInline, initialMeanMs: 0, now: () => 0 })
})
afterEach(() => {
  inline.close()
  readFrom.database.close()
  rmSync(directory, { recursive: true })
})

const insert = (id: string, over = {}): Write => ({ type: 'run.insert', run: aRun({ id, ...over }) })
const job = (...request: readonly Write[]): WriteJob => ({ request })
const LONG = JSON.stringify('x'.repeat(20_000)) as JsonText
const isThere = (id: string) => runNow(findAnyRun(readFrom.db, id)) !== undefined

describe('createInlineCommits', () => {
  it('commits a single small job inline', () => {
    const event = anEvent({ runId: 'a', type: 'started' })

    expect(inline.commit([job(insert('a'), { type: 'event.append', events: [event] })])).toMatchObject([
      { result: { committed: true, events: [{ ...event, position: 1 }], counts: [1, 1] } },
    ])
    expect(isThere('a')).toBe(true)
    expect(inline.commit([job(insert('a'))])).toMatchObject([{ result: { committed: false, index: 0 } }])
    expect(opened).toBe(1)
  })

  it('commits inline when a run takes its slots', () => {
    const take: Write = { type: 'lane.take', runId: 'a', slots: [{ lane: 'x', slot: 0 }], now: 1 as never }

    expect(inline.commit([job(insert('a'), take)])).toMatchObject([{ result: { committed: true, counts: [1, 1] } }])
    expect(inline.commit([job(insert('b'), { ...take, runId: 'b' })])).toMatchObject([
      { result: { committed: false, index: 1, conflict: { current: { runId: 'a' } } } },
    ])
  })

  it.each<[string, readonly WriteJob[]]>([
    ['several jobs', [job(insert('a')), job(insert('b'))]],
    ['a job with a long text', [job(insert('a', { input: LONG }))]],
    ['a run that has ended with a long result', [job(insert('a', { status: 'completed', result: LONG }))]],
    [
      'a job that replaces an input with a long one',
      [job({ type: 'run.transition', runId: 'a', from: ['queued'], attempt: 1, change: { input: LONG } })],
    ],
    ['a job that prunes slots', [job(insert('a'), { type: 'lane.prune', now: 1 as never, limit: 1 })]],
    [
      'a job with many events',
      [job(insert('a'), { type: 'event.append', events: Array(20).fill(anEvent({ runId: 'a' })) })],
    ],
    [
      'a job whose duration depends on the number of deleted rows',
      [job(insert('a'), { type: 'event.trim', before: 1 as never, limit: 1 })],
    ],
  ])('leaves %s to the storage thread', (_, jobs) => {
    expect(inline.commit(jobs)).toBeUndefined()
    expect(isThere('a')).toBe(false)
    expect(begun).toBe(0)
  })

  it('commits inline once measured commits are fast, and stops when they are slow', () => {
    const unknown = createInlineCommits({ open: openInline, now: () => 0 })
    expect(unknown.commit([job(insert('a'))])).toBeUndefined()
    for (let commits = 0; commits < 60; commits++) unknown.recordDuration(0.2, 1)
    expect(unknown.commit([job(insert('a'))])).toBeDefined()

    unknown.recordDuration(40, 1)
    expect(unknown.commit([job(insert('b'))])).toBeUndefined()
    unknown.close()
  })

  it('commits a group inline on a single processor, unless its texts are long together', () => {
    const single = createInlineCommits({ open: openInline, initialMeanMs: 0, maxJobs: maxInlineJobs(1), now: () => 0 })
    const jobs = (prefix: string, over = {}) =>
      Array.from({ length: 5 }, (_, index) => job(insert(`${prefix}${index}`, over)))

    expect(single.commit(jobs('small'))).toHaveLength(5)
    expect(single.commit(jobs('large', { input: JSON.stringify('x'.repeat(15_000)) }))).toBeUndefined()
    expect(single.commit(Array.from({ length: 33 }, (_, index) => job(insert(`many${index}`))))).toBeUndefined()
    expect([begun, isThere('small4'), isThere('large0'), isThere('many0')]).toEqual([1, true, false, false])
    expect([maxInlineJobs(2), maxInlineJobs(64)]).toEqual([1, 1])
    single.close()
  })

  it('judges the disk by the flush, not by the number of jobs in a group', () => {
    const unknown = createInlineCommits({ open: openInline, maxJobs: 32, now: () => 0 })
    for (let commits = 0; commits < 60; commits++) unknown.recordDuration(3, 32)
    expect(unknown.commit([job(insert('a')), job(insert('b'))])).toBeDefined()

    for (let commits = 0; commits < 20; commits++) unknown.recordDuration(23, 32)
    expect(unknown.commit([job(insert('c')), job(insert('d'))])).toBeUndefined()
    unknown.close()
  })

  it('leaves every 64th commit to the storage thread, which checkpoints the log', () => {
    const tries = Array.from({ length: 130 }, (_, index) => inline.commit([job(insert(`run-${index}`))]))

    expect(tries.filter((results) => results === undefined)).toHaveLength(2)
  })

  it('opens its connection at once, and leaves commits to the storage thread until it can be opened', () => {
    let hasDescriptors = false
    const scarce = createInlineCommits({
      open() {
        if (!hasDescriptors) throw new Database.SqliteError('unable to open database file', 'SQLITE_CANTOPEN')
        return openInline()
      },
      ...{ initialMeanMs: 0, now: () => 0 },
    })
    expect(opened).toBe(1)
    expect(scarce.commit([job(insert('a'))])).toBeUndefined()

    hasDescriptors = true
    const tries = Array.from({ length: 70 }, (_, index) => scarce.commit([job(insert(`run-${index}`))]))

    expect(tries.at(-1)).toMatchObject([{ result: { committed: true } }])
    expect(opened).toBe(2)
    scarce.close()
  })

  it('does not wait for a lock that another process holds', () => {
    const other = new Database(path)
    other.exec('BEGIN IMMEDIATE')
    expect(inline.commit([job(insert('a'))])).toBeUndefined()
    other.close()

    expect(isThere('a')).toBe(false)
    expect(inline.commit([job(insert('a'))])).toBeDefined()
  })
})

describe('a worker host with inline commits', () => {
  const start = () => {
    const worker = startStorageWorker()
    const parts = { path, synchronous: 'full', readFrom: openConnection(path), onClosed: () => undefined } as const
    return { worker, host: createWorkerHost(worker, { ...parts, openInline, initialMeanMs: Number.NEGATIVE_INFINITY }) }
  }

  it('keeps acknowledged events in one order across both threads', async () => {
    const { host } = start()
    const positions: number[] = []
    const append = async (topic: string) => {
      const outcome = await host.commit([{ type: 'event.append', events: [anEvent({ topic })] }])
      if (outcome.committed) positions.push(...outcome.events.map(({ position }) => position))
    }
    for (let round = 0; round < 20; round++) {
      await append('alone')
      await Promise.all([append('beside'), append('beside'), append('beside')])
    }

    expect(positions).toEqual(Array.from({ length: 80 }, (_, index) => index + 1))
    expect(begun).toBeGreaterThan(0)
    await host.close()
  })

  it('passes a commit blocked by a lock to the storage thread, which waits for the lock', async () => {
    const { host } = start()
    const other = new Database(path)
    await host.commit([insert('first')])
    other.exec('BEGIN IMMEDIATE')
    const waiting = host.commit([insert('a')])
    await new Promise((resolve) => setImmediate(resolve))
    other.close()

    expect(await waiting).toMatchObject({ committed: true })
    expect(await host.read(runReads.find, 'a', EVERY_ROW)).toBeDefined()
    await host.close()
  })

  it('leaves no write-ahead log behind when it closes', async () => {
    const { host } = start()
    for (const id of ['a', 'b']) await host.commit([insert(id)])
    readFrom.database.close()
    inline.close()
    expect(begun).toBeGreaterThan(0)
    await host.close()

    expect(existsSync(`${path}-wal`)).toBe(false)
  })

  it('commits nothing inline while the storage thread is busy', async () => {
    const { host, worker } = start()
    const checkpoint = worker.send({ type: 'checkpoint', truncate: false })
    const writing = host.commit([insert('a')])
    await Promise.all([checkpoint, writing])

    expect(begun).toBe(0)
    expect(isThere('a')).toBe(true)
    await host.close()
  })
})
