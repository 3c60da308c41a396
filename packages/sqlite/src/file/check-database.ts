import { createHash } from 'node:crypto'
import { GENESIS_HASH } from '@perdure/ports'
import type Database from 'better-sqlite3'
import type { Encryption } from './encryption.ts'
import { inspectDatabase } from './inspect-database.ts'
import { databaseOpener } from './open-database.ts'
import { translateStartError } from './sqlite-error.ts'

/** Findings of a full check of a database file. */
export interface DatabaseCheck {
  readonly isOk: boolean
  /** Findings of `PRAGMA integrity_check` on pages and indexes; at most 100. */
  readonly integrity: readonly string[]
  /** Rows that refer to a missing row, as `table:rowid`; at most 100. */
  readonly foreignKeys: readonly string[]
  readonly audit: ChainCheck
}

/** Result of checking the audit chain in this file. Only a server has the key to check the head of the chain. */
export interface ChainCheck {
  readonly entries: number
  /** The first entry that is missing, altered or out of order. */
  readonly firstBadSeq?: number | undefined
}

/**
 * Checks the whole file: its pages, its references and the audit chain. Read-only; safe while a server is running.
 *
 * @throws StartError `storage-corrupt` for a file that is not a Perdure database, `storage-newer-schema`,
 *   `migration-failed`, `encryption-passphrase-wrong`, …
 */
export async function checkDatabase(
  path: string,
  { encryption }: { readonly encryption?: Encryption | undefined } = {},
): Promise<DatabaseCheck> {
  const open = await databaseOpener(encryption)
  inspectDatabase(path, { checkAfterCrash: false, open })
  const database = openToRead(path, open)
  try {
    // All checks read one snapshot.
    database.exec('BEGIN')
    const integrity = integrityOf(database)
    const foreignKeys = brokenReferences(database)
    const audit = checkChain(database)
    const isOk = integrity.length + foreignKeys.length === 0 && audit.firstBadSeq === undefined
    return { isOk, integrity, foreignKeys, audit }
  } catch (error) {
    throw translateStartError(error, path)
  } finally {
    database.close()
  }
}

function openToRead(path: string, open: Awaited<ReturnType<typeof databaseOpener>>): Database.Database {
  try {
    return open(path, { readonly: true, fileMustExist: true })
  } catch (error) {
    throw translateStartError(error, path)
  }
}

function integrityOf(database: Database.Database): readonly string[] {
  try {
    const found = database.pragma('integrity_check(100)') as { readonly integrity_check: string }[]
    return found.map(({ integrity_check: finding }) => finding).filter((finding) => finding !== 'ok')
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)]
  }
}

function brokenReferences(database: Database.Database): readonly string[] {
  const found = database.pragma('foreign_key_check') as { readonly table: string; readonly rowid: number | null }[]
  return found.slice(0, 100).map(({ table, rowid }) => `${table}:${rowid ?? '?'}`)
}

interface Link {
  readonly seq: number
  readonly hash: string
  readonly prev_hash: string
  readonly entry: string
}

interface Head {
  readonly name: 'head' | 'base'
  readonly seq: number
  readonly hash: string
}

function checkChain(database: Database.Database): ChainCheck {
  const heads = database.prepare('SELECT name, seq, hash FROM audit_heads').all() as Head[]
  const base = heads.find(({ name }) => name === 'base')
  let entries = 0
  let before: Pick<Link, 'seq' | 'hash'> = base ?? { seq: 0, hash: GENESIS_HASH }
  const links = database.prepare('SELECT seq, hash, prev_hash, entry FROM audit_entries ORDER BY seq')
  for (const link of links.iterate() as IterableIterator<Link>) {
    if (!follows(link, before)) return { entries, firstBadSeq: Math.min(link.seq, before.seq + 1) }
    before = link
    entries++
  }
  const head = heads.find(({ name }) => name === 'head')
  const isWhole = head === undefined || (head.seq === before.seq && head.hash === before.hash)
  return isWhole ? { entries } : { entries, firstBadSeq: before.seq + 1 }
}

const follows = (link: Link, before: Pick<Link, 'seq' | 'hash'>): boolean =>
  link.seq === before.seq + 1 &&
  link.prev_hash === before.hash &&
  createHash('sha256')
    .update(link.prev_hash + link.entry)
    .digest('hex') === link.hash
