import { fromJsonText, type JsonText, type Meter, type StoredEvent, toJsonText } from '@berth/ports'
import { type Cursor, formatEventId } from './event-id.ts'
import { type RedactionRule, sanitizeValue } from './sanitize.ts'

export interface EnvelopeView {
  readonly subject: string
  readonly epoch: Cursor['epoch']
  /** Without the sanitizer; only for replays that may see that. */
  readonly raw?: boolean
  readonly meter: Meter
}

/**
 * The event as every transport shows it: `{ eventId, subject, type, payload, at, runId? }`. What an agent says aside
 * (phase `commentary`, `reasoning.*`) is sanitized here, on the one way out.
 */
export function renderEnvelope(event: StoredEvent, { subject, epoch, raw = false, meter }: EnvelopeView): JsonText {
  const eventId = formatEventId({ epoch, position: event.position })
  const at = new Date(event.at).toISOString()
  const head = JSON.stringify({ eventId, subject, type: event.type })
  const tail = JSON.stringify({ at, runId: event.runId })
  return `${head.slice(0, -1)},"payload":${raw ? event.payload : deliveredPayload(event, meter)},${tail.slice(1)}` as JsonText
}

function deliveredPayload({ type, phase, payload }: StoredEvent, meter: Meter): JsonText {
  const isAside = phase === 'commentary' || type.startsWith('reasoning.')
  if (!isAside) return payload
  const onDrop = (rule: RedactionRule) => meter.count('svc_redaction_drops_total', { rule })
  return toJsonText(sanitizeValue(fromJsonText(payload), onDrop))
}
