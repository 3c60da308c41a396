import { sanitizeText } from '@perdure/core'
import { noTracer, type Span, type Tracer } from '@perdure/ports'
import type { SpanName } from '@perdure/protocol'
import { oneLine } from '../output/columns.ts'
import { painter } from '../output/paint.ts'
import { durationText } from '../output/time-text.ts'
import type { Terminal } from '../terminal.ts'
import { headOf } from './failed-run-text.ts'

/** Adds a line to the log of `perdure dev` for each try of a step and each tool call, and passes spans to `inner`. */
export function createDevTracer({ env, stderr }: Pick<Terminal, 'env' | 'stderr'>, inner: Tracer = noTracer): Tracer {
  const paint = painter(env, stderr)

  const onEnd = (name: string, startedMs: number, failure: string | undefined) => {
    const mark = failure === undefined ? paint('green', '✓') : paint('red', '✗')
    const shown = failure === undefined ? '' : ` ${paint('red', failure)}`
    stderr.write(`    ${mark} ${name} ${durationText(performance.now() - startedMs)}${shown}\n`)
  }

  const watched = (span: Span, name: SpanName, attributes: Readonly<Record<string, unknown>>): Span => {
    const shown = nameOf(name, attributes)
    const startedMs = performance.now()
    let isEnded = false
    let thrown: string | undefined
    const onThrown = (error: unknown) => {
      thrown = oneLine(sanitizeText(headOf(error)))
    }
    return {
      traceparent: span.traceparent,
      start: (child, more) => watched(span.start(child, more), child, more),
      within: (fn) => (shown === undefined ? span.within(fn) : observed(() => span.within(fn), onThrown)),
      end(end = {}) {
        span.end(end)
        if (shown !== undefined && !isEnded)
          onEnd(shown, startedMs, end.error === undefined ? undefined : (thrown ?? sanitizeText(end.error)))
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

/** Calls the code, and reports what it throws or rejects with; neither changes. */
function observed<T>(code: () => T, onThrown: (error: unknown) => void): T {
  try {
    const result = code()
    if (result instanceof Promise) result.catch(onThrown)
    return result
  } catch (error) {
    onThrown(error)
    throw error
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
