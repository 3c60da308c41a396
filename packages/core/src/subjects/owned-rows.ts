import {
  type BlockStore,
  type Clock,
  type EpochMs,
  EVERY_ROW,
  type EventLog,
  type FactStore,
  type FileStore,
  fromJsonText,
  type JsonText,
  type RunStore,
  type SessionStore,
  type TokenStore,
  type TriggerStore,
  type UnitOfWork,
  type WebhookStore,
  type Write,
} from '@perdure/ports'
import type { ErasedNoun } from '@perdure/protocol'
import { eachItem } from '../collections/each-item.ts'
import { answerAfterDeletion } from '../idempotency/answer-after-deletion.ts'
import { CONFLICT_TOPIC, MEMORY_TOPIC } from '../memory/memory-events.ts'
import { eachEvent } from '../realtime/each-event.ts'
import type { AbortRun } from '../runs/abort-request.ts'
import { abortRuns } from '../runs/abort-runs.ts'
import { sessionDeletion } from '../sessions/session-deletion.ts'
import { eachTrigger } from '../triggers/each-trigger.ts'

export interface OwnedRowsDeps {
  readonly sessions: Pick<SessionStore, 'list'>
  readonly runs: Pick<RunStore, 'list'>
  readonly facts: Pick<FactStore, 'list'>
  readonly blocks: Pick<BlockStore, 'list'>
  readonly files: Pick<FileStore, 'list'>
  readonly events: Pick<EventLog, 'read' | 'head'>
  readonly triggers: TriggerStore
  readonly webhooks: Pick<WebhookStore, 'list'>
  readonly tokens: Pick<TokenStore, 'list'>
  readonly unitOfWork: UnitOfWork
  readonly clock: Clock
  readonly abortRun: AbortRun
}

export interface Erased {
  readonly count: number
  /** Rows that cannot be deleted now, because a run uses them. */
  readonly left: number
}

/** Deletes some rows of a subject. */
type EraseSome = (deps: OwnedRowsDeps, subject: string) => Promise<Erased>

const BATCH = 50

const REASON = 'the data of the owner is being deleted'

/**
 * What a subject owns, in the order of deletion: what starts runs and grants access comes first, then what refers to other
 * rows. Each entry deletes a batch.
 */
export const OWNED_ROWS: Readonly<Record<ErasedNoun, EraseSome>> = {
  async triggers({ triggers, ...deps }, subject) {
    const ids: string[] = []
    for await (const { id, owner, source } of eachTrigger(triggers)) {
      if (owner === subject && source === 'api') ids.push(id)
    }
    return commitEach(
      deps,
      ids.slice(0, BATCH).map((id) => [{ type: 'trigger.delete', id }]),
    )
  },
  async webhooks({ webhooks, ...deps }, subject) {
    const own = (await webhooks.list()).filter(({ owner, source }) => owner === subject && source === 'api')
    return commitEach(
      deps,
      own.slice(0, BATCH).map(({ id }) => [{ type: 'webhook.delete', id }]),
    )
  },
  async tokens({ tokens, clock, ...deps }, subject) {
    const at = clock.now()
    let found = 0
    for await (const token of eachItem((cursor) => tokens.list({ limit: 200, order: 'asc', cursor }))) {
      if (token.subject !== subject) continue
      found += 1
      if (token.revokedAt === undefined) await commitEach(deps, [[{ type: 'token.revoke', id: token.id, at }]])
    }
    const count = await prune(deps, { type: 'token.prune', before: afterNow(clock), limit: BATCH, subject })
    return { count, left: found - count }
  },
  async sessions({ sessions, clock, ...deps }, subject) {
    const { items } = await sessions.list({}, { limit: BATCH, order: 'asc' }, { owner: subject })
    for (const { id } of items) await abortRuns(deps, { sessionId: id }, REASON)
    return commitEach(
      deps,
      items.map((session) => sessionDeletion(session, { at: clock.now() })),
    )
  },
  async runs({ clock, ...deps }, subject) {
    await abortRuns(deps, { owner: subject }, REASON)
    const count = await prune(deps, {
      type: 'run.prune',
      before: afterNow(clock),
      limit: BATCH,
      of: { owner: subject, answer: DELETED },
    })
    const { items } = await deps.runs.list({ owner: subject }, { limit: 1, order: 'asc', content: [] }, EVERY_ROW)
    return { count, left: items.length }
  },
  async facts({ facts, ...deps }, subject) {
    // At this instant, no fact has expired.
    const filter = { owner: subject, now: 0 as EpochMs, visibility: EVERY_ROW } as const
    const { items } = await facts.list(filter, { limit: BATCH, order: 'asc' })
    return commitEach(
      deps,
      items.map(({ id, revision }) => [{ type: 'fact.delete', id, revision }]),
    )
  },
  async events({ events, ...deps }, subject) {
    const positions: number[] = []
    const { position: through } = await events.head()
    for (const topic of [MEMORY_TOPIC, CONFLICT_TOPIC]) {
      for await (const { position, payload } of eachEvent(events, { stream: { topic }, through }, (event) => event)) {
        if (isOwnedBy(subject, payload)) positions.push(position)
      }
    }
    return { count: await prune(deps, { type: 'event.delete', positions }), left: 0 }
  },
  async blocks({ blocks, ...deps }, subject) {
    const { items } = await blocks.list(undefined, { limit: BATCH, order: 'asc' }, { owner: subject })
    return commitEach(
      deps,
      items.map(({ owner, namespace, label }) => [{ type: 'block.delete', ref: { owner, namespace, label } }]),
    )
  },
  async files({ files, ...deps }, subject) {
    const { items } = await files.list({}, { limit: BATCH, order: 'asc' }, { owner: subject })
    return commitEach(
      deps,
      items.map(({ id }) => [{ type: 'file.delete', id }]),
    )
  },
}

const DELETED = answerAfterDeletion('run-not-found', 'owner')

const isOwnedBy = (subject: string, payload: JsonText): boolean =>
  (fromJsonText(payload) as { readonly owner?: unknown }).owner === subject

/** Runs that end in this millisecond have ended before it. */
const afterNow = (clock: Clock): EpochMs => (clock.now() + 1) as EpochMs

async function prune({ unitOfWork }: Pick<OwnedRowsDeps, 'unitOfWork'>, write: Write): Promise<number> {
  const outcome = await unitOfWork.commit([write])
  return outcome.committed ? (outcome.counts[0] ?? 0) : 0
}

/** Commits each deletion by itself. One that conflicts, because somebody uses the row, is left to the next request. */
async function commitEach(
  { unitOfWork }: Pick<OwnedRowsDeps, 'unitOfWork'>,
  deletions: ReadonlyArray<readonly Write[]>,
): Promise<Erased> {
  let count = 0
  for (const writes of deletions) if ((await unitOfWork.commit(writes)).committed) count += 1
  return { count, left: deletions.length - count }
}
