import { createInMemoryMeter } from '@perdure/in-memory'
import { type JsonText, type Meter, noMeter, type StoredEvent } from '@perdure/ports'
import { anEvent, BUILT_AT } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { createRenderEnvelope } from './envelope.ts'

const SUBJECT = 'agent:echo/runs/run_1/events'
const stored = (over: Partial<StoredEvent> = {}): StoredEvent => ({ ...anEvent(), position: 7, ...over })
const view = { subject: SUBJECT, epoch: 'e1' }
const renderEnvelope = createRenderEnvelope({ meter: noMeter, policy: 'redact' })
const rendered = (over?: Partial<StoredEvent>, meter: Meter = noMeter) =>
  JSON.parse(createRenderEnvelope({ meter, policy: 'redact' })(stored(over), view))

describe('createRenderEnvelope', () => {
  it('renders an event of a run', () => {
    expect(rendered({ runId: 'run_1', sessionId: 'chat', topic: 'agent:echo/events' })).toEqual({
      eventId: 'e1.7',
      subject: SUBJECT,
      type: 'text.delta',
      payload: { delta: 'hel' },
      at: '2025-01-01T00:00:00.000Z',
      runId: 'run_1',
    })
  })

  it('omits runId when the event belongs to no run', () => {
    expect(Object.keys(rendered())).toEqual(['eventId', 'subject', 'type', 'payload', 'at'])
  })

  it('includes the payload verbatim', () => {
    const payload = '{"n":12345678901234567890,"mail":"bob@example.com","a":1.0}' as JsonText

    expect(renderEnvelope(stored({ payload, at: BUILT_AT }), view)).toContain(`"payload":${payload},`)
  })

  it.each<[string, Partial<StoredEvent>]>([
    ['commentary', { phase: 'commentary' }],
    ['reasoning', { type: 'reasoning.delta' }],
  ])('sanitizes %s unless raw is set', (_, over) => {
    const payload = '{"delta":"mail bob@example.com"}' as JsonText

    expect(rendered({ ...over, payload }).payload).toEqual({ delta: 'mail [redacted:email]' })
    expect(renderEnvelope(stored({ ...over, payload }), { ...view, raw: true })).toContain(payload)
  })

  it('counts redactions by rule', () => {
    const meter = createInMemoryMeter()
    const payload = '{"delta":"mail bob@example.com and al@example.com"}' as JsonText

    rendered({ phase: 'commentary', payload }, meter)
    rendered({ payload }, meter)

    expect([...meter.values]).toEqual([['svc_redaction_drops_total{rule="email"}', 2]])
  })
})
