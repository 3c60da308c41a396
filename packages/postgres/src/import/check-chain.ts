import { hash } from 'node:crypto'
import { type AuditLink, GENESIS_HASH, StartError } from '@perdure/ports'
import type { Execute } from '../connection/connection.ts'
import { readCursor } from './read-cursor.ts'

interface LinkRow {
  readonly seq: number
  readonly hash: string
  readonly prev_hash: string
  readonly entry: string
}

/** Entries that are read at once; an entry has at most a few kilobytes. */
const LINKS_PER_READ = 500

const LINKS = 'select seq, hash, prev_hash, entry from audit_entries order by seq'

/**
 * Walks the audit chain of the schema and returns its number of entries.
 *
 * @throws StartError `copy-refused` if an entry is missing, altered or out of order
 */
export async function checkChain(execute: Execute): Promise<number> {
  const { rows } = await execute({ text: 'select name, seq, hash from audit_heads', values: [] })
  const heads = rows as readonly (Pick<AuditLink, 'seq' | 'hash'> & { readonly name: string })[]
  let entries = 0
  let before: Pick<AuditLink, 'seq' | 'hash'> = heads.find(({ name }) => name === 'base') ?? {
    seq: 0,
    hash: GENESIS_HASH,
  }
  for await (const link of readCursor<LinkRow>(execute, { text: LINKS, limit: LINKS_PER_READ })) {
    const isNext = link.seq === before.seq + 1 && link.prev_hash === before.hash
    if (!isNext || hash('sha256', link.prev_hash + link.entry) !== link.hash) throw broken(before.seq + 1)
    before = link
    entries++
  }
  const head = heads.find(({ name }) => name === 'head')
  if (head !== undefined && (head.seq !== before.seq || head.hash !== before.hash)) throw broken(before.seq + 1)
  return entries
}

const broken = (seq: number): StartError =>
  new StartError('copy-refused', {
    message: `The audit chain of the database file is broken at entry ${seq}.`,
    hint: 'Find out why with `perdure audit verify` and the guide on audit and encryption. The file was not changed, and no server accepts the copy.',
  })
