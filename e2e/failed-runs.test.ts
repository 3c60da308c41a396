import { writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Body, bodyOf, createSandbox, startServer } from './perdure-process.ts'

/** The blank lines disappear in the compiled file, so that only its source map knows line 9. */
const SOURCE = `type Ticket = { id: number }
enum Plan {
  Free = 'free',
  Pro = 'pro',
}

export async function lookUp(ticket: Ticket) {
  if (ticket.id > 0) return Plan.Pro
  throw new TypeError('no such ticket')
}
`

const CONFIG = `import { lookUp } from './look-up.mjs'
const agent = (id, run) => ({ id, description: id, agent: { id, run } })
export default {
  auth: { kind: 'none' },
  agents: [
    agent('triage', (_, ctx) => ctx.step('look up', () => lookUp({ id: 0 }))),
    agent('forgets', async (_, ctx) => {
      ctx.log.info('begins')
      ctx.step('charge', () => new Promise(() => undefined))
    }),
  ],
}
`

async function start() {
  const sandbox = createSandbox()
  const compiled = stripTypeScriptTypes(SOURCE, { mode: 'transform', sourceMap: true, sourceUrl: 'look-up.ts' })
  writeFileSync(join(sandbox.dir, 'look-up.mjs'), compiled)
  writeFileSync(join(sandbox.dir, 'perdure.config.mjs'), CONFIG)
  const server = await startServer(sandbox, ['server', '--config', join(sandbox.dir, 'perdure.config.mjs')])
  onTestFinished(() => void server.process.kill('SIGKILL'))
  const call = (method: string, path: string, body?: object): Promise<Body> =>
    bodyOf(
      fetch(server.url + path, {
        ...{ method, headers: { 'content-type': 'application/json' } },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    )
  return { call, stderr: server.stderr }
}

describe('a server', () => {
  it('logs the error of a failed run with its source line, and keeps the stack from clients', async () => {
    const { call, stderr } = await start()
    const { runId } = await call('POST', '/agents/triage/run', {})

    await expect
      .poll(stderr)
      .toMatch(new RegExp(`error run failed agentId=triage .*error=step-failed .*runId=${runId}`))
    expect(stderr()).toMatch(/\n {2}caused by:\n {2}TypeError: no such ticket\n {6}at lookUp \(.*look-up\.ts:9:\d+\)\n/)

    const run = await call('GET', `/runs/${runId}`)
    expect(run).toMatchObject({
      error: {
        code: 'step-failed',
        step: { seq: 1, name: 'look up' },
        cause: [{ name: 'TypeError', message: 'no such ticket' }],
      },
    })
    const seen = [run, await call('GET', `/runs/${runId}/state`), await call('GET', `/runs/${runId}/events`)]
    expect(JSON.stringify(seen)).not.toContain('look-up.ts')
    const replayed = await call('POST', `/runs/${runId}/replay`, { raw: true })
    expect(JSON.stringify(replayed)).toContain('look-up.ts:9')
  })

  it('names a step that the code did not await, and returns what the run logged', async () => {
    const { call, stderr } = await start()
    const { runId } = await call('POST', '/agents/forgets/run', {})

    await expect.poll(stderr).toContain('the run completed while the step charge was open: await it')
    expect(await call('GET', `/runs/${runId}/logs`)).toMatchObject({ items: [{ level: 'info', message: 'begins' }] })
  })
})
