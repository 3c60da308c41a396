import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EVENT_TYPE, EVENTS, type EventSpec, isAgentEventType, RESERVED_EVENT_FAMILIES } from './events.ts'
import { SUBJECTS } from './subjects.ts'

const rows: readonly (readonly [string, EventSpec])[] = Object.entries(EVENTS)
const word = fc.stringMatching(/^[a-z][a-z0-9]{0,9}$/)
const tail = fc.array(fc.stringMatching(/^[a-z0-9-]{1,9}$/), { maxLength: 3 })

describe('EVENTS', () => {
  it.each(rows)('has a well-formed row for %s', (type, { subjects, lifecycle, emittedBy }) => {
    expect(type).toMatch(EVENT_TYPE)
    expect(subjects.length).toBeGreaterThan(0)
    expect(Object.keys(SUBJECTS)).toEqual(expect.arrayContaining([...subjects]))
    const others = [
      ...['run.log', 'run.rewound', 'run.child.started', 'run.message', 'run.compacted', 'run.child.ended'],
      'run.scored',
    ]
    expect(lifecycle === true).toBe(type.startsWith('run.') && !others.includes(type))
    if (lifecycle) expect(emittedBy).toBe('server')
  })

  it('puts at least one event on every subject', () => {
    const carrying = new Set(rows.flatMap(([, { subjects }]) => subjects))
    expect(Object.keys(SUBJECTS).filter((name) => !carrying.has(name as keyof typeof SUBJECTS))).toEqual([])
  })

  it('puts only lifecycle events on the subject of an agent or workflow', () => {
    const carried = rows.filter(([, { subjects }]) => subjects.includes('agent') || subjects.includes('workflow'))
    expect(carried.every(([, { lifecycle }]) => lifecycle)).toBe(true)
  })

  it('lets agents emit exactly the events that carry model output, and scores', () => {
    expect(rows.filter(([, { emittedBy }]) => emittedBy === 'agent').map(([type]) => type)).toEqual([
      'run.scored',
      'text.start',
      'text.delta',
      'text.end',
      'text.complete',
      'reasoning.start',
      'reasoning.delta',
      'reasoning.end',
      'tool.call.start',
      'tool.call.delta',
      'tool.call.end',
      'tool.result',
      'tool.execute.start',
      'tool.execute.progress',
      'tool.execute.end',
      'tool.execute.error',
      'part.state',
      'part.state-delta',
      'part.source',
      'part.file',
      'part.message',
      'part.data',
    ])
  })
})

describe('isAgentEventType', () => {
  it.each(rows)('agrees with the table row for %s', (type, { emittedBy }) => {
    expect(isAgentEventType(type)).toBe(emittedBy === 'agent')
  })

  it('accepts a well-formed type whose first segment is not reserved', () => {
    fc.assert(
      fc.property(word, tail, (first, rest) => {
        fc.pre(!RESERVED_EVENT_FAMILIES.has(first))
        expect(isAgentEventType([first, ...rest].join('.'))).toBe(true)
      }),
    )
  })

  it('rejects an unknown type whose first segment is reserved', () => {
    fc.assert(
      fc.property(fc.constantFrom(...RESERVED_EVENT_FAMILIES), tail, (family, rest) => {
        const type = [family, ...rest].join('.')
        fc.pre(!Object.hasOwn(EVENTS, type))
        expect(isAgentEventType(type)).toBe(false)
      }),
    )
  })

  it.each([
    '',
    '.',
    'a.',
    '.a',
    'a..b',
    'A',
    'a.B',
    '1a',
    'a-b',
    'a b',
    'a\n',
    'a.b\n',
    'replay-gap',
    `a.${'b'.repeat(127)}`,
  ])('rejects %j', (type) => {
    expect(isAgentEventType(type)).toBe(false)
  })

  it.each(['digest.progress', 'a', 'a1.b-c.2', 'constructor', 'runs.started', `a.${'b'.repeat(126)}`])(
    'accepts %j',
    (type) => {
      expect(isAgentEventType(type)).toBe(true)
    },
  )
})
