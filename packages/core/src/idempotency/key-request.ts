import { type Clock, canonicalJson, type Digest, type IdempotencyStore } from '@perdure/ports'
import { createBoundedMap } from '../collections/bounded-map.ts'
import type { KeyedRequest, RequestIdentity } from './keyed-request.ts'

export interface KeyRequestDeps {
  readonly digest: Digest
  readonly clock: Clock
  readonly idempotency: IdempotencyStore
}

/**
 * Derives the stored identity of a request and its key. Returns a promise while the storage may hold records of an
 * earlier release; a request that has such a record keeps its id.
 */
export type KeyRequest = (identity: RequestIdentity, key: string) => KeyedRequest | Promise<KeyedRequest>

const MAX_SCOPES = 1_000

export function createKeyRequest({ digest, clock, idempotency }: KeyRequestDeps): KeyRequest {
  const scopes = createBoundedMap<string, string>(MAX_SCOPES)
  let mayHoldLegacyIds = true

  const scopeOf = ({ subject, method, path }: RequestIdentity): string => {
    const text = JSON.stringify([subject, method, path])
    const scope = scopes.get(text) ?? digest.sha256(text).slice(0, SCOPE_LENGTH)
    scopes.set(text, scope)
    return scope
  }

  const withLegacyId = async (identity: RequestIdentity, key: string, request: KeyedRequest): Promise<KeyedRequest> => {
    const now = clock.now()
    mayHoldLegacyIds = await idempotency.holdsLegacyIds(now)
    if (!mayHoldLegacyIds) return request
    const id = legacyId(digest, identity, key)
    return (await idempotency.find(id, now)) === undefined ? request : { ...request, id }
  }

  return (identity, key) => {
    const request = {
      // The key is not hashed, so that sequential keys stay adjacent in the index; hashed keys would touch a
      // different page each.
      id: `${scopeOf(identity)}:${key}`,
      fingerprint: fingerprintOf(digest, identity),
      contentOf: identity.contentOf,
    }
    return mayHoldLegacyIds ? withLegacyId(identity, key, request) : request
  }
}

/** 128 bits in hex. */
const SCOPE_LENGTH = 32

/** The id used by releases before schema version 18. */
export const legacyId = (digest: Digest, { subject, method, path }: RequestIdentity, key: string): string =>
  digest.sha256(JSON.stringify([subject, method, path, key]))

function fingerprintOf(digest: Digest, { path, query, body }: RequestIdentity): string {
  const sorted = [...query].sort(([a, x], [b, y]) => compare(a, b) || compare(x, y))
  return digest.sha256(`${JSON.stringify([path, sorted])}\n${body === undefined ? '' : canonicalJson(body)}`)
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
