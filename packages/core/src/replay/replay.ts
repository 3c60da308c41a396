import {
  type Clock,
  EVERY_ROW,
  type EventLog,
  type EventStream,
  type Page,
  type PageQuery,
  perdureError,
  type RunStore,
  type SessionStore,
  type Write,
} from '@perdure/ports'
import { formatSubject } from '@perdure/protocol'
import { auditWrite } from '../audit/audit-write.ts'
import { requireAudit } from '../audit/require-audit.ts'
import { authorize } from '../auth/authorize.ts'
import type { Principal } from '../auth/principal.ts'
import { type CommitOnceDeps, commitOnce } from '../idempotency/commit-once.ts'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import type { Reply } from '../idempotency/reply.ts'
import type { PageItem } from '../json/json-page.ts'
import type { RenderEnvelope } from '../realtime/envelope.ts'
import { readEventPage } from '../realtime/read-event-page.ts'
import { runSubject } from '../runs/run-events.ts'
import { type CompleteEvents, createStackReader } from './stack-reader.ts'

export interface ReplayDeps extends CommitOnceDeps {
  readonly runs: RunStore
  readonly sessions: SessionStore
  readonly events: EventLog
  readonly clock: Clock
  readonly render: RenderEnvelope
}

export interface ReplayRequest {
  readonly of: { readonly runId: string } | { readonly sessionId: string }
  /** Bypasses the delivery sanitizer; requires `traces:read:raw`. */
  readonly raw: boolean
  readonly principal: Principal
}

/** The events to replay, and the subject they are replayed under. */
export interface Recording {
  readonly stream: EventStream
  readonly subject: string
  readonly raw: boolean
  readonly complete?: CompleteEvents | undefined
}

/** A page of events, each as JSON. */
export interface ReplayPage {
  readonly events: Page<PageItem>
  /** The key was used before, so that no second audit entry was written. */
  readonly replayed?: true
}

/**
 * Replays recorded events. Every call writes an audit entry, which is committed before any event is returned. A call
 * with a repeated key reads the events again, but writes no second entry.
 */
export interface Replay {
  /** @throws PerdureError `run-not-found`, `session-not-found`, `scope-denied`, `audit-unavailable`, `validation-failed` */
  page(
    request: ReplayRequest & { readonly page: PageQuery; readonly key?: KeyedRequest | undefined },
  ): Promise<ReplayPage>
  /** Opens the recording for streaming. @throws PerdureError the errors of `page` */
  open(request: ReplayRequest): Promise<Recording>
}

export function createReplay(deps: ReplayDeps): Replay {
  const { unitOfWork, events, render } = deps

  return {
    async page({ page, key, ...request }) {
      const recorded = await find(deps, request)
      const read = await readEventPage(recordedLog(events, recorded), { ...recorded, render }, page)
      const entry = { writes: entryOf(deps, request), reply: AUDITED, remember: true, contentOf: null }
      const { kind } = await requireAudit(() => commitOnce(deps, key, async () => entry))
      return { events: read, ...(kind === 'replayed' && { replayed: true }) }
    },
    async open(request) {
      const recorded = await find(deps, request)
      await requireAudit(() => unitOfWork.commit(entryOf(deps, request)))
      return recorded
    },
  }
}

/** The answer stored for a keyed replay: its audit entry was written; the events are not stored. */
const AUDITED: Reply = { status: 200 }

async function find({ runs, sessions }: ReplayDeps, { of, raw, principal }: ReplayRequest): Promise<Recording> {
  if (raw) authorize(principal, 'traces:read:raw', {})
  const complete = raw ? createStackReader(runs) : undefined
  if ('runId' in of) {
    const run = await runs.find(of.runId, EVERY_ROW)
    if (run === undefined) throw perdureError('run-not-found')
    return { stream: of, subject: runSubject(run), raw, complete }
  }
  const session = await sessions.find(of.sessionId, EVERY_ROW)
  if (session === undefined) throw perdureError('session-not-found')
  return { stream: of, subject: formatSubject('session', of), raw, complete }
}

/** The log as this recording shows it. */
export const recordedLog = (events: EventLog, { complete }: Recording): EventLog =>
  complete === undefined
    ? events
    : {
        ...events,
        read: async (stream, range) => complete(await events.read(stream, range)),
        readBefore: async (stream, range) => complete(await events.readBefore(stream, range)),
      }

function entryOf({ clock }: ReplayDeps, { of, raw, principal }: ReplayRequest): readonly Write[] {
  const isRun = 'runId' in of
  const action = isRun ? 'runs.replay' : 'sessions.replay'
  const target = isRun ? of.runId : of.sessionId
  return [auditWrite(principal, { at: clock.now(), action, target, detail: { raw } })]
}
