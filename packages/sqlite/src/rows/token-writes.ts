import type { EpochMs, TokenRecord } from '@perdure/ports'
import { paramsFor, TOKEN_COLUMNS, type TokenRow, toTokenRow } from '@perdure/sql'
import { sql } from 'kysely'
import type { Connection } from '../file/connection.ts'
import { compile, from } from '../query/compile.ts'
import { findToken, findTokenByDigest } from './token-store.ts'
import type { WriteAppliers } from './write-applier.ts'

type TokenWrite = 'token.insert' | 'token.revoke' | 'token.retire' | 'token.rehash' | 'token.touch' | 'token.prune'

export const tokenWrites: WriteAppliers<TokenWrite> = {
  'token.insert'({ db }, { type, token }) {
    const orphaned = parentProblem(db, token)
    if (orphaned !== undefined && !isTaken(db, token)) return { type, current: orphaned.parent }
    const { changes } = db.run(insertToken, toTokenRow(token))
    return changes === 1 ? 1 : { type, current: findToken(db, token.id) ?? findTokenByDigest(db, token.digest) }
  },
  'token.revoke'({ db }, { type, id, at }) {
    const { changes } = db.run(REVOKE_FAMILY, { id, at })
    return changes > 0 || findToken(db, id) !== undefined ? changes : { type }
  },
  'token.retire'({ db }, { type, id, replacedBy, at, until }) {
    const isNow = until <= at
    const values = { id, replacedBy, at, revokedAt: isNow ? at : null, until: isNow ? null : until }
    if (db.run(retireToken, values).changes === 0) return { type, current: findToken(db, id) }
    db.run(ADOPT_CHILDREN, { id, replacedBy })
    const last = findToken(db, replacedBy)?.expiresAt
    if (last !== undefined) db.run(LIMIT_DESCENDANTS, { id: replacedBy, at: last })
    return 1
  },
  'token.rehash'({ db }, { type, id, from: before, to }) {
    const holder = findTokenByDigest(db, to)
    if (findToken(db, id)?.digest !== before || before === to) return 0
    if (holder !== undefined) return { type, current: holder }
    return db.run(rehashToken, { id, from: before, to }).changes
  },
  'token.touch': ({ db }, { id, at }) => db.run(touchToken, { id, at }).changes,
  'token.prune': ({ db }, { before, limit }) => db.run(PRUNE_TOKENS, { before, limit }).changes,
}

/** Returns `{ parent }` if the parent is missing or may no longer mint this token. */
function parentProblem(db: Connection, { parentId, createdAt }: TokenRecord) {
  if (parentId === undefined) return undefined
  const parent = findToken(db, parentId)
  return parent !== undefined && isActive(parent, createdAt) ? undefined : { parent }
}

const isTaken = (db: Connection, { id, digest }: TokenRecord): boolean =>
  (findToken(db, id) ?? findTokenByDigest(db, digest)) !== undefined

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
export const REVOKE_FAMILY = compile<TokenAt, unknown>((param) =>
  from
    .withRecursive('family(id)', (db) =>
      db
        .selectFrom('tokens')
        .select('id')
        .where('id', '=', param('id'))
        .union(db.selectFrom('family').innerJoin('tokens as child', 'child.parent_id', 'family.id').select('child.id'))
        .union(db.selectFrom('family').innerJoin('tokens as old', 'old.replaced_by', 'family.id').select('old.id')),
    )
    .updateTable('tokens')
    .set({ revoked_at: param('at') })
    .where('id', 'in', (eb) => eb.selectFrom('family').select('family.id'))
    .where('revoked_at', 'is', null),
)

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
      expires_at: sql`min(coalesce(${param('until')}, expires_at), coalesce(expires_at, ${param('until')}))`,
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

export const LIMIT_DESCENDANTS = compile<TokenAt, unknown>((param) =>
  from
    .withRecursive('family(id)', (db) =>
      db
        .selectFrom('tokens')
        .select('id')
        .where('parent_id', '=', param('id'))
        .union(db.selectFrom('family').innerJoin('tokens as child', 'child.parent_id', 'family.id').select('child.id')),
    )
    .updateTable('tokens')
    .set({ expires_at: sql`min(coalesce(expires_at, ${param('at')}), ${param('at')})` })
    .where('id', 'in', (eb) => eb.selectFrom('family').select('family.id')),
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
const PRUNE_TOKENS = compile<{ readonly before: number; readonly limit: number }, unknown>((param) =>
  from.deleteFrom('tokens').where('key', 'in', (eb) =>
    eb
      .selectFrom('tokens as old')
      .select('old.key')
      .where(sql<boolean>`(old.revoked_at < ${param('before')} or old.expires_at < ${param('before')})`)
      .where(sql<boolean>`not exists (select 1 from tokens as child where child.parent_id = old.id)`)
      .where(sql<boolean>`not exists (select 1 from tokens as successor where successor.id = old.replaced_by)`)
      .orderBy('old.created_at')
      .orderBy('old.id')
      .limit(param('limit')),
  ),
)
