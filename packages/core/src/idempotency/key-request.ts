import {
  type Clock,
  canonicalJson,
  type Digest,
  type IdempotencyStore,
  perdureError,
  type TokenStore,
} from '@perdure/ports'
import { createBoundedMap } from '../collections/bounded-map.ts'
import type { Credential, KeyedRequest, RequestIdentity } from './keyed-request.ts'
import { recordId, recordScope } from './record-id.ts'

export interface KeyRequestDeps {
  readonly digest: Digest
  readonly clock: Clock
  readonly idempotency: IdempotencyStore
  readonly tokens: Pick<TokenStore, 'rootOf'>
}

/**
 * Derives the stored identity of a request and its key. Returns a promise for a request whose answer contains a secret,
 * and while the storage may hold records of an earlier release; a request that has such a record keeps its id.
 *
 * @throws PerdureError `idempotency-conflict` if an earlier release stored an answer with a secret under this key
 */
export type KeyRequest = (identity: RequestIdentity, key: string) => KeyedRequest | Promise<KeyedRequest>

const MAX_SCOPES = 1_000

export function createKeyRequest({ digest, clock, idempotency, tokens }: KeyRequestDeps): KeyRequest {
  const scopes = createBoundedMap<string, string>(MAX_SCOPES)
  let mayHoldLegacyIds = true

  const scopeOf = (identity: RequestIdentity, holder: readonly string[] = []): string => {
    const text = JSON.stringify([identity.subject, identity.method, identity.path, ...holder])
    const scope = scopes.get(text) ?? recordScope(digest, identity, holder)
    scopes.set(text, scope)
    return scope
  }

  const idOf = (identity: RequestIdentity, key: string) => recordId(scopeOf(identity), key)
  const isStored = async (id: string) => (await idempotency.find(id, clock.now())) !== undefined

  const withLegacyId = async (identity: RequestIdentity, key: string, request: KeyedRequest): Promise<KeyedRequest> => {
    mayHoldLegacyIds = await idempotency.holdsLegacyIds(clock.now())
    if (!mayHoldLegacyIds) return request
    const id = legacyId(digest, identity, key)
    return (await isStored(id)) ? { ...request, id } : request
  }

  /** The first token of the caller's rotations; without a token, the scopes of the caller. */
  const holderOf = async ({ tokenId, scopes }: Credential): Promise<readonly string[]> =>
    tokenId === undefined ? ['scopes', ...scopes] : ['token', await tokens.rootOf(tokenId)]

  const sealedRequest = async (identity: RequestIdentity, key: string, holder: Credential): Promise<KeyedRequest> => {
    const earlierIds = [idOf(identity, key), legacyId(digest, identity, key)]
    for (const id of earlierIds) if (await isStored(id)) throw holderUnknown()
    const id = recordId(scopeOf(identity, await holderOf(holder)), key)
    return { id, fingerprint: fingerprintOf(digest, identity), sealed: true }
  }

  return (identity, key) => {
    if (identity.sealedFor !== undefined) return sealedRequest(identity, key, identity.sealedFor)
    const { contentOf } = identity
    const request = { id: idOf(identity, key), fingerprint: fingerprintOf(digest, identity), contentOf }
    return mayHoldLegacyIds ? withLegacyId(identity, key, request) : request
  }
}

/** The id used by releases before schema version 18. */
export const legacyId = (digest: Digest, { subject, method, path }: RequestIdentity, key: string): string =>
  digest.sha256(JSON.stringify([subject, method, path, key]))

const holderUnknown = () =>
  perdureError('idempotency-conflict', {
    message: 'an earlier release stored the answer for this key without the token that received it',
    hint: 'use a new key',
  })

function fingerprintOf(digest: Digest, { path, query, body }: RequestIdentity): string {
  const sorted = [...query].sort(([a, x], [b, y]) => compare(a, b) || compare(x, y))
  return digest.sha256(`${JSON.stringify([path, sorted])}\n${body === undefined ? '' : canonicalJson(body)}`)
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
