import { fromJsonText, type HookDeliveryRecord, type JsonText, parseStrictText, toJsonText } from '@perdure/ports'
import type { IncomingDelivery } from '@perdure/protocol'
import { checkEventName } from '../durable/event-name.ts'
import { checkInput } from '../targets/check-input.ts'
import type { RunTargets } from '../targets/run-target.ts'
import { type Hook, startedBy } from './hook.ts'
import { quoteLargeIntegers } from './quote-large-integers.ts'

/** What a delivery is to start, or why it starts nothing. */
export type HookIntent =
  | {
      readonly kind: 'start'
      readonly payload: JsonText
      readonly sessionId?: string | undefined
      /** The events to emit: that of the hook and, with a key, that of the key. */
      readonly events: readonly string[]
      /** What the sender may not expect, although the delivery is accepted. */
      readonly reason?: string | undefined
    }
  | { readonly kind: 'ignored' | 'dead'; readonly reason: string }

type Start = Extract<HookIntent, { readonly kind: 'start' }>

type Received = Pick<HookDeliveryRecord, 'hookId' | 'deliveryId' | 'headers' | 'body' | 'createdAt'>

/**
 * Calls the functions of the hook with the delivery. Never rejects: a function that throws, and a result that cannot be
 * used, make the delivery dead. So does an input that the schema of the agent or workflow refuses.
 */
export async function readDelivery(
  targets: Pick<RunTargets, 'find'>,
  { to }: Pick<Hook, 'to'>,
  received: Received,
): Promise<HookIntent> {
  let step = to?.input === undefined ? 'the body' : 'input'
  try {
    const delivery = parse(received)
    const payload = to?.input === undefined ? delivery.body : await to.input(delivery)
    if (payload === undefined) return { kind: 'ignored', reason: 'input returned undefined' }
    const text = toJsonText(payload)
    if (to !== undefined && 'event' in to) {
      step = 'key'
      return { kind: 'start', payload: text, ...eventsOf(to, delivery) }
    }
    const started = startedBy(to)
    step = `the schema of "${started?.id}"`
    await checkInput((started && targets.find(started.kind, started.id)) ?? {}, payload)
    step = 'sessionId'
    return { kind: 'start', payload: text, sessionId: sessionOf(to?.sessionId, delivery), events: [] }
  } catch (error) {
    return { kind: 'dead', reason: `${step}: ${messageOf(error)}`.slice(0, MAX_REASON_LENGTH) }
  }
}

const MAX_REASON_LENGTH = 1_000

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** The body is parsed when it is read: a function that reads the text can accept a body that this parser refuses. */
function parse({ hookId, deliveryId, headers, body, createdAt }: Received): IncomingDelivery {
  const text = String(fromJsonText(body))
  const known = fromJsonText(headers) as IncomingDelivery['headers']
  let parsed: { readonly value: unknown } | undefined
  return {
    ...{ hookId, deliveryId, headers: known, text, receivedAt: new Date(createdAt) },
    get body() {
      parsed ??= { value: parseBody(text, known['content-type'] ?? '') }
      return parsed.value
    },
  }
}

const JSON_TYPE = /^\s*(?:application|text)\/(?:[\w.-]+\+)?json\b/i
const FORM_TYPE = /^\s*application\/x-www-form-urlencoded\b/i

function parseBody(text: string, mediaType: string): unknown {
  if (JSON_TYPE.test(mediaType)) return parseJson(text)
  if (!FORM_TYPE.test(mediaType)) return text
  const fields = [...new URLSearchParams(text)]
  const [only] = fields
  // Slack and GitHub send JSON as the only field of a form.
  if (fields.length === 1 && only?.[0] === 'payload') return parseJson(only[1])
  return Object.fromEntries(fields)
}

const parseJson = (text: string): unknown => parseStrictText(quoteLargeIntegers(text))

type EventTarget = Extract<NonNullable<Hook['to']>, { readonly event: string }>

function eventsOf({ event, key }: EventTarget, delivery: IncomingDelivery): Pick<Start, 'events' | 'reason'> {
  if (key === undefined) return { events: [event] }
  const value = typeof key === 'function' ? key(delivery) : memberAt(delivery.body, key)
  if (value === undefined || value === null) {
    const missing = typeof key === 'function' ? 'the function returned nothing' : `the body has no "${key}"`
    return { events: [event], reason: `key: ${missing}, so only the event "${event}" was emitted` }
  }
  if (typeof value !== 'string' && typeof value !== 'number') throw new Error('must be a text or a number')
  const keyed = `${event}.${value}`
  checkEventName(keyed)
  return { events: [event, keyed] }
}

const memberAt = (body: unknown, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>(
      (at, name) =>
        typeof at === 'object' && at !== null && Object.hasOwn(at, name) ? Reflect.get(at, name) : undefined,
      body,
    )

type SessionId = string | ((delivery: IncomingDelivery) => string | undefined) | undefined

const SESSION_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/

function sessionOf(sessionId: SessionId, delivery: IncomingDelivery): string | undefined {
  const value: unknown = typeof sessionId === 'function' ? sessionId(delivery) : sessionId
  if (value === undefined) return undefined
  if (typeof value === 'string' && SESSION_ID.test(value)) return value
  throw new Error(`${JSON.stringify(value)} is not a session id: use at most 128 letters, digits, "_" or "-"`)
}
