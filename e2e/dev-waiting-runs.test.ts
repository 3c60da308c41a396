import { existsSync, mkdtempSync, readFileSync, realpathSync, renameSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createClient } from '../packages/client/src/index.ts'
import { type RunningServer, removeFolder, type Sandbox, startServer } from './perdure-process.ts'

const CHECK = `await ctx.step('check', () => note('check'))`

/** The configuration with a workflow that waits for an approval; `before` is executed in front of the approval. */
const CONFIG = (before = '') => `
import { appendFileSync } from 'node:fs'
const note = (line) => appendFileSync('ledger.txt', line + '\\n')
const execute = async (_, ctx) => {
  await ctx.step('prepare', () => note('prepare'))
  ${before}
  const { approved } = await ctx.approval('pay')
  return ctx.step('transfer', () => note('transfer ' + approved))
}
export default {
  server: { port: 0 },
  workflows: [{ id: 'payment', description: '', workflow: { id: 'payment', execute } }],
}
`
const FIRST = CONFIG()
const STEP_IN_FRONT = CONFIG(CHECK)
const BRANCHED = CONFIG(`if ((await ctx.version('check first', 1, 2)) === 2) ${CHECK}`)
const SYNTAX_ERROR = FIRST.replace('export default {', 'export default {{')
const WITHOUT_WORKFLOW = `export default { server: { port: 0 }, agents: [] }\n`

/** Starts a payment under `perdure dev` and waits until it asks for its approval. */
async function waitingPayment() {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'perdure-dev-waiting-')))
  onTestFinished(() => removeFolder(dir))
  const { PERDURE_URL: _, PERDURE_TOKEN: __, ...env } = process.env
  const sandbox: Sandbox = { dir, env: { ...env, XDG_CONFIG_HOME: join(dir, 'settings') } }
  const write = (text: string) => {
    writeFileSync(join(dir, 'saved'), text)
    renameSync(join(dir, 'saved'), join(dir, 'perdure.config.mjs'))
  }
  write(FIRST)
  const server = await startServer(sandbox, ['dev'])
  onTestFinished(() => void server.process.kill('SIGKILL'))
  const { token } = JSON.parse(readFileSync(join(dir, '.graphorin/dev-session.json'), 'utf8'))
  const client = createClient({ baseUrl: server.url, token })
  const { runId } = await client.workflows.execute('payment', { threadId: 'order-1' })
  const run = () => client.runs.get(runId)
  const pending = async () => (await client.approvals.list({ status: 'pending' })).items
  await expect.poll(pending).toMatchObject([{ runId }])
  const [approval] = await pending()

  return {
    ...{ run, pending },
    approve: () => client.approvals.resolve(approval?.id ?? '', { approved: true }),
    waitingFor: async () => (await client.runs.state(runId)).waitingFor,
    ledger: () => {
      const path = join(dir, 'ledger.txt')
      return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : []
    },
    /** Saves the configuration and waits until `perdure dev` has printed the line once more than before. */
    async save(text: string, line: string) {
      const before = timesOf(server, line)
      write(text)
      await expect.poll(() => timesOf(server, line), { interval: 20 }).toBe(before + 1)
    },
  }
}

const timesOf = (server: RunningServer, line: string): number => server.stderr().split(line).length - 1

const RESTARTED = '↻ restarted in'
const REFUSED = 'still serving the previous configuration'
const PARKED = [{ kind: 'code', seq: 2, expected: 'approval pay', found: 'step check' }]

describe('a run that waits for an approval under perdure dev', () => {
  it.each([
    ['the edit is undone', FIRST],
    ['the edit is put behind ctx.version', BRANCHED],
  ])('completes when a step in front of the approval is saved, the request is approved, and %s', async (_, mended) => {
    const { run, approve, waitingFor, ledger, save } = await waitingPayment()
    await save(STEP_IN_FRONT, RESTARTED)
    await approve()
    await expect.poll(waitingFor).toEqual(PARKED)
    expect((await run()).status).toBe('suspended')

    await save(mended, RESTARTED)

    await expect.poll(async () => (await run()).status).toBe('completed')
    expect(ledger()).toEqual(['prepare', 'transfer true'])
  })

  it('completes with the previous code when it is approved after a syntax error was saved', async () => {
    const { run, approve, ledger, save } = await waitingPayment()
    await save(SYNTAX_ERROR, REFUSED)
    await approve()

    await expect.poll(async () => (await run()).status).toBe('completed')
    await save(FIRST, RESTARTED)
    expect((await run()).status).toBe('completed')
    expect(ledger()).toEqual(['prepare', 'transfer true'])
  })

  it('keeps waiting after a syntax error was saved and mended, and completes once it is approved', async () => {
    const { run, pending, approve, ledger, save } = await waitingPayment()
    await save(SYNTAX_ERROR, REFUSED)
    await save(FIRST, RESTARTED)
    expect(await pending()).toHaveLength(1)
    await approve()

    await expect.poll(async () => (await run()).status).toBe('completed')
    expect(ledger()).toEqual(['prepare', 'transfer true'])
  })

  it('keeps a decision that is made while its workflow is removed, and completes when it is registered again', async () => {
    const { run, approve, ledger, save } = await waitingPayment()
    await save(WITHOUT_WORKFLOW, RESTARTED)
    expect((await run()).status).toBe('suspended')
    await approve()
    await expect.poll(async () => (await run()).status).toBe('queued')

    await save(FIRST, RESTARTED)

    await expect.poll(async () => (await run()).status).toBe('completed')
    expect(ledger()).toEqual(['prepare', 'transfer true'])
  })
})
