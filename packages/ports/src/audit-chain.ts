import { formatSubject } from '@perdure/protocol'
import type { AuditEntry, AuditHead, AuditLink, AuditState, NewAuditEntry } from './audit-log.ts'
import type { Digest } from './digest.ts'
import type { NewEvent } from './event-log.ts'
import { canonicalJson } from './values/canonical-json.ts'
import type { JsonText } from './values/json-text.ts'

/** `prevHash` of the first link. */
export const GENESIS_HASH = '0'.repeat(64)

/** The `action` of the entry that records that no key authenticated the chain before it. */
export const UNVOUCHED = 'audit.unvouched'

export type ChainDigest = Pick<Digest, 'sha256' | 'hmacSha256'>

/** The `action` of the entry that records that a restore discarded newer entries of the chain. */
export const RESTORED = 'audit.restored'

/** Keys of the chain: the first key signs, and any of the keys verifies. */
export type AuditKeys = readonly [current: Uint8Array, ...previous: Uint8Array[]]

/** Used when no key is configured: the HMACs are then only checksums. */
export const NO_AUDIT_KEY: AuditKeys = [new Uint8Array()]

type ChainLocation = Pick<AuditLink, 'seq' | 'hash'>

/** HMAC of the newest location. */
export const headMac = (digest: ChainDigest, key: Uint8Array, { seq, hash }: ChainLocation): string =>
  digest.hmacSha256(key, `${seq}${hash}`)

/** HMAC of the location up to which retention has removed entries. */
export const baseMac = (digest: ChainDigest, key: Uint8Array, { seq, hash }: ChainLocation): string =>
  digest.hmacSha256(key, `base${seq}${hash}`)

/** Builds the link that follows a location. */
export function linkEntry(entry: NewAuditEntry, after: ChainLocation, digest: ChainDigest): AuditEntry {
  const seq = after.seq + 1
  const text = canonicalJson({ ...entry, at: new Date(entry.at).toISOString(), seq })
  return { ...entry, seq, prevHash: after.hash, entry: text, hash: digest.sha256(after.hash + text) }
}

/**
 * Computes the links and the head that appending an entry produces. Every storage must use this function. The chain
 * continues from its head, so rows removed from its end leave a permanent gap. If no key authenticates the head, or if
 * there are rows beyond the head, an `audit.unvouched` entry precedes the new entry.
 */
export function appendEntry(
  { last, head }: Pick<AuditState, 'last' | 'head'>,
  entry: NewAuditEntry,
  { keys, digest }: { readonly keys: AuditKeys; readonly digest: ChainDigest },
): { readonly links: readonly AuditEntry[]; readonly head: AuditHead } {
  const isVouched =
    head === undefined ? last === undefined : keys.some((key) => headMac(digest, key, head) === head.mac)
  const isBehind = (last?.seq ?? 0) > (head?.seq ?? 0)
  const location: ChainLocation = (isBehind ? last : head) ?? { seq: 0, hash: GENESIS_HASH }
  const links: AuditEntry[] = []
  if (!isVouched || isBehind) links.push(linkEntry(unvouchedAfter(location, entry), location, digest))
  const link = linkEntry(entry, links[0] ?? location, digest)
  return { links: [...links, link], head: { seq: link.seq, hash: link.hash, mac: headMac(digest, keys[0], link) } }
}

/** The event that publishes a link; its payload is the entry with its hashes. */
export const auditEvent = ({ at, entry, hash, prevHash }: AuditEntry): NewEvent => ({
  topic: formatSubject('audit', {}),
  type: 'audit.appended',
  payload: `${entry.slice(0, -1)},"hash":"${hash}","prevHash":"${prevHash}"}` as JsonText,
  at,
})

const unvouchedAfter = ({ seq }: ChainLocation, { at }: NewAuditEntry): NewAuditEntry => ({
  at,
  actor: { kind: 'system', subject: 'audit' },
  action: UNVOUCHED,
  decision: 'allowed',
  detail: { after: seq },
})
