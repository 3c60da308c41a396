import type { Clock, Meter, StoredEvent, UnitOfWork, Write } from '@perdure/ports'
import { WEBHOOK_EVENTS } from '@perdure/protocol'
import type { EventHub } from '../realtime/event-hub.ts'

export interface CommitDeps extends PublicationDeps {
  readonly unitOfWork: UnitOfWork
  readonly clock: Clock
  readonly meter: Meter
  /** Calls `fn` as work of the server, even if the code of a run led to the commit. */
  readonly outside: <T>(fn: () => T) => T
  /** Called when webhooks may have something to deliver, or may no longer deliver it. */
  readonly onDeliveriesDue: () => void
}

export interface PublicationDeps {
  readonly hub: EventHub
  /** Cached answers, discarded after a commit that deletes something. */
  readonly answers?: { clear(): void } | undefined
  /** Whether the tail of a shared log publishes the events. Default: false. */
  readonly hasTail?: boolean | undefined
}

/**
 * The commit of the use cases: measures how long that of the storage takes, including its wait for a commit group, then
 * publishes the events and wakes the webhooks. `createAudit` adds the entries of the audit chain before, and commits
 * the chain's own entries through this.
 */
export function createCommit(deps: CommitDeps): UnitOfWork {
  const { unitOfWork, clock, meter, outside, onDeliveriesDue } = deps

  const store = async (writes: readonly Write[]) => {
    const startedMs = clock.monotonicMs()
    try {
      return await outside(() => unitOfWork.commit(writes))
    } finally {
      meter.observe('svc_storage_commit_duration_seconds', {}, (clock.monotonicMs() - startedMs) / 1_000)
    }
  }

  return {
    async commit(writes) {
      const outcome = await store(writes)
      if (!outcome.committed) return outcome
      publish(deps, writes, outcome.events)
      wakeWebhooks(onDeliveriesDue, writes, outcome.events)
      return outcome
    },
  }
}

/** Publishes events that are durable. After a deletion, discards the cached events and the cached answers. */
function publish(
  { hub, answers, hasTail = false }: PublicationDeps,
  writes: readonly Write[],
  events: readonly StoredEvent[],
): void {
  if (writes.some(deletes)) {
    hub.invalidate()
    answers?.clear()
  }
  if (events.length > 0 && !hasTail) hub.publish(events)
}

const deletes = ({ type }: Write): boolean => type.endsWith('.delete')

const DELIVERED: ReadonlySet<string> = new Set(WEBHOOK_EVENTS)

/** Calls `onDue` after an event that webhooks deliver, and when a token has fewer rights. */
function wakeWebhooks(onDue: () => void, writes: readonly Write[], events: readonly StoredEvent[]): void {
  const endsRights = writes.some(({ type }) => type === 'token.revoke' || type === 'token.retire')
  if (endsRights || events.some(({ type }) => DELIVERED.has(type))) onDue()
}

/** A commit that only publishes, for a program that uses the domain without the server. */
export const publishing = (next: UnitOfWork, deps: PublicationDeps): UnitOfWork => ({
  async commit(writes) {
    const outcome = await next.commit(writes)
    if (outcome.committed) publish(deps, writes, outcome.events)
    return outcome
  },
})
