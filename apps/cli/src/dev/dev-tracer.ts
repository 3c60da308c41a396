import { noTracer, type Span, type SpanEnd, type Tracer } from '@perdure/ports'
import type { SpanName } from '@perdure/protocol'
import { painter } from '../output/paint.ts'
import { durationText } from '../output/time-text.ts'
import type { Terminal } from '../terminal.ts'

/** Adds a line to the log of `perdure dev` for each try of a step and each tool call, and passes spans to `inner`. */
export function createDevTracer({ env, stderr }: Pick<Terminal, 'env' | 'stderr'>, inner: Tracer = noTracer): Tracer {
  const paint = painter(env, stderr)

  const onEnd = (name: string, startedMs: number, { error }: SpanEnd) => {
    const mark = error === undefined ? paint('green', '✓') : paint('red', '✗')
    const failure = error === undefined ? '' : ` ${paint('red', error)}`
    stderr.write(`    ${mark} ${name} ${durationText(performance.now() - startedMs)}${failure}\n`)
  }

  const watched = (span: Span, name: SpanName, attributes: Readonly<Record<string, unknown>>): Span => {
    const shown = nameOf(name, attributes)
    const startedMs = performance.now()
    let isEnded = false
    return {
      traceparent: span.traceparent,
      start: (child, more) => watched(span.start(child, more), child, more),
      within: (fn) => span.within(fn),
      end(end = {}) {
        span.end(end)
        if (shown !== undefined && !isEnded) onEnd(shown, startedMs, end)
        isEnded = true
      },
    }
  }

  return {
    isEnabled: true,
    start: (name, attributes, traceparent) => watched(inner.start(name, attributes, traceparent), name, attributes),
    flush: () => inner.flush(),
  }
}

/** `undefined` for spans that have a line of their own in the log, such as requests and runs. */
function nameOf(span: SpanName, attributes: Readonly<Record<string, unknown>>): string | undefined {
  const tool = attributes['gen_ai.tool.name']
  if (typeof tool === 'string') return `tool ${tool}`
  const step = attributes['perdure.step.name']
  if (typeof step !== 'string' || span === 'request') return undefined
  const attempt = Number(attributes['perdure.step.attempt'] ?? 1)
  return attempt > 1 ? `step ${step} (try ${attempt})` : `step ${step}`
}
