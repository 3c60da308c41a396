import type { EpochMs, TokenRecord } from '@perdure/ports'
import { paramsFor, TOKEN_COLUMNS, type TokenRow, toTokenRow } from '@perdure/sql'
import { sql } from 'kysely'
import type { Connection } from '../connection/connection.ts'
import { compile, from } from '../query/compile.ts'
import { findToken, findTokenByDigest } from './token-store.ts'
import type { WriteAppliers } from './write-applier.ts'

type TokenWrite = 'token.insert' | 'token.revoke' | 'token.retire' | 'token.rehash' | 'token.touch' | 'token.prune'

export const tokenWrites: WriteAppliers<TokenWrite> = {
  async 'token.insert'({ db }, { type, token }) {
    if (token.parentId !== undefined) await db.run(LOCK_FAMILIES, {})
    const orphaned = await parentProblem(db, token)
    if (orphaned !== undefined && !(await isTaken(db, token))) return { type, current: orphaned.parent }
    const { changes } = await db.run(insertToken, toTokenRow(token))
    return changes === 1
      ? 1
      : { type, current: (await findToken(db, token.id)) ?? (await findTokenByDigest(db, token.digest)) }
  },
  async 'token.revoke'({ db }, { type, id, at }) {
    await db.run(LOCK_FAMILIES, {})
    const { changes } = await db.run(REVOKE_FAMILY, { id, at })
    return changes > 0 || (await findToken(db, id)) !== undefined ? changes : { type }
  },
  async 'token.retire'({ db }, { type, id, replacedBy, at, until }) {
    await db.run(LOCK_FAMILIES, {})
    const isNow = until <= at
    const values = { id, replacedBy, at, revokedAt: isNow ? at : null, until: isNow ? null : until }
    if ((await db.run(retireToken, values)).changes === 0) return { type, current: await findToken(db, id) }
    await db.run(ADOPT_CHILDREN, { id, replacedBy })
    const last = (await findToken(db, replacedBy))?.expiresAt
    if (last !== undefined) await db.run(LIMIT_DESCENDANTS, { id: replacedBy, at: last })
    return 1
  },
  async 'token.rehash'({ db }, { type, id, from: before, to }) {
    const holder = await findTokenByDigest(db, to)
    if ((await findToken(db, id))?.digest !== before || before === to) return 0
    if (holder !== undefined) return { type, current: holder }
    return (await db.run(rehashToken, { id, from: before, to })).changes
  },
  'token.touch': async ({ db }, { id, at }) => (await db.run(touchToken, { id, at })).changes,
  'token.prune': async ({ db }, { before, limit }) => (await db.run(PRUNE_TOKENS, { before, limit })).changes,
}

/** The first key of the advisory lock of token families; the second is the hash of the schema. */
const FAMILY_LOCK = 0x62_65_72_76

/**
 * A revocation must find every token below, also one that another process mints at the same time: that process has either
 * committed before, or reads the revoked parent. A statement of its own, so that the next one sees what was committed.
 */
const LOCK_FAMILIES = compile<object, unknown>(() => ({
  compile: () => sql`select pg_advisory_xact_lock(${sql.lit(FAMILY_LOCK)}, hashtext(current_schema()))`.compile(from),
}))

/** Returns `{ parent }` if the parent is missing or may no longer mint this token. */
async function parentProblem(db: Connection, { parentId, createdAt }: TokenRecord) {
  if (parentId === undefined) return undefined
  const parent = await findToken(db, parentId)
  return parent !== undefined && isActive(parent, createdAt) ? undefined : { parent }
}

const isTaken = async (db: Connection, { id, digest }: TokenRecord): Promise<boolean> =>
  ((await findToken(db, id)) ?? (await findTokenByDigest(db, digest))) !== undefined

const isActive = ({ revokedAt, expiresAt }: TokenRecord, at: EpochMs): boolean =>
  revokedAt === undefined && (expiresAt === undefined || expiresAt > at)

type TokenAt = { readonly id: string; readonly at: number }

const insertToken = compile<TokenRow, unknown>((param) =>
  from
    .insertInto('tokens')
    .values(paramsFor(param, TOKEN_COLUMNS))
    .onConflict((conflict) => conflict.doNothing()),
)

/** The recursion does not stop at a revoked token, because tokens may have been added below it after its revocation. */
export const REVOKE_FAMILY = compile<TokenAt, unknown>((param) => ({
  compile: () =>
    sql`with recursive family (id) as (
        select id from tokens where id = ${param('id')}
        union
        select related.id from family cross join lateral (
          select id from tokens where parent_id = family.id union all select id from tokens where replaced_by = family.id
        ) as related
      )
      update tokens set revoked_at = ${param('at')} where id = any(array(select id from family)) and revoked_at is null`.compile(
      from,
    ),
}))

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
      expires_at: sql`least(expires_at, ${param('until')}::bigint)`,
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

export const LIMIT_DESCENDANTS = compile<TokenAt, unknown>((param) => ({
  compile: () =>
    sql`with recursive family (id) as (
        select id from tokens where parent_id = ${param('id')}
        union
        select child.id from family join tokens as child on child.parent_id = family.id
      )
      update tokens set expires_at = least(expires_at, ${param('at')}) where id = any(array(select id from family))`.compile(
      from,
    ),
}))

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
const PRUNE_TOKENS = compile<{ readonly before: number; readonly limit: number }, unknown>((param) => ({
  compile: () =>
    sql`delete from tokens where id = any(array(
        select old.id from tokens as old
        where (old.revoked_at < ${param('before')} or old.expires_at < ${param('before')})
          and not exists (select from tokens as child where child.parent_id = old.id)
          and not exists (select from tokens as successor where successor.id = old.replaced_by)
        order by old.created_at, old.id
        limit ${param('limit')}))`.compile(from),
}))
