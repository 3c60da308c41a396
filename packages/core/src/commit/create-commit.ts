import type { Clock, Meter, UnitOfWork, Write } from '@perdure/ports'
import { WEBHOOK_EVENTS } from '@perdure/protocol'
import type { EventHub } from '../realtime/event-hub.ts'

/** Adds something to each commit of the next unit of work. */
type Layer = (next: UnitOfWork) => UnitOfWork

export interface CommitDeps extends TimingDeps, PublicationDeps {
  readonly unitOfWork: UnitOfWork
  /** Calls `fn` as work of the server, even if the code of a run led to the commit. */
  readonly outside: <T>(fn: () => T) => T
  /** Called when webhooks may have something to deliver, or may no longer deliver it. */
  readonly onDeliveriesDue: () => void
}

/**
 * The commit of the use cases, as layers around that of the storage, from the outside in. One more layer is outside of
 * them: `createAudit` adds the entries of the audit chain, and commits the chain's own entries through these.
 */
export function createCommit(deps: CommitDeps): UnitOfWork {
  const layers: readonly Layer[] = [
    (next) => wakingWebhooks(next, deps.onDeliveriesDue),
    (next) => publishing(next, deps),
    (next) => timed(next, deps),
    ({ commit }) => ({ commit: (writes) => deps.outside(() => commit(writes)) }),
  ]
  return layers.reduceRight((next, layer) => layer(next), deps.unitOfWork)
}

const DELIVERED: ReadonlySet<string> = new Set(WEBHOOK_EVENTS)

/** Calls `onDue` after a commit with an event that webhooks deliver, or after which a token has fewer rights. */
export const wakingWebhooks = (next: UnitOfWork, onDue: () => void): UnitOfWork => ({
  async commit(writes) {
    const outcome = await next.commit(writes)
    if (!outcome.committed) return outcome
    const endsRights = writes.some(({ type }) => type === 'token.revoke' || type === 'token.retire')
    if (endsRights || outcome.events.some(({ type }) => DELIVERED.has(type))) onDue()
    return outcome
  },
})

export interface PublicationDeps {
  readonly hub: EventHub
  /** Cached answers, discarded after a commit that deletes something. */
  readonly answers?: { clear(): void } | undefined
  /** Whether the tail of a shared log publishes the events. Default: false. */
  readonly hasTail?: boolean | undefined
}

/**
 * Publishes the events of every commit when the commit is durable. After a commit that deletes something, discards the
 * cached events and the cached answers.
 */
export const publishing = (next: UnitOfWork, { hub, answers, hasTail = false }: PublicationDeps): UnitOfWork => ({
  async commit(writes) {
    const outcome = await next.commit(writes)
    if (!outcome.committed) return outcome
    if (writes.some(deletes)) {
      hub.invalidate()
      answers?.clear()
    }
    if (outcome.events.length > 0 && !hasTail) hub.publish(outcome.events)
    return outcome
  },
})

const deletes = ({ type }: Write): boolean => type.endsWith('.delete')

interface TimingDeps {
  readonly clock: Clock
  readonly meter: Meter
}

/** Measures how long each commit takes, including its wait for a commit group. */
const timed = (next: UnitOfWork, { clock, meter }: TimingDeps): UnitOfWork => ({
  async commit(writes) {
    const startedMs = clock.monotonicMs()
    try {
      return await next.commit(writes)
    } finally {
      const seconds = (clock.monotonicMs() - startedMs) / 1_000
      meter.observe('svc_storage_commit_duration_seconds', {}, seconds)
    }
  },
})
