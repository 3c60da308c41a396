import { copyFileSync, mkdirSync, mkdtempSync, rmSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { aRun } from '@perdure/testkit'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { createBackup } from './file/backup.ts'
import { restoreBackup } from './file/restore.ts'
import { openSqliteStorage } from './open-sqlite-storage.ts'

let directory: string
let path: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'perdure-log-'))
  path = join(directory, 'data.db')
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
})

describe('a start after a crash', () => {
  /** The files of a server that was killed. `log` is what happened to the write-ahead log before the next start. */
  async function crash(log: (file: string) => void) {
    const storage = await openSqliteStorage({ path })
    for (const id of ['a', 'b', 'c']) await storage.unitOfWork.commit([{ type: 'run.insert', run: aRun({ id }) }])
    const image = join(directory, 'crashed')
    mkdirSync(image)
    for (const suffix of ['', '-wal']) copyFileSync(`${path}${suffix}`, join(image, `data.db${suffix}`))
    await storage.close()
    path = join(image, 'data.db')
    log(`${path}-wal`)
  }

  async function startAndCount(): Promise<number> {
    let reports = 0
    await (await openSqliteStorage({ path, onLogMissing: () => void reports++ })).close()
    return reports
  }

  it('reports once that the write-ahead log is missing', async () => {
    await crash((file) => rmSync(file))

    expect([await startAndCount(), await startAndCount()]).toEqual([1, 0])
  })

  it.each<[string, (file: string) => void]>([
    ['is there', () => undefined],
    ['is empty, as after a checkpoint', (file) => truncateSync(file)],
  ])('reports nothing when the log %s', async (_, log) => {
    await crash(log)

    expect(await startAndCount()).toBe(0)
  })

  it('reports nothing for a new database, after a clean stop or after a restore of a running database', async () => {
    expect([await startAndCount(), await startAndCount()]).toEqual([0, 0])
    const storage = await openSqliteStorage({ path })
    await createBackup(path, { out: join(directory, 'backup.db') })
    await storage.close()

    await restoreBackup(join(directory, 'backup.db'), { path })

    expect(await startAndCount()).toBe(0)
  })
})
