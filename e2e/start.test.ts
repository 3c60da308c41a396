import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { bearer, createSandbox, createToken, startServer } from './perdure-process.ts'

const HOOK = pathToFileURL(join(import.meta.dirname, 'fixtures/loaded-files.mjs')).href

let server: readonly string[]
let storageThread: readonly string[]

/** Returns the third-party package that a file belongs to. */
const packageOf = (url: string): string | undefined => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1]
const packagesOf = (urls: readonly string[]) => [...new Set(urls.flatMap((url) => packageOf(url) ?? []))].sort()

beforeAll(async () => {
  const loaded = join(createSandbox().dir, 'loaded')
  const sandbox = createSandbox({ NODE_OPTIONS: `--import ${HOOK}?${encodeURIComponent(loaded)}` })
  const running = await startServer(sandbox)
  expect((await fetch(`${running.url}/health`)).status).toBe(200)
  await running.kill('SIGTERM')
  const filesOf = (thread: number) => readFileSync(`${loaded}-${thread}`, 'utf8').trimEnd().split('\n')
  server = filesOf(0)
  storageThread = filesOf(1)
})

/** The status of a request to each protocol, and the files that the server has loaded for them. */
async function loadedBy(env: NodeJS.ProcessEnv) {
  const loaded = join(createSandbox().dir, 'loaded')
  const sandbox = createSandbox({ NODE_OPTIONS: `--import ${HOOK}?${encodeURIComponent(loaded)}`, ...env })
  const headers = bearer(await createToken({ ...sandbox, env: { ...sandbox.env, NODE_OPTIONS: '' } }))
  const running = await startServer(sandbox)
  const request = { method: 'POST', headers, body: '{}' }
  const paths = ['agents/x/chat', 'agents/x/ag-ui', 'openai/responses', 'openai/chat/completions', 'mcp']
  const answers = await Promise.all(paths.map((path) => fetch(`${running.url}/${path}`, request)))
  const answer = await (await fetch(`${running.url}/agents/x/chat/c/messages`, { headers })).text()
  await running.kill('SIGTERM')
  const files = readFileSync(`${loaded}-0`, 'utf8').split('\n')
  return {
    statuses: answers.map(({ status }) => status),
    answer,
    files: files.filter((file) => /interop\/dist/.test(file)),
  }
}

describe('the code of other protocols', () => {
  it('is not loaded by a server without them, which has none of their routes', async () => {
    const { statuses, answer, files } = await loadedBy({ PERDURE_PROTOCOLS_ENABLED: 'false' })

    expect(statuses).toEqual([404, 404, 404, 404, 404])
    expect(answer).toContain('route-not-found')
    expect(files).toEqual([])
  })

  it('is loaded by the first request of one of them', async () => {
    const { answer, files } = await loadedBy({})

    expect(answer).toMatch(/^No agent /)
    expect(files.length).toBeGreaterThan(0)
    expect(server.filter((url) => /interop\/dist/.test(url))).toEqual([])
  })
})

describe('server start', () => {
  it('loads few files', () => {
    expect(server.length).toBeGreaterThan(20)
    expect(server.length).toBeLessThan(65)
  })

  it('does not load what only some servers need: cron, WebSockets, the client, YAML, MCP, the dev watcher', () => {
    expect(packagesOf(server)).toEqual(['better-sqlite3', 'hono', 'valibot'])
  })

  it('loads nothing of the console, which is off by default', () => {
    expect(server.filter((url) => /packages\/console\/|open-console/.test(url))).toEqual([])
  })

  it('loads one bundled file and the driver in the storage thread', () => {
    expect(packagesOf(storageThread)).toEqual(['better-sqlite3'])
    expect(storageThread.filter((url) => packageOf(url) === undefined)).toEqual([
      expect.stringMatching(/\/sqlite\/dist\/storage-worker\.cjs$/),
    ])
  })
})
