import {
  type DeliveryRecord,
  type Digest,
  EVERY_ROW,
  type EventLog,
  fromJsonText,
  type RunStore,
  type StoredEvent,
  utf8Length,
} from '@perdure/ports'
import type { RenderEnvelope } from '../realtime/envelope.ts'
import type { EventEnvelope } from '../realtime/event-envelope.ts'
import type { SignedContent } from './webhook-secret.ts'

export interface DeliveryBodyDeps {
  readonly events: EventLog
  readonly runs: Pick<RunStore, 'find'>
  readonly render: RenderEnvelope
  readonly digest: Digest
  readonly basePath: string
}

const MAX_MEMBER_BYTES = 64 * 1_024
const MAX_BODY_BYTES = 128 * 1_024
export const TEST_EVENT = 'webhook.test'

/**
 * The content of a delivery. It depends on the event alone, so every attempt sends the same. `undefined` if the event is
 * no longer in the log.
 */
export async function deliveryContent(
  deps: DeliveryBodyDeps,
  delivery: DeliveryRecord,
): Promise<SignedContent | undefined> {
  const { type, position, webhookId, createdAt } = delivery
  if (position === 0) {
    const body = { type, timestamp: new Date(createdAt).toISOString(), data: { webhookId } }
    return { id: `evt_test_${delivery.id}`, body: JSON.stringify(body) }
  }
  const [event] = (await deps.events.scan([type], { after: position - 1, limit: 1 })).events
  if (event?.position !== position) return undefined
  return { id: eventId(event, deps.digest), body: await bodyOf(deps, event) }
}

const HASH_DIGITS = 16

/**
 * The same for every attempt, also on a restored copy of the database. There, another event may get the position, but at
 * another time.
 */
function eventId({ position, type, at, runId = '' }: StoredEvent, { sha256 }: Pick<Digest, 'sha256'>): string {
  return `evt_${position}_${sha256(`${position} ${type} ${at} ${runId}`).slice(0, HASH_DIGITS)}`
}

async function bodyOf(deps: DeliveryBodyDeps, event: StoredEvent): Promise<string> {
  const { runId, sessionId } = event
  const { epoch } = await deps.events.head()
  const run = runId === undefined ? undefined : await deps.runs.find(runId, EVERY_ROW)
  const rendered = deps.render(event, { subject: event.topic ?? '', epoch, isRepeat: true })
  const { type, at, payload } = fromJsonText(rendered) as EventEnvelope
  const data = {
    runId,
    ...(run === undefined ? {} : { [run.kind === 'agent' ? 'agentId' : 'workflowId']: run.targetId }),
    sessionId,
    ...(payload as object),
  }
  const links = runId === undefined ? undefined : { run: `${deps.basePath}/runs/${runId}` }
  return JSON.stringify({ type, timestamp: at, data: withinLimits(data, deps.digest), links })
}

/** Replaces the largest members with their size and hash, `<name>Truncated`, until the content is short enough. */
function withinLimits(data: object, { sha256 }: Pick<Digest, 'sha256'>): object {
  const sizes = Object.entries(data)
    .map(([name, value]) => ({ name, bytes: utf8Length(JSON.stringify(value) ?? '') }))
    .sort((one, other) => other.bytes - one.bytes)
  const total = sizes.reduce((sum, { bytes }) => sum + bytes, 0)
  const removed = new Set<string>()
  let left = total
  for (const { name, bytes } of sizes) {
    if (bytes <= MAX_MEMBER_BYTES && left <= MAX_BODY_BYTES - MAX_MEMBER_BYTES / 2) break
    removed.add(name)
    left -= bytes
  }
  const shown = Object.entries(data).flatMap(([name, value]): readonly Member[] => {
    if (!removed.has(name)) return [[name, value]]
    const text = JSON.stringify(value)
    return [
      [`${name}Truncated`, true],
      [`${name}Bytes`, utf8Length(text)],
      [`${name}Sha256`, sha256(text)],
    ]
  })
  return Object.fromEntries(shown)
}

type Member = readonly [name: string, value: unknown]
