import { fromJsonText, type JsonText, type Meter, type StoredEvent, toJsonText } from '@berth/ports'
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

  return (event, { subject, epoch, raw = false }) => {
    const eventId = formatEventId({ epoch, position: event.position })
    const at = new Date(event.at).toISOString()
    const head = JSON.stringify({ eventId, subject, type: event.type })
    const tail = JSON.stringify({ at, runId: event.runId })
    const isClean = raw || policy === 'pass' || !isAside(event)
    const payload = isClean ? event.payload : toJsonText(sanitizeValue(fromJsonText(event.payload), { policy, onDrop }))
    return `${head.slice(0, -1)},"payload":${payload},${tail.slice(1)}` as JsonText
  }
}

const isAside = ({ type, phase }: StoredEvent) => phase === 'commentary' || type.startsWith('reasoning.')
