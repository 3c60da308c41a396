import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { toJsonText } from '@perdure/ports'
import { anEvent } from '@perdure/testkit'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openSqliteStorage } from '../open-sqlite-storage.ts'
import { createBackup } from './backup.ts'
import { openConnection, PAGE_BYTES } from './connection.ts'
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

/** Creates the files that a process leaves when it is killed after `commits` commits of `bytes` bytes each. */
async function leaveFiles(commits: number, { bytes = 10, earlier = 0, pageBytes = PAGE_BYTES } = {}): Promise<void> {
  const from = join(directory, 'from.db')
  const database = new Database(from)
  database.pragma(`page_size = ${pageBytes}`)
  database.pragma('journal_mode = WAL')
  database.close()
  const storage = await openSqliteStorage({ path: from, mode: 'lib' })
  for (let n = 0; n < earlier + commits; n++) {
    if (n === earlier && n > 0) restartLog(from)
    const payload = toJsonText({ text: 'x'.repeat(bytes) })
    await storage.unitOfWork.commit([{ type: 'event.append', events: [anEvent({ topic: 'all', payload })] }])
  }
  for (const suffix of ['', '-wal']) copyFileSync(from + suffix, path + suffix)
  await storage.close()
}

/** Makes the next commit overwrite the log from its start. */
function restartLog(of: string): void {
  const { database } = openConnection(of)
  database.pragma('wal_checkpoint(RESTART)')
  database.close()
}

const log = () => readFileSync(`${path}-wal`)

/** The offsets of the frames that end a commit. */
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

describe('the write-ahead log of a killed process', () => {
  it('is read completely', async () => {
    await leaveFiles(5)
    expect(await countServed()).toBe(5)
  })

  it.each([
    ['in the page of an early frame', () => HEADER + 24 + 100],
    ['in the header of an early frame', () => HEADER + 17],
    ['in the frame before the last commit', () => (commitsOf(log()).at(-2) ?? 0) + 24 + 7],
    ['in its salts', () => 20],
    ['in its own checksum', () => 25],
  ])('is reported as damaged and stays unchanged after a bit flip %s', async (_, offset) => {
    await leaveFiles(5)
    flip(offset())
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
  ])('is reported as damaged in a file with larger pages after a bit flip %s', async (_, offset) => {
    await leaveFiles(5, { pageBytes: 2 * PAGE_BYTES })
    flip(offset)

    await expect(countServed()).rejects.toMatchObject({ kind: 'storage-corrupt' })
  })

  it('loses only the commits after the damage when a backup of the database is restored', async () => {
    await leaveFiles(5)
    flip(commitsOf(log()).at(-2) ?? 0)
    const out = join(directory, 'rest.db')

    await createBackup(path, { out })
    await restoreBackup(out, { path })

    expect(await countServed()).toBe(3)
  })

  it.each([
    ['missing', () => rmSync(path)],
    ['empty', () => writeFileSync(path, '')],
  ])('is kept when the database file is %s', async (_, damage) => {
    await leaveFiles(5)
    damage()
    const before = log()

    for (const mode of ['server', 'lib'] as const) {
      await expect(openSqliteStorage({ path, mode })).rejects.toMatchObject({ kind: 'storage-corrupt' })
    }
    expect(log().equals(before)).toBe(true)
  })

  it('loses only the commit that was being written when power was lost', async () => {
    await leaveFiles(5, { bytes: 3 * PAGE_BYTES })
    flip((commitsOf(log()).at(-1) ?? 0) - FRAME + 24)
    expect(await countServed()).toBe(4)
  })

  it('is accepted when it ends in the middle of a frame', async () => {
    await leaveFiles(5)
    writeFileSync(`${path}-wal`, log().subarray(0, -100))
    expect(await countServed()).toBe(4)
  })

  it('is accepted with frames of an earlier generation after the last commit', async () => {
    await leaveFiles(3, { earlier: 40 })
    expect(commitsOf(log()).length).toBeGreaterThan(20)
    expect(await countServed()).toBe(43)
  })

  it('is accepted with damaged frames when synchronous is normal', async () => {
    await leaveFiles(5)
    flip(HEADER + 24 + 100)
    await (await openSqliteStorage({ path, synchronous: 'normal' })).close()
  })
})
