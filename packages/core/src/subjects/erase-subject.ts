import { perdureError } from '@perdure/ports'
import { ERASED_NOUNS, type ErasedNoun } from '@perdure/protocol'
import { auditWrite } from '../audit/audit-write.ts'
import { requireAudit } from '../audit/require-audit.ts'
import { canSignIn, checkSubjectName, type Principal } from '../auth/principal.ts'
import { subjectRevocation } from '../auth/revoke-subject.ts'
import { type CommitOnceDeps, commitOnce } from '../idempotency/commit-once.ts'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import type { Reply } from '../idempotency/reply.ts'
import { type Erased, OWNED_ROWS, type OwnedRowsDeps } from './owned-rows.ts'

export interface EraseSubjectDeps extends OwnedRowsDeps, CommitOnceDeps {
  /** How long one request may take, in milliseconds; default 5,000. */
  readonly eraseForMs?: number | undefined
}

export interface EraseSubjectRequest {
  readonly subject: string
  readonly principal: Principal
  readonly key?: KeyedRequest | undefined
}

export interface ErasedData {
  readonly subject: string
  readonly deleted: Readonly<Record<ErasedNoun, number>>
  /** Whether nothing is left. If not, another request continues. */
  readonly isComplete: boolean
}

/**
 * Deletes what a subject owns: revokes its credentials, aborts its runs, and deletes rows in batches. Each batch is a commit,
 * so a request that was cut off, or a crash, leaves the rest to the next request.
 *
 * @throws PerdureError `validation-failed`, `audit-unavailable`
 */
export type EraseSubject = (request: EraseSubjectRequest) => Promise<Reply>

export function createEraseSubject(deps: EraseSubjectDeps): EraseSubject {
  const { unitOfWork, clock, eraseForMs = 5_000 } = deps

  return async ({ subject, principal, key }) => {
    refuseSubject(subject, principal)
    const now = clock.now()
    const entry = auditWrite(principal, { at: now, action: 'subjects.delete', target: subject })
    const revocation = canSignIn(subject) ? [subjectRevocation({ subject }, { now, by: principal.subject })] : []
    await requireAudit(() => unitOfWork.commit([entry, ...revocation]))

    const startedMs = performance.now()
    const isInTime = () => performance.now() - startedMs < eraseForMs
    const deleted = Object.fromEntries(ERASED_NOUNS.map((noun) => [noun, 0])) as Record<ErasedNoun, number>
    let left = 0
    for (const noun of ERASED_NOUNS) {
      const erased = await eraseNoun(deps, { noun, subject, isInTime })
      deleted[noun] = erased.count
      left += erased.left
    }
    const body: ErasedData = { subject, deleted, isComplete: left === 0 }
    const once = await commitOnce(deps, key, async () => ({
      writes: [],
      reply: { status: 200, body },
      remember: true,
      contentOf: null,
    }))
    return once.kind === 'replayed' ? once.reply : once.decision.reply
  }
}

interface Erasing {
  readonly noun: ErasedNoun
  readonly subject: string
  readonly isInTime: () => boolean
}

async function eraseNoun(deps: OwnedRowsDeps, { noun, subject, isInTime }: Erasing): Promise<Erased> {
  let count = 0
  for (;;) {
    const erased = await OWNED_ROWS[noun](deps, subject)
    count += erased.count
    if (erased.count === 0) return { count, left: erased.left }
    if (!isInTime()) return { count, left: 1 }
  }
}

/** @throws PerdureError `validation-failed` */
function refuseSubject(subject: string, caller: Principal): void {
  checkSubjectName(subject)
  if (subject !== caller.subject) return
  throw perdureError('validation-failed', {
    message: `${subject} is the caller, whose credentials the request would revoke before it ends`,
    hint: 'send the request with a token of another subject',
  })
}
