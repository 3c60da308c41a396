import type { Conflict, Storage, Write } from '@perdure/ports'
import { aToken } from '../builders.ts'
import { commit } from './commits.ts'
import { at } from './optional-fields.ts'

type TypesOf<W extends { readonly type: string }> = Extract<W['type'], `token.${string}` | 'subject.revoke'>

const TOKEN = aToken({ id: 'tok-1' })
const OLD = aToken({ id: 'tok-old' })
const CHILD = aToken({ id: 'tok-child', parentId: OLD.id })
const OTHER = aToken({ id: 'tok-other' })
const EXPIRED = aToken({ id: 'tok-expired', expiresAt: at(1) })
const REVOCATION = { subject: 'jwt:app:alice', issuedUntil: at(1), revokedAt: at(2), revokedBy: 'ops' }

export const seedTokens = (storage: Storage) =>
  commit(storage, ...[TOKEN, OLD, CHILD, OTHER, EXPIRED].map((token) => ({ type: 'token.insert', token }) as const))

/** One write of every type. In this order, each succeeds after the seed and has a visible effect. */
export const TOKEN_CHANGES: { readonly [T in TypesOf<Write>]: Extract<Write, { readonly type: T }> } = {
  'token.insert': { type: 'token.insert', token: aToken({ id: 'tok-2' }) },
  'token.touch': { type: 'token.touch', id: TOKEN.id, at: at(2) },
  'token.revoke': { type: 'token.revoke', id: TOKEN.id, at: at(3) },
  'token.retire': { type: 'token.retire', id: OLD.id, replacedBy: TOKEN.id, at: at(1), until: at(9) },
  'token.rehash': { type: 'token.rehash', id: CHILD.id, from: CHILD.digest, to: 'rehashed' },
  'token.prune': { type: 'token.prune', before: at(2), limit: 9 },
  'subject.revoke': { type: 'subject.revoke', revocation: REVOCATION },
}

/** One write of every type that can conflict. Each conflicts after the seed, with or without the changes in between. */
export const TOKEN_CONFLICTS: { readonly [T in TypesOf<Conflict>]: Extract<Write, { readonly type: T }> } = {
  'token.insert': { type: 'token.insert', token: aToken({ id: 'tok-3', digest: TOKEN.digest }) },
  'token.revoke': { type: 'token.revoke', id: 'tok-unknown', at: at(1) },
  'token.retire': { type: 'token.retire', id: 'tok-unknown', replacedBy: TOKEN.id, at: at(1), until: at(1) },
  'token.rehash': { type: 'token.rehash', id: OTHER.id, from: OTHER.digest, to: TOKEN.digest },
}

const DIGESTS = [TOKEN.digest, EXPIRED.digest, 'digest of tok-2', CHILD.digest, 'rehashed']

/** Everything that the port returns about the rows that the seed and the changes touch. */
export const tokenSnapshot = async ({ tokens, subjectRevocations }: Storage) => ({
  revocations: await subjectRevocations.find([REVOCATION.subject]),
  tokens: await tokens.list({ limit: 200, order: 'asc' }),
  byDigest: await Promise.all(DIGESTS.map((digest) => tokens.findByDigest(digest))),
})
