import { createInMemoryStorage } from '@perdure/in-memory'
import type { Logger, Storage, Timers } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { createServer } from '../create-server.ts'
import type { Hooks } from '../hooks.ts'
import type { ServerOptions } from '../server-options.ts'

const DRAIN_MS = 30_000
const BUDGET_MS = DRAIN_MS + 5_000
const never = () => new Promise<never>(() => undefined)

interface Due {
  readonly at: number
  readonly fn: () => void
}

/** Timers whose time advances only in `untilSettled`. */
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
  /** Advances time in steps of 100 ms until the promise settles. Returns how long that took. */
  const untilSettled = async (promise: Promise<unknown>): Promise<number> => {
    const startMs = nowMs
    let isSettled = false
    const settle = () => {
      isSettled = true
    }
    promise.then(settle, settle)
    for (;;) {
      for (let turn = 0; turn < 200 && !isSettled; turn++) await new Promise((resolve) => setImmediate(resolve))
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

/** A storage whose commits hang once `hang()` is called. */
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

const endless: ServerOptions['agents'] = [
  { id: 'endless', description: 'Never ends.', agent: { id: 'endless', run: () => never() } },
]

const occupy = ({ host, port, basePath }: { host: string; port: number; basePath: string }) =>
  fetch(`http://${host}:${port}${basePath}/agents/endless/stream`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  })

describe('stop', () => {
  it('abandons a hanging beforeShutdown hook after five seconds, and logs that', async () => {
    const { server, lines, untilSettled } = await make({ beforeShutdown: never })
    const { host, port } = await server.start()

    const stoppedAfterMs = await untilSettled(server.stop())
    expect(stoppedAfterMs).toBeGreaterThanOrEqual(5_000)
    // The steps after the hook take real time, during which a busy machine advances this clock.
    expect(stoppedAfterMs).toBeLessThan(30_000)

    expect(lines).toEqual([expect.stringContaining('beforeShutdown')])
    await expect(fetch(`http://${host}:${port}/`)).rejects.toThrow()
  })

  it('limits the beforeShutdown hook to the total shutdown time if the drain timeout is short', async () => {
    const { server, untilSettled } = await make(
      { beforeShutdown: never },
      { config: { auth: { kind: 'none' }, server: { port: 0, shutdown: { drainTimeoutMs: 0 } } } },
    )
    await server.start()

    expect(await untilSettled(server.stop())).toBeLessThan(5_000)
  })

  it('stops waiting for the beforeShutdown hook when forced', async () => {
    const { server, untilSettled } = await make({ beforeShutdown: never })
    await server.start()
    const stopped = server.stop()

    void server.stop({ force: true })

    expect(await untilSettled(stopped)).toBeLessThanOrEqual(2_000)
  })

  it('continues when the beforeShutdown hook throws', async () => {
    const { server, lines, untilSettled } = await make({ beforeShutdown: () => Promise.reject(new Error('no')) })
    await server.start()

    expect(await untilSettled(server.stop())).toBe(0)
    expect(lines).toEqual([expect.stringContaining('beforeShutdown')])
  })

  it('takes at most the drain timeout plus five seconds, including the hook', async () => {
    const { stuck, hang } = hangingStorage()
    const { server, lines, untilSettled } = await make({ beforeShutdown: never }, { storage: stuck, agents: endless })
    await occupy(await server.start())
    hang()

    expect(await untilSettled(server.stop())).toBeLessThanOrEqual(BUDGET_MS)
    expect(lines.at(-1)).toContain('shutdown timed out')
  })

  it('takes at most two seconds when forced, even if everything hangs', async () => {
    const { stuck, hang } = hangingStorage()
    const { server, untilSettled } = await make({}, { storage: stuck, agents: endless })
    await occupy(await server.start())
    hang()

    expect(await untilSettled(server.stop({ force: true }))).toBeLessThanOrEqual(2_000)
  })

  it('keeps to the time limit if the start hangs', async () => {
    const { server, untilSettled } = await make({ beforeStart: never })
    void server.start()

    expect(await untilSettled(server.stop())).toBeLessThanOrEqual(BUDGET_MS)
  })
})
