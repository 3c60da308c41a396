import type { LockoutRecord, LockoutStore } from '@perdure/ports'
import type { Param } from '@perdure/storage'
import { compile } from '@perdure/storage'
import { type RawBuilder, sql } from 'kysely'
import type { Connection } from '../connection/connection.ts'
import { from } from '../query/compile.ts'
import type { LockoutTable } from './access-schema.ts'

/** Failed attempts that every process on the schema counts. */
export const createLockoutStore = (db: Connection): LockoutStore => ({
  find: async (addresses) => (await db.all(FIND, { addresses })).map(toRecord),
  async put(records) {
    const stored = new Set<string>()
    // Each statement takes its locks in the order of the addresses, so two processes cannot block each other.
    const sorted = records.toSorted((one, other) => (one.address < other.address ? -1 : 1))
    const isNew = ({ version }: LockoutRecord) => version === 1
    for (const [query, part] of [
      [INSERT, sorted.filter(isNew)],
      [REPLACE, sorted.filter((record) => !isNew(record))],
    ] as const) {
      if (part.length === 0) continue
      for (const { address } of await db.all(query, toColumns(part))) stored.add(address)
    }
    return records.flatMap(({ address }) => (stored.has(address) ? [] : [address]))
  },
  locked: async (now, limit) => (await db.all(LOCKED, { now, limit })).map(toRecord),
  prune: async (before, limit) => (await db.run(PRUNE, { before, limit })).changes,
})

interface LockoutColumns {
  readonly addresses: readonly string[]
  readonly failures: readonly string[]
  readonly locks: readonly number[]
  readonly lockedUntil: readonly number[]
  readonly lastAt: readonly number[]
  readonly versions: readonly number[]
}

const toColumns = (records: readonly LockoutRecord[]): LockoutColumns => ({
  addresses: records.map(({ address }) => address),
  failures: records.map(({ failedAt }) => JSON.stringify(failedAt)),
  locks: records.map(({ locks }) => locks),
  lockedUntil: records.map(({ lockedUntil }) => lockedUntil),
  lastAt: records.map(({ failedAt, lockedUntil }) => Math.max(lockedUntil, ...failedAt)),
  versions: records.map(({ version }) => version),
})

const rowsOf = (param: Param<LockoutColumns>): RawBuilder<unknown> =>
  sql`unnest(${param('addresses')}::text[], ${param('failures')}::text[], ${param('locks')}::integer[],
    ${param('lockedUntil')}::bigint[], ${param('lastAt')}::bigint[], ${param('versions')}::integer[])
    as new (address, failed_at, locks, locked_until, last_at, version)`

const INSERT = compile<LockoutColumns, { address: string }>(
  (param) => sql<{ address: string }>`insert into lockouts (address, failed_at, locks, locked_until, last_at, version)
      select * from ${rowsOf(param)} on conflict (address) do nothing returning address`,
)

const REPLACE = compile<LockoutColumns, { address: string }>(
  (param) => sql<{ address: string }>`with held as (
        select address from lockouts where address = any(${param('addresses')}::text[]) order by address for update
      )
      update lockouts set failed_at = new.failed_at, locks = new.locks, locked_until = new.locked_until,
        last_at = new.last_at, version = new.version
      from ${rowsOf(param)}, held
      where lockouts.address = new.address and held.address = new.address and lockouts.version = new.version - 1
      returning lockouts.address`,
)

const FIND = compile<{ addresses: readonly string[] }, LockoutTable>(
  (param) => sql<LockoutTable>`select * from lockouts where address = any(${param('addresses')}::text[])`,
)

const LOCKED = compile<{ now: number; limit: number }, LockoutTable>((param) =>
  from
    .selectFrom('lockouts')
    .selectAll()
    .where('locked_until', '>', param('now'))
    .orderBy('locked_until', 'desc')
    .orderBy('address')
    .limit(param('limit')),
)

const PRUNE = compile<{ before: number; limit: number }, unknown>(
  (param) => sql`delete from lockouts where address in (
      select address from lockouts where last_at < ${param('before')} limit ${param('limit')} for update skip locked
    ) and last_at < ${param('before')}`,
)

const toRecord = (row: LockoutTable): LockoutRecord => ({
  address: row.address,
  failedAt: JSON.parse(row.failed_at) as number[],
  locks: row.locks,
  lockedUntil: row.locked_until,
  version: row.version,
})
