import { createLogger } from '@perdure/platform-node'
import { leaseLost, StartError } from '@perdure/ports'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { recordingTerminal } from '../../test/recording-terminal.ts'
import { type Listening, type Served, serve } from './serve.ts'

const LISTENING: Listening = { host: '127.0.0.1', port: 8080, basePath: '/v1' }
const never = new Promise<never>(() => undefined)
const signal = (name: 'SIGINT' | 'SIGTERM') => ({ type: 'signal', signal: name }) as const

/** A fake server built from `parts` that records the calls of its `stop`. */
function fakeServer(parts: Partial<Served> = {}) {
  const stops: (boolean | undefined)[] = []
  const server: Served = {
    start: async () => LISTENING,
    fatal: never,
    attribute: () => false,
    ...parts,
    async stop(options) {
      stops.push(options?.force)
      await parts.stop?.(options)
    },
  }
  return { server, stops }
}

function setUp(parts?: Partial<Served>, onListening: () => void | Promise<void> = () => undefined) {
  const terminal = recordingTerminal({ cwd: '/' })
  const { server, stops } = fakeServer(parts)
  const log = createLogger({ stream: terminal.stderr })
  const ended = serve(server, { interruptions: terminal.watchInterruptions(server.attribute), log, onListening })
  return { terminal, stops, ended }
}

describe('serve', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('announces the address once the server listens', async () => {
    const onListening = vi.fn()
    const { terminal, ended } = setUp({}, onListening)
    await vi.waitFor(() => expect(onListening).toHaveBeenCalledExactlyOnceWith(LISTENING))

    terminal.interrupt(signal('SIGTERM'))
    await ended
  })

  it.each(['SIGTERM', 'SIGINT'] as const)('drains and exits 0 on %s', async (name) => {
    const { terminal, stops, ended } = setUp()
    terminal.interrupt(signal(name))

    expect(await ended).toBe(0)
    expect(stops).toEqual([undefined])
  })

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 1],
  ] as const)('forces the stop when the second signal is %s, and exits with %i', async (name, exitCode) => {
    const { terminal, stops, ended } = setUp({ stop: (options) => (options?.force ? Promise.resolve() : never) })
    terminal.interrupt(signal('SIGTERM'))
    await vi.waitFor(() => expect(stops).toEqual([undefined]))
    terminal.interrupt(signal(name))

    expect(await ended).toBe(exitCode)
    expect(stops).toEqual([undefined, true])
  })

  it('gives up waiting for a forced stop after 1.5 s', async () => {
    const { terminal, stops, ended } = setUp({ stop: () => never })
    terminal.interrupt(signal('SIGTERM'))
    terminal.interrupt(signal('SIGTERM'))
    await vi.waitFor(() => expect(stops).toEqual([undefined, true]))
    await vi.advanceTimersByTimeAsync(1_500)

    expect(await ended).toBe(1)
  })

  it('exits 0 when a signal ends the start of the server', async () => {
    const { promise: start, reject } = Promise.withResolvers<never>()
    const { terminal, ended } = setUp({
      start: () => start,
      stop: async () => {
        reject(new DOMException('stopped', 'AbortError'))
        await new Promise((resolve) => setTimeout(resolve, 1))
      },
    })
    terminal.interrupt(signal('SIGTERM'))
    await vi.advanceTimersByTimeAsync(5)

    expect(await ended).toBe(0)
  })

  it('stops a server that is still starting', async () => {
    const { terminal, stops, ended } = setUp({ start: () => never })
    terminal.interrupt(signal('SIGTERM'))

    expect(await ended).toBe(0)
    expect(stops).toEqual([undefined])
  })

  it('rejects with the start error when the start fails during the stop', async () => {
    const refused = new StartError('address-in-use', { message: 'taken', hint: 'choose another' })
    let refuse: (error: unknown) => void = () => undefined
    const start = () => new Promise<never>((_, reject) => (refuse = reject))
    const { terminal, stops, ended } = setUp({ start, stop: () => never })
    terminal.interrupt(signal('SIGTERM'))
    await vi.waitFor(() => expect(stops).toEqual([undefined]))
    refuse(refused)

    await expect(ended).rejects.toBe(refused)
  })

  it('rejects with the error of a refused start', async () => {
    const refused = new StartError('address-in-use', { message: 'taken', hint: 'choose another' })
    const { ended } = setUp({ start: () => Promise.reject(refused) })

    await expect(ended).rejects.toBe(refused)
  })

  it('stops the server and rejects when the announcement fails', async () => {
    const { stops, ended } = setUp({}, () => Promise.reject(new Error('no token')))

    await expect(ended).rejects.toThrow('no token')
    expect(stops).toEqual([true])
  })

  it('exits 70 on a storage fault, without draining', async () => {
    const { terminal, stops, ended } = setUp({ fatal: Promise.resolve(new Error('EIO')) })

    expect(await ended).toBe(70)
    expect(stops).toEqual([true])
    expect(terminal.err()).toContain('EIO')
  })

  it('exits 75 when other servers have taken over', async () => {
    const { terminal, stops, ended } = setUp({ fatal: Promise.resolve(leaseLost()) })

    expect(await ended).toBe(75)
    expect(stops).toEqual([true])
    expect(terminal.err()).toContain('other servers have taken over the work of this one')
  })

  it('exits 1 on a crash during the drain', async () => {
    const { terminal, stops, ended } = setUp({ stop: (options) => (options?.force ? Promise.resolve() : never) })
    terminal.interrupt(signal('SIGTERM'))
    terminal.interrupt({ type: 'crash', error: new TypeError('undefined is not a function') })

    expect(await ended).toBe(1)
    expect(stops.at(-1)).toBe(true)
    expect(terminal.err()).toContain('undefined is not a function')
  })
})
