import { formatSubject } from '@perdure/protocol'
import type { AuditEntry, AuditHead, AuditLink, AuditState, NewAuditEntry } from './audit-log.ts'
import { canonicalJson } from './canonical-json.ts'
import type { Digest } from './digest.ts'
import type { NewEvent } from './event-log.ts'
import type { JsonText } from './json-text.ts'

/** What the first link follows. */
export const GENESIS_HASH = '0'.repeat(64)

/** Action of the entry that precedes the next one when nothing vouches for the chain so far. */
export const UNVOUCHED = 'audit.unvouched'

export type ChainDigest = Pick<Digest, 'sha256' | 'hmacSha256'>

/** How the chain is keyed: the first key signs, any of them vouches. */
export type AuditKeys = readonly [current: Uint8Array, ...previous: Uint8Array[]]

/** The key of whoever gives none: the HMACs are then checksums. */
export const NO_AUDIT_KEY: AuditKeys = [new Uint8Array()]

type Place = Pick<AuditLink, 'seq' | 'hash'>

/** The HMAC of the newest place. */
export const headMac = (digest: ChainDigest, key: Uint8Array, { seq, hash }: Place): string =>
  digest.hmacSha256(key, `${seq}${hash}`)

/** The HMAC of the place up to which retention has removed entries. */
export const baseMac = (digest: ChainDigest, key: Uint8Array, { seq, hash }: Place): string =>
  digest.hmacSha256(key, `base${seq}${hash}`)

/** The next link after a place. */
export function linkEntry(entry: NewAuditEntry, after: Place, digest: ChainDigest): AuditEntry {
  const seq = after.seq + 1
  const text = canonicalJson({ ...entry, at: new Date(entry.at).toISOString(), seq })
  return { ...entry, seq, prevHash: after.hash, entry: text, hash: digest.sha256(after.hash + text) }
}

/**
 * What appending an entry adds: every storage makes its links by this. The chain goes on from its head, so that rows cut
 * off behind it leave a gap for good. When no key vouches for the head, or there are rows that it does not know, an entry
 * that says so comes first.
 */
export function appendEntry(
  { last, head }: Pick<AuditState, 'last' | 'head'>,
  entry: NewAuditEntry,
  { keys, digest }: { readonly keys: AuditKeys; readonly digest: ChainDigest },
): { readonly links: readonly AuditEntry[]; readonly head: AuditHead } {
  const isVouched =
    head === undefined ? last === undefined : keys.some((key) => headMac(digest, key, head) === head.mac)
  const isBehind = (last?.seq ?? 0) > (head?.seq ?? 0)
  const place: Place = (isBehind ? last : head) ?? { seq: 0, hash: GENESIS_HASH }
  const links: AuditEntry[] = []
  if (!isVouched || isBehind) links.push(linkEntry(unvouchedAfter(place, entry), place, digest))
  const link = linkEntry(entry, links[0] ?? place, digest)
  return { links: [...links, link], head: { seq: link.seq, hash: link.hash, mac: headMac(digest, keys[0], link) } }
}

/** The event that tells of a link; its payload is the entry with its hashes. */
export const auditEvent = ({ at, entry, hash, prevHash }: AuditEntry): NewEvent => ({
  topic: formatSubject('audit', {}),
  type: 'audit.appended',
  payload: `${entry.slice(0, -1)},"hash":"${hash}","prevHash":"${prevHash}"}` as JsonText,
  at,
})

const unvouchedAfter = ({ seq }: Place, { at }: NewAuditEntry): NewAuditEntry => ({
  at,
  actor: { kind: 'system', subject: 'audit' },
  action: UNVOUCHED,
  decision: 'allowed',
  detail: { after: seq },
})
