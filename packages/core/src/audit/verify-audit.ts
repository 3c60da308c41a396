import {
  type AuditHead,
  type AuditKeys,
  type AuditLink,
  type AuditLog,
  type AuditState,
  baseMac,
  type ChainDigest,
  type CheckpointLog,
  GENESIS_HASH,
  headMac,
} from '@perdure/ports'
import { type Anchors, createAnchors } from './anchors.ts'
import { checkLink, type Finding, isUnvouched } from './check-link.ts'

export interface VerifyAuditDeps {
  readonly chain: Pick<AuditLog, 'links' | 'state'>
  readonly checkpoints?: CheckpointLog | undefined
  readonly keys: AuditKeys
  readonly digest: ChainDigest
  /** Lets others have a turn; called between two pages. */
  readonly pause: () => Promise<void>
}

type Place = Pick<AuditLink, 'seq' | 'hash'>

/** Entry number `size` must have this hash. */
export interface ExpectedPrefix {
  readonly size: number
  readonly hash: string
}

/** What a walk has found; `reason` and, where it can be told, `firstBadSeq` only when something is wrong. */
export interface AuditVerification {
  readonly ok: boolean
  readonly entries: number // that hold
  readonly head: Place | null
  readonly checkpoint: (Place & { readonly at: string }) | null
  /** Entries after the newest checkpoint: whoever holds the audit key could have changed them unseen. */
  readonly unanchoredTail: number
  readonly firstBadSeq?: number | undefined
  readonly reason?: string | undefined
}

/**
 * Walks the chain against its links, its keyed head, the checkpoints beside it and what the caller expects, page by page in
 * constant memory. `firstBadSeq` is the first entry that does not hold or, where only a whole stretch can be told to be
 * wrong, the first that nothing vouches for any more.
 */
export type VerifyAudit = (expected?: ExpectedPrefix) => Promise<AuditVerification>

/** How far a walk has come. */
interface Walk {
  readonly state: AuditState
  readonly base: Place
  readonly anchors: Anchors
  readonly expected: ExpectedPrefix | undefined
  place: Place
  anchored: number // the newest entry that a checkpoint or the base vouches for
  hashAtHead: string | undefined
  unvouched: Finding | undefined
}

const PAGE = 500

export const createVerifyAudit =
  (deps: VerifyAuditDeps): VerifyAudit =>
  async (expected) => {
    const state = await deps.chain.state()
    const anchors = createAnchors(deps.checkpoints)
    const base: Place = state.base ?? { seq: 0, hash: GENESIS_HASH }
    const progress = { place: base, anchored: base.seq, hashAtHead: undefined, unvouched: undefined }
    const walk: Walk = { state, base, anchors, expected, ...progress }
    try {
      const finding =
        (await checkBase(deps, walk)) ??
        (await walkLinks(deps, walk)) ??
        (await checkEnd(deps, walk)) ??
        walk.unvouched ??
        (anchors.forgedLine() === undefined ? undefined : { reason: 'checkpoint-forged' })
      return toVerification(walk, finding)
    } finally {
      await anchors.close()
    }
  }

/** Retention cuts at a checkpoint and signs the place. */
async function checkBase({ checkpoints, keys, digest }: VerifyAuditDeps, walk: Walk): Promise<Finding | undefined> {
  const { state, base, anchors, expected } = walk
  if (state.base !== undefined) {
    const after = { seq: base.seq + 1 }
    if (!isVouched(keys, state.base, (key, place) => baseMac(digest, key, place)))
      return { ...after, reason: 'base-forged' }
    if (!(await anchors.holdAt(base))) return { ...after, reason: 'checkpoint-mismatch' }
    if (checkpoints !== undefined && anchors.newest()?.seq !== base.seq) return { ...after, reason: 'base-unanchored' }
  }
  if (expected === undefined || expected.size > base.seq) return undefined
  if (expected.size < base.seq) return { reason: 'expected-pruned' }
  return expected.hash === base.hash ? undefined : { seq: base.seq + 1, reason: 'expected-mismatch' }
}

async function walkLinks({ chain, digest, pause }: VerifyAuditDeps, walk: Walk): Promise<Finding | undefined> {
  const end = walk.state.last?.seq ?? 0
  for (;;) {
    const links = await chain.links({ afterSeq: walk.place.seq, limit: PAGE })
    for (const link of links) {
      if (link.seq > end) return undefined
      const finding = checkLink(link, walk.place, digest) ?? (await checkPlace(link, walk))
      if (finding !== undefined) return finding
    }
    if (links.length < PAGE) return undefined
    await pause()
  }
}

async function checkPlace(link: AuditLink, walk: Walk): Promise<Finding | undefined> {
  const { seq, hash } = link
  const { anchors, expected, state } = walk
  const suspect = walk.anchored + 1
  if (!(await anchors.holdAt({ seq, hash }))) return { seq: suspect, reason: 'checkpoint-mismatch' }
  if (expected?.size === seq && expected.hash !== hash) return { seq: suspect, reason: 'expected-mismatch' }
  walk.place = { seq, hash }
  walk.anchored = Math.max(walk.anchored, anchors.newest()?.seq ?? 0)
  if (state.head?.seq === seq) walk.hashAtHead = hash
  if (isUnvouched(link)) walk.unvouched ??= { seq, reason: 'unvouched' }
  return undefined
}

/** What the chain should reach up to, by its head, by the checkpoints and by the caller. */
async function checkEnd(deps: VerifyAuditDeps, walk: Walk): Promise<Finding | undefined> {
  const { place, expected, anchors } = walk
  const lost: Finding = { seq: place.seq + 1, reason: 'truncated' }
  const finding = checkHead(deps, walk)
  if (finding?.reason === 'truncated') return finding
  if (expected !== undefined && expected.size > place.seq) return lost
  const beyond = await anchors.beyond(place.seq)
  // The chain has grown since the walk began, and so may the checkpoints.
  if (beyond !== undefined && beyond.seq > ((await deps.chain.state()).last?.seq ?? 0)) return lost
  return finding
}

function checkHead({ keys, digest }: VerifyAuditDeps, { state, place, base, ...walk }: Walk): Finding | undefined {
  const { head, last } = state
  const suspect = walk.anchored < place.seq ? { seq: walk.anchored + 1 } : {}
  if (head === undefined)
    return last === undefined && state.base === undefined ? undefined : { ...suspect, reason: 'head-missing' }
  if (!isVouched(keys, head, (key, at) => headMac(digest, key, at))) return { ...suspect, reason: 'head-forged' }
  if (head.seq > place.seq) return { seq: place.seq + 1, reason: 'truncated' }
  const known = head.seq === base.seq ? base.hash : walk.hashAtHead
  if (known !== head.hash) return { ...suspect, reason: 'head-mismatch' }
  return head.seq < place.seq ? { seq: head.seq + 1, reason: 'head-mismatch' } : undefined
}

const isVouched = (keys: AuditKeys, head: AuditHead, macOf: (key: Uint8Array, place: Place) => string): boolean =>
  keys.some((key) => macOf(key, head) === head.mac)

function toVerification({ state, base, place, anchors }: Walk, finding: Finding | undefined): AuditVerification {
  const checkpoint = anchors.newest()
  const end = state.last ?? base
  return {
    ok: finding === undefined,
    entries: place.seq - base.seq,
    head: end.seq === 0 ? null : { seq: end.seq, hash: end.hash },
    checkpoint:
      checkpoint === undefined
        ? null
        : { seq: checkpoint.seq, hash: checkpoint.hash, at: new Date(checkpoint.at).toISOString() },
    unanchoredTail: Math.max(0, end.seq - (checkpoint?.seq ?? base.seq)),
    firstBadSeq: finding?.seq,
    reason: finding?.reason,
  }
}
