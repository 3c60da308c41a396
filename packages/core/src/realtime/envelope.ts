import { fromJsonText, type JsonText, type Meter, type StoredEvent, toJsonText } from '@perdure/ports'
import { type Cursor, formatEventId } from './event-id.ts'
import type { RedactionRule } from './redaction-patterns.ts'
import { type SanitizerPolicy, sanitizeValue } from './sanitize.ts'

export interface EnvelopeView {
  readonly subject: string
  readonly epoch: Cursor['epoch']
  /** Without the sanitizer; only for replays that may see that. */
  readonly raw?: boolean | undefined
}

/**
 * The event as every transport shows it: `{ eventId, subject, type, payload, at, runId? }`. What an agent says aside
 * (phase `commentary`, `reasoning.*`) is sanitized here, on the one way out.
 */
export type RenderEnvelope = (event: StoredEvent, view: EnvelopeView) => JsonText

export interface RenderEnvelopeDeps {
  readonly meter: Meter
  readonly policy: SanitizerPolicy
}

export function createRenderEnvelope({ meter, policy }: RenderEnvelopeDeps): RenderEnvelope {
  const onDrop = (rule: RedactionRule) => meter.count('svc_redaction_drops_total', { rule })
  const quoteSubject = rememberingLast(quote)
  const quoteType = rememberingLast(quote)
  const quoteRunId = rememberingLast(quote)
  const toIso = rememberingLast((at: number) => new Date(at).toISOString())

  return (event, { subject, epoch, raw = false }) => {
    const { type, runId } = event
    const id = quote(formatEventId({ epoch, position: event.position }))
    const isClean = raw || policy === 'pass' || !isAside(event)
    const payload = isClean ? event.payload : toJsonText(sanitizeValue(fromJsonText(event.payload), { policy, onDrop }))
    const head = `{"eventId":${id},"subject":${quoteSubject(subject)},"type":${quoteType(type)}`
    const tail = runId === undefined ? '}' : `,"runId":${quoteRunId(runId)}}`
    return `${head},"payload":${payload},"at":"${toIso(event.at)}"${tail}` as JsonText
  }
}

const quote = (text: string) => JSON.stringify(text)

/** Events that follow each other have most of their envelope in common. */
function rememberingLast<In, Out>(make: (value: In) => Out): (value: In) => Out {
  let last: { readonly value: In; readonly made: Out } | undefined
  return (value) => {
    if (last?.value !== value) last = { value, made: make(value) }
    return last.made
  }
}

const isAside = ({ type, phase }: StoredEvent) => phase === 'commentary' || type.startsWith('reasoning.')
