import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { CLOSE_CODES } from './close-codes.ts'
import { ClientFrame, ErrorFrame, EventFrame, RPC_METHODS } from './frames.ts'
import { RPC_CODES } from './rpc-codes.ts'

const accepts = (schema: v.GenericSchema, input: unknown) => v.is(schema, input)

describe('ClientFrame', () => {
  it.each([
    { jsonrpc: '2.0', id: 1, method: 'ping' },
    { jsonrpc: '2.0', id: 'a', method: 'ping', params: {} },
    { jsonrpc: '2.0', v: '1', id: 0, method: 'anything' },
  ])('accepts %j', (frame) => {
    expect(accepts(ClientFrame, frame)).toBe(true)
  })

  it.each([
    [[{ jsonrpc: '2.0', id: 1, method: 'ping' }]],
    { id: 1, method: 'ping' },
    { jsonrpc: '1.0', id: 1, method: 'ping' },
    { jsonrpc: '2.0', method: 'ping' },
    { jsonrpc: '2.0', id: null, method: 'ping' },
    { jsonrpc: '2.0', id: 1.5, method: 'ping' },
    { jsonrpc: '2.0', id: 1, method: 2 },
    { jsonrpc: '2.0', id: 1, method: 'ping', params: [] },
    { jsonrpc: '2.0', v: '2', id: 1, method: 'ping' },
    { jsonrpc: '2.0', id: 1, method: 'ping', extra: true },
    'ping',
    null,
  ])('rejects %j', (frame) => {
    expect(accepts(ClientFrame, frame)).toBe(false)
  })
})

describe('RPC_METHODS', () => {
  it('lists the methods of the interface document', () => {
    expect(Object.keys(RPC_METHODS)).toEqual([
      'initialize',
      'subscription.subscribe',
      'subscription.unsubscribe',
      'run.cancel',
      'credential.renew',
      'ping',
    ])
  })

  it('accepts the cursor of a subscription as lastEventId or sinceEventId', () => {
    const { params } = RPC_METHODS['subscription.subscribe']
    expect(accepts(params, { subject: 'memory/events', lastEventId: 'e.1' })).toBe(true)
    expect(accepts(params, { subject: 'memory/events', sinceEventId: 'e.1' })).toBe(true)
    expect(accepts(params, { subject: 'memory/events', from: 'e.1' })).toBe(false)
    expect(accepts(params, {})).toBe(false)
  })

  it('rejects an array as parameters or capabilities', () => {
    const { params } = RPC_METHODS.initialize
    expect(accepts(params, { capabilities: {} })).toBe(true)
    expect(accepts(params, { capabilities: [] })).toBe(false)
    expect(accepts(params, [])).toBe(false)
  })

  it.each(Object.entries(RPC_METHODS))('rejects unknown parameters of %s', (_, { params }) => {
    expect(accepts(params, { subject: 'memory/events', subscriptionId: 's', runId: 'r', 'no-such-member': 1 })).toBe(
      false,
    )
  })
})

describe('EventFrame', () => {
  it('requires the members of the event envelope', () => {
    const envelope = {
      eventId: 'e.1',
      subject: 'memory/events',
      type: 'a',
      payload: {},
      at: '2026-01-01T00:00:00.000Z',
    }
    expect(accepts(EventFrame, { v: '1', kind: 'event', subscriptionId: 's', ...envelope })).toBe(true)
    expect(accepts(EventFrame, { v: '1', kind: 'event', ...envelope })).toBe(false)
  })
})

describe('ErrorFrame', () => {
  it('requires a kind, a code and a message', () => {
    expect(accepts(ErrorFrame, { kind: 'error', code: 'replay-gap', message: 'gone' })).toBe(true)
    expect(accepts(ErrorFrame, { kind: 'error', message: 'gone' })).toBe(false)
  })
})

describe('RPC_CODES', () => {
  it('has the numbers of the interface document', () => {
    expect(Object.values(RPC_CODES).map(({ code }) => code)).toEqual([
      -32700, -32600, -32601, -32602, -32603, -32001, -32002, -32003, -32004, -32005, -32010, -32011,
    ])
  })
})

describe('CLOSE_CODES', () => {
  it('has the names and numbers of the interface document', () => {
    expect(Object.entries(CLOSE_CODES).map(([name, { code }]) => `${code} ${name}`)).toEqual([
      '4001 auth.required',
      '4002 auth.invalid',
      '4003 auth.revoked',
      '4004 auth.scope_denied',
      '4005 rate.limited',
      '4006 flow.throttled',
      '4007 server.shutdown',
      '4008 protocol.violation',
    ])
  })

  it('has reasons that fit into a close frame', () => {
    for (const name of Object.keys(CLOSE_CODES)) expect(new TextEncoder().encode(name).length).toBeLessThanOrEqual(123)
  })
})
