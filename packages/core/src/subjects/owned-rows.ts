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
  type RowAccess,
  type RunStore,
  type SessionStore,
  type TokenStore,
  type TriggerStore,
  type UnitOfWork,
  type WebhookStore,
  type Write,
} from '@perdure/ports'
import { ACTIVE_RUN_STATUSES, type ErasedNoun } from '@perdure/protocol'
import { eachItem } from '../collections/each-item.ts'
import { answerAfterDeletion } from '../idempotency/answer-after-deletion.ts'
import { CONFLICT_TOPIC, MEMORY_TOPIC } from '../memory/memory-events.ts'
import { eachEvent } from '../realtime/each-event.ts'
import { abortIfActive } from '../runs/abort-if-active.ts'
import type { AbortRun } from '../runs/abort-request.ts'
import { eachRun } from '../runs/each-run.ts'
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

const REASON = 'the data of its owner is deleted'

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
    for await (const { id, revokedAt } of ownTokens(tokens, subject)) {
      if (revokedAt === undefined) await commitEach(deps, [[{ type: 'token.revoke', id, at }]])
    }
    const count = await prune(deps, { type: 'token.prune', before: afterNow(clock), limit: BATCH, subject })
    return { count, left: await countOwn(tokens, subject) }
  },
  async sessions({ sessions, clock, ...deps }, subject) {
    const { items } = await sessions.list({}, { limit: BATCH, order: 'asc' }, ownRows(subject))
    const own = items.filter(({ owner }) => owner === subject)
    for (const { id } of own) await abortRuns(deps, { sessionId: id })
    return commitEach(
      deps,
      own.map((session) => sessionDeletion(session, { at: clock.now() })),
    )
  },
  async runs({ clock, ...deps }, subject) {
    await abortRuns(deps, { owner: subject })
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
    const { items } = await blocks.list(undefined, { limit: BATCH, order: 'asc' }, ownRows(subject))
    return commitEach(
      deps,
      items.map(({ owner, namespace, label }) => [{ type: 'block.delete', ref: { owner, namespace, label } }]),
    )
  },
  async files({ files, ...deps }, subject) {
    const { items } = await files.list({}, { limit: BATCH, order: 'asc' }, ownRows(subject))
    return commitEach(
      deps,
      items.map(({ id }) => [{ type: 'file.delete', id }]),
    )
  },
}

const DELETED = answerAfterDeletion('run-not-found', 'owner')

const isOwnedBy = (subject: string, payload: JsonText): boolean =>
  (fromJsonText(payload) as { readonly owner?: unknown }).owner === subject

const ownRows = (owner: string): RowAccess => ({ owner })

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

async function* ownTokens(tokens: Pick<TokenStore, 'list'>, subject: string) {
  const everyToken = eachItem((cursor) => tokens.list({ limit: 200, order: 'asc', cursor }))
  for await (const token of everyToken) if (token.subject === subject) yield token
}

async function countOwn(tokens: Pick<TokenStore, 'list'>, subject: string): Promise<number> {
  let count = 0
  for await (const _ of ownTokens(tokens, subject)) count += 1
  return count
}

async function abortRuns(
  { runs, abortRun }: Pick<OwnedRowsDeps, 'runs' | 'abortRun'>,
  filter: { readonly sessionId: string } | { readonly owner: string },
): Promise<void> {
  for await (const { id } of eachRun(runs, { ...filter, statuses: ACTIVE_RUN_STATUSES }, { content: [] })) {
    await abortIfActive(abortRun, { runId: id, reason: REASON, visibility: EVERY_ROW })
  }
}
