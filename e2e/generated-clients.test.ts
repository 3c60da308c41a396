import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CLIENT_CONFIG, createSandbox, createToken, type RunningServer, startServer } from './perdure-process.ts'

const MODULES = join(import.meta.dirname, '../node_modules')
const run = promisify(execFile)

let server: RunningServer
let token: string
let folder: string

/** Runs a command of a development dependency in the folder. */
const command = (name: string, args: readonly string[]) =>
  run(join(MODULES, '.bin', name), args, { cwd: folder, maxBuffer: 16_777_216 })

/** Type-checks a program in strict mode, runs it against the server, and returns what it prints. */
async function execute(name: string, program: string): Promise<unknown> {
  await writeFile(join(folder, `${name}.ts`), program)
  const options = {
    compilerOptions: {
      ...{ target: 'es2023', lib: ['es2023', 'dom', 'dom.iterable'], module: 'esnext', moduleResolution: 'bundler' },
      ...{ strict: true, noEmit: true },
      ...{ skipLibCheck: false, types: [] },
    },
    files: [`${name}.ts`],
  }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(options))
  await command('tsc', ['-p', '.']).catch((error: { readonly stdout: string }) => {
    throw new Error(`the generated client does not compile:\n${error.stdout}`)
  })
  const bundle = await rolldown({ input: join(folder, `${name}.ts`), cwd: folder, logLevel: 'silent' })
  await bundle.write({ file: join(folder, `${name}.mjs`), format: 'esm' })
  const { stdout } = await run(process.execPath, [join(folder, `${name}.mjs`), server.url, token])
  return JSON.parse(stdout)
}

const PRELUDE = `
declare const process: { readonly argv: readonly string[] }
const [, , baseUrl = '', token = ''] = process.argv
`

const OPENAPI_FETCH = `${PRELUDE}
import createClient from 'openapi-fetch'
import type { components, paths } from './schema'

type Run = components['schemas']['Run']
const client = createClient<paths>({ baseUrl, headers: { Authorization: \`Bearer \${token}\` } })

const started = await client.POST('/agents/{agentId}/run', {
  params: { path: { agentId: 'echo' }, header: { 'Idempotency-Key': 'types-1' } },
  body: { input: { text: 'hello' }, metadata: { ticket: '17' } },
})
// @ts-expect-error: a time limit is a number
void (() => client.POST('/agents/{agentId}/run', { params: { path: { agentId: 'echo' } }, body: { timeoutMs: '1s' } }))
const runId: string = started.data?.runId ?? ''
const read = await client.GET('/runs/{runId}', { params: { path: { runId } } })
const whole: Run | undefined = read.data
const listed = await client.GET('/runs', { params: { query: { limit: 5, status: 'completed', include: ['input'] } } })
const missing = await client.GET('/agents/{agentId}', { params: { path: { agentId: 'nobody' } } })
const code: components['schemas']['ErrorCode'] | undefined = missing.error?.error
console.log(JSON.stringify({
  status: started.data?.status,
  result: started.data?.result,
  attempt: whole?.attempt,
  inputs: listed.data?.items.map((item) => item.input),
  missing: [missing.response.status, code],
}))
`

const HEY_API = `${PRELUDE}
import { agentsGet, agentsRun, agentsStream, runsEvents, runsList, sessionsList, triggersCreate } from './hey'
import { client } from './hey/client.gen'
import type { CreateTriggerRequest, EventEnvelope, RunOutcome } from './hey'

client.setConfig({ baseUrl, auth: () => token })

const started = await agentsRun({ path: { agentId: 'echo' }, body: { input: { text: 'hello' }, metadata: { ticket: '17' } } })
const outcome: RunOutcome | undefined = started.data
const listed = await runsList({ query: { agentId: 'echo', limit: 5, include: ['input'], metadata: { 'metadata.ticket': '17' } } })
const others = await runsList({ query: { metadata: { 'metadata.ticket': '18' } } })
const sessions = await sessionsList({ query: { metadata: { 'metadata.channel': 'chat' } } })
const events = await runsEvents({ path: { runId: outcome?.runId ?? '' } })
const missing = await agentsGet({ path: { agentId: 'nobody' } })
const trigger: CreateTriggerRequest = { id: 'beat', kind: 'interval', intervalMs: 60_000, target: { agentId: 'echo' } }
const created = await triggersCreate({ body: trigger })
// @ts-expect-error: a cron trigger needs a cron expression
const wrong: CreateTriggerRequest = { id: 'beat', kind: 'cron', target: { agentId: 'echo' } }
void wrong
const { stream } = await agentsStream({
  path: { agentId: 'echo' },
  body: { input: 'streamed' },
  headers: { Accept: 'text/event-stream' } as never,
})
const types: string[] = []
for await (const event of stream as AsyncIterable<EventEnvelope | ''>) {
  if (event === '') continue // the first event only sets the last event id
  types.push(event.type)
  if (event.type === 'run.completed') break
}
console.log(JSON.stringify({
  status: outcome?.status,
  result: outcome?.result,
  inputs: listed.data?.items.map((item) => item.input),
  others: others.data?.items.length,
  sessions: sessions.data?.items.length,
  first: events.data?.items[0]?.type,
  missing: [missing.response?.status, missing.error?.error],
  nextFireAt: typeof created.data?.nextFireAt,
  types,
}))
`

describe('a client that is generated from the OpenAPI document of a server', () => {
  beforeAll(async () => {
    const sandbox = createSandbox()
    token = await createToken(sandbox)
    server = await startServer(sandbox, ['server', '--config', CLIENT_CONFIG])
    folder = await mkdtemp(join(tmpdir(), 'perdure-clients-'))
    await symlink(MODULES, join(folder, 'node_modules'))
    await mkdir(join(folder, 'hey'))
    const document = await (await fetch(`${server.url}/openapi.json`)).text()
    await writeFile(join(folder, 'openapi.json'), document)
  })

  afterAll(async () => {
    await server?.kill('SIGTERM')
    if (folder !== undefined) await rm(folder, { recursive: true, force: true })
  })

  it('compiles with openapi-typescript, and openapi-fetch starts, reads and lists runs', async () => {
    await command('openapi-typescript', ['openapi.json', '--output', 'schema.d.ts'])

    expect(await execute('types', OPENAPI_FETCH)).toEqual({
      status: 'completed',
      result: { text: 'hello' },
      attempt: 1,
      inputs: [{ text: 'hello' }],
      missing: [404, 'agent-not-found'],
    })
  })

  it('compiles with @hey-api/openapi-ts and starts, lists, filters and streams runs', async () => {
    await command('openapi-ts', ['--input', 'openapi.json', '--output', 'hey', '--client', '@hey-api/client-fetch'])

    expect(await execute('sdk', HEY_API)).toMatchObject({
      status: 'completed',
      result: { text: 'hello' },
      inputs: expect.arrayContaining([{ text: 'hello' }]),
      others: 0,
      sessions: 0,
      first: 'run.started',
      missing: [404, 'agent-not-found'],
      nextFireAt: 'string',
      types: ['run.started', 'run.completed'],
    })
  })
})
