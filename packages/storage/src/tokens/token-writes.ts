import type { EpochMs, TokenRecord } from '@perdure/ports'
import { sql } from 'kysely'
import { takeLock } from '../lock.ts'
import type { Program } from '../program.ts'
import { compile } from '../query/compile.ts'
import type { Db } from '../query/dialect.ts'
import { from } from '../query/from.ts'
import { insertInto } from '../query/table-queries.ts'
import type { WriteAppliers, WritesOf } from '../transaction.ts'
import { TOKENS, type TokenRow } from './token-row.ts'
import { tokenReads } from './token-store.ts'

export const tokenWrites: WriteAppliers<WritesOf<'token'>> = {
  *'token.insert'({ db }, { type, token }) {
    if (token.parentId !== undefined) yield* lockFamilies(db)
    const orphaned = yield* parentProblem(db, token)
    if (orphaned !== undefined && !(yield* isTaken(db, token))) return { type, current: orphaned.parent }
    const changes = yield* db.run(insertToken, TOKENS.toRow(token))
    return changes === 1
      ? 1
      : { type, current: (yield* tokenReads.find(db, token.id)) ?? (yield* tokenReads.findByDigest(db, token.digest)) }
  },
  *'token.revoke'({ db }, { type, id, at }) {
    yield* lockFamilies(db)
    const changes = yield* db.run(REVOKE_FAMILY, { id, at })
    return changes > 0 || (yield* tokenReads.find(db, id)) !== undefined ? changes : { type }
  },
  *'token.retire'({ db }, { type, id, replacedBy, at, until }) {
    yield* lockFamilies(db)
    const isNow = until <= at
    const values = { id, replacedBy, at, revokedAt: isNow ? at : null, until: isNow ? null : until }
    if ((yield* db.run(retireToken, values)) === 0) return { type, current: yield* tokenReads.find(db, id) }
    yield* db.run(ADOPT_CHILDREN, { id, replacedBy })
    const last = (yield* tokenReads.find(db, replacedBy))?.expiresAt
    if (last !== undefined) yield* db.run(LIMIT_DESCENDANTS, { id: replacedBy, at: last })
    return 1
  },
  *'token.rehash'({ db }, { type, id, from: before, to }) {
    const holder = yield* tokenReads.findByDigest(db, to)
    if ((yield* tokenReads.find(db, id))?.digest !== before || before === to) return 0
    if (holder !== undefined) return { type, current: holder }
    return yield* db.run(rehashToken, { id, from: before, to })
  },
  *'token.touch'({ db }, { id, at }) {
    return yield* db.run(touchToken, { id, at })
  },
  *'token.prune'({ db }, { before, limit, subject = null }) {
    return yield* db.run(PRUNE_TOKENS, { before, limit, subject })
  },
}

/**
 * A revocation must find every token below, also one that another process mints at the same time: that process has either
 * committed before, or reads the revoked parent. A statement of its own, so that the next one sees what was committed.
 */
const lockFamilies = (db: Db): Program<void> => takeLock(db, 'families')

/** Returns `{ parent }` if the parent is missing or may no longer mint this token. */
function* parentProblem(db: Db, { parentId, createdAt }: TokenRecord) {
  if (parentId === undefined) return undefined
  const parent = yield* tokenReads.find(db, parentId)
  return parent !== undefined && isActive(parent, createdAt) ? undefined : { parent }
}

function* isTaken(db: Db, { id, digest }: TokenRecord): Program<boolean> {
  return ((yield* tokenReads.find(db, id)) ?? (yield* tokenReads.findByDigest(db, digest))) !== undefined
}

const isActive = ({ revokedAt, expiresAt }: TokenRecord, at: EpochMs): boolean =>
  revokedAt === undefined && (expiresAt === undefined || expiresAt > at)

type TokenAt = { readonly id: string; readonly at: number }

const insertToken = insertInto<TokenRow>('tokens', TOKENS.columns)

/** The recursion does not stop at a revoked token, because tokens may have been added below it after its revocation. */
export const REVOKE_FAMILY = compile<TokenAt, unknown>((param, dialect) => {
  const related = dialect.reached('family', 'tokens', {
    child: sql`child.parent_id = family.id`,
    old: sql`old.replaced_by = family.id`,
  })
  return sql`with recursive family (id) as (select id from tokens where id = ${param('id')} union ${related})
    update tokens set revoked_at = ${param('at')}
    where ${dialect.isSelected('id', sql`select id from family`)} and revoked_at is null`
})

interface Retirement {
  readonly id: string
  readonly replacedBy: string
  readonly at: number
  readonly revokedAt: number | null
  readonly until: number | null // end of the grace period
}

const retireToken = compile<Retirement, unknown>((param) =>
  from
    .updateTable('tokens')
    .set({
      replaced_by: param('replacedBy'),
      revoked_at: param('revokedAt'),
      expires_at: sql`case when expires_at < ${param('until')} then expires_at else coalesce(${param('until')}, expires_at) end`,
    })
    .where('id', '=', param('id'))
    .where('revoked_at', 'is', null)
    .where('replaced_by', 'is', null)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', param('at'))])),
)

export const ADOPT_CHILDREN = compile<{ id: string; replacedBy: string }, unknown>((param) =>
  from
    .updateTable('tokens')
    .set({ parent_id: param('replacedBy') })
    .where('parent_id', '=', param('id'))
    .where('id', '!=', param('replacedBy')),
)

export const LIMIT_DESCENDANTS = compile<TokenAt, unknown>(
  (param, dialect) => sql`with recursive family (id) as (
      select id from tokens where parent_id = ${param('id')}
      union
      select child.id from family join tokens as child on child.parent_id = family.id
    )
    update tokens set expires_at = case when expires_at < ${param('at')} then expires_at else ${param('at')} end
    where ${dialect.isSelected('id', sql`select id from family`)}`,
)

const rehashToken = compile<{ id: string; from: string; to: string }, unknown>((param) =>
  from
    .updateTable('tokens')
    .set({ digest: param('to') })
    .where('id', '=', param('id'))
    .where('digest', '=', param('from')),
)

const touchToken = compile<TokenAt, unknown>((param) =>
  from
    .updateTable('tokens')
    .set({ last_used_at: param('at') })
    .where('id', '=', param('id')),
)

/** One pass deletes the tokens to which no other refers; the next pass deletes those above them. */
interface PruneValues {
  readonly before: number
  readonly limit: number
  readonly subject: string | null
}

const PRUNE_TOKENS = compile<PruneValues, unknown>((param, dialect) => {
  const unused = sql`select ${sql.ref(`old.${dialect.rowId}`)} from tokens as old
    where (old.revoked_at < ${param('before')} or old.expires_at < ${param('before')})
      and old.subject = coalesce(${param('subject')}, old.subject)
      and not exists (select 1 from tokens as child where child.parent_id = old.id)
      and not exists (select 1 from tokens as successor where successor.id = old.replaced_by)
    order by old.created_at, old.id
    limit ${param('limit')}`
  return sql`delete from tokens where ${dialect.isSelected(dialect.rowId, unused)}`
})
