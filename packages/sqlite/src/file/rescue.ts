import { existsSync, renameSync, rmSync } from 'node:fs'
import type Database from 'better-sqlite3'
import type { HeldFiles } from './held-files.ts'
import { createPrivateFile, fileStamp, preparePath } from './private-file.ts'
import { replaceFile } from './replace-file.ts'
import { rescueName } from './rescued-copy.ts'

/** Describes which files of an open database were removed or replaced, and where to save the content. */
export interface RescueRequest {
  readonly path: string
  /** Whether the database file is still there. Then only its write-ahead log was lost. */
  readonly hasDatabase: boolean
  /** Whether the file under the name of the write-ahead log is still the one that this process writes. */
  readonly hasWal: boolean
  /** Epoch milliseconds; becomes a part of file names. */
  readonly now: number
}

/** How the content was saved: in the database file itself, or in a copy beside it. */
export interface Rescued {
  readonly copy: string | undefined
}

/** The rescue that the lost files need; `undefined` if the files that hold content are all there. */
export function rescueFor(path: string, held: HeldFiles, now: number): RescueRequest | undefined {
  const lost = held.lost().map(({ file }) => file)
  const hasDatabase = !lost.includes(path)
  const hasWal = !lost.includes(`${path}-wal`)
  return hasDatabase && hasWal ? undefined : { path, hasDatabase, hasWal, now }
}

/**
 * Saves everything that this connection sees; it sees every commit, even from deleted files. Moves the content of a
 * lost write-ahead log into the database file. If the database file itself is lost, writes a copy beside it.
 *
 * @throws the error of the disk or the driver. Then nothing was changed.
 */
export function rescue(database: Database.Database, request: RescueRequest): Rescued {
  if (request.hasDatabase && mergeWal(database)) {
    setForeignWalAside(request)
    return { copy: undefined }
  }
  const copy = rescueName(request)
  preparePath(copy)
  database.pragma('query_only = OFF')
  replaceFile(copy, (temporary) => {
    createPrivateFile(temporary)
    database.prepare('VACUUM INTO ?').run(temporary)
  })
  if (request.hasWal) removeWal(database, request)
  return { copy }
}

/** Whether the whole write-ahead log is now in the database file; another process may prevent that. */
function mergeWal(database: Database.Database): boolean {
  const [result] = database.pragma('wal_checkpoint(TRUNCATE)') as readonly { readonly busy: number }[]
  return result?.busy === 0
}

/** SQLite would replay a log that another program put there. */
function setForeignWalAside({ path, now }: RescueRequest): void {
  if (existsSync(`${path}-wal`)) renameSync(`${path}-wal`, `${path}-wal.replaced-${fileStamp(now)}`)
}

/** SQLite would replay the log into whatever database now has the name. Completes a database file that was moved. */
function removeWal(database: Database.Database, { path }: RescueRequest): void {
  try {
    mergeWal(database)
  } catch {}
  for (const suffix of ['-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true })
}
