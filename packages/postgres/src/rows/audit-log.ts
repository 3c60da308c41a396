import type { AuditEntry, AuditHead, AuditLink, AuditState, EpochMs, StagedAuditEntry } from '@perdure/ports'
import type { AuditHeadTable, AuditOutboxTable, AuditTable } from '@perdure/sql'
import { sql } from 'kysely'
import type { Connection } from '../connection/connection.ts'
import { compile, from } from '../query/compile.ts'

export interface AuditRange {
  readonly afterSeq: number
  readonly limit: number
}

export interface AuditRangeBefore {
  readonly beforeSeq: number
  readonly limit: number
}

export const readAudit = async (db: Connection, range: AuditRange): Promise<readonly AuditEntry[]> =>
  (await db.all(selectAfter, range)).map(toRecord)

export const readAuditBefore = async (db: Connection, range: AuditRangeBefore): Promise<readonly AuditEntry[]> =>
  (await db.all(selectBefore, range)).map(toRecord)

export const readAuditLinks = async (db: Connection, range: AuditRange): Promise<readonly AuditLink[]> =>
  (await db.all(selectAfter, range)).map(toLink)

/** One statement, so that the rows are of one snapshot. */
export async function readAuditState(db: Connection): Promise<AuditState> {
  const rows = await db.all(SELECT_STATE, {})
  const rowOf = (name: string) => rows.find((row) => row.name === name)
  const last = rowOf('last')
  return {
    last: last && { seq: last.seq, hash: last.hash },
    head: toHead(rowOf('head')),
    base: toHead(rowOf('base')),
  }
}

const toHead = (row: StateRow | undefined): AuditHead | undefined =>
  row && { seq: row.seq, hash: row.hash, mac: row.mac }

export const readStaged = async (db: Connection, limit: number): Promise<readonly StagedAuditEntry[]> =>
  (await db.all(selectStaged, { limit })).map(({ key, entry }) => ({ key, entry: JSON.parse(entry) }))

const selectAfter = compile<AuditRange, AuditTable>((param) =>
  from
    .selectFrom('audit_entries')
    .selectAll()
    .where('seq', '>', param('afterSeq'))
    .orderBy('seq')
    .limit(param('limit')),
)

const selectBefore = compile<AuditRangeBefore, AuditTable>((param) =>
  from
    .selectFrom('audit_entries')
    .selectAll()
    .where('seq', '<', param('beforeSeq'))
    .orderBy('seq', 'desc')
    .limit(param('limit')),
)

interface StateRow extends AuditHead {
  readonly name: 'last' | AuditHeadTable['name']
}

const SELECT_STATE = compile<object, StateRow>(() => ({
  compile: () =>
    sql<StateRow>`(select 'last' as name, seq, hash, '' as mac from audit_entries order by seq desc limit 1)
      union all select name, seq, hash, mac from audit_heads`.compile(from),
}))

const selectStaged = compile<{ readonly limit: number }, Pick<AuditOutboxTable, 'key' | 'entry'>>((param) =>
  from.selectFrom('audit_outbox').select(['key', 'entry']).orderBy('position').limit(param('limit')),
)

const toLink = ({ seq, hash, prev_hash, entry }: AuditTable): AuditLink => ({ seq, hash, prevHash: prev_hash, entry })

function toRecord(row: AuditTable): AuditEntry {
  const members = JSON.parse(row.entry)
  return { ...members, at: Date.parse(members.at) as EpochMs, ...toLink(row) }
}
