import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Client, createClient, createRunLog, RUN_ID, settled } from './run-log.fixture.ts'

type Step =
  | { readonly do: 'append'; readonly count: number }
  | { readonly do: 'append-elsewhere' }
  | { readonly do: 'read'; readonly chunks: number }
  | { readonly do: 'reconnect' }
  | { readonly do: 'settle' }

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('append' as const), count: fc.integer({ min: 1, max: 260 }) }),
  fc.record({ do: fc.constant('append-elsewhere' as const) }),
  fc.record({ do: fc.constant('read' as const), chunks: fc.integer({ min: 1, max: 40 }) }),
  fc.record({ do: fc.constant('reconnect' as const) }),
  fc.record({ do: fc.constant('settle' as const) }),
)

interface Session {
  readonly seen: string[]
  connect(): Promise<boolean>
  read(chunks: number): Promise<void>
  readToEnd(): Promise<void>
}

/** A client that reconnects with Last-Event-ID, as a browser does, and collects the events of all its connections. */
function createSession(open: (lastEventId?: string) => Promise<Response>): Session {
  const seen: string[] = []
  let client: Client | undefined
  let taken = 0

  const collect = () => {
    for (const { data } of client?.events.slice(taken) ?? []) {
      if (data !== '') seen.push((JSON.parse(data) as { eventId: string }).eventId)
    }
    taken = client?.events.length ?? 0
  }

  return {
    seen,
    async connect() {
      collect()
      const lastEventId = client?.lastEventId
      await client?.close()
      const response = await open(lastEventId === '' ? undefined : lastEventId)
      if (response.status === 204) return false
      client = createClient(response, lastEventId)
      taken = 0
      return true
    },
    async read(chunks) {
      for (let read = 0; read < chunks; read++) {
        const isMore = await Promise.race([client?.read(), settled().then(() => false)])
        collect()
        if (isMore !== true) return
      }
    },
    async readToEnd() {
      await client?.readToEnd()
      collect()
    },
  }
}

describe('a run stream', () => {
  it('delivers every event of the run once and in order, however often the client reconnects', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30, size: 'max' }), async (steps) => {
        const log = await createRunLog()
        const session = createSession(log.open)
        await session.connect()

        for (const one of steps) {
          if (one.do === 'append') await log.append(...Array.from({ length: one.count }, () => 'text.delta'))
          else if (one.do === 'append-elsewhere') await log.appendElsewhere()
          else if (one.do === 'read') await session.read(one.chunks)
          else if (one.do === 'reconnect') await session.connect()
          else await settled()
        }
        await log.complete()
        if (await session.connect()) await session.readToEnd()

        const events = await log.storage.events.read({ runId: RUN_ID }, { after: 0, limit: 100_000 })
        expect(session.seen).toEqual(events.map(({ position }) => `e1.${position}`))
        expect(await session.connect()).toBe(false)
        expect(log.streams.size()).toBe(0)
      }),
      { numRuns: 60 },
    )
  })
})
