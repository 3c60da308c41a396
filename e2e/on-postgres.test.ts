import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { needsTool } from '../tooling/needed-tool.ts'
import { startPostgres } from '../tooling/postgres-server.ts'
import { BINARY, bearer, createSandbox, createToken, LEDGER_CONFIG, perdure, startServer } from './perdure-process.ts'
import { startProcess } from './started-process.ts'

needsTool('postgres').describe('the suites on PostgreSQL', () => {
  it('have a schema for each sandbox', () => {
    const schemas = [createSandbox(), createSandbox()].map(({ env }) => env.PERDURE_STORAGE_SCHEMA)

    expect(schemas).toEqual([expect.any(String), expect.any(String)])
    expect(new Set(schemas).size).toBe(2)
  })
})

/** The variables that the service of the server has in the file. */
const variablesOf = (compose: string): NodeJS.ProcessEnv =>
  Object.fromEntries(
    [...compose.matchAll(/^ {6}(PERDURE_[A-Z_]+|DATABASE_URL): (.+)$/gm)].map(([, name, value]) => [
      name,
      value?.replaceAll('"', ''),
    ]),
  )

needsTool('postgres').describe('compose.postgres.yaml', () => {
  it('has the environment of a server that reaches its database over a socket', async () => {
    const database = await startPostgres()
    onTestFinished(database.remove)
    const sandbox = createSandbox()
    const { stdout } = await perdure(sandbox, ['deploy', 'print', 'compose-postgres'])
    const { PERDURE_SITE: _, PERDURE_UPSTREAM: __, ...printed } = variablesOf(stdout)
    const { port } = new URL(database.url)
    // The folders and the name of the database are those of the sandbox.
    const here = (value = '') =>
      value
        .replace(
          '@localhost/perdure?host=/var/run/postgresql',
          `@localhost:${port}/postgres?host=${database.socketFolder}`,
        )
        .replace('/run/secrets', sandbox.dir)
        .replace(/^\/data/, join(sandbox.dir, 'data'))
    const set = Object.fromEntries(Object.entries(printed).map(([name, value]) => [name, here(value)]))
    mkdirSync(join(sandbox.dir, 'data'))
    writeFileSync(join(sandbox.dir, 'pepper'), 'p'.repeat(40), { mode: 0o600 })
    const deployed = { dir: sandbox.dir, env: { ...sandbox.env, ...set, PERDURE_SERVER_PORT: '0' } }

    const token = await createToken(deployed)
    const server = await startServer(deployed)
    onTestFinished(() => void server.process.kill('SIGKILL'))

    const body = JSON.stringify({ input: { name: 'one' } })
    const run = await fetch(`${server.url}/agents/ledger/run`, { method: 'POST', headers: bearer(token), body })
    const health = (await (await fetch(`${server.url}/health`)).json()) as {
      checks: { storage: { status: string; connections?: object } }
    }
    expect(run.status).toBe(200)
    expect(health.checks.storage).toMatchObject({ status: 'ok', connections: { waiting: 0 } })
    expect(await server.kill('SIGTERM')).toEqual({ code: 0, signal: null })
  })
})

needsTool('postgres').describe('a server that waits for the lock of its schema', () => {
  it('ends with exit code 0 at the first signal, long before the wait is over', async () => {
    const sandbox = createSandbox({ PERDURE_SERVER_SHUTDOWN_DRAIN_TIMEOUT_MS: '60000' })
    const holder = await startServer(sandbox)
    onTestFinished(() => void holder.process.kill('SIGKILL'))
    // Its session holds the lock, and shows no sign of life.
    holder.process.kill('SIGSTOP')
    const args = [BINARY, 'server', '--config', LEDGER_CONFIG]
    const command = { command: process.execPath, args, cwd: sandbox.dir, env: sandbox.env }
    const waiting = await startProcess(command, /Waiting up to 30 s/)
    const startedAt = performance.now()

    expect(await waiting.stop('SIGTERM')).toEqual({ code: 0, signal: null })
    expect(performance.now() - startedAt).toBeLessThan(8_000)
    expect(waiting.output()).not.toContain('error[')
  })
})
