import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Logger } from '@perdure/ports'
import { afterAll, expect, it, onTestFinished } from 'vitest'
import { createServer } from '../create-server.ts'

const ignore = () => undefined
const logger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }
const directory = mkdtempSync(join(tmpdir(), 'perdure-replay-'))
afterAll(() => rmSync(directory, { recursive: true }))

const MIB = 1_048_576
const storedBytes = () =>
  readdirSync(directory)
    .filter((name) => name.startsWith('data.db') && name !== 'data.db.ballast')
    .reduce((sum, name) => sum + statSync(join(directory, name)).size, 0)

it('stores less than 1 MiB for six keyed replays of 60 events with 250 kB each', async () => {
  const server = await createServer({
    config: {
      ...{ auth: { kind: 'none' }, server: { port: 0 }, storage: { path: join(directory, 'data.db') } },
    },
    adapters: { logger },
    agents: [
      {
        ...{ id: 'talker', description: '' },
        agent: {
          id: 'talker',
          async run(_, { emit }) {
            for (let n = 0; n < 60; n++) await emit('page.read', { n, text: 'x'.repeat(250_000) })
          },
        },
      },
    ],
  })
  onTestFinished(() => server.stop({ force: true }))
  const { host, port, basePath } = await server.start()
  const post = async (path: string, body: object, key: string) => {
    const headers = { 'content-type': 'application/json', 'idempotency-key': key }
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    const response = await fetch(`http://${host}:${port}${basePath}${path}`, init)
    return { isReplayed: response.headers.has('idempotency-replayed'), text: await response.text() }
  }
  const { runId } = JSON.parse((await post('/agents/talker/run', {}, 'start')).text)
  const before = storedBytes()
  const replay = (key: string) => post(`/runs/${runId}/replay`, { limit: 200 }, key)

  const first = await replay('key-0')
  for (const n of [1, 2, 3, 4, 5]) await replay(`key-${n}`)

  expect(first.text.length).toBeGreaterThan(MIB)
  expect(storedBytes() - before).toBeLessThan(MIB)
  expect(await replay('key-0')).toEqual({ ...first, isReplayed: true })
}, 60_000)
