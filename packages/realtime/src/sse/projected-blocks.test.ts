import assert from 'node:assert/strict'
import type { WatchCredential } from '@perdure/core'
import { EVERY_ROW, toJsonText } from '@perdure/ports'
import { anEvent } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import type { ReadProjectedStreamRequest } from './event-streams.ts'
import type { ProjectedStart } from './projected-blocks.ts'
import { createRunLog, RUN_ID, settled } from './run-log.fixture.ts'
import type { RunProjector } from './run-projector.ts'

/** Shows each event as two frames. */
function createPairs(): RunProjector {
  const shown: string[] = []
  return {
    next({ type }) {
      shown.push(type)
      return [{ data: `${type} 1` }, { data: `${type} 2` }]
    },
    opening: (of) => [{ data: of === 'all' ? `so far ${shown.join(',')}` : 'rest' }],
    rest: () => undefined,
  }
}

async function setUp() {
  const { streams, append, complete } = await createRunLog()
  await append('a.x', 'b.x')
  await complete()
  const read = async (start: ProjectedStart, lastEventId?: string, projector = createPairs()) => {
    const request = { runId: RUN_ID, visibility: EVERY_ROW, projector, start, lastEventId } as const
    const text = await (await streams.openProjectedStream(request)).text()
    return text.split('\n\n').flatMap((block) => {
      const [, id = '', data] = /^(?:id: (.*)\n)?data: (.*)$/.exec(block) ?? []
      return data === undefined ? [] : [{ id, data }]
    })
  }
  return { read, dataOf: async (start: ProjectedStart) => (await read(start)).map(({ data }) => data) }
}

const END = ['run.completed 1', 'run.completed 2']

describe('a projected stream', () => {
  it('begins with the first event, with what was shown, or with the event that the reader names', async () => {
    const { dataOf } = await setUp()

    expect(await dataOf('first')).toEqual(['rest', 'a.x 1', 'a.x 2', 'b.x 1', 'b.x 2', ...END])
    expect(await dataOf('now')).toEqual(['so far a.x,b.x,run.completed'])
    expect(await dataOf(({ type }) => type === 'b.x')).toEqual(['rest', 'b.x 1', 'b.x 2', ...END])
    expect(await dataOf(() => false)).toEqual(['rest'])
  })

  it('continues after any frame with exactly the frames after it', async () => {
    const { read } = await setUp()
    const whole = await read('first')

    for (const [index, { id }] of whole.entries()) expect(await read('now', id)).toEqual(whole.slice(index + 1))
  })

  it('counts the frames that the reader has received, and sends the others with the same ids', async () => {
    const { read } = await setUp()
    const whole = await read('first')
    let frames = 0
    const pairs = createPairs()
    const next: RunProjector['next'] = (event) =>
      pairs.next(event).map((frame) => ({ ...frame, isReceived: ++frames <= 3 }))
    const rest = await read('first', undefined, { ...pairs, next })

    expect(rest).toEqual([whole[0], ...whole.slice(4)])
  })

  it('asks a reader that resumes behind a question again, while the question is open', async () => {
    const { streams, append, clock } = await createRunLog()
    const openQuestions = new Set<string>()
    const asking = (): RunProjector => ({
      ...createPairs(),
      next: ({ type }) => [
        { data: `asks ${type}`, isUnanswered: () => openQuestions.has(type) },
        { data: `begins ${type}` },
      ],
    })
    await append('a.x', 'b.x', 'c.x')
    const readFor = async (lastEventId?: string) => {
      const request = { runId: RUN_ID, visibility: EVERY_ROW, start: 'first', lastEventId } as const
      const deadline = { afterMs: 50, frames: () => [] }
      const text = streams.readProjectedStream({ ...request, projector: asking(), deadline })
      await settled()
      clock.advance(50)
      return (await text)
        .trim()
        .split('\n\n')
        .filter((block) => block.includes('data: '))
    }
    const whole = await readFor()
    const [, cursor = ''] = /^id: (.*)$/m.exec(whole.find((block) => block.endsWith('asks b.x')) ?? '') ?? []
    const rest = whole.slice(-3)

    expect(await readFor(cursor)).toEqual(rest)
    for (const type of ['b.x', 'c.x']) openQuestions.add(type)
    const again = await readFor(cursor)
    expect(again.slice(0, -1)).toEqual(rest)
    const [, newest] = /^id: (.*)$/m.exec(whole.at(-1) ?? '') ?? []
    expect(again.at(-1)).toBe(`id: ${newest}\ndata: asks b.x`)
    expect(await readFor(newest)).toHaveLength(2)
    expect(await readFor()).toEqual(whole)
  })

  it.each(['junk', 'e2.1/1', 'e1.99/1', 'e1.1'])('ignores the cursor %s', async (cursor) => {
    const { read } = await setUp()

    expect(await read('first', cursor)).toEqual(await read('first'))
  })
})

describe('a projected stream that is read to its end', () => {
  const REQUEST = { runId: RUN_ID, visibility: EVERY_ROW, start: 'first' } as const
  const bodyOf = (streams: Awaited<ReturnType<typeof createRunLog>>['streams']) =>
    streams.openProjectedStream({ ...REQUEST, projector: createPairs() }).then((response) => response.text())

  it('has the same blocks as the stream of an ended run, and of one that goes on', async () => {
    const { streams, append, complete } = await createRunLog()
    await append('a.x')
    const live = streams.readProjectedStream({ ...REQUEST, projector: createPairs() })
    await settled()
    expect(streams.size()).toBe(1)
    await append('b.x')
    await settled()
    await complete()

    const whole = await bodyOf(streams)
    expect(await live).toBe(whole)
    expect(await streams.readProjectedStream({ ...REQUEST, projector: createPairs() })).toBe(whole)
    expect(streams.size()).toBe(0)
  })

  it('ends early at its deadline, when its token becomes invalid, and when all streams are closed', async () => {
    let invalidate = () => {}
    const watchCredential: WatchCredential = (_, onLost) => {
      invalidate = () => onLost('revoked')
      return () => undefined
    }
    const { streams, append, clock } = await createRunLog({ watchCredential })
    await append('a.x')
    const read = (more: Partial<ReadProjectedStreamRequest> = {}) =>
      streams.readProjectedStream({ ...REQUEST, projector: createPairs(), ...more })

    const due = read({ deadline: { afterMs: 50, frames: () => [{ data: 'late' }] } })
    await settled()
    clock.advance(50)
    expect(await due).toMatch(/a\.x 2\n\ndata: late\n\n$/)

    const revoked = read({ tokenId: 'tok_1' })
    await settled()
    invalidate()
    expect(await revoked).toMatch(/a\.x 2\n\n$/)

    const closed = read()
    await settled()
    await streams.closeAll()
    expect(await closed).toMatch(/a\.x 2\n\n$/)
    expect(streams.size()).toBe(0)
    await expect(read()).rejects.toMatchObject({ code: 'overloaded' })
  })

  it('fails with the projector, and counts as closed', async () => {
    const { streams, append } = await createRunLog()
    await append('a.x')
    const projector = { ...createPairs(), next: () => assert.fail('broken') }

    await expect(streams.readProjectedStream({ ...REQUEST, projector })).rejects.toThrow('broken')
    expect(streams.size()).toBe(0)
  })
})

describe('a stream of several runs', () => {
  const silent: RunProjector = {
    next: ({ type }) => [{ data: type }],
    opening: () => [{ data: 'opened' }],
    rest: () => undefined,
  }
  const streams = (['now', 'first'] as const).map((start) => ({
    ...({ runId: RUN_ID, visibility: EVERY_ROW, projector: silent, start } as const),
    frameIdOf: () => undefined,
  }))
  const request = { streams, opening: [{ data: 'begin' }], closing: [{ data: 'end' }] }

  it('shows the blocks of each as they come, and ends when all have ended', async () => {
    const { streams: open, append, complete } = await createRunLog()
    await append('a.x')
    const text = (await open.openJoinedStream(request)).text()
    await settled()
    expect(open.size()).toBe(1)
    await append('b.x')
    await complete()

    const blocks = (await text).trim().split('\n\n')
    expect(blocks.at(0)).toBe('data: begin')
    expect(blocks.at(-1)).toBe('data: end')
    const both = ['a.x', 'b.x', 'b.x', 'opened', 'opened', 'run.completed', 'run.completed']
    expect(blocks.slice(1, -1).toSorted()).toEqual(both.map((type) => `data: ${type}`))
    expect(open.size()).toBe(0)
  })

  it('ends at once without runs', async () => {
    const { streams: open } = await createRunLog()

    const response = await open.openJoinedStream({ ...request, streams: [] })
    expect(await response.text()).toBe('data: begin\n\ndata: end\n\n')
  })

  it('stops following every run when the client leaves', async () => {
    const { streams: open, hub, append } = await createRunLog()
    await append('a.x')
    const response = await open.openJoinedStream(request)
    await settled()
    expect(hub.hasWatchers()).toBe(true)

    await response.body?.cancel()
    expect([hub.hasWatchers(), open.size()]).toEqual([false, 0])
  })

  it.each([
    ['short patches of a state, which can cost more than their length', 'part.state-delta', 10, 1],
    ['long events', 'a.x', 20_000, 7],
  ])('lets other requests have their turn between %s', async (_, type, length, mostPerTurn) => {
    let inTurn = 0
    const perTurn: number[] = []
    const endTurn = async () => {
      perTurn.push(inTurn)
      inTurn = 0
    }
    const { storage, streams, complete } = await createRunLog({ yieldTurn: endTurn })
    const payload = toJsonText({ text: 'x'.repeat(length) })
    const events = Array.from({ length: 12 }, () => anEvent({ runId: RUN_ID, type, payload }))
    await storage.unitOfWork.commit([{ type: 'event.append', events }])
    await complete()
    const next: RunProjector['next'] = () => {
      inTurn++
      return []
    }
    const projector = { ...createPairs(), next, opening: () => [] }
    const request = { runId: RUN_ID, visibility: EVERY_ROW, projector, start: 'first' } as const
    await (await streams.openProjectedStream(request)).text()
    await endTurn()

    expect(perTurn.reduce((sum, one) => sum + one)).toBe(13)
    expect(Math.max(...perTurn)).toBe(mostPerTurn)
  })
})
