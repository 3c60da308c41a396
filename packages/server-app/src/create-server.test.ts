import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer as createNetServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInMemoryStorage } from '@perdure/in-memory'
import { systemTimers } from '@perdure/platform-node'
import type { Logger } from '@perdure/ports'
import { afterEach, describe, expect, it } from 'vitest'
import { createServer } from './create-server.ts'
import type { PerdureServer } from './perdure-server.ts'
import type { ServerOptions } from './server-options.ts'

const ignore = () => undefined
const logger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }
process.env.TEST_PEPPER = 'x'.repeat(32)
process.env.TEST_WEAK_PEPPER = 'x'.repeat(31)

const open: PerdureServer[] = []
afterEach(async () => {
  for (const server of open.splice(0)) await server.stop({ force: true })
})

const make = async ({ config, adapters, ...rest }: ServerOptions = {}) => {
  const server = await createServer({
    config: { auth: { kind: 'none' }, ...config, server: { port: 0, ...config?.server } },
    adapters: { storage: createInMemoryStorage(), logger, ...adapters },
    agents: [{ id: 'echo', description: 'Answers its input.', agent: { id: 'echo', run: async (input) => input } }],
    ...rest,
  })
  open.push(server)
  return server
}

const post = (url: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(url, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  })

const bodyOf = async (response: Response) =>
  (await response.json()) as { readonly error: string; readonly runId: string }

const urlOf = ({ host, port, basePath }: Awaited<ReturnType<PerdureServer['start']>>) =>
  `http://${host}:${port}${basePath}`

describe('createServer', () => {
  it('serves an agent over HTTP on a storage that was passed in', async () => {
    const server = await make()
    const url = urlOf(await server.start())

    const response = await post(`${url}/agents/echo/run`, { input: { text: 'hi' } })

    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ status: 'completed', result: { text: 'hi' } })
  })

  it('accepts registrations until it starts', async () => {
    const server = await make()
    server.agents.register({ id: 'late', description: 'Comes late.', agent: { id: 'late', run: async () => 'here' } })
    const url = urlOf(await server.start())

    expect(await (await post(`${url}/agents/late/run`, {})).json()).toMatchObject({ result: 'here' })
  })

  it('never closes an adapter that was passed in', async () => {
    const storage = createInMemoryStorage()
    const server = await make({ adapters: { storage } })
    await server.start()

    await server.stop()

    expect((await storage.status()).writable).toBe(true)
  })

  it('calls its hooks in order', async () => {
    const seen: string[] = []
    const server = await make({
      hooks: {
        beforeStart: async () => void seen.push('beforeStart'),
        onReady: async () => void seen.push('onReady'),
        beforeShutdown: async () => void seen.push('beforeShutdown'),
      },
    })
    await server.start()
    seen.push('started')
    await server.stop()
    await server.stop()

    expect(seen).toEqual(['beforeStart', 'onReady', 'started', 'beforeShutdown'])
  })

  it('attributes an unhandled error to the run whose code caused the error, and logs the run id', async () => {
    const attributed = Promise.withResolvers<boolean>()
    const lines: unknown[] = []
    const noting: Logger = { ...logger, error: (_message, _error, detail) => void lines.push(detail) }
    const server = await make({
      adapters: { logger: noting },
      agents: [
        {
          id: 'careless',
          description: 'Starts a timer that outlives the run.',
          agent: {
            id: 'careless',
            run: async () => void setTimeout(() => attributed.resolve(server.attribute(new Error('stray')))),
          },
        },
      ],
    })
    const url = urlOf(await server.start())

    const { runId } = await bodyOf(await post(`${url}/agents/careless/run`, {}))

    expect(await attributed.promise).toBe(true)
    expect(lines).toEqual([{ runId }])
    expect(server.attribute(new Error('unrelated'))).toBe(false)
  })

  it("does not attribute the server's own timers and commits to the run whose code led to them", async () => {
    const attributed: boolean[] = []
    const noting =
      <Args extends unknown[], Result>(fn: (...args: Args) => Result) =>
      (...args: Args) => {
        attributed.push(server.attribute(new Error('of the server')))
        return fn(...args)
      }
    const storage = createInMemoryStorage()
    const { commit } = storage.unitOfWork
    const server = await make({
      adapters: {
        storage: { ...storage, unitOfWork: { commit: noting(commit) } },
        timers: { after: noting(systemTimers.after) },
      },
      agents: [
        {
          id: 'stepping',
          description: 'Takes one step.',
          agent: { id: 'stepping', run: (_, { step }) => step('one', async () => 1, { timeout: 60_000 }) },
        },
      ],
    })
    const url = urlOf(await server.start())

    const answer = await post(`${url}/agents/stepping/run`, {})

    expect(await answer.json()).toMatchObject({ result: 1 })
    expect(attributed.length).toBeGreaterThan(3)
    expect(attributed).not.toContain(true)
  })

  it('reports ready only while it accepts new runs', async () => {
    const server = await make({
      config: { server: { shutdown: { drainTimeoutMs: 60_000 } } },
      agents: [
        {
          id: 'held',
          description: 'Ends when aborted.',
          agent: {
            id: 'held',
            run: (_, { signal }) => new Promise((resolve) => signal.addEventListener('abort', resolve)),
          },
        },
      ],
    })
    const url = urlOf(await server.start())
    const ready = async () => (await fetch(`${url}/health/ready`)).status
    expect(await ready()).toBe(200)
    const started = await bodyOf(await post(`${url}/agents/held/stream`, {}))

    const stopped = server.stop()
    await expect.poll(ready).toBe(503)
    const refused = await post(`${url}/agents/held/run`, {})
    expect([refused.status, (await bodyOf(refused)).error]).toEqual([503, 'server-draining'])
    expect(refused.headers.get('retry-after')).not.toBeNull()
    expect((await fetch(`${url}/runs/${started.runId}`)).status).toBe(200)
    expect((await post(`${url}/runs/${started.runId}/abort`, {})).status).toBe(200)

    await stopped
  })
})

describe('a start that fails', () => {
  const refusal = async (options: ServerOptions) => {
    try {
      await (await make(options)).start()
    } catch (error) {
      return error as { kind: string; hint: string; message: string }
    }
    throw new Error('the start did not fail')
  }

  it.each([
    ['pepper-missing', { config: { auth: { kind: 'token' } } }],
    ['pepper-weak', { config: { auth: { kind: 'token', pepperRef: 'env:TEST_WEAK_PEPPER' } } }],
    ['secret-unresolvable', { config: { auth: { kind: 'token', pepperRef: 'env:TEST_NO_SUCH_PEPPER' } } }],
    ['secret-unresolvable', { config: { auth: { kind: 'token', pepperRef: 'vault:pepper' } } }],
    ['secret-unresolvable', { config: { auth: { kind: 'token', pepperRef: 'file:/no/such/pepper' } } }],
    ['config-invalid', { config: { auth: { kind: 'none' }, server: { host: '0.0.0.0' } } }],
    ['encryption-passphrase-missing', { config: { audit: { enabled: true } } }],
    ['encryption-passphrase-missing', { config: { storage: { encryption: { enabled: true } } } }],
    ['secret-unresolvable', { config: { storage: { encryption: { passphraseRef: 'env:TEST_NO_SUCH_PASSPHRASE' } } } }],
    ['config-invalid', { config: { audit: { keyRef: 'env:TEST_WEAK_PEPPER' } } }],
    ['config-invalid', { config: { server: { prot: 1 } as never } }],
    ['config-invalid', { agents: [{ id: '', description: '', agent: { id: '', run: async () => 1 } }] }],
    ['hook-failed', { hooks: { beforeStart: () => Promise.reject(new Error('no')) } }],
  ] satisfies [string, ServerOptions][])('fails with %s and a hint', async (kind, options) => {
    const error = await refusal(options)

    expect(error).toMatchObject({ name: 'StartError', kind })
    expect(error.hint).not.toBe('')
  })

  it.each([
    ['env:TEST_NO_SUCH_PEPPER', 'the environment variable TEST_NO_SUCH_PEPPER is not set or empty', 'set the variable'],
    ['file:/no/such/pepper', 'the file /no/such/pepper does not exist or is empty', 'create the file'],
  ])('names what %s refers to, and how to provide it', async (pepperRef, problem, hint) => {
    const error = await refusal({ config: { auth: { kind: 'token', pepperRef } } })

    expect(error.message).toBe(`auth.pepperRef: ${problem}`)
    expect(error.hint).toBe(`${hint}, or change auth.pepperRef`)
  })

  it('names the invalid field but not its value', async () => {
    const error = await refusal({ config: { auth: { pepperRef: 'hunter2-the-naked-pepper' } } })

    expect(error.kind).toBe('config-invalid')
    expect(error.message).toContain('auth.pepperRef')
    expect(JSON.stringify([error.message, error.hint])).not.toContain('hunter2')
  })

  it('fails with address-in-use when the port is taken, and leaves nothing open', async () => {
    const other = createNetServer()
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const { port } = other.address() as { port: number }
    const path = join(mkdtempSync(join(tmpdir(), 'perdure-')), 'data.db')
    const config = { auth: { kind: 'none' }, storage: { path }, server: { port } } as const

    const server = await createServer({ config, adapters: { logger } })
    await expect(server.start()).rejects.toMatchObject({ kind: 'address-in-use' })
    other.close()

    const next = await createServer({ config: { ...config, server: { port: 0 } }, adapters: { logger } })
    await next.start()
    await next.stop()
  })

  it('fails with hook-failed when onReady throws, and leaves nothing open', async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'perdure-')), 'data.db')
    const config = { auth: { kind: 'none' }, storage: { path }, server: { port: 0 } } as const
    const onReady = () => Promise.reject(new Error('no'))
    const failing = await createServer({ config, adapters: { logger }, hooks: { onReady } })

    await expect(failing.start()).rejects.toMatchObject({
      name: 'StartError',
      kind: 'hook-failed',
      message: 'the onReady hook threw: no',
      hint: expect.stringContaining('hooks.onReady'),
    })

    const next = await createServer({ config, adapters: { logger } })
    await next.start()
    await next.stop()
  })

  it('fails with config-invalid when the storage folder cannot be created', async () => {
    const config = { auth: { kind: 'none' }, storage: { path: '/proc/nope/x.db' }, server: { port: 0 } } as const
    const server = await createServer({ config, adapters: { logger } })

    await expect(server.start()).rejects.toMatchObject({ kind: 'config-invalid' })
  })

  it('fails with storage-locked while another server has the file open', async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'perdure-')), 'data.db')
    const config = { auth: { kind: 'none' }, storage: { path }, server: { port: 0 } } as const
    const first = await createServer({ config, adapters: { logger } })
    open.push(first)
    await first.start()

    const second = await createServer({ config, adapters: { logger } })
    await expect(second.start()).rejects.toMatchObject({ kind: 'storage-locked' })
  })

  it('fails with storage-corrupt for a file that is not a database, and leaves it unchanged', async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'perdure-')), 'data.db')
    writeFileSync(path, 'these are my notes, not a database\n'.repeat(100))
    const before = readFileSync(path)

    const server = await createServer({ config: { auth: { kind: 'none' }, storage: { path } }, adapters: { logger } })
    await expect(server.start()).rejects.toMatchObject({ kind: 'storage-corrupt' })

    expect(readFileSync(path).equals(before)).toBe(true)
  })
})
