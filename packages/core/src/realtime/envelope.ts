import { fromJsonText, type JsonText, type Meter, type StoredEvent, toJsonText } from '@perdure/ports'
import { type Cursor, formatEventId } from './event-id.ts'
import type { RedactionRule } from './redaction-patterns.ts'
import { type SanitizerPolicy, sanitizeValue } from './sanitize.ts'

export interface EnvelopeOptions {
  readonly subject: string
  readonly epoch: Cursor['epoch']
  /** Skips the sanitizer; only for replays by callers that may see raw events. */
  readonly raw?: boolean | undefined
  /** The event was rendered for the same answer before: its redactions are not counted again. */
  readonly isRepeat?: boolean | undefined
}

/**
 * Renders an event as every transport sends it: `{ eventId, subject, type, payload, at, runId? }`. Every delivered
 * event is rendered by this function, which therefore also sanitizes commentary (phase `commentary`, `reasoning.*`) and log lines.
 */
export type RenderEnvelope = (event: StoredEvent, view: EnvelopeOptions) => JsonText

export interface RenderEnvelopeDeps {
  readonly meter: Meter
  readonly policy: SanitizerPolicy
}

export function createRenderEnvelope({ meter, policy }: RenderEnvelopeDeps): RenderEnvelope {
  const onDrop = (rule: RedactionRule) => meter.count('svc_redaction_drops_total', { rule })
  const quoteSubject = memoizeLast(quote)
  const quoteType = memoizeLast(quote)
  const quoteRunId = memoizeLast(quote)
  const toIso = memoizeLast((at: number) => new Date(at).toISOString())

  return (event, { subject, epoch, raw = false, isRepeat = false }) => {
    const { type, runId } = event
    const id = quote(formatEventId({ epoch, position: event.position }))
    const passesUnchanged = raw || policy === 'pass' || !needsSanitizing(event)
    const payload = passesUnchanged
      ? event.payload
      : toJsonText(sanitizeValue(fromJsonText(event.payload), { policy, onDrop: isRepeat ? ignore : onDrop }))
    const head = `{"eventId":${id},"subject":${quoteSubject(subject)},"type":${quoteType(type)}`
    const tail = runId === undefined ? '}' : `,"runId":${quoteRunId(runId)}}`
    return `${head},"payload":${payload},"at":"${toIso(event.at)}"${tail}` as JsonText
  }
}

const ignore = () => undefined

const quote = (text: string) => JSON.stringify(text)

/** Caches only the last result, because consecutive events share most of their envelope. */
function memoizeLast<In, Out>(make: (value: In) => Out): (value: In) => Out {
  let last: { readonly value: In; readonly made: Out } | undefined
  return (value) => {
    if (last?.value !== value) last = { value, made: make(value) }
    return last.made
  }
}

const needsSanitizing = ({ type, phase }: StoredEvent) =>
  phase === 'commentary' || type === 'run.log' || type.startsWith('reasoning.')
