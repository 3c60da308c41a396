import type { Lock, Message, QueueEntry, StateAdapter } from 'chat'
import { expect } from 'vitest'

/** What a case needs of the world around a state adapter. */
export interface StateWorld {
  readonly state: StateAdapter
  /** Moves the clock of the adapter. */
  advance(ms: number): void
}

export interface StateCase {
  readonly title: string
  run(world: StateWorld): Promise<void>
}

const THREAD = 'slack:C1:1700000000.000100'
const OTHER = 'slack:C1:1700000000.000200'
const TTL = 30_000

const locked = async (state: StateAdapter, thread = THREAD): Promise<Lock> => {
  const lock = await state.acquireLock(thread, TTL)
  if (lock === null) throw new Error('the lock is taken')
  return lock
}

const anEntry = (id: string): QueueEntry => ({
  ...{ enqueuedAt: 1, expiresAt: 2, message: { id, text: `text of ${id}` } as Message },
})

/** What the Chat SDK expects of every state adapter: its documentation, and the behaviour of its own adapter in memory. */
export const stateCases: readonly StateCase[] = [
  {
    title: 'subscribes to a thread until it is unsubscribed',
    async run({ state }) {
      expect(await state.isSubscribed(THREAD)).toBe(false)
      await state.subscribe(THREAD)
      await state.subscribe(THREAD)
      expect([await state.isSubscribed(THREAD), await state.isSubscribed(OTHER)]).toEqual([true, false])
      await state.unsubscribe(THREAD)
      await state.unsubscribe(THREAD)
      expect(await state.isSubscribed(THREAD)).toBe(false)
    },
  },
  {
    title: 'gives a lock to one of several callers, and to the next one after its release',
    async run({ state }) {
      const locks = await Promise.all([1, 2, 3, 4].map(() => state.acquireLock(THREAD, TTL)))
      const [held, ...more] = locks.filter((lock) => lock !== null)
      expect([held?.threadId, more]).toEqual([THREAD, []])
      await locked(state, OTHER)

      if (held !== undefined) await state.releaseLock(held)
      expect((await locked(state)).token).not.toBe(held?.token)
    },
  },
  {
    title: 'releases and extends a lock only with its token',
    async run({ state }) {
      const held = await locked(state)
      const forged = { ...held, token: 'another' }
      await state.releaseLock(forged)
      expect(await state.extendLock(forged, TTL)).toBe(false)
      expect(await state.acquireLock(THREAD, TTL)).toBeNull()
      expect(await state.extendLock(held, TTL)).toBe(true)
      await state.forceReleaseLock(THREAD)
      expect(await state.extendLock(held, TTL)).toBe(false)
      expect(await state.acquireLock(THREAD, TTL)).not.toBeNull()
    },
  },
  {
    title: 'lets a lock end with its time, unless it is extended before',
    async run({ state, advance }) {
      const held = await locked(state)
      advance(TTL - 1)
      expect(await state.acquireLock(THREAD, TTL)).toBeNull()
      expect(await state.extendLock(held, TTL)).toBe(true)
      advance(TTL - 1)
      expect(await state.acquireLock(THREAD, TTL)).toBeNull()
      advance(2)
      const next = await locked(state)
      expect(await state.extendLock(held, TTL)).toBe(false)
      await state.releaseLock(held)
      expect(await state.acquireLock(THREAD, TTL)).toBeNull()
      await state.releaseLock(next)
    },
  },
  {
    title: 'stores a value until it is deleted or its time ends',
    async run({ state, advance }) {
      expect(await state.get('a')).toBeNull()
      await state.set('a', { deep: [1, 'ü', null] })
      await state.set('b', 'short', 1_000)
      expect([await state.get('a'), await state.get('b')]).toEqual([{ deep: [1, 'ü', null] }, 'short'])
      advance(1_001)
      expect([await state.get('a'), await state.get('b')]).toEqual([{ deep: [1, 'ü', null] }, null])
      await state.set('a', 2)
      expect(await state.get('a')).toBe(2)
      await state.delete('a')
      await state.delete('a')
      expect(await state.get('a')).toBeNull()
    },
  },
  {
    title: 'lets one of several callers claim a key, and another one after its time',
    async run({ state, advance }) {
      const claims = await Promise.all([1, 2, 3, 4].map((n) => state.setIfNotExists('dedupe:1', n, 1_000)))
      expect(claims.filter(Boolean)).toHaveLength(1)
      const winner = claims.indexOf(true) + 1
      expect(await state.get('dedupe:1')).toBe(winner)
      expect(await state.setIfNotExists('dedupe:1', 'late', 1_000)).toBe(false)
      advance(1_001)
      expect(await state.setIfNotExists('dedupe:1', 'next', 1_000)).toBe(true)
      expect(await state.get('dedupe:1')).toBe('next')
    },
  },
  {
    title: 'appends to a list without losing concurrent values, and keeps the newest',
    async run({ state, advance }) {
      expect(await state.getList('list')).toEqual([])
      await Promise.all([1, 2, 3, 4, 5].map((n) => state.appendToList('list', n)))
      expect((await state.getList<number>('list')).toSorted()).toEqual([1, 2, 3, 4, 5])

      for (const n of [1, 2, 3, 4]) await state.appendToList('short', { n }, { maxLength: 2, ttlMs: 1_000 })
      expect(await state.getList('short')).toEqual([{ n: 3 }, { n: 4 }])
      advance(600)
      await state.appendToList('short', { n: 5 }, { maxLength: 2, ttlMs: 1_000 })
      advance(600)
      expect(await state.getList('short')).toEqual([{ n: 4 }, { n: 5 }])
      advance(600)
      expect(await state.getList('short')).toEqual([])
      await state.appendToList('short', { n: 6 })
      expect(await state.getList('short')).toEqual([{ n: 6 }])
    },
  },
  {
    title: 'queues messages in order, each for one caller, and drops the oldest over the limit',
    async run({ state }) {
      expect([await state.queueDepth(THREAD), await state.dequeue(THREAD)]).toEqual([0, null])
      expect(await state.enqueue(THREAD, anEntry('a'), 2)).toBe(1)
      expect(await state.enqueue(THREAD, anEntry('b'), 2)).toBe(2)
      expect(await state.enqueue(THREAD, anEntry('c'), 2)).toBe(2)
      expect([await state.queueDepth(THREAD), await state.queueDepth(OTHER)]).toEqual([2, 0])
      const [first, second] = [await state.dequeue(THREAD), await state.dequeue(THREAD)]
      expect([first, second]).toEqual([anEntry('b'), anEntry('c')])

      for (const id of ['x', 'y', 'z']) await state.enqueue(THREAD, anEntry(id), 9)
      const taken = await Promise.all([1, 2, 3, 4].map(() => state.dequeue(THREAD)))
      expect(taken.flatMap((one) => (one === null ? [] : [one.message.id])).toSorted()).toEqual(['x', 'y', 'z'])
    },
  },
]
