import type { DeliveredEvent } from '@perdure/core'
import { EVERY_ROW, toJsonText } from '@perdure/ports'
import { anEvent, aSession } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { ENDED, WAITING } from './block-source.ts'
import type { Follower } from './follow.ts'
import { createClient, createRunLog, RUN_ID, SOURCE, settled } from './run-log.fixture.ts'
import { createSharedChunks } from './shared-chunks.ts'
import { createStreamBlocks } from './stream-blocks.ts'

/** A log whose events count how often their envelope is read. */
function createLog() {
  let reads = 0
  const event = (position: number, type = 'text.delta', length = 10): DeliveredEvent => ({
    ...{ position, type },
    get envelope() {
      reads++
      return toJsonText(`${position} ${'x'.repeat(length)}`)
    },
  })
  return { event, reads: () => reads }
}

const chunks = () => createSharedChunks()

/** A reader that gets these pages. */
function read(shared: ReturnType<typeof chunks>, pages: readonly (readonly DeliveredEvent[])[]) {
  const rest = [...pages]
  const follower: Follower = { next: () => rest.shift() ?? WAITING, close: () => undefined }
  const start = { after: 0, cursor: 'e1.0' }
  const stream = { source: SOURCE, runId: RUN_ID, start, lastEventId: undefined, seat: shared.enter('one') }
  const source = createStreamBlocks(stream, follower)
  source.next()
  return {
    close: source.close,
    text() {
      let text = ''
      for (;;) {
        const next = source.next()
        if (typeof next !== 'string') return { text, end: next }
        text += next
      }
    },
  }
}

describe('readers of one stream', () => {
  it('get the text of each event from one rendering', () => {
    const { event, reads } = createLog()
    const shared = chunks()
    const page = [event(1), event(2, 'text.delta', 40_000), event(3), event(7, 'run.completed')]
    const readers = [read(shared, [page]), read(shared, [page]), read(shared, [page])]

    const [first, ...others] = readers.map((reader) => reader.text())

    expect(reads()).toBe(4)
    expect(first?.end).toBe(ENDED)
    for (const other of others) expect(other).toEqual(first)
  })

  it('get every event when their pages begin and end at other events, or an event was deleted in between', () => {
    const { event } = createLog()
    const alone = (pages: readonly (readonly DeliveredEvent[])[]) => read(chunks(), pages).text()
    const [one, two, three, four] = [event(1), event(2), event(3), event(4)]
    const histories = [
      [[one, two, three, four]],
      [[one], [two, three], [four]],
      [
        [one, two],
        [three, four],
      ],
      [[one, three, four]],
      [[one, two, four]],
      [[two, three]],
      [[one, two, three, four]],
    ]
    const shared = chunks()
    const readers = histories.map((pages) => read(shared, pages))

    expect(readers.map((reader) => reader.text())).toEqual(histories.map(alone))
  })

  it('leave nothing in memory for a reader that is alone', () => {
    const { event } = createLog()
    const shared = chunks()
    const page = [event(1), event(2)]
    const [one, two] = [read(shared, [page]), read(shared, [page])]
    one.text()
    two.close()

    const seat = shared.enter('one')
    expect(seat.find(page, 0)).toBeUndefined()
    expect(seat.hasOthers()).toBe(true)
  })

  it('get the envelopes of their own subject, although a run and its session have the same events', async () => {
    const { streams, unitOfWork } = await createRunLog()
    await unitOfWork.commit([{ type: 'session.insert', session: aSession({ id: 'chat' }) }])
    const clients = await Promise.all(
      ['run', 'session', 'run', 'session'].map(async (kind) =>
        createClient(
          kind === 'run'
            ? await streams.openRunStream({ runId: RUN_ID, visibility: EVERY_ROW })
            : await streams.openSessionStream({ sessionId: 'chat', visibility: EVERY_ROW }),
        ),
      ),
    )
    await settled()
    const events = ['a', 'b', 'c'].map((type) => anEvent({ runId: RUN_ID, sessionId: 'chat', type }))
    await unitOfWork.commit([{ type: 'event.append', events }])

    for (const client of clients) await client.readUntil(4)
    const subjects = clients.map(({ events }) => new Set(events.slice(1).map(({ data }) => JSON.parse(data).subject)))
    expect(subjects.map((one) => [...one].join())).toEqual([
      expect.stringContaining(RUN_ID),
      'session:chat/events',
      expect.stringContaining(RUN_ID),
      'session:chat/events',
    ])
    for (const client of clients) await client.close()
  })
})

describe('readers of a run in two forms', () => {
  it('get the frames of their own form', async () => {
    const { streams, append, complete } = await createRunLog()
    const open = async (form: string) => {
      const renew = () => ({
        next: ({ type }: { readonly type: string }) => [{ data: `${form} ${type}` }],
        opening: () => [],
        rest: () => undefined,
      })
      const request = { runId: RUN_ID, visibility: EVERY_ROW, start: 'first', projector: renew() } as const
      return createClient(await streams.openProjectedStream({ ...request, sharing: { form, renew } }))
    }
    const forms = ['masked', 'full', 'masked', 'full']
    const clients = await Promise.all(forms.map(open))
    await append('a')
    for (const client of clients) await client.readUntil(1)
    await append('b', 'c')
    await complete()

    for (const client of clients) await client.readToEnd()
    expect(clients.map(({ events }) => events.map(({ data }) => data))).toEqual(
      forms.map((form) => ['a', 'b', 'c', 'run.completed'].map((type) => `${form} ${type}`)),
    )
  })
})
