import { SPANS } from '@perdure/protocol'
import { tracerContract } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { createInMemoryTracer } from './in-memory-tracer.ts'

tracerContract({
  name: 'in memory',
  async open() {
    const tracer = createInMemoryTracer()
    const ended = () =>
      tracer.ended.map((span) => ({ ...span, kind: SPANS[span.name].kind, isError: span.error !== undefined }))
    return { tracer, ended }
  },
})

describe('createInMemoryTracer', () => {
  it('throws for an attribute that the row of the span in SPANS does not list', () => {
    const { start } = createInMemoryTracer()

    expect(() => start('step', { 'http.route': '/v1' } as object, undefined)).toThrow('http.route')
    expect(() => start('step', {}, undefined).end({ attributes: { 'http.route': '/v1' } })).toThrow('http.route')
  })
})
