import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createRandom } from '../packages/testkit/src/random.ts'
import { eventually } from './durable-server.ts'
import { bearer, createSandbox, createToken, type RunningServer, startServer } from './perdure-process.ts'

const SEED = Number(process.env.E2E_SEED ?? Date.now() % 1_000_000)
const SERVE = ['server', '--config', join(import.meta.dirname, 'fixtures/memory.config.mjs')]

interface Shown {
  readonly items: readonly { readonly id: string; readonly text: string; readonly type: string }[]
  readonly nextCursor: string | null
  readonly queueDepth: Readonly<Record<string, number>>
  readonly deadLetters: number
  readonly runId: string
  readonly status: string
}

async function startMemoryServer() {
  const sandbox = createSandbox()
  sandbox.env.E2E_GATES = sandbox.dir
  const token = await createToken(sandbox)
  let server: RunningServer = await startServer(sandbox, SERVE)
  onTestFinished(() => void server.process.kill('SIGKILL'))

  const call = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const response = await fetch(`${server.url}${path}`, {
      method,
      headers: { ...bearer(token), ...headers },
      body: body === undefined ? null : JSON.stringify(body),
    })
    if (response.status >= 400) throw new Error(await response.text())
    return (await response.json()) as Shown
  }

  return {
    call,
    openGate: () => writeFileSync(join(sandbox.dir, 'open'), ''),
    async crash() {
      await server.kill('SIGKILL')
      server = await startServer(sandbox, SERVE)
    },
    async texts() {
      const texts: string[] = []
      let cursor = ''
      do {
        const { items, nextCursor } = await call('GET', `/memory/facts?limit=200${cursor}`)
        texts.push(...items.map(({ text }) => text))
        cursor = nextCursor === null ? '' : `&cursor=${nextCursor}`
      } while (cursor !== '')
      return texts.sort()
    },
    isQuiet: async () => {
      const { queueDepth, deadLetters } = await call('GET', '/consolidator')
      return deadLetters === 0 && Object.values(queueDepth).every((depth) => depth === 0)
    },
  }
}

describe('memory on a server that is killed', () => {
  it('neither loses nor duplicates a fact while the consolidator merges duplicates', async () => {
    console.log(`seed ${SEED} (set E2E_SEED to repeat)`)
    const random = createRandom(SEED)
    const { call, crash, texts, isQuiet, openGate } = await startMemoryServer()
    openGate()
    const distinct = Array.from(
      { length: 60 },
      (_, index) => `statement ${index} about ${'abcdefghij'[index % 10]}${index}`,
    )
    const statements = distinct.flatMap((text) => [text, `${text}.`, `The ${text}`])
    await Promise.all(
      statements.map((text) =>
        call('POST', '/memory/facts', { text, namespace: text.at(-1) === '.' ? 'other' : 'default' }),
      ),
    )
    const expected = [...distinct.map((text) => `The ${text}`), ...distinct.map((text) => `${text}.`)].sort()

    // A job that is interrupted five times becomes a dead letter.
    for (const kills of [4, 4]) {
      for (let kill = 0; kill < kills; kill++) {
        await call('POST', '/consolidator/run', {})
        await new Promise((resolve) => setTimeout(resolve, random() * 60))
        await crash()
      }
      await call('POST', '/consolidator/run', {})
      await eventually(isQuiet).toBe(true)
    }

    expect(await texts()).toEqual(expected)
    const { items } = await call('GET', '/memory/facts?limit=1')
    expect(items).toHaveLength(1)
  })

  it('extracts every message once when the process dies during extraction', async () => {
    const { call, crash, texts, isQuiet, openGate } = await startMemoryServer()
    for (const text of ['one', 'two']) {
      await call('POST', '/agents/echo/run', { input: text, sessionId: 'ses-1' })
    }
    await eventually(async () => (await call('GET', '/consolidator')).queueDepth.extract).toBe(1)
    await crash()
    openGate()
    await crash()

    await eventually(texts).toEqual(['said: noted', 'said: one', 'said: two'].sort())
    await eventually(isQuiet).toBe(true)
  })

  it('keeps the facts of a run exactly once across a crash', async () => {
    const { call, crash, texts } = await startMemoryServer()
    const lessons = Array.from(
      { length: 30 },
      (_, index) => `lesson ${index} of ${'abcdefghij'[index % 10]}${index * 7}`,
    )
    const { runId } = await call(
      'POST',
      '/agents/learner/run',
      { input: { texts: lessons } },
      { prefer: 'respond-async' },
    )
    await eventually(async () => (await texts()).length > 3).toBe(true)
    await crash()

    await eventually(async () => (await call('GET', `/runs/${runId}`)).status).toBe('completed')
    expect(await texts()).toEqual([...lessons].sort())
  })
})
