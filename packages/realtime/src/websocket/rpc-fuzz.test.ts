import { RPC_CODES, RPC_METHODS } from '@perdure/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { connected, createWorld, settled } from './connections.fixture.ts'

const CODES = new Set(Object.values(RPC_CODES).map(({ code }) => code))
const MESSAGES = Number(process.env.WS_FUZZ_MESSAGES ?? 10_000)
const SEED = Number(process.env.FUZZ_SEED ?? Date.now() % 2 ** 31)

const anyId = fc.oneof(fc.integer(), fc.string({ maxLength: 140 }), fc.constant(null), fc.double(), fc.boolean())
const message = fc.oneof(
  fc.string(),
  fc.json(),
  fc
    .record(
      {
        jsonrpc: fc.constantFrom('2.0', '1.0', 2),
        v: fc.constantFrom('1', '2', 1),
        id: anyId,
        method: fc.oneof(fc.constantFrom(...Object.keys(RPC_METHODS)), fc.string()),
        params: fc.oneof(
          fc.object({ maxDepth: 2 }),
          fc.constant({ subject: 'agent:echo/events' }),
          fc.record({ subject: fc.string(), lastEventId: fc.string() }, { requiredKeys: [] }),
          fc.record({ runId: fc.string(), nonce: fc.string() }, { requiredKeys: [] }),
        ),
      },
      { requiredKeys: [] },
    )
    .map((value) => JSON.stringify(value)),
)

describe('a random message', () => {
  it('gets one response, with its id or null and a known error code', async () => {
    const world = createWorld({ limits: { maxMessages: 1_000_000, maxSubscriptions: 1_000_000 } })
    const closes = new Set<number>()
    let client = await connected(world)
    let answered = 0

    for (const text of fc.sample(message, { numRuns: MESSAGES, seed: SEED })) {
      const before = client.socket.frames.length
      client.connection.receive(text)
      await settled()
      const [answer] = client.socket.frames.slice(before)
      answered++
      expect(answer, text).toBeDefined()
      if (answer?.kind !== 'error') {
        expect([null, ...idsOf(text)]).toContain(answer?.id)
        if (answer?.error !== undefined) expect(CODES).toContain(answer.error.code)
      }
      if (client.socket.closed === undefined) continue
      closes.add(client.socket.closed.code)
      client = await connected(world)
    }

    expect(answered, `seed ${SEED}`).toBe(MESSAGES)
    expect([...closes].filter((code) => code !== 4008)).toEqual([])
  }, 3_600_000)
})

function idsOf(text: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && 'id' in value ? [value.id] : []
  } catch {
    return []
  }
}
