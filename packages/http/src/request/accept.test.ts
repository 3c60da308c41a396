import { describe, expect, it } from 'vitest'
import { acceptsEventStream } from './accept.ts'

describe('acceptsEventStream', () => {
  it.each([
    'text/event-stream',
    'application/json, Text/Event-Stream',
    'text/event-stream;q=0.5',
    'text/event-stream ; x=1',
  ])('returns true for %s', (header) => {
    expect(acceptsEventStream(header)).toBe(true)
  })

  it.each([undefined, '', '*/*', 'text/*', 'application/json', 'text/event-stream;q=0', 'text/event-streams'])(
    'returns false for %s',
    (header) => {
      expect(acceptsEventStream(header)).toBe(false)
    },
  )
})
