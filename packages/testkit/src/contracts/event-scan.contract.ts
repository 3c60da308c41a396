import { MAX_SCANNED, type Storage, toJsonText } from '@perdure/ports'
import { expect } from 'vitest'
import { anEvent } from '../builders.ts'
import { commit } from './commits.ts'
import type { ContractCase } from './contract-case.ts'

/** Appends one event per type, each to a topic of its own. */
const append = async (storage: Storage, ...types: readonly string[]) =>
  (
    await commit(storage, {
      type: 'event.append',
      events: types.map((type, index) => anEvent({ topic: `topic-${index}`, type, payload: toJsonText(type) })),
    })
  ).events

/** Requirements for `EventLog.scan`. */
export const eventScanCases: readonly ContractCase[] = [
  {
    title: 'scans the events of some types in the whole log, and covers the others',
    async run(storage) {
      const [one, , other, last] = await append(storage, 'run.started', 'text.delta', 'run.failed', 'usage')
      const types = ['run.failed', 'run.started', 'run.unknown']

      expect(await storage.events.scan(types, { after: 0, limit: 10 })).toEqual({
        events: [one, other],
        through: last?.position,
      })
      expect(await storage.events.scan(types, { after: one?.position ?? 0, limit: 10 })).toEqual({
        events: [other],
        through: last?.position,
      })
      expect(await storage.events.scan([], { after: 0, limit: 10 })).toEqual({ events: [], through: last?.position })
    },
  },
  {
    title: 'ends a scan at its limit or at the payload length that it reaches, and continues behind it',
    async run(storage) {
      const events = await append(storage, 'a', 'b', 'a', 'a')
      const [first, , third] = events

      for (const range of [{ limit: 2 }, { limit: 9, maxLength: (first?.payload.length ?? 0) + 1 }]) {
        const scan = await storage.events.scan(['a'], { after: 0, ...range })
        expect(scan).toEqual({ events: [first, third], through: third?.position })
      }
      expect(await storage.events.scan(['a'], { after: third?.position ?? 0, limit: 2 })).toEqual({
        events: events.slice(3),
        through: events.at(-1)?.position,
      })
    },
  },
  {
    title: 'stays where it is at the head of the log',
    async run(storage) {
      expect(await storage.events.scan(['a'], { after: 0, limit: 9 })).toEqual({ events: [], through: 0 })
      const [event] = await append(storage, 'a')
      const head = event?.position ?? 0

      expect(await storage.events.scan(['a'], { after: head, limit: 9 })).toEqual({ events: [], through: head })
    },
  },
  {
    title: 'covers a limited number of positions in one scan',
    async run(storage) {
      const types = Array.from({ length: 1_000 }, () => 'usage')
      for (let appended = 0; appended < MAX_SCANNED; appended += types.length) await append(storage, ...types)
      const [event] = await append(storage, 'a')
      const start = (event?.position ?? 0) - MAX_SCANNED - 1

      const first = await storage.events.scan(['a'], { after: start, limit: 9 })
      expect(first).toEqual({ events: [], through: start + MAX_SCANNED })
      expect(await storage.events.scan(['a'], { after: first.through, limit: 9 })).toEqual({
        events: [event],
        through: event?.position,
      })
    },
  },
]
