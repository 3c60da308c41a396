import type { EpochMs, TokenRecord } from '@perdure/ports'
import { sql } from 'kysely'
import type { Connection } from './connection.ts'
import { compile, from, placesFor } from './query.ts'
import type { TokenTable } from './schema.ts'
import { findToken, findTokenByDigest } from './token-store.ts'
import type { WriteAppliers } from './write-applier.ts'

type TokenWrite = 'token.insert' | 'token.revoke' | 'token.retire' | 'token.rehash' | 'token.touch'

export const tokenWrites: WriteAppliers<TokenWrite> = {
  'token.insert'({ db }, { type, token }) {
    const orphaned = parentProblem(db, token)
    if (orphaned !== undefined && !isTaken(db, token)) return { type, current: orphaned.parent }
    const { changes } = db.run(insertToken, toRow(token))
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
    if (last !== undefined) db.run(LIMIT_HEIRS, { id: replacedBy, at: last })
    return 1
  },
  'token.rehash'({ db }, { type, id, from: before, to }) {
    const holder = findTokenByDigest(db, to)
    if (findToken(db, id)?.digest !== before || before === to) return 0
    if (holder !== undefined) return { type, current: holder }
    return db.run(rehashToken, { id, from: before, to }).changes
  },
  'token.touch': ({ db }, { id, at }) => db.run(touchToken, { id, at }).changes,
}

/** Why a token may not be minted by its parent any more. */
function parentProblem(db: Connection, { parentId, createdAt }: TokenRecord) {
  if (parentId === undefined) return undefined
  const parent = findToken(db, parentId)
  return parent !== undefined && isActive(parent, createdAt) ? undefined : { parent }
}

const isTaken = (db: Connection, { id, digest }: TokenRecord): boolean =>
  (findToken(db, id) ?? findTokenByDigest(db, digest)) !== undefined

const isActive = ({ revokedAt, expiresAt }: TokenRecord, at: EpochMs): boolean =>
  revokedAt === undefined && (expiresAt === undefined || expiresAt > at)

type NewTokenRow = Omit<TokenTable, 'key'>
type TokenAt = { readonly id: string; readonly at: number }

const COLUMNS = [
  'id',
  'digest',
  'name',
  'subject',
  'env',
  'scopes',
  'created_at',
  'created_by',
  'expires_at',
  'last_used_at',
  'revoked_at',
  'last4',
  'parent_id',
  'replaced_by',
] as const

const insertToken = compile<NewTokenRow, unknown>((place) =>
  from
    .insertInto('tokens')
    .values(placesFor(place, COLUMNS))
    .onConflict((conflict) => conflict.doNothing()),
)

/** Revoked ones in between do not end the descent: below them everything is revoked already, or came later. */
export const REVOKE_FAMILY = compile<TokenAt, unknown>((place) =>
  from
    .withRecursive('family(id)', (db) =>
      db
        .selectFrom('tokens')
        .select('id')
        .where('id', '=', place('id'))
        .union(db.selectFrom('family').innerJoin('tokens as child', 'child.parent_id', 'family.id').select('child.id'))
        .union(db.selectFrom('family').innerJoin('tokens as old', 'old.replaced_by', 'family.id').select('old.id')),
    )
    .updateTable('tokens')
    .set({ revoked_at: place('at') })
    .where('id', 'in', (eb) => eb.selectFrom('family').select('family.id'))
    .where('revoked_at', 'is', null),
)

interface Retirement {
  readonly id: string
  readonly replacedBy: string
  readonly at: number
  readonly revokedAt: number | null
  readonly until: number | null // of the grace
}

const retireToken = compile<Retirement, unknown>((place) =>
  from
    .updateTable('tokens')
    .set({
      replaced_by: place('replacedBy'),
      revoked_at: place('revokedAt'),
      expires_at: sql`min(coalesce(${place('until')}, expires_at), coalesce(expires_at, ${place('until')}))`,
    })
    .where('id', '=', place('id'))
    .where('revoked_at', 'is', null)
    .where('replaced_by', 'is', null)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', place('at'))])),
)

export const ADOPT_CHILDREN = compile<{ id: string; replacedBy: string }, unknown>((place) =>
  from
    .updateTable('tokens')
    .set({ parent_id: place('replacedBy') })
    .where('parent_id', '=', place('id'))
    .where('id', '!=', place('replacedBy')),
)

export const LIMIT_HEIRS = compile<TokenAt, unknown>((place) =>
  from
    .withRecursive('family(id)', (db) =>
      db
        .selectFrom('tokens')
        .select('id')
        .where('parent_id', '=', place('id'))
        .union(db.selectFrom('family').innerJoin('tokens as child', 'child.parent_id', 'family.id').select('child.id')),
    )
    .updateTable('tokens')
    .set({ expires_at: sql`min(coalesce(expires_at, ${place('at')}), ${place('at')})` })
    .where('id', 'in', (eb) => eb.selectFrom('family').select('family.id')),
)

const rehashToken = compile<{ id: string; from: string; to: string }, unknown>((place) =>
  from
    .updateTable('tokens')
    .set({ digest: place('to') })
    .where('id', '=', place('id'))
    .where('digest', '=', place('from')),
)

const touchToken = compile<TokenAt, unknown>((place) =>
  from
    .updateTable('tokens')
    .set({ last_used_at: place('at') })
    .where('id', '=', place('id')),
)

const toRow = (token: TokenRecord): NewTokenRow => ({
  id: token.id,
  digest: token.digest,
  name: token.name,
  subject: token.subject,
  env: token.env,
  scopes: JSON.stringify(token.scopes),
  created_at: token.createdAt,
  created_by: token.createdBy,
  expires_at: token.expiresAt ?? null,
  last_used_at: token.lastUsedAt ?? null,
  revoked_at: token.revokedAt ?? null,
  last4: token.last4,
  parent_id: token.parentId ?? null,
  replaced_by: token.replacedBy ?? null,
})
