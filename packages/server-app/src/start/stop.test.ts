import { createInMemoryStorage } from '@perdure/in-memory'
import type { Logger, Storage, Timers } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { createServer } from './create-server.ts'
import type { Hooks } from './hooks.ts'
import type { ServerOptions } from './server-options.ts'

const DRAIN_MS = 30_000
const BUDGET_MS = DRAIN_MS + 5_000
const never = () => new Promise<never>(() => undefined)

interface Due {
  readonly at: number
  readonly fn: () => void
}

/** Timers that only move in `untilSettled`. */
function manualTimers() {
  const due = new Set<Due>()
  let nowMs = 0
  const timers: Timers = {
    after(delayMs, fn) {
      const timer = { at: nowMs + delayMs, fn }
      due.add(timer)
      return () => void due.delete(timer)
    },
  }
  /** Lets time pass, a tenth of a second a turn, until the promise has settled; answers how long that took. */
  const untilSettled = async (promise: Promise<unknown>): Promise<number> => {
    const startMs = nowMs
    let isSettled = false
    const settle = () => {
      isSettled = true
    }
    promise.then(settle, settle)
    for (;;) {
      for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve))
      if (isSettled || nowMs > 10 * BUDGET_MS) return nowMs - startMs
      nowMs += 100
      for (const timer of [...due].filter(({ at }) => at <= nowMs)) if (due.delete(timer)) timer.fn()
    }
  }
  return { timers, untilSettled }
}

const make = async (hooks: Hooks, { storage, ...rest }: { storage?: Storage } & ServerOptions = {}) => {
  const lines: string[] = []
  const note = (message: string) => void lines.push(message)
  const logger: Logger = { debug: () => undefined, info: () => undefined, warn: note, error: note }
  const { timers, untilSettled } = manualTimers()
  const server = await createServer({
    config: { auth: { kind: 'none' }, server: { port: 0, shutdown: { drainTimeoutMs: DRAIN_MS } } },
    adapters: { storage: storage ?? createInMemoryStorage(), logger, timers },
    hooks,
    ...rest,
  })
  return { server, lines, untilSettled }
}

/** A storage that commits until it is told to hang. */
function hangingStorage() {
  const storage = createInMemoryStorage()
  let isHanging = false
  const stuck: Storage = {
    ...storage,
    unitOfWork: { commit: (writes) => (isHanging ? never() : storage.unitOfWork.commit(writes)) },
  }
  return {
    stuck,
    hang() {
      isHanging = true
    },
  }
}

const deaf: ServerOptions['agents'] = [
  { id: 'deaf', description: 'Never ends.', agent: { id: 'deaf', run: () => never() } },
]

const occupy = ({ host, port, basePath }: { host: string; port: number; basePath: string }) =>
  fetch(`http://${host}:${port}${basePath}/agents/deaf/stream`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  })

describe('stop', () => {
  it('goes on without a beforeShutdown hook that has not ended after five seconds, and says so', async () => {
    const { server, lines, untilSettled } = await make({ beforeShutdown: never })
    const { host, port } = await server.start()

    expect(await untilSettled(server.stop())).toBe(5_000)

    expect(lines).toEqual([expect.stringContaining('beforeShutdown')])
    await expect(fetch(`http://${host}:${port}/`)).rejects.toThrow()
  })

  it('gives the hook no more than the stop has when there is little time to drain', async () => {
    const { server, untilSettled } = await make(
      { beforeShutdown: never },
      { config: { auth: { kind: 'none' }, server: { port: 0, shutdown: { drainTimeoutMs: 0 } } } },
    )
    await server.start()

    expect(await untilSettled(server.stop())).toBeLessThan(5_000)
  })

  it('leaves the hook at once when forced', async () => {
    const { server, untilSettled } = await make({ beforeShutdown: never })
    await server.start()
    const stopped = server.stop()

    void server.stop({ force: true })

    expect(await untilSettled(stopped)).toBeLessThanOrEqual(2_000)
  })

  it('goes on when the hook throws', async () => {
    const { server, lines, untilSettled } = await make({ beforeShutdown: () => Promise.reject(new Error('no')) })
    await server.start()

    expect(await untilSettled(server.stop())).toBe(0)
    expect(lines).toEqual([expect.stringContaining('beforeShutdown')])
  })

  it('takes the drain time and five seconds at most, hook and drain together', async () => {
    const { stuck, hang } = hangingStorage()
    const { server, lines, untilSettled } = await make({ beforeShutdown: never }, { storage: stuck, agents: deaf })
    await occupy(await server.start())
    hang()

    expect(await untilSettled(server.stop())).toBeLessThanOrEqual(BUDGET_MS)
    expect(lines.at(-1)).toContain('has not stopped in time')
  })

  it('takes two seconds at most when forced, whatever hangs', async () => {
    const { stuck, hang } = hangingStorage()
    const { server, untilSettled } = await make({}, { storage: stuck, agents: deaf })
    await occupy(await server.start())
    hang()

    expect(await untilSettled(server.stop({ force: true }))).toBeLessThanOrEqual(2_000)
  })

  it('does not wait for a start that hangs longer than that either', async () => {
    const { server, untilSettled } = await make({ beforeStart: never })
    void server.start()

    expect(await untilSettled(server.stop())).toBeLessThanOrEqual(BUDGET_MS)
  })
})
