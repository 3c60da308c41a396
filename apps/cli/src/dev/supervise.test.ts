import { describe, expect, it } from 'vitest'
import { recordingTerminal } from '../../test/recording-terminal.ts'
import type { DevOrder, DevReport, Refusal, ServedFacts } from './dev-messages.ts'
import type { ServerProcess, ServerProcessEvents } from './server-process.ts'
import { type SupervisionView, supervise } from './supervise.ts'

const FACTS: ServedFacts = {
  listening: { host: '127.0.0.1', port: 8080, basePath: '/v1' },
  storagePath: '/data.db',
  pepperPath: undefined,
  agentIds: [],
  workflowIds: [],
  triggerIds: [],
  hookIds: [],
  tryable: [],
  hasDocs: true,
  hasConsole: false,
  outboundUrls: [],
  consoleCode: undefined,
  tokenRealm: undefined,
  token: undefined,
}
const REFUSAL: Refusal = {
  report: { error: 'config-invalid', kind: 'config-invalid', message: 'no' },
  text: 'error[config-invalid]: no\n',
  exitCode: 2,
}
const LISTENING: DevReport = { type: 'listening', facts: FACTS }
const PREPARED: DevReport = { type: 'prepared' }
const REFUSED: DevReport = { type: 'refused', refusal: REFUSAL }
const CHANGE = { files: ['/a.mjs'], requestedAtMs: 1 }

/** A fake server process that records its orders. */
interface FakeProcess extends ServerProcess {
  readonly orders: DevOrder['type'][]
  isKilled: boolean
  report(...reports: readonly DevReport[]): void
  end(exitCode: number): void
}

function setUp({ restartsAfterExit = true } = {}) {
  const terminal = recordingTerminal({ cwd: '/' })
  const processes: FakeProcess[] = []
  const seen: string[] = []
  const timers: (() => void)[] = []
  const spawn = ({ onReport, onEnd }: ServerProcessEvents): ServerProcess => {
    const fake: FakeProcess = {
      orders: [],
      isKilled: false,
      order: ({ type }) => void fake.orders.push(type),
      kill() {
        fake.isKilled = true
      },
      report: (...reports) => reports.forEach(onReport),
      end: onEnd,
    }
    processes.push(fake)
    return fake
  }
  const view: SupervisionView = {
    onListening: (_, restart) => void seen.push(restart === undefined ? 'listening' : 'restarted'),
    onRefused: (_, isServing) => void seen.push(isServing ? 'refused, serving' : 'refused'),
    onEnded: (exitCode) => void seen.push(`ended ${exitCode}`),
    onMinted: (token) => void seen.push(`minted ${token}`),
    onFailed: (message) => void seen.push(message),
    onImported: (file) => void seen.push(`imported ${file}`),
  }
  const supervision = supervise({
    spawn,
    setup: () => ({ cwd: '/', flags: {}, json: false, verbose: false, boundPort: undefined, tokenRealm: undefined }),
    interruptions: terminal.watchInterruptions(() => false),
    view,
    restartsAfterExit,
    after: (_, callback) => void timers.push(callback),
  })
  const at = (index: number): FakeProcess => {
    const found = processes[index]
    if (found === undefined) throw new Error(`no process ${index} was started`)
    return found
  }
  return { ...supervision, terminal, processes, at, seen, timers }
}

function serving(options?: { restartsAfterExit: boolean }) {
  const world = setUp(options)
  world.at(0).report(PREPARED, LISTENING)
  return world
}

describe('supervise', () => {
  it('starts the server once its configuration is valid', () => {
    const { at, seen } = setUp()
    at(0).report({ type: 'imported', file: '/a.mjs', version: '1' })
    expect(at(0).orders).toEqual(['prepare'])
    at(0).report(PREPARED, LISTENING)

    expect(at(0).orders).toEqual(['prepare', 'start'])
    expect(seen).toEqual(['imported /a.mjs', 'listening'])
  })

  it('exits with the code of a refused first start', async () => {
    const { at, ended, seen } = setUp()
    at(0).report(REFUSED)

    expect(await ended).toBe(2)
    expect(seen).toEqual(['refused'])
  })

  it('starts the new server only after the old one has ended', () => {
    const { at, restart, seen } = serving()
    restart(CHANGE)
    expect(at(0).orders).not.toContain('replace')
    at(1).report(PREPARED)
    expect(at(0).orders).toContain('replace')
    expect(at(1).orders).toEqual(['prepare'])
    at(0).end(0)
    expect(at(1).orders).toEqual(['prepare', 'start'])
    at(1).report(LISTENING)

    expect(seen).toEqual(['listening', 'restarted'])
  })

  it('keeps serving when the new configuration is refused', () => {
    const { at, restart, seen } = serving()
    restart(CHANGE)
    at(1).report(REFUSED)
    at(1).end(2)

    expect(at(0)).toMatchObject({ orders: ['prepare', 'start'], isKilled: false })
    expect(seen).toEqual(['listening', 'refused, serving'])
  })

  it('keeps serving when the new process exits before it listens', () => {
    const { at, restart, seen } = serving()
    restart(CHANGE)
    at(1).end(3)

    expect(seen).toEqual(['listening', 'refused, serving'])
    expect(at(0).orders).toEqual(['prepare', 'start'])
  })

  it('drops a configuration that changes again before it is validated', () => {
    const { at, restart, processes } = serving()
    restart(CHANGE)
    restart(CHANGE)
    expect(at(1).isKilled).toBe(true)
    at(1).report(PREPARED)
    at(1).end(1)
    at(2).report(PREPARED)
    at(0).end(0)

    expect(at(2).orders).toEqual(['prepare', 'start'])
    expect(processes).toHaveLength(3)
  })

  it('starts one configuration three seconds into a burst of changes, and the newest one after it', () => {
    const { at, restart, processes, seen } = serving()
    const change = (requestedAtMs: number) => restart({ files: ['/a.mjs'], requestedAtMs })
    for (let ms = 1_000; ms <= 7_000; ms += 500) change(ms)

    expect(processes.map(({ isKilled }) => isKilled)).toEqual([false, true, true, true, true, true, false])
    at(6).report(PREPARED)
    at(0).end(0)
    at(6).report(LISTENING)
    expect(processes).toHaveLength(8)
    change(9_500)
    expect(at(7).isKilled).toBe(true)
    at(8).report(PREPARED)
    at(6).end(0)
    at(8).report(LISTENING)

    expect(seen).toEqual(['listening', 'restarted', 'restarted'])
  })

  it('postpones a change that arrives during a start until the server listens', () => {
    const { at, restart, seen } = serving()
    restart(CHANGE)
    at(1).report(PREPARED)
    restart(CHANGE)
    at(0).end(0)
    expect(at(2).orders).toEqual(['prepare'])
    at(2).report(PREPARED)
    expect(at(2).orders).toEqual(['prepare', 'start'])
    restart(CHANGE)
    expect(at(2).isKilled).toBe(false)
    at(2).report(LISTENING)
    at(3).report(PREPARED)
    at(2).end(0)
    at(3).report(LISTENING)

    expect(seen).toEqual(['listening', 'restarted', 'restarted'])
  })

  it('kills an old server that does not stop', () => {
    const { at, restart, timers } = serving()
    restart(CHANGE)
    at(1).report(PREPARED)
    for (const fire of timers) fire()

    expect(at(0).isKilled).toBe(true)
  })

  it('waits for the next change when a start fails after the old server has ended', () => {
    const { at, restart, seen } = serving()
    restart(CHANGE)
    at(1).report(PREPARED)
    at(0).end(0)
    at(1).report(REFUSED)
    at(1).end(2)
    restart(CHANGE)
    at(2).report(PREPARED, LISTENING)

    expect(seen).toEqual(['listening', 'refused', 'restarted'])
  })

  it('waits for a change when the server exits, but exits with its code when no files are watched', async () => {
    const watched = serving()
    watched.at(0).end(70)
    watched.restart(CHANGE)
    watched.at(1).report(PREPARED)
    expect(watched.seen).toEqual(['listening', 'ended 70'])
    expect(watched.at(1).orders).toEqual(['prepare', 'start'])

    const alone = serving({ restartsAfterExit: false })
    alone.at(0).end(70)
    expect(await alone.ended).toBe(70)
  })

  it.each(['SIGINT', 'SIGTERM'] as const)('forwards %s and exits with the code of the server', async (signal) => {
    const { at, terminal, ended } = serving()
    terminal.interrupt({ type: 'signal', signal })
    await expect.poll(() => at(0).orders).toContain('signal')
    at(0).end(0)

    expect(await ended).toBe(0)
  })

  it('kills a server that a second signal does not stop', async () => {
    const { at, interrupt, timers, ended } = serving()
    interrupt('SIGINT')
    expect(timers).toHaveLength(0)
    interrupt('SIGINT')
    for (const fire of timers) fire()

    expect(at(0).isKilled).toBe(true)
    expect(await ended).toBe(130)
  })

  it('stops on a signal while it checks a change, without starting the new server', async () => {
    const { at, restart, interrupt, ended } = serving()
    restart(CHANGE)
    interrupt('SIGTERM')
    expect(at(1).isKilled).toBe(true)
    at(1).end(1)
    at(0).end(0)

    expect(await ended).toBe(0)
  })

  it('stops on a signal while the old server is ending, and while the new server is starting', async () => {
    const waiting = serving()
    waiting.restart(CHANGE)
    waiting.at(1).report(PREPARED)
    waiting.interrupt('SIGTERM')
    waiting.at(0).end(0)
    expect(await waiting.ended).toBe(0)
    expect(waiting.at(1)).toMatchObject({ orders: ['prepare'], isKilled: true })

    const starting = serving()
    starting.restart(CHANGE)
    starting.at(1).report(PREPARED)
    starting.at(0).end(0)
    starting.interrupt('SIGTERM')
    expect(starting.at(1).orders).toEqual(['prepare', 'start', 'signal'])
    starting.at(1).end(0)
    expect(await starting.ended).toBe(0)
  })

  it('exits on a signal when no server runs, and ignores later changes', async () => {
    const { at, interrupt, restart, ended, processes } = serving()
    at(0).end(1)
    interrupt('SIGTERM')
    restart(CHANGE)

    expect(await ended).toBe(0)
    expect(processes).toHaveLength(1)
  })

  it('rejects when its own process crashes', async () => {
    const { terminal, ended } = serving()
    terminal.interrupt({ type: 'crash', error: new Error('boom') })

    await expect(ended).rejects.toThrow('boom')
  })

  it('makes the running server mint a token', () => {
    const { at, mint, seen } = serving()
    mint()
    at(0).report({ type: 'minted', token: 't' })

    expect(at(0).orders).toEqual(['prepare', 'start', 'mint'])
    expect(seen).toEqual(['listening', 'minted t'])
  })
})
