import { type EventStream, type NewEvent, type Storage, type StoredEvent, toJsonText } from '@perdure/ports'
import { expect } from 'vitest'
import { anEvent, aRun, aSession } from '../builders.ts'
import { commit, insertRuns } from './commits.ts'
import { type ContractCase, registerContract, type StorageHarness } from './contract-case.ts'
import { eventScanCases } from './event-scan.contract.ts'
import { at, eachAlone, type Optionals } from './optional-fields.ts'

const OPTIONALS: Optionals<NewEvent> = {
  runId: 'run_1',
  sessionId: 'ses_1',
  topic: 'agent:echo/events',
  phase: 'commentary',
}

/** Three streams with the same name that differ only in kind. */
const RUN: EventStream = { runId: 'same' }
const SESSION: EventStream = { sessionId: 'same' }
const TOPIC: EventStream = { topic: 'same' }

async function insertCarriers(storage: Storage): Promise<void> {
  for (const id of ['same', 'other', OPTIONALS.runId, OPTIONALS.sessionId]) {
    await commit(storage, { type: 'session.insert', session: aSession({ id }) })
    await insertRuns(storage, aRun({ id }))
  }
}

async function append(storage: Storage, ...events: readonly NewEvent[]): Promise<readonly StoredEvent[]> {
  return (await commit(storage, { type: 'event.append', events })).events
}

/** Events numbered in their payload, alternating between the stream and other streams. */
async function appendMixed(storage: Storage, count: number): Promise<readonly StoredEvent[]> {
  await insertCarriers(storage)
  const own: StoredEvent[] = []
  for (let index = 0; index < count; index++) {
    const stored = await append(
      storage,
      anEvent({ runId: 'other', topic: 'other' }),
      anEvent({ ...RUN, payload: toJsonText(index), at: at(index) }),
      anEvent({ sessionId: 'other' }),
    )
    own.push(...stored.slice(1, 2))
  }
  return own
}

const positions = (events: readonly StoredEvent[]): number[] => events.map(({ position }) => position)

const storedCases: readonly ContractCase[] = [
  {
    title: 'starts with an epoch, position 0 and nothing trimmed',
    async run(storage) {
      const head = await storage.events.head()

      expect(head).toEqual({ epoch: expect.any(String), position: 0, trimmedThrough: 0 })
      expect(head.epoch).toMatch(/^[0-9A-Za-z]{1,64}$/)
    },
  },
  {
    title: 'numbers many events of one commit in order, whatever streams they belong to',
    async run(storage) {
      await insertCarriers(storage)
      const event = (n: number): NewEvent =>
        anEvent({
          ...(n % 7 === 0 ? SESSION : n % 3 === 0 ? { runId: 'other' } : RUN),
          payload: toJsonText(n),
          at: at(n),
        })
      const events = Array.from({ length: 100 }, (_, n) => event(n))

      const stored = await append(storage, ...events)

      const first = stored[0]?.position ?? 0
      expect(stored).toEqual(events.map((one, n) => ({ ...one, position: first + n })))
      const all = { after: 0, limit: 1_000 }
      const own = (id: string) => stored.filter(({ runId }) => runId === id)
      expect(await storage.events.read(RUN, all)).toEqual(own('same'))
      expect(await storage.events.read({ runId: 'other' }, all)).toEqual(own('other'))
      expect(await storage.events.read(SESSION, all)).toEqual(stored.filter(({ sessionId }) => sessionId === 'same'))
    },
  },
  {
    title: 'counts the events of a stream after one position up to and including another',
    async run(storage) {
      const own = positions(await appendMixed(storage, 4))
      const [first = 0, second = 0, , last = 0] = own
      const count = (after: number, through: number, stream: EventStream = RUN) =>
        storage.events.count(stream, { after, through })

      expect(await count(0, last)).toBe(4)
      expect(await count(first, last)).toBe(3)
      expect(await count(first, second)).toBe(1)
      expect(await count(0, first - 1)).toBe(0)
      expect(await count(last, first)).toBe(0)
      expect(await count(0, last, { runId: 'run-unknown' })).toBe(0)
      expect(await count(0, last, { topic: 'other' })).toBe(4)
    },
  },
  {
    title: 'reads an unused stream as empty in both directions',
    async run(storage) {
      await insertCarriers(storage)
      await append(storage, anEvent({ runId: 'other', sessionId: 'other', topic: 'other' }))

      for (const stream of [RUN, SESSION, TOPIC, { runId: 'run-unknown' }]) {
        expect(await storage.events.read(stream, { after: 0, limit: 10 })).toEqual([])
        expect(await storage.events.readBefore(stream, { before: Number.MAX_SAFE_INTEGER, limit: 10 })).toEqual([])
      }
    },
  },
  {
    title: 'round-trips an event with all, one and none of the optional fields',
    async run(storage) {
      await insertCarriers(storage)
      const topic = 'all'
      const events = [{ ...OPTIONALS }, ...eachAlone(OPTIONALS), {}].map((fields, index) =>
        anEvent({
          ...fields,
          topic,
          type: `type.${index}`,
          payload: toJsonText({ index, text: 'Grüße 🚢' }),
          at: at(index),
        }),
      )
      const stored = await append(storage, ...events)

      expect(stored).toEqual(events.map((event) => ({ ...event, position: expect.any(Number) })))
      expect(await storage.events.read({ topic }, { after: 0, limit: 50 })).toEqual(stored)
      expect(await storage.events.readBefore({ topic }, { before: Number.MAX_SAFE_INTEGER, limit: 50 })).toEqual(
        stored.toReversed(),
      )
    },
  },
  {
    title: 'round-trips a payload of 256 KiB unchanged',
    async run(storage) {
      const [stored] = await append(storage, anEvent({ ...TOPIC, payload: toJsonText('ü'.repeat(131_072)) }))

      expect(await storage.events.read(TOPIC, { after: 0, limit: 1 })).toEqual([stored])
    },
  },
  {
    title: 'returns an event on the streams of its run, session and topic and on no other',
    async run(storage) {
      await insertCarriers(storage)
      const [all, ofRun, ofSession, ofTopic] = await append(
        storage,
        anEvent({ ...RUN, ...SESSION, ...TOPIC }),
        anEvent(RUN),
        anEvent(SESSION),
        anEvent(TOPIC),
        anEvent(),
      )
      const read = (stream: EventStream) => storage.events.read(stream, { after: 0, limit: 10 })

      expect(await read(RUN)).toEqual([all, ofRun])
      expect(await read(SESSION)).toEqual([all, ofSession])
      expect(await read(TOPIC)).toEqual([all, ofTopic])
    },
  },
]

const positionCases: readonly ContractCase[] = [
  {
    title: 'assigns strictly increasing positions from 1 across all streams',
    async run(storage) {
      await insertCarriers(storage)
      const stored = [
        ...(await append(storage, anEvent(RUN), anEvent())),
        ...(await append(storage)),
        ...(await append(storage, anEvent(SESSION))),
        ...(await append(storage, anEvent(TOPIC), anEvent(RUN))),
      ]

      const numbers = positions(stored)
      expect(numbers).toHaveLength(5)
      expect(numbers.every((position, index) => position > (numbers[index - 1] ?? 0))).toBe(true)
    },
  },
  {
    title: 'reports the position of the newest event as the head and keeps the epoch',
    async run(storage) {
      const { epoch } = await storage.events.head()
      for (const events of [[anEvent(TOPIC)], [anEvent(), anEvent()], [anEvent(TOPIC)]]) {
        const stored = await append(storage, ...events)

        expect(await storage.events.head()).toEqual({ epoch, position: stored.at(-1)?.position, trimmedThrough: 0 })
      }
    },
  },
]

const rangeCases: readonly ContractCase[] = [
  {
    title: 'reads the events after a position (exclusive), oldest first',
    async run(storage) {
      const own = await appendMixed(storage, 5)

      for (const [index, { position }] of own.entries()) {
        const read = (after: number) => storage.events.read(RUN, { after, limit: 10 })
        expect(await read(position)).toEqual(own.slice(index + 1))
        expect(await read(position - 1)).toEqual(own.slice(index))
      }
    },
  },
  {
    title: 'reads the events before a position (exclusive), newest first',
    async run(storage) {
      const own = await appendMixed(storage, 5)

      for (const [index, { position }] of own.entries()) {
        const read = (before: number) => storage.events.readBefore(RUN, { before, limit: 10 })
        expect(await read(position)).toEqual(own.slice(0, index).reverse())
        expect(await read(position + 1)).toEqual(own.slice(0, index + 1).reverse())
      }
    },
  },
  {
    title: 'reads up to the limit: the next events forwards, the nearest events backwards',
    async run(storage) {
      const own = await appendMixed(storage, 5)
      const beyond = (await storage.events.head()).position + 1

      expect(await storage.events.read(RUN, { after: 0, limit: 2 })).toEqual(own.slice(0, 2))
      expect(await storage.events.readBefore(RUN, { before: beyond, limit: 2 })).toEqual(own.slice(3).reverse())
    },
  },
  {
    title: 'ends a page with the event that reaches the maximum payload length and always returns one event',
    async run(storage) {
      await insertCarriers(storage)
      const payload = toJsonText('x'.repeat(98))
      const own = await append(storage, ...Array.from({ length: 5 }, () => anEvent({ ...RUN, payload })))
      const read = (maxLength: number) => storage.events.read(RUN, { after: 0, limit: 4, maxLength })

      expect(await read(1)).toEqual(own.slice(0, 1))
      expect(await read(100)).toEqual(own.slice(0, 1))
      expect(await read(101)).toEqual(own.slice(0, 2))
      expect(await read(200)).toEqual(own.slice(0, 2))
      expect(await read(10_000)).toEqual(own.slice(0, 4))

      const before = (maxLength: number) =>
        storage.events.readBefore(RUN, { before: Number.MAX_SAFE_INTEGER, limit: 4, maxLength })
      const newest = own.toReversed()
      expect(await before(1)).toEqual(newest.slice(0, 1))
      expect(await before(101)).toEqual(newest.slice(0, 2))
      expect(await before(10_000)).toEqual(newest.slice(0, 4))
    },
  },
  {
    title: 'pages through a stream without repeats or gaps while events are appended',
    async run(storage) {
      const own = [...(await appendMixed(storage, 7))]
      const seen: StoredEvent[] = []
      let page: readonly StoredEvent[]
      do {
        page = await storage.events.read(RUN, { after: seen.at(-1)?.position ?? 0, limit: 2 })
        seen.push(...page)
        if (own.length < 10) own.push(...(await append(storage, anEvent(RUN))))
      } while (page.length > 0)

      expect(seen).toEqual(own)
    },
  },
  {
    title: 'reads nothing after the head and nothing before position 1',
    async run(storage) {
      await appendMixed(storage, 2)
      const { position } = await storage.events.head()

      expect(await storage.events.read(RUN, { after: position, limit: 10 })).toEqual([])
      expect(await storage.events.readBefore(RUN, { before: 1, limit: 10 })).toEqual([])
    },
  },
]

export const eventLogCases: readonly ContractCase[] = [
  ...storedCases,
  ...positionCases,
  ...rangeCases,
  ...eventScanCases,
]

/** Requirements for every `EventLog` and for appending events. */
export const eventLogContract = (harness: StorageHarness): void =>
  registerContract([{ port: 'EventLog', cases: eventLogCases }], harness)
