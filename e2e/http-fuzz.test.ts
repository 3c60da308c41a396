import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ERRORS, type ErrorSpec } from '../packages/protocol/src/index.ts'
import { createRandom } from '../packages/testkit/src/random.ts'
import { bearer, createSandbox, createToken, type RunningServer, startServer } from './perdure-process.ts'
import { exchange, type RawAnswer, type RawExchange } from './raw-http.ts'
import { type Damaged, toBytes } from './request-damage.ts'
import { createForge, type Endpoint, endpointsOf } from './request-forge.ts'
import { INSPECTABLE, residentAfterCollection, withoutInspectorLines } from './resident-memory.ts'
import { SMUGGLED, SMUGGLING } from './smuggling-corpus.ts'

const REQUESTS = Number(process.env.HTTP_FUZZ_REQUESTS ?? 10_000)
const SEED = Number(process.env.FUZZ_SEED ?? Date.now() % 2 ** 31)
const CONCURRENCY = 48
/** Only the endpoints whose path matches this regular expression are tested. */
const PATH = process.env.HTTP_FUZZ_PATH ?? ''
/** Caches fill slowly: the growth is the same after 200,000 and after 300,000 requests. */
const MAX_GROWTH_MIB = REQUESTS > 50_000 ? 50 : 35
/** A request without an answer for so long may wait for a run, for example for one with a later start time. */
const WAIT_MS = 5_000
/** A request that has no answer long after its run has ended hangs. */
const PATIENCE_MS = 180_000
/** Memory is measured from this request on: earlier growth is warm-up. */
const WARM_UP_REQUESTS = 5_000

const PEPPER = `canary-pepper-${'p'.repeat(30)}`
let server: RunningServer
let token: string
let port: number
let endpoints: readonly Endpoint[]

beforeAll(async () => {
  const sandbox = createSandbox({ E2E_PEPPER: PEPPER, ...INSPECTABLE })
  token = await createToken(sandbox)
  server = await startServer(sandbox, ['server', '--config', join(import.meta.dirname, 'fixtures/fuzz.config.mjs')])
  port = Number(new URL(server.url).port)
  const document = await (await fetch(`${server.url}/openapi.json`)).json()
  endpoints = endpointsOf(document).filter(({ path }) => new RegExp(PATH).test(path))
})
afterAll(async () => {
  await server.kill('SIGKILL')
})

const runEcho = async () => {
  const body = JSON.stringify({ input: { still: 'here' } })
  const response = await fetch(`${server.url}/agents/echo/run`, { method: 'POST', headers: bearer(token), body })
  return [response.status, ((await response.json()) as { readonly result: unknown }).result]
}

/** Aborts every run that has not ended, newest first. */
const endRuns = async () => {
  const headers = bearer(token)
  for (const status of ['queued', 'suspended', 'running']) {
    for (let page: readonly { readonly id: string }[] | undefined; page?.length !== 0; ) {
      const response = await fetch(`${server.url}/runs?status=${status}&order=desc&limit=100`, { headers })
      page = ((await response.json()) as { readonly items: readonly { readonly id: string }[] }).items
      await Promise.all(
        page.map(({ id }) => fetch(`${server.url}/runs/${id}/abort`, { method: 'POST', headers, body: '{}' })),
      )
    }
  }
}

const STATUSES = new Set<number>(Object.values(ERRORS).map(({ status }) => status))
const FORBIDDEN_STATUSES = new Set([500])

/** An export ends early, without its checksum, when another request deletes the session. */
const isCutExport = ({ rest }: RawExchange) =>
  /^HTTP\/1\.1 200 .*\r\n(?:.+\r\n)*content-type: application\/x-ndjson/i.test(rest)

/** Returns what is wrong with the answers to one request, if anything. */
function problemOf({ isIntact }: Damaged, endpoint: Endpoint, seen: RawExchange): string | undefined {
  const [answer] = seen.answers
  if (answer === undefined && !seen.isClosed) return 'neither an answer nor the end of the connection'
  if (answer === undefined) return isIntact && !isCutExport(seen) ? 'no answer' : undefined
  const { status, head, body } = answer
  if (FORBIDDEN_STATUSES.has(status)) return `status ${status}`
  const isRefusal = status >= 400 && /^content-type: application\/json/im.test(head) && !body.startsWith('{"status"')
  if (isRefusal && !isEnvelope(answer)) return 'no error envelope'
  // A browser that asks for the base path, which `..` in place of an id can name, is sent to the documentation.
  if (status === 302 && /^location: \/v1\/docs\r?$/im.test(head)) return undefined
  if (isIntact) return endpoint.statuses.has(status) || OUTSIDE.has(status) ? undefined : `undeclared status ${status}`
  return status < 400 || STATUSES.has(status) ? undefined : `status ${status} that is in no table`
}

/** Statuses decided before routing. */
const OUTSIDE = new Set([400, 404, 405, 408, 414, 426, 431])

/** An error of the MCP server. */
interface RpcError {
  readonly jsonrpc: '2.0'
  readonly error: { readonly code: number; readonly message: string }
}

/** An error in the form of OpenAI. */
interface OpenaiError {
  readonly code: string
}

/** By the id of the error, and by its word of OpenAI. */
const STATUS_OF: ReadonlyMap<string, number> = new Map(
  Object.entries<ErrorSpec>(ERRORS).flatMap(([id, { status, openai = id }]) => [
    [id, status],
    [openai, status],
  ]),
)

function isEnvelope({ status, body, head }: RawAnswer): boolean {
  if (body === '') return true
  const answer = JSON.parse(body) as { readonly error: string | OpenaiError; readonly requestId: string } | RpcError
  if ('jsonrpc' in answer) return Number.isInteger(answer.error.code) && typeof answer.error.message === 'string'
  const { error: shown, requestId } = answer
  const error = typeof shown === 'object' ? shown.code : shown
  return STATUS_OF.get(error) === status && head.includes(requestId)
}

describe('the HTTP interface of the binary', () => {
  it('answers arbitrary and damaged requests as declared and stays alive', async () => {
    console.log(`seed ${SEED}`)
    const random = createRandom(SEED)
    const ids: string[] = []
    const forge = createForge(random, ids)
    const statuses = new Map<number, number>()
    const problems: string[] = []
    const leaks: string[] = []
    let sent = 0

    const own = await fetch(`${server.url}/tokens/self`, { headers: bearer(token) })
    const { id: ownId } = (await own.json()) as { readonly id: string }
    const learn = ({ body }: RawAnswer) => {
      for (const [, id = ''] of body
        .slice(0, 2_000)
        .matchAll(/"(?:id|runId|threadId|taskId|approvalId)":"([^"]{3,64})"/g)) {
        if (id !== ownId && !ids.includes(id) && ids.push(id) > 300) ids.shift()
      }
    }

    const attack = async (last: number) => {
      while (sent < last) {
        sent++
        const endpoint = endpoints[Math.floor(random() * endpoints.length)] as Endpoint
        const damaged = toBytes(forge(endpoint), { host: `127.0.0.1:${port}`, token }, random)
        const waiting = setTimeout(() => void endRuns().catch((error) => problems.push(String(error))), WAIT_MS)
        const seen = await exchange(port, damaged.bytes, { answers: 1, patienceMs: PATIENCE_MS })
        clearTimeout(waiting)
        const problem = problemOf(damaged, endpoint, seen)
        if (problem !== undefined) {
          problems.push(
            `${problem}: ${damaged.bytes.toString('latin1').slice(0, 600)} => ${seen.answers[0]?.body.slice(0, 300)}`,
          )
        }
        for (const answer of seen.answers) {
          statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
          if (answer.body.includes(token.slice(-20)) || answer.body.includes(PEPPER)) leaks.push(answer.body)
          if (answer.status < 300) learn(answer)
        }
      }
    }
    /** Sends requests up to this number and returns the memory that the server then needs, in MiB. */
    const memoryAfter = async (last: number) => {
      await Promise.all(Array.from({ length: CONCURRENCY }, () => attack(last)))
      return residentAfterCollection(server)
    }
    const early = await memoryAfter(Math.min(WARM_UP_REQUESTS, REQUESTS))
    const late = await memoryAfter(REQUESTS)

    console.log(`${sent} requests, answered ${JSON.stringify([...statuses].sort())}`)
    console.log(`memory ${early.toFixed(1)} MiB after ${WARM_UP_REQUESTS}, ${late.toFixed(1)} MiB at the end`)
    expect(problems.slice(0, 5)).toEqual([])
    expect(leaks).toEqual([])
    expect(statuses.get(200)).toBeGreaterThan(sent / 10)
    const expected = PATH === '' ? [200, 201, 202, 204, 400, 401, 404, 405, 408, 409, 431] : [200, 400, 401]
    expect([...statuses.keys()]).toEqual(expect.arrayContaining(expected))
    expect(server.process.exitCode).toBeNull()
    expect(withoutInspectorLines(server.stderr())).toBe('')
    await expect.poll(runEcho).toEqual([200, { still: 'here' }])
    expect(late - early).toBeLessThan(MAX_GROWTH_MIB)
  }, 3_600_000)

  it.each(SMUGGLING)('never treats a part of one request as another request: %s', async (_, lines, expected) => {
    const bytes = Buffer.from(lines.replaceAll('{host}', `127.0.0.1:${port}`), 'latin1')

    const { answers } = await exchange(port, bytes)

    expect(answers.map(({ status }) => status)).toEqual(expected)
    expect(answers.filter(({ head }) => head.includes(SMUGGLED))).toEqual([])
  })
})
