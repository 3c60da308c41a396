import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { toJsonText } from '@perdure/ports'
import { anEvent } from '@perdure/testkit'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createBackup } from './backup.ts'
import { openConnection, PAGE_BYTES } from './connection.ts'
import { openSqliteStorage } from './open-sqlite-storage.ts'
import { restoreBackup } from './restore.ts'

const HEADER = 32
const FRAME = 24 + PAGE_BYTES

let directory: string
let path: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'perdure-log-'))
  path = join(directory, 'data.db')
})
afterEach(() => rmSync(directory, { recursive: true }))

/** The files as a process leaves them that is killed after so many commits, of so many bytes each. */
async function leave(commits: number, { bytes = 10, earlier = 0, pageBytes = PAGE_BYTES } = {}): Promise<void> {
  const from = join(directory, 'from.db')
  const database = new Database(from)
  database.pragma(`page_size = ${pageBytes}`)
  database.pragma('journal_mode = WAL')
  database.close()
  const storage = await openSqliteStorage({ path: from, mode: 'lib' })
  for (let n = 0; n < earlier + commits; n++) {
    if (n === earlier && n > 0) beginAgain(from)
    const payload = toJsonText({ text: 'x'.repeat(bytes) })
    await storage.unitOfWork.commit([{ type: 'event.append', events: [anEvent({ topic: 'all', payload })] }])
  }
  for (const suffix of ['', '-wal']) copyFileSync(from + suffix, path + suffix)
  await storage.close()
}

/** The next commit is written at the start of the log, over what is there. */
function beginAgain(of: string): void {
  const { database } = openConnection(of)
  database.pragma('wal_checkpoint(RESTART)')
  database.close()
}

const log = () => readFileSync(`${path}-wal`)

/** The places of the frames that end a commit. */
const commitsOf = (bytes: Buffer): readonly number[] =>
  Array.from({ length: Math.floor((bytes.length - HEADER) / FRAME) }, (_, n) => HEADER + n * FRAME).filter(
    (at) => bytes.readUInt32BE(at + 4) !== 0,
  )

function flip(at: number): void {
  const bytes = log()
  bytes[at] = (bytes[at] ?? 0) ^ 1
  writeFileSync(`${path}-wal`, bytes)
}

async function countServed(): Promise<number> {
  const storage = await openSqliteStorage({ path })
  const count = await storage.events.count({ topic: 'all' }, { after: 0, through: 1e9 })
  await storage.close()
  return count
}

describe('a log that a killed process has left', () => {
  it('is read whole', async () => {
    await leave(5)
    expect(await countServed()).toBe(5)
  })

  it.each([
    ['in the page of an early frame', () => HEADER + 24 + 100],
    ['in the header of an early frame', () => HEADER + 17],
    ['in the frame before the last commit', () => (commitsOf(log()).at(-2) ?? 0) + 24 + 7],
    ['in its salts', () => 20],
    ['in its own checksum', () => 25],
  ])('is refused by name when a bit has changed %s, and stays as it is', async (_, place) => {
    await leave(5)
    flip(place())
    const before = log()

    await expect(countServed()).rejects.toMatchObject({
      kind: 'storage-corrupt',
      message: expect.stringContaining('-wal'),
    })
    expect(log().equals(before)).toBe(true)
  })

  it.each([
    ['in its salts', 20],
    ['in its own checksum', 25],
  ])('is refused in a file of larger pages when a bit has changed %s', async (_, place) => {
    await leave(5, { pageBytes: 2 * PAGE_BYTES })
    flip(place)

    await expect(countServed()).rejects.toMatchObject({ kind: 'storage-corrupt' })
  })

  it('can be given up from the damage on, by a backup that is restored', async () => {
    await leave(5)
    flip(commitsOf(log()).at(-2) ?? 0)
    const out = join(directory, 'rest.db')

    await createBackup(path, { out })
    await restoreBackup(out, { path })

    expect(await countServed()).toBe(3)
  })

  it.each([
    ['missing', () => rmSync(path)],
    ['empty', () => writeFileSync(path, '')],
  ])('is not thrown away because its file is %s', async (_, damage) => {
    await leave(5)
    damage()
    const before = log()

    for (const mode of ['server', 'lib'] as const) {
      await expect(openSqliteStorage({ path, mode })).rejects.toMatchObject({ kind: 'storage-corrupt' })
    }
    expect(log().equals(before)).toBe(true)
  })

  it('loses what was being written when the power went, and nothing else', async () => {
    await leave(5, { bytes: 3 * PAGE_BYTES })
    flip((commitsOf(log()).at(-1) ?? 0) - FRAME + 24)
    expect(await countServed()).toBe(4)
  })

  it('may end in the middle of a frame', async () => {
    await leave(5)
    writeFileSync(`${path}-wal`, log().subarray(0, -100))
    expect(await countServed()).toBe(4)
  })

  it('may hold what an earlier generation has left behind the last commit', async () => {
    await leave(3, { earlier: 40 })
    expect(commitsOf(log()).length).toBeGreaterThan(20)
    expect(await countServed()).toBe(43)
  })

  it('may have holes where commits are not flushed', async () => {
    await leave(5)
    flip(HEADER + 24 + 100)
    await (await openSqliteStorage({ path, synchronous: 'normal' })).close()
  })
})
