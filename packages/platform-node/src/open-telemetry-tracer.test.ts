import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { context, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { InMemorySpanExporter, SimpleSpanProcessor, type SpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import type { Logger } from '@perdure/ports'
import { tracerContract } from '@perdure/testkit'
import { afterEach, describe, expect, it } from 'vitest'
import { openTracer } from './open-telemetry-tracer.ts'

const RECEIVED = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const warnings: string[] = []
const logger = { warn: (message: string) => void warnings.push(message) } as Pick<Logger, 'warn'>
const open = () => openTracer({ version: '1.2.3', logger })

function register(...more: readonly SpanProcessor[]) {
  const exporter = new InMemorySpanExporter()
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter }), ...more] })
  trace.setGlobalTracerProvider(provider)
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  return exporter
}

afterEach(() => {
  trace.disable()
  context.disable()
  warnings.length = 0
})

const KINDS = { [SpanKind.SERVER]: 'server', [SpanKind.CLIENT]: 'client', [SpanKind.INTERNAL]: 'internal' } as const

tracerContract({
  name: 'OpenTelemetry',
  async open() {
    trace.disable()
    const exporter = register()
    return {
      tracer: await open(),
      ended: () =>
        exporter.getFinishedSpans().map((span) => ({
          title: span.name,
          kind: KINDS[span.kind as keyof typeof KINDS],
          ...{ traceId: span.spanContext().traceId, spanId: span.spanContext().spanId },
          ...{ parentId: span.parentSpanContext?.spanId, attributes: span.attributes },
          isError: span.status.code === SpanStatusCode.ERROR,
        })),
    }
  },
})

describe('openTracer', () => {
  it('reports which package is missing and how to install it', async () => {
    const missing = openTracer({ version: '1', logger, load: () => Promise.reject(new Error('no')) })

    await expect(missing).rejects.toMatchObject({
      kind: 'tracing-peer-missing',
      hint: expect.stringContaining('npm install @opentelemetry/api'),
    })
  })

  it('passes on a received trace context and records nothing without an SDK', async () => {
    const tracer = await open()
    const span = tracer.start('request', {}, RECEIVED)

    expect(span.traceparent).toBe(RECEIVED)
    expect(span.start('step', {}).traceparent).toBe(RECEIVED)
    expect(tracer.start('request', {}, undefined).traceparent).toBeUndefined()
    await tracer.flush()
    expect(warnings).toEqual([expect.stringContaining('no OpenTelemetry SDK is registered')])
  })

  it('prefers the copy of the package in the configuration folder', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'perdure-tracer-'))
    const copy = join(folder, 'node_modules/@opentelemetry/api')
    mkdirSync(copy, { recursive: true })
    const real = createRequire(import.meta.url).resolve('@opentelemetry/api')
    writeFileSync(
      join(copy, 'index.js'),
      `globalThis.loadedBeside = true; module.exports = require(${JSON.stringify(real)})`,
    )
    const load = () => Promise.reject(new Error('not this one'))

    const tracer = await openTracer({ version: '1', logger, from: folder, load })

    expect(globalThis).toHaveProperty('loadedBeside', true)
    expect(tracer.start('step', {}, RECEIVED).traceparent).toBe(RECEIVED)
  })

  it('uses an SDK that is registered later', async () => {
    const tracer = await open()
    const exporter = register()
    tracer.start('step', {}, undefined).end()

    expect(exporter.getFinishedSpans()[0]?.instrumentationScope).toMatchObject({ name: 'perdure', version: '1.2.3' })
  })

  it('makes a span the active span for instrumented code, even after an await', async () => {
    const exporter = register()
    const own = trace.getTracer('own')
    const span = (await open()).start('run.agent', {}, undefined)

    await span.within(async () => {
      await null
      own.startSpan('model').end()
    })
    own.startSpan('beside').end()

    const [model, beside] = exporter.getFinishedSpans()
    expect(span.traceparent).toContain(model?.parentSpanContext?.spanId)
    expect(beside?.parentSpanContext).toBeUndefined()
  })

  it('prefers the active span to the received trace context as parent of a request span only', async () => {
    const exporter = register()
    const server = trace.getTracer('own').startSpan('GET')
    const tracer = await open()

    context.with(trace.setSpan(ROOT_CONTEXT, server), () => {
      tracer.start('request', {}, RECEIVED).end()
      tracer.start('run.agent', {}, RECEIVED).end()
    })

    const parents = exporter.getFinishedSpans().map(({ parentSpanContext }) => parentSpanContext?.spanId)
    expect(parents).toEqual([server.spanContext().spanId, 'b7ad6b7169203331'])
  })

  it('drops the span and logs one warning when the SDK throws', async () => {
    const broken: SpanProcessor = {
      onStart() {
        throw new Error('onStart')
      },
      onEnd: () => undefined,
      forceFlush: () => Promise.reject(new Error('forceFlush')),
      shutdown: async () => undefined,
    }
    register(broken)
    const tracer = await open()
    const span = tracer.start('request', {}, RECEIVED)

    expect(span.traceparent).toBe(RECEIVED)
    expect(span.within(() => 7)).toBe(7)
    span.start('step', {}).end({ error: 'x' })
    span.end()
    await tracer.flush()
    expect(warnings).toEqual(['the OpenTelemetry SDK failed; spans are missing'])
  })
})
