import type { Clock, Digest, IdGenerator, Storage, TicketStore } from '@perdure/ports'
import type { AttemptLimiter } from '../auth/lockout.ts'
import type { CommitOnceDeps } from '../idempotency/commit-once.ts'
import type { PhaseHolder } from '../lifecycle/phase.ts'
import { createAuthorizeSubject } from './authorize-subject.ts'
import type { RenderEnvelope } from './envelope.ts'
import { createEventFeed } from './event-feed.ts'
import type { EventHub } from './event-hub.ts'
import { createIssueTicket } from './issue-ticket.ts'
import { createTickets } from './tickets.ts'

export interface RealtimeDeps
  extends CommitOnceDeps,
    Pick<Storage, 'runs' | 'sessions' | 'events' | 'tokens' | 'subjectRevocations'> {
  readonly clock: Clock
  readonly ids: Pick<IdGenerator, 'randomBytes'>
  readonly digest: Pick<Digest, 'sha256'>
  readonly hub: EventHub
  readonly attempts: AttemptLimiter
  readonly phase: PhaseHolder
  readonly render: RenderEnvelope
  readonly ticketStore: TicketStore
  /** Whether other processes use the store too: then times are on the wall clock. */
  readonly areTicketsShared: boolean
  readonly ticketTtlMs: number
  readonly maxTicketsPerToken: number
}

export type Realtime = ReturnType<typeof createRealtime>

/** Wires what the WebSocket and SSE transports share. */
export function createRealtime(deps: RealtimeDeps) {
  const tickets = createTickets({
    ...deps,
    store: deps.ticketStore,
    now: deps.areTicketsShared ? deps.clock.now : deps.clock.monotonicMs,
    ttlMs: deps.ticketTtlMs,
    maxPerToken: deps.maxTicketsPerToken,
  })
  return {
    feed: createEventFeed(deps),
    authorizeSubject: createAuthorizeSubject(deps),
    tickets,
    issueTicket: createIssueTicket({ ...deps, tickets }),
  }
}
