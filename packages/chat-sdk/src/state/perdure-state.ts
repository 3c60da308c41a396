import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Lock, StateAdapter } from 'chat'
import type { ChatServer } from '../chat-server.ts'
import { createCells, type Entry } from './cells.ts'

/** The state of a Chat in the storage of a Perdure server. */
export interface PerdureState extends StateAdapter {
  /** Connects the state to its server; pass it to `hooks.onReady` of the configuration, unless a bridge does. */
  attach(server: ChatServer): void
  /**
   * Does the work of a stored delivery, which may be repeated after a crash. In it, a claim of `setIfNotExists` and a lock
   * that an earlier, interrupted try has taken belong to the delivery, and a lock of another delivery is waited for.
   */
  duringDelivery<Result>(deliveryId: string, work: () => Promise<Result>): Promise<Result>
}

export interface PerdureStateOptions {
  /** The subject that owns the state: two Chats with different subjects share nothing. Default: `chat-sdk`. */
  readonly subject?: string
  /** The present time, in milliseconds since 1970. */
  readonly now?: () => number
}

const SCOPES = ['memory:read:own', 'memory:write:own']
const LOCK_POLL_MS = 25

/** A state adapter of the Chat SDK whose locks, subscriptions, lists and values survive a crash and are shared by a cluster. */
export function perdureState({ subject = 'chat-sdk', now = Date.now }: PerdureStateOptions = {}): PerdureState {
  const { promise: attached, resolve } = Promise.withResolvers<ChatServer>()
  let client: ReturnType<ChatServer['client']> | undefined
  const deliveries = new AsyncLocalStorage<string>()
  const heldTokens = new Set<string>()
  const cells = createCells({
    client: () => {
      if (client === undefined) throw new Error(NOT_ATTACHED)
      return client
    },
    now,
  })
  const untilOf = (ttlMs: number | undefined) => (ttlMs ? now() + ttlMs : undefined)
  const delivery = () => deliveries.getStore()

  const tryLock = (threadId: string, ttlMs: number): Promise<Lock | null> => {
    const token = randomUUID()
    const expiresAt = now() + ttlMs
    return cells.change<Lock | null>(lockOf(threadId), (held) => {
      if (held !== undefined && !isInterrupted(held)) return { to: 'keep', result: null }
      return { to: { value: token, expiresAt, by: delivery() }, result: { threadId, token, expiresAt } }
    })
  }

  /** Whether the lock was taken by a try of this delivery that no longer executes. */
  const isInterrupted = ({ by, value }: Entry): boolean =>
    by !== undefined && by === delivery() && !heldTokens.has(String(value))

  const acquire = async (threadId: string, ttlMs: number): Promise<Lock | null> => {
    const giveUpAt = now() + (delivery() === undefined ? 0 : ttlMs)
    for (;;) {
      const lock = await tryLock(threadId, ttlMs)
      if (lock !== null) heldTokens.add(lock.token)
      if (lock !== null || now() >= giveUpAt) return lock
      await delay(LOCK_POLL_MS)
    }
  }

  const append = (key: string, value: unknown, { maxLength = 0, ttlMs }: { maxLength?: number; ttlMs?: number }) =>
    cells.change<number>(key, (entry) => {
      const all = [...listIn(entry), value]
      const list = maxLength > 0 ? all.slice(-maxLength) : all
      return { to: { value: list, expiresAt: untilOf(ttlMs) }, result: list.length }
    })

  return {
    attach(server) {
      client ??= server.client({ subject, scopes: SCOPES })
      resolve(server)
    },
    duringDelivery: (deliveryId, work) => deliveries.run(deliveryId, work),
    async connect() {
      await Promise.race([attached, delay(ATTACH_TIMEOUT_MS, undefined, { ref: false })])
      if (client === undefined) throw new Error(NOT_ATTACHED)
    },
    async disconnect() {},

    subscribe: (threadId) => cells.change(subscriptionOf(threadId), () => ({ to: { value: true }, result: undefined })),
    unsubscribe: (threadId) => cells.change(subscriptionOf(threadId), () => ({ to: 'delete', result: undefined })),
    isSubscribed: async (threadId) => (await cells.read(subscriptionOf(threadId))) !== undefined,

    acquireLock: acquire,
    async releaseLock({ threadId, token }) {
      heldTokens.delete(token)
      await cells.change(lockOf(threadId), (held) => ({
        to: held?.value === token ? 'delete' : 'keep',
        result: undefined,
      }))
    },
    extendLock: ({ threadId, token }, ttlMs) =>
      cells.change(lockOf(threadId), (held) => {
        if (held?.value !== token) return { to: 'keep', result: false }
        return { to: { ...held, expiresAt: now() + ttlMs }, result: true }
      }),
    forceReleaseLock: (threadId) => cells.change(lockOf(threadId), () => ({ to: 'delete', result: undefined })),

    async get<T>(key: string) {
      return ((await cells.read(entryOf(key)))?.value ?? null) as T | null
    },
    set: (key, value, ttlMs) =>
      cells.change(entryOf(key), () => ({ to: { value, expiresAt: untilOf(ttlMs) }, result: undefined })),
    setIfNotExists: (key, value, ttlMs) =>
      cells.change(entryOf(key), (entry) => {
        if (entry === undefined) return { to: { value, expiresAt: untilOf(ttlMs), by: delivery() }, result: true }
        return { to: 'keep', result: entry.by !== undefined && entry.by === delivery() }
      }),
    delete: (key) => cells.change(entryOf(key), () => ({ to: 'delete', result: undefined })),

    async appendToList(key, value, options = {}) {
      await append(entryOf(key), value, options)
    },
    async getList<T>(key: string) {
      return listIn(await cells.read(entryOf(key))) as T[]
    },
    async enqueue(threadId, entry, maxSize) {
      if (delivery() !== undefined) throw new Error(NO_QUEUE)
      return append(queueOf(threadId), entry, { maxLength: maxSize })
    },
    dequeue: (threadId) =>
      cells.change(queueOf(threadId), (entry) => {
        const [first = null, ...rest] = listIn(entry)
        return { to: rest.length === 0 ? 'delete' : { value: rest }, result: first as never }
      }),
    queueDepth: async (threadId) => listIn(await cells.read(queueOf(threadId))).length,
  }
}

const subscriptionOf = (threadId: string) => `subscription:${threadId}`
const lockOf = (threadId: string) => `lock:${threadId}`
const queueOf = (threadId: string) => `queue:${threadId}`
const entryOf = (key: string) => `value:${key}`

const listIn = (entry: Entry | undefined): readonly unknown[] => (Array.isArray(entry?.value) ? entry.value : [])

const ATTACH_TIMEOUT_MS = 30_000
const NOT_ATTACHED =
  'the state of the Chat has no server: pass bridge.onReady, or the method attach of the state, to hooks.onReady of the configuration'
const NO_QUEUE =
  'the Chat would drop or delay a stored message: leave out its option concurrency, because the session of the agent queues messages'
