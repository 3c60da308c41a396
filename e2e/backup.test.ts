import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  BINARY,
  bearer,
  createSandbox,
  createToken,
  OPS_CONFIG,
  perdure,
  type Sandbox,
  startServer,
} from './perdure-process.ts'

const SERVE = ['server', '--config', OPS_CONFIG]
/** Large enough that copying the database takes a noticeable time. */
const LARGE = { count: 12, input: 'x'.repeat(400_000) }

const audited = {
  PERDURE_AUDIT_ENABLED: 'true',
  PERDURE_AUDIT_PASSPHRASE_REF: 'env:E2E_AUDIT',
  E2E_AUDIT: 'audit secret',
}
const encrypted = {
  PERDURE_STORAGE_ENCRYPTION_ENABLED: 'true',
  PERDURE_STORAGE_ENCRYPTION_PASSPHRASE_REF: 'env:E2E_PASSPHRASE',
  E2E_PASSPHRASE: 'storage secret',
}

function auditedSandbox(over: NodeJS.ProcessEnv): Sandbox {
  const { dir, env } = createSandbox({ ...audited, ...over })
  return { dir, env: { ...env, PERDURE_AUDIT_PATH: join(dir, 'audit.db') } }
}

async function open(sandbox: Sandbox, token: string) {
  const server = await startServer(sandbox, SERVE)
  onTestFinished(() => void server.process.kill('SIGKILL'))
  const call = async (method: string, path: string, body?: unknown) => {
    const options = body === undefined ? {} : { body: JSON.stringify(body) }
    const response = await fetch(server.url + path, { method, headers: bearer(token), ...options })
    return (await response.json()) as Record<string, never>
  }
  return { server, call }
}

/** Starts runs in a loop until `end`; `acknowledged` collects the ids of completed runs. */
function load(call: (method: string, path: string, body: unknown) => Promise<Record<string, never>>) {
  const acknowledged: string[] = []
  let isOver = false
  const client = async () => {
    while (!isOver) {
      const { runId, status } = await call('POST', '/agents/echo/run', { input: { n: acknowledged.length } })
      if (status === 'completed') acknowledged.push(runId ?? '')
    }
  }
  const clients = Promise.all(Array.from({ length: 4 }, client))
  return {
    acknowledged,
    async end() {
      isOver = true
      await clients
    },
  }
}

async function completedRuns(call: (method: string, path: string) => Promise<Record<string, never>>) {
  const found = new Set<string>()
  let cursor: string | null = ''
  while (cursor !== null) {
    const page = (await call('GET', `/runs?status=completed&limit=200${cursor && `&cursor=${cursor}`}`)) as unknown as {
      readonly items: readonly { readonly id: string }[]
      readonly nextCursor: string | null
    }
    for (const { id } of page.items) found.add(id)
    cursor = page.nextCursor
  }
  return found
}

/** Kills a backup while it copies; repeats the attempt if the backup finished before the kill. */
async function interruptedBackup(sandbox: Sandbox, out: string): Promise<void> {
  const { env, dir } = sandbox
  const args = [BINARY, 'backup', 'create', '--out', out, '--config', OPS_CONFIG]
  const child = spawn(process.execPath, args, { env, cwd: dir, stdio: 'ignore' })
  const exited = once(child, 'exit')
  await expect.poll(() => existsSync(`${out}.partial`) || existsSync(out), { interval: 1 }).toBe(true)
  child.kill('SIGKILL')
  const [code] = await exited
  if (code === null && !existsSync(out)) return
  for (const path of [out, `${out}.json`]) rmSync(path, { force: true })
  return interruptedBackup(sandbox, out)
}

const DATABASES = [
  ['an encrypted', encrypted, true],
  ['a plain', {}, false],
] as const

/** Without E2E_LONG, only the encrypted database is tested; the unit tests of `createBackup` cover both. */
describe.each(process.env.E2E_LONG === undefined ? DATABASES.slice(0, 1) : DATABASES)(
  'a backup of %s database with an audit log, under load',
  (_, over, isEncrypted) => {
    it('contains everything acknowledged before it started, and leaves no file behind when it is interrupted', async () => {
      const sandbox = auditedSandbox(over)
      const token = await createToken(sandbox)
      const { server, call } = await open(sandbox, token)
      const large = () => call('POST', '/agents/echo/run', { input: LARGE.input })
      await Promise.all(Array.from({ length: LARGE.count }, large))
      const { id } = await call('POST', '/tokens', { name: 'before', scopes: ['runs:read'] })
      const work = load(call)
      await expect.poll(() => work.acknowledged.length).toBeGreaterThan(20)
      const out = join(sandbox.dir, 'copy.db')

      await interruptedBackup(sandbox, out)
      expect([out, `${out}.json`].filter((path) => existsSync(path))).toEqual([])

      const before = [...work.acknowledged]
      const create = ['backup', 'create', '--out', out, '--verify', '--json', '--config', OPS_CONFIG]
      const created = await perdure(sandbox, create)
      await work.end()
      await server.kill('SIGTERM')
      expect([created.code, created.stderr]).toEqual([0, ''])
      expect(JSON.parse(created.stdout)).toMatchObject({ problems: [], isEncrypted })
      expect(readFileSync(out).subarray(0, 15).toString() === 'SQLite format 3').toBe(!isEncrypted)
      expect(work.acknowledged.length).toBeGreaterThan(before.length)

      const elsewhere = auditedSandbox(over)
      const restored = await perdure(elsewhere, ['restore', out, '--config', OPS_CONFIG])
      expect([restored.code, restored.stderr]).toEqual([0, ''])
      const next = await open(elsewhere, token)
      const completed = await completedRuns(next.call)
      expect(before.filter((runId) => !completed.has(runId))).toEqual([])
      for (const runId of before.slice(-10)) {
        const { items } = await next.call('GET', `/runs/${runId}/events`)
        const types = ((items ?? []) as readonly { readonly type: string }[]).map(({ type }) => type)
        expect(types).toEqual(['run.started', 'run.completed'])
      }
      expect(await next.call('POST', '/audit/verify', {})).toMatchObject({ ok: true })
      const { items: minted } = await next.call('GET', '/audit?action=tokens.create')
      expect(JSON.stringify(minted)).toContain(id)
      await next.server.kill('SIGTERM')
    })
  },
)
