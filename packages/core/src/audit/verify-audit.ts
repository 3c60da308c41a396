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
import { type AcceptedRestore, acceptedRestore, checkLink, type Finding, isUnvouched } from './check-link.ts'

export interface VerifyAuditDeps {
  readonly chain: Pick<AuditLog, 'links' | 'state'>
  readonly checkpoints?: CheckpointLog | undefined
  readonly keys: AuditKeys
  readonly digest: ChainDigest
  /** Yields to other work; called between the pages of a verification. */
  readonly pause: () => Promise<void>
}

type ChainLocation = Pick<AuditLink, 'seq' | 'hash'>

/** The caller's knowledge of the chain: entry number `size` has this hash. */
export interface ExpectedPrefix {
  readonly size: number
  readonly hash: string
}

/**
 * Result of a verification. `reason` is set if the verification failed, and `firstBadSeq` if the first bad entry is
 * known.
 */
export interface AuditVerification {
  readonly ok: boolean
  readonly entries: number // verified entries
  readonly head: ChainLocation | null
  readonly checkpoint: (ChainLocation & { readonly at: string }) | null
  /** Entries after the newest checkpoint. A holder of the audit key could have altered these entries undetected. */
  readonly unanchoredTail: number
  readonly firstBadSeq?: number | undefined
  readonly reason?: string | undefined
  /** The newest restore that discarded entries; an operator accepted this. */
  readonly restored?: AcceptedRestore | undefined
}

/**
 * Checks the chain against its links, its signed head, the checkpoint log and the caller's expected prefix, page by
 * page in constant memory. `firstBadSeq` is the first invalid entry or, if a mismatch only shows that some entry of a
 * range is invalid, the first entry of that range.
 *
 * @throws PerdureError `overloaded` while too many verifications run or wait
 */
export type VerifyAudit = (expected?: ExpectedPrefix) => Promise<AuditVerification>

/** The state that the chain is checked against; does not change during a verification. */
interface Evidence {
  readonly state: AuditState // of the chain when the verification began
  readonly base: ChainLocation // the entry before the first entry; after pruning, the last removed entry
  readonly anchors: Anchors
  readonly expected: ExpectedPrefix | undefined
}

/** How far the walk along the chain has come, and what the walk has found so far. */
interface Progress {
  readonly last: ChainLocation // the last verified entry
  readonly anchoredSeq: number // the newest entry confirmed by a checkpoint or the base
  readonly hashAtHead: string | undefined // hash of the entry at the `seq` of the signed head
  readonly unvouched: Finding | undefined // the first entry that continued the chain without a valid head
  readonly restored: AcceptedRestore | undefined // the newest one
}

const PAGE = 500

export const createVerifyAudit =
  (deps: VerifyAuditDeps): VerifyAudit =>
  async (expected) => {
    const state = await deps.chain.state()
    const anchors = createAnchors(deps.checkpoints)
    const base: ChainLocation = state.base ?? { seq: 0, hash: GENESIS_HASH }
    const evidence: Evidence = { state, base, anchors, expected }
    const start: Progress = {
      last: base,
      anchoredSeq: base.seq,
      hashAtHead: undefined,
      unvouched: undefined,
      restored: undefined,
    }
    try {
      const baseFinding = await checkBase(deps, evidence)
      const { progress, finding: linkFinding } =
        baseFinding === undefined ? await walkLinks(deps, evidence, start) : { progress: start, finding: baseFinding }
      const finding =
        linkFinding ??
        (await checkEnd(deps, evidence, progress)) ??
        progress.unvouched ??
        (anchors.forgedLine() === undefined ? undefined : { reason: 'checkpoint-forged' })
      return toVerification(evidence, progress, finding)
    } finally {
      await anchors.close()
    }
  }

/** Checks the base. Pruning signs the base, and cuts the chain only at a checkpoint. */
async function checkBase(
  { checkpoints, keys, digest }: VerifyAuditDeps,
  { state, base, anchors, expected }: Evidence,
): Promise<Finding | undefined> {
  if (state.base !== undefined) {
    const after = { seq: base.seq + 1 }
    if (!isSigned(keys, state.base, (key, location) => baseMac(digest, key, location)))
      return { ...after, reason: 'base-forged' }
    if (!(await anchors.matchAt(base))) return { ...after, reason: 'checkpoint-mismatch' }
    if (checkpoints !== undefined && anchors.newest()?.seq !== base.seq) return { ...after, reason: 'base-unanchored' }
  }
  if (expected === undefined || expected.size > base.seq) return undefined
  if (expected.size < base.seq) return { reason: 'expected-pruned' }
  return expected.hash === base.hash ? undefined : { seq: base.seq + 1, reason: 'expected-mismatch' }
}

/** Checks each entry that was in the chain when the verification began. Stops at the first finding. */
async function walkLinks(
  { chain, digest, pause }: VerifyAuditDeps,
  evidence: Evidence,
  start: Progress,
): Promise<{ readonly progress: Progress; readonly finding?: Finding }> {
  const end = evidence.state.last?.seq ?? 0
  let progress = start
  for (;;) {
    const links = await chain.links({ afterSeq: progress.last.seq, limit: PAGE })
    for (const link of links) {
      if (link.seq > end) return { progress }
      const finding = checkLink(link, progress.last, digest) ?? (await checkLocation(link, evidence, progress))
      if (finding !== undefined) return { progress, finding }
      progress = advance(progress, link, evidence)
    }
    if (links.length < PAGE) return { progress }
    await pause()
  }
}

/** Compares a location with the checkpoints and the caller's expected prefix. */
async function checkLocation(
  { seq, hash }: ChainLocation,
  { anchors, expected }: Evidence,
  { anchoredSeq }: Progress,
): Promise<Finding | undefined> {
  const firstSuspect = anchoredSeq + 1
  if (!(await anchors.matchAt({ seq, hash }))) return { seq: firstSuspect, reason: 'checkpoint-mismatch' }
  return expected?.size === seq && expected.hash !== hash
    ? { seq: firstSuspect, reason: 'expected-mismatch' }
    : undefined
}

const advance = (progress: Progress, link: AuditLink, { anchors, state }: Evidence): Progress => ({
  last: { seq: link.seq, hash: link.hash },
  anchoredSeq: Math.max(progress.anchoredSeq, anchors.newest()?.seq ?? 0),
  hashAtHead: state.head?.seq === link.seq ? link.hash : progress.hashAtHead,
  restored: acceptedRestore(link) ?? progress.restored,
  unvouched: progress.unvouched ?? (isUnvouched(link) ? { seq: link.seq, reason: 'unvouched' } : undefined),
})

/** Checks that the chain contains the entries named by its head, by the checkpoints and by the caller. */
async function checkEnd(deps: VerifyAuditDeps, evidence: Evidence, progress: Progress): Promise<Finding | undefined> {
  const { expected, anchors } = evidence
  const { last } = progress
  const truncated: Finding = { seq: last.seq + 1, reason: 'truncated' }
  const headFinding = checkHead(deps, evidence, progress)
  if (headFinding?.reason === 'truncated') return headFinding
  if (expected !== undefined && expected.size > last.seq) return truncated
  const beyond = await anchors.highestAfter(last.seq)
  // Entries and checkpoints may have been added since the walk began.
  if (beyond !== undefined && beyond.seq > ((await deps.chain.state()).last?.seq ?? 0)) return truncated
  return headFinding
}

function checkHead(
  { keys, digest }: VerifyAuditDeps,
  { state, base }: Evidence,
  { last, anchoredSeq, hashAtHead }: Progress,
): Finding | undefined {
  const { head } = state
  const suspect = anchoredSeq < last.seq ? { seq: anchoredSeq + 1 } : {}
  if (head === undefined)
    return state.last === undefined && state.base === undefined ? undefined : { ...suspect, reason: 'head-missing' }
  if (!isSigned(keys, head, (key, location) => headMac(digest, key, location)))
    return { ...suspect, reason: 'head-forged' }
  if (head.seq > last.seq) return { seq: last.seq + 1, reason: 'truncated' }
  const actualHash = head.seq === base.seq ? base.hash : hashAtHead
  if (actualHash !== head.hash) return { ...suspect, reason: 'head-mismatch' }
  return head.seq < last.seq ? { seq: head.seq + 1, reason: 'head-mismatch' } : undefined
}

const isSigned = (
  keys: AuditKeys,
  head: AuditHead,
  macOf: (key: Uint8Array, location: ChainLocation) => string,
): boolean => keys.some((key) => macOf(key, head) === head.mac)

function toVerification(
  { state, base, anchors }: Evidence,
  { last, restored }: Progress,
  finding: Finding | undefined,
): AuditVerification {
  const checkpoint = anchors.newest()
  const end = state.last ?? base
  return {
    ok: finding === undefined,
    entries: last.seq - base.seq,
    head: end.seq === 0 ? null : { seq: end.seq, hash: end.hash },
    checkpoint:
      checkpoint === undefined
        ? null
        : { seq: checkpoint.seq, hash: checkpoint.hash, at: new Date(checkpoint.at).toISOString() },
    unanchoredTail: Math.max(0, end.seq - (checkpoint?.seq ?? base.seq)),
    firstBadSeq: finding?.seq,
    reason: finding?.reason,
    restored,
  }
}
