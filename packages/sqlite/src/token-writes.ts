import type { TokenRecord } from '@berth/ports'
import { compile, from, placesFor } from './query.ts'
import type { TokenTable } from './schema.ts'
import { findToken, findTokenByDigest } from './token-store.ts'
import type { WriteAppliers } from './write-applier.ts'

export const tokenWrites: WriteAppliers<'token.insert' | 'token.revoke' | 'token.touch'> = {
  'token.insert'({ db }, { type, token }) {
    const { changes } = db.run(insertToken, toRow(token))
    return changes === 1 ? 1 : { type, current: findToken(db, token.id) ?? findTokenByDigest(db, token.digest) }
  },
  'token.revoke'({ db }, { type, id, at }) {
    const { changes } = db.run(revokeToken, { id, at })
    return changes === 1 || findToken(db, id) !== undefined ? changes : { type }
  },
  'token.touch': ({ db }, { id, at }) => db.run(touchToken, { id, at }).changes,
}

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
] as const

const insertToken = compile<NewTokenRow, unknown>((place) =>
  from
    .insertInto('tokens')
    .values(placesFor(place, COLUMNS))
    .onConflict((conflict) => conflict.doNothing()),
)

const revokeToken = compile<TokenAt, unknown>((place) =>
  from
    .updateTable('tokens')
    .set({ revoked_at: place('at') })
    .where('id', '=', place('id'))
    .where('revoked_at', 'is', null),
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
})
