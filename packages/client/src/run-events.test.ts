import { describe, expect, it } from 'vitest'
import { createClientWorld } from './client-world.fixture.ts'
import { settle } from './manual-pace.fixture.ts'
import type { RunEvents } from './run-events.ts'

const RUN = 'agent:echo/runs/run_1/events'

type World = ReturnType<typeof createClientWorld>

const publish = ({ server }: World, count: number) => Array.from({ length: count }, () => server.publish(RUN).eventId)

/** Reads the events in the background. */
function read(events: RunEvents) {
  const ids: string[] = []
  const seen: { ending: unknown } = { ending: undefined }
  const readAll = async () => {
    for await (const { eventId } of events) ids.push(eventId)
    return 'ended'
  }
  readAll().then(
    (ending) => {
      seen.ending = ending
    },
    (error: unknown) => {
      seen.ending = error
    },
  )
  return { ids, ending: () => seen.ending }
}

const startsOf = ({ server }: World) => server.requests.filter((path) => path.endsWith('/stream')).length

describe.each(['websocket', 'sse'] as const)('agents.stream over %s', (transport) => {
  it('starts a run and yields its events to the last one', async () => {
    const world = createClientWorld({ transport })
    const stream = world.client.agents.stream('echo', { input: 1 })
    const seen = read(stream)
    await world.pace.advance(0)

    expect(await stream.started).toMatchObject({ runId: 'run_1', subject: RUN })
    const ids = publish(world, 3)
    ids.push(world.server.publish(RUN, 'run.completed').eventId)
    await settle()

    expect(seen.ids).toEqual(ids)
    expect(seen.ending()).toBe('ended')
    expect(stream.lastEventId).toBe(ids.at(-1))
  })

  it('loses and repeats no event when its connections are cut', async () => {
    const world = createClientWorld({ transport })
    const seen = read(world.client.agents.stream('echo'))
    await world.pace.advance(0)
    const ids: string[] = []
    for (let cut = 0; cut < 5; cut += 1) {
      ids.push(...publish(world, 2))
      await settle()
      world.server.cut()
      ids.push(...publish(world, 3))
      await world.pace.advance(10_000)
    }
    world.server.cut()
    ids.push(world.server.publish(RUN, 'run.failed').eventId)
    await world.pace.advance(10_000)

    expect(seen.ids).toEqual(ids)
    expect(seen.ending()).toBe('ended')
    expect(startsOf(world)).toBe(1)
  })

  it('starts one run when the answers to the start are lost', async () => {
    const world = createClientWorld({ transport })
    world.server.loseAnswers(3)
    const seen = read(world.client.agents.stream('echo'))
    await world.pace.advance(60_000)
    const last = world.server.publish(RUN, 'run.completed')
    await settle()

    expect(startsOf(world)).toBe(4)
    expect(seen.ids).toEqual([last.eventId])
  })

  it('stops reading when the loop is left, and leaves no connection and no timer behind', async () => {
    const world = createClientWorld({ transport })
    const stream = world.client.agents.stream('echo')
    const leaveAfterTwo = async () => {
      for await (const { eventId } of stream) if (eventId === 'e1.2') break
    }
    const left = leaveAfterTwo()
    await world.pace.advance(0)
    publish(world, 4)
    await left
    await world.pace.advance(1_000)

    expect(stream.lastEventId).toBe('e1.2')
    expect(world.server.openSockets()).toBe(0)
    expect(world.server.requests.filter((path) => path.endsWith('/abort'))).toEqual([])
    expect(world.pace.waiting().filter((delayMs) => delayMs < 500_000)).toEqual([])
  })

  it.each(['before the start', 'before an answer', 'while it reads'])(
    'ends when its signal is aborted %s',
    async (when) => {
      const world = createClientWorld({ transport })
      const { signal, abort } = abortable()
      if (when === 'before the start') abort()
      if (when === 'before an answer') world.server.loseAnswers(1)
      const stream = world.client.agents.stream('echo', {}, { signal })
      const seen = read(stream)
      await world.pace.advance(0)
      if (when === 'while it reads') publish(world, 1)
      await settle()
      abort()
      await settle()

      expect(seen.ending()).toBe('ended')
      expect(seen.ids).toHaveLength(when === 'while it reads' ? 1 : 0)
      if (when !== 'while it reads') await expect(stream.started).rejects.toBe('enough')
    },
  )

  it('ends when the client is closed', async () => {
    const world = createClientWorld({ transport })
    const seen = read(world.client.agents.stream('echo'))
    await world.pace.advance(0)
    world.client.close()
    await settle()

    expect(seen.ending()).toBe('ended')
  })
})

describe('agents.stream', () => {
  it('throws the error of a refused start, and only to those who ask', async () => {
    const { client } = createClientWorld({
      maxRetries: 0,
      fetch: async () => Response.json({ error: 'agent-busy' }, { status: 409 }),
    })
    const ignored = client.agents.stream('echo')
    const seen = read(client.agents.stream('echo'))
    await settle()

    expect(seen.ending()).toMatchObject({ name: 'PerdureError', code: 'agent-busy', status: 409 })
    await expect(ignored.started).rejects.toMatchObject({ code: 'agent-busy' })
  })

  it('sends the key of its options', async () => {
    const keys: (string | null)[] = []
    const world = createClientWorld()
    const { client } = createClientWorld({
      fetch: (input, init) => {
        if (String(input).endsWith('/stream')) keys.push(new Headers(init?.headers).get('idempotency-key'))
        return world.server.fetch(input, init)
      },
    })

    await client.agents.stream('echo', {}, { idempotencyKey: 'order-17' }).started

    expect(keys).toEqual(['order-17'])
  })
})

describe('runs.follow', () => {
  const startedWorld = async () => {
    const world = createClientWorld()
    await world.client.agents.start('echo')
    return world
  }

  it('yields the events of a run from its first event to its last', async () => {
    const world = await startedWorld()
    const ids = publish(world, 2)
    const seen = read(world.client.runs.follow('run_1'))
    await world.pace.advance(0)
    ids.push(world.server.publish(RUN, 'run.aborted').eventId)
    await settle()

    expect([seen.ids, seen.ending()]).toEqual([ids, 'ended'])
  })

  it('resumes after the last event that was read', async () => {
    const world = await startedWorld()
    publish(world, 3)
    const first = world.client.runs.follow('run_1')
    const readOne = async () => {
      for await (const _ of first) break
    }
    const leaving = readOne()
    await world.pace.advance(0)
    await leaving
    const seen = read(world.client.runs.follow('run_1', { lastEventId: first.lastEventId }))
    world.server.publish(RUN, 'run.completed')
    await world.pace.advance(0)

    expect(first.lastEventId).toBe('e1.1')
    expect([seen.ids, seen.ending()]).toEqual([['e1.2', 'e1.3', 'e1.4'], 'ended'])
  })

  it('throws where events are no longer available, unless onGap is passed', async () => {
    const world = await startedWorld()
    publish(world, 5)
    world.server.trim(3)
    world.server.publish(RUN, 'run.completed')
    const gaps: string[] = []
    const strict = read(world.client.runs.follow('run_1', { lastEventId: 'e1.1' }))
    const lenient = read(
      world.client.runs.follow('run_1', { lastEventId: 'e1.1', onGap: (gap) => gaps.push(gap.lastEventId) }),
    )
    await world.pace.advance(0)

    expect(strict.ending()).toMatchObject({ name: 'PerdureError', code: 'replay-gap' })
    expect([lenient.ids, gaps]).toEqual([['e1.4', 'e1.5', 'e1.6'], ['e1.1']])
  })

  it('throws if the server has no such run', async () => {
    const world = createClientWorld()
    const seen = read(world.client.runs.follow('run_9'))
    await world.pace.advance(0)

    expect(seen.ending()).toMatchObject({ code: 'run-not-found', status: 404 })
  })
})

function abortable() {
  const controller = new AbortController()
  return { signal: controller.signal, abort: () => controller.abort('enough') }
}
