import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EVERY_ROW, type JsonText, type Write } from '@perdure/ports'
import { anEvent, aRun } from '@perdure/testkit'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Connection, openConnection, openInlineConnection } from '../connection.ts'
import { applyMigrations } from '../migrate.ts'
import { findAnyRun } from '../run-store.ts'
import type { WriteJob } from './commit-group.ts'
import { createInlineCommits, type InlineCommits } from './inline-commits.ts'
import { createWorkerHost, startStorageWorker } from './worker-host.ts'

let directory: string
let path: string
let readFrom: Connection
let opened: number
let inline: InlineCommits

const openInline = () => {
  opened++
  return openInlineConnection(path, {})
}

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'perdure-inline-'))
  path = join(directory, 'data.db')
  readFrom = openConnection(path)
  applyMigrations(readFrom.database, { now: () => 0 })
  opened = 0
  inline = createInlineCommits({ open: openInline, expectedMs: 0, now: () => 0 })
})
afterEach(() => {
  inline.close()
  readFrom.database.close()
  rmSync(directory, { recursive: true })
})

const insert = (id: string, over = {}): Write => ({ type: 'run.insert', run: aRun({ id, ...over }) })
const job = (...request: readonly Write[]): WriteJob => ({ name: 'commit', request })
const isThere = (id: string) => findAnyRun(readFrom, id) !== undefined

describe('a commit on the thread of the server', () => {
  it('is one that is brief and comes alone', () => {
    const event = anEvent({ runId: 'a', type: 'started' })

    expect(inline.commit([job(insert('a'), { type: 'event.append', events: [event] })])).toMatchObject([
      { result: { committed: true, events: [{ ...event, position: 1 }], counts: [1, 1] } },
    ])
    expect(isThere('a')).toBe(true)
    expect(inline.commit([job(insert('a'))])).toMatchObject([{ result: { committed: false, index: 0 } }])
    expect(opened).toBe(1)
  })

  it.each<[string, readonly WriteJob[]]>([
    ['several', [job(insert('a')), job(insert('b'))]],
    ['one with much text', [job(insert('a', { input: JSON.stringify('x'.repeat(20_000)) as JsonText }))]],
    [
      'one with many events',
      [job(insert('a'), { type: 'event.append', events: Array(20).fill(anEvent({ runId: 'a' })) })],
    ],
    [
      'one that takes as long as there is to delete',
      [job(insert('a'), { type: 'event.trim', before: 1 as never, limit: 1 })],
    ],
  ])('is not %s', (_, jobs) => {
    expect(inline.commit(jobs)).toBeUndefined()
    expect(isThere('a')).toBe(false)
    expect(opened).toBe(0)
  })

  it('waits until commits were seen to be quick, and ends when they are slow', () => {
    const unknown = createInlineCommits({ open: openInline, now: () => 0 })
    expect(unknown.commit([job(insert('a'))])).toBeUndefined()
    for (let commits = 0; commits < 60; commits++) unknown.note(0.2)
    expect(unknown.commit([job(insert('a'))])).toBeDefined()

    unknown.note(40)
    expect(unknown.commit([job(insert('b'))])).toBeUndefined()
    unknown.close()
  })

  it('leaves one now and then to the storage thread, which moves the log into the file', () => {
    const tries = Array.from({ length: 130 }, (_, index) => inline.commit([job(insert(`run-${index}`))]))

    expect(tries.filter((settled) => settled === undefined)).toHaveLength(2)
  })

  it('waits for no lock of another process', () => {
    const other = new Database(path)
    other.exec('BEGIN IMMEDIATE')
    expect(inline.commit([job(insert('a'))])).toBeUndefined()
    other.close()

    expect(isThere('a')).toBe(false)
    expect(inline.commit([job(insert('a'))])).toBeDefined()
  })
})

describe('a host that commits on both threads', () => {
  const start = () => {
    const worker = startStorageWorker()
    const parts = { path, synchronous: 'full', readFrom: openConnection(path), onClosed: () => undefined } as const
    return { worker, host: createWorkerHost(worker, { ...parts, openInline, expectedMs: Number.NEGATIVE_INFINITY }) }
  }

  it('keeps what it acknowledged in one order, whoever wrote it', async () => {
    const { host } = start()
    const positions: number[] = []
    const append = async (topic: string) => {
      const outcome = await host.write('commit', [{ type: 'event.append', events: [anEvent({ topic })] }])
      if (outcome.committed) positions.push(...outcome.events.map(({ position }) => position))
    }
    for (let round = 0; round < 20; round++) {
      await append('alone')
      await Promise.all([append('beside'), append('beside'), append('beside')])
    }

    expect(positions).toEqual(Array.from({ length: 80 }, (_, index) => index + 1))
    expect(opened).toBe(1)
    await host.close()
  })

  it('gives a commit that meets a lock to the storage thread, which waits', async () => {
    const { host } = start()
    const other = new Database(path)
    await host.write('commit', [insert('first')])
    other.exec('BEGIN IMMEDIATE')
    const waiting = host.write('commit', [insert('a')])
    await new Promise((resolve) => setImmediate(resolve))
    other.close()

    expect(await waiting).toMatchObject({ committed: true })
    expect(await host.read('runs.find', { id: 'a', visibility: EVERY_ROW })).toBeDefined()
    await host.close()
  })

  it('leaves no log behind when it closes', async () => {
    const { host } = start()
    for (const id of ['a', 'b']) await host.write('commit', [insert(id)])
    readFrom.database.close()
    expect(opened).toBe(1)
    await host.close()

    expect(existsSync(`${path}-wal`)).toBe(false)
  })

  it('commits nothing while the storage thread still has something to do', async () => {
    const { host, worker } = start()
    const checkpoint = worker.ask({ type: 'checkpoint', truncate: false })
    const writing = host.write('commit', [insert('a')])
    await Promise.all([checkpoint, writing])

    expect(opened).toBe(0)
    expect(isThere('a')).toBe(true)
    await host.close()
  })
})
