import type { Clock, Logger, NewAuditEntry, RequestOrigin, UnitOfWork } from '@perdure/ports'
import type { ErrorCode } from '@perdure/protocol'
import type { AuditSpool, SpooledEntry } from './audit-spool.ts'
import { actorOf, type Doer } from './audit-write.ts'
import type { Deed, DeedBook } from './deed-book.ts'
import { auditUnavailable, recording } from './recording.ts'
import type { RefusalTally } from './refusal-tally.ts'

/** A request that is about to be answered. */
export interface AnsweredRequest {
  /** `undefined` when no operation matched. */
  readonly operationId: string | undefined
  readonly isPrivileged: boolean
  readonly method: string
  readonly route: string | undefined // pattern, with the base path
  readonly target: string | undefined // the ids in its path
  /** `undefined` when nobody stands behind it. */
  readonly principal: Doer | undefined
  readonly status: number
  readonly error?: ErrorCode | undefined
  readonly durationMs: number
  readonly requestId: string
  readonly clientAddress: string
  /** Whether the answer is that of an earlier request with the same key. */
  readonly isReplayed: boolean
  /** By identity, what its deeds name as their origin. */
  readonly origin: RequestOrigin
}

/**
 * Records a request before its answer is sent. For privileged ones it resolves when the entry is durable.
 *
 * @throws AppError `audit-unavailable` when the answer must not be sent
 */
export type RecordAnswer = (request: AnsweredRequest) => Promise<void>

interface RecordDeps {
  readonly clock: Clock
  readonly deeds: DeedBook
  readonly logger: Logger
}

/** In the main database: what privileged requests have not recorded by a deed of theirs. */
export function createRecordPrivileged(deps: RecordDeps & { readonly unitOfWork: UnitOfWork }): RecordAnswer {
  const { unitOfWork, deeds } = deps

  return async (request) => {
    const isRecorded = deeds.take(request.origin).length > 0
    if (isRecorded || !request.isPrivileged || request.principal === undefined || !isDecided(request)) return
    const entry = toEntry(deps, request)
    const written = recording(async () => void (await unitOfWork.commit([{ type: 'audit.append', entry }])))
    await unlessRefused(deps, request, written)
  }
}

/** In a file of its own: every request, with what its deed has said. */
export function createRecordEvery(
  deps: RecordDeps & { readonly spool: AuditSpool; readonly tally: RefusalTally; readonly moveSoon: () => void },
): RecordAnswer {
  const { deeds, spool, tally, moveSoon, logger } = deps

  return async (request) => {
    const own = deeds.take(request.origin)
    if (isNobodys(request)) {
      return tally.count({ ip: request.clientAddress, error: request.error ?? 'unmatched' })
    }
    const spooled = toSpooled(toEntry(deps, request), own)
    const { action } = spooled.entry
    if (!request.isPrivileged && own.length === 0) {
      if (!spool.offer(spooled)) logger.warn('an audit entry found no room', { action })
      return
    }
    const written = spool.write(spooled)
    // What is staged is durable already, and will be moved.
    if (own.length > 0) await written.catch(() => undefined)
    else await unlessRefused(deps, request, written)
    moveSoon()
  }
}

const DENIED = new Set([401, 403, 421, 429])

const decisionOf = ({ status }: AnsweredRequest): NewAuditEntry['decision'] =>
  DENIED.has(status) ? 'denied' : 'allowed'

/** Whether something was done, shown or denied; a malformed request or a missing row is none of these. */
const isDecided = (request: AnsweredRequest): boolean =>
  (request.status >= 200 && request.status < 300) || decisionOf(request) === 'denied'

/** A refusal is sent in any case: it shows nothing and has done nothing. */
async function unlessRefused({ logger }: RecordDeps, request: AnsweredRequest, written: Promise<void>): Promise<void> {
  try {
    await written
  } catch (error) {
    if (request.status < 300) throw auditUnavailable(error)
    logger.error('a refused request was not recorded', error, { requestId: request.requestId })
  }
}

function toEntry({ clock }: RecordDeps, request: AnsweredRequest): NewAuditEntry {
  const { principal, operationId, method, route, target, status, error, durationMs, requestId, clientAddress } = request
  const isNotable = error !== undefined || request.isReplayed
  return {
    at: clock.now(),
    actor: actorOf(principal ?? { subject: 'anonymous' }),
    action: operationId ?? 'requests.unmatched',
    ...{ method, route, target, status, requestId },
    decision: decisionOf(request),
    durationMs: Math.round(durationMs),
    ip: clientAddress,
    detail: isNotable ? { ...(error && { error }), ...(request.isReplayed && { replayed: true }) } : undefined,
  }
}

/** A refusal that nobody stands behind: anyone may cause any number of them. */
const isNobodys = ({ principal, error, operationId }: AnsweredRequest): boolean =>
  principal === undefined && (error !== undefined || operationId === undefined)

/** One entry for the request and its one deed; with several deeds, each has its own. */
function toSpooled(entry: NewAuditEntry, own: readonly Deed[]): SpooledEntry {
  const deed = own.length === 1 && own[0]?.entry.action === entry.action ? own[0] : undefined
  return { entry: withDeed(entry, deed), source: deed?.key }
}

function withDeed(entry: NewAuditEntry, deed: Deed | undefined): NewAuditEntry {
  if (deed === undefined) return entry
  const detail = { ...deed.entry.detail, ...entry.detail }
  return { ...entry, target: deed.entry.target ?? entry.target, detail }
}
