import type { Tracer } from '@perdure/ports'
import { SPANS, type SpanSpec } from '@perdure/protocol'
import { describe, expect, it } from 'vitest'

/** A span as recorded by the tracing system. */
export interface SeenSpan {
  readonly title: string
  readonly kind?: SpanSpec['kind'] | undefined
  readonly traceId: string
  readonly spanId: string
  readonly parentId?: string | undefined
  readonly attributes: Readonly<Record<string, unknown>>
  readonly isError: boolean
}

export interface TracerHarness {
  readonly name: string
  /** Opens a tracer, with access to the ended spans in end order. */
  open(): Promise<{ readonly tracer: Tracer; readonly ended: () => readonly SeenSpan[] }>
}

export interface TracerCase {
  readonly title: string
  run(open: TracerHarness['open']): Promise<void>
}

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const PARENT = 'b7ad6b7169203331'
const RECEIVED = `00-${TRACE}-${PARENT}-01`
const WELL_FORMED = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-01$/

export const tracerCases: readonly TracerCase[] = [
  {
    title: 'starts a child of the span in a traceparent and returns its own traceparent',
    async run(open) {
      const { tracer, ended } = await open()
      const span = tracer.start('run.agent', { 'perdure.run.id': 'run_1' }, RECEIVED)
      span.end()

      const [seen] = ended()
      expect(seen).toMatchObject({ traceId: TRACE, parentId: PARENT })
      expect(span.traceparent).toBe(`00-${TRACE}-${seen?.spanId}-01`)
    },
  },
  {
    title: 'starts a new trace without a traceparent or with a malformed one',
    async run(open) {
      const { tracer, ended } = await open()
      const malformed = [
        '',
        'nonsense',
        `00-${'0'.repeat(32)}-${PARENT}-01`,
        `ff-${TRACE}-${PARENT}-01`,
        `${RECEIVED}0`,
      ]
      const spans = [undefined, ...malformed].map((given) => tracer.start('step', {}, given))
      for (const span of spans) span.end()

      expect(ended().map(({ parentId }) => parentId)).toEqual(spans.map(() => undefined))
      expect(new Set(ended().map(({ traceId }) => traceId)).size).toBe(spans.length)
      for (const { traceparent } of spans) expect(traceparent).toMatch(WELL_FORMED)
    },
  },
  {
    title: 'starts child spans that can end after their parent',
    async run(open) {
      const { tracer, ended } = await open()
      const run = tracer.start('run.workflow', {}, RECEIVED)
      const first = run.start('step', {})
      run.end()
      first.start('step', {}).end()
      first.end()

      const [above, below, middle] = ended()
      expect([above?.traceId, middle?.traceId, below?.traceId]).toEqual([TRACE, TRACE, TRACE])
      expect([middle?.parentId, below?.parentId]).toEqual([above?.spanId, middle?.spanId])
    },
  },
  {
    title: 'sets the title, kind and fixed attributes of a span and leaves out attributes without a value',
    async run(open) {
      const { tracer, ended } = await open()
      const attributes = { 'gen_ai.agent.name': 'echo', 'perdure.run.attempt': 2, 'gen_ai.conversation.id': undefined }
      tracer.start('run.agent', attributes, undefined).end()
      tracer.start('request', { 'http.request.method': 'GET' }, undefined).end()

      expect(ended()).toMatchObject([
        {
          title: 'invoke_agent echo',
          kind: SPANS['run.agent'].kind,
          attributes: { ...SPANS['run.agent'].fixed, 'gen_ai.agent.name': 'echo', 'perdure.run.attempt': 2 },
        },
        { title: 'GET', kind: 'server' },
      ])
      expect(ended()[0]?.attributes).not.toHaveProperty('gen_ai.conversation.id')
    },
  },
  {
    title: 'keeps an attribute that is a list',
    async run(open) {
      const { tracer, ended } = await open()
      const attributes = { 'gen_ai.response.finish_reasons': ['stop', 'length'] }
      tracer.start('model', { 'gen_ai.request.model': 'm' }, undefined).end({ attributes })

      expect(ended()).toMatchObject([{ kind: 'client', attributes }])
    },
  },
  {
    title: 'ends a span only once, with an error status if an error is given',
    async run(open) {
      const { tracer, ended } = await open()
      const span = tracer.start('tool', {}, undefined)
      span.end({ error: 'timeout' })
      span.end()
      tracer.start('run.agent', {}, undefined).end({ attributes: { 'perdure.run.status': 'completed' } })

      expect(ended()).toMatchObject([
        { isError: true, attributes: { 'error.type': 'timeout' } },
        { isError: false, attributes: { 'perdure.run.status': 'completed' } },
      ])
      expect(ended()).toHaveLength(2)
    },
  },
  {
    title: 'returns the result of a function called within a span and rethrows its error',
    async run(open) {
      const { tracer } = await open()
      const span = tracer.start('step', {}, undefined)

      expect(span.within(() => 7)).toBe(7)
      await expect(span.within(async () => Promise.reject(new Error('own')))).rejects.toThrow('own')
      expect(() =>
        span.within(() => {
          throw new Error('own')
        }),
      ).toThrow('own')
    },
  },
  {
    title: 'can be flushed repeatedly',
    async run(open) {
      const { tracer } = await open()

      expect(await Promise.all([tracer.flush(), tracer.flush()])).toEqual([undefined, undefined])
    },
  },
]

/** Registers the suite with vitest for one adapter. */
export function tracerContract({ name, open }: TracerHarness): void {
  describe(`Tracer: ${name}`, () => {
    for (const { title, run } of tracerCases) it(title, () => run(open))
  })
}
